"""The macros that take arguments: fractions, roots, environments, text."""

from __future__ import annotations

import re
from collections.abc import Callable

from derive.render.unicode.boxes import beside, fenced, grid, text
from derive.render.unicode.reader import Reader, Unreadable
from derive.render.unicode.signs import SIGNS, marked, superscript
from derive.render.unicode.spacing import Item, atomic, joined

_FENCES = {"cases": "{}", "dcases": "{}", "rcases": " }", "pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}",
           "vmatrix": "||", "Vmatrix": "‖‖", "matrix": "  ", "smallmatrix": "  "}  # fmt: skip
_COLUMNS = ("array", "subarray", "alignedat")


def fraction(r: Reader) -> list[Item]:
    over, under = (joined(atomic(r.on_one_line(r.argument)), r.tight) for _ in range(2))
    return [Item(beside([over, text("/"), under]), "frac")]


def binomial(r: Reader) -> list[Item]:
    return [Item(text(f"({r.flat(r.argument)} choose {r.flat(r.argument)})"), "group")]


def root(r: Reader) -> list[Item]:
    degree = r.on_one_line(lambda: r.option() or [], tight=True)
    mark = superscript(joined(degree, tight=True).lines[0]).removeprefix("^") if degree else ""
    inside = joined(atomic(r.on_one_line(r.argument)), r.tight)
    return [Item(beside([text(mark + "√"), inside]), "ord", scripted=True)]


def left(r: Reader) -> list[Item]:
    opening = _delimiter(r)
    items = r.row("\\right")
    r.expect("\\right")
    return [Item(fenced(joined(items, r.tight), opening, _delimiter(r)), "group")]


def _delimiter(r: Reader) -> str:
    token = r.next()
    return "" if token == "." else SIGNS.get(token[1:], token.removeprefix("\\"))


def environment(r: Reader) -> list[Item]:
    name = r.raw()
    if name in _COLUMNS:
        r.raw()
    rows = r.grid(("\\end",))
    r.expect("\\end")
    if r.raw() != name:
        raise Unreadable
    if name not in _FENCES:
        return rows[0][0] if len(rows) == 1 == len(rows[0]) else [r.aligned(rows)]
    cases = "cases" in name
    opening, closing = (sign.strip() for sign in _FENCES[name])
    if not r.tall:
        lines = ((" " if cases else ", ").join(joined(c).lines[0] for c in row) for row in rows)
        return [Item(fenced(text("; ".join(lines)), opening, closing), "group")]
    wide = max(map(len, rows))
    inside = grid([[joined(c) for c in row] for row in rows], ("l" if cases else "r") * wide,
                  centred=cases and len(rows) > 1)
    return [Item(fenced(inside, opening, "" if name in ("cases", "dcases") else closing), "group")]


def words(r: Reader) -> list[Item]:
    r"""``\text{if $x$ is}``."""
    from derive.render.unicode import inline

    parts = r.raw().split("$")
    shown = "".join(inline(p) if n % 2 else re.sub(r"\\(.)|~", r"\1", p) for n, p in enumerate(parts))
    return [Item(text(" ".join(shown.split())), "word")]


def upright(r: Reader) -> list[Item]:
    return [Item(text(r.flat(r.argument)), "ord")]


def operator(r: Reader) -> list[Item]:
    return [Item(text(r.flat(r.argument).replace(" ", "")), "op", limits=True)]


def substack(r: Reader) -> list[Item]:
    from derive.render.unicode import inline

    return [Item(text(", ".join(map(inline, r.raw().split("\\\\")))), "row")]


def over(r: Reader) -> list[Item]:
    r"""``\underset{k}{\max}``: what is set over or under comes as a script."""
    script = r.flat(r.argument)
    items = r.argument()
    return [*items[:-1], Item(beside([items[-1].box, text(f"_{{{script}}}")]), items[-1].kind)] if items else []


def modulo(r: Reader) -> list[Item]:
    return [Item(text(f"(mod {r.flat(r.argument)})"), "group")]


def negated(r: Reader) -> list[Item]:
    first, *rest = r.item() or [Item(text(""), "rel")]
    return [Item(text(marked(first.box.lines[0], "\u0338")), first.kind), *rest]


def number(r: Reader) -> list[Item]:
    return [Item(text("   "), "space"), Item(text(f"({r.raw()})"), "word")]


def left_out(r: Reader) -> list[Item]:
    r.raw()
    return []


def coloured(r: Reader) -> list[Item]:
    r.raw()
    return r.argument()


MACROS: dict[str, Callable[[Reader], list[Item]]] = {
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), fraction),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), binomial),
    **dict.fromkeys(("text", "textrm", "textit", "textbf", "textnormal", "textsf", "texttt", "mbox", "emph"), words),
    **dict.fromkeys(("underset", "overset", "stackrel"), over),
    **dict.fromkeys(("label", "color", "phantom", "hphantom", "vphantom", "hspace", "mspace"), left_out),
    "mathrm": upright, "operatorname": operator, "sqrt": root, "left": left, "begin": environment,
    "substack": substack, "pmod": modulo, "not": negated, "tag": number, "textcolor": coloured,
}  # fmt: skip
