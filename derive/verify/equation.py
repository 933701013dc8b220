"""One equation of a user's, checked against any layer: a counterexample in small numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from derive.calculus.messages import Messages
from derive.errors import UnsupportedError
from derive.expr import Entry, Given, Node, Partial, Rel
from derive.notation import read
from derive.numeric.arithmetic import EXACT, precision
from derive.numeric.point import Undefined
from derive.verify import mistakes
from derive.verify.check import unbound
from derive.verify.points.claims import Claim, Compiler, Refuted
from derive.verify.points.draw import Draws
from derive.verify.points.point import Point
from derive.verify.points.sizes import shrunk
from derive.verify.report import ENOUGH
from derive.verify.scope import Scope, localised

_NOTHING = "the equation claims nothing at the points tried"
_SMALL = 30  # points of small numbers that are tried first


def refutation(latex: str, messages: Messages) -> str | None:
    """Why the equation is wrong for this layer, or None where it holds at every point.

    Raises :class:`derive.errors.CardError` where it cannot be read.
    """
    module = messages.module
    node = read(latex, module.table)
    loose = unbound(node)
    if loose:
        return f"{loose} is free on the right and absent on the left: the equation says nothing definite"
    found = counterexample(node, messages)
    return None if found is None else found if found == _NOTHING else f"the equation is wrong {found}"


def counterexample(node: Node, messages: Messages, ties: bool = True) -> str | None:
    """Where the statement fails, and the likely mistake; None where it holds at every point, ``ties`` among them."""
    with precision():
        return _counterexample(localised(node, messages.module), messages, ties)


def _counterexample(node: Node, messages: Messages, ties: bool) -> str | None:
    module = messages.module
    scope = Scope(shrunk(module, (node,)), module.table, (node,), Compiler.of(messages, EXACT).definitions)
    claims = scope.compiler.claims(node)
    hits: list[set[int]] = [set() for _ in claims]
    count = 0
    for point, small in _points(scope, ties):
        try:
            said = [claim.holds(point, seen, tied=small) for claim, seen in zip(claims, hits, strict=True)]
        except Refuted as refuted:
            return f"{refuted}{_likely(node, scope, point) or _ratio(claims, scope)}"
        count += all(said)
    return None if count >= ENOUGH else _NOTHING


def _points(scope: Scope, ties: bool) -> Iterator[tuple[Point, bool]]:
    """Small numbers at the smallest sizes, then the points of a sheet."""
    draws = Draws(scope.module, scope.kind, scope.sizes[:1], scope.draws.pool, scope.free)
    try:
        for number in range(_SMALL):
            yield draws.point(number, ties=ties), ties
    except UnsupportedError:  # the formula has no value at such numbers
        pass
    for number, point in enumerate(scope.points()):
        if number == 2 * max(scope.base, ENOUGH):
            return
        yield point, False


def _likely(node: Node, scope: Scope, point: Point) -> str:
    """Of a layer that is one maximum over windows: the known mistake that the right-hand side computes."""
    claim = node.claim if isinstance(node, Given) else node
    w = next((w for w in scope.windows if w.whole), None)
    if w is None or not isinstance(claim, Rel) or len(claim.terms) != 2:
        return ""
    left, right = claim.terms
    try:
        if isinstance(left, Partial) and isinstance(left.of, Entry) and isinstance(left.wrt, Entry):
            function = scope.compiler.function((*left.of.indices, *left.wrt.indices), right)
            places = list(itertools.product(point.tensor(w.layer.output), point.tensor(w.source)))
            found: dict[Any, Any] = {p: v for p in places if (v := function(point, (*p[0], *p[1])))}
            known = {p: v for p in places if (v := point.partial(w.layer.output, p[0], w.source, p[1]))}
            return f"; likely mistake: {mistakes.likely(found, known, mistakes.jacobians(w, point))}"
        if isinstance(left, Entry) and left.tensor == f"delta_{w.source}":
            function = scope.compiler.function(left.indices, right)
            found = {cell: function(point, cell) for cell in point.tensor(w.source)}
            return f"; likely mistake: {mistakes.likely(found, point.tensor(left.tensor), mistakes.messages(w, point))}"
    except Exception:  # a hint is only a hint: the refutation stands without it
        return ""
    return ""


def _ratio(claims: tuple[Claim, ...], scope: Scope) -> str:
    """What can be said of the difference: the right side is so many times the left."""
    ratios = set()
    for number, point in enumerate(scope.points()):
        for claim in claims:
            for at in claim.assignments(point):
                try:
                    sides = claim.sides(point, at, set())
                    if sides is None or len(sides) != 2 or Undefined in sides:
                        continue
                    if sides[0]:
                        ratios.add(f"{float(scope.kind.quotient(sides[1], sides[0])):.8g}")
                except Exception:  # a hint is only a hint: the refutation stands without it
                    return ""
        if number == 5:
            break
    if len(ratios) != 1:
        return ""
    ratio = ratios.pop()
    return "; the sign is wrong" if ratio == "-1" else f"; the right side is {ratio} times the left one"
