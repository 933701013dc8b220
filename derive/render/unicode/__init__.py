"""LaTeX formulas as Unicode text: on one line, or displayed over several.

What is read is the LaTeX itself, so that what a terminal shows is the formula that
was checked.  A fraction is written with a slash and bracketed wherever a neighbour
could be taken for a part of it.
"""

from __future__ import annotations

import textwrap

from derive.render.unicode.boxes import INDENT, broken
from derive.render.unicode.reader import Reader, Unreadable, inline

__all__ = ["display", "inline"]

_HELD = "\u00a0"


def display(latex: str, columns: int = 80) -> tuple[str, ...]:
    """The formula's lines; where it is wider than ``columns`` it is broken after commas and before signs.

    What has no such place is written without limits and cases of their own lines, and broken at spaces,
    those outside brackets if they are enough.
    """
    try:
        box = broken(Reader(latex, tall=True).all(), columns)
        if box.width > columns:
            box = broken(Reader(latex, tall=True, rowed=True).all(), columns)
    except (Unreadable, RecursionError):
        return tuple(line.strip() for line in latex.strip().splitlines())
    if box.width <= columns:
        return box.lines
    written = inline(latex)
    for brackets in ("{}()[]", "{}", ""):
        lines = _wrapped(_held(written, brackets), columns)
        if max(map(len, lines)) <= columns:
            break
    return lines


def _wrapped(line: str, columns: int) -> tuple[str, ...]:
    lines = textwrap.wrap(line, columns, subsequent_indent=" " * INDENT, break_long_words=False, break_on_hyphens=False)
    return tuple(found.replace(_HELD, " ") for found in lines)


def _held(line: str, brackets: str) -> str:
    """The line, its spaces within such brackets no places to break."""
    made, depth = "", 0
    for char in line:
        depth += (char in brackets[::2]) - (char in brackets[1::2])
        made += _HELD if char == " " and depth > 0 else char
    return made.replace("arg ", "arg" + _HELD)
