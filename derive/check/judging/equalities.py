"""Equations that a text supposes: of which entries they are, and points at which they hold."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any, TypeGuard

from derive.axes import stands
from derive.errors import DeriveError
from derive.expr import (
    ZERO,
    Add,
    Arg,
    Binder,
    Bracket,
    Cond,
    Entry,
    Expr,
    Idx,
    Node,
    Reduce,
    Rel,
    Star,
    Tuple,
    conditions,
    eq,
    free_indices,
    is_bound,
    open_binder,
    subst,
    walk,
)
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import DECIMAL
from derive.numeric.point import NoCase, TwoCases, Undefined
from derive.verify.points.facts import Facts
from derive.verify.points.point import Point
from derive.verify.scope import Scope

PASSED = (Undefined, NoCase, TwoCases, DeriveError, LookupError, ArithmeticError, ValueError, TypeError)
_NEAR = 40  # points that are moved
_MOST = 60  # of these are looked at
_SECANTS = 12
_SOLVED = 8  # numbers by which a gap that is not affine is closed
_STEP = Fraction(1, 1000)
Gap = Callable[[Point], Any]  # what is between two sides at a point


def of_values(rel: Rel) -> bool:
    """Not i = j, not (i, j) = argmax x, not k < 5."""
    return not any(isinstance(t, (Idx, Tuple, Star, Arg)) for t in rel.terms) and any(
        isinstance(n, Entry) for n in walk(rel))


def every(cond: Cond) -> Cond:
    """Of every entry: [g_i ≠ 1] summed is 0, for g_i = 1."""
    heads = [t for t in cond.terms if _spans(t, cond)] if isinstance(cond, Rel) and cond.ops == ("=",) else []
    if not heads or not isinstance(cond, Rel):
        return cond
    names = tuple(i for i in heads[0].indices if isinstance(i, Idx))
    free = (None,) * len(names)
    return eq(Reduce("sum", Binder(names, free, free, None), Bracket(Rel(cond.terms, ("≠",)))), ZERO)


def _spans(term: Expr, cond: Rel) -> TypeGuard[Entry]:
    """A letter with an index for each of its places, all that the condition has."""
    return isinstance(term, Entry) and bool(term.indices) and all(isinstance(i, Idx) for i in term.indices) and (
        len({*term.indices}) == len(term.indices)) and free_indices(cond) == {*term.indices}


def entrywise(cond: Cond, table: SymbolTable | None = None) -> Cond:
    """g_i = 1 as it was, with the letters of the table for the indices; other conditions as they are."""
    if not of_all(cond) or not isinstance(cond.terms[0], Reduce):
        return cond
    binder, body = open_binder(cond.terms[0])
    assert isinstance(body, Bracket) and isinstance(body.cond, Rel)
    rel = Rel(body.cond.terms, ("=",))
    head = next(t for t in rel.terms if _spans(t, rel))
    symbol = table.named(head.tensor) if table is not None else None
    names = map(Idx, symbol.axes) if symbol is not None else ()
    return subst(rel, dict[Node, Node](zip(binder.variables, names, strict=False)))


def of_all(cond: Cond) -> TypeGuard[Rel]:
    """Whether it is of every entry."""
    head = cond.terms[0] if isinstance(cond, Rel) and cond.terms[1:] == (ZERO,) else None
    return isinstance(head, Reduce) and head.op == "sum" and isinstance(head.body, Bracket) and isinstance(
        head.body.cond, Rel) and head.body.cond.ops == ("≠",)


def placed(cond: Cond, node: Cond, scope: Scope) -> tuple[Point, ...]:
    """Points at which the values are equal that a condition says are."""
    equal = [rel for rel in conditions(cond) if isinstance(rel, Rel) and rel.ops == ("=",) and of_values(rel)]
    found = list[Point]()
    for rel in equal:
        first = islice(_equated(rel, node, islice(scope.points(), _NEAR), scope), _MOST)
        points = [(point, [gap]) for point, gap in first]
        for other in equal:
            if other is not rel:
                points = [(moved, [*gaps, gap]) for point, gaps in points for moved, gap in islice(
                    _equated(other, node, [point], scope, gaps), 1)]
        found += (point for point, _ in points)
    return tuple(found[:_MOST])


def _equated(rel: Rel, node: Cond, points: Iterable[Point], scope: Scope,
             closed: Sequence[Gap] = ()) -> Iterator[tuple[Point, Gap]]:
    """The points with an equation closed, by one number or of all entries by a letter that is given; and its gap.

    ``closed``: gaps that stay so.
    """
    if of_all(rel):
        each = entrywise(rel)
        assert isinstance(each, Rel)
        for head, value in (each.terms, each.terms[::-1]):
            if _spans(head, each) and head.tensor in scope.module.given:
                broken = partial(_count, scope.compiler.function((), rel.terms[0]))
                yield from ((p, broken) for p in _assigned(head, value, node, tuple(points), scope))
                return
    for point, at, (first, second) in both(rel.terms[0], rel.terms[1], node, points, scope):
        def gap(p: Point, at: Any = at, first: Any = first, second: Any = second) -> Any:
            return first(p, at) - second(p, at)

        stays = (p for p in closings(point, gap, scope) if all(scope.compiler.same(g(p), 0) for g in closed))
        yield from ((p, gap) for p in islice(stays, 1))


def _count(of: Callable[[Point, Any], Any], point: Point) -> Any:
    return of(point, ())


def _assigned(head: Entry, value: Expr, node: Cond, points: Iterable[Point], scope: Scope) -> Iterator[Point]:
    """The points with each entry of a letter as an equation of it says: t_i = h_i, W_{ij} = [i = j]."""
    facts = Facts.of(scope.module, scope.kind)
    for point, runs in itertools.groupby(both(head, value, node, points, scope), lambda found: found[0]):
        with suppress(*PASSED):
            given = {name: dict(values) for name, values in point.given.items()}
            claim, = scope.compiler.claims(Rel((Add((head, value)), ZERO), ("=",)))
            places = [claim.variables.index(i) for i in head.indices]
            for _, at, (_, side) in runs:
                given[head.tensor][tuple(at[n] for n in places)] = side(point, at)
            shapes = {name: point.shapes[name] for name in given}
            moved = Point(point.module, point.kind, given, shapes, point.free)
            moved = moved.with_upstream(point.values[f"delta_{point.module.output}"])
            if facts.hold(moved):
                yield moved


def both(left: Expr, right: Expr, node: Cond, points: Iterable[Point],
          scope: Scope) -> Iterator[tuple[Point, Any, tuple[Any, ...]]]:
    """Two terms inside a claim as functions, at each point and each value of their indices."""
    stars = dict.fromkeys(n.at for n in (*walk(left), *walk(right)) if isinstance(n, Star))
    sure = {i for at in stars for i in at}
    loose = {i for i in free_indices(Add((left, right))) - sure if not stands(i, left, right)}
    entries = [n for n in walk(node) if isinstance(n, Entry)]
    places = [Entry(scope.module.output, at) for at in stars] + [  # where the indices of stars run, and others
        found for i in loose if (found := next((e for e in entries if i in e.indices), None)) is not None]
    gap = Add((left, right, *places))
    names: dict[Node, Node] = {i: Idx(f"$b{n}") for n, i in enumerate(free_indices(gap)) if is_bound(i)}
    try:
        claim, = scope.compiler.claims(subst(Rel((gap, ZERO), ("=",)), names))
        sides = tuple(scope.compiler.function(claim.variables, subst(side, names)) for side in (left, right))
        for point in points:
            yield from ((point, at, sides) for at in claim.assignments(point))
    except (DeriveError, ValueError, LookupError):
        return


def closings(point: Point, gap: Gap, scope: Scope) -> Iterator[Point]:
    """The point with one of its numbers such that a gap is closed, which of exact numbers must be affine in it."""
    facts = Facts.of(scope.module, scope.kind)
    solved = 0
    for name, at in [(name, at) for name, values in point.given.items() for at in values] + [
            (name, ()) for name in point.free]:
        with suppress(*PASSED):
            own = gap(point)
            slope = gap(with_number(point, name, at, 1)) - own
            change = -scope.kind.quotient(own, slope)
            found = with_number(point, name, at, change)
            if solved < _SOLVED and scope.kind is DECIMAL and not scope.compiler.same(gap(found), 0):
                solved += 1
                found = _closed(found, gap, name, at, scope)
            if facts.hold(found):
                yield found
                continue
            for other in point.given.get(name, {}).keys() - {at}:  # of entries that add up to 1
                if facts.hold(both := with_number(found, name, other, -change)) and scope.compiler.same(gap(both), 0):
                    yield both
                    break


def _closed(point: Point, gap: Gap, name: str, at: Any, scope: Scope) -> Point:
    """The point with one of its numbers such that a gap is closed, by secants."""
    before, step = gap(point), scope.kind.number(_STEP)
    for _ in range(_SECANTS):
        point = with_number(point, name, at, step)
        now = gap(point)
        if scope.compiler.same(now, 0) or now == before:
            break
        before, step = now, -now * step / (now - before)
    return point


def with_number(point: Point, name: str, at: Any, change: Any) -> Point:
    """The point with one of its numbers changed, of the upstream gradient, too."""
    given, free = {n: dict(values) for n, values in point.given.items()}, dict(point.free)
    back = dict(point.values[f"delta_{point.module.output}"])
    if name in free:
        free[name] += change
    else:
        (back if name == f"delta_{point.module.output}" else given[name])[at] += change
    shapes = {n: point.shapes[n] for n in given}
    found = Point(point.module, point.kind, given, shapes, free)
    return found.with_upstream(back)
