"""How far an output's index may run so that indices such as s k + a stay in range."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from derive.errors import CardError, UnsupportedError
from derive.expr import Add, Binder, Bracket, Cases, Entry, Expr, Idx, Mul, Node, Num, Reduce, Size, free_indices

if TYPE_CHECKING:
    from derive.numeric.shapes import Extents

Run = tuple[Fraction, Fraction]  # first and last value


def limits(v: Idx, free: frozenset[Idx], start: int, value: Node, reach: Extents) -> Iterator[int]:
    """For each unguarded index term c v + …, how many values v = start, start + 1, … keep it in range.

    Raises :class:`CardError` where the first does not: the range must then be stated.
    """
    for entry, d, runs in unguarded(value, {}, reach):
        term = entry.indices[d]
        if term is v or v not in free_indices(term) or entry.tensor not in reach.shapes:
            continue
        if (free_indices(term) & free) - {v}:
            raise UnsupportedError(f"how far `{v.name}` runs cannot be told, an index mixes it with another")
        first = Fraction(reach.axes.origin(entry.tensor, d))
        last = first + reach.shapes[entry.tensor][d] - 1
        low, high = (interval(term, {**runs, v: (Fraction(start),) * 2}, reach.sizes)[n] for n in (0, 1))
        slope = interval(term, {**runs, v: (Fraction(start + 1),) * 2}, reach.sizes)[0] - low
        if low < first or slope <= 0:
            where = f"`{entry.tensor}` has no entry {low}, which is used where `{v.name}` starts"
            raise CardError(f"{where}: state the range of `{v.name}`")
        yield max(0, math.floor((last - high) / slope) + 1)


def unguarded(node: Node, runs: Mapping[Idx, Run], reach: Extents) -> Iterator[tuple[Entry, int, Mapping[Idx, Run]]]:
    """Every entry's index places that no bracket, case or condition guards, with the ranges of bound indices."""
    if isinstance(node, Entry):
        yield from ((node, d, runs) for d in range(len(node.indices)))
    elif isinstance(node, Reduce) and node.binder.cond is None:
        yield from unguarded(node.body, {**runs, **_bound(node.binder, node.body, runs, reach)}, reach)
    elif not isinstance(node, (Cases, Reduce)) and not (
            isinstance(node, Mul) and any(isinstance(f, Bracket) for f in node.factors)):
        for child in node.children():
            yield from unguarded(child, runs, reach)


def _bound(binder: Binder, body: Expr, runs: Mapping[Idx, Run], reach: Extents) -> dict[Idx, Run]:
    from derive.numeric.shapes import span

    found: dict[Idx, Run] = {}
    for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
        if low is not None and high is not None:
            known = {**runs, **found}
            found[v] = interval(low, known, reach.sizes)[0], interval(high, known, reach.sizes)[1]
        else:
            start = Fraction(reach.start(v, body))
            found[v] = start, start + span(v, body, reach) - 1
    return found


def interval(term: Expr, runs: Mapping[Idx, Run], sizes: Mapping[str, int]) -> Run:
    """The least and the largest value of an affine index term."""
    match term:
        case Num(value):
            return value, value
        case Size(name):
            return Fraction(sizes[name]), Fraction(sizes[name])
        case Idx() if term in runs:
            return runs[term]
        case Add(terms):
            parts = [interval(t, runs, sizes) for t in terms]
            return sum((p[0] for p in parts), Fraction(0)), sum((p[1] for p in parts), Fraction(0))
        case Mul((Num(value), *rest)):
            low, high = interval(rest[0] if len(rest) == 1 else Mul(tuple(rest)), runs, sizes)
            return min(value * low, value * high), max(value * low, value * high)
    raise UnsupportedError("an output index has no range: it stands only in terms that are not affine")
