"""A figure as TikZ, to the same measures as the SVG."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from pylatex.utils import NoEscape

from derive.render import prose
from derive.scene import Cell, Item, Line, Point, Scene
from derive.words import environment

if TYPE_CHECKING:
    from jinja2 import Environment

_ANCHORS = {"start": "[left]", "middle": "", "end": "[right]"}  # which edge of a text lies at its place
_INSET = {"first": 0.05, "second": 0.1}  # of an outline, so that two on one line are both seen


def tikz(scene: Scene) -> NoEscape:
    """The scene as a ``tikzpicture``; the styles of its roles stand in the preamble.

    Neighbouring cells of a role are one path, which takes TeX a fraction of the time.
    """
    cells = [item for item in scene.items if isinstance(item, Cell) and (item.text or item.note)]
    return NoEscape(_pages().get_template("figure.tex").render(groups=_groups(scene.items), numbers=cells).strip())


def _groups(items: Iterable[Item]) -> list[list[Item]]:
    """The items in their order: cells of one role in a row together, all else alone."""
    made: list[list[Item]] = []
    for item in items:
        last = made[-1][-1] if made else None
        if isinstance(item, Cell) and isinstance(last, Cell) and item.role == last.role:
            made[-1].append(item)
        else:
            made.append([item])
    return made


@cache
def _pages() -> Environment:
    made = environment(
        "pages", block_start_string=r"\BLOCK{", block_end_string="}", variable_start_string=r"\VAR{",
        variable_end_string="}", comment_start_string=r"\#{", comment_end_string="}", line_comment_prefix=None,
    )  # fmt: skip
    made.filters |= {"at": _at, "path": _path, "words": prose.inline, "length": _length, "anchor": _ANCHORS.get}
    made.globals["inset"] = _INSET
    return made


def _length(value: float) -> str:
    return f"{round(value, 3) + 0.0:g}"


def _at(point: Point) -> str:
    return f"({_length(point[0])}, {_length(point[1])})"


def _path(line: Line) -> str:
    points = list(map(_at, line.points))
    if line.smooth:
        one, two = map(_at, line.controls())
        return f"{points[0]} -- {points[1]} .. controls {one} and {two} .. {points[2]} -- {points[3]}"
    return " -- ".join(points)
