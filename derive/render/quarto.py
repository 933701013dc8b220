"""A Quarto document: the question, and the parts of its solution to open; nothing in it is executed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from derive.render.dialect import question
from derive.render.guard import guard, in_divisions
from derive.render.markdown import files
from derive.render.notes import Writer, sheet
from derive.render.pictures import plain
from derive.sheet import Block, Heading
from derive.words import environment

if TYPE_CHECKING:
    from jinja2 import Environment

    from derive.render.guard import Solved

__all__ = ["files", "render", "sections"]


def render(solution: Solved, detail: str = "standard") -> str:
    """A document in Pandoc's Markdown; the same solution gives the same text."""
    say: Any = environment("en").get_template("notes.j2").module
    card = solution.card
    answer, *rest = solution.sheet.parts(detail)
    parts = [(say.answer(), list(answer)), *sections([block for part in rest for block in part], say.solution())]
    text = _pages().get_template("quarto.md").render(
        title=plain(solution.sheet.title), course=card.course if card else "", tags=card.tags if card else (), say=say,
        points=card.points if card else None,
        question=question(card, lambda text, line: Writer(line).document(text)),
        parts=[{"heading": Writer().paragraph(heading), "text": sheet(blocks, solution, Writer)}
               for heading, blocks in parts],
    )  # fmt: skip
    guard(text, solution.sheet, detail, in_divisions)
    return text


def sections(blocks: list[Block], untitled: str) -> list[tuple[str, list[Block]]]:
    """Blocks by headings of the second level; those before the first by a name of their own."""
    made: list[tuple[str, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level <= 2:
            made.append((block.text, []))
        else:
            made = made or [(untitled, [])]
            made[-1][1].append(block)
    return made


@cache
def _pages() -> Environment:
    return environment("notes", keep_trailing_newline=True)
