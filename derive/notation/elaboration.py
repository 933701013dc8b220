"""One formula → one expression: the reader with all its parts, whole vectors into indices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import cast

import derive.expr as ex
from derive.functions import SPELLINGS
from derive.notation import binders, conditions, forms, letters
from derive.notation import tree as tr
from derive.notation.formulas import Formula, NotationError, Source
from derive.notation.grammar import parse, tree_of
from derive.notation.reader import Part, Reader, infinity, number
from derive.notation.shapes import MARKS, Lowering, ShapeError, axis_letters
from derive.notation.symbols import Kind, SymbolTable

PARTS: Mapping[str, Part] = {
    "NAME": letters.symbol, "NUMBER": number, "INFTY": infinity, "FN": forms.function, "GROUP": forms.group,
    "ENV": forms.environment, "FRAC": forms.fraction, "SQRT": forms.root, "BIG": binders.reduction,
    "IND": forms.indicator, "CONV": forms.hull, "PARTIAL": forms.partial,
    "NABLA": forms.gradient,
}


def statement(table: SymbolTable, source: Source, items: tr.Items) -> ex.Node:
    """What the items say in the letters as they stand: vectors stay whole."""
    return conditions.statement(Reader.of(table, source, PARTS, undecided=True), items)


def read(latex: str, table: SymbolTable, *, line: int | None = None, column: int = 0) -> ex.Node:
    """The statement or value that one formula says under the symbol table.

    ``line`` and ``column`` (from 0) are its place in the card.  Raises
    :class:`NotationError` where it is outside the notation or has two readings.
    """
    return _kept(latex, table) if line is None else _read(Source(latex, line, column), table)


def read_formula(formula: Formula, table: SymbolTable) -> ex.Node:
    """As :func:`read`, of a formula of a card, with what rules made of it."""
    return _of_tree(formula.source, tree_of(formula), table)


@lru_cache(maxsize=4096)
def _kept(latex: str, table: SymbolTable) -> ex.Node:
    """A printed formula read back: sheets of one bank print many of the same."""
    return _read(Source(latex), table)


def _read(source: Source, table: SymbolTable) -> ex.Node:
    return _of_tree(source, parse(source), table)


def _of_tree(source: Source, items: tr.Items, table: SymbolTable) -> ex.Node:
    if not items:
        raise source.error(0, "the formula is empty")
    reader = Reader.of(table, source, PARTS)
    try:
        return lowered(conditions.statement(reader, items), table)
    except ShapeError as error:
        at = next((reader.places[node] for node in error.nodes if node in reader.places), items[0].start)
        raise source.error(at, str(error)) from None
    except RecursionError:
        raise source.error(0, "the formula is nested too deeply") from None


_LEFT_ALONE = (ex.Matrix, ex.Hull, ex.Subdifferential, ex.Directional, ex.SetOf, ex.Without, ex.Arg)


def marked(node: ex.Node) -> bool:
    """Whether a mark of vector notation is left in the node."""
    return any(isinstance(n, ex.Fn) and n.name in MARKS for n in ex.walk(node))


def wholes(node: ex.Node, table: SymbolTable) -> bool:
    """Whether a tensor stands in the node with axes left out."""
    for n in ex.walk(node):
        known = table.named(n.tensor) if isinstance(n, ex.Entry) else None
        if known is not None and isinstance(n, ex.Entry) and len(n.indices) < len(known.axes):
            return True
    return False


def lowered(node: ex.Node, table: SymbolTable) -> ex.Node:
    """The statement in indices, where it has vectors.

    Raises :class:`ShapeError` where shapes do not fit or a product has two readings.
    """
    if isinstance(node, ex.And):
        return ex.And(tuple(cast(ex.Cond, lowered(c, table)) for c in node.conds))
    if isinstance(node, ex.Given):
        claim = lowered(node.claim, table)
        return ex.Given(claim, node.cond) if isinstance(claim, ex.Cond) else node
    marks = marked(node)
    if isinstance(node, ex.Rel) and spells_out(node):
        return node
    if isinstance(node, ex.Rel) and defines_function(node, table):
        if marks:
            raise ShapeError("a function that is applied to numbers is defined here with vectors")
        return node
    kept = not table.vectors or any(isinstance(n, _LEFT_ALONE) for n in ex.walk(node))
    if not marks and (kept or not wholes(node, table)):
        return node
    lowering = Lowering(table)
    if isinstance(node, ex.Rel):
        return lowering.relation(node)
    if isinstance(node, ex.Expr) and marks:
        value = lowering.value(node)
        return value.at(*axis_letters(value.rank, [node], table))
    return node


def defines_function(node: ex.Rel, table: SymbolTable) -> bool:
    """σ(s) = …: about the number s, whatever s is elsewhere."""
    head = node.terms[0]
    known = table.named(head.name.rstrip("'")) if isinstance(head, ex.Fn) else None
    of_card = known is not None and known.kind is Kind.FUNCTION
    return of_card and isinstance(head, ex.Fn) and all(isinstance(a, ex.Entry) and not a.indices for a in head.args)


def spells_out(node: ex.Rel) -> bool:
    r"""\tanh(z) = …, of nothing but the number z: the function's argument, whatever z is elsewhere."""
    head, *values = node.terms
    if not isinstance(head, ex.Fn) or head.name not in SPELLINGS.values() or head.name == "abs" or len(head.args) != 1:
        return False
    own = head.args[0]
    entries = [n for value in values for n in ex.walk(value) if isinstance(n, ex.Entry)]
    whole = isinstance(own, ex.Entry) and not own.indices
    return whole and set(node.ops) == {"="} and bool(entries) and all(n is own for n in entries) and not marked(node)


def fits(claim: ex.Rel, table: SymbolTable, ranks: Mapping[str, int] = MappingProxyType({})) -> bool:
    """Whether the shapes of a claim fit, with these numbers of axes left out."""
    try:
        Lowering(table, ranks, trial=True).relation(claim)
    except ShapeError:
        return False
    return True


def rank_of(node: ex.Expr, table: SymbolTable, ranks: Mapping[str, int]) -> int | None:
    """How many axes a value has, with these numbers of axes left out; None where its shapes do not fit."""
    try:
        return Lowering(table, ranks, trial=True).value(node).rank
    except ShapeError:
        return None


def claims(node: ex.Node, table: SymbolTable) -> Iterable[ex.Rel]:
    """The relations that a statement makes, but for the definitions of functions."""
    if isinstance(node, ex.Rel) and not defines_function(node, table) and not spells_out(node):
        yield node
    elif isinstance(node, ex.And):
        for cond in node.conds:
            yield from claims(cond, table)
    elif isinstance(node, ex.Given):
        yield from claims(node.claim, table)


def stated(table: SymbolTable, source: Source, items: tr.Items) -> ex.Node | None:
    """What the items say, or nothing where they are not read."""
    try:
        return statement(table, source, items)
    except (NotationError, RecursionError):
        return None
