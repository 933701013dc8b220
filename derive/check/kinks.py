"""Where a layer is not smooth: a claimed derivative there lies between those of the points around it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from derive.errors import DeriveError
from derive.expr import (
    Add,
    Bracket,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Node,
    Num,
    Partial,
    Reduce,
    Rel,
    free_indices,
    walk,
)
from derive.numeric.arithmetic import decimal_of
from derive.numeric.point import NoCase, TwoCases, Undefined
from derive.verify.points.claims import Refuted
from derive.verify.points.draw import Draws, Pool
from derive.verify.points.point import Point
from derive.verify.scope import Scope

_STEP = Fraction(1, 10**12)
_NEAR = 40  # points around each: enough to see both sides of every kink of a function of one number
_CLOSE = Fraction(1, 10**6)
_PASSED = (Undefined, NoCase, TwoCases, DeriveError, LookupError, ArithmeticError, ValueError, TypeError)
_BETWEEN = 60  # points at a claim's own thresholds and between them
_MORE = 40  # points that are looked for on a boundary
_INDICES_UP_TO = 2  # numbers with which an index is compared, below all sizes that are tried


def compared(node: Node) -> Iterator[Rel]:
    """The conditions inside a claim."""
    inner = node.terms if isinstance(node, Rel) else node.children()
    for part in inner:
        yield from (n for n in walk(part) if isinstance(n, Rel))


def of_values(rel: Rel) -> bool:
    return any(isinstance(n, (Entry, Fn)) for n in walk(rel))


def numbers(node: Cond) -> set[Fraction]:
    """The numbers that conditions, brackets and extrema of a claim hold."""
    places = [n for n in walk(node) if isinstance(n, (Bracket, Cases, Extremum)) or n in [*compared(node)] or
              isinstance(n, Reduce) and n.op in ("max", "min") or isinstance(n, Fn) and n.name in ("abs", "sign")]
    return {abs(n.value) for p in places for n in walk(p) if isinstance(n, Num)}


def far(node: Cond, known: set[Fraction]) -> bool:
    """An index is compared with a number beyond the sizes that are tried."""
    return any(isinstance(n, Num) and abs(n.value) >= _INDICES_UP_TO and abs(n.value) not in known
               for rel in compared(node) if not of_values(rel) for n in walk(rel))


def between(node: Cond, scope: Scope, named: set[Fraction]) -> str | None:
    """A counterexample on or between the numbers that claim and layer name, where one is found."""
    numbers = sorted({sign * n for n in named | {Fraction(0)} for sign in (1, -1)})
    tried = [*numbers, *((a + b) / 2 for a, b in itertools.pairwise(numbers)), numbers[0] - 1, numbers[-1] + 1]
    values = tuple(scope.kind.number(n) for n in tried)
    pool = Pool(dict.fromkeys(("any", "positive", "unit", "small", "near"), values))
    draws = Draws(scope.module, scope.kind, scope.sizes, pool, scope.free)
    claims = scope.compiler.claims(node)
    try:
        for number in range(_BETWEEN):
            for claim in claims:
                claim.holds(draws.point(number), set(), tied=True)
    except Refuted as refuted:
        return str(refuted)
    except DeriveError:
        return None
    return None


def unmet(node: Rel, scope: Scope) -> str:
    """A boundary of the claim's conditions on which no point was tried; "" where all were met."""
    for rel in compared(node):
        if of_values(rel) and not all(_met(a, b, scope) for a, b in zip(rel.terms, rel.terms[1:], strict=False)):
            return "no point was tried on the boundary of one of its conditions"
    return ""


def _met(left: Node, right: Node, scope: Scope) -> bool:
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return False
    gap = Add((left, right))
    params = tuple(sorted((i for i in free_indices(gap) if isinstance(i, Idx)), key=lambda i: i.name))
    try:
        claim, = scope.compiler.claims(Rel((left, right), ("=",)))
        first, second = (scope.compiler.function(claim.variables, side) for side in (left, right))
    except (DeriveError, ValueError):
        return False
    if {*claim.variables} != {*params}:
        return False
    for point in (*scope.tied, *(scope.draws.point(n, ties=True) for n in range(_MORE))):
        try:
            if any(scope.compiler.same(first(point, at), second(point, at)) for at in claim.assignments(point)):
                return True
        except _PASSED:
            continue
    return False


def outside(node: Rel, whole: Cond, scope: Scope) -> tuple[str, bool] | None:
    """(where the right side is none of the generalised derivatives, whether the layer is smooth at all such places).

    ``whole``: the equation with its condition.
    """
    of, value = _slope(node.terms[0]), node.terms[1]
    if of is None or not isinstance(value, Expr):
        return None
    claim, = scope.compiler.claims(whole)
    own = scope.compiler.function(claim.variables, value)
    sure = scope.module.elementwise  # a few of many tied entries may win at none of the points around
    found: str | None = None
    for number in range(_MORE if scope.tied else 0):
        point = scope.tied[number] if number < len(scope.tied) else scope.draws.point(number, ties=True)
        around = list(_around(point, random.Random(number)))
        for at in claim.assignments(point):
            named = dict(zip(claim.variables, at, strict=True))
            try:
                if claim.sides(point, at, set()) is None:
                    continue
                taken = decimal_of(own(point, at))
                near = [decimal_of(of(p, named)) for p in around]
            except _PASSED:
                continue
            low, high = min(near), max(near)
            close = decimal_of(_CLOSE) * max(1, abs(low), abs(high))
            if low - close <= taken <= high + close:
                continue
            slopes = f"{low:.6g}" if high - low <= close else f"{low:.6g} to {high:.6g}"
            found = f"for {point.describe()}: {taken:.6g}, and {slopes} around it"
            if not sure or high - low > close:
                return found, False
        if found is None and number >= len(scope.tied):
            return None
    return (found, True) if found else None


def handled(node: Rel) -> bool:
    """Its head is a derivative whose value at a kink can be compared."""
    return _slope(node.terms[0]) is not None


def _slope(head: Node) -> Callable[[Point, dict[Idx, int]], Any] | None:
    """∂y/∂x or δ_x at a point, its indices by name."""
    def places(entry: Entry, named: dict[Idx, int]) -> tuple[int, ...]:
        return tuple(named[i] if isinstance(i, Idx) else int(i.value) for i in entry.indices
                     if isinstance(i, (Idx, Num)))

    if isinstance(head, Partial) and isinstance(head.of, Entry) and isinstance(head.wrt, Entry):
        of, wrt = head.of, head.wrt
        if all(isinstance(i, (Idx, Num)) for i in (*of.indices, *wrt.indices)):
            return lambda p, named: p.partial(of.tensor, places(of, named), wrt.tensor, places(wrt, named))
    if isinstance(head, Entry) and head.tensor.startswith("delta_") and all(
            isinstance(i, (Idx, Num)) for i in head.indices):
        return lambda p, named: p.tensor(head.tensor)[places(head, named)]
    return None


def _around(point: Point, source: random.Random) -> Iterator[Point]:
    """Points beside it in all directions of inputs and parameters, with the same upstream gradient."""
    module, shapes = point.module, {name: point.shapes[name] for name in point.given}
    upstream = f"delta_{module.output}"
    for _ in range(_NEAR):
        given = {name: values if name in module.constants else {
            at: v + point.kind.number(_STEP * source.randint(-999, 999)) for at, v in values.items()}
            for name, values in point.given.items()}
        try:
            yield Point(module, point.kind, given, shapes, point.free).with_upstream(point.values[upstream])
        except _PASSED:
            continue
