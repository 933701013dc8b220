"""A figure as SVG: inside a page, or as a file of its own beside a card."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from derive.card import file_stem
from derive.render.mathml import runs
from derive.scene import Line, Scene
from derive.words import environment, templates

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from derive.render import Solved

UNIT = 36  # pixels of a cell's side
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_RAISED = {1: -0.38, 0: 0.0, -1: 0.24}  # of a script, in its line's letters


def svg(scene: Scene, *, standalone: bool = True, identity: str = "figure") -> str:
    """The scene as an ``<svg>`` element.

    ``standalone``: with its own styles and a white ground, as a file; else the page
    around it has the styles.  ``identity`` tells the figures of a page apart.
    """
    style = (templates() / "pages" / "figure.css").read_text("utf-8") if standalone else ""
    return str(_pages().get_template("figure.svg").render(scene=scene, style=style, id=identity)).strip() + "\n"


def figure_name(solution: Solved, scene: Scene) -> str:
    """The file of a figure, beside its card."""
    stem = solution.card.stem if solution.card else file_stem(solution.module.key)
    return f"{stem}-{scene.name}.svg"


@cache
def _pages() -> Environment:
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
