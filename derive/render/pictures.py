"""A figure as SVG and as TikZ, to the same measures."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from pylatex.utils import NoEscape

from derive.card import file_stem
from derive.render import prose
from derive.render.drawings import guard_drawing
from derive.render.hypertext import runs
from derive.render.read_back import guard_picture
from derive.sheet import Cell, Item, Line, Point, Scene
from derive.words import environment, templates

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from derive.render.guard import Solved

UNIT = 36  # pixels of a cell's side
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_RAISED = {1: -0.38, 0: 0.0, -1: 0.24}  # of a script, in its line's letters


def svg(scene: Scene, *, standalone: bool = True, identity: str = "figure") -> str:
    """The scene as an ``<svg>`` element.

    ``standalone``: with its own styles and a white ground, as a file; else the page
    around it has the styles.  ``identity`` tells the figures of a page apart.
    """
    style = (templates() / "pages" / "figure.css").read_text("utf-8") if standalone else ""
    made = str(_svg_pages().get_template("figure.svg").render(scene=scene, style=style, id=identity)).strip() + "\n"
    guard_picture(made, scene)
    guard_drawing(made, scene, UNIT)
    return made


def figure_name(solution: Solved, scene: Scene) -> str:
    """The file of a figure, beside its card."""
    stem = solution.card.stem if solution.card else file_stem(solution.module.key)
    return f"{stem}-{scene.name}.svg"


@cache
def _svg_pages() -> Environment:
    made = environment("pages", autoescape=True)
    made.filters |= {"words": words, "path": path, "px": pixels, "plain": plain}
    return made


def pixels(length: float) -> str:
    """A length in units as pixels."""
    return f"{round(length * UNIT, 1):g}"


def path(line: Line) -> str:
    """The data of a path."""
    at = [f"{pixels(x)} {pixels(y)}" for x, y in line.points]
    if line.smooth:
        one, two = (f"{pixels(x)} {pixels(y)}" for x, y in line.controls())
        return f"M{at[0]} L{at[1]} C{one} {two} {at[2]} L{at[3]}"
    return f"M{at[0]} L{' '.join(at[1:])}"


def plain(text: str) -> str:
    """Markdown with $…$ as plain characters, for those who hear the figure."""
    parts = text.split("$")
    return "".join(_heard(part) if n % 2 else part for n, part in enumerate(parts))


def _heard(latex: str) -> str:
    return "".join(run.translate(_POWERS) if level == 1 else run for run, _, level in runs(latex))


def words(text: str) -> Markup:
    """Markdown with $…$ as the content of a ``<text>`` element."""
    from markupsafe import Markup

    written: list[str] = []
    raised = 0.0  # the shift of the pieces so far, in parts of the full size
    for n, part in enumerate(text.split("$")):
        pieces: Any = runs(part) if n % 2 else [(part, False, 0)] if part else []
        for characters, italic, level in pieces:
            size = 0.7 if level else 1.0
            shift = (_RAISED[level] - raised) / size
            raised = _RAISED[level]
            names = " ".join(name for name, wanted in (("it", italic), ("script", level != 0)) if wanted)
            attributes = (f' class="{names}"' if names else "") + (f' dy="{round(shift, 3):g}em"' if shift else "")
            inner = escape(characters)
            written.append(f"<tspan{attributes}>{inner}</tspan>" if attributes else inner)
    return Markup("".join(written))


_ANCHORS = {"start": "[left]", "middle": "", "end": "[right]"}  # which edge of a text lies at its place
_INSET = {"first": 0.05, "second": 0.1}  # of an outline, so that two on one line are both seen


def tikz(scene: Scene) -> NoEscape:
    """The scene as a ``tikzpicture``; the styles of its roles stand in the preamble.

    Neighbouring cells of a role are one path, which takes TeX a fraction of the time.
    """
    cells = [item for item in scene.items if isinstance(item, Cell) and (item.text or item.note)]
    made = _tikz_pages().get_template("figure.tex").render(groups=_groups(scene.items), numbers=cells).strip()
    guard_drawing(made, scene, 1)
    return NoEscape(made)


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
def _tikz_pages() -> Environment:
    made = environment(
        "pages", block_start_string=r"\BLOCK{", block_end_string="}", variable_start_string=r"\VAR{",
        variable_end_string="}", comment_start_string=r"\#{", comment_end_string="}", line_comment_prefix=None,
    )  # fmt: skip
    made.filters |= {"at": _tikz_at, "path": _tikz_path, "words": prose.inline, "length": _tikz_length,
                     "anchor": _ANCHORS.get}
    made.globals["inset"] = _INSET
    return made


def _tikz_length(value: float) -> str:
    return f"{round(value, 3) + 0.0:g}"


def _tikz_at(point: Point) -> str:
    return f"({_tikz_length(point[0])}, {_tikz_length(point[1])})"


def _tikz_path(line: Line) -> str:
    points = list(map(_tikz_at, line.points))
    if line.smooth:
        one, two = map(_tikz_at, line.controls())
        return f"{points[0]} -- {points[1]} .. controls {one} and {two} .. {points[2]} -- {points[3]}"
    return " -- ".join(points)
