"""A solution sheet as blocks; a Math block holds the final LaTeX."""

from __future__ import annotations

from dataclasses import dataclass

from derive.expr import Node
from derive.scene import Scene


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Prose:
    """A paragraph in Markdown with ``$…$``; the words come from ``templates/``."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list of paragraphs."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Math:
    """A displayed formula: its LaTeX, and the expression it was written from.

    ``scope`` names the module whose letters it uses ("layer", "window" or
    "example"); a ``definition`` claims nothing.  ``name`` is its check's name.
    A ``general`` statement holds for any window and is checked at others too;
    one with ``ties`` is checked at every tie pattern.
    """

    latex: str
    expr: Node
    name: str
    scope: str = "layer"
    definition: bool = False
    general: bool = False
    ties: bool = False


@dataclass(frozen=True)
class Table:
    """A table of Markdown cells with ``$…$``; ``align`` a letter l, c or r per column."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str


@dataclass(frozen=True)
class Figure:
    """A picture and its caption, a paragraph in Markdown with ``$…$``."""

    scene: Scene
    caption: str


@dataclass(frozen=True)
class Listing:
    """A program's text; ``language`` is the name that highlighters know it by."""

    code: str
    language: str = "python"


Block = Heading | Prose | Bullets | Math | Table | Figure | Listing


@dataclass(frozen=True)
class Trial:
    """A layer of windows and numbers, for a page on which its reader changes them.

    ``windows`` holds, for each axis, the coordinates that each window covers;
    ``source`` and ``upstream`` are rows of numbers (one row for one axis).
    ``letters`` are those of x, f, δ_f and δ_x, in LaTeX.
    """

    op: str
    tie_rule: str
    windows: tuple[tuple[tuple[int, ...], ...], ...]
    source: tuple[tuple[int, ...], ...]
    upstream: tuple[tuple[int, ...], ...]
    letters: tuple[str, str, str, str]


@dataclass(frozen=True)
class Sheet:
    """The answer first, then the details; ``checked`` closes the sheet.

    ``inline`` holds the formulas inside its sentences; ``trial`` is for pages alone.
    """

    title: str
    answer: tuple[Block, ...]
    details: tuple[Block, ...]
    checked: tuple[Block, ...] = ()
    inline: tuple[Math, ...] = ()
    trial: Trial | None = None

    def blocks(self, detail: str = "full") -> tuple[Block, ...]:
        """All blocks in order; ``detail`` "short" is the answer and the checks."""
        return (*self.answer, *(self.details if detail == "full" else ()), *self.checked)

    def figures(self, detail: str = "full") -> tuple[Figure, ...]:
        return tuple(b for b in self.blocks(detail) if isinstance(b, Figure))

    def formulas(self) -> tuple[Math, ...]:
        return tuple(b for b in self.blocks() if isinstance(b, Math))
