"""Symbolic verification inside other people's tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from derive.card import Card
from derive.module import Module
from derive.solve import Solution, solve

Index = tuple[int, ...]
Shape = tuple[int, ...]


def assert_backward(function: Callable[[Any, Any], Any], layer: str | Path | Module, *, tolerance: float = 1e-9,
                    **options: Any) -> None:
    """``function(upstream, x)`` is the backward message of the layer, ties included.

    ``function`` takes and returns float64 arrays.  ``layer`` is a name of the catalogue
    with its ``options`` (kernel_size, stride, padding, tie_rule "first" unless given), a
    module, or the path of a card.  Raises AssertionError with the smallest input found
    at which the two differ, both values, and the likely mistake.
    """
    module = _module(layer, options)
    solution = solve(module)
    for arrays in _trials(solution):
        if _differs(function, solution, arrays, tolerance) is not None:
            arrays = _smaller(arrays, lambda a: _differs(function, solution, a, tolerance) is not None)
            raise AssertionError(_explain(function, solution, arrays, tolerance))


def assert_equation(latex: str, layer: str | Path | Module | Solution, **options: Any) -> None:
    """The printed equation holds for the layer: read from its LaTeX, checked at every kind of point.

    Raises AssertionError with the smallest input found at which its sides differ, both
    values and the likely mistake, and :class:`derive.CardError` where it cannot be read.
    """
    from derive.verify.equation import refutation

    solution = layer if isinstance(layer, Solution) else solve(_module(layer, options))
    message = refutation(latex, solution.derivation)
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


def _trials(solution: Solution) -> Iterator[dict[str, Any]]:
    """Inputs from small to larger: distinct entries, then ties, at sizes with and without a rest."""
    import numpy as np

    field = solution.module.receptive_field
    assert field is not None
    source = random.Random(3)
    fits = [[n for n in range(1, a.kernel_size + 3 * a.stride + 2) if a.output_size(n) > 0] for a in field.axes]
    shapes = sorted(itertools.product(*(sizes[:8] for sizes in fits)), key=lambda s: (int(np.prod(s)), s))
    for shape in shapes[:: max(1, len(shapes) // 24)]:
        out, cells = field.output_shape(shape), int(np.prod(shape))
        for kind in range(4):
            values = source.sample(range(-cells, cells), cells) if kind % 2 == 0 else source.choices((0, 1), k=cells)
            upstream = source.sample(range(1, 3 * int(np.prod(out)) + 2), int(np.prod(out)))
            yield {"x": np.array(values, float).reshape(shape), "upstream": np.array(upstream, float).reshape(out)}


def _expected(solution: Solution, arrays: Mapping[str, Any]) -> Any:
    wrt = solution.module.inputs[0]
    return solution.backward(wrt, upstream=arrays["upstream"], **{wrt: arrays["x"]})


def _differs(function: Callable[[Any, Any], Any], solution: Solution, arrays: Mapping[str, Any],
             tolerance: float) -> str | None:
    """What is wrong with the function's answer, or None."""
    import numpy as np

    expected = _expected(solution, arrays)
    try:
        found = np.asarray(function(arrays["upstream"].copy(), arrays["x"].copy()))
    except Exception as error:  # whatever somebody's function raises is its answer
        return f"the function raised {type(error).__name__}: {error}"
    if found.shape != expected.shape:
        return f"the function returned shape {found.shape}, the input has shape {expected.shape}"
    return None if np.allclose(found, expected, rtol=0, atol=tolerance) else "the two differ"


def _smaller(arrays: dict[str, Any], fails: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Entries put to 0, 1 or −1 one by one while the failure stays."""
    for name in ("upstream", "x"):
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


def _explain(function: Callable[[Any, Any], Any], solution: Solution, arrays: dict[str, Any], tolerance: float) -> str:
    import numpy as np

    what = _differs(function, solution, arrays, tolerance)
    expected = _expected(solution, arrays)
    lines = [f"the backward message is wrong: {what}", f"x =\n{arrays['x']}", f"upstream =\n{arrays['upstream']}",
             f"expected (tie rule `{solution.module.tie_rule}`) =\n{expected}"]
    if what == "the two differ":
        found = np.asarray(function(arrays["upstream"].copy(), arrays["x"].copy()))
        lines += [f"found =\n{found}", f"likely mistake: {_mistake(solution, arrays, found, expected)}"]
    return "\n".join(lines)


def _mistake(solution: Solution, arrays: Mapping[str, Any], found: Any, expected: Any) -> str:
    from derive.verify import mistakes
    from derive.verify.samples import Sample

    def entries(array: Any) -> dict[Index, Any]:
        return {at: array[at].item() for at in itertools.product(*map(range, array.shape))}

    wrt = solution.module.inputs[0]
    sample = Sample(solution.module, {wrt: entries(arrays["x"])}, {wrt: arrays["x"].shape}, {"loss": 0})
    sample = sample.with_upstream(entries(arrays["upstream"]))
    sign = 1 if solution.derivation.op == "max" else -1
    return mistakes.likely(entries(found), entries(expected), mistakes.messages(sample, sign))
