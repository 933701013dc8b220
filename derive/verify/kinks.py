"""What a sheet says of kinks: the slopes that meet there, and that the one taken lies between them."""

from __future__ import annotations

from copy import copy
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, cast

from derive.calculus.dependence import between
from derive.calculus.kinks import kinks
from derive.errors import UnsupportedError
from derive.expr import (
    Add,
    Entry,
    Expr,
    Fn,
    Idx,
    Mul,
    Node,
    Partial,
    Reduce,
    Rel,
    Star,
    free_indices,
    is_bound,
    sub,
    subst,
    walk,
)
from derive.module import Module
from derive.numeric.arithmetic import decimal_of
from derive.numeric.dual import Dual
from derive.numeric.point import Index, NoCase, TwoCases, Undefined
from derive.records import dataclass
from derive.verify.points.claims import Claim, shown
from derive.verify.points.point import Point, Values
from derive.verify.report import ENOUGH, Check, Verdict
from derive.verify.scope import Scope

_STEP = Fraction(1, 10**30)  # to either side of a kink
_CLOSE = Decimal(10) ** -20  # how near a slope there is to the one-sided derivative
_SOLVED = 4  # steps to the boundary
_MOST = 60  # points


@dataclass(frozen=True)
class Beside:
    """What a sheet says of a definition on a boundary: that its value jumps, or which slopes by ``wrt`` meet there.

    ``value`` is what the definition says, or a term of a sum in it.  Without ``slopes`` they are said to agree;
    ``between``: that the one taken lies between them, or that it does not.
    """

    of: Entry
    value: Expr
    boundary: Rel
    wrt: Entry
    slopes: tuple[Expr, Expr] | None = None
    chosen: Expr | None = None
    between: bool | None = None
    broken: bool = False

    @property
    def border(self) -> Entry | None:
        """An entry that is moved onto the boundary: the gap is a linear function of it, an exact one if it is added."""
        inner = [n for n in walk(self.gap) if isinstance(n, Entry) and not any(map(is_bound, free_indices(n)))]
        added = [n for n in inner if isinstance(self.gap, Add) and n in self.gap.terms]
        return next((e for e in (self.boundary.terms[0], *added, self.wrt, *inner)
                     if isinstance(e, Entry) and _is_linear(self.gap, e.tensor)), None)

    @property
    def gap(self) -> Expr:
        """What is 0 on the boundary."""
        return sub(*self.boundary.terms[:2])

    @property
    def evidence(self) -> str:
        if self.broken:
            return f"The value of `{self.of.tensor}` jumps on a boundary,"
        if self.slopes is None:
            return f"Value and slopes of `{self.of.tensor}` by `{self.wrt.tensor}` agree on a boundary,"
        return f"The slopes by `{self.wrt.tensor}` on both sides of a kink, and the one taken there,"


def claims(module: Module) -> list[Beside]:
    """What a sheet says of the boundaries in a module, where they can be put into one of its letters."""
    found: list[Beside] = []
    for tensor in module.defined:
        for kink in kinks(tensor, module):
            value = module.definition(tensor)[1]
            for j in (*kink.jumps, *kink.missed):
                inner = value if j.of is kink.of else j.of
                found.append(Beside(kink.of, inner, j.boundary, j.wrt, j.slopes, j.chosen, j.between))
            for places, broken in ((kink.broken, True), (kink.smooth, False)):
                inner = kink.term or value
                found += [Beside(kink.of, inner, r, wrt, broken=broken) for r in places
                          if (wrt := _crossing(r, inner, module)) is not None]
    return [c for c in found if c.border is not None]


def _crossing(boundary: Rel, value: Expr, module: Module) -> Entry | None:
    """An entry of the value that leaves the boundary when it is changed; a given one only for want of others."""
    inner = [n for n in walk(sub(*boundary.terms[:2])) if isinstance(n, Entry) and n in walk(value)]
    free = [n for n in inner if not any(map(is_bound, free_indices(n)))]
    return min(free, key=lambda n: n.tensor in module.constants, default=None)


def _is_linear(gap: Expr, tensor: str) -> bool:
    """The tensor stands in one factor of each product, in no power and in no function but |·|, a line on each side."""
    if not _stands(gap, tensor):
        return True
    parts = [p for p in gap.children() if isinstance(p, Expr) and _stands(p, tensor)]
    if isinstance(gap, Fn) and gap.name == "abs":
        return _is_linear(gap.args[0], tensor)
    return isinstance(gap, Entry) or (isinstance(gap, (Add, Mul, Reduce)) and getattr(gap, "op", "sum") == "sum" and (
        len(parts) == 1 or isinstance(gap, Add)) and all(_is_linear(p, tensor) for p in parts))


def _stands(node: Expr, tensor: str) -> bool:
    return any(isinstance(n, Entry) and n.tensor == tensor for n in walk(node))


def borders(said: Beside, scope: Scope) -> Check:
    """The one-sided values and derivatives there are as said, and the formulas of the sheet have the slope taken."""
    border = said.border
    assert border is not None
    own = (Partial(said.value, said.wrt), said.value, *(said.slopes or ()), *((said.chosen,) if said.chosen else ()))
    printed = _printed(said, scope)
    terms = (*own, *printed, said.gap, *border.indices, *said.wrt.indices)
    claim, = scope.compiler.claims(Rel(terms, ("=",) * (len(terms) - 1)))
    count = outside = differ = 0
    for point in islice(scope.points(), _MOST):
        for at in claim.assignments(point):
            here = _Here.at(claim, point, at, said, len(own) + len(printed))
            wrong = None if here is None else here.wrong(said, len(own))
            if wrong:
                return Check("kinks", "", Verdict.REFUTED, said.evidence, f"{wrong} for {point.describe()}")
            count += wrong is not None
            differ += here is not None and said.slopes is not None and not _close(*here.on[2:4])
            outside += here is not None and said.chosen is not None and not here.between()
        if count >= ENOUGH:
            break
    if count < ENOUGH:
        return Check("kinks", "", Verdict.NOT_READ, f"{said.evidence}: only {count} places say anything about it")
    if said.slopes is not None and said.slopes[0] is not said.slopes[1] and not differ:
        return Check("kinks", "", Verdict.REFUTED, said.evidence, "the two slopes agree everywhere")
    if said.between is False and not outside:
        return Check("kinks", "", Verdict.REFUTED, said.evidence, "the slope taken lies between them everywhere")
    return Check("kinks", "", Verdict.TESTED, f"{said.evidence} at {count} places", points=count)


def _printed(said: Beside, scope: Scope) -> tuple[Expr, ...]:
    """The formulas of the sheet for this derivative of the definition, at the boundary's indices."""
    if between(said.of.tensor, said.wrt, scope.module):
        return ()
    found: list[Expr] = []
    for node in scope.statements:
        first = node.terms[0] if isinstance(node, Rel) and node.ops[0] == "=" else None
        if not (isinstance(node, Rel) and isinstance(first, Partial) and isinstance(first.of, Entry)
                and isinstance(first.wrt, Entry) and first.of.tensor == said.of.tensor
                and first.wrt.tensor == said.wrt.tensor):
            continue
        theirs = (*first.of.indices, *first.wrt.indices)
        if len(set(theirs)) == len(theirs) and all(isinstance(i, Idx) for i in theirs):
            at = dict(zip(theirs, (*said.of.indices, *said.wrt.indices), strict=True))
            found += [subst(term, cast(dict[Node, Node], at)) for term in node.terms[1:] if isinstance(term, Expr)]
    return tuple(dict.fromkeys(f for f in found if not any(isinstance(n, (Partial, Star)) for n in walk(f))))


class _Here(NamedTuple):
    """All sides of the claim before the boundary, on it and beyond it."""

    before: tuple[Any, ...]
    on: tuple[Any, ...]
    beyond: tuple[Any, ...]

    @classmethod
    def at(cls, claim: Claim, point: Point, at: Index, said: Beside, count: int) -> _Here | None:
        """None where the boundary has no such place, or something has no value beside it."""
        border = cast(Entry, said.border)
        try:
            gap, *rest = _sides(claim, point, at)[count:]
            place, by = tuple(rest[:len(border.indices)]), tuple(rest[len(border.indices):])
            now = point.values[border.tensor][place]
            rise = _sides(claim, _Held(point, border.tensor, place, now + 1), at)[count] - gap
            if not rise:
                return None
            on: Point = point
            for _ in range(_SOLVED):  # with a root in it the first is only near
                now -= (Fraction(gap) if isinstance(gap, int) else gap) / rise
                on = _Held(point, border.tensor, place, now)
                if not (gap := _sides(claim, on, at)[count]):
                    break
            if not _close(gap, 0):
                return None
            step = point.kind.number(_STEP)
            now = on.values[said.wrt.tensor][by]
            near = [_sides(claim, _Held(on, said.wrt.tensor, by, now + h), at)[:count] for h in (-step, step)]
            middle = _sides(claim, on, at)[:count]
        except (Undefined, NoCase, TwoCases, UnsupportedError, LookupError, ArithmeticError, ValueError):
            return None
        needed = (*near[0], *near[1], *middle[1:])
        return None if any(v is Undefined for v in needed) else cls(near[0], middle, near[1])

    def wrong(self, said: Beside, own: int) -> str:
        """What is not as it was said; "" if nothing is."""
        near = self.before[0], self.beyond[0]
        if said.broken:
            return "" if not _close(self.before[1], self.beyond[1]) else "the value does not jump"
        if not _close(self.before[1], self.beyond[1]):
            return f"the value jumps from {shown(self.before[1])} to {shown(self.beyond[1])}"
        if said.slopes is None:
            agreed = (*near, *self.on[own:])
            slopes = ", ".join(map(shown, agreed))
            return "" if all(_close(near[0], v) for v in agreed) else f"the slopes {slopes} differ"
        first, second, chosen = self.on[2:5]
        if not any(all(map(_close, near, pair)) for pair in ((first, second), (second, first))):
            return f"the slopes {shown(near[0])} and {shown(near[1])} meet, not {shown(first)} and {shown(second)}"
        if said.between and not self.between():
            return f"{shown(chosen)} does not lie between the slopes {shown(first)} and {shown(second)}"
        low, high, middle = map(decimal_of, (*near, chosen))
        for number in range(own, len(self.on)):  # that may have further terms and factors
            before, on, beyond = (decimal_of(v[number]) for v in (self.before, self.on, self.beyond))
            off = (on - before) * (high - low) - (middle - low) * (beyond - before)
            if abs(off) > _CLOSE * max(1, abs(on), abs(high), abs(low)) ** 2:
                return f"the formula takes a slope there other than {shown(chosen)}"
        return ""

    def between(self) -> bool:
        """The slope taken lies between the two."""
        low, high = sorted(map(decimal_of, self.on[2:4]))
        return bool(low - _CLOSE <= decimal_of(self.on[4]) <= high + _CLOSE)


def _sides(claim: Claim, point: Point, at: Index) -> tuple[Any, ...]:
    found = claim.sides(point, at, set())
    if found is None:
        raise Undefined
    return found


def _close(left: Any, right: Any) -> bool:
    a, b = decimal_of(left), decimal_of(right)
    return bool(abs(a - b) <= _CLOSE * max(1, abs(a), abs(b)))


class _Held(Point):
    """A point with one entry changed, every other letter as it is: nothing is computed anew."""

    def __init__(self, point: Point, tensor: str, at: Index, value: Any) -> None:
        self.__dict__ |= copy(point).__dict__
        if at not in point.values[tensor]:
            raise KeyError(at)
        self.values = {**point.values, tensor: {**point.values[tensor], at: value}}
        self._kept, self._slopes, self._twins = {}, {}, {}

    def _moved(self, wrt: str) -> dict[str, Values]:
        one = self.kind.number(1)
        return {**self.values, wrt: {at: Dual(value, {at: one}) for at, value in self.values[wrt].items()}}
