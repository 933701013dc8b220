"""A backward function of any layer, tried on small inputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from derive.axes import axes
from derive.errors import DeriveError
from derive.module import Module
from derive.numeric.arithmetic import precision
from derive.solve import Solution
from derive.testing.windows import smaller
from derive.verify.arrays import UPSTREAM, Arrays, trials
from derive.verify.draw import arithmetic_of
from derive.verify.facts import Facts
from derive.verify.point import Point

_SIMPLE = 10**6  # the denominators of fractions that floats stand for


def assert_message(function: Callable[..., Any], solution: Solution, wrt: str, tolerance: float) -> None:
    """The function gives the message of ``wrt`` at inputs from small to larger; AssertionError where it does not."""
    module = solution.messages.module

    def wrong(arrays: Arrays) -> str | None:
        return _differs(function, solution, wrt, arrays, tolerance)

    first = next((arrays for arrays in trials(module) if wrong(arrays) is not None), None)
    if first is None:
        return
    what, allowed = wrong(first), _allowed(module)
    arrays = smaller(first, lambda a: allowed(a) and wrong(a) == what)
    lines = [f"the backward message of `{wrt}` is wrong: {what}", *(f"{n} =\n{a}" for n, a in arrays.items())]
    lines.append(f"expected =\n{_expected(solution, wrt, arrays)}")
    if what == _DIFFER:
        lines.append(f"found =\n{_called(function, arrays)}")
    raise AssertionError("\n".join(lines))


_DIFFER = "the two differ"


def _differs(function: Callable[..., Any], solution: Solution, wrt: str, arrays: Arrays,
             tolerance: float) -> str | None:
    """What is wrong with the function's answer, or None; also where the layer has no gradient."""
    import numpy as np

    try:
        expected = _expected(solution, wrt, arrays)
    except DeriveError:  # the layer has no value there
        return None
    if not np.all(np.isfinite(expected)):
        return None
    try:
        found = np.asarray(_called(function, arrays))
    except Exception as error:  # whatever somebody's function raises is its answer
        return f"the function raised {type(error).__name__}: {error}"
    if found.shape != expected.shape:
        return f"the function returned shape {found.shape}, `{wrt}` has shape {expected.shape}"
    return None if np.allclose(found, expected, rtol=tolerance, atol=tolerance) else _DIFFER


def _allowed(module: Module) -> Callable[[Arrays], bool]:
    """Whether the facts that are stated of the letters hold (ε > 0, Σ t = 1); 0.333… stands for a third."""
    kind = arithmetic_of((*module.equations, *(f.body for f in module.functions)))
    facts, places = Facts.of(module, kind), axes(module)

    def entries(name: str, array: Any) -> dict[tuple[int, ...], Any]:
        return {tuple(i + places.origin(name, d) for d, i in enumerate(at)):
                kind.number(Fraction(array[at].item()).limit_denominator(_SIMPLE))
                for at in itertools.product(*map(range, array.shape))}

    def hold(arrays: Arrays) -> bool:
        given = {name: array for name, array in arrays.items() if name != UPSTREAM}
        try:
            with precision():
                values = {name: entries(name, array) for name, array in given.items()}
                return facts.hold(Point(module, kind, values, {name: a.shape for name, a in given.items()}, {}))
        except (DeriveError, ArithmeticError, ValueError):
            return False

    return hold if module.facts else lambda _: True


def _expected(solution: Solution, wrt: str, arrays: Arrays) -> Any:
    import numpy as np

    with np.errstate(all="ignore"):
        return solution.backward(wrt, **arrays)


def _called(function: Callable[..., Any], arrays: Arrays) -> Any:
    """function(upstream, x) of one letter, function(upstream, x=…, W=…) of several; on copies."""
    letters = {name: a.copy() for name, a in arrays.items() if name != UPSTREAM}
    upstream = arrays[UPSTREAM].copy()
    return function(upstream, *letters.values()) if len(letters) == 1 else function(upstream, **letters)
