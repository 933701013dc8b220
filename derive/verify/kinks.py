"""What a sheet says of kinks: the slopes that meet there, and that the one taken lies between them."""

from __future__ import annotations

from copy import copy
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from derive.calculus.kinks import Jump, kinks
from derive.errors import UnsupportedError
from derive.expr import Entry, Expr, Partial, Rel
from derive.module import Module
from derive.numeric.arithmetic import decimal_of
from derive.numeric.dual import Dual
from derive.numeric.point import Index, NoCase, TwoCases, Undefined
from derive.verify.points.claims import Claim, shown
from derive.verify.points.point import Point, Values
from derive.verify.report import ENOUGH, Check, Verdict
from derive.verify.scope import Scope

_STEP = Fraction(1, 10**30)  # to either side of a kink
_CLOSE = Decimal(10) ** -20  # how near a slope there is to the one-sided derivative
_MOST = 60  # points


def jumping(module: Module) -> list[tuple[Expr, Jump]]:
    """The places at which a slope jumps, in letters that can be put there: a node of a definition and its jump."""
    return [(kink.node, jump) for tensor in module.defined for kink in kinks(tensor, module) for jump in kink.jumps
            if isinstance(jump.boundary.terms[0], Entry)]


def slopes(node: Expr, jump: Jump, scope: Scope) -> Check:
    """The one-sided derivatives of the node there are the two slopes stated; the one taken lies between them."""
    evidence = f"The slopes by `{jump.wrt.tensor}` on both sides of a kink, and the one taken between them,"
    border = jump.boundary.terms[0]
    assert isinstance(border, Entry)
    terms = (Partial(node, jump.wrt), *jump.slopes, jump.chosen, jump.boundary.terms[1], *border.indices,
             *jump.wrt.indices)
    claim, = scope.compiler.claims(Rel(terms, ("=",) * (len(terms) - 1)))
    count = 0
    for point in islice(scope.points(), _MOST):
        for at in claim.assignments(point):
            wrong = _at(claim, point, at, border, jump.wrt)
            if wrong:
                return Check("kinks", "", Verdict.REFUTED, evidence, f"{wrong} for {point.describe()}")
            count += wrong is not None
        if count >= ENOUGH:
            return Check("kinks", "", Verdict.TESTED, f"{evidence} at {count} places", points=count)
    return Check("kinks", "", Verdict.NOT_READ, f"{evidence}: only {count} places say anything about it")


def _at(claim: Claim, point: Point, at: Index, border: Entry, wrt: Entry) -> str | None:
    """What is wrong on the boundary there, "" if nothing is; None where it says nothing."""
    try:
        _, _, _, _, value, *rest = _sides(claim, point, at)
        place, by = tuple(rest[:len(border.indices)]), tuple(rest[len(border.indices):])
        on = _Held(point, border.tensor, place, value)
        _, first, second, chosen, *_ = _sides(claim, on, at)
        step = point.kind.number(_STEP)
        now = on.values[wrt.tensor][by]
        near = [_sides(claim, _Held(on, wrt.tensor, by, now + h), at)[0] for h in (-step, step)]
    except (Undefined, NoCase, TwoCases, UnsupportedError, LookupError, ArithmeticError, ValueError):
        return None
    if any(v is Undefined for v in (first, second, chosen, *near)):
        return None
    if not any(all(map(_close, near, pair)) for pair in ((first, second), (second, first))):
        return f"the slopes {shown(near[0])} and {shown(near[1])} meet, not {shown(first)} and {shown(second)}"
    low, high = sorted((decimal_of(first), decimal_of(second)))
    inside = low - _CLOSE <= decimal_of(chosen) <= high + _CLOSE
    return "" if inside else f"{shown(chosen)} does not lie between the slopes {shown(first)} and {shown(second)}"


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
