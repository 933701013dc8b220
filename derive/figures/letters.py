"""Letters, entries, numbers and words of a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.expr import Entry, Num
from derive.notation import write
from derive.notation.symbols import SymbolTable
from derive.words import environment

Index = tuple[int, ...]


@dataclass(frozen=True)
class Letters:
    """How a figure writes a layer's tensors: ``source``, ``output``, and the name of its window set."""

    table: SymbolTable
    source: str
    output: str
    windows: str

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


def say(macro: str, **context: Any) -> str:
    """The words of a macro in ``templates/en/figures.j2``."""
    module = environment("en").get_template("figures.j2").module
    return " ".join(str(getattr(module, macro)(**context)).split())
