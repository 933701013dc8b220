"""Vector notation → index notation: w^⊤x is Σ_j w_j x_j, (Wx + b) is Σ_j W_{kj} x_j + b_k."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import cast

from derive.expr import (
    Add,
    And,
    Arg,
    Bracket,
    Cardinality,
    Cases,
    Cond,
    Directional,
    Entry,
    Expr,
    Extremum,
    Fn,
    Given,
    Hull,
    Idx,
    Infinity,
    Matrix,
    Mul,
    Node,
    Num,
    Partial,
    Pow,
    Reduce,
    Rel,
    SetOf,
    Subdifferential,
    Tuple,
    Without,
    free_indices,
    mul,
    open_binder,
    walk,
)
from derive.notation.shapes import Shaped, ShapeError, Shapes, number, summed, times, together, transposed
from derive.notation.symbols import Kind, SymbolTable

TRANSPOSE, NORM, INNER, HADAMARD = "⊤", "‖", "⟨", "⊙"
MARKS = frozenset((TRANSPOSE, NORM, INNER, HADAMARD))
FROBENIUS = Entry("‖F", ())
_LEFT_ALONE = (Matrix, Hull, Subdifferential, Directional, SetOf, Without, Arg)
_SPARE = "ijklmpqr"


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
    if isinstance(node, Rel) and defines_function(node, table):
        if marks:
            raise ShapeError("a function that is applied to numbers is defined here with vectors")
        return node
    if not marks and (not table.vectors or any(isinstance(n, _LEFT_ALONE) for n in walk(node)) or not wholes(node, table)):
        return node
    lowering = _Lowering(Shapes(table, {}))
    if isinstance(node, Rel):
        return lowering.relation(node)
    if isinstance(node, Expr) and marks:
        value = lowering.value(node)
        return value.at(*_letters(value.rank, [node], table))
    return node


def defines_function(node: Rel, table: SymbolTable) -> bool:
    """σ(s) = …: about the number s, whatever s is elsewhere."""
    head = node.terms[0]
    known = table.named(head.name.rstrip("'")) if isinstance(head, Fn) else None
    of_card = known is not None and known.kind is Kind.FUNCTION
    return of_card and isinstance(head, Fn) and all(isinstance(a, Entry) and not a.indices for a in head.args)


def fits(node: Node, table: SymbolTable, ranks: dict[str, int]) -> bool:
    """Whether the shapes of a statement fit, with these numbers of axes left out."""
    lowering = _Lowering(Shapes(table, ranks))
    try:
        for claim in claims(node, table):
            lowering.relation(claim)
    except ShapeError:
        return False
    return True


def claims(node: Node, table: SymbolTable) -> Iterable[Rel]:
    """The relations that a statement makes, but for the definitions of functions."""
    if isinstance(node, Rel) and not defines_function(node, table):
        yield node
    elif isinstance(node, And):
        for cond in node.conds:
            yield from claims(cond, table)
    elif isinstance(node, Given):
        yield from claims(node.claim, table)


def _letters(rank: int, terms: Iterable[Node], table: SymbolTable) -> tuple[Idx, ...]:
    """Index letters for the entries of a claim: those of the first tensor of its rank."""
    taken = {i.name for t in terms for i in free_indices(t)}
    others = {s.name for s in table.symbols if s.kind is not Kind.INDEX}
    for node in (n for t in terms for n in walk(t) if isinstance(n, Entry)):
        known = table.named(node.tensor)
        axes = known.axes[len(node.indices) :] if known is not None else ()
        if len(axes) == rank and not taken & {*axes}:
            return tuple(map(Idx, axes))
    return tuple(map(Idx, [c for c in _SPARE if c not in taken | others][:rank]))


@dataclass(frozen=True)
class _Lowering:
    shapes: Shapes

    def relation(self, node: Rel) -> Rel:
        """Both sides at the same entry."""
        sides = [self.value(term) for term in node.terms]
        zero = [isinstance(term, (Num, Infinity)) for term in node.terms]
        shaped = [s for s, z in zip(sides, zero, strict=True) if not z]
        both = together([s for s in shaped or sides], lambda *parts: parts[0], True, "an equation")
        at = _letters(both.rank, node.terms, self.shapes.table)
        return Rel(tuple(s.at(*at) if s.rank else s.at() for s in sides), node.ops)

    def number(self, node: Expr) -> Expr:
        found = self.value(node)
        if found.rank:
            raise ShapeError(f"{found.described()} where a number is expected")
        return found.at()

    def condition(self, node: Cond) -> Cond:
        match node:
            case Rel(terms, ops):
                return Rel(tuple(map(self.number, terms)), ops)
            case And(conds):
                return And(tuple(map(self.condition, conds)))
        return node

    def value(self, node: Expr) -> Shaped:
        match node:
            case Entry():
                return self.shapes.entry(node)
            case Add(terms):
                parts = list(map(self.value, terms))
                loose = self.shapes.strict and not any(isinstance(t, Num) for t in terms)
                return together(parts, lambda *found: Add(found), loose, "a sum")
            case Mul(factors):
                return self.product(factors)
            case Pow(base, exponent):
                return self.power(base, exponent)
            case Fn(name, args) if name in MARKS:
                return self.mark(name, args)
            case Fn(name, args):
                parts = list(map(self.value, args))
                if name == "abs" and parts[0].rank:
                    raise ShapeError("bars around a vector: its length, or entry by entry? Write `\\|w\\|`, or indices")
                return together(parts, lambda *found: Fn(name, found), False, "a function")
            case Extremum(op, args):
                return together(list(map(self.value, args)), lambda *found: Extremum(op, found), False, f"a {op}imum")
            case Cases(branches):
                conds = tuple(self.condition(c) for _, c in branches)
                return together([self.value(v) for v, _ in branches],
                                lambda *found: Cases(tuple(zip(found, conds, strict=True))), False, "cases")
            case Partial(of, wrt):
                return self.partial(of, wrt)
            case Reduce():
                return self.reduce(node)
            case Bracket(cond):
                return number(Bracket(self.condition(cond)))
            case Tuple() | Cardinality():
                return number(node)
        return number(node)

    def product(self, factors: tuple[Expr, ...]) -> Shaped:
        parts = [self.value(f) for f in factors]
        if not any(p.rank for p in parts):
            return number(Mul(tuple(p.at() for p in parts)))
        numbers = [p.at() for p in parts if not p.rank]
        shaped = [p for p in parts if p.rank]
        if shaped[-1].rank == 1 and not shaped[-1].row and all(p.rank == 2 or p.row for p in shaped[:-1]):
            found = reduce(lambda right, left: times(left, right), reversed(shaped))  # x^⊤(Ay)
        else:
            found = reduce(times, shaped)
        if not numbers:
            return found
        lead = mul(*numbers)
        return Shaped(found.sizes, lambda *idx: mul(lead, found.at(*idx)), found.row)

    def power(self, base: Expr, exponent: Expr) -> Shaped:
        if isinstance(base, Fn) and base.name == NORM and exponent == Num(2) and self.order(base.args) in (Num(2), FROBENIUS):
            return number(self.squares(self.value(base.args[0])))
        of, to = self.value(base), self.value(exponent)
        if of.rank or to.rank:
            raise ShapeError("a power of a vector: its squared length, or entry by entry? Write `\\|w\\|^2`, "
                             "`w \\odot w`, or indices")
        return number(Pow(of.at(), to.at()))

    def mark(self, name: str, args: tuple[Expr, ...]) -> Shaped:
        of = self.value(args[0])
        if name == TRANSPOSE:
            return transposed(of)
        if name == NORM:
            return number(self.norm(of, self.order(args)))
        parts = [of, *map(self.value, args[1:])]
        if name == INNER:
            if any(p.rank != 1 for p in parts):
                raise ShapeError(f"an inner product of {' and '.join(p.described() for p in parts)}: state the shapes, "
                                 "as in `w \\in \\mathbb{R}^n`")
            return times(Shaped(of.sizes, of.at, True), Shaped(parts[1].sizes, parts[1].at))
        if not any(p.rank for p in parts):
            raise ShapeError("`\\odot` between numbers: state the shapes, as in `w \\in \\mathbb{R}^n`")
        return together(parts, mul, True, "an entrywise product")

    @staticmethod
    def order(args: tuple[Expr, ...]) -> Expr:
        return args[1] if len(args) > 1 else Num(2)

    def norm(self, of: Shaped, order: Expr) -> Expr:
        if not of.rank or (of.rank > 1) is not (order is FROBENIUS):
            raise ShapeError(f"a norm of {of.described()}: state its shape, as in `w \\in \\mathbb{{R}}^n`"
                             if not of.rank else "which norm of a matrix? Write `\\|W\\|_F` for the root of the sum of "
                             "all squares")
        if order in (Num(2), FROBENIUS):
            return Pow(self.squares(of), Num(Fraction(1, 2)))
        if order == Num(1):
            return summed(lambda j: Fn("abs", (of.at(j),)))
        if isinstance(order, Infinity):
            return summed(lambda j: Fn("abs", (of.at(j),)), "max")
        if isinstance(order, Num) and order.value.denominator == 1 and order.value > 2:
            to: Expr = Num(1 / order.value)
        else:
            to = Pow(order, Num(-1))
        return Pow(summed(lambda j: Pow(Fn("abs", (of.at(j),)), order)), to)

    def squares(self, of: Shaped) -> Expr:
        """The sum of all squares."""
        if of.rank == 2:
            return summed(lambda i: summed(lambda j: Pow(of.at(i, j), Num(2))))
        if of.rank != 1:
            raise ShapeError(f"a norm of {of.described()}: state its shape, as in `w \\in \\mathbb{{R}}^n`")
        return summed(lambda j: Pow(of.at(j), Num(2)))

    def partial(self, of: Expr, wrt: Expr) -> Shaped:
        """∂L/∂w has the shape of w; ∂y/∂x an axis for y and one for x."""
        above, below = self.value(of), self.value(wrt)
        return Shaped((*above.sizes, *below.sizes),
                      lambda *idx: Partial(above.at(*idx[: above.rank]), below.at(*idx[above.rank :])))

    def reduce(self, node: Reduce) -> Shaped:
        binder, inside = open_binder(node)
        body = self.value(inside)
        if body.rank and node.op != "sum":
            raise ShapeError(f"a {node.op} of vectors")
        return Shaped(body.sizes, lambda *idx: Reduce(node.op, binder, body.at(*idx)), body.row)
