"""The points of a check as float64 arrays, for functions that somebody has written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from derive.axes import axes
from derive.errors import UnsupportedError
from derive.module import Module
from derive.numeric.arithmetic import precision
from derive.numeric.point import Definitions, Index
from derive.numeric.shapes import extents
from derive.verify.points.draw import Draws
from derive.verify.points.point import Point
from derive.verify.points.sizes import Sizes
from derive.verify.scope import Scope

Arrays = dict[str, Any]
UPSTREAM = "upstream"
_TRIALS = 24
_LARGEST = 8  # a side of an input that is still read with pleasure


def trials(module: Module) -> Iterator[Arrays]:
    """Inputs in every region, away from kinks, at several sizes; ``upstream`` has the output's shape."""
    return _arrays(module, islice(_scope(module).points(), _TRIALS))


def tied_trials(module: Module) -> Iterator[Arrays]:
    """Inputs with ties and zeros."""
    return _arrays(module, _scope(module).tied)


def drawn(module: Module, seed: int) -> Arrays:
    """Numbers for each letter and step of a layer, other ones for another seed; ``upstream`` has the output's shape.

    An input of the size that the question states, where that is a small one.
    """
    scope, own = _scope(module), module.input_size
    if own is not None and max(own) <= _LARGEST and module.given == module.inputs[:1]:
        scope = replace(scope, at=(Sizes({}, extents(module, {module.inputs[0]: own}).shapes),))
    with precision():
        point = Draws(module, scope.kind, scope.sizes, scope.draws.pool, (), seed).point(seed)
    steps = {name: n for name, n in point.module.steps if n is not None}
    (found,) = _arrays(module, [point])
    return {**found, **{name: float(n) for name, n in steps.items()}}


def _scope(module: Module) -> Scope:
    return Scope(module, module.table, (), Definitions({}, {}, {}))


def _arrays(module: Module, points: Iterable[Point]) -> Iterator[Arrays]:
    for point in points:
        with precision():
            yield {**{name: _array(module, name, point) for name in module.given},
                   UPSTREAM: _array(module, f"delta_{module.output}", point)}


def _array(module: Module, name: str, point: Point) -> Any:
    import numpy as np

    values, places = point.tensor(name), axes(module)
    base = name.removeprefix("delta_")
    if base not in point.shapes:
        raise UnsupportedError(f"`{base}` has no shape")
    array = np.zeros(point.shapes[base])
    for at, value in values.items():
        cell: Index = tuple(i - places.origin(base, d) for d, i in enumerate(at))
        array[cell] = float(value)
    return array
