"""The order of a sheet: answer, forward, windows, derivation, kinks and ties, worked example, reading, checked."""

from __future__ import annotations

import re
from dataclasses import replace

from derive.calculus.messages import Messages, upstream
from derive.calculus.one_window import scope_tables
from derive.exposition import answer, chains, example, kinks, reading, seen, stages, whole, window, window_example
from derive.exposition.builder import Builder
from derive.exposition.local import slopes
from derive.exposition.story import stories
from derive.exposition.subject import Subject
from derive.exposition.titles import title
from derive.expr import Entry, walk
from derive.sheet import Heading, Math, Sheet
from derive.verify.report import Report, Verdict

_NAMED = re.compile(r"`\w+`")


def compose(messages: Messages, question: str | None = None) -> Sheet:
    """The sheet of a layer, all but its closing checks; ``question`` is the card's text, which tells what is known."""
    subject, tables = Subject(messages, question), scope_tables(messages.module)
    front, body, end = (Builder(tables, "layer") for _ in range(3))
    told, found = body.worded("windows"), stories(messages)
    answer.build(front, subject)
    reading.forward(body, subject, reading.sets(front))
    for story in found:
        window.window(told, story)
    derivation(body, subject)
    told_letters(body, subject, front)
    if not any(c.macro == "answer_bracket" for c in front.claims):
        told_bracket(body)
    for story in found if subject.backward and subject.is_window else ():
        window.covering(told, story)
    kinks.kinks(body, subject)
    for story in found:
        window.ties(told, story)
    trial = None
    for story in found if subject.is_window else ():
        trial = window_example.build(told, story)
        seen.differently(told, story)
    if not subject.is_window:
        example.build(body, subject, tuple(m for m in (*front.blocks, *body.blocks) if isinstance(m, Math)))
    reading.reading(end, subject)
    name, parts = title(front, subject), (front, body, end)
    inline, claims = tuple(m for b in parts for m in b.inline), tuple(c for b in parts for c in b.claims)
    return Sheet(name, tuple(front.blocks), tuple(body.blocks), tuple(end.blocks), inline, trial, claims,
                 messages.module.language, question)


def told_letters(b: Builder, subject: Subject, front: Builder) -> None:
    """The definitions of letters in a derivation that neither the question nor the answer writes."""
    known = {n.tensor for m in front.blocks if isinstance(m, Math) for n in walk(m.expr) if isinstance(n, Entry)}
    used = {n.tensor for m in b.blocks if isinstance(m, Math) and m.scope == "layer" for n in walk(m.expr)
            if isinstance(n, Entry)}
    new = [e for e in subject.module.equations if isinstance(head := e.terms[0], Entry) and not subject.on_card(
        head.tensor) and head.tensor in used - known]
    place = next((n for n, block in enumerate(b.blocks, 1) if isinstance(block, Heading)
                  and block.name == "derivation"), None)
    if new and place is not None:
        own = replace(b, blocks=[])
        own.prose("derivation_letters")
        whole.defined(own, subject, new)
        b.blocks[place:place] = own.blocks


def told_bracket(b: Builder) -> None:
    """What a bracket means, behind the first formula with one, unless the answer has said it."""
    own = replace(b, blocks=[])
    first = answer.bracket(own, [m for m in b.blocks if isinstance(m, Math) and not m.name.startswith("rule_")])
    if first is not None:
        b.blocks[(place := b.blocks.index(first) + 1):place] = own.blocks


def derivation(b: Builder, subject: Subject) -> None:
    """Backward through the definitions where messages are asked for; forward where only derivatives are."""
    if not subject.targets:
        return
    b.heading("heading_derivation")
    slopes(b, subject)
    if subject.backward:
        reading.upstream(b, subject)
        stages.backward(b, subject)
    if subject.forward:  # before a section that only the full sheet has
        chains.chains(b, subject, subject.forward, rules=True)
    if subject.backward:
        stages.inserted(b, subject)
    if not subject.forward and not subject.is_scalar and not messages_only(subject):
        b.prose("outputs_alone", delta=b.m(upstream(subject.module)))
        b.heading("heading_jacobian", 3)
        chains.chains(b, subject, subject.targets, rules=False)


def messages_only(subject: Subject) -> bool:
    """No derivative of the output is asked for that the stages have not shown."""
    return all(t.loss or len(subject.path(t)) == 1 for t in subject.targets)


def with_checks(sheet: Sheet, report: Report, messages: Messages) -> Sheet:
    """The sheet closed by verdicts with their evidence, the agreement of the routes, and how much claims nothing."""
    b = Builder(scope_tables(messages.module))
    b.heading("heading_checked")
    proved = [c for c in report.checks if c.verdict is Verdict.PROVED and c.latex]
    tested = [c for c in report.checks if c.verdict is Verdict.TESTED and c.latex]
    alike: dict[tuple[str, Verdict], list[str]] = {}  # the same of several letters is said once
    for check in (c for c in report.checks if not c.latex):
        named = _NAMED.findall(check.evidence)
        said = _NAMED.sub("{}", check.evidence) if len(named) == 1 else check.evidence
        letters = alike.setdefault((said, check.verdict), [])
        letters += [name for name in named if name not in letters]
    routes = [{"evidence": b.lettered(said.replace("{}", ", ".join(letters))), "verdict": verdict}
              for (said, verdict), letters in alike.items()]
    b.bullets("checked", proved=proved, tested=tested, routes=routes, definitions=report.definitions)
    return replace(sheet, closing=(*sheet.closing, *b.blocks), inline=(*sheet.inline, *b.inline),
                   claims=(*sheet.claims, *b.claims))
