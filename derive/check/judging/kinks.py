"""Where a layer is not smooth: a claimed derivative there lies between those of the points around it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any, cast

from derive.affine import Affine
from derive.check.judging.equalities import PASSED, both, closings, of_values, with_number
from derive.errors import DeriveError
from derive.expr import (
    ZERO,
    Arg,
    Bracket,
    Cardinality,
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
    SetApp,
    Size,
    Star,
    walk,
)
from derive.numeric.arithmetic import decimal_of
from derive.numeric.point import Index, NoCase, Undefined
from derive.verify.points.claims import Claim, Refuted, Undecided
from derive.verify.points.draw import Draws, Pool
from derive.verify.points.facts import Facts
from derive.verify.points.point import Point
from derive.verify.scope import Scope

ROUNDED = ("floor", "ceil", "mod")
_STEP = Fraction(1, 10**12)
_FAINT = Fraction(1, 10**20)
_KEPT = 128  # points whose neighbours are kept
_NEAR = 40  # points around each: enough to see both sides of every kink of a function of one number
_WIDE = 400  # points around one at which a value seems to lie outside
_RANKED = 2
_CLOSE = Fraction(1, 10**6)
_NEARBY = 3  # points of one boundary beside which others are tried
_LITTLE = Fraction(1, 1000)
_SINGULAR = 10**20  # a number divided by a rounding residue
# refutations that a range or a domain left unsaid may explain
UNDECIDED = ("out of range", "has no value", "no case applies", "never holds")
_BETWEEN = 60  # points at a claim's own thresholds and between them
_MANY = 80  # points of which an equation that holds in a region holds at some
_MORE = 40  # points that are looked for on a boundary
_GENERIC = 2  # tied points at which every value of the indices is moved to a boundary


def compared(node: Node) -> Iterator[Rel]:
    """The conditions inside a claim."""
    inner = node.terms if isinstance(node, Rel) else node.children()
    for part in inner:
        yield from (n for n in walk(part) if isinstance(n, Rel))


def numbers(node: Cond) -> set[Fraction]:
    """The numbers with which a claim compares values, in conditions, extrema and steps."""
    places = [n for n in walk(node) if isinstance(n, Extremum) or isinstance(n, Reduce) and n.op in ("max", "min") or
              isinstance(n, Fn) and (n.name in ("abs", "sign") or n.name in ROUNDED and any(
                  isinstance(e, Entry) for e in walk(n)))]
    return {abs(n.value) for p in (*places, *filter(of_values, compared(node))) for n in walk(p) if isinstance(n, Num)}


def faint(node: Cond, scope: Scope) -> bool:
    """Whether a number or a function of numbers alone is too small to be seen beside others, as e^{-1000} is."""
    letters = (Entry, Idx, Size, Star, Arg, SetApp, Cardinality)
    alone = {n for n in walk(node) if isinstance(n, Expr) and not any(isinstance(m, letters) for m in walk(n))}
    for constant in alone:
        with suppress(*PASSED):
            value = scope.compiler.function((), constant)(next(iter(scope.points())), ())
            if value != 0 and abs(decimal_of(value)) < _FAINT:
                return True
    return False


def has_cases(nodes: Iterable[Node]) -> bool:
    """Whether values are compared in one of them, not indices alone: there may be kinks."""
    return any(map(_compares, (n for node in nodes for n in walk(node))))


def _compares(node: Node) -> bool:
    if isinstance(node, (Cases, Bracket)):
        return any(isinstance(n, SetApp) or isinstance(n, Rel) and of_values(n) for n in walk(node))
    return isinstance(node, Extremum) or isinstance(node, Reduce) and node.op != "sum" or isinstance(
        node, Fn) and node.name.rstrip("'") in ("abs", "sign")


def contradictory(node: Cond, scope: Scope) -> bool:
    """Whether two cases hold at a point, and differ."""
    for claim in scope.compiler.claims(node):
        for point in islice(scope.points(), _BETWEEN):
            try:
                claim.holds(point, set())
            except Undecided:
                return True
            except (Refuted, *PASSED):
                continue
    return False


def between(node: Cond, scope: Scope, named: set[Fraction]) -> str | None:
    """A counterexample on or between the numbers that claim and layer name, where one is found."""
    numbers = sorted({sign * n for n in named | {Fraction(0)} for sign in (1, -1)})
    tried = [*numbers, *((a + b) / 2 for a, b in itertools.pairwise(numbers)), numbers[0] - 1, numbers[-1] + 1]
    values = tuple(scope.kind.number(n) for n in tried)
    pool = Pool(dict.fromkeys(("any", "positive", "unit", "small", "near"), values))
    draws = Draws(scope.module, scope.kind, scope.sizes, pool, scope.free)
    return refuted(node, map(draws.point, range(_BETWEEN)), scope)


def refuted(node: Cond, points: Iterable[Point], scope: Scope) -> str | None:
    """The first of the points at which the claim fails; a side may have no value, and a place may have no case."""
    claims = scope.compiler.claims(node)
    try:
        return next((told for point in points for claim in claims if (told := _against(claim, point))), None)
    except DeriveError:
        return None


def _against(claim: Claim, point: Point) -> str | None:
    try:
        claim.holds(point, set(), tied=True)
    except Refuted as error:
        told = str(error)
        return disproof(claim, point) if any(words in told for words in UNDECIDED) else told
    return None


def disproof(claim: Claim, point: Point) -> str | None:
    """Where the claim fails at a point, of the places at which both its sides have a value."""
    for at in claim.assignments(point):
        with suppress(*PASSED):
            sides = claim.sides(point, at, set())
            if sides is not None and (wrong := claim.contradiction(sides)):
                place = ", ".join(f"{v.name} = {n}" for v, n in zip(claim.variables, at, strict=True))
                return f"{f'at {place} ' if place else ''}for {point.describe()}: {wrong}"
    return None


def boundaries(node: Rel, scope: Scope, never: Callable[[Rel], bool], beside: bool) -> tuple[Point, ...] | None:
    """A point on the boundary of each condition of the claim, and some close by on either side of it, if asked for.

    None where one was not found, and is not never reached.
    """
    found: list[Point] = []
    for a, b, sure in _compared(node):
        near = [*islice(_on(a, b, node, scope), _NEARBY if beside else 1)]
        found += [p for point, gap in near for p in (point, *(_either_side(point, gap, scope) if beside else ()))]
        if not near and sure and not any(never(Rel((a, b), (op,))) for op in "<>"):
            return None
    return tuple(dict.fromkeys(p for p in found if p not in scope.tied))


def _compared(node: Rel) -> Iterator[tuple[Expr, Expr, bool]]:
    """The values that a claim compares, in conditions (then for sure) and in extrema and signs."""
    for rel in compared(node):
        if of_values(rel):
            yield from ((a, b, True) for a, b in itertools.pairwise(rel.terms))
    for part in (n for term in node.terms for n in walk(term)):
        if isinstance(part, Extremum):
            yield from ((a, b, False) for a, b in itertools.pairwise(part.args))
        elif isinstance(part, Fn) and part.name in ("abs", "sign"):
            yield part.args[0], ZERO, False


def _on(left: Expr, right: Expr, node: Cond, scope: Scope) -> Iterator[tuple[Point, Callable[[Point], Any]]]:
    """Points at which the terms are equal, and what is between them."""
    def tied() -> Iterator[Point]:
        yield from scope.tied
        yield from map(scope.further, range(_MORE))

    for moved in (False, True):
        points = islice(tied(), _GENERIC) if moved else tied()
        for point, at, (first, second) in both(left, right, node, points, scope):
            def gap(p: Point, at: Any = at, first: Any = first, second: Any = second) -> Any:
                return first(p, at) - second(p, at)

            for trial in closings(point, gap, scope) if moved else (point,):
                with suppress(*PASSED):
                    if scope.compiler.same(first(trial, at), second(trial, at)):
                        yield trial, gap


def _either_side(point: Point, gap: Callable[[Point], Any], scope: Scope) -> Iterator[Point]:
    """The point with one of its numbers a little smaller or larger, so that the gap is above and below 0."""
    facts, seen = Facts.of(scope.module, scope.kind), set[bool]()
    for name, at in [(name, at) for name, values in point.given.items() for at in values] + [
            (name, ()) for name in point.free]:
        for change in (_LITTLE, -_LITTLE):
            with suppress(*PASSED):
                found = with_number(point, name, at, scope.kind.number(change))
                side = gap(found)
                if side != 0 and (side > 0) not in seen and facts.hold(found):
                    seen.add(side > 0)
                    yield found
        if len(seen) > 1:
            return


def outside(node: Rel, whole: Cond, scope: Scope, further: tuple[Point, ...] = ()) -> tuple[str, bool] | None:
    """(where the right side is none of the generalised derivatives, whether the layer is smooth at all such places).

    ``whole``: the equation with its condition; ``further``: points beside the tied ones.
    """
    of, value = _slope(node.terms[0]), node.terms[1]
    if of is None or not isinstance(value, Expr):
        return None
    if not has_cases((node, *scope.module.equations, *(f.body for f in scope.module.functions))):
        return None
    claim, = scope.compiler.claims(whole)
    own = scope.compiler.function(claim.variables, value)
    sure = scope.module.elementwise  # a few of many tied entries may win at none of the points around
    found: str | None = None
    known = (*scope.tied, *further)
    for number in range(max(_MORE, len(known)) if known else 0):
        point = known[number] if number < len(known) else scope.further(number - len(known))
        around: _Made | None = None
        wide: _Made | None = None
        for at in claim.assignments(point):
            named = dict(zip(claim.variables, at, strict=True))
            try:
                sides = claim.sides(point, at, set())
                if sides is None or sides[0] is not Undefined:  # there is a derivative: the two were compared
                    continue
                taken = decimal_of(own(point, at))
                if abs(taken) > _SINGULAR:
                    continue
                around = around or _neighbours(point, number)
                low, high, close = _span(of, around, named, taken)
                if not _holds((low, high, close), taken) and (high - low > close or not sure):  # one may be narrow
                    wide = wide or _Made(itertools.chain(around, _around(point, random.Random(number), _WIDE)))
                    low, high, close = _span(of, wide, named, taken)
            except PASSED:
                continue
            if _holds((low, high, close), taken):
                continue
            slopes = f"{low:.6g}" if high - low <= close else f"{low:.6g} to {high:.6g}"
            found = f"for {point.describe()}: {taken:.6g}, and {slopes} around it"
            if not sure or high - low > close:
                return found, False
        if found is None and number >= len(known):
            return None
    return (found, True) if found else None


def _span(of: Callable[[Point, dict[Idx, int]], Any], points: Iterable[Point], named: dict[Idx, int],
          taken: Any) -> tuple[Any, Any, Any]:
    """The least and the largest slope at these points, and what is taken for equal; no more of them than hold it."""
    near = list[Any]()
    for point in points:
        near.append(decimal_of(of(point, named)))
        if _holds(span := _between(near), taken):  # more of them only widen it
            return span
    return _between(near)


def _between(near: Sequence[Any]) -> tuple[Any, Any, Any]:
    low, high = min(near), max(near)
    return low, high, decimal_of(_CLOSE) * max(1, abs(low), abs(high))


def _holds(span: tuple[Any, Any, Any], taken: Any) -> bool:
    low, high, close = span
    return bool(low - close <= taken <= high + close)


def left_out(node: Rel, whole: Cond, scope: Scope) -> str | None:
    """An input at which, and around which, no case of a claimed derivative applies."""
    if not handled(node) or any({*rel.ops} & {"=", "≠"} for rel in compared(node) if of_values(rel)):
        return None
    claim, = scope.compiler.claims(whole)
    for number, point in enumerate(islice(scope.points(), _MORE)):
        for at in claim.assignments(point):
            if _no_case(claim, point, at) and all(
                    _no_case(claim, p, at) for p in _around(point, random.Random(number))):
                place = ", ".join(f"{v.name} = {n}" for v, n in zip(claim.variables, at, strict=True))
                return f"{f'at {place} ' if place else ''}for {point.describe()}: no case applies"
    return None


def said(node: Cond, points: Iterable[Point], scope: Scope, slope: bool) -> int:
    """At how many points a claim says something, one of a slope also where there is none."""
    found = 0
    for claim in scope.compiler.claims(node):
        for point in points:
            for at in claim.assignments(point):
                with suppress(*PASSED):
                    sides = claim.sides(point, at, set())
                    found += sides is not None and (slope or Undefined not in sides)
    return found


def nowhere(node: Node, scope: Scope) -> bool:
    """Whether a claim fails for all its indices at all of many points."""
    told = 0
    for claim in scope.compiler.claims(node):
        for point in islice(scope.points(), 4 * _MANY):
            for at in claim.assignments(point):
                try:
                    sides = claim.sides(point, at, set())
                except PASSED:
                    continue
                if sides is not None:
                    told += 1
                    if not claim.contradiction(sides) and _stays(claim, point, at):
                        return False
            if told >= _MANY:
                break
    return told >= _MANY


def _stays(claim: Claim, point: Point, at: Index) -> bool:
    """Whether what holds at a point holds around it, too."""
    for near in _around(point, random.Random(0), _RANKED + 1, _LITTLE / 999):
        with suppress(*PASSED):
            sides = claim.sides(near, at, set())
            if sides is not None and claim.contradiction(sides):
                return False
    return True


def _no_case(claim: Claim, point: Point, at: Index) -> bool:
    try:
        claim.sides(point, at, set())
    except NoCase:
        return True
    except PASSED:
        return False
    return False


def handled(node: Rel) -> bool:
    """Its head is a derivative whose value at a kink can be compared."""
    return _slope(node.terms[0]) is not None


def _slope(head: Node) -> Callable[[Point, dict[Idx, int]], Any] | None:
    """∂y/∂x or δ_x at a point, its indices by name, those of its labels by their numbers."""
    def places(entry: Entry, p: Point, named: dict[Idx, int]) -> tuple[int, ...]:
        def number(i: Node) -> int:
            return named[i] if isinstance(i, Idx) else int(p.values[cast(Entry, i).tensor][()])

        def value(index: Expr) -> int:
            if isinstance(index, Idx):
                return named[index]
            term = Affine.of(index)
            return int(term.constant + sum(c * number(i) for i, c in term.coefficients.items()))

        return tuple(map(value, entry.indices))

    def placed(entry: Entry) -> bool:
        return all(isinstance(i, Idx) or isinstance(i, Entry) and not i.indices
                   for index in entry.indices for i in Affine.of(index).coefficients)

    if isinstance(head, Partial) and isinstance(head.of, Entry) and isinstance(head.wrt, Entry):
        of, wrt = head.of, head.wrt
        if placed(of) and placed(wrt):
            return lambda p, named: p.partial(of.tensor, places(of, p, named), wrt.tensor, places(wrt, p, named))
    if isinstance(head, Entry) and head.tensor.startswith("delta_") and placed(head):
        return lambda p, named: p.tensor(head.tensor)[places(head, p, named)]
    return None


class _Made:
    """Points that are made when they are come to, and once."""

    def __init__(self, source: Iterator[Point]) -> None:
        self._source, self._made = source, list[Point]()

    def __iter__(self) -> Iterator[Point]:
        for n in itertools.count():
            if n == len(self._made):
                try:
                    self._made.append(next(self._source))
                except StopIteration:
                    return
            yield self._made[n]


@lru_cache(maxsize=_KEPT)
def _neighbours(point: Point, seed: int) -> _Made:
    """Points around it, the same for all equations that are looked at there."""
    return _Made(_around(point, random.Random(seed)))


def _around(point: Point, source: random.Random, count: int = _NEAR, step: Fraction = _STEP) -> Iterator[Point]:
    """Points beside it in all directions of inputs and parameters, with the same upstream gradient.

    Two of them rank the entries by their places, so that the first or the last of many that are equal wins.
    """
    module, shapes = point.module, {name: point.shapes[name] for name in point.given}
    upstream = f"delta_{module.output}"
    for number in range(count):
        places = itertools.count(1)
        sign = 1 - 2 * number if number < _RANKED else 0
        given = {name: values if name in module.constants else {
            at: v + point.kind.number(step * (sign * next(places) or source.randint(-999, 999)))
            for at, v in values.items()} for name, values in point.given.items()}
        try:
            yield Point(module, point.kind, given, shapes, point.free).with_upstream(point.values[upstream])
        except PASSED:
            continue
