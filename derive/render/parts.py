r"""A long list of formulas, «z_1 = …, \quad z_2 = …», set in several lines."""

from __future__ import annotations

import re

_BOX = re.compile(
    r"\\begin\{(\w+)\}(?:(?!\\begin\{).)*?\\end\{\1\}|\\left(?:(?!\\left\b).)*?\\right(?:\\?[^\\\s]|\\[a-zA-Z]+)|\{[^{}]*\}",
    re.DOTALL,
)
_BETWEEN = re.compile(r"(?<=,)\s*\\quad(?![a-zA-Z])\s*")
_ROWS = re.compile(r"\\\\|(?<!\\)&")  # has lines of its own
_MACRO = re.compile(r"\\(?:left|right|quad|d?frac|text|math[a-z]+)(?![a-zA-Z])|[{}_^\s]")
_NAMED = re.compile(r"\\[a-zA-Z]+|\\.")
LONGEST = 44  # signs of a line


def masked(latex: str) -> str:
    """The formula with all that stands in groups, brackets and environments blotted out, each sign in its place."""
    while (found := _BOX.sub(lambda box: "x" * len(box[0]), latex)) != latex:
        latex = found
    return latex


def in_lines(latex: str) -> str:
    r"""The formula as it is, or its parts between commas and ``\quad`` in as few lines as hold them."""
    parts, at = [], 0
    bare = masked(latex)
    for found in _BETWEEN.finditer(bare):
        parts.append(latex[at:found.start()])
        at = found.end()
    parts.append(latex[at:])
    if len(parts) == 1 or sum(map(_wide, parts)) <= LONGEST or _ROWS.search(bare):
        return latex
    lines = [parts[0]]
    for part in parts[1:]:
        if _wide(lines[-1]) + _wide(part) <= LONGEST:
            lines[-1] += rf" \quad {part}"
        else:
            lines.append(part)
    return r"\begin{gathered} " + r" \\ ".join(lines) + r" \end{gathered}"


def _wide(latex: str) -> int:
    """How many signs a formula has, about."""
    return len(_NAMED.sub("m", _MACRO.sub("", latex)))
