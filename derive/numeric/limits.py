"""How far an output's index may run so that indices such as s k + a stay in range."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from derive.errors import CardError, UnsupportedError
from derive.expr import (
    Add,
    Binder,
    Bracket,
    Cases,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Mul,
    Node,
    Num,
    Reduce,
    Rel,
    Size,
    free_indices,
    walk,
)

if TYPE_CHECKING:
    from derive.numeric.shapes import Extents

_MOST = 100_000  # values of an index that moves in steps
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
        if any(isinstance(n, Fn) for n in walk(term)):
            yield _stepwise(v, term, start, runs, reach.sizes, (first, last))
            continue
        low, high = (interval(term, {**runs, v: (Fraction(start),) * 2}, reach.sizes)[n] for n in (0, 1))
        slope = interval(term, {**runs, v: (Fraction(start + 1),) * 2}, reach.sizes)[0] - low
        if low < first or slope <= 0:
            where = f"`{entry.tensor}` has no entry {low}, which is used where `{v.name}` starts"
            raise CardError(f"{where}: state the range of `{v.name}`")
        yield max(0, math.floor((last - high) / slope) + 1)


def _stepwise(v: Idx, term: Expr, start: int, runs: Mapping[Idx, Run], sizes: Mapping[str, int], ends: Run) -> int:
    """As many values of v as keep ⌊v/s⌋ in range: the term never falls."""
    count, before = 0, ends[0]
    while True:
        low, high = interval(term, {**runs, v: (Fraction(start + count),) * 2}, sizes)
        if low < before or count > _MOST:
            raise UnsupportedError("an output index has no range: it stands only in terms that are not affine")
        if high > ends[1]:
            return count
        count, before = count + 1, low


def reached(v: Idx, start: int, value: Node, reach: Extents) -> list[int]:
    """How many values v takes for which a sum has a term: i = 0, …, n + A − 2 of Σ_{k : 0 ≤ i−k < A}.

    Raises :class:`CardError` where the first of them is not the first coordinate.
    """
    found: list[int] = []
    for node in walk(value):
        if not isinstance(node, Reduce) or not isinstance(node.binder.cond, Rel) or v not in free_indices(node):
            continue
        runs = _bound(node.binder, node.body, {}, reach)
        (low, *_, high), ops = node.binder.cond.terms, node.binder.cond.ops
        if len(ops) != 2 or not {*ops} <= {"≤", "<"} or free_indices(low) | free_indices(high):
            continue
        zero = interval(node.binder.cond.terms[1], {**runs, v: (Fraction(0),) * 2}, reach.sizes)
        one = interval(node.binder.cond.terms[1], {**runs, v: (Fraction(1),) * 2}, reach.sizes)
        if one[0] - zero[0] != 1:
            continue
        first = interval(low, {}, reach.sizes)[0] + (ops[0] == "<") - zero[1]
        last = interval(high, {}, reach.sizes)[1] - (ops[1] == "<") - zero[0]
        if first != start:
            raise CardError(f"the sum has terms from `{v.name}` = {first} on: state the range of `{v.name}`")
        found.append(int(last - first) + 1)
    return found


def unguarded(node: Node, runs: Mapping[Idx, Run], reach: Extents) -> Iterator[tuple[Entry, int, Mapping[Idx, Run]]]:
    """Every entry's index places that no bracket, case or condition guards, with the ranges of bound indices."""
    if isinstance(node, Entry):
        yield from ((node, d, runs) for d in range(len(node.indices)))
    elif isinstance(node, Reduce) and node.binder.cond is None and not _clamped(node.binder):
        yield from unguarded(node.body, {**runs, **_bound(node.binder, node.body, runs, reach)}, reach)
    elif not isinstance(node, (Cases, Reduce)) and not (
            isinstance(node, Mul) and any(isinstance(f, Bracket) for f in node.factors)):
        for child in node.children():
            yield from unguarded(child, runs, reach)


def _clamped(binder: Binder) -> bool:
    """j = max(0, i − r), …, min(N − 1, i + r): the limits themselves keep j in range."""
    return all(isinstance(limit, Extremum) for limit in (*binder.lower, *binder.upper))


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
    """The least and the largest value of an index term: affine, its floor, or the larger or smaller of such."""
    match term:
        case Num(value):
            return value, value
        case Size(name):
            known = Fraction(size(name, sizes))
            return known, known
        case Idx() if term in runs:
            return runs[term]
        case Add(terms):
            parts = [interval(t, runs, sizes) for t in terms]
            return sum((p[0] for p in parts), Fraction(0)), sum((p[1] for p in parts), Fraction(0))
        case Mul((Num(value), *rest)):
            low, high = interval(rest[0] if len(rest) == 1 else Mul(tuple(rest)), runs, sizes)
            return min(value * low, value * high), max(value * low, value * high)
        case Fn("floor" | "ceil" as name, (of,)):
            low, high = interval(of, runs, sizes)
            step = math.floor if name == "floor" else math.ceil
            return Fraction(step(low)), Fraction(step(high))
        case Extremum(op, args):
            lows, highs = zip(*(interval(a, runs, sizes) for a in args), strict=True)
            return (max(lows), max(highs)) if op == "max" else (min(lows), min(highs))
    raise UnsupportedError("an output index has no range: it stands only in terms that are not affine")


def size(name: str, sizes: Mapping[str, int]) -> int:
    """The number that a size letter stands for; raises :class:`CardError` where no array tells it."""
    if name not in sizes:
        raise CardError(f"how large `{name}` is cannot be told from the arrays: state the shape that has it")
    return sizes[name]
