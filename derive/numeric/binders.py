"""The values a bound variable takes: windows, covering windows and ranges, one grid-wide step at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import repeat

import numpy as np

from derive.expr import And, Binder, Cond, Expr, Fn, Idx, In, SetApp, Tuple, free_indices
from derive.numeric.choice import Mask
from derive.numeric.gather import Indices
from derive.numeric.shapes import Extents, WindowSet, span
from derive.numeric.source import members

Env = Mapping[Idx, Indices]
Index = Callable[[Expr, Env], Indices]  # an index term's value where the variables have these values
Step = tuple[Indices, Mask | None]  # the variable's value at each grid point, and where it counts


def window(k: Indices, axis: WindowSet) -> Iterator[Step]:
    """i = start, start + d, … below the window's end, where 0 ≤ i < n; no other i has an entry."""
    w, n = axis.window, axis.n
    start, stop = w.start(k, n), w.stop(k, n)
    for a in range(w.most_cells(n)):
        i = start + w.step * a
        yield counted(i if (i < stop).all() else np.where(i < stop, i, -1), 0, n - 1)


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


def runs(binder: Binder, body: Expr, reach: Extents, index: Index, axes: int
         ) -> dict[Idx, Callable[[Env], Iterator[Step]]]:
    """For each bound variable, its values given those of the variables before it.

    ``axes`` is the grid's number of axes.
    """
    def windowed(k: Expr, axis: WindowSet, env: Env) -> Iterator[Step]:
        return window(index(k, env), axis)

    def covered(i: Expr, axis: WindowSet, env: Env) -> Iterator[Step]:
        return covering(index(i, env), axis)

    def ranged(low: Expr, high: Expr, env: Env) -> Iterator[Step]:
        return between(index(Fn("ceil", (low,)), env), index(Fn("floor", (high,)), env))

    def whole(start: int, n: int, env: Env) -> Iterator[Step]:
        return zip((np.full((1,) * axes, start + t) for t in range(n)), repeat(None))

    found: dict[Idx, Callable[[Env], Iterator[Step]]] = {}
    for inside, which in members(binder.cond, binder.variables):
        for v, k, axis in zip(inside, which.args, reach.sets[which.name], strict=True):
            found[v] = partial(windowed, k, axis)
    for cond in conditions(binder.cond):
        if isinstance(cond, In) and covers(cond, binder) and isinstance(cond.set, SetApp):
            for i, arg, axis in zip(items(cond.element), cond.set.args, reach.sets[cond.set.name], strict=True):
                found |= {arg: partial(covered, i, axis)} if isinstance(arg, Idx) else {}
    sets = tuple(c.set for c in conditions(binder.cond) if isinstance(c, In))
    for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
        if low is not None and high is not None:
            found[v] = partial(ranged, low, high)
        elif v not in found:
            found[v] = partial(whole, reach.start(v, body), span(v, Tuple((body, *sets)), reach))
    return found


def windows_alone(binder: Binder) -> bool:
    """All variables run through windows, and nothing else says where they run."""
    return bool(members(binder.cond, binder.variables)) and all(
        members(c, binder.variables) for c in conditions(binder.cond)) and not any(binder.lower)


def gives_values(cond: Cond, binder: Binder) -> bool:
    """Whether a condition is what its variables run through (:func:`runs`), so that it always holds."""
    return bool(members(cond, binder.variables)) or (isinstance(cond, In) and covers(cond, binder))


def covers(cond: In, binder: Binder) -> bool:
    """(i, j) ∈ Ω(k, l) with k, l bound, without ranges, and i, j given."""
    args = cond.set.args if isinstance(cond.set, SetApp) else ()
    free = {v for v, low in zip(binder.variables, binder.lower, strict=True) if low is None}
    given = not free_indices(cond.element) & set(binder.variables)
    return given and bool(args) and len(set(args)) == len(args) and all(a in free for a in args)


def items(node: Expr) -> tuple[Expr, ...]:
    """The components of a tuple; a single index is its own."""
    return node.items if isinstance(node, Tuple) else (node,)


def conditions(cond: Cond | None) -> tuple[Cond, ...]:
    """The parts that all must hold."""
    return cond.conds if isinstance(cond, And) else () if cond is None else (cond,)
