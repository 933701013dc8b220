"""A solution sheet as blocks; a Math block holds the final LaTeX, a Figure what stands where, and in which role.

How a role looks is the templates' matter. One unit of a figure is the side of a grid's cell; x grows to the right
and y downwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from derive.errors import known
from derive.expr import Node
from derive.records import dataclass

Point = tuple[float, float]

DETAILS = ("answer", "standard", "full")
# By the name of its heading, the least detail at which a section is shown; `joined` and the like are parts of sections.
SECTIONS = {
    "forward": "full", "window": "standard",
    "derivation": "standard", "joined": "standard", "inserted": "standard", "jacobian": "full",
    "kinks": "standard", "ties": "standard", "programs": "full",
    "example": "standard", "others": "standard", "elsewhere": "full", "tied": "full",
    "seen": "full", "why": "full", "indicator": "full", "mask": "full",
    "rule": "full",  # formulas of one rule each
    "listing": "standard", "reading": "standard", "checked": "answer",
}


@lru_cache(maxsize=64)
def rank(detail: str) -> int:
    """0 for the answer alone, 1 for the standard, 2 for all; ``short`` is another name for the answer."""
    return DETAILS.index(known("detail", {"short": "answer"}.get(detail, detail), DETAILS))


@dataclass(frozen=True)
class Cell:
    """A box with a number or letter in it, ``text`` in Markdown with ``$…$``; ``note`` in small print below.

    Roles: "cell", "padding", "first", "second", "both" (of two windows), "chosen",
    "shared" (chosen by several windows), "gap" (in no window), and of a graph
    "tensor", "parameter", "constant", whose note is the message.
    """

    x: float
    y: float
    role: str = "cell"
    text: str = ""
    note: str = ""
    width: float = 1
    height: float = 1


@dataclass(frozen=True)
class Outline:
    """The border of a window; roles "first" and "second"."""

    x: float
    y: float
    width: float
    height: float
    role: str


@dataclass(frozen=True)
class Line:
    """A path through points; ``smooth``: of its four points the middle two are joined by an S.

    Roles: "forward", "backward" and "axis" (these end in an arrow head), "first",
    "second" (to a window's output), "grid", "curve", "slope".
    """

    points: tuple[Point, ...]
    role: str
    smooth: bool = False

    def controls(self) -> tuple[Point, Point]:
        """The control points of the S, whose tangents are those of the straight ends."""
        (a, b), (x, y), (u, v), _ = self.points
        across = abs(x - a) > abs(y - b) or (y == b and abs(u - x) > abs(v - y))
        return (((x + u) / 2, y), ((x + u) / 2, v)) if across else ((x, (y + v) / 2), (u, (y + v) / 2))


@dataclass(frozen=True)
class Dot:
    """A marked point of a curve: "kink", or "open" for the end of a branch that does not hold there."""

    x: float
    y: float
    role: str = "kink"


@dataclass(frozen=True)
class Label:
    """Text in Markdown with ``$…$``, its middle at height ``y``; ``anchor`` is "start", "middle" or "end".

    Roles: "title", "coordinate", "legend".
    """

    x: float
    y: float
    text: str
    role: str = "legend"
    anchor: str = "middle"


Item = Cell | Outline | Line | Dot | Label


@dataclass(frozen=True)
class Scene:
    """Items in the order in which they are painted, within ``width`` × ``height``.

    ``description`` tells those who cannot see the figure what it shows.
    """

    name: str
    title: str
    description: str
    width: float
    height: float
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Heading:
    """``name`` is that of the section which it opens (see :data:`SECTIONS`)."""

    text: str
    level: int = 2
    name: str = ""


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
class Claim:
    """What sentences say, as data: the macro that words it, the facts that fill it, and the words made of them."""

    macro: str
    facts: Mapping[str, Any]
    words: str


@dataclass(frozen=True)
class Sheet:
    """The answer first, then the details; ``closing`` tells how the card was read and what was checked.

    ``inline`` holds the formulas inside its sentences, ``claims`` what these say; ``trial`` is for pages alone,
    ``question`` the card's text, whose letters need no explaining.
    """

    title: str
    answer: tuple[Block, ...]
    details: tuple[Block, ...]
    closing: tuple[Block, ...] = ()
    inline: tuple[Math, ...] = ()
    trial: Trial | None = None
    claims: tuple[Claim, ...] = ()
    language: str = "en"
    question: str | None = None

    def blocks(self, detail: str = "full") -> tuple[Block, ...]:
        """The blocks in order, those of the sections that a ``detail`` of :data:`DETAILS` shows."""
        return self._all if detail == "full" else tuple(block for part in self.parts(detail) for block in part)

    @cached_property
    def _all(self) -> tuple[Block, ...]:
        return tuple(block for part in self.parts() for block in part)

    def parts(self, detail: str = "full") -> tuple[tuple[Block, ...], ...]:
        """Answer, details and closing, as far as they are shown."""
        return self.answer, tuple(_shown(self.details, detail)), tuple(_shown(self.closing, detail))

    def figures(self, detail: str = "full") -> tuple[Figure, ...]:
        return tuple(b for b in self.blocks(detail) if isinstance(b, Figure))

    def formulas(self) -> tuple[Math, ...]:
        return tuple(b for b in self.blocks() if isinstance(b, Math))


def _shown(blocks: tuple[Block, ...], detail: str) -> Iterator[Block]:
    most, least = rank(detail), 0
    for block in blocks:
        if isinstance(block, Heading) and block.name in SECTIONS:
            least = rank(SECTIONS[block.name])
        kind = block.name.partition("_")[0] if isinstance(block, Math) else ""
        if max(least, rank(SECTIONS.get(kind, DETAILS[0]))) <= most:
            yield block


def sections(blocks: Iterable[Block]) -> list[tuple[Heading | None, list[Block]]]:
    """Blocks by the headings of the second level above them; those before the first have none."""
    made: list[tuple[Heading | None, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level <= 2:
            made.append((block, []))
        else:
            made = made or [(None, [])]
            made[-1][1].append(block)
    return made
