"""A Quarto document: the question, and the parts of its solution to open; nothing in it is executed."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from derive.render.dialect import question
from derive.render.guard import guard, guard_sentences, in_divisions, in_dollars
from derive.render.markdown import files
from derive.render.notes import Writer, sheet
from derive.render.pictures import plain
from derive.sheet import sections
from derive.words import environment, wording

if TYPE_CHECKING:
    from jinja2 import Environment

    from derive.render.guard import Solved

__all__ = ["files", "render"]


def render(solution: Solved, detail: str = "standard") -> str:
    """A document in Pandoc's Markdown; the same solution gives the same text."""
    say: Any = wording(solution.sheet.language, "notes")
    card = solution.card
    answer, *rest = solution.sheet.parts(detail)
    steps = sections(block for part in rest for block in part)
    parts = [(say.answer(), answer), *((h.text if h else say.solution(), own) for h, own in steps)]
    text = _pages().get_template("quarto.md").render(
        title=plain(solution.sheet.title), course=card.course if card else "", tags=card.tags if card else (), say=say,
        points=card.points if card else None,
        question=question(card, lambda text, line: Writer(line).document(text)),
        parts=[{"heading": Writer().paragraph(heading), "text": sheet(blocks, solution, Writer)}
               for heading, blocks in parts],
    )  # fmt: skip
    guard(text, solution.sheet, detail, in_divisions)
    guard_sentences(in_dollars(text), solution.sheet, detail)
    return text


@cache
def _pages() -> Environment:
    made = environment("notes", keep_trailing_newline=True)
    made.filters["yaml"] = partial(json.dumps, ensure_ascii=False)  # YAML knows no halves of characters
    return made
