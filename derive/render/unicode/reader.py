"""LaTeX → items: tokens, groups and scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

from derive.render.unicode.boxes import beside, grid, stacked, text
from derive.render.unicode.signs import (
    ACCENTS,
    FUNCTIONS,
    IGNORED,
    SIGNS,
    SPACES,
    WITH_LIMITS,
    is_alphabet,
    kind_of,
    letter,
    marked,
    subscript,
    superscript,
)
from derive.render.unicode.spacing import Item, bracketed, joined

_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|\s+|.", re.S)
_DEEPEST = 60


class Unreadable(Exception):
    """The LaTeX is not one of a formula."""


class Reader:
    """Reads tokens into items; what is ``tall`` may take several lines, what is ``tight`` is a script."""

    def __init__(self, latex: str, tall: bool = False) -> None:
        self.tokens: list[str] = _TOKEN.findall(latex)
        self.at = self.depth = 0
        self.tall, self.tight = tall, False

    def all(self) -> list[Item]:
        """The whole formula; rows outside an environment are lines of a display."""
        rows = self.grid(())
        if self.peek():
            raise Unreadable
        return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else [self.aligned(rows)]

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
        from derive.render.unicode.macros import MACROS

        if name.rstrip("*") in MACROS:
            return MACROS[name.rstrip("*")](self)
        if name in IGNORED:
            return []
        if name in SPACES:
            return [Item(text(SPACES[name]), "space")] if SPACES[name] else []
        if name in FUNCTIONS:
            return [Item(text(FUNCTIONS[name]), "op", limits=name in WITH_LIMITS)]
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

    def aligned(self, rows: list[list[list[Item]]]) -> Item:
        """Lines under each other; the columns of a line belong together."""
        if self.tall:
            return Item(grid([[joined(c) for c in row] for row in rows], "rl" * len(rows[0]), gap=1), "row")
        return Item(text("; ".join(joined([i for c in row for i in c]).lines[0] for row in rows)), "row")
