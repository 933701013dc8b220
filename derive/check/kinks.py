"""Where a layer is not smooth: a claimed derivative there lies between those of the points around it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from derive.axes import stands
from derive.errors import DeriveError
from derive.expr import (
    HOLDS,
    ZERO,
    Add,
    Arg,
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
    Star,
    Tuple,
    free_indices,
    is_bound,
    subst,
    walk,
)
from derive.numeric.arithmetic import decimal_of
from derive.numeric.point import NoCase, TwoCases, Undefined
from derive.verify.points.claims import Refuted
from derive.verify.points.draw import Draws, Pool
from derive.verify.points.facts import Facts
from derive.verify.points.point import Point
from derive.verify.scope import Scope

_STEP = Fraction(1, 10**12)
_NEAR = 40  # points around each: enough to see both sides of every kink of a function of one number
_CLOSE = Fraction(1, 10**6)
PASSED = (Undefined, NoCase, TwoCases, DeriveError, LookupError, ArithmeticError, ValueError, TypeError)
_BETWEEN = 60  # points at a claim's own thresholds and between them
_MORE = 40  # points that are looked for on a boundary
_INDICES_UP_TO = 2  # numbers with which an index is compared, below all sizes that are tried


def compared(node: Node) -> Iterator[Rel]:
    """The conditions inside a claim."""
    inner = node.terms if isinstance(node, Rel) else node.children()
    for part in inner:
        yield from (n for n in walk(part) if isinstance(n, Rel))


def of_values(rel: Rel) -> bool:
    """Not i = j, not (i, j) = argmax x, not k < 5."""
    return not any(isinstance(t, (Idx, Tuple, Star, Arg)) for t in rel.terms) and any(
        isinstance(n, Entry) for n in walk(rel))


def numbers(node: Cond) -> set[Fraction]:
    """The numbers with which a claim compares values, in conditions and extrema."""
    places = [n for n in walk(node) if isinstance(n, Extremum) or isinstance(n, Reduce) and n.op in ("max", "min") or
              isinstance(n, Fn) and n.name in ("abs", "sign")]
    return {abs(n.value) for p in (*places, *filter(of_values, compared(node))) for n in walk(p) if isinstance(n, Num)}


def far(node: Cond, known: set[Fraction], scope: Scope) -> bool:
    """An index is compared with a number, not a known one, and at the sizes tried it never lies on one of its sides."""
    for rel in compared(node):
        if not of_values(rel) and any(isinstance(n, Num) and abs(n.value) >= _INDICES_UP_TO and (
                abs(n.value) not in known) for n in walk(rel)):
            for a, op, b in zip(rel.terms, rel.ops, rel.terms[1:], strict=False):
                if any(isinstance(n, Num) for n in (*walk(a), *walk(b))) and not _crossed(a, op, b, node, scope):
                    return True
    return False


def _crossed(left: Expr, op: str, right: Expr, node: Cond, scope: Scope) -> bool:
    seen = set()
    for point, at, (first, second) in _both(left, right, node, scope.points(), scope):
        with suppress(*PASSED):
            seen.add(bool(HOLDS[op](first(point, at), second(point, at))))
            if len(seen) > 1:
                return True
    return not seen


def between(node: Cond, scope: Scope, named: set[Fraction]) -> str | None:
    """A counterexample on or between the numbers that claim and layer name, where one is found."""
    numbers = sorted({sign * n for n in named | {Fraction(0)} for sign in (1, -1)})
    tried = [*numbers, *((a + b) / 2 for a, b in itertools.pairwise(numbers)), numbers[0] - 1, numbers[-1] + 1]
    values = tuple(scope.kind.number(n) for n in tried)
    pool = Pool(dict.fromkeys(("any", "positive", "unit", "small", "near"), values))
    draws = Draws(scope.module, scope.kind, scope.sizes, pool, scope.free)
    return refuted(node, map(draws.point, range(_BETWEEN)), scope)


def refuted(node: Cond, points: Iterable[Point], scope: Scope) -> str | None:
    """The first of the points at which the claim fails; a side may have no value."""
    claims = scope.compiler.claims(node)
    try:
        for point in points:
            for claim in claims:
                claim.holds(point, set(), tied=True)
    except Refuted as refuted:
        return str(refuted)
    except DeriveError:
        return None
    return None


def boundaries(node: Rel, scope: Scope) -> tuple[Point, ...] | None:
    """A point on the boundary of each condition of the claim; None where one was not found."""
    found: list[Point] = []
    for rel in compared(node):
        if of_values(rel):
            for a, b in itertools.pairwise(rel.terms):
                if (point := _on(a, b, node, scope)) is None:
                    return None
                found.append(point)
    return tuple(dict.fromkeys(p for p in found if p not in scope.tied))


def _on(left: Node, right: Node, node: Cond, scope: Scope) -> Point | None:
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return None
    tied = (*scope.tied, *(scope.draws.point(n, ties=True) for n in range(_MORE)))
    for moved in (False, True):
        for point, at, (first, second) in _both(left, right, node, tied[:_INDICES_UP_TO] if moved else tied, scope):
            def gap(p: Point, at: Any = at, first: Any = first, second: Any = second) -> Any:
                return first(p, at) - second(p, at)

            for trial in _moved(point, gap, scope) if moved else (point,):
                with suppress(*PASSED):
                    if scope.compiler.same(first(trial, at), second(trial, at)):
                        return trial
    return None


def _both(left: Expr, right: Expr, node: Cond, points: Iterable[Point],
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


def _moved(point: Point, gap: Callable[[Point], Any], scope: Scope) -> Iterator[Point]:
    """The point with one of its numbers such that a gap that is affine in it is closed."""
    facts = Facts.of(scope.module, scope.kind)
    for name, at in [(name, at) for name, values in point.given.items() for at in values] + [
            (name, ()) for name in point.free]:
        with suppress(*PASSED):
            own = gap(point)
            slope = gap(with_number(point, name, at, 1)) - own
            found = with_number(point, name, at, -scope.kind.quotient(own, slope))
            if facts.hold(found):
                yield found


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


def outside(node: Rel, whole: Cond, scope: Scope, further: tuple[Point, ...] = ()) -> tuple[str, bool] | None:
    """(where the right side is none of the generalised derivatives, whether the layer is smooth at all such places).

    ``whole``: the equation with its condition; ``further``: points beside the tied ones.
    """
    of, value = _slope(node.terms[0]), node.terms[1]
    if of is None or not isinstance(value, Expr):
        return None
    claim, = scope.compiler.claims(whole)
    own = scope.compiler.function(claim.variables, value)
    sure = scope.module.elementwise  # a few of many tied entries may win at none of the points around
    found: str | None = None
    known = (*scope.tied, *further)
    for number in range(max(_MORE, len(known)) if known else 0):
        point = known[number] if number < len(known) else scope.draws.point(number, ties=True)
        around = list(_around(point, random.Random(number)))
        for at in claim.assignments(point):
            named = dict(zip(claim.variables, at, strict=True))
            try:
                if claim.sides(point, at, set()) is None:
                    continue
                taken = decimal_of(own(point, at))
                near = [decimal_of(of(p, named)) for p in around]
            except PASSED:
                continue
            low, high = min(near), max(near)
            close = decimal_of(_CLOSE) * max(1, abs(low), abs(high))
            if low - close <= taken <= high + close:
                continue
            slopes = f"{low:.6g}" if high - low <= close else f"{low:.6g} to {high:.6g}"
            found = f"for {point.describe()}: {taken:.6g}, and {slopes} around it"
            if not sure or high - low > close:
                return found, False
        if found is None and number >= len(known):
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
        except PASSED:
            continue
