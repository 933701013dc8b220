"""What sentences claim is data: their words were read by somebody, each is made from facts, and these facts hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from derive.calculus.dependence import reached
from derive.calculus.kinks import kinks
from derive.expr import Entry, Partial, Rel, Size, walk
from derive.module import Module
from derive.notation.in_text import writes
from derive.sheet import Bullets, Claim, Heading, Prose, Sheet, Table
from derive.verify.report import Check, Report, Verdict
from derive.verify.said import Said, formula, holds
from derive.verify.scope import Scope
from derive.words import SENTENCE, unread

Told = tuple[str, str, str]  # of which kind a boundary is, where, of what
_INLINE = re.compile(r"\$([^$]+)\$")
_SENTENCE = re.compile(rf"{SENTENCE.pattern}|\s[|~]\s")
_LETTERS = re.compile(r"(?:`\w+`|\$[^$]+\$)(?:, (?:`\w+`|\$[^$]+\$))*")
_WORD = re.compile(r"[^\W\d_]{2}")


def words(sheet: Sheet, module: Module, scopes: Mapping[str, Scope]) -> list[Check]:
    """The checks of a sheet's sentences; those that hold leave none."""
    texts = list(_texts(sheet))
    said = _sentences([*texts, *(figure.caption for figure in sheet.figures())])
    made = _sentences(claim.words for claim in sheet.claims)
    within = said | _sentences(c.facts["words"] for c in sheet.claims if c.macro == "answer_part"
                               and _sentences([c.words]) <= said)
    claims = [c for c in sheet.claims if _sentences([c.words]) <= within]
    checks = [_refuted(f"The words of `{macro}` are those that were read", "read them, then run `make words`")
              for macro in unread(module.language)]
    checks += [_refuted("A sentence says what its facts say", f"“{s}”") for s in sorted(said - made)]
    rows = {row for claim in sheet.claims for row in claim.words.split(" | ")}
    checks += [_refuted("The cells of a row belong together", row) for row in _worded(sheet) if row not in rows]
    layer = Said(module, scopes, sheet)
    front = _sentences(b.text for b in sheet.answer if isinstance(b, Prose))
    answered = {fact for c in claims if _sentences([c.words]) <= front for fact in _told(c)}
    checks += [_refuted(f"What the words say of {name} (`{claim.macro}`)", f"they say “{claim.words}”")
               for claim in claims for name in holds(claim, layer)]
    return [*_formulas(sheet, texts, module.readings), *checks, *_letters(layer, front),
            *_boundaries(claims, module, _derived(sheet, module) if sheet.claims else set(), answered)]


def closed(sheet: Sheet, report: Report) -> list[Check]:
    """Where the closing words count other equations than those of the report, or give them other verdicts."""
    said = next((c for c in sheet.claims if c.macro == "checked"), None)
    counted = {verdict: [c for c in report.checks if c.latex and c.verdict is verdict]
               for verdict in (Verdict.PROVED, Verdict.TESTED)}
    told = {(_bare(c.evidence), c.verdict) for c in report.checks if not c.latex}
    items = (item for b in sheet.closing if isinstance(b, Bullets) for item in b.items)
    holds = said is not None and _sentences([said.words]) <= _sentences(items) and (
        [said.facts["proved"], said.facts["tested"]] == [*counted.values()]
        and tuple(said.facts["definitions"]) == report.definitions
        and {(_bare(r["evidence"]), r["verdict"]) for r in said.facts["routes"]} == told)
    return [] if holds else [_refuted("The closing words are those of the report", "their numbers or verdicts differ")]


def _bare(evidence: str) -> str:
    """Without the letters of which it is told."""
    return _LETTERS.sub("", evidence)


def _refuted(name: str, evidence: str) -> Check:
    return Check("words", "", Verdict.REFUTED, name, evidence)


def _texts(sheet: Sheet) -> Iterator[str]:
    """Title, headings, paragraphs, items, and what stands in tables."""
    yield sheet.title
    for block in sheet.blocks():
        if isinstance(block, (Heading, Prose)):
            yield block.text
        elif isinstance(block, Bullets):
            yield from block.items
        elif isinstance(block, Table):
            yield from (cell for row in (block.header, *block.rows) for cell in row)


def _worded(sheet: Sheet) -> Iterator[str]:
    """The rows of tables that say more than a name and its numbers."""
    for row in (row for b in sheet.blocks() if isinstance(b, Table) for row in b.rows):
        if sum(bool(_WORD.search(_INLINE.sub("", cell))) for cell in row) > 1:
            yield " ~ ".join(row)


def _sentences(texts: Iterable[str]) -> set[str]:
    return {sentence for text in texts for sentence in _parted(text)}


@lru_cache(maxsize=1024)
def _parted(text: str) -> tuple[str, ...]:
    """Those with a word in them, which a table's numbers have not."""
    return tuple(s.strip() for s in _SENTENCE.split(text) if _WORD.search(_INLINE.sub("", s)))


def _formulas(sheet: Sheet, texts: Iterable[str], readings: Iterable[str]) -> list[Check]:
    """Formulas in sentences that were neither derived and read back nor quoted from the card: none is a template's."""
    known = {m.latex for m in sheet.inline}
    known |= {formula for reading in readings for formula in _INLINE.findall(reading)}
    return [Check("words", formula, Verdict.NOT_READ, "it stands in the words and was not derived")
            for text in texts for formula in _INLINE.findall(text) if formula not in known]


def _letters(layer: Said, front: set[str]) -> Iterator[Check]:
    """Each letter of the answer stands in the question, or the answer says what it is: given, or defined."""
    sheet, module, shown = layer.sheet, layer.module, layer.answer
    told = {name for c in sheet.claims if c.macro == "answer_letters" and _sentences([c.words]) <= front
            for role in ("inputs", "parameters", "constants") for name in layer.named(c.facts[role])}
    told |= {m.expr.terms[0].tensor for m in shown if m.definition or m.name == "forward"
             if isinstance(m.expr, Rel) and isinstance(m.expr.terms[0], Entry)}
    used = {n.tensor.removeprefix("delta_") for m in shown for n in walk(m.expr) if isinstance(n, Entry)}
    for symbol in filter(None, map(module.table.named, sorted((used - told) & {*module.given, *module.defined}))):
        if sheet.question is not None and not writes(sheet.question, symbol.latex):
            yield _refuted("Each letter of the answer is explained", f"nothing says what ${symbol.latex}$ is")
    sizes = {n.name for m in shown for n in walk(m.expr) if isinstance(n, Size)}
    said = {n.name for text in front for latex in _INLINE.findall(text) if (node := layer.nodes.get(f"${latex}$"))
            for n in walk(node) if isinstance(n, Size)}
    for name in sorted(sizes - said):
        letter = module.table.named(name)
        if sheet.question is not None and not writes(sheet.question, letter.latex if letter else name):
            yield _refuted("Each letter of the answer is explained", f"nothing says what ${name}$ is")


def _derived(sheet: Sheet, module: Module) -> set[tuple[str, str]]:
    """Of what, and by what, the sheet has derivatives: messages are of the output."""
    lefts = [m.expr.terms[0] for m in sheet.formulas() if m.name.startswith(("jacobian_", "message_"))
             and isinstance(m.expr, Rel)]
    ends = [(left.of, left.wrt) if isinstance(left, Partial) else (left, left) for left in lefts]
    pairs = [(of.tensor, wrt.tensor.removeprefix("delta_")) for of, wrt in ends
             if isinstance(of, Entry) and isinstance(wrt, Entry)]
    return {(of if of in module.defined and of != wrt else module.output, wrt) for of, wrt in pairs}


def _boundaries(claims: list[Claim], module: Module, derived: set[tuple[str, str]],
                answered: set[Told]) -> list[Check]:  # fmt: skip
    """Each boundary is said to be what it is, by name of what is defined, and nothing else.

    Something must be said of it where it lies between the two tensors of a derivative in ``derived``, and in the
    answer, too, where that derivative does not hold on it or is a choice.
    """
    told, known = {fact for claim in claims for fact in _told(claim)}, set[Told]()
    checks = []
    for tensor in module.defined:
        facts = {(kind, formula(boundary, module), formula(of, module)) for kink in kinks(tensor, module)
                 for kind, boundary, of in kink.places}
        known |= facts
        behind = reached(module.definition(tensor)[0], module)
        if any(wrt in behind - {tensor} and tensor in {of, *reached(module.definition(of)[0], module)}
               for of, wrt in derived):
            checks += [_refuted(f"Something is said of each boundary of `{tensor}`", f"nothing of {boundary}: {kind}")
                       for kind, boundary, _ in sorted(facts - told)]
            free = {("jump", formula(j.boundary, module), formula(j.of, module)) for kink in kinks(tensor, module)
                    for j in kink.jumps if j.between is None}
            checks += [_refuted("The answer says where it does not hold, or chooses", f"nothing of {boundary}: {kind}")
                       for kind, boundary, _ in sorted(facts - answered - free) if kind != "smooth"]
    checks += [_refuted("What the words say of a boundary", f"that {of} is {kind} at {boundary}")
               for kind, boundary, of in sorted(told - known)]
    return checks


def _told(claim: Claim) -> Iterator[Told]:
    """What a sentence says of boundaries: of which kind, where, of what."""
    facts = claim.facts
    match claim.macro:
        case "jump" | "missed":
            yield claim.macro, facts["boundary"], facts["of"]
        case "kink":
            yield from ((kind, place, facts["of"]) for kind in ("broken", "smooth", "untold") for place in facts[kind])
        case "answer_kinks" | "answer_off":
            yield from (("jump", jump.boundary, jump.of) for jump in facts["jumps"])
            yield from ((kind, place, of) for kind in ("broken", "untold") for of, place in facts.get(kind, ()))
            yield from (("missed", jump["boundary"], jump["of"]) for jump in facts.get("missed", ()))
