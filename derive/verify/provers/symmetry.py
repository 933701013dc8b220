"""Assignments that stand for all others: coordinates along an axis that nothing tells apart may change their places.

Where indices of an axis stand in entries, under binders and in [i = k] only, a permutation of its coordinates maps the
layer to itself and a statement at some indices to the statement at others: one holds for all inputs as the other does.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import derive.expr as ex
from derive.errors import UnsupportedError
from derive.module import Module
from derive.numeric.point import Definitions, Index
from derive.numeric.shapes import interval
from derive.verify.points.point import Point

Link = tuple[Hashable, Hashable | range | None]  # a place or an index, and what runs along the same axis


def axes_of(module: Module, definitions: Definitions, sizes: Mapping[str, int]) -> Axes:
    """The axes of a layer and of what is defined besides it."""
    nodes: list[ex.Node] = [*module.equations, *module.facts, *(f.body for f in module.functions)]
    nodes += [ex.eq(ex.Entry(name, at), value) for name, (at, value) in definitions.tensors.items()]
    nodes += [*definitions.sets.values(), *(arg for arg, _, _ in definitions.stars.values())]
    return Axes(link for node in nodes
                for link in links(node, {v: object() for v in ex.free_indices(node)}, sizes))


def links(node: ex.Node, names: Mapping[ex.Idx, Hashable], sizes: Mapping[str, int]) -> Iterator[Link]:
    """Indices with the axes on which they stand; with their range; with None where more than equality counts."""
    match node:
        case ex.Entry(tensor, indices):
            for d, i in enumerate(indices):
                slot = tensor.removeprefix("delta_"), d
                yield slot, names[i] if isinstance(i, ex.Idx) else None
                yield from () if isinstance(i, ex.Idx) else links(i, names, sizes)
        case ex.Rel(terms, ops) if _only_equal(terms, ops):
            for left, right in itertools.pairwise(terms):
                yield from ((names[a], names[b]) for a, b in zip(ex.items(left), ex.items(right), strict=True)
                            if isinstance(a, ex.Idx) and isinstance(b, ex.Idx))
        case ex.Reduce() | ex.Arg() | ex.SetOf():
            binder, body = ex.opened(node)
            inner = {**names, **{v: object() for v in binder.variables}}
            for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
                if low is not None and high is not None:
                    yield inner[v], _range(low, high, sizes)
                yield from (link for limit in (low, high) if limit for link in links(ex.Tuple((limit,)), inner, sizes))
            yield from links(ex.Tuple((body,)), inner, sizes)
            yield from () if binder.cond is None else links(binder.cond, inner, sizes)
        case _:
            for child in node.children():
                yield from ((names[child], None),) if isinstance(child, ex.Idx) else links(child, names, sizes)


def _only_equal(terms: Sequence[ex.Expr], ops: Sequence[str]) -> bool:
    """i = k, (i, j) ≠ (k, l)."""
    parts = [ex.items(t) for t in terms]
    return set(ops) <= {"=", "≠"} and len(set(map(len, parts))) == 1 and all(
        isinstance(i, ex.Idx) for part in parts for i in part)


def _range(low: ex.Expr, high: ex.Expr, sizes: Mapping[str, int]) -> range | None:
    try:
        return range(int(interval(low, {}, sizes)[0]), int(interval(high, {}, sizes)[0]) + 1)
    except UnsupportedError:
        return None


class Axes:
    """Which of the linked run along one axis, and what their coordinates are there."""

    def __init__(self, links: Iterable[Link] = (), of: Axes | None = None) -> None:
        self._above: dict[Hashable, Hashable] = {} if of is None else dict(of._above)
        self._told: list[tuple[Hashable, range | None]] = [] if of is None else of._told[:]
        for member, other in links:
            if other is None or isinstance(other, range):
                self._told.append((member, other))
            else:
                self._above[self._top(member)] = self._top(other)

    def _top(self, member: Hashable) -> Hashable:
        while (up := self._above.setdefault(member, member)) is not member:
            member = up
        return member

    def free(self, variables: Iterable[ex.Idx], point: Point) -> dict[ex.Idx, Hashable]:
        """The axis of each index whose coordinates may change their places: all that it is linked with has the same."""
        axes = {v: self._top(v) for v in variables}
        runs: dict[Hashable, set[range | None]] = {axis: set() for axis in axes.values()}
        places = ((m, point.run(*m)) for m in self._above if isinstance(m, tuple) and m[0] in point.shapes)
        for member, run in (*self._told, *places):
            if (axis := self._top(member)) in runs:
                runs[axis].add(run)
        return {v: axis for v, axis in axes.items() if None not in runs[axis] and len(runs[axis]) == 1}


def representatives(runs: Mapping[ex.Idx, range], whole: ex.Node, layer: Axes, point: Point) -> Iterator[Index]:
    """Of all values of the indices those that stand for the others: along an axis new ones come in their order."""
    own = *links(whole, {v: v for v in runs}, point.sizes), *runs.items()
    axes = Axes(own, layer).free(runs, point)
    for at in itertools.product(*runs.values()):
        seen: dict[Hashable, list[int]] = {}
        for (v, run), i in zip(runs.items(), at, strict=True):
            known = seen.setdefault(axes.get(v, v), [])
            if v in axes and i not in known and i != run[len(known)]:
                break
            known += () if i in known else (i,)
        else:
            yield at
