"""One formula → one expression: the reader with all its parts, whole vectors into indices, ranks that follow."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from derive.expr import (
    And,
    Arg,
    Cond,
    Directional,
    Entry,
    Expr,
    Fn,
    Given,
    Hull,
    Matrix,
    Node,
    Rel,
    SetOf,
    Subdifferential,
    Without,
    walk,
)
from derive.functions import SPELLINGS
from derive.notation import binders, conditions, forms, letters
from derive.notation.formulas import Formula, NotationError, Source
from derive.notation.grammar import parse, tree_of
from derive.notation.ranks import is_capital
from derive.notation.reader import Part, Reader, infinity, number
from derive.notation.shapes import MARKS, Lowering, ShapeError, Shapes, axis_letters
from derive.notation.symbols import Kind, SymbolTable
from derive.notation.tree import Items

PARTS: Mapping[str, Part] = {
    "NAME": letters.symbol, "NUMBER": number, "INFTY": infinity, "FN": forms.function, "GROUP": forms.group,
    "ENV": forms.environment, "FRAC": forms.fraction, "SQRT": forms.root, "BIG": binders.reduction,
    "UNDER": binders.underset, "IND": forms.indicator, "CONV": forms.hull, "PARTIAL": forms.partial,
    "NABLA": forms.gradient,
}


def statement(table: SymbolTable, source: Source, items: Items) -> Node:
    """What the items say in the letters as they stand: vectors stay whole."""
    return conditions.statement(Reader.of(table, source, PARTS), items)


def read(latex: str, table: SymbolTable, *, line: int | None = None, column: int = 0) -> Node:
    """The statement or value that one formula says under the symbol table.

    ``line`` and ``column`` (from 0) are its place in the card.  Raises
    :class:`NotationError` where it is outside the notation or has two readings.
    """
    return _kept(latex, table) if line is None else _read(Source(latex, line, column), table)


def read_formula(formula: Formula, table: SymbolTable) -> Node:
    """As :func:`read`, of a formula of a card, with what rules made of it."""
    return _of_tree(formula.source, tree_of(formula), table)


@lru_cache(maxsize=4096)
def _kept(latex: str, table: SymbolTable) -> Node:
    """A printed formula read back: sheets of one bank print many of the same."""
    return _read(Source(latex), table)


def _read(source: Source, table: SymbolTable) -> Node:
    return _of_tree(source, parse(source), table)


def _of_tree(source: Source, items: Items, table: SymbolTable) -> Node:
    if not items:
        raise source.error(0, "the formula is empty")
    try:
        return lowered(statement(table, source, items), table)
    except ShapeError as error:
        raise source.error(0, str(error)) from None
    except RecursionError:
        raise source.error(0, "the formula is nested too deeply") from None


_LEFT_ALONE = (Matrix, Hull, Subdifferential, Directional, SetOf, Without, Arg)


def marked(node: Node) -> bool:
    """Whether a mark of vector notation is left in the node."""
    return any(isinstance(n, Fn) and n.name in MARKS for n in walk(node))


def wholes(node: Node, table: SymbolTable) -> bool:
    """Whether a tensor stands in the node with axes left out."""
    for n in walk(node):
        known = table.named(n.tensor) if isinstance(n, Entry) else None
        if known is not None and isinstance(n, Entry) and len(n.indices) < len(known.axes):
            return True
    return False


def lowered(node: Node, table: SymbolTable) -> Node:
    """The statement in indices, where it has vectors.

    Raises :class:`ShapeError` where shapes do not fit or a product has two readings.
    """
    if isinstance(node, And):
        return And(tuple(cast(Cond, lowered(c, table)) for c in node.conds))
    if isinstance(node, Given):
        claim = lowered(node.claim, table)
        return Given(claim, node.cond) if isinstance(claim, Cond) else node
    marks = marked(node)
    if isinstance(node, Rel) and spells_out(node):
        return node
    if isinstance(node, Rel) and defines_function(node, table):
        if marks:
            raise ShapeError("a function that is applied to numbers is defined here with vectors")
        return node
    kept = not table.vectors or any(isinstance(n, _LEFT_ALONE) for n in walk(node))
    if not marks and (kept or not wholes(node, table)):
        return node
    lowering = Lowering(Shapes(table, {}))
    if isinstance(node, Rel):
        return lowering.relation(node)
    if isinstance(node, Expr) and marks:
        value = lowering.value(node)
        return value.at(*axis_letters(value.rank, [node], table))
    return node


def defines_function(node: Rel, table: SymbolTable) -> bool:
    """σ(s) = …: about the number s, whatever s is elsewhere."""
    head = node.terms[0]
    known = table.named(head.name.rstrip("'")) if isinstance(head, Fn) else None
    of_card = known is not None and known.kind is Kind.FUNCTION
    return of_card and isinstance(head, Fn) and all(isinstance(a, Entry) and not a.indices for a in head.args)


def spells_out(node: Rel) -> bool:
    r"""\tanh(z) = …, of nothing but the number z: the function's argument, whatever z is elsewhere."""
    head, *values = node.terms
    if not isinstance(head, Fn) or head.name not in SPELLINGS.values() or head.name == "abs" or len(head.args) != 1:
        return False
    own = head.args[0]
    entries = [n for value in values for n in walk(value) if isinstance(n, Entry)]
    whole = isinstance(own, Entry) and not own.indices
    return whole and set(node.ops) == {"="} and bool(entries) and all(n is own for n in entries) and not marked(node)


def fits(node: Node, table: SymbolTable, ranks: dict[str, int]) -> bool:
    """Whether the shapes of a statement fit, with these numbers of axes left out."""
    lowering = Lowering(Shapes(table, ranks))
    try:
        for claim in claims(node, table):
            lowering.relation(claim)
    except ShapeError:
        return False
    return True


def claims(node: Node, table: SymbolTable) -> Iterable[Rel]:
    """The relations that a statement makes, but for the definitions of functions."""
    if isinstance(node, Rel) and not defines_function(node, table) and not spells_out(node):
        yield node
    elif isinstance(node, And):
        for cond in node.conds:
            yield from claims(cond, table)
    elif isinstance(node, Given):
        yield from claims(node.claim, table)


_MOST = 6  # undecided letters of one formula
_SPARE = "ijklmpqr"


def inferred(table: SymbolTable, trees: Sequence[tuple[Source, Items]], undecided: set[str]) -> SymbolTable:
    """The table with the ranks of vectors and matrices that follow; what has two ranks is left undeclared.

    Vectors are columns, or rows where ``table.rows`` says so; the other way where the formulas fit only then: s = x W.
    """
    found = _with_ranks(table, trees, undecided)
    if _all_fit(found, trees):
        return found
    turned = _with_ranks(replace(table, rows=not table.rows), trees, undecided)
    return turned if _all_fit(turned, trees) else found


def _all_fit(table: SymbolTable, trees: Sequence[tuple[Source, Items]]) -> bool:
    nodes = (_stated(table, source, items) for source, items in trees)
    return all(fits(node, table, {}) for node in nodes if node is not None)


def _with_ranks(table: SymbolTable, trees: Sequence[tuple[Source, Items]], undecided: set[str]) -> SymbolTable:
    if not undecided:
        return replace(table, vectors=True)
    found: dict[str, int] = {}
    ambiguous: set[str] = set()
    nodes = [node for source, items in trees if (node := _stated(table, source, items)) is not None]
    changed = True
    while changed:
        changed = False
        current = _with(table, found)
        for node in nodes:
            names = _names(node, undecided - found.keys(), current)
            if not names or len(names) > _MOST or not (marked(node) or wholes(node, current)):
                continue
            others = [n for n in nodes if n is not node and len(_names(n, undecided, current)) > 0 and (
                {*_names(n, undecided, current)} <= {*names, *found})]
            solutions = [s for s in _solutions(node, current, names) if all(fits(n, current, s) for n in others)]
            least = {name: min((s[name] for s in solutions), default=0) for name in names}
            for name in names:
                ranks = {s[name] for s in solutions}
                alone = any(s[name] != least[name] and {**s, name: least[name]} == least for s in solutions)
                if least in solutions and not alone:
                    ranks = {least[name]}  # a number, where nothing says more
                if len(ranks) == 1:
                    found[name] = ranks.pop()
                    ambiguous.discard(name)
                    changed = True
                elif ranks:
                    ambiguous.add(name)
            current = _with(table, found)
    result = _with(table, found)
    settled = tuple(s for s in result.symbols if s.name not in ambiguous - found.keys())
    return SymbolTable(settled, table.stars, True, table.rows)


def _stated(table: SymbolTable, source: Source, items: Items) -> Node | None:
    try:
        return statement(table, source, items)
    except (NotationError, RecursionError):
        return None


def _names(node: Node, undecided: set[str], table: SymbolTable) -> list[str]:
    entries = (n for claim in claims(node, table) for n in walk(claim) if isinstance(n, Entry))
    return list(dict.fromkeys(n.tensor for n in entries if n.tensor in undecided))


def _solutions(node: Node, table: SymbolTable, names: list[str]) -> list[dict[str, int]]:
    """The ranks under which all shapes fit: small letters and marked ones no matrices if possible, capitals those."""
    marks = {n.tensor for m in walk(node) if isinstance(m, Fn) and m.name in MARKS
             for a in m.args for n in walk(a) if isinstance(n, Entry)}
    choices = [(1, 2) if name in marks else (0, 1, 2) for name in names]
    if not any(True for _ in claims(node, table)):
        return []
    fitting = [ranks for combination in itertools.product(*choices)
               if fits(node, table, ranks := dict(zip(names, combination, strict=True)))]
    small = [name for name in names if name in marks or not is_capital(name)]
    unlike = [(sum(ranks[name] == 2 for name in small), sum(ranks[name] != 2 for name in names if is_capital(name)))
              for ranks in fitting]
    return [ranks for ranks, n in zip(fitting, unlike, strict=True) if n == min(unlike)]


def _with(table: SymbolTable, found: dict[str, int]) -> SymbolTable:
    """The table with the new axes; letters of axes are indices."""
    changed = []
    for name, rank in found.items():
        symbol = table.named(name)
        if symbol is not None and rank:
            spare = [c for c in _SPARE if table.named(c) is None and c not in symbol.axes][:rank]
            changed.append(replace(symbol, axes=(*symbol.axes, *spare), unwritten=rank if symbol.axes else 0))
    return table.extended(changed) if changed else table
