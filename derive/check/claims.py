"""The formulas of a solution: what each claims in the letters of the question, which define letters, which restrict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from enum import StrEnum

from derive.check.folding import folded
from derive.errors import DeriveError
from derive.expr import (
    And,
    Cond,
    Entry,
    Expr,
    Fn,
    Given,
    Idx,
    In,
    Node,
    Num,
    Partial,
    Rel,
    Size,
    free_indices,
    joined,
    transform,
    walk,
)
from derive.formulas import formulas
from derive.module import Module
from derive.notation import gather
from derive.notation.formulas import Formula
from derive.notation.rules import rewritten
from derive.notation.symbols import Kind, SymbolTable
from derive.question.reading import read_parts
from derive.records import dataclass
from derive.verify.check import unbound
from derive.verify.points.point import LOSS

_BEFORE = -(10**7)  # where the lines of the question are counted from: below those of any solution
_ARROW = re.compile(r"\\(?:Long|long)?(?:Left)?(?:R|r)ightarrow(?![A-Za-z])|\\(?:implies|iff|therefore|leadsto)"
                    r"(?![A-Za-z])|[⇒⟹⇔∴]")
_LOSSES = frozenset("L J E C ell L_cal J_cal".split())  # of a loss that only a solution names
_TOKEN = re.compile(r"\\\\|\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\[{}]|[{}]")


class Kind_(StrEnum):
    """What a formula of a solution does."""

    CLAIM = "claim"
    DEFINITION = "definition"
    CONDITION = "condition"
    UNREAD = "not read"


@dataclass(frozen=True)
class Item:
    """A formula, or one link ``head = value`` of a chain, and where it says that it holds (``cond``)."""

    formula: Formula
    kind: Kind_
    node: Cond | None = None
    reason: str = ""
    cond: Cond | None = None

    @property
    def derives(self) -> bool:
        """∂y/∂x = …, δ_x = …, σ'(s) = …: no supposition has such a left side."""
        head = self.node.terms[0] if isinstance(self.node, Rel) else None
        return isinstance(head, (Partial, Fn)) or isinstance(head, Entry) and head.tensor.startswith("delta_")


@dataclass(frozen=True)
class Solution:
    """The formulas in order, and the layer with the letters that the solution defines."""

    items: tuple[Item, ...]
    module: Module
    table: SymbolTable
    defined: tuple[Rel, ...]  # letters that are no part of the layer: what they stand for


@dataclass
class _Letters:
    """The letters of the question, and those that question and solution define beside the layer."""

    module: Module
    table: SymbolTable
    own: dict[str, Rel] = field(default_factory=dict)
    loose: dict[str, Rel] = field(default_factory=dict)

    def known(self, tensor: str) -> bool:
        base = tensor.removeprefix("delta_")
        return tensor in self.own or base in self.module.given or base in self.module.defined or tensor == LOSS

    def unknown(self, node: Node) -> str:
        """A letter of which nothing is said."""
        module = self.module
        sizes = {s for symbol in self.table.symbols for s in symbol.sizes if isinstance(s, str)} | {
            n.name for e in module.equations for n in walk(e) if isinstance(n, Size)}
        arguments = {a.tensor for n in walk(node) if isinstance(n, Fn) and module.function(n.name.rstrip("'"))
                     for a in n.args if isinstance(a, Entry)} if _of_function(node, module) else set()
        for n in walk(node):
            if isinstance(n, Entry) and not self.known(n.tensor) and n.tensor not in arguments:
                return n.tensor
            if isinstance(n, Size) and n.name not in sizes:
                return n.name
        return ""

    def defines(self, link: Rel) -> bool:
        """Whether it says what a new letter is, in known ones."""
        head, value = link.terms
        if not isinstance(head, Entry) or self.known(head.tensor) or unbound(link):
            return False
        distinct = all(isinstance(i, Idx) for i in head.indices) and len({*head.indices}) == len(head.indices)
        return distinct and not self.unknown(value)

    def define(self, link: Rel) -> None:
        """The letter becomes one of the layer where the layer computes its value, else a name of that value."""
        head = link.terms[0]
        assert isinstance(head, Entry)
        self.own[head.tensor] = link
        if (wider := folded(self.module, link, self.table)) is not None:
            self.module = wider
        else:
            self.loose[head.tensor] = link


def _of_function(node: Node, module: Module) -> bool:
    """σ'(u) = …, about the number u alone."""
    head = node.terms[0] if isinstance(node, Rel) else None
    return isinstance(head, Fn) and module.function(head.name.rstrip("'")) is not None


def solution(text: str, first: int, question: str, module: Module) -> Solution:
    """Each formula of the solution, chains link by link, in order."""
    found = [p for f in formulas(text, first) for p in _implied(f)]
    asked = [f for f in formulas(question, _BEFORE) if "=" in f.latex]
    written = rewritten([*asked, *found])
    table = gather(written, module.table)
    letters = _Letters(module, table)
    items: list[Item] = []
    for formula in written:
        for part, node in read_parts(formula, table):
            if part.line >= 0:
                items += _items(part, node, letters)
            elif not isinstance(node, DeriveError):
                _told(node, letters)
    return Solution(tuple(items), letters.module, table, tuple(letters.loose.values()))


def _implied(formula: Formula) -> Iterator[Formula]:
    """What stands between arrows that conclude, each by itself; one in front of a row is left out."""
    depth, cuts, latex = 0, [0], formula.latex
    arrows = [*_ARROW.finditer(latex)]
    if not arrows:
        yield formula
        return
    marks = sorted([*arrows, *_TOKEN.finditer(latex)], key=lambda m: m.start())
    for mark in marks:
        if mark[0] == "{" or mark[0].startswith("\\begin"):
            depth += 1
        elif mark[0] == "}" or mark[0].startswith("\\end"):
            depth -= 1
        elif mark in arrows and depth == 0:
            cuts += [mark.start(), mark.end()]
        elif mark in arrows and re.search(r"(?:\\\\|\\begin\{\w+\*?\})[\s&]*$", latex[:mark.start()]):
            latex = latex[:mark.start()] + " " * len(mark[0]) + latex[mark.end():]
    for start, stop in zip(cuts[::2], [*cuts[1::2], len(latex)], strict=True):
        part = re.sub(r"(?:\\quad|\\qquad|\\[;,:! ]|[\s,&])+$", "", latex[start:stop])
        blank = re.match(r"(?:\\quad|\\qquad|\\[;,:! ]|[\s,&])*", part)
        assert blank is not None
        start, part = start + blank.end(), part[blank.end():]
        before = latex[:start]
        column = start - before.rfind("\n") - 1 + (0 if "\n" in before else formula.column)
        if part:
            yield Formula(part, formula.line + before.count("\n"), column, formula.display)


def _told(node: Node, letters: _Letters) -> None:
    """What the question says that a letter stands for, δ = ∂L/∂y or the other way round."""
    for part in node.conds if isinstance(node, And) else (node,):
        if isinstance(part, Rel) and part.ops == ("=",):
            for head, value in (part.terms, part.terms[::-1]):
                link = _own(Rel((head, value), ("=",)), letters)
                if isinstance(value, Partial) and letters.defines(link):
                    letters.define(link)
                    break


def _items(formula: Formula, node: Node | DeriveError, letters: _Letters) -> Iterator[Item]:
    if isinstance(node, DeriveError):
        text = node.problems[0].message
        yield Item(formula, Kind_.UNREAD, None, text.partition(": ")[2] or text)
        return
    claim, cond = (node.claim, node.cond) if isinstance(node, Given) else (node, None)
    parts = claim.conds if isinstance(claim, And) else (claim,)
    equations = [p for p in parts if isinstance(p, Rel) and {*p.ops} == {"="} and not _restricts(p, letters)]
    others = [p for p in parts if p not in equations and isinstance(p, Cond)]
    if not equations:
        yield from (Item(formula, Kind_.CONDITION, _own(p, letters)) for p in others)
        return
    cond = joined([*([cond] if cond is not None else []), *others]) if others or cond is not None else None
    for equation in equations:
        yield from _links(formula, equation, None if cond is None else _own(cond, letters), letters)


def _restricts(node: Rel, letters: _Letters) -> bool:
    """i = j, a = 1, x_k = 0, w = v: what an equation of what is free says is a supposition."""
    head = node.terms[0]
    free = isinstance(head, Entry) and head.tensor in letters.module.given
    return isinstance(head, (Idx, Size, Num)) or free or not isinstance(head, Expr)


def _links(formula: Formula, equation: Rel, cond: Cond | None, letters: _Letters) -> Iterator[Item]:
    head = equation.terms[0]
    for term in equation.terms[1:]:
        link = _own(Rel((head, term), ("=",)), letters)
        assert isinstance(link, Rel)
        if cond is None and letters.defines(link):
            letters.define(link)
            yield Item(formula, Kind_.DEFINITION, link)
        elif (name := letters.unknown(link) or (letters.unknown(cond) if cond is not None else "")):
            yield Item(formula, Kind_.UNREAD, None, f"nothing says what `{name}` is")
        elif (loose := unbound(link)):
            yield Item(formula, Kind_.UNREAD, None, f"{loose} is free on the right and absent on the left")
        elif not free_indices(link.terms[0]) and any(isinstance(n, Idx) for n in free_indices(link)):
            yield Item(formula, Kind_.UNREAD, None, "an index is free")
        else:
            yield Item(formula, Kind_.CLAIM, link, "", cond)


def _own(node: Cond, letters: _Letters) -> Cond:
    """The statement with L by its name, whatever letter it has, and a δ_t of no t of the layer as a letter of its own.
    """
    module = letters.module

    def replaced(part: Node) -> Node | None:
        if isinstance(part, Partial) and isinstance(part.of, Entry) and not part.of.indices and not letters.known(
                part.of.tensor) and part.of.tensor in _LOSSES:
            return Partial(Entry(LOSS, ()), part.wrt)
        if isinstance(part, Entry) and (base := part.tensor.removeprefix("delta_")) != part.tensor:
            return None if base in module.given or base in module.defined else Entry(f"own_{part.tensor}", part.indices)
        return None

    return transform(node, replaced, Partial, Entry)
