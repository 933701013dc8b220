"""Symbolic verification inside other people's tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from derive.axes import axes
from derive.calculus.one_window import windowed
from derive.card import Card
from derive.errors import DeriveError
from derive.exposition.story import whole
from derive.module import Module
from derive.numeric.arithmetic import FLOAT, precision
from derive.solve import Solution, solve
from derive.verify import mistakes
from derive.verify.points.arrays import UPSTREAM, Arrays, trials
from derive.verify.points.draw import arithmetic_of
from derive.verify.points.facts import Facts
from derive.verify.points.point import Point

__all__ = ["assert_backward", "assert_equation"]

Index = tuple[int, ...]
_DIFFER = "the two differ"
_SIMPLE = 10**6  # the denominators of fractions that floats stand for


def assert_backward(function: Callable[..., Any], layer: str | Path | Module, *, wrt: str | None = None,
                    tolerance: float = 1e-9, **options: Any) -> None:
    """``function(upstream, x)`` is the backward message of the layer, ties included.

    ``function`` takes and returns float64 arrays.  ``layer`` is a name of the catalogue
    with its ``options`` (kernel_size, stride, padding, tie_rule "first" unless given), a
    module, or the path of a card.  ``wrt`` names the letter whose message it is: the first
    input unless given.  A layer of several letters calls ``function(upstream, x=…, W=…, …)``.
    Raises AssertionError with the smallest input found at which the two differ, both
    values, and the likely mistake.
    """
    import numpy as np

    solution = solve(_module(layer, options))
    module, name = solution.messages.module, wrt or solution.module.inputs[0]
    windows = whole(solution.messages) is not None

    def wrong(arrays: Arrays) -> str | None:
        return _differs(function, solution, name, arrays, tolerance)

    first = next((a for a in (_images(module) if windows else trials(module)) if wrong(a) is not None), None)
    if first is None:
        return
    what, allowed = wrong(first), _allowed(module)
    arrays = _smaller(first, lambda a: allowed(a) and wrong(a) == what)
    expected = _expected(solution, name, arrays)
    rule = f" (tie rule `{module.tie_rule}`)" if windows else ""
    lines = [f"the backward message of `{name}` is wrong: {what}", *(f"{n} =\n{a}" for n, a in arrays.items()),
             f"expected{rule} =\n{expected}"]
    if what == _DIFFER:
        found = np.asarray(_called(function, arrays))
        lines.append(f"found =\n{found}")
        if windows:
            lines.append(f"likely mistake: {_mistake(module, name, arrays, found, expected)}")
    raise AssertionError("\n".join(lines))


def assert_equation(latex: str, layer: str | Path | Module | Solution, **options: Any) -> None:
    """The printed equation holds for the layer: read from its LaTeX, checked at every kind of point.

    Raises AssertionError with the smallest input found at which its sides differ, both
    values and the likely mistake, and :class:`derive.CardError` where it cannot be read.
    """
    from derive.verify import equation

    solution = layer if isinstance(layer, Solution) else solve(_module(layer, options))
    message = equation.refutation(latex, solution.messages)
    if message is not None:
        raise AssertionError(message)


def _module(layer: str | Path | Module, options: Mapping[str, Any]) -> Module:
    """A module as it is, the module of a card, or a layer of the catalogue."""
    if isinstance(layer, Module):
        return layer
    if isinstance(layer, Path) or layer.endswith(".md"):
        from derive.question import module_of

        return module_of(Card.read(layer))
    from derive.layers import layer as named

    return named(layer, **options)


# --- a backward function, tried ------------------------------------------------


def _images(module: Module) -> Iterator[Arrays]:
    """Inputs of windows from small to larger: distinct entries, then ties, at sizes with and without a rest."""
    import numpy as np

    field = module.receptive_field
    assert field is not None
    source = random.Random(3)
    fits = [[n for n in range(1, a.kernel_size + 3 * a.stride + 2) if a.output_size(n) > 0] for a in field.axes]
    shapes = sorted(itertools.product(*(sizes[:8] for sizes in fits)), key=lambda s: (int(np.prod(s)), s))
    for shape in shapes[:: max(1, len(shapes) // 24)]:
        out, cells = field.output_shape(shape), int(np.prod(shape))
        for kind in range(4):
            values = source.sample(range(-cells, cells), cells) if kind % 2 == 0 else source.choices((0, 1), k=cells)
            upstream = source.sample(range(1, 3 * int(np.prod(out)) + 2), int(np.prod(out)))
            yield {module.inputs[0]: np.array(values, float).reshape(shape),
                   UPSTREAM: np.array(upstream, float).reshape(out)}


def _differs(function: Callable[..., Any], solution: Solution, wrt: str, arrays: Arrays,
             tolerance: float) -> str | None:
    """What is wrong with the function's answer, or None; also where the layer has no value or no gradient."""
    import numpy as np

    try:
        expected = _expected(solution, wrt, arrays)
    except DeriveError:
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


def _expected(solution: Solution, wrt: str, arrays: Arrays) -> Any:
    import numpy as np

    with np.errstate(all="ignore"):
        return solution.backward(wrt, **arrays)


def _called(function: Callable[..., Any], arrays: Arrays) -> Any:
    """function(upstream, x) of one letter, function(upstream, x=…, W=…) of several; on copies."""
    letters = {name: a.copy() for name, a in arrays.items() if name != UPSTREAM}
    upstream = arrays[UPSTREAM].copy()
    return function(upstream, *letters.values()) if len(letters) == 1 else function(upstream, **letters)


# --- a smaller input -----------------------------------------------------------


def _smaller(arrays: Arrays, fails: Callable[[Arrays], bool]) -> Arrays:
    """Entries put to 0, 1 or −1 one by one while the failure stays."""
    for name in (UPSTREAM, *(n for n in arrays if n != UPSTREAM)):
        for at in itertools.product(*map(range, arrays[name].shape)):
            for simple in (0.0, 1.0, -1.0):
                if arrays[name][at] == simple:
                    break
                trial = {**arrays, name: arrays[name].copy()}
                trial[name][at] = simple
                if fails(trial):
                    arrays = trial
                    break
    return arrays


def _allowed(module: Module) -> Callable[[Arrays], bool]:
    """Whether the facts that are stated of the letters hold (ε > 0, Σ t = 1); 0.333… stands for a third."""
    kind = arithmetic_of((*module.equations, *(f.body for f in module.functions)))
    facts, places = Facts.of(module, kind), axes(module)

    def entries(name: str, array: Any) -> dict[Index, Any]:
        return {tuple(i + places.origin(name, d) for d, i in enumerate(at)):
                kind.number(Fraction(value).limit_denominator(_SIMPLE)) for at, value in _entries(array).items()}

    def hold(arrays: Arrays) -> bool:
        given = {name: array for name, array in arrays.items() if name != UPSTREAM}
        try:
            with precision():
                values = {name: entries(name, array) for name, array in given.items()}
                return facts.hold(Point(module, kind, values, {name: a.shape for name, a in given.items()}, {}))
        except (DeriveError, ArithmeticError, ValueError):
            return False

    return hold if module.facts else lambda _: True


def _entries(array: Any) -> dict[Index, Any]:
    return {at: array[at].item() for at in itertools.product(*map(range, array.shape))}


def _mistake(module: Module, wrt: str, arrays: Arrays, found: Any, expected: Any) -> str:
    """The known mistake that gives what was found in place of what was expected."""
    (window,) = windowed(module)
    point = Point(window.layer, FLOAT, {wrt: _entries(arrays[wrt])}, {wrt: arrays[wrt].shape}, {})
    likely = mistakes.messages(window, point.with_upstream(_entries(arrays[UPSTREAM])))
    return mistakes.likely(_entries(found), _entries(expected), likely)
