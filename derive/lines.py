"""Displays in lines: how wide a formula is, and where one that is wider than a line is broken."""

from __future__ import annotations

import re
from functools import lru_cache

import derive.expr as ex
from derive.notation.symbols import SymbolTable
from derive.notation.term_writer import Writer
from derive.notation.writer import PARTS, RELATIONS, write

WIDTH = 72  # about a line of a page, in characters as :func:`width` counts them
_DEEPEST = 3  # brackets in which a line is broken
_SIGN_OR_BRACKET = re.compile(r" [+-] |\\left\(|\\right\)|[(){}]")
_CASES = re.compile(r"\\begin\{cases\}(.*?)\\end\{cases\}")
_FRACTION = re.compile(r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_SCRIPT = re.compile(r"[_^]\{((?:[^{}]|\{[^{}]*\})*)\}")
_BELOW = re.compile(r"\\(sum|prod|max|min)_\{((?:[^{}]|\{[^{}]*\})*)\}(\^\{[^{}]*\})?")


@lru_cache(maxsize=1024)
def write_lines(node: ex.Node, table: SymbolTable) -> str:
    """As :func:`derive.notation.write` for a display; what is wider than a line is broken at its relations and signs.

    A sum in brackets is broken where nothing outside of it can be: no formula need be set smaller.
    """
    latex = write(node, table)
    if not isinstance(node, ex.Rel) or width(latex) <= WIDTH:
        return latex
    w = Writer(table, PARTS, taken=frozenset(i.name for i in ex.free_indices(node)))
    first, *rest = map(w.write, node.terms)
    room = max(WIDTH - width(first) - 3, WIDTH / 2)
    rows = [rf"&{RELATIONS[op]} {row}" if n == 0 else rf"&\quad {row}" for op, term in zip(node.ops, rest, strict=True)
            for n, row in enumerate(_rows(term, room))]
    return rf"\begin{{aligned}} {first} " + r" \\ ".join(rows) + r" \end{aligned}" if len(rows) > 1 else latex


def _rows(latex: str, room: float) -> list[str]:
    """The formula in rows that fit, broken at the + and − in as few brackets as will do."""
    if width(latex) <= room or r"\begin" in latex:
        return [latex]
    choices = [_parts(latex, depth) for depth in range(_DEEPEST)]
    parts = min(choices, key=lambda found: max(room, *map(width, found)))  # the first of those that fit
    rows = parts[:1]
    for part in parts[1:]:
        if width(rows[-1]) + width(part) <= room:
            rows[-1] += f" {part}"
        else:
            rows.append(part)
    return rows


def _parts(latex: str, depth: int) -> list[str]:
    """The formula before each + or − in at most ``depth`` round brackets and no braces; these are of one size then."""
    parts, at, level, braces = [""], 0, 0, 0
    for found in _SIGN_OR_BRACKET.finditer(latex):
        before, sign = latex[at:found.start()], found[0]
        at = found.end()
        braces += (sign == "{") - (sign == "}")
        level -= sign in (")", r"\right)") and not braces
        if sign in (" + ", " - ") and not braces and level <= depth:
            parts[-1] += before
            parts.append(sign.lstrip())
            continue
        spans = not braces and level < depth
        parts[-1] += before + ({r"\left(": r"\bigl(", r"\right)": r"\bigr)"}.get(sign, sign) if spans else sign)
        level += sign in ("(", r"\left(") and not braces
    parts[-1] += latex[at:]
    return parts


def narrowed(latex: str, room: float = 40) -> str:
    """A display as it is printed in rows of about half a line, for a phone; as it is where it cannot be broken."""
    inner = latex.removeprefix(r"\begin{aligned} ").removesuffix(r" \end{aligned}")
    if across(latex) - 5 <= room or r"\begin" in inner:
        return latex
    made = []
    for row in re.split(r",\\quad | \\\\ ", inner):
        head, aligned, rest = row.partition("&")
        sides = [rest.strip().removeprefix(r"\quad ")] if aligned else _sides(head)
        head, sides = (head, sides) if aligned else (sides[0] + " ", [f"= {side}" for side in sides[1:]])
        for n, part in enumerate(p for side in sides for p in _rows(side.strip(), room)):
            made.append(f"{'' if n else head}&{'' if part.startswith('=') else chr(92) + 'quad '}{part}")
    return rf"\begin{{aligned}} {(' ' + chr(92) * 2 + ' ').join(made)} \end{{aligned}}" if len(made) > 1 else latex


def _sides(latex: str) -> list[str]:
    """The sides of an equation, parted outside of all brackets."""
    sides = [""]
    for piece in latex.split(" = "):
        whole = not sides[-1] or any(sides[-1].count(a) != sides[-1].count(b) for a, b in ("{}", "()", "[]"))
        sides[-1:] = [f"{sides[-1]} = {piece}" if sides[-1] else piece] if whole else [sides[-1], piece]
    return sides


def across(latex: str) -> float:
    """How wide a display is with the gap behind it: its widest row, cells apart."""
    return 5 + max(width(row) + 1.5 * row.count("&") for row in latex.split(r"\\"))


@lru_cache(maxsize=8192)  # of most it is asked again and again
def width(latex: str) -> float:
    """How wide a formula is, in letters: scripts count half, of what stands above one another only the wider."""
    latex = _CASES.sub(lambda m: "{" + max(m[1].split(r"\\"), key=width, default="") + "(if)xx", latex)
    latex = _BELOW.sub(lambda m: "W" * max(4, round(0.7 * width(m[2]))), latex)
    while _FRACTION.search(latex):
        latex = _FRACTION.sub(lambda m: max(m[1], m[2], key=width), latex)
    scripts = sum(0.6 * width(m[1]) for m in _SCRIPT.finditer(latex))
    plain = _SCRIPT.sub("", latex)
    plain = re.sub(r"\\(?:text|mathbb|mathop|operatorname|left|right|mathrm)\b", "", plain)
    plain = re.sub(r"\\[A-Za-z]+", "w", plain)
    signs = len(re.findall(r"[=<>+]|(?<=\s)-", plain))
    return scripts + len(re.sub(r"[\s{}\\&]", "", plain)) + 1.5 * signs
