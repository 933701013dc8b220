"""Worked examples: what a solution computes at the numbers that it gives the letters."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any, TypeVar

from derive.axes import axes
from derive.check.judging.verdict import Found
from derive.check.letters import arrives
from derive.check.report import RIGHT
from derive.errors import DeriveError
from derive.expr import (
    Cond,
    Entry,
    Matrix,
    Node,
    Num,
    Partial,
    Rel,
    Size,
    conditions,
    eq,
    items,
    joined,
    transform,
    walk,
)
from derive.module import Module
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import DECIMAL, EXACT, decimal_of, precision
from derive.numeric.point import Definitions, Index, NoCase, TwoCases, Undefined
from derive.numeric.statements import componentwise
from derive.verify.points.claims import shown
from derive.verify.points.point import LOSS, Point, shape_of
from derive.verify.report import Verdict
from derive.verify.scope import Scope, localised

_N = TypeVar("_N", bound=Node)
Numbers = Mapping[str, Mapping[Index, Fraction]]
_DIGITS = 2  # with fewer, a number that is printed is taken at its word
_SLACK = 5  # units of the last digit by which rounded numbers on the way may be off
_ROUNDED = Fraction(1, 10**40)  # what the arithmetic itself may be off
_DECIMALS = re.compile(r"\d[.](\d+)")
_FAILS = (DeriveError, LookupError, ArithmeticError, ValueError, TypeError, AttributeError)


def told(node: Cond, known: Numbers, module: Module) -> Numbers:
    """The numbers of the letters after a supposition x = (1, 2), x_1 = x_2 = 1; of two of one entry the later."""
    found = dict(known)
    for part in conditions(node):
        heads = part.terms[:-1] if isinstance(part, Rel) and {*part.ops} == {"="} else ()
        value = part.terms[-1] if isinstance(part, Rel) else part
        for head in (arrives(h, module) or h for h in heads):
            if isinstance(head, Size) and isinstance(value, Num) and head.name in dict(module.steps):
                found[head.name] = {(): value.value}  # the stride s = 2
            if not isinstance(head, Entry):
                continue
            try:
                entries = dict(_entries(head, value, module))
            except ValueError:
                found.pop(head.tensor, None)
                continue
            found[head.tensor] = {**(found.get(head.tensor, {}) if head.indices else {}), **entries}
    return found


def given(known: Numbers) -> Iterator[Rel]:
    """x_1 = 2 for each entry."""
    yield from (eq(Entry(name, tuple(map(Num, at))), Num(n)) for name, own in known.items() for at, n in own.items())


def _entries(head: Entry, value: Node, module: Module) -> Iterator[tuple[Index, Fraction]]:
    name = head.tensor.removeprefix("delta_")
    if head.indices:
        if not all(isinstance(i, Num) for i in head.indices):
            raise ValueError(value)
        yield tuple(int(i.value) for i in head.indices if isinstance(i, Num)), _number(value)
        return
    yield from _laid_out(value, [axes(module).origin(head.tensor, d) for d in range(_rank(name, module))])


def _laid_out(value: Node, starts: Sequence[int]) -> Iterator[tuple[Index, Fraction]]:
    """The numbers of a vector or matrix, the coordinates of each counted from the starts of its axes."""
    rank, rows = len(starts), value.rows if isinstance(value, Matrix) else (items(value),)
    if rank == 1:
        rows = (tuple(e for row in rows for e in row),)
    if rank > 2 or rank == 0 and (len(rows), len(rows[0])) != (1, 1):
        raise ValueError(value)
    for (r, row), c in itertools.product(enumerate(rows), range(len(rows[0]))):
        yield tuple(i + s for i, s in zip((r, c)[2 - rank:], starts, strict=True)), _number(row[c])


def _number(value: Node) -> Fraction:
    if not isinstance(value, Num):
        raise ValueError(value)
    return value.value


def counted_from_1(nodes: Sequence[Cond], module: Module) -> bool:
    """Whether entries of vectors that are given as numbers are numbered up to their length, and none is numbered 0.

    Where no range of the question says from where they are, that none is numbered 0 is enough.
    """
    known = {name: dict(own) for name, own in module.values}
    for node in nodes:
        known |= {name: dict(own) for name, own in told(node, {}, module).items()}
    known = {name: own for name, own in known.items() if any(at and not any(at) for at in own)}
    numbered = [(index.value, max(at[d] for at in known[n.tensor])) for node in nodes for n in walk(node)
                if isinstance(n, Entry) and n.tensor in known for d, index in enumerate(n.indices)
                if isinstance(index, Num)]
    if not any(n > last for n, last in numbered):
        entries = (n for node in nodes for n in walk(node) if isinstance(n, Entry) and n.tensor in module.defined)
        others = [i.value for n in entries for i in n.indices if isinstance(i, Num)]
        return bool(others and known) and unstated(module) and all(n > 0 for n in (*others, *(n for n, _ in numbered)))
    return all(0 < n <= last + 1 for n, last in numbered)


def unstated(module: Module) -> bool:
    """Nothing says from where indices are counted."""
    return not axes(module).origins and not module.fields


def moved(node: _N, by: int, module: Module) -> _N:
    """With the numbers of entries greater ``by`` one or less, where the axis begins at 0."""
    found = axes(module)

    def one(part: Node) -> Node | None:
        return Entry(part.tensor, tuple(i if found.origin(part.tensor, d) or not isinstance(i, Num) or i.value + by < 0
                                        else Num(i.value + by) for d, i in enumerate(part.indices))
                     ) if isinstance(part, Entry) else None

    return transform(node, one, Entry)


def at_numbers(link: Rel, known: Numbers, module: Module, table: SymbolTable, latex: str, by: int) -> Found | None:
    """What an equation of numbers is at those of the letters, None where not all have one.

    It is not read where it is so with indices that are greater ``by`` one alone, which may be meant.
    """
    found = _at_numbers(link, known, module, table, latex)
    if (lower := _pointing(known, module, -1)) is not None:
        there = _at_numbers(link, lower, module, table, latex)
        if found is None or there is None or there.verdict != found.verdict:
            return Found(Verdict.NOT_READ, "a class or a place may be counted from 0 or from 1")
    if found is not None and found.verdict == Verdict.REFUTED:
        other = moved(link, by, module)
        at = _at_numbers(other, known, module, table, latex) if other is not link else None
        if at is not None and at.verdict in RIGHT:
            return Found(Verdict.NOT_READ, f"it is so if indices are counted from {1 if by < 0 else 0}")
    return found


def _pointing(known: Numbers, module: Module, by: int) -> Numbers | None:
    """The numbers with those greater ``by`` one that are indices, where nothing says from where their axis counts."""
    found, pointers = axes(module), {*module.table.pointers} & known.keys()
    begun = {n.tensor for equation in module.equations for e in walk(equation) if isinstance(e, Entry)
             for d, i in enumerate(e.indices) for n in walk(i) if isinstance(n, Entry) and found.origin(e.tensor, d)}
    moved_ = {name: {at: n + by for at, n in known[name].items()} for name in pointers - begun}
    return {**known, **moved_} if moved_ and all(n >= 0 for own in moved_.values() for n in own.values()) else None


def _at_numbers(link: Rel, known: Numbers, module: Module, table: SymbolTable, latex: str) -> Found | None:
    if not known or not {*module.passed} <= known.keys():
        return None
    steps = {name: int(known[name][()]) for name, _ in module.steps if name in known}
    module, known = module.stepping(steps), {name: own for name, own in known.items() if name not in steps}
    link = transform(link, _message, Partial)
    try:
        links = _spread(link, module)
    except ValueError:
        return None
    whole = componentwise(localised(joined(links), module), table)
    assert isinstance(whole, Cond)
    scope = Scope(module, table, (whole,), Definitions({}, {}, {}))
    kind = EXACT if scope.kind is EXACT else DECIMAL
    upstream = f"delta_{module.output}"
    try:
        with precision():
            point = _point(known, upstream, module, kind)
            if upstream not in point.values and any(_of_loss(n) for n in walk(whole)):
                return None
            if len(links) != prod(len(point.values[t]) for t in _whole(link.terms[0], module)):
                return None
            compiler = replace(scope.compiler, kind=kind)
            said = [claim.sides(point, at, set()) for claim in compiler.claims(whole)
                    for at in claim.assignments(point)]
            return _compared([s for s in said if s is not None], point, latex)
    except (*_FAILS, Undefined, NoCase, TwoCases):
        return None


def _spread(link: Rel, module: Module) -> tuple[Rel, ...]:
    """∂y/∂v = (1, 4) entry by entry."""
    head, value = link.terms
    if not (names := _whole(head, module)):
        return (link,)
    assert isinstance(head, Partial) and isinstance(head.of, Entry) and isinstance(head.wrt, Entry)
    found = axes(module)
    places = [(name, d) for name in names for d in range(_rank(name, module))]
    links = []
    for at, number in _laid_out(value, [found.origin(*place) for place in places]):
        own = {name: tuple(Num(i) for i, place in zip(at, places, strict=True) if place[0] == name) for name in names}
        of, wrt = (Entry(e.tensor, own.get(e.tensor, e.indices)) for e in (head.of, head.wrt))
        links.append(Rel((Partial(of, wrt), Num(number)), ("=",)))
    return tuple(links)


def _whole(head: Node, module: Module) -> list[str]:
    """The vectors and matrices without their indices in a derivative."""
    entries = (head.of, head.wrt) if isinstance(head, Partial) else ()
    return [e.tensor for e in entries if isinstance(e, Entry) and not e.indices and _rank(e.tensor, module)]


def _rank(name: str, module: Module) -> int:
    symbol = module.table.named(name)
    return len(symbol.axes) if symbol is not None else 0


def _message(node: Node) -> Node | None:
    """δ_x for ∂L/∂x"""
    if isinstance(node, Partial) and node.of is Entry(LOSS, ()) and isinstance(node.wrt, Entry):
        return Entry(f"delta_{node.wrt.tensor}", node.wrt.indices)
    return None


def _of_loss(node: Node) -> bool:
    return isinstance(node, Entry) and (node.tensor.startswith("delta_") or node.tensor == LOSS)


def _point(known: Numbers, upstream: str, module: Module, kind: Any) -> Point:
    values = {name: {at: kind.number(n) for at, n in entries.items()} for name, entries in known.items()}
    shapes = {name: shape_of(v) for name, v in values.items()}
    point = Point(module, kind, {name: values[name] for name in module.given}, shapes, {})
    output = point.values[module.output]
    if upstream in values and values[upstream].keys() == output.keys():
        return point.with_upstream(values[upstream])
    return point.with_upstream({(): kind.number(1)}) if {*output} == {()} else point


def _compared(sides: Iterable[tuple[Any, ...]], point: Point, latex: str) -> Found | None:
    """Equal, equal to the digits that are printed, or different by more than rounding on the way explains."""
    digits = max((len(m[1]) for m in _DECIMALS.finditer(latex)), default=0)
    whole = digits == 0 and "frac" not in latex and "/" not in latex.partition("=")[2]  # 1/3 is not rounded
    unit, seen = Fraction(1, 10**digits), False
    near = unit * Fraction(51, 100) if digits >= _DIGITS else Fraction(0)
    far = unit * _SLACK if digits else Fraction(1, 2) if whole and point.kind is not EXACT else Fraction(0)
    verdict, doubt = Verdict.PROVED, ""
    for left, right in sides:
        if left is Undefined or right is Undefined:
            return None
        for a, b in zip(_flat(left), _flat(right), strict=True):
            gap, seen = Fraction(decimal_of(a)) - Fraction(decimal_of(b)), True
            if abs(gap) > max(far, near, _ROUNDED):
                return Found(Verdict.REFUTED, "", f"for {point.describe()}: {shown(a)} and {shown(b)} differ")
            if abs(gap) > max(near, _ROUNDED):
                doubt = "rounded numbers on the way may explain the difference"
            elif abs(gap) > _ROUNDED:
                verdict = Verdict.TESTED
    if doubt:
        return Found(Verdict.NOT_READ, doubt)
    return Found(verdict, "at the numbers of the example", single=True) if seen else None


def _flat(side: Any) -> Iterator[Any]:
    if isinstance(side, tuple):
        for part in side:
            yield from _flat(part)
    else:
        yield side
