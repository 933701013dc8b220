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
_BRACKETS = "".join((r"|(?P<open>\\left[(\[])|(?P<close>\\right[)\]])|[(\[]|[)\]]",  # in which a sign may break a line
                     r"|(?P<within>\\left *(?:\\.|.)|\\begin\b|\\l[Vv]ert(?![a-z])|\\?\{)",  # in which none does
                     r"|(?P<out>\\right *(?:\\.|.)|\\end\b|\\r[Vv]ert(?![a-z])|\\?\})"))
_SIGNS, _FACTORS, _CONDITIONS, _LISTS = (re.compile(f"(?P<sign>{sign})" + _BRACKETS) for sign in (
    r" [+-] ", r" \\odot | \\, (?=\\mathbb)", r"(?<=,)\\ ", r"(?<=[^\\],) "))
_CASES = re.compile(r"\\begin\{cases\}(.*?)\\end\{cases\}")
_MATRIX = re.compile(r"\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}")
_FRACTION = re.compile(r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_SCRIPT = re.compile(r"[_^]\{((?:[^{}]|\{[^{}]*\})*)\}")
_EXTREMA = re.compile(r"\\(?:max|min)_")
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
    return _filled(min(choices, key=lambda found: max(room, *map(width, found))), room)  # the first of those that fit


def _filled(parts: list[str], room: float) -> list[str]:
    """Parts put together in rows as long as they fit."""
    rows = parts[:1]
    for part in parts[1:]:
        if width(rows[-1]) + width(part) <= room:
            rows[-1] += f" {part}"
        else:
            rows.append(part)
    return rows


def _parts(latex: str, depth: int, signs: re.Pattern[str] = _SIGNS) -> list[str]:
    """Parted before each of the ``signs`` in at most ``depth`` brackets and no braces; these are of one size."""
    parts, at, level, braces = [""], 0, 0, 0
    for found in signs.finditer(latex):
        before, sign = latex[at:found.start()], found[0]
        at = found.end()
        braces += bool(found["within"]) - bool(found["out"])
        level -= bool(found["close"] or sign in ")]") and not braces
        if found["sign"] and not braces and level <= depth:
            parts[-1] += before
            parts.append(sign.lstrip(" ").removeprefix("\\ "))
            continue
        spans = not braces and level < depth
        if spans and (found["open"] or found["close"]):
            sign = sign.replace(r"\left", r"\bigl").replace(r"\right", r"\bigr")
        parts[-1] += before + sign
        level += bool(found["open"] or found[0] in "([") and not braces
    parts[-1] += latex[at:]
    return parts


# Where a phone's display is broken first: between equations, before a condition, in one, before a relation.
_STOPS = (r"(?<=,)\\quad ", r" \\quad (?=\\text)", r"(?<=,)\\ ", r" (?=(?:=|\\iff) )")
# Then at these, in so many brackets: the lowest level first.
_LEVELS = ((_SIGNS, 0), (_FACTORS, 0), (_CONDITIONS, 1), *((signs, n) for n in range(1, _DEEPEST) for signs in (
    _SIGNS, _FACTORS)), (_LISTS, 1), (_LISTS, 2))
_LESS = 0.8  # a break that leaves more in a row is not worth a line
_PAIRS = ("{", "}"), ("(", ")"), ("[", "]"), (r"\begin", r"\end")


def narrowed(latex: str, room: float = 32) -> str:
    """A display as it is printed in rows of about half a line, for a phone; as it is where it cannot be broken."""
    if across(latex) - 5 <= room:
        return latex
    inner = latex.removeprefix(r"\begin{aligned} ").removesuffix(r" \end{aligned}")
    made: list[str] = []
    for row in _split(inner, r" \\\\ |(?<=,)\\quad "):
        head, aligned, rest = row.partition("&") if inner != latex else ("", "", row)
        if not aligned:
            head, *sides = _split(row, _STOPS[-1])
            head, rest = (head, row[len(head):]) if sides else ("", row)
        beside = width(head) <= room / 3
        made += [] if beside else [f"&{head.strip()}"]
        for n, part in enumerate(_broken(rest.strip().removeprefix(r"\quad "), room - min(width(head), room / 3))):
            begins = n == 0 and beside and not rest.strip().startswith(r"\quad") or beside and part.startswith("= ")
            made.append(f"{'' if n or not beside else head}&{'' if begins else chr(92) + 'quad '}{part}")
    return rf"\begin{{aligned}} {(' ' + chr(92) * 2 + ' ').join(made)} \end{{aligned}}" if len(made) > 1 or (
        made[0].count(r"\\") > inner.count(r"\\")) else latex


def _broken(latex: str, room: float, level: int = 0) -> list[str]:
    """The formula in rows, each broken where its parts are tied the least; cases above their conditions."""
    if width(latex) <= room:
        return [latex]
    for n, stop in enumerate(_STOPS[level:], level):
        parts = _split(latex, stop)
        if len(parts) > 1:
            return [row for part in parts for row in _broken(part, room, n)]
    if r"\begin" in latex:
        return [_folded(latex, room)]
    found = [(n, rows) for n, (signs, depth) in enumerate(_LEVELS, len(_STOPS)) if n >= level
             and len(rows := _filled(_parts(latex, depth, signs), room)) > 1]
    helps = (choice for choice in found if max(map(width, choice[1])) <= max(room, _LESS * width(latex)))
    n, rows = next(helps, found[0] if found else (0, []))
    return [row for part in rows for row in _broken(part, room, n + 1)] or [latex]


def _folded(latex: str, room: float) -> str:
    """Cases whose conditions stand below their values, each comma ending a row."""
    within = room - width(_CASES.sub("", latex)) - 6

    def broken(part: str) -> list[str]:  # what stands below an operator elsewhere, stands beside it here
        return _broken(part, within - 5 * len(_EXTREMA.findall(part)))

    def rows(cases: re.Match[str]) -> str:
        made = [r" \\ \quad ".join(row for part in re.split(r" & |(?<=,)\\ ", case) for row in broken(part))
                for case in cases[1].strip().split(r" \\ ")]
        return r"\begin{cases} " + r" \\ ".join(made) + r" \end{cases}"

    return _CASES.sub(rows, latex)


def _split(latex: str, stop: str) -> list[str]:
    """The formula parted at the stops outside of all brackets and environments."""
    parts, at = [], 0
    for found in re.finditer(stop, latex):
        if all(latex.count(a, 0, found.start()) == latex.count(b, 0, found.start()) for a, b in _PAIRS):
            parts.append(latex[at:found.start()])
            at = found.end()
    return [*parts, latex[at:]]


def across(latex: str) -> float:
    """How wide a display is with the gap behind it: its widest row, cells apart."""
    return 5 + max(width(row) + 1.5 * row.count("&") for row in _flat(latex).split(r"\\"))


def _flat(latex: str) -> str:
    """Cases and matrices as wide as the widest of their rows."""
    def widest(rows: str) -> float:
        return max(width(row) + 2 * row.count("&") for row in rows.split(r"\\"))

    latex = _CASES.sub(lambda m: "{" + max(m[1].split(r"\\"), key=width) + "(if)xx", latex)
    return _MATRIX.sub(lambda m: "x" * round(2 + widest(m[1])), latex)


@lru_cache(maxsize=8192)  # of most it is asked again and again
def width(latex: str) -> float:
    """How wide a formula is, in letters: scripts count half, of what stands above one another only the wider."""
    latex = _flat(latex)
    latex = _BELOW.sub(lambda m: " " + "W" * max(4, round(0.7 * width(m[2]))), latex)
    while _FRACTION.search(latex):
        latex = _FRACTION.sub(lambda m: max(m[1], m[2], key=width), latex)
    scripts = sum(0.6 * width(m[1]) for m in _SCRIPT.finditer(latex))
    plain = _SCRIPT.sub("", latex)
    plain = re.sub(r"\\(?:text|mathbb|mathop|operatorname|left|right|mathrm)\b", "", plain)
    plain = re.sub(r"\\[A-Za-z]+", "w", plain)
    signs = len(re.findall(r"[=<>+]|(?<=\s)-", plain))
    return scripts + len(re.sub(r"[\s{}\\&]", "", plain)) + 1.5 * signs
