"""The note as a card of Obsidian's plug-in Spaced Repetition: question, ``?``, solution, no blank line inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.render.markdown import files
from derive.render.obsidian import note

if TYPE_CHECKING:
    from derive.render.guard import Solved

__all__ = ["files", "render"]


def render(solution: Solved, detail: str = "standard") -> str:
    """A note in the deck of its course; without a card, the sheet as a callout under its title."""
    return note(solution, detail, deck=True)
