"""One vector equation in indices: each value with its shape, then both sides at the same entry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from derive.expr import (
    ONE,
    Add,
    And,
    Bracket,
    Cardinality,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Infinity,
    Mul,
    Node,
    Num,
    Partial,
    Pow,
    Reduce,
    Rel,
    Size,
    Tuple,
    free_indices,
    mul,
    open_binder,
    walk,
)
from derive.notation.shapes import Shaped, ShapeError, Shapes, number, spread, summed, times, together, transposed
from derive.notation.symbols import Kind, SymbolTable

TRANSPOSE, NORM, INNER, HADAMARD, ONES = "⊤", "‖", "⟨", "⊙", "𝟏"
MARKS = frozenset((TRANSPOSE, NORM, INNER, HADAMARD, ONES))
FROBENIUS = Entry("‖F", ())
_SPARE = "ijklmpqr"

@dataclass(frozen=True)
class Lowering:
    shapes: Shapes

    def relation(self, node: Rel) -> Rel:
        """Both sides at the same entry."""
        sides = [self.value(term) for term in node.terms]
        zero = [isinstance(term, (Num, Infinity)) for term in node.terms]
        shaped = [s for s, z in zip(sides, zero, strict=True) if not z]
        both = together(list(shaped or sides), lambda *parts: parts[0], True, "an equation")
        at = letters(both.rank, node.terms, self.shapes.table)
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
                parts = spread(list(map(self.value, terms)))
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
        euclidean = isinstance(base, Fn) and base.name == NORM and self.order(base.args) in (Num(2), FROBENIUS)
        if isinstance(base, Fn) and euclidean and exponent == Num(2):
            return number(self.squares(self.value(base.args[0])))
        of, to = self.value(base), self.value(exponent)
        if of.rank or to.rank:
            raise ShapeError("a power of a vector: its squared length, or entry by entry? Write `\\|w\\|^2`, "
                             "`w \\odot w`, or indices")
        return number(Pow(of.at(), to.at()))

    def mark(self, name: str, args: tuple[Expr, ...]) -> Shaped:
        if name == ONES:
            return Shaped((args[0].name if args and isinstance(args[0], Size) else None,), lambda _: ONE)
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


def letters(rank: int, terms: Iterable[Node], table: SymbolTable) -> tuple[Idx, ...]:
    """Index letters for the entries of a claim: those of the first tensor of its rank."""
    taken = {i.name for t in terms for i in free_indices(t)}
    others = {s.name for s in table.symbols if s.kind is not Kind.INDEX}
    for node in (n for t in terms for n in walk(t) if isinstance(n, Entry)):
        known = table.named(node.tensor)
        axes = known.axes[len(node.indices) :] if known is not None else ()
        if len(axes) == rank and not taken & {*axes}:
            return tuple(map(Idx, axes))
    return tuple(map(Idx, [c for c in _SPARE if c not in taken | others][:rank]))
