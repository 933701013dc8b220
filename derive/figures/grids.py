"""Grids of cells in a scene, the letters, entries and numbers in them, and the legend below."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any

from derive.expr import Entry, Num
from derive.notation import write
from derive.notation.symbols import SymbolTable
from derive.records import dataclass
from derive.sheet import Cell, Item, Label, Point
from derive.words import wording

Index = tuple[int, ...]


@dataclass(frozen=True)
class Letters:
    """How a figure writes a layer's tensors: ``source``, ``output``, and the name of its window set."""

    table: SymbolTable
    source: str
    output: str
    windows: str

    def say(self, macro: str, **context: Any) -> str:
        """The words of a macro in ``figures.j2``."""
        return say(self.table, macro, **context)

    def tensor(self, name: str) -> str:
        """$x$, $\\delta_x$."""
        return letter(self.table, name)

    def entry(self, name: str, at: Index) -> str:
        """$f_{00}$."""
        return f"${write(Entry(name, tuple(map(Num, at))), self.table, display=False)}$"

    def window(self, at: Index) -> str:
        """$\\Omega(0, 0)$."""
        symbol = self.table.named(self.windows)
        return f"${symbol.latex if symbol else self.windows}({', '.join(map(str, at))})$"


def letter(table: SymbolTable, name: str) -> str:
    """A tensor as a whole, or its message."""
    return f"${write(Entry(name, ()), table, display=False)}$"


def number(value: Any) -> str:
    """A number of a cell."""
    return f"${value}$"


def say(table: SymbolTable, macro: str, **context: Any) -> str:
    """The words of a macro in ``figures.j2`` of the table's language."""
    return " ".join(str(getattr(wording(table.language, "figures"), macro)(**context)).split())


_LETTER = 0.21  # the width of a legend's letter, about


@dataclass(frozen=True)
class Grid:
    """A tensor of rank 1 (one row) or 2 whose coordinates run over ``ranges``; its corner lies at (x, y)."""

    x: float
    y: float
    ranges: tuple[range, ...]

    @property
    def columns(self) -> int:
        return len(self.ranges[-1])

    @property
    def rows(self) -> int:
        return len(self.ranges[0]) if len(self.ranges) == 2 else 1

    @property
    def right(self) -> float:
        return self.x + self.columns

    @property
    def bottom(self) -> float:
        return self.y + self.rows

    def indices(self) -> Iterable[Index]:
        return itertools.product(*self.ranges)

    def corner(self, at: Index) -> Point:
        """The upper left corner of a cell."""
        row = at[0] - self.ranges[0].start if len(self.ranges) == 2 else 0
        return self.x + at[-1] - self.ranges[-1].start, self.y + row

    def middle(self, at: Index) -> Point:
        x, y = self.corner(at)
        return x + 0.5, y + 0.5

    def coordinates(self, *sizes: int) -> list[Item]:
        """The coordinates 0 … n − 1 along the upper and the left side."""
        marks: list[Item] = []
        for j in range(sizes[-1]):
            x, _ = self.corner((0,) * (len(sizes) - 1) + (j,))
            marks.append(Label(x + 0.5, self.y - 0.22, f"${j}$", "coordinate"))
        for i in range(sizes[0]) if len(sizes) == 2 else ():
            _, y = self.corner((i, 0))
            marks.append(Label(self.x - 0.28, y + 0.5, f"${i}$", "coordinate"))
        return marks


def wide(words: str) -> float:
    """How wide a legend's words are, about; a macro is one sign."""
    return _LETTER * len(re.sub(r"\\[a-zA-Z]+|\$", "m", words))


def legend(entries: Iterable[tuple[str, str]], x: float, y: float, width: float) -> tuple[list[Item], float, float]:
    """Roles of cells with their words, in rows of at most ``width``, and where they end at the right and below."""
    items: list[Item] = []
    at = right = x
    for role, words in entries:
        needed = 1.2 + wide(words)
        if at > x and at + needed > x + width:
            at, y = x, y + 0.75
        items += [Cell(at, y, role, width=0.5, height=0.5), Label(at + 0.68, y + 0.25, words, "legend", "start")]
        at += needed
        right = max(right, at - 0.4)
    return items, right, y + (0.5 if items else 0.0)
