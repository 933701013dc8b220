"""Blocks from statements and words: the one place where LaTeX is written for a sheet."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from derive.expr import Entry, Idx, Node, Rel, eq, joined
from derive.lines import WIDTH, across, write_lines
from derive.notation import write
from derive.notation.symbols import Kind, Symbol, SymbolTable, gradient
from derive.sheet import Block, Bullets, Claim, Figure, Heading, Listing, Math, Prose, Scene, Table
from derive.words import wording

_NAME = re.compile(r"“[^”]*”|`(\w+)`")
_GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
# a sum with wide limits and the sum behind it: without a gap their limits would run together
_SUMS = re.compile(rf"(\\sum(?:_{_GROUP}\^{_GROUP}|_\{{\\substack{_GROUP}\}})) (?=\\sum)")


@dataclass
class Builder:
    """Collects the blocks of one part of a sheet.

    ``tables`` holds the letters of each scope, ``words`` names the file of ``templates/<language>/`` that holds the
    sentences; those that every sheet has stand in ``common.j2``.
    """

    tables: dict[str, SymbolTable]
    words: str = "common"
    blocks: list[Block] = field(default_factory=list)
    inline: list[Math] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    told: set[str] = field(default_factory=set)  # sentences on rules, each of which is said once
    derived: dict[tuple[Node, ...], Node] = field(default_factory=dict)  # a derivation in any letters, to what it is of

    def m(self, node: Node, scope: str = "layer") -> str:
        """A formula inside a sentence."""
        latex = write(node, self.tables[scope], display=False)
        self.inline.append(Math(latex, node, "inline", scope))
        return f"${latex}$"

    @property
    def language(self) -> str:
        return next(iter(self.tables.values())).language

    @property
    def gradient(self) -> str:
        """What gradients are called in a sentence: δ, unless the card's δ is something else."""
        letter = gradient(self.tables["layer"])
        return "δ" if letter == r"\delta" else f"*{letter}*"

    def letter(self, known: Symbol) -> str:
        """A tensor as a whole; x^(i), since x alone would not say which sample."""
        return self.m(Entry(known.name, tuple(map(Idx, known.axes)) if known.above else ()))

    def lettered(self, words: str) -> str:
        """The words with the names of tensors, `W_f`, as the letters that stand for them; quotations stay."""
        table = self.tables.get("layer")

        def letter(found: re.Match[str]) -> str:
            known = table.named(found[1]) if table is not None and found[1] else None
            return found[0] if known is None or known.kind is not Kind.TENSOR else self.letter(known)

        return _NAME.sub(letter, words)

    def heading(self, macro: str, level: int = 2, **context: Any) -> None:
        self.blocks.append(Heading(self.say(macro, **context), level, macro.removeprefix("heading_")))

    def worded(self, words: str) -> Builder:
        """The same part of the sheet, by the sentences of another file."""
        return replace(self, words=words)

    def say(self, macro: str, **facts: Any) -> str:
        """The words of a macro in ``templates/``, which claim these facts."""
        own, common = (wording(self.language, name) for name in (self.words, "common"))
        found = getattr(own if hasattr(own, macro) else common, macro)
        words = " ".join(line.strip() for line in str(found(**facts)).split("\n")).strip()
        self.claims.append(Claim(macro, facts, words))
        return words

    def prose(self, macro: str, **context: Any) -> None:
        self.text(self.say(macro, **context))

    def text(self, words: str) -> None:
        """A paragraph of words that a macro has said already."""
        if words:
            self.blocks.append(Prose(words))

    def bullets(self, macro: str, **context: Any) -> None:
        """A list; the macro's items are parted by ``|``."""
        items = (item.strip() for item in self.say(macro, **context).split(" | "))
        self.blocks.append(Bullets(tuple(item for item in items if item)))

    def math(self, name: str, node: Node, scope: str = "layer", *, definition: bool = False, general: bool = False,
             ties: bool = False) -> None:
        """A displayed formula, a side that prints as the one before it left out; for the flags see :class:`Math`."""
        node = self._once(node, scope)
        latex = _SUMS.sub(r"\1 \\; ", write_lines(node, self.tables[scope]))
        self.blocks.append(Math(latex, node, name, scope, definition, general, ties))

    def joined(self, name: str, statements: Iterable[Rel], scope: str = "layer", *, definition: bool = False) -> None:
        """Displays of short statements, as many in each as a line holds."""
        line: list[Rel] = []
        for statement in (*statements, None):
            whole = [*line] if statement is None else [*line, statement]
            wide = sum(across(write(s, self.tables[scope])) for s in whole)
            if line and (statement is None or wide > WIDTH):
                self.math(name, joined(line), scope, definition=definition)
                line = []
            line += [] if statement is None else [statement]

    def _once(self, node: Node, scope: str) -> Node:
        if not isinstance(node, Rel) or len(node.terms) < 3 or set(node.ops) != {"="}:
            return node
        sides = [write(term, self.tables[scope]) for term in node.terms]
        return eq(*(term for n, term in enumerate(node.terms) if n < 2 or sides[n] != sides[n - 1]))

    def table(self, header: tuple[str, ...], rows: tuple[tuple[str, ...], ...], align: str) -> None:
        self.blocks.append(Table(header, rows, align))

    def listing(self, code: str) -> None:
        self.blocks.append(Listing(code))

    def figure(self, scene: Scene | None, **facts: Any) -> None:
        """A picture, where there is one, and its caption."""
        if scene is not None:
            caption = scene.name.replace("-", "_") + "_caption"
            self.blocks.append(Figure(scene, self.worded("figures").say(caption, **facts)))
