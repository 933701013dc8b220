"""What the answer says in numbers, where the question gives them: the output, each gradient, each derivative."""

from __future__ import annotations

from typing import NamedTuple

from derive.exposition.builder import Builder
from derive.exposition.example import DIGITS, columns, in_decimals, in_rows, printed
from derive.exposition.story import Story, whole
from derive.exposition.subject import LOSS, Subject
from derive.exposition.window_example import example_point, gradient_of, scope_of
from derive.exposition.worked import Result, worked
from derive.expr import Entry, Expr, Partial, eq
from derive.numeric.arithmetic import EXACT, Arithmetic, precision
from derive.verify.points.draw import arithmetic_of
from derive.verify.points.point import Point


class Answered(NamedTuple):
    """Results that are asked for, as the question names each, at a point of numbers of a kind."""

    point: Point
    kind: Arithmetic
    scope: str
    results: list[Result]


def answered(subject: Subject) -> Answered | None:
    """What the question asks for at its numbers; None where it gives none."""
    module = subject.module
    if not module.values:
        return None
    story = whole(subject.messages)
    kind = EXACT if story else arithmetic_of((*module.equations, *(f.body for f in module.functions)))
    scope = "example"
    with precision():
        if story:
            scope, point, found = _of_windows(story)
        else:
            point, found = worked(subject, kind)[0]
    wanted = {f"delta_{t.wrt}" for t in subject.backward}
    asked_for = [t.wrt for i in subject.items if i.kind == "named" or subject.is_named(i) for t in i.targets]
    named: dict[Expr, Expr] = {
        Entry(f"delta_{x}", ()): Partial(Entry(LOSS, ()), Entry(x, ())) for x in asked_for}
    return Answered(point, kind, scope, [
        r._replace(node=named.get(r.node, r.node)) for r in found
        if r.part in ("forward", "derivatives") or (isinstance(r.node, Entry) and r.node.tensor in wanted)])


def asked(b: Builder, subject: Subject) -> None:
    """s = …, y = …, δ_x = … and ∂y_0/∂x_1 = … at the numbers of the question; exact where the layer is rational."""
    found = answered(subject)
    if found is None:
        return
    _, kind, scope, own = found
    with precision():
        b.prose("answer_numbers", digits=None if kind is EXACT else DIGITS, tied=scope == "tied",
                rule=subject.module.tie_rule)
        if kind is EXACT:
            b.joined("numbers", (eq(r.node, printed(r.values, columns(b.blocks, subject))) for r in own), scope)
        else:
            rows = tuple((b.m(r.node), in_rows(r.values, in_decimals)) for r in own)
            b.table(tuple(b.say("example_header").split(" ~ ")), rows, "ll")


def _of_windows(d: Story) -> tuple[str, Point, list[Result]]:
    """The output of a maximum over windows and what comes back to its input, at ties by the rule."""
    point = example_point(d)
    found = [Result(Entry(d.module.output, ()), point.tensor(d.module.output), "forward")]
    if f"delta_{d.module.output}" in dict(d.messages.module.values):
        found.append(Result(Entry(f"delta_{d.wrt}", ()), gradient_of(d, point), "backward"))
    return scope_of(d, point), point, found
