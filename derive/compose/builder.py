"""Blocks from statements and words: the one place where LaTeX is written for a sheet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from derive.expr import Node
from derive.notation import write
from derive.notation.symbols import SymbolTable
from derive.sheet import Block, Bullets, Heading, Math, Prose, Table
from derive.words import environment


@dataclass
class Builder:
    """Collects the blocks of one part of a sheet; ``tables`` holds the letters of each scope."""

    tables: dict[str, SymbolTable]
    blocks: list[Block] = field(default_factory=list)
    inline: list[Math] = field(default_factory=list)

    def m(self, node: Node, scope: str = "layer") -> str:
        """A formula inside a sentence."""
        latex = write(node, self.tables[scope], display=False)
        self.inline.append(Math(latex, node, "inline", scope))
        return f"${latex}$"

    def heading(self, name: str) -> None:
        self.blocks.append(Heading(self.say(name)))

    def say(self, macro: str, **context: Any) -> str:
        """The words of a macro in ``templates/``."""
        module = environment("en").get_template("words.j2").module
        return " ".join(line.strip() for line in str(getattr(module, macro)(**context)).split("\n")).strip()

    def prose(self, macro: str, **context: Any) -> None:
        text = self.say(macro, **context)
        if text:
            self.blocks.append(Prose(text))

    def bullets(self, macro: str, **context: Any) -> None:
        """A list; the macro's items are parted by ``|``."""
        items = (item.strip() for item in self.say(macro, **context).split(" | "))
        self.blocks.append(Bullets(tuple(item for item in items if item)))

    def math(self, name: str, node: Node, scope: str = "layer", *, definition: bool = False, general: bool = False,
             ties: bool = False) -> None:
        """A displayed formula; for the flags see :class:`derive.sheet.Math`."""
        latex = write(node, self.tables[scope])
        self.blocks.append(Math(latex, node, name, scope, definition, general, ties))

    def table(self, header: tuple[str, ...], rows: tuple[tuple[str, ...], ...], align: str) -> None:
        self.blocks.append(Table(header, rows, align))
