"""Questions for Moodle's question bank, in a category for each course: numbers to be filled in, or an essay.

A question that gives numbers asks for each number of its answer; any other is an essay, whose graders read the marking
guide.  The solution is the feedback that is shown afterwards.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from derive.decks import cloze
from derive.decks.html import Writer, blocks, displayed, inline, inside
from derive.decks.mistaken import mistaken
from derive.errors import Problem, VerificationError
from derive.exposition.numbers import Answered, answered
from derive.exposition.subject import Subject
from derive.expr import Entry
from derive.handout.computed import computed
from derive.handout.marking import marking, unfair
from derive.notation import write
from derive.render import Part
from derive.render.dialect import question
from derive.render.guard import guard, guard_sentences, refuse_failures
from derive.render.pictures import figure_name, plain, svg
from derive.sheet import Scene, Sheet, sections
from derive.verify.report import Report
from derive.words import environment, told, wording

if TYPE_CHECKING:
    from derive.solve import Solution

_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # of XML
_UNNAMED = "derive"  # the category of cards without a course
_NAME = 200  # characters of a question's name
_ID = 100


def part(solution: Solution, detail: str = "standard") -> str:
    """The course and the question of one card, as JSON."""
    say: Any = wording(solution.sheet.language, "notes")
    card, (answer, *rest) = solution.card, solution.sheet.parts(detail)
    subject = Subject(solution.messages, card.question if card else "")
    found = _asked(subject)
    asked = question(card, lambda text, line: Writer(line).document(text)) or inline(solution.sheet.title)
    name = card.id if card else solution.module.key
    steps = [{"heading": inline(heading.text) if heading else say.solution(), "body": blocks(own, _address(solution))}
             for heading, own in sections(block for part in rest for block in part)]  # fmt: skip
    feedback = blocks(answer, _address(solution)) + "\n" + _pages().get_template("steps.html").render(steps=steps)
    entries = _entries(found, subject, say) if found else ""
    guide, points = ("", 0) if entries else _guide(solution, say)
    xml = _pages().get_template("question.xml").render(
        type="cloze" if entries else "essay", name=f"{name}: {plain(solution.sheet.title)}"[:_NAME], id=name[:_ID],
        text=f"{asked}\n{entries}", feedback=feedback, guide=guide, points=points, tags=card.tags if card else (),
        files=[{"name": _file(solution, f.scene), "data": base64.b64encode(svg(f.scene).encode()).decode()}
               for f in solution.sheet.figures(detail)],
    )  # fmt: skip
    xml = _INVALID.sub("\N{REPLACEMENT CHARACTER}", xml)
    _refuse_others(xml, solution, detail, found)
    return json.dumps({"course": card.course if card else "", "xml": xml}, ensure_ascii=False)


def collected(parts: Sequence[Part]) -> str:
    """The file of some cards' questions, by courses; of variants each card's in a category to draw from.

    The same cards give the same text.
    """
    categories: dict[tuple[str, ...], list[str]] = {}
    for given in parts:
        found = json.loads(given.text)
        path = (found["course"] or _UNNAMED, *([given.group] if given.group else []))
        categories.setdefault(path, []).append(found["xml"])
    written = ['<?xml version="1.0" encoding="UTF-8"?>', "<quiz>"]
    for path, questions in categories.items():
        names = "/".join(" ".join(_INVALID.sub(" ", name).split()).replace("/", "//") or _UNNAMED for name in path)
        written += [_pages().get_template("category.xml").render(path=f"$course$/top/{names}"), *questions]
    text = "\n".join([*written, "</quiz>"]) + "\n"
    if len(ElementTree.fromstring(text)) != len(categories) + len(parts):
        raise VerificationError(Problem("the finished file has other questions than were made"))
    return text


def render(solution: Solution, detail: str = "standard") -> str:
    """The file of one card's question."""
    return collected([Part(part(solution, detail))])


def _asked(subject: Subject) -> Answered | None:
    """The numbers that the question asks for; of tensors on the way those that it names, where it names any."""
    found = answered(subject)
    named = computed(subject.question or "", subject.module) if found else ()
    if found is None or not named:
        return found
    return found._replace(results=[r for r in found.results if r.part != "forward" or (
        isinstance(r.node, Entry) and r.node.tensor in named)])


def _entries(found: Answered, subject: Subject, say: Any) -> str:
    """What is to be filled in: each result with its blanks."""
    made = [*cloze.of_results(found.results, mistaken(subject, found), say.likely)]
    digits = cloze.decimals([b for _, own in made for b in own.values()]) if made else 0
    lines = [f"<p>{inline(f'${write(result.node, subject.module.table)}$')} = "
             + (f"{cloze.table(result, own)}</p>" if () in own else f"</p>{cloze.table(result, own)}")
             for result, own in made]  # fmt: skip
    return "\n".join([*([f"<p>{say.decimals(digits)}</p>"] if digits else []), *lines])


def _guide(solution: Solution, say: Any) -> tuple[str, int]:
    """The marking guide, and the points that it sums to."""
    points = solution.card.points if solution.card else None
    found = marking(solution, points)
    refuse_failures(Report(tuple(unfair(found, solution, points))))
    shares = [{"points": _half(share.points), "parts": [
        {"kind": item.kind, "valued": bool(item.numbers), "formulas": blocks(item.blocks, str)}
        for item in share.items]} for share in found.shares]  # fmt: skip
    language = solution.sheet.language
    mistakes = [{"words": inline(told(language, m.words)), "cost": _half(m.cost)} for m in found.mistakes]
    words: Any = wording(language, "handout")
    text = _pages().get_template("guide.html").render(
        shares=shares, mistakes=mistakes, stated=points is not None, total=found.points, say=say, words=words)
    earned = tuple(block for share in found.shares for item in share.items for block in item.blocks)
    guard(text, Sheet("", earned, ()), "full", displayed)
    return text, found.points


def _half(points: Fraction) -> str:
    whole = int(points)
    return (str(whole) if whole or points == 0 else "") + ("½" if points != whole else "")


def _refuse_others(xml: str, solution: Solution, detail: str, found: Answered | None) -> None:
    """Raise :class:`VerificationError` unless the finished question has the sheet's formulas, and right numbers."""
    made = ElementTree.fromstring(xml)
    feedback = made.findtext("generalfeedback/text", "")
    guard(feedback, solution.sheet, detail, displayed)
    guard_sentences(inside(feedback), solution.sheet, detail)
    if made.get("type") == "cloze" and found is not None:
        wanted = [v for r in found.results for _, v in sorted(r.values.items()) if abs(float(v)) != float("inf")]
        shown = cloze.blanks(made.findtext("questiontext/text", ""))
        if len(shown) != len(wanted) or any(abs(b.right - float(v)) > b.tolerance / 1000
                                            for b, v in zip(shown, wanted, strict=True)):
            raise VerificationError(Problem("the finished question asks for other numbers than were checked"))


def _address(solution: Solution) -> Any:
    return lambda scene: f"@@PLUGINFILE@@/{_file(solution, scene)}"


def _file(solution: Solution, scene: Scene) -> str:
    return re.sub(r"[^a-zA-Z0-9._-]+", "_", figure_name(solution, scene))


def _cdata(text: str) -> str:
    """Text in which nothing is markup of XML."""
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"


@cache
def _pages() -> Any:
    made = environment("decks", keep_trailing_newline=False)
    made.filters["cdata"] = _cdata
    return made
