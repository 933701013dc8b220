"""Index terms on a grid, and the values that a bound variable takes on it: windows, covering windows, ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import repeat
from types import SimpleNamespace
from typing import Any

import numpy as np

import derive.expr as ex
from derive.errors import UnsupportedError
from derive.numeric.arithmetic import EXACT
from derive.numeric.coder import Coder
from derive.numeric.gather import Indices, Mask
from derive.numeric.point import Definitions
from derive.numeric.shapes import Extents, WindowSet, size, span
from derive.numeric.source import members
from derive.numeric.statements import made, variables_of

Env = Mapping[ex.Idx, Indices]
Index = Callable[[ex.Expr, Env], Indices]  # an index term's value where the variables have these values
Step = tuple[Indices, Mask | None]  # the variable's value at each grid point, and where it counts


def window(k: Indices, axis: WindowSet) -> tuple[Step, ...]:
    """i = start, start + d, … below the window's end, where 0 ≤ i < n; no other i has an entry."""
    return _window(k.tobytes(), k.shape, axis)


@lru_cache(maxsize=256)  # the inner axis of a window is run through once for each cell of the outer one
def _window(row: bytes, shape: tuple[int, ...], axis: WindowSet) -> tuple[Step, ...]:
    k, w, n = np.frombuffer(row, np.int64).reshape(shape), axis.window, axis.n
    start, stop = w.start(k, n), w.stop(k, n)
    cells = (start + w.step * a for a in range(w.most_cells(n)))
    return tuple(counted(i if (i < stop).all() else np.where(i < stop, i, -1), 0, n - 1) for i in cells)


def covering(i: Indices, axis: WindowSet) -> Iterator[Step]:
    """The windows k = last, last − 1, … whose span reaches i, where 0 ≤ k < out and i is one of their cells."""
    w, n = axis.window, axis.n
    _, last = w.reaching(i, n)
    for b in range(w.most_reaching(n)):
        k = last - b
        step, mask = counted(k, 0, axis.out - 1)
        inside = contains(i, k, axis)
        yield step, (inside if mask is None else mask & inside)


def between(lower: Indices, upper: Indices) -> Iterator[Step]:
    """lower, lower + 1, … as long as a grid point's upper bound is not passed."""
    for t in range(int(np.max(upper - lower, initial=-1)) + 1):
        value = lower + t
        mask = value <= upper
        yield value, (None if mask.all() else mask)


def counted(value: Indices, low: int, high: int) -> Step:
    mask = (value >= low) & (value <= high)
    return value, (None if mask.all() else mask)


def contains(i: Indices, k: Indices, axis: WindowSet) -> Mask:
    """i ∈ Ω(k) on one axis."""
    w, n = axis.window, axis.n
    start = w.start(k, n)
    inside: Mask = (i >= 0) & (i < n) & (i >= start) & (i < w.stop(k, n))
    return inside if w.step == 1 else inside & ((i - start) % w.step == 0)


def count(k: Indices, axis: WindowSet) -> Indices:
    """|Ω(k)| on one axis."""
    w, n = axis.window, axis.n
    start, stop = w.start(k, n), np.minimum(w.stop(k, n), n)
    first = start + np.maximum(0, -(start // w.step)) * w.step  # the first cell that is no padding
    return np.maximum(-((first - stop) // w.step), 0)


def both(left: Mask | None, right: Mask | None) -> Mask | None:
    return right if left is None else left if right is None else left & right


def runs(binder: ex.Binder, body: ex.Expr, reach: Extents, index: Index, axes: int
         ) -> dict[ex.Idx, Callable[[Env], Iterable[Step]]]:
    """For each bound variable, its values given those of the variables before it.

    ``axes`` is the grid's number of axes.
    """
    def windowed(k: ex.Expr, axis: WindowSet, env: Env) -> Iterable[Step]:
        return window(index(k, env), axis)

    def covered(i: ex.Expr, axis: WindowSet, env: Env) -> Iterator[Step]:
        return covering(index(i, env), axis)

    def ranged(low: ex.Expr, high: ex.Expr, env: Env) -> Iterator[Step]:
        return between(index(ex.Fn("ceil", (low,)), env), index(ex.Fn("floor", (high,)), env))

    def whole(start: int, n: int, env: Env) -> Iterator[Step]:
        return zip((np.full((1,) * axes, start + t) for t in range(n)), repeat(None))

    found: dict[ex.Idx, Callable[[Env], Iterable[Step]]] = {}
    for inside, which in members(binder.cond, binder.variables):
        for v, k, axis in zip(inside, which.args, reach.sets[which.name], strict=True):
            found[v] = partial(windowed, k, axis)
    for cond in ex.conditions(binder.cond):
        if isinstance(cond, ex.In) and covers(cond, binder) and isinstance(cond.set, ex.SetApp):
            for i, arg, axis in zip(ex.items(cond.element), cond.set.args, reach.sets[cond.set.name], strict=True):
                found |= {arg: partial(covered, i, axis)} if isinstance(arg, ex.Idx) else {}
    sets = tuple(c.set for c in ex.conditions(binder.cond) if isinstance(c, ex.In))
    for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
        if low is not None and high is not None:
            found[v] = partial(ranged, low, high)
        elif v not in found:
            found[v] = partial(whole, reach.start(v, body), span(v, ex.Tuple((body, *sets)), reach))
    return found


def windows_alone(binder: ex.Binder) -> bool:
    """All variables run through windows, and nothing else says where they run."""
    return bool(members(binder.cond, binder.variables)) and all(
        members(c, binder.variables) for c in ex.conditions(binder.cond)) and not any(binder.lower)


def gives_values(cond: ex.Cond, binder: ex.Binder) -> bool:
    """Whether a condition is what its variables run through (:func:`runs`), so that it always holds."""
    return bool(members(cond, binder.variables)) or (isinstance(cond, ex.In) and covers(cond, binder))


def covers(cond: ex.In, binder: ex.Binder) -> bool:
    """(i, j) ∈ Ω(k, l) with k, l bound, without ranges, and i, j given."""
    args = cond.set.args if isinstance(cond.set, ex.SetApp) else ()
    free = {v for v, low in zip(binder.variables, binder.lower, strict=True) if low is None}
    given = not ex.free_indices(cond.element) & set(binder.variables)
    return given and bool(args) and len(set(args)) == len(args) and all(a in free for a in args)


# Index terms on a grid, exactly: arrays of integers, and of fractions where a term is no whole number.

@lru_cache(maxsize=4096)
def is_index_term(node: ex.Node) -> bool:
    """Made of numbers, sizes and index variables only, by steps that are exact."""
    return all(map(_is_exact, ex.walk(node))) and not isinstance(node, ex.Num)


def _is_exact(node: ex.Node) -> bool:
    if isinstance(node, ex.Pow):
        return isinstance(node.base, (ex.Num, ex.Size)) and node.base is not ex.Num(0) and node.exponent is ex.Num(-1)
    if isinstance(node, ex.Fn):
        return node.name in ("floor", "ceil", "mod")
    return isinstance(node, (ex.Num, ex.Size, ex.Idx, ex.Star, ex.Add, ex.Mul, ex.Extremum))


class _Indices(Coder):
    """Sizes and stars are asked of the grid."""

    def _written(self, node: ex.Node) -> str:
        if not _is_exact(node):
            raise UnsupportedError(f"`{type(node).__name__}` does not make an index")
        return super()._written(node)

    def _size(self, node: ex.Size) -> str:
        return f"P.size({node.name!r})"

    def _star(self, node: ex.Star) -> str:
        return f"P.star({self.constant(node)})"


def _each(function: Callable[[Any], int]) -> Callable[[Any], Indices]:
    elementwise = np.frompyfunc(function, 1, 1)
    return lambda values: np.asarray(elementwise(values), np.int64)


_NAMES = {"F": Fraction, "floor": _each(math.floor), "ceil": _each(math.ceil),
          "max": lambda *values: reduce(np.maximum, values), "min": lambda *values: reduce(np.minimum, values)}


@lru_cache(maxsize=4096)
def _compiled(node: ex.Expr) -> tuple[tuple[ex.Idx, ...], Callable[[Any, list[Indices]], Any]]:
    coder, free = _Indices(Definitions({}, {}, {}), {}, None), variables_of(node)
    unpacked = "".join(coder.name(v) + "," for v in free)
    source = "def value(P, AT):\n" + (f"    {unpacked} = AT\n" if free else "")
    return free, made("value", f"{source}    return {coder.index(node)}\n", coder, _NAMES, EXACT)


def index_value(node: ex.Expr, env: Env, sizes: Mapping[str, int], star: Callable[[ex.Star], Indices]) -> Any:
    """An index term such as ⌊(i + p)/s⌋ at every point of the grid."""
    free, value = _compiled(node)
    if not env.keys() >= set(free):
        raise UnsupportedError("an index is not bound: it stands on the right only")
    return value(SimpleNamespace(size=lambda name: size(name, sizes), star=star), [env[v] for v in free])


def whole(values: Any) -> Indices:
    """The values of an index."""
    found = np.asarray(values)
    if found.dtype == object and any(v.denominator != 1 for v in found.flat):
        raise UnsupportedError("an index is not a whole number: write its floor or ceil")
    return found.astype(np.int64, copy=False)
