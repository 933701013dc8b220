"""Values with their shapes, and vector notation at an entry: (Wx + b)_k is Σ_j W_{kj} x_j + b_k."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from fractions import Fraction
from functools import reduce
from typing import TypeGuard

import derive.expr as ex
from derive.notation.symbols import Kind, SymbolTable
from derive.records import dataclass

_AS_IN = r"`W \in \mathbb{R}^{m \times n}` and `x \in \mathbb{R}^{n}`"
Extent = int | str | None
At = Callable[..., ex.Expr]


class ShapeError(Exception):
    """Two shapes that do not fit, or two readings of a product; ``nodes`` are where, the innermost first."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.nodes: list[ex.Node] = []


@dataclass(frozen=True)
class Shaped:
    """A value of rank ``len(sizes)``; ``row`` for a transposed vector; ``at`` gives the entry at its indices.

    A diagonal matrix has its ``diagonal``; ``column``: all entries below one another, their indices taken as one.
    """

    sizes: tuple[Extent, ...]
    at: At
    row: bool = False
    diagonal: Shaped | None = None
    column: bool = False

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def described(self) -> str:
        if not self.rank:
            return "a number"
        if self.column:
            return "a column of all entries"
        return "a row" if self.row else "a vector" if self.rank == 1 else "a matrix" if self.rank == 2 else "a tensor"


def number(value: ex.Expr) -> Shaped:
    return Shaped((), lambda: value)


def agreed(left: Extent, right: Extent) -> Extent:
    """The common extent of two axes.

    Raises :class:`ShapeError` where they differ.
    """
    if left is not None and right is not None and left != right:
        raise ShapeError(f"lengths {left} and {right} do not fit: state shapes that do, as in {_AS_IN}")
    return left if left is not None else right


def together(parts: list[Shaped], build: Callable[..., ex.Expr], strict: bool, what: str) -> Shaped:
    """Entry by entry; a number goes with every entry."""
    shaped = [p for p in parts if p.rank]
    if not shaped:
        return number(build(*(p.at() for p in parts)))
    first = shaped[0]
    if any((p.rank, p.row, p.column) != (first.rank, first.row, first.column) for p in shaped):
        kinds = " and ".join(dict.fromkeys(p.described() for p in shaped))
        raise ShapeError(f"{what} of {kinds}: both sides need one shape; state the shapes, as in {_AS_IN}")
    if strict and len(shaped) != len(parts):
        raise ShapeError(f"{what} of a number and {first.described()}: state the shapes, as in {_AS_IN}")
    sizes = first.sizes
    for other in shaped[1:]:
        sizes = tuple(map(agreed, sizes, other.sizes))
    return Shaped(sizes, lambda *idx: build(*(p.at(*idx) if p.rank else p.at() for p in parts)), first.row,
                  column=first.column)


def spread(parts: list[Shaped], trial: bool) -> list[Shaped]:
    """The terms of a sum, among matrices a row at each row, a vector where its length fits only one axis.

    Raises :class:`ShapeError` where it fits both, and not only whether it fits is asked.
    """
    matrices = [p for p in parts if p.rank == 2]
    sizes = [next((p.sizes[axis] for p in matrices if p.sizes[axis] is not None), None) for axis in (0, 1)]

    def along(part: Shaped) -> Shaped:
        known = part.sizes[0] if part.rank == 1 else None
        axes = [axis for axis in ((1,) if part.row else (0, 1)) if None in (known, sizes[axis]) or known == sizes[axis]]
        if part.rank != 1 or not matrices or not axes:
            return part
        if len(axes) > 1 and not trial:
            raise ShapeError("a sum of a matrix and a vector: is the vector added to each row, or to each column? "
                             "State the shapes, as in `X \\in \\mathbb{R}^{m \\times n}` and `b \\in \\mathbb{R}^{n}`")
        return Shaped((sizes[0], sizes[1]), lambda *idx: part.at(idx[axes[-1]]))

    return list(map(along, parts))


def summed(body: Callable[[ex.Idx], ex.Expr], op: str = "sum") -> ex.Expr:
    """Σ_j body(j), over all j that keep every index in range."""
    j = ex.fresh_index()
    return ex.Reduce(op, ex.Binder((j,), (None,), (None,), None), body(j))


def over(axes: int, body: Callable[..., ex.Expr]) -> ex.Expr:
    """Σ_{i,j} body(i, j)."""
    indices = tuple(ex.fresh_index() for _ in range(axes))
    none = (None,) * axes
    return ex.Reduce("sum", ex.Binder(indices, none, none, None), body(*indices))


def share(value: ex.Expr, others: Callable[[ex.Idx], ex.Expr]) -> ex.Expr:
    """e^value / Σ_j e^{others(j)}."""
    return ex.mul(ex.Fn("exp", (value,)), ex.Pow(summed(lambda j: ex.Fn("exp", (others(j),))), ex.MINUS_ONE))


def times(left: Shaped, right: Shaped) -> Shaped:
    """The product of two neighbours: number, matrix, row and vector."""
    if not left.rank or not right.rank:
        return together([left, right], ex.mul, False, "a product")
    if right.column and left.rank == 2 * right.rank and not left.column:  # (S vec(x))_{kl} = Σ_{i,j} S_{klij} x_{ij}
        axes = len(tuple(map(agreed, left.sizes[right.rank:], right.sizes)))
        return Shaped(left.sizes[:axes], lambda *out: over(axes, lambda *j: ex.mul(left.at(*out, *j), right.at(*j))),
                      column=True)
    if right.diagonal is not None and left.rank == 2:  # (A diag(d))_{km} = A_{km} d_m
        agreed(left.sizes[1], right.sizes[0])
        scale = right.diagonal
        return Shaped(left.sizes, lambda k, m: ex.mul(left.at(k, m), scale.at(m)))
    if left.diagonal is not None and right.rank and not right.row:  # (diag(d) A)_{km} = d_k A_{km}
        agreed(left.sizes[1], right.sizes[0])
        own = left.diagonal
        return Shaped(right.sizes, lambda k, *m: ex.mul(own.at(k), right.at(k, *m)))
    match (left.rank, left.row, right.rank, right.row):
        case (1, True, 1, False):
            agreed(left.sizes[0], right.sizes[0])
            return number(summed(lambda j: ex.mul(left.at(j), right.at(j))))
        case (2, _, 1, False):
            agreed(left.sizes[1], right.sizes[0])
            return Shaped(left.sizes[:1], lambda k: summed(lambda j: ex.mul(left.at(k, j), right.at(j))))
        case (1, True, 2, _):
            agreed(left.sizes[0], right.sizes[0])
            return Shaped(right.sizes[1:], lambda k: summed(lambda j: ex.mul(left.at(j), right.at(j, k))), True)
        case (2, _, 2, _):
            agreed(left.sizes[1], right.sizes[0])
            return Shaped((left.sizes[0], right.sizes[1]),
                          lambda k, m: summed(lambda j: ex.mul(left.at(k, j), right.at(j, m))))
        case (1, False, 1, True):
            return Shaped((*left.sizes, *right.sizes), lambda k, j: ex.mul(left.at(k), right.at(j)))
        case (1, False, 1, False):
            raise ShapeError("a product of two vectors: the inner product, or entry by entry? Write `w^\\top x` or "
                             "`w \\odot x`")
    raise ShapeError(f"a product of {left.described()} and {right.described()}: state the shapes, as in {_AS_IN}, or "
                     "transpose one, as in `w^\\top x`")


def transposed(of: Shaped) -> Shaped:
    match of.rank:
        case 1:
            return Shaped(of.sizes, of.at, not of.row)
        case 2:
            return Shaped(of.sizes[::-1], lambda i, j: of.at(j, i))
        case n if n % 2 == 0 and n and not of.column:  # the first half of the indices taken as one, and the other
            half = n // 2
            return Shaped((*of.sizes[half:], *of.sizes[:half]), lambda *idx: of.at(*idx[half:], *idx[:half]))
    raise ShapeError(f"a transpose of {of.described()}: state its shape, as in `w \\in \\mathbb{{R}}^{{n}}`")


def part(of: Shaped, at: tuple[ex.Expr, ...]) -> Shaped:
    """(W x)_k; the row W_{k,:} and the column W_{:,k}."""
    if of.rank != len(at):
        raise ShapeError(f"{len(at)} ind{'ex' if len(at) == 1 else 'ices'} at {of.described()}: state the shapes, as "
                         f"in {_AS_IN}")
    left = [n for n, index in enumerate(at) if index is ALL]

    def entry(*idx: ex.Expr) -> ex.Expr:
        own = dict(zip(left, idx, strict=True))
        return of.at(*(own.get(n, index) for n, index in enumerate(at)))

    return Shaped(tuple(of.sizes[n] for n in left), entry)


def is_row(node: ex.Expr) -> bool:
    """W_{k,:} in front of a vector or a matrix; elsewhere it is a vector as others are."""
    return isinstance(node, ex.Fn) and node.name == AT and [i is ALL for i in node.args] == [False, False, True]


def vectorised(of: Shaped) -> Shaped:
    """vec(x): all entries below one another, the last index running first."""
    if of.rank < 2:
        raise ShapeError(f"all entries of {of.described()} as a column: state its shape, as in `X \\in "
                         "\\mathbb{R}^{m \\times n}`")
    return replace(of, column=True)


def diagonal(of: Shaped) -> Shaped:
    """diag(p)_{ik} = p_i [i = k]."""
    if of.rank != 1:
        raise ShapeError(f"a diagonal matrix of {of.described()}: state its shape, as in `w \\in \\mathbb{{R}}^{{n}}`")
    return Shaped((*of.sizes, *of.sizes), lambda i, k: ex.mul(of.at(i), ex.Bracket(ex.eq(i, k))), diagonal=of)


TRANSPOSE, NORM, INNER, HADAMARD, STARRED, ONES, DIAGONAL, COLUMN = "⊤", "‖", "⟨", "⊙", "*", "𝟏", "⟍", "⫾"
AT, ALL = "⌟", ex.Entry(":", ())  # (W x)_k, W_{k,:}
ARRANGED = {"diag": DIAGONAL, "vec": COLUMN}
EXTREMES = {"max": "⋁", "min": "⋀"}  # of all entries
SOFTMAX, SOFTMAX_OVER = "softmax", "softmax over"
AXES = {"rows": "softmax of rows", "columns": "softmax of columns"}
SOFTMAXES = (SOFTMAX, SOFTMAX_OVER, *AXES.values())
MARKS = frozenset((TRANSPOSE, NORM, INNER, HADAMARD, STARRED, ONES, DIAGONAL, COLUMN, AT, *EXTREMES.values(),
                   *SOFTMAXES))
FROBENIUS = ex.Entry("‖F", ())
_SPARE = "ijklmpqr"


@dataclass(frozen=True)
class Lowering:
    """Values under the shapes that a table declares; ``ranks`` supposes how many axes a letter leaves out.

    ``trial``: only whether the shapes fit is asked; ``entrywise``: beside a ⊙ and in diag(h^2), where h^2 is
    h ⊙ h.
    """

    table: SymbolTable
    ranks: Mapping[str, int] = field(default_factory=dict)
    trial: bool = False
    entrywise: bool = False

    def supposes(self, node: ex.Expr) -> bool:
        """Whether ranks are supposed in the node: then it is no number that goes with every entry of a vector."""
        return bool(self.ranks) and any(isinstance(n, ex.Entry) and n.tensor in self.ranks for n in ex.walk(node))

    def entry(self, node: ex.Entry) -> Shaped:
        """w, w_k or w_{kj}: what its indices leave open."""
        known, written = self.table.named(node.tensor), len(node.indices)
        axes = len(known.axes) if known is not None and known.kind is Kind.TENSOR else written
        rank = max(axes - written, 0) + (self.ranks.get(node.tensor, 0) if written <= axes else 0)
        sizes = known.sizes[written:] if known is not None and len(known.sizes) == axes else ()
        own: tuple[Extent, ...] = tuple(s or None for s in sizes) if len(sizes) == rank else (None,) * rank
        row = self.table.rows or (known is not None and known.row)
        return Shaped(own, lambda *more: ex.Entry(node.tensor, (*node.indices, *more)), row and rank == 1)

    def relation(self, node: ex.Rel) -> ex.Rel:
        """Both sides at the same entry."""
        try:
            return self.sides(node)
        except ShapeError as error:
            error.nodes.append(node.terms[0])
            raise

    def sides(self, node: ex.Rel) -> ex.Rel:
        sides = [self.value(term) for term in node.terms]
        head, last = node.terms[0], node.terms[-1]
        if isinstance(head, ex.Entry) and head.indices and not sides[0].rank and (
                isinstance(head.indices[-1], ex.Idx)) and (
                isinstance(last, ex.Fn) and last.name == SOFTMAX and sides[-1].rank == 1):
            sides[-1] = number(sides[-1].at(head.indices[-1]))  # p_k = softmax(z)
        zero = [isinstance(term, (ex.Num, ex.Infinity)) for term in node.terms]
        shaped = [s for s, z in zip(sides, zero, strict=True) if not z]
        both = together(list(shaped or sides), lambda *parts: parts[0], True, "an equation")
        at = axis_letters(both.rank, node.terms, self.table)
        return ex.Rel(tuple(s.at(*at) if s.rank else s.at() for s in sides), node.ops)

    def number(self, node: ex.Expr) -> ex.Expr:
        found = self.value(node)
        if found.rank:
            raise ShapeError(f"{found.described()} where a number is expected")
        return found.at()

    def condition(self, node: ex.Cond) -> ex.Cond:
        match node:
            case ex.Rel(terms, ops):
                return ex.Rel(tuple(map(self.number, terms)), ops)
            case ex.And(conds):
                return ex.And(tuple(map(self.condition, conds)))
        return node

    def value(self, node: ex.Expr) -> Shaped:
        """The value with its shape."""
        try:
            return self.shaped(node)
        except ShapeError as error:
            error.nodes.append(node)
            raise

    def shaped(self, node: ex.Expr) -> Shaped:
        match node:
            case ex.Entry():
                return self.entry(node)
            case ex.Add(terms):
                parts = spread(list(map(self.value, terms)), self.trial)
                strict = any(not p.rank and self.supposes(t) for p, t in zip(parts, terms, strict=True))
                return together(parts, lambda *found: ex.Add(found), strict, "a sum")
            case ex.Mul(factors):
                return self.product(factors)
            case ex.Pow(base, exponent):
                return self.power(base, exponent)
            case ex.Fn(name, args) if name in MARKS:
                return self.mark(name, args)
            case ex.Fn(name, args):
                parts = list(map(self.value, args))
                if name == "abs" and parts[0].rank:
                    raise ShapeError("bars around a vector: its length, or entry by entry? Write `\\|w\\|`, or indices")
                return together(parts, lambda *found: ex.Fn(name, found), False, "a function")
            case ex.Extremum(op, args):
                return together(list(map(self.value, args)), lambda *found: ex.Extremum(op, found), False,
                                f"a {op}imum")
            case ex.Cases(branches):
                conds = tuple(self.condition(c) for _, c in branches)
                return together([self.value(v) for v, _ in branches],
                                lambda *found: ex.Cases(tuple(zip(found, conds, strict=True))), False, "cases")
            case ex.Partial(of, wrt):
                return self.partial(of, wrt)
            case ex.Reduce():
                return self.reduce(node)
            case ex.Bracket(ex.Rel(terms, ops)):
                return together(list(map(self.value, terms)), lambda *found: ex.Bracket(ex.Rel(found, ops)), False,
                                "a comparison")
            case ex.Bracket(cond):
                return number(ex.Bracket(self.condition(cond)))
            case ex.Tuple() | ex.Cardinality():
                return number(node)
        return number(node)

    def product(self, factors: tuple[ex.Expr, ...]) -> Shaped:
        parts = [self.value(f) for f in factors]
        for n, (own, behind) in enumerate(itertools.pairwise(factors)):
            turned = isinstance(behind, ex.Fn) and behind.name == TRANSPOSE and is_row(behind.args[0])
            if is_row(own) and parts[n + 1].rank and (turned or not parts[n + 1].row):
                parts[n], parts[n + 1] = replace(parts[n], row=True), replace(parts[n + 1], row=False)
            if is_row(behind) and isinstance(own, ex.Fn) and own.name == TRANSPOSE and is_row(own.args[0]):
                raise ShapeError("rows of matrices, one transposed: an inner product, or a matrix? Write it in indices")
        if not any(p.rank for p in parts):
            return number(ex.Mul(tuple(p.at() for p in parts)))
        numbers = [p.at() for p in parts if not p.rank]
        shaped = [p for p in parts if p.rank]
        if shaped[-1].rank == 1 and not shaped[-1].row and all(p.rank == 2 or p.row for p in shaped[:-1]):
            found = reduce(lambda right, left: times(left, right), reversed(shaped))  # x^⊤(Ay)
        else:
            found = reduce(times, shaped)
        if not numbers:
            return found
        lead = ex.mul(*numbers)
        return Shaped(found.sizes, lambda *idx: ex.mul(lead, found.at(*idx)), found.row, column=found.column)

    def power(self, base: ex.Expr, exponent: ex.Expr) -> Shaped:
        euclidean = isinstance(base, ex.Fn) and base.name == NORM and self.order(base.args) in (ex.Num(2), FROBENIUS)
        if isinstance(base, ex.Fn) and euclidean and exponent == ex.Num(2):
            return number(self.squares(self.value(base.args[0])))
        of, to = self.value(base), self.value(exponent)
        if self.entrywise and of.rank and not to.rank:
            return Shaped(of.sizes, lambda *idx: ex.Pow(of.at(*idx), to.at()), of.row)
        inverse = isinstance(exponent, ex.Num) and exponent.value < 0 and isinstance(base, ex.Add)
        if inverse and of.rank == 1:  # 1/(1 + e^{-z}) of a vector: it has no other inverse
            return Shaped(of.sizes, lambda *idx: ex.Pow(of.at(*idx), exponent), of.row)
        if of.rank == 2 and (inverse or is_square(ex.Pow(base, exponent))):
            if self.trial:
                return of
            if inverse:
                raise ShapeError("an inverse of a matrix is outside the notation; if they are numbers, say so, as in "
                                 "`A \\in \\mathbb{R}`")
            raise ShapeError("a power of a matrix is outside the notation: write `A A`, or say that it is a number, as "
                             "in `A \\in \\mathbb{R}`")
        if of.rank or to.rank:
            shaped = of if of.rank else to
            raise ShapeError(f"a power of {shaped.described()}: its squared length, or entry by entry? Write "
                             "`\\|w\\|^2`, `w \\odot w`, or indices")
        return number(ex.Pow(of.at(), to.at()))

    def mark(self, name: str, args: tuple[ex.Expr, ...]) -> Shaped:
        if name == ONES:
            return Shaped((args[0].name if args and isinstance(args[0], ex.Size) else None,), lambda _: ex.ONE)
        if name == HADAMARD:
            return self.entries(args)
        of = (replace(self, entrywise=True) if name == DIAGONAL else self).value(args[0])
        if name == AT:
            return part(of, args[1:])
        if name in SOFTMAXES:
            return self.softmax(name, args, of)
        if name == TRANSPOSE:
            return transposed(of)
        if name == DIAGONAL:
            return diagonal(of)
        if name == COLUMN:
            return vectorised(of)
        if name == NORM:
            return number(self.norm(of, self.order(args)))
        if name in EXTREMES.values():
            return number(self.extreme(of, next(op for op, sign in EXTREMES.items() if sign == name)))
        parts = [of, *map(self.value, args[1:])]
        if name == INNER:
            if any(p.rank != 1 for p in parts):
                raise ShapeError(f"an inner product of {' and '.join(p.described() for p in parts)}: state the shapes, "
                                 "as in `w \\in \\mathbb{R}^n`")
            return times(Shaped(of.sizes, of.at, True), Shaped(parts[1].sizes, parts[1].at))
        return self.starred(parts)

    def entries(self, args: tuple[ex.Expr, ...]) -> Shaped:
        """a ⊙ b."""
        parts = list(map(replace(self, entrywise=True).value, args))
        if not any(p.rank for p in parts):
            raise ShapeError("`\\odot` between numbers: state the shapes, as in `w \\in \\mathbb{R}^n`")
        return together(parts, ex.mul, True, "an entrywise product")

    def starred(self, parts: list[Shaped]) -> Shaped:
        """f * c entry by entry, of one shape; of matrices that has to be stated."""
        shaped = [p for p in parts if p.rank]
        unknown = any(p.rank > 1 and None in p.sizes for p in shaped)
        if len(shaped) > 1 and (len({(p.rank, p.row) for p in shaped}) > 1 or (unknown and not self.trial)):
            raise ShapeError(f"`*` between {' and '.join(p.described() for p in shaped)}: entry by entry, a product, "
                             "or a convolution? Write `a \\odot b`, `W x`, or its entries")
        return together(parts, ex.mul, False, "an entrywise product")

    def softmax(self, name: str, args: tuple[ex.Expr, ...], of: Shaped) -> Shaped:
        """e^{z_k} / Σ_j e^{z_j}, of a vector, of an entry over its last index, of the rows or columns of a matrix."""
        index = args[1] if len(args) > 1 else args[0].indices[-1] if isinstance(args[0], ex.Entry) and args[
            0].indices else None
        if name in (SOFTMAX, SOFTMAX_OVER) and not of.rank and len(args) < 3 and isinstance(index, ex.Idx):
            return number(share(of.at(), lambda j: ex.subst(of.at(), {index: j})))
        if of.rank == 1 and name == SOFTMAX:
            return Shaped(of.sizes, lambda k: share(of.at(k), of.at), of.row)
        along = name if name in AXES.values() else AXES.get(self.table.softmax)
        if of.rank == 2 and along == AXES["rows"]:
            return Shaped(of.sizes, lambda i, k: share(of.at(i, k), lambda j: of.at(i, j)))
        if of.rank == 2 and along == AXES["columns"]:
            return Shaped(of.sizes, lambda k, i: share(of.at(k, i), lambda j: of.at(j, i)))
        if of.rank == 2 and name == SOFTMAX:
            raise ShapeError(r"a softmax of a matrix: of each row, or of each column? Write `\operatorname{softmax}_"
                             r"{\text{rows}}(S)`, or `A_{ij} = \frac{e^{S_{ij}}}{\sum_k e^{S_{ik}}}`")
        raise ShapeError(f"a softmax of {of.described()}: state the shape, as in `z \\in \\mathbb{{R}}^n`")

    @staticmethod
    def extreme(of: Shaped, op: str) -> ex.Expr:
        """The largest or smallest of all entries."""
        if of.rank not in (1, 2):
            raise ShapeError(f"`\\{op}` over what? Write the indices below it, `\\{op}_{{…}}`")
        return summed(of.at, op) if of.rank == 1 else summed(lambda i: summed(lambda j: of.at(i, j), op), op)

    @staticmethod
    def order(args: tuple[ex.Expr, ...]) -> ex.Expr:
        return args[1] if len(args) > 1 else ex.Num(2)

    def norm(self, of: Shaped, order: ex.Expr) -> ex.Expr:
        if not of.rank or (of.rank > 1) is not (order is FROBENIUS):
            raise ShapeError(f"a norm of {of.described()}: state its shape, as in `w \\in \\mathbb{{R}}^n`"
                             if not of.rank else "which norm of a matrix? Write `\\|W\\|_F` for the root of the sum of "
                             "all squares")
        if order in (ex.Num(2), FROBENIUS):
            return ex.Pow(self.squares(of), ex.Num(Fraction(1, 2)))
        if order == ex.Num(1):
            return summed(lambda j: ex.Fn("abs", (of.at(j),)))
        if isinstance(order, ex.Infinity):
            return summed(lambda j: ex.Fn("abs", (of.at(j),)), "max")
        if isinstance(order, ex.Num) and order.value.denominator == 1 and order.value > 2:
            to: ex.Expr = ex.Num(1 / order.value)
        else:
            to = ex.Pow(order, ex.Num(-1))
        return ex.Pow(summed(lambda j: ex.Pow(ex.Fn("abs", (of.at(j),)), order)), to)

    def squares(self, of: Shaped) -> ex.Expr:
        """The sum of all squares."""
        if of.rank == 2:
            return summed(lambda i: summed(lambda j: ex.Pow(of.at(i, j), ex.Num(2))))
        if of.rank != 1:
            raise ShapeError(f"a norm of {of.described()}: state its shape, as in `w \\in \\mathbb{{R}}^n`")
        return summed(lambda j: ex.Pow(of.at(j), ex.Num(2)))

    def partial(self, of: ex.Expr, wrt: ex.Expr) -> Shaped:
        """∂L/∂w has the shape of w; ∂y/∂x an axis for y and one for x."""
        above, below = self.value(of), self.value(wrt)
        return Shaped((*above.sizes, *below.sizes),
                      lambda *idx: ex.Partial(above.at(*idx[: above.rank]), below.at(*idx[above.rank :])))

    def reduce(self, node: ex.Reduce) -> Shaped:
        binder, inside = ex.open_binder(node)
        body = self.value(inside)
        if body.rank and node.op != "sum":
            raise ShapeError(f"a {node.op} of vectors")
        return Shaped(body.sizes, lambda *idx: ex.Reduce(node.op, binder, body.at(*idx)), body.row)


def is_square(node: ex.Node) -> TypeGuard[ex.Pow]:
    """A^2, A^3 of a whole letter."""
    match node:
        case ex.Pow(ex.Entry(_, ()), ex.Num(power)):
            return power.denominator == 1 < power
    return False


def axis_letters(rank: int, terms: Iterable[ex.Node], table: SymbolTable) -> tuple[ex.Idx, ...]:
    """Index letters for the entries of a claim: those of the first tensor of its rank."""
    taken = {i.name for t in terms for i in ex.free_indices(t)}
    others = {part for s in table.symbols if s.kind is not Kind.INDEX for part in (s.name, s.name.partition("_")[0])}
    for node in (n for t in terms for n in ex.walk(t) if isinstance(n, ex.Entry)):
        known = table.named(node.tensor)
        axes = known.axes[len(node.indices) :] if known is not None else ()
        if len(axes) == rank and not taken & {*axes}:
            return tuple(map(ex.Idx, axes))
    free = [c for c in _SPARE if c not in taken | others][:rank]
    if len(free) < rank:
        raise ShapeError("more axes than there are letters for their entries: write them with indices")
    return tuple(map(ex.Idx, free))
