"""A formula that cannot be read: where, what was found, what to do."""

from __future__ import annotations

from dataclasses import dataclass

from derive.errors import CardError, Problem

_WIDTH = 88  # of the line that is quoted


class NotationError(CardError):
    """A formula outside the notation, or one with two readings."""


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
