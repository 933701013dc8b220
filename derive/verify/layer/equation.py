"""One equation of a user's, checked against any layer: a counterexample in small numbers."""

from __future__ import annotations

from collections.abc import Iterator

from derive.calculus.results import Messages
from derive.errors import UnsupportedError
from derive.expr import Node
from derive.notation import read
from derive.numeric.arithmetic import precision
from derive.numeric.point import Definitions, Undefined
from derive.verify.check import unbound
from derive.verify.layer.claims import Claim, Refuted
from derive.verify.layer.draw import Draws
from derive.verify.layer.point import Point
from derive.verify.layer.sizes import shrunk
from derive.verify.layer.subject import Subject, localised
from derive.verify.report import ENOUGH

_SMALL = 30  # points of small numbers that are tried first


def refutation(latex: str, messages: Messages) -> str | None:
    """Why the equation is wrong for this layer, or None where it holds at every point.

    Raises :class:`derive.errors.CardError` where it cannot be read.
    """
    module = messages.module
    node = localised(read(latex, module.table), module)
    loose = unbound(node)
    if loose:
        return f"{loose} is free on the right and absent on the left: the equation says nothing definite"
    with precision():
        return _refutation(node, messages)


def _refutation(node: Node, messages: Messages) -> str | None:
    module = messages.module
    stars = {name: (arg, place, module.parameters_of(arg))
             for name, (arg, place) in messages.star_definitions.items()}
    subject = Subject(shrunk(module, (node,)), module.table, (node,), Definitions(stars, {}, {}))
    claims = subject.compiler.claims(node)
    hits: list[set[int]] = [set() for _ in claims]
    count = 0
    for point, small in _points(subject):
        try:
            said = [claim.holds(point, seen, tied=small) for claim, seen in zip(claims, hits, strict=True)]
        except Refuted as refuted:
            return f"the equation is wrong {refuted}{_ratio(claims, subject)}"
        count += all(said)
    return None if count >= ENOUGH else "the equation claims nothing at the points tried"


def _points(subject: Subject) -> Iterator[tuple[Point, bool]]:
    """Small numbers at the smallest sizes, then the points of a sheet."""
    draws = Draws(subject.module, subject.kind, subject.sizes[:1], subject.draws.pool, subject.free)
    try:
        for number in range(_SMALL):
            yield draws.point(number, ties=True), True
    except UnsupportedError:  # the formula has no value at such numbers
        pass
    for number, point in enumerate(subject.points()):
        if number == 2 * max(subject.base, ENOUGH):
            return
        yield point, False


def _ratio(claims: tuple[Claim, ...], subject: Subject) -> str:
    """What can be said of the difference: the right side is so many times the left."""
    ratios = set()
    for number, point in enumerate(subject.points()):
        for claim in claims:
            for at in claim.assignments(point):
                try:
                    sides = claim.sides(point, at, set())
                    if sides is None or len(sides) != 2 or Undefined in sides:
                        continue
                    if sides[0]:
                        ratios.add(f"{float(subject.kind.quotient(sides[1], sides[0])):.8g}")
                except Exception:  # a hint is only a hint: the refutation stands without it
                    return ""
        if number == 5:
            break
    if len(ratios) != 1:
        return ""
    ratio = ratios.pop()
    return "; the sign is wrong" if ratio == "-1" else f"; the right side is {ratio} times the left one"
