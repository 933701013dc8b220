"""The order of a sheet: answer, reading, forward, windows, derivation, kinks and ties, worked example, checked."""

from __future__ import annotations

from dataclasses import replace

from derive.calculus.messages import Messages
from derive.calculus.one_window import scope_tables
from derive.exposition import answer, chains, example, kinks, reading, stages, window, window_example
from derive.exposition.builder import Builder
from derive.exposition.local import slopes
from derive.exposition.pictures import pictures
from derive.exposition.story import Story, stories, whole
from derive.exposition.subject import Subject
from derive.layers import spoken
from derive.notation.symbols import SymbolTable
from derive.sheet import Block, Math, Sheet
from derive.verify.report import Report, Verdict


def compose(messages: Messages) -> Sheet:
    """The sheet of a layer, all but its closing section."""
    story = whole(messages)
    return _of_windows(story) if story is not None else _of_definitions(messages)


def _of_windows(d: Story) -> Sheet:
    """A layer that is one maximum over windows: told by one window, whose cases SymPy has."""
    tables = scope_tables(d.module)
    front, body = Builder(tables, "windows"), Builder(tables, "windows")
    window.answer(front, d)
    reading.said(body, d.module.readings)
    for section in (window.window, window.why, window.indicator, window.full_message, window.ties):
        section(body, d)
    trial = window_example.build(body, d)
    title = front.say("title", name=spoken(d.module.name), op=d.op)
    return Sheet(title, tuple(front.blocks), tuple(body.blocks), (), (*front.inline, *body.inline), trial)


def _of_definitions(messages: Messages) -> Sheet:
    """A layer of any definitions; a maximum over windows among them brings its window and its ties."""
    subject, tables = Subject(messages), scope_tables(messages.module)
    front, body = Builder(tables, "layer"), Builder(tables, "layer")
    answer.build(front, subject)
    reading.reading(body, subject)
    reading.forward(body, subject)
    pictures(body, subject)
    told = Builder(tables, "windows", body.blocks, body.inline)
    for story in stories(messages):
        window.window(told, story)
    derivation(body, subject)
    kinks.kinks(body, subject)
    for story in stories(messages):
        window.ties(told, story)
    example.build(body, subject, tuple(m for m in (*front.blocks, *body.blocks) if isinstance(m, Math)))
    title = front.say("title", name=spoken(messages.module.name), named=bool(messages.module.wanted))
    return Sheet(title, tuple(front.blocks), tuple(body.blocks), inline=(*front.inline, *body.inline))


def derivation(b: Builder, subject: Subject) -> None:
    """Backward through the definitions where messages are asked for; forward where only derivatives are."""
    if not subject.targets:
        return
    b.heading("heading_derivation")
    slopes(b, subject)
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


def with_checks(sheet: Sheet, report: Report, messages: Messages) -> Sheet:
    """The sheet closed by what was proved and what was tested."""
    return replace(sheet, checked=closing(report, scope_tables(messages.module)))


def closing(report: Report, tables: dict[str, SymbolTable]) -> tuple[Block, ...]:
    """Verdicts with their evidence, the agreement of the routes, and how many definitions claim nothing."""
    b = Builder(tables)
    b.heading("heading_checked")
    proved = [c for c in report.checks if c.verdict is Verdict.PROVED and c.latex]
    tested = [c for c in report.checks if c.verdict is Verdict.TESTED and c.latex]
    routes = [replace(c, evidence=b.lettered(c.evidence)) for c in report.checks if not c.latex]
    b.bullets("checked", proved=proved, tested=tested, routes=routes, definitions=report.definitions)
    return tuple(b.blocks)
