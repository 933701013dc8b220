"""Vector notation → index notation: w^⊤x is Σ_j w_j x_j, (Wx + b) is Σ_j W_{kj} x_j + b_k."""

from __future__ import annotations

from collections.abc import Iterable
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
from derive.notation.lowering import MARKS, Lowering, letters
from derive.notation.shapes import ShapeError, Shapes
from derive.notation.symbols import Kind, SymbolTable
from derive.notation.vocabulary import FUNCTIONS

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
        return value.at(*letters(value.rank, [node], table))
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
    if not isinstance(head, Fn) or head.name not in FUNCTIONS.values() or head.name == "abs" or len(head.args) != 1:
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
