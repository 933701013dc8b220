"""A formula and its place in the card: an error quotes the line, with a caret under the place."""

from __future__ import annotations

from dataclasses import field

from derive.errors import CardError, Problem
from derive.notation import tree as tr
from derive.records import dataclass

_WIDTH = 88  # of the line that is quoted


class NotationError(CardError):
    """A formula outside the notation, or one with two readings."""


class TooHigh(NotationError):
    """A power with an exponent that is not calculated with."""


@dataclass(frozen=True)
class Source:
    """The LaTeX of a formula and its place in the card (``column`` counts from 0)."""

    latex: str
    line: int | None = None
    column: int = 0

    def error(self, at: int, message: str) -> NotationError:
        """The error at offset ``at``, with the formula's line and a caret under the place."""
        at = min(max(at, 0), len(self.latex))
        start = self.latex.rfind("\n", 0, at) + 1
        end = self.latex.find("\n", at)
        shown = self.latex[start : len(self.latex) if end < 0 else end]
        shown, caret = _around(shown, at - start)
        below = self.latex.count("\n", 0, at)
        column = at - start + 1 + (self.column if below == 0 else 0)
        line = None if self.line is None else self.line + below
        return NotationError(Problem(f"column {column}: {message}", line=line, excerpt=f"    {shown}\n    {caret}^"))


def _around(line: str, at: int) -> tuple[str, str]:
    """What a terminal's line shows of a long one around a place, and the blanks up to it."""
    start = max(0, min(at - _WIDTH // 2, len(line) - _WIDTH))
    before, after = "… " if start else "", " …" if start + _WIDTH < len(line) else ""
    return before + line[start : start + _WIDTH] + after, " " * (len(before) + at - start)


@dataclass(frozen=True)
class Formula:
    """A formula and its place: ``line`` from 1, ``column`` from 0, of its first character.

    ``tree`` is what a rule made of it, None where it is to be read as it is written; the places in it are those of
    ``origin``, the whole formula of which this may be a part.
    """

    latex: str
    line: int
    column: int
    display: bool
    tree: tuple[tr.Item, ...] | None = field(default=None, compare=False, repr=False)
    origin: Source | None = field(default=None, compare=False, repr=False)

    @property
    def source(self) -> Source:
        """What the places in the tree are places of."""
        return self.origin or Source(self.latex, self.line, self.column)

    def part(self, items: tuple[tr.Item, ...], display: bool) -> Formula:
        """Some of the items as a formula, with its own text and place."""
        source = self.source
        start, end = min(i.start for i in items), max(i.end for i in items)
        before = source.latex[:start]
        column = start - before.rfind("\n") - 1 + (0 if "\n" in before else source.column)
        line = self.line if source.line is None else source.line + before.count("\n")
        return Formula(source.latex[start:end], line, column, display, items, source)
