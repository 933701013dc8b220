"""LaTeX → items: tokens, groups, scripts, and the macros that take arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from derive.functions import SPELLINGS
from derive.render.unicode.boxes import (
    ACCENTS,
    FUNCTIONS,
    IGNORED,
    SIGNS,
    SPACES,
    WITH_LIMITS,
    Item,
    atomic,
    beside,
    bracketed,
    fenced,
    grid,
    is_alphabet,
    joined,
    kind_of,
    letter,
    marked,
    stacked,
    subscript,
    superscript,
    text,
)

_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|\s+|.", re.S)
_DEEPEST = 60


class Unreadable(Exception):
    """The LaTeX is not one of a formula."""


class Reader:
    """Reads tokens into items; ``tall``: in several lines, ``rowed``: all rows in one, ``tight``: in a script."""

    def __init__(self, latex: str, tall: bool = False, rowed: bool = False) -> None:
        self.tokens: list[str] = _TOKEN.findall(latex)
        self.at = self.depth = 0
        self.tall, self.rowed, self.tight = tall, rowed, False

    def all(self) -> list[Item]:
        """The whole formula; rows outside an environment are lines of a display."""
        rows = self.grid(())
        if self.peek():
            raise Unreadable
        return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else self.aligned(rows)

    def row(self, *stops: str) -> list[Item]:
        """Items up to a stop, which is left to be read."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable
        items: list[Item] = []
        while (token := self.peek()) not in (*stops, ""):
            if token not in ("_", "^", "'"):
                items += self.item()
                continue
            if not items or items[-1].kind == "space":
                items.append(Item(text(""), "ord"))
            items[-1] = self._scripts(items[-1])
        self.depth -= 1
        return items

    # --- tokens --------------------------------------------------------------

    def peek(self) -> str:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        if not token:
            raise Unreadable
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        if self.next() != token:
            raise Unreadable

    def argument(self) -> list[Item]:
        """A group's items, or the one token that stands for it."""
        if self.peek() != "{":
            return [Item(text(self.next()), "num")] if self.peek().isdigit() else self.item()
        self.next()
        items = self.row("}")
        self.expect("}")
        return items

    def option(self) -> list[Item] | None:
        """What stands in ``[…]``."""
        if self.peek() != "[":
            return None
        self.next()
        items = self.row("]")
        self.expect("]")
        return items

    def raw(self) -> str:
        """A group's source."""
        if self.peek() != "{":
            return self.next()
        self.next()
        depth, start = 1, self.at
        while depth:
            if self.at >= len(self.tokens):
                raise Unreadable
            depth += {"{": 1, "}": -1}.get(self.tokens[self.at], 0)
            self.at += 1
        return "".join(self.tokens[start : self.at - 1])

    def on_one_line(self, read: Callable[[], list[Item]], tight: bool = False) -> list[Item]:
        before = self.tall, self.tight
        self.tall, self.tight = False, tight or self.tight
        items = read()
        self.tall, self.tight = before
        return items

    # --- items ---------------------------------------------------------------

    def item(self) -> list[Item]:
        """One token or group, without its scripts."""
        token = self.next()
        if token == "{":
            items = self.row("}")
            self.expect("}")
            return items
        if token.startswith("\\"):
            return self._macro(token[1:])
        if token in ("}", "&", "$", "_", "^"):
            raise Unreadable
        if token.isdigit():
            return [Item(text(token + self._more_digits()), "num")]
        shown = {"-": "−", "~": " ", "*": "*" if self.tight else "∗"}.get(token, token)
        return [Item(text(shown), kind_of(shown))]

    def _more_digits(self) -> str:
        """The rest of a number such as 3.14; a full stop that ends a sentence is none of it."""
        found = re.match(r"\d*(?:\.\d+)?", "".join(self.tokens[self.at : self.at + 40]))
        assert found is not None
        self.at += found.end()
        return found[0]

    def _macro(self, name: str) -> list[Item]:
        if name.rstrip("*") in MACROS:
            return MACROS[name.rstrip("*")](self)
        if name in IGNORED:
            return []
        if name in SPACES:
            return [Item(text(SPACES[name]), "space")] if SPACES[name] else []
        if name in FUNCTIONS or name in SPELLINGS:
            return [Item(text(name), "op", limits=name in WITH_LIMITS)]
        if name in ACCENTS:
            return [Item(text(marked(self.flat(self.argument), ACCENTS[name])), "ord")]
        if is_alphabet(name):
            return [Item(text("".join(letter(name, c) for c in self.flat(self.argument))), "ord")]
        if name in SIGNS:
            return [Item(text(SIGNS[name]), kind_of(SIGNS[name]), limits=name in WITH_LIMITS)]
        return [Item(text("\\" + name), "word")]

    def flat(self, read: Callable[[], list[Item]]) -> str:
        """What is read, on one line and without spaces."""
        return joined(self.on_one_line(read, tight=True), tight=True).lines[0]

    def _scripts(self, base: Item) -> Item:
        """The item with the scripts that follow it."""
        found: dict[str, list[Item]] = {}
        primes, under = 0, base.limits and self.tall
        while (token := self.peek()) in ("_", "^", "'"):
            self.next()
            if token == "'":
                primes += 1
            elif token in found:
                raise Unreadable
            else:
                found[token] = self.on_one_line(self.argument, tight=not base.limits)
        if under:
            above, below = (joined(found[sign]) if sign in found else None for sign in "^_")
            return Item(stacked(base.box, above, below), "op")
        spaced = not base.limits
        sub = subscript(joined(found["_"], tight=spaced).lines[0]) if "_" in found else ""
        sup = superscript(joined(found["^"], tight=spaced).lines[0]) if "^" in found else ""
        if base.kind in ("frac", "row"):
            base = bracketed(base)
        return Item(beside([base.box, text("′" * primes + sub + sup)]), base.kind, scripted=True)

    # --- rows and columns ----------------------------------------------------

    def grid(self, stops: tuple[str, ...]) -> list[list[list[Item]]]:
        r"""Rows of cells, up to a stop such as ``\end`` or the end of the formula."""
        rows: list[list[list[Item]]] = [[]]
        while True:
            rows[-1].append(self.row("&", "\\\\", *stops))
            if self.peek() in ("", *stops):
                break
            if self.next() == "\\\\":
                self.option()
                rows.append([])
        if len(rows) > 1 and rows[-1] == [[]]:
            rows.pop()
        return rows

    def aligned(self, rows: list[list[list[Item]]]) -> list[Item]:
        """Lines under each other, the columns of a line together; or all in one row, formulas parted by ``;``."""
        if self.tall and not self.rowed:
            return [Item(grid([[joined(c) for c in row] for row in rows], "rl" * len(rows[0]), gap=1), "row")]
        items: list[Item] = []
        for row in rows:
            line = [i for n, c in enumerate(row) for i in c if n or i.kind != "space"]
            begins = bool(row[0]) and (len(row) > 1 or line[0].kind not in ("rel", "bin"))
            items += [Item(text(";"), "punct"), Item(text(" "), "space")] if items and begins else []
            while line and line[0].kind == "space":  # a line that goes on is set in
                del line[0]
            items += line
        return items


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
        return rows[0][0] if len(rows) == 1 == len(rows[0]) else r.aligned(rows)
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
    parts = r.raw().split("$")
    shown = "".join(inline(p) if n % 2 else re.sub(r"\\(.)|~", r"\1", p) for n, p in enumerate(parts))
    return [Item(text(" ".join(shown.split())), "word")]


def upright(r: Reader) -> list[Item]:
    return [Item(text(r.flat(r.argument)), "ord")]


def operator(r: Reader) -> list[Item]:
    return [Item(text(r.flat(r.argument).replace(" ", "")), "op", limits=True)]


def substack(r: Reader) -> list[Item]:
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
    "mathrm": upright, "operatorname": operator, "mathop": operator, "sqrt": root, "left": left, "begin": environment,
    "substack": substack, "pmod": modulo, "not": negated, "tag": number, "textcolor": coloured,
}  # fmt: skip


@lru_cache(4096)
def inline(latex: str) -> str:
    """The formula on one line; what is no LaTeX formula stays as it is."""
    try:
        return joined(Reader(latex).all()).lines[0].strip()
    except (Unreadable, RecursionError):
        return " ".join(latex.split())
