"""The order of the sheet of any layer: answer, reading, forward, derivation, kinks, worked example, checked."""

from __future__ import annotations

from dataclasses import replace

from derive.calculus.results import Messages
from derive.compose.builder import Builder
from derive.compose.checked import closing
from derive.compose.layer import answer, chains, example, functions, kinks, reading, stages
from derive.compose.layer.pictures import pictures
from derive.compose.layer.subject import Subject
from derive.layers import spoken
from derive.notation.symbols import SymbolTable
from derive.sheet import Math, Sheet
from derive.verify.report import Report


def compose(messages: Messages) -> Sheet:
    """The sheet of a layer, all but its closing section."""
    subject = Subject(messages)
    front, body = Builder(tables(messages), "layer"), Builder(tables(messages), "layer")
    answer.build(front, subject)
    reading.reading(body, subject)
    reading.forward(body, subject)
    pictures(body, subject)
    derivation(body, subject)
    kinks.kinks(body, subject)
    example.build(body, subject, tuple(m for m in (*front.blocks, *body.blocks) if isinstance(m, Math)))
    title = front.say("title", name=spoken(messages.module.name), named=bool(messages.module.wanted))
    return Sheet(title, tuple(front.blocks), tuple(body.blocks), inline=(*front.inline, *body.inline))


def derivation(b: Builder, subject: Subject) -> None:
    """Backward through the definitions where messages are asked for; forward where only derivatives are."""
    if not subject.targets:
        return
    b.heading("heading_derivation")
    functions.slopes(b, subject)
    if subject.backward:
        stages.backward(b, subject)
    if subject.forward:
        chains.chains(b, subject, subject.forward, rules=True)
    elif not subject.is_scalar and not messages_only(subject):
        b.heading("heading_jacobian", 3)
        chains.chains(b, subject, subject.targets, rules=False)


def messages_only(subject: Subject) -> bool:
    """No derivative of the output is asked for that the stages have not shown."""
    return all(t.loss or len(subject.path(t)) == 1 for t in subject.targets)


def tables(messages: Messages) -> dict[str, SymbolTable]:
    """The letters of each scope of the sheet."""
    return dict.fromkeys(("layer", "example", "tied"), messages.module.table)


def with_checks(sheet: Sheet, report: Report, messages: Messages) -> Sheet:
    """The sheet closed by what was proved and what was tested."""
    return replace(sheet, checked=closing(report, tables(messages)))
