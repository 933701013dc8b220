"""The formulas of a solution: what each claims in the letters of the question, which define letters, which restrict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from derive.axes import with_axes
from derive.check.letters import (
    Letters,
    arrives,
    defines_function,
    numeric,
    own_letters,
    shaped,
    spared,
    squared,
    told,
    upstream,
)
from derive.errors import CardError, DeriveError
from derive.expr import (
    And,
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
    Rel,
    Size,
    free_indices,
    joined,
    subst,
    walk,
)
from derive.formulas import formulas
from derive.module import Module
from derive.notation import gather
from derive.notation.formulas import Formula
from derive.notation.rules import rewritten
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.symbols import SymbolTable
from derive.question.words.reading import read_parts
from derive.records import dataclass
from derive.statement import MOST_FORMULAS
from derive.verify.check import unbound

_SHAPES = "state the shapes|state shapes"
_BEFORE = -(10**7)  # where the lines of the question are counted from: below those of any solution
ARROW = re.compile(r"\\(?:Long|long)?(?:Left)?(?:R|r)ightarrow(?![A-Za-z])|\\(?:implies|iff|therefore|leadsto)"
                    r"(?![A-Za-z])|[⇒⟹⇔∴]")
_UPSTREAM = re.compile(r"(?:upstream|incoming)\s+(?:gradient|derivative|error|message)s?\s+\$\\delta", re.IGNORECASE)
_DELTA = re.compile(r"\\delta_\{?\w+,?\s*\w?\}?")
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
    written: Rel | None = None  # the link with all its indices, where one of them says nothing
    square: str = ""  # why it is read only where all axes are equally long

    @property
    def link(self) -> Rel:
        """The equation that a claim is."""
        assert isinstance(self.node, Rel)
        return self.node

    @property
    def supposes(self) -> bool:
        """Not ∂y/∂x = …, δ_x = …, σ'(s) = …, y_k = w_k x_k: no supposition has such a left side."""
        head, value = self.node.terms if isinstance(self.node, Rel) else (None, None)
        told = value is not None and any(isinstance(n, Entry) for n in walk(value))
        return not (isinstance(head, (Partial, Fn)) or isinstance(head, Entry) and (
            told or head.tensor.startswith("delta_")))


@dataclass(frozen=True)
class Solution:
    """The formulas in order, and the layer with the letters that the solution defines."""

    items: tuple[Item, ...]
    module: Module
    table: SymbolTable
    square: Module  # the layer with all its axes of one length, and its letters
    square_table: SymbolTable


def solution(text: str, first: int, question: str, module: Module) -> Solution:
    """Each formula of the solution, chains link by link, in order.

    Raises :class:`CardError` where there are too many.
    """
    kronecker = "kronecker" in f"{question}{text}".lower()
    found = [p for f in formulas(text, first) for p in _implied(f)
             if _RELATION.search(p.latex) or not kronecker and _DELTA.fullmatch(p.latex)]
    if len(found) > MOST_FORMULAS:
        raise CardError(f"{len(found):,} formulas, and at most {MOST_FORMULAS} of a solution are checked: part it")
    asked = [f for f in formulas(question, _BEFORE) if "=" in f.latex or not kronecker and _DELTA.fullmatch(f.latex)]
    letters = Letters(module, kronecker, _UPSTREAM.search(f"{question}\n{text}") is not None)
    letters.table = gather(rewritten(asked), module.table)
    for formula in rewritten(asked):
        for _, node in read_parts(formula, letters.table):
            if not isinstance(node, DeriveError):
                told(node, letters)
    letters.module = spared(with_axes(letters.module, spare=False), module, text)
    shaped(letters)
    written = rewritten([*asked, *found])
    defining = [f for f in written if kind_of(f) in (Said.DEFINITION, Said.FUNCTION)]
    table = letters.table = gather(written, gather(defining, letters.module.table))
    items = [item for formula in written if formula.line > 0 for part, node in read_parts(formula, table)
             for item in _items(part, node, letters)]
    square = squared(letters.module)
    alike = replace(letters, module=square)
    alike.table = gather(written, square.table)
    return Solution(tuple(_reread(item, alike) for item in items if not _DELTA.fullmatch(item.formula.latex)),
                    letters.module, table, square, alike.table)


def _reread(item: Item, alike: Letters) -> Item:
    """What shapes forbid, read where all axes are equally long: wrong there, it is wrong."""
    if item.kind is not Kind_.UNREAD or not re.search(_SHAPES, item.reason):
        return item
    read = [i for part, node in read_parts(item.formula, alike.table) for i in _items(part, node, alike)]
    first = read[0] if len(read) == 1 else item
    return replace(first, square=item.reason) if first.kind is Kind_.CLAIM else item


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


def _items(formula: Formula, node: Node | DeriveError, letters: Letters) -> Iterator[Item]:
    if isinstance(node, DeriveError):
        text = node.problems[0].message
        yield Item(formula, Kind_.UNREAD, None, text.partition(": ")[2] or text)
        return
    claim, cond = (node.claim, node.cond) if isinstance(node, Given) else (node, None)
    parts = claim.conds if isinstance(claim, And) else (claim,)
    equations = [p for p in parts if isinstance(p, Rel) and {*p.ops} == {"="} and not _restricts(p, letters)]
    others = [p for p in parts if p not in equations and isinstance(p, Cond)]
    if not equations:
        yield from (Item(formula, Kind_.CONDITION, own_letters(p, letters)) for p in others)
        return
    cond = joined([*([cond] if cond is not None else []), *others]) if others or cond is not None else None
    for equation in equations:
        yield from _links(formula, equation, None if cond is None else own_letters(cond, letters), letters)


def _restricts(node: Rel, letters: Letters) -> bool:
    """i = j, a = 1, x_k = 0, w = v, δ_y = (1, 2): what an equation of what is free says is a supposition."""
    head, module = node.terms[0], letters.module
    free = isinstance(head, Entry) and head.tensor in module.given
    if arrives(head, module) is not None and numeric(node.terms[-1]):
        return True
    return isinstance(head, (Idx, Size, Num)) or free or not isinstance(head, Expr)


def _links(formula: Formula, equation: Rel, cond: Cond | None, letters: Letters) -> Iterator[Item]:
    head = equation.terms[0]
    for term in equation.terms[1:]:
        link = own_letters(Rel((head, term), ("=",)), letters)
        if cond is None and (letters.defines(link) or defines_function(link, letters)):
            if isinstance(link.terms[0], Entry):
                letters.define(link)
            yield Item(formula, Kind_.DEFINITION, link)
            continue
        bound, doubt = upstream(link, formula.latex, letters)
        loose = [i for i in free_indices(bound.terms[1]) - free_indices(bound.terms[0]) if isinstance(i, Idx)]
        if (name := letters.unknown(bound) or (letters.unknown(cond) if cond is not None else "")):
            yield Item(formula, Kind_.UNREAD, None, f"nothing says what `{name}` is")
        elif unbound(bound) and (not loose or any(_repeated(i, bound.terms[1]) for i in loose)):
            yield Item(formula, Kind_.UNREAD, None, f"{unbound(bound)} is free on the right and absent on the left")
        elif loose:
            first: dict[Node, Node] = {i: letters.first(i, bound) for i in loose}
            yield Item(formula, Kind_.CLAIM, subst(bound, first), "", cond, doubt, bound)
        else:
            yield Item(formula, Kind_.CLAIM, bound, "", cond, doubt)


def _repeated(index: Idx, node: Expr) -> bool:
    """δ_i W_{ij}: a sum over i may be meant."""
    return any(sum(index in free_indices(f) for f in n.factors) > 1 for n in walk(node) if isinstance(n, Mul))
