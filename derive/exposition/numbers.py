"""What the answer says in numbers, where the question gives them: the output, each gradient, each derivative."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from derive.errors import CardError
from derive.exposition import updates
from derive.exposition.builder import Builder
from derive.exposition.example import DIGITS, columns, in_decimals, in_rows, printed
from derive.exposition.masks import masked
from derive.exposition.story import Story, whole
from derive.exposition.subject import LOSS, Subject
from derive.exposition.window_example import example_point, gradient_of, scope_of
from derive.exposition.worked import Result, rows, slopes, stepped, worked
from derive.expr import Entry, Expr, Partial, eq
from derive.notation.term_writer import ends
from derive.numeric.arithmetic import EXACT, Arithmetic, precision
from derive.verify.points.claims import Compiler
from derive.verify.points.draw import arithmetic_of
from derive.verify.points.point import Point

_ASKED = ("forward", "derivatives", "update", "mask")


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
            scope, point, found = _of_windows(story, subject)
        else:
            point, found = worked(subject, kind)[0]
        found += [*stepped(subject, point), *masked(subject, point, scope == "tied")]
    wanted = {f"delta_{t.wrt}" for t in subject.backward}
    asked_for = [t.wrt for i in subject.items if i.kind == "named" or subject.is_named(i) for t in i.targets]
    named: dict[Expr, Expr] = {
        Entry(f"delta_{x}", ()): Partial(Entry(LOSS, ()), Entry(x, ())) for x in asked_for}
    return Answered(point, kind, scope, [
        r._replace(node=named.get(r.node, r.node)) for r in found
        if r.part in _ASKED or (isinstance(r.node, Entry) and r.node.tensor in wanted)])


def asked(b: Builder, subject: Subject) -> None:
    """s = …, y = …, δ_x = … and ∂y_0/∂x_1 = … at the numbers of the question; exact where the layer is rational."""
    found = answered(subject)
    if found is None:
        return
    _, kind, scope, own = found
    with precision():
        fine = [r for r in own if kind is EXACT and subject.module.decimals
                and not all(map(ends, map(Fraction, r.values.values())))]
        b.prose("answer_numbers", digits=None if kind is EXACT else DIGITS, tied=scope == "tied",
                rule=subject.module.tie_rule)
        if kind is EXACT:
            column = columns(b.blocks, subject)
            b.joined("numbers", (eq(r.node, printed(r.values, column)) for r in own if r.part != "update"), scope)
            _updated(b, subject, found, scope, column)
            if fine:
                b.prose("answer_rounded", digits=DIGITS)
        if fine or kind is not EXACT:
            cells = tuple((b.m(r.node), in_rows(r.values, in_decimals)) for r in fine or own)
            b.table(tuple(b.say("example_header").split(" ~ ")), cells, "ll")


def _updated(b: Builder, subject: Subject, found: Answered, scope: str, column: bool) -> None:
    """θ_new entry by entry, then whole."""
    for update in subject.module.updates:
        (result,) = (r for r in found.results if r.node == Entry(update.new, ()))
        theta, gradient = found.point.tensor(update.wrt), slopes(subject, found.point, update)
        single = () in result.values
        lines = updates.arithmetic(update, theta, gradient, result.values)
        b.joined("numbers" if single else "arithmetic", lines, scope)
        if not single:
            b.math("numbers", eq(result.node, printed(result.values, column)), scope)


def _of_windows(d: Story, subject: Subject) -> tuple[str, Point, list[Result]]:
    """The output of a maximum over windows and what comes back to its input, at ties by the rule.

    Raises :class:`CardError` where the Jacobian alone is asked for at a tie.
    """
    point = example_point(d)
    found = [Result(Entry(d.module.output, ()), point.tensor(d.module.output), "forward")]
    if f"delta_{d.module.output}" in dict(d.messages.module.values):
        found.append(Result(Entry(f"delta_{d.wrt}", ()), gradient_of(d, point), "backward"))
    scope = scope_of(d, point)
    if scope == "example" and (subject.module.rows or found[1:] == []):
        found += rows(subject, point, Compiler.of(subject.messages, EXACT).function)
    elif subject.module.rows or found[1:] == []:
        raise CardError("at the numbers of the question several entries of a window attain its maximum, where there is "
                        "no Jacobian: choose others, or ask for the backward message")
    return scope, point, found
