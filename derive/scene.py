"""A figure as data: what stands where, and in which role; how a role looks is the templates' matter.

One unit is the side of a grid's cell; x grows to the right and y downwards.
"""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Cell:
    """A box with a number or letter in it, ``text`` in Markdown with ``$…$``; ``note`` in small print below.

    Roles: "cell", "padding", "first", "second", "both" (of two windows), "chosen",
    "shared" (chosen by several windows), "gap" (in no window), and of a graph
    "tensor", "parameter", "constant".
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

    Roles: "title", "coordinate", "message", "legend".
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
