"""The formulas of a solution: what each claims in the letters of the question, which define letters, which restrict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from enum import StrEnum
from typing import TypeVar

from derive.axes import Axes, axes, stands, with_axes
from derive.check.folding import folded
from derive.errors import DeriveError
from derive.expr import (
    ZERO,
    And,
    Binder,
    Bracket,
    Cond,
    Entry,
    Expr,
    Fn,
    Given,
    Idx,
    Mul,
    Node,
    Num,
    Partial,
    Reduce,
    Rel,
    Size,
    add,
    free_indices,
    joined,
    subst,
    transform,
    walk,
)
from derive.formulas import formulas
from derive.module import Function, Module
from derive.notation import gather
from derive.notation.formulas import Formula
from derive.notation.rules import rewritten
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.symbols import Kind, SymbolTable
from derive.question.reading import read_parts
from derive.records import dataclass
from derive.verify.check import unbound
from derive.verify.points.point import LOSS

_C = TypeVar("_C", bound=Cond)
_BEFORE = -(10**7)  # where the lines of the question are counted from: below those of any solution
ARROW = re.compile(r"\\(?:Long|long)?(?:Left)?(?:R|r)ightarrow(?![A-Za-z])|\\(?:implies|iff|therefore|leadsto)"
                    r"(?![A-Za-z])|[⇒⟹⇔∴]")
_LOSSES = frozenset("L J E C ell L_cal J_cal".split())  # of a loss that only a solution names
_RELATION = re.compile(r"[=<>≤≥≠∈]|\\(?:le|ge|leq|geq|lt|gt|ne|neq|in|notin|not)(?![A-Za-z])")
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
    doubt: str = ""  # why it is not refuted where it fails

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


@dataclass
class _Letters:
    """The letters of the question, and those that question and solution define beside the layer."""

    module: Module
    own: dict[str, Rel] = field(default_factory=dict)
    loose: dict[str, Rel] = field(default_factory=dict)  # those that are no part of the layer
    sizes: dict[str, Expr] = field(default_factory=dict)  # further names of extents

    def __post_init__(self) -> None:
        self.table = self.module.table

    def of_layer(self, tensor: str) -> bool:
        base = tensor.removeprefix("delta_")
        return base in self.module.given or base in self.module.defined

    def known(self, tensor: str) -> bool:
        return tensor in self.own or tensor == LOSS or self.of_layer(tensor)

    def first(self, index: Idx, node: Node) -> Expr:
        """The first coordinate of the axis along which an index runs."""
        found = axes(self.module)
        return next((Num(found.origin(t, d)) for t, d in stands(index, node)), ZERO)

    def unknown(self, node: Node) -> str:
        """A letter of which nothing is said."""
        module = self.module
        sizes = {*self.sizes} | {s for symbol in self.table.symbols for s in symbol.sizes if isinstance(s, str)} | {
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
    found = [p for f in formulas(text, first) for p in _implied(f) if _RELATION.search(p.latex)]
    asked = [f for f in formulas(question, _BEFORE) if "=" in f.latex]
    letters = _Letters(module)
    letters.table = gather(rewritten(asked), module.table)
    for formula in rewritten(asked):
        for _, node in read_parts(formula, letters.table):
            if not isinstance(node, DeriveError):
                _told(node, letters)
    letters.module = with_axes(letters.module, spare=False)
    _shaped(letters)
    written = rewritten([*asked, *found])
    defining = [f for f in written if kind_of(f) in (Said.DEFINITION, Said.FUNCTION)]
    table = letters.table = gather(written, gather(defining, letters.module.table))
    items = [item for formula in written if formula.line > 0 for part, node in read_parts(formula, table)
             for item in _items(part, node, letters)]
    return Solution(tuple(items), letters.module, table)


def _implied(formula: Formula) -> Iterator[Formula]:
    """What stands between arrows that conclude, each by itself; one in front of a row is left out."""
    depth, cuts, latex = 0, [0], formula.latex
    arrows = [*ARROW.finditer(latex)]
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
    """What the question says that a letter stands for, δ = ∂L/∂y or the other way round, and its functions."""
    for part in node.conds if isinstance(node, And) else (node,):
        if not isinstance(part, Rel) or part.ops != ("=",):
            continue
        if _defines_function(part, letters):
            continue
        for head, value in (part.terms, part.terms[::-1]):
            link = _own(Rel((head, value), ("=",)), letters)
            if isinstance(value, Partial) and letters.defines(link):
                letters.define(link)
                break


def _shaped(letters: _Letters) -> None:
    """δ of δ = ∂L/∂y has the shape of y, and so has the letter without the name of its own."""
    known = letters.module.table
    for link in letters.loose.values():
        head, value = link.terms
        like = known.named(value.wrt.tensor) if isinstance(value, Partial) and isinstance(value.wrt, Entry) else None
        own = known.named(head.tensor.removeprefix("own_")) if isinstance(head, Entry) else None
        if like is not None and own is not None and len(like.axes) == len(own.axes):
            known = known.extended((replace(own, sizes=like.sizes),))
    letters.module = replace(letters.module, table=known)


def _defines_function(part: Rel, letters: _Letters) -> bool:
    """f(s) = …, of numbers that are no letters of the layer."""
    head, body = part.terms[0], part.terms[-1]
    if not isinstance(head, Fn) or "'" in head.name or letters.module.function(head.name) is not None:
        return False
    names = [a.tensor for a in head.args if isinstance(a, Entry) and not a.indices]
    symbol = letters.table.named(head.name)
    own = {n.tensor for n in walk(body) if isinstance(n, Entry)} - {*names}
    if len(names) != len(head.args) or symbol is None or symbol.kind is not Kind.FUNCTION or any(
            not letters.known(t) for t in own) or any(isinstance(n, Fn) and n.name == head.name for n in walk(body)):
        return False
    function = Function(head.name, tuple(names), body)
    letters.module = replace(letters.module, functions=(*letters.module.functions, function))
    return True


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
        if cond is None and (letters.defines(link) or _defines_function(link, letters)):
            if isinstance(link.terms[0], Entry):
                letters.define(link)
            yield Item(formula, Kind_.DEFINITION, link)
            continue
        bound, doubt = _upstream(link, letters)
        loose = [i for i in free_indices(bound.terms[1]) - free_indices(bound.terms[0]) if isinstance(i, Idx)]
        if (name := letters.unknown(bound) or (letters.unknown(cond) if cond is not None else "")):
            yield Item(formula, Kind_.UNREAD, None, f"nothing says what `{name}` is")
        elif unbound(bound) and (not loose or any(_repeated(i, bound.terms[1]) for i in loose)):
            yield Item(formula, Kind_.UNREAD, None, f"{unbound(bound)} is free on the right and absent on the left")
        elif loose:
            first: dict[Node, Node] = {i: letters.first(i, bound) for i in loose}
            yield Item(formula, Kind_.CLAIM, subst(bound, first), "", cond, doubt)
        else:
            yield Item(formula, Kind_.CLAIM, bound, "", cond, doubt)


def _repeated(index: Idx, node: Expr) -> bool:
    """δ_i W_{ij}: a sum over i may be meant."""
    return any(sum(index in free_indices(f) for f in n.factors) > 1 for n in walk(node) if isinstance(n, Mul))


def _upstream(link: Rel, letters: _Letters) -> tuple[Rel, str]:
    """A δ of which nothing is said is ∂L/∂y where that makes the equation true; where it does not, it is unknown."""
    output = letters.module.table.named(letters.module.output)
    own = {n.tensor for n in walk(link) if isinstance(n, Entry) and n.tensor == "delta" and not letters.known(n.tensor)
           and output is not None and len(n.indices) == len(output.axes)}
    if not own:
        return link, ""
    name = f"delta_{letters.module.output}"
    return transform(link, lambda n: Entry(name, n.indices) if isinstance(n, Entry) and n.tensor in own else None,
                     Entry), "nothing says what `delta` is"


def _own(node: _C, letters: _Letters) -> _C:
    """The statement in letters of the layer alone.

    L has its name, whatever letter it has; a δ_t of no t of the layer is a letter of its own; what is no part of the
    layer is written out; n of Σ_{i=1}^{n} over all of an axis is no number.
    """
    def replaced(part: Node) -> Node | None:
        if isinstance(part, Partial) and isinstance(part.of, Entry) and not part.of.indices and not letters.known(
                part.of.tensor) and part.of.tensor in _LOSSES:
            return Partial(Entry(LOSS, ()), part.wrt)
        if isinstance(part, Entry) and part.tensor.startswith("delta_") and not letters.of_layer(part.tensor):
            part = Entry(f"own_{part.tensor}", part.indices)
        if isinstance(part, Entry) and part.tensor in letters.loose:
            head, value = letters.loose[part.tensor].terms
            assert isinstance(head, Entry)
            if len(head.indices) == len(part.indices):
                return subst(value, dict(zip(head.indices, part.indices, strict=True)))
        if isinstance(part, Size):
            return letters.sizes.get(part.name)
        return part if isinstance(part, Entry) else None

    return transform(_unlimited(node, letters), replaced, Partial, Entry, Size)


def _unlimited(node: _C, letters: _Letters) -> _C:
    """Σ_{i=1}^{m} over all of an axis without limits; m is its extent then, if nothing else is known of it."""
    found = axes(letters.module)
    mapping: dict[Node, Node] = {}
    for part in walk(node):
        if isinstance(part, Reduce) and part.op == "sum" and part.binder.cond is None:
            limits = [_whole(v, low, high, part.body, letters, found) for v, low, high in zip(
                part.binder.variables, part.binder.lower, part.binder.upper, strict=True)]
            if any(limits):
                binder = Binder(
                    part.binder.variables,
                    tuple(None if whole else low for low, whole in zip(part.binder.lower, limits, strict=True)),
                    tuple(None if whole else high for high, whole in zip(part.binder.upper, limits, strict=True)), None)
                mapping[part] = Reduce("sum", binder, part.body)
    for part, wide in mapping.items():  # one at a time: a sum within another is another node then
        node = transform(node, lambda n, part=part, wide=wide: wide if n is part else None, Reduce)  # type: ignore[misc]
    return node


def _whole(variable: Idx, low: Expr | None, high: Expr | None, body: Expr, letters: _Letters, found: Axes) -> bool:
    """Whether the limits are 1 and n, or 0 and n − 1, of an axis of n entries along which the variable stands."""
    entries = [n for n in walk(body) if isinstance(n, Entry) and variable in free_indices(n)]
    slots = [(e.tensor, d) for e in entries for d, i in enumerate(e.indices) if i is variable]
    moved = any(i is not variable and variable in free_indices(i) for e in entries for i in e.indices)
    if not isinstance(low, Num) or low.value not in (0, 1) or high is None or not slots or moved:
        return False
    extent = add(high, Num(1)) if low.value == 0 else high
    size = next((s for t, d in slots if (s := found.size(t, d)) is not None), None)
    if size is None or extent is size:
        return size is not None
    if isinstance(extent, Size) and letters.unknown(Bracket(Rel((extent, ZERO), ("=",)))) == extent.name:
        letters.sizes[extent.name] = size
        return True
    return letters.sizes.get(getattr(extent, "name", "")) is size
