"""The card as a note of Obsidian: question and solution as callouts to open, its links kept."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from derive.card import file_stem
from derive.render.dialect import question
from derive.render.guard import guard, guard_sentences, in_callout, in_dollars
from derive.render.markdown import files
from derive.render.notes import Writer, quoted, sheet
from derive.words import environment, wording

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it.tree import SyntaxTreeNode

    from derive.card import Card
    from derive.render.guard import Solved

__all__ = ["files", "note", "render"]

_PICTURE = re.compile(r"\w[\w .-]*\.(png|jpe?g|gif|svg|webp)", re.I)  # in the vault, by its name alone


class _Notes(Writer):
    def _wikilink(self, node: SyntaxTreeNode) -> str:
        target = node.meta["link"]
        return f"[[{target}]]" if target == node.content else f"[[{target}|{node.content}]]"

    def note(self, caption: str) -> str:
        return f"![[{caption}]]" if _PICTURE.fullmatch(caption) else super().note(caption)


def render(solution: Solved, detail: str = "standard") -> str:
    """A note with the card's own front matter; without a card, the sheet as a callout under its title."""
    return note(solution, detail)


def note(solution: Solved, detail: str, deck: bool = False) -> str:
    """The note; as a ``deck``, a card of the plug-in, which a blank line or ``::`` would end."""
    card = solution.card

    def written(text: str) -> str:
        return quoted(re.sub(":(?=:)", ": ", text) if deck else text) if text else ""

    text = _pages().get_template("obsidian.md").render(
        header=card.header_text.strip() if card else "",
        deck=_deck(card) if deck else "", points=card.points if card else None,
        question=written(question(card, lambda text, line: _Notes(line).document(text)) or ""),
        title=written(" ".join(_Notes().paragraph(solution.sheet.title).split())).removeprefix("> "),
        solution=written(sheet(solution.sheet.blocks(detail), solution, _Notes)),
        related=[" ".join(target.split()) for target in card.related] if card else [],
        say=wording(solution.sheet.language, "notes"),
    )  # fmt: skip
    guard(text, solution.sheet, detail, in_callout)
    guard_sentences(in_dollars(text), solution.sheet, detail)
    return text


def _deck(card: Card | None) -> str:
    """``/Deep_Learning``: the course as a part of a tag."""
    course = str((card.front_matter.get("course") if card else None) or "")
    return "/" + re.sub(r"[^\w/-]+", "_", file_stem(course)) if course else ""


@cache
def _pages() -> Environment:
    return environment("notes", keep_trailing_newline=True)
