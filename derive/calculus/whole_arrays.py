"""Arrays of at most two axes as vectors and matrices: their transposes, products, and sums over an index of a product.

Where factors share an index that a sum binds they are multiplied as matrices, where they share a free one entry by
entry or as a diagonal matrix, else as column times row.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import cast

import derive.expr as ex
from derive.calculus.algebra import monomial
from derive.module import Module
from derive.notation.shapes import DIAGONAL, HADAMARD, ONES, TRANSPOSE
from derive.notation.symbols import SymbolTable, is_capital, is_own
from derive.records import dataclass

Axes = tuple[ex.Idx, ...]
_ACCENTED = re.compile(r"\\(?:hat|bar|tilde|vec|dot|check)\{[^{}]*\}")
ONE_COLUMN = ex.Fn(ONES, ())
IDENTITY = ex.Fn(DIAGONAL, (ONE_COLUMN,))


class Formless(Exception):
    """No array of at most two axes."""


@dataclass(frozen=True)
class Whole:
    """The product of numbers and an array: none, a column over one index, or a matrix over rows and columns."""

    axes: Axes
    node: ex.Expr | None
    numbers: tuple[ex.Expr, ...] = ()
    terms: tuple[Whole, ...] = ()  # where the array is a sum
    over: ex.Binder | None = None  # of one term for each of these samples

    @cached_property
    def expr(self) -> ex.Expr:
        """Numbers first, those below one bar, then what rows and columns make, then the array."""
        products = [n for n in self.numbers if _is_product(n)]
        plain = [n for n in self.numbers if n not in products and not _of_arrays(n)]
        others = [n for n in self.numbers if n not in products and n not in plain]
        flat = ex.mul(monomial(ex.mul(*plain)).expr(), *others)
        parts = flat.factors if isinstance(flat, ex.Mul) else () if flat is ex.ONE else (flat,)
        under = [f for f in parts if isinstance(f, ex.Pow) and isinstance(f.exponent, ex.Num) and f.exponent.value < 0]
        powers = dict[ex.Expr, Fraction]()
        for f in under:
            powers[f.base] = powers.get(f.base, Fraction(0)) - cast(ex.Num, f.exponent).value
        below = [base if n == 1 else ex.Pow(base, ex.Num(n)) for base, n in powers.items()]
        below.sort(key=lambda f: not isinstance(f, ex.Size))
        factors = [f for f in parts if f not in under]
        if below and factors and isinstance(factors[0], ex.Num):
            below.insert(0, ex.Num(factors[0].value.denominator))
            factors[:1] = [ex.Num(factors[0].value.numerator)] if factors[0].value.numerator != 1 else []
        if below and products and not factors:
            factors = [*getattr(products.pop(0), "factors", ())]
        if not below and self.node is None and len(products) == 1 and all(isinstance(f, ex.Num) for f in factors):
            products = [*getattr(products[0], "factors", products)]  # −x^⊤ w
        factors += [*([ex.Pow(ex.mul(*below), ex.MINUS_ONE)] if below else []), *products]
        if self.node is not None:
            factors += self.node.factors if isinstance(self.node, ex.Mul) else (self.node,)
        return ex.ONE if not factors else factors[0] if len(factors) == 1 else ex.Mul(tuple(factors))

    @property
    def array(self) -> ex.Expr:
        """The array without its numbers."""
        return ONE_COLUMN if self.node is None else self.node

    def turned(self) -> Whole:
        """The transpose, taken into sums where it is no longer there."""
        inside = tuple(t.turned() for t in self.terms)
        if self.over is not None:
            return replace(summed(self.over, *inside), numbers=self.numbers)
        node = ex.Add(tuple(t.expr for t in inside)) if inside else transposed(self.array)
        if inside and _turns(node) > _turns(self.array) + 1:
            inside, node = (), transposed(self.array)
        return Whole(self.axes[::-1], node, self.numbers, inside)


def summed(over: ex.Binder, term: Whole) -> Whole:
    """Σ_n of what is an array for each n."""
    node = ex.Reduce("sum", over, term.expr)
    return Whole(term.axes, node, (), (term,), over) if term.axes else Whole((), None, (node,))


def _is_product(node: ex.Expr) -> bool:
    """A number that a row and a column make."""
    return any(isinstance(n, ex.Fn) and n.name == TRANSPOSE for n in getattr(node, "factors", ()))


def transposed(node: ex.Expr) -> ex.Expr:
    """A^⊤, taken into products."""
    match node:
        case ex.Fn(name, (inner,)) if name == TRANSPOSE:
            return inner
        case ex.Fn(name, _) if name == DIAGONAL:
            return node
        case ex.Add(terms) if all(map(_is_symmetric, terms)):
            return node
        case ex.Mul(factors):
            return ex.Mul(tuple(map(transposed, reversed(factors))))
    return ex.Fn(TRANSPOSE, (node,))


def _of_arrays(node: ex.Expr) -> bool:
    """A row times a column stands in it: its factors keep their order, as in 1 / (1^⊤ e^x)."""
    return any(isinstance(n, ex.Fn) and n.name == TRANSPOSE for n in ex.walk(node))


def _is_symmetric(node: ex.Expr) -> bool:
    """A diagonal matrix or u u^⊤, times numbers."""
    *numbers, u, v = (ex.ONE, *node.factors) if isinstance(node, ex.Mul) else (ex.ONE, node)
    pair = v is ex.Fn(TRANSPOSE, (u,))
    return (pair or (isinstance(v, ex.Fn) and v.name == DIAGONAL)) and all(
        isinstance(f, (ex.Num, ex.Size, ex.Pow)) for f in (numbers if pair else (*numbers, u)))


def by_entries(node: ex.Node, table: SymbolTable, form: str) -> bool:
    """A function of a vector or matrix stands in a formula that is written as ``form``, entry by entry."""
    functions = (n for n in ex.walk(node) if isinstance(n, ex.Fn | ex.Extremum | ex.Bracket)
                 or isinstance(n, ex.Pow) and not isinstance(n.exponent, ex.Num))
    return any(isinstance(e, ex.Entry) and ex.free_indices(e) & ex.free_indices(f) and lettered(e.tensor, table, form)
               for f in functions for e in ex.walk(f))


def _turns(node: ex.Expr) -> int:
    return sum(isinstance(n, ex.Fn) and n.name == TRANSPOSE for n in ex.walk(node))


def product(*parts: ex.Expr) -> ex.Expr:
    """A B …"""
    return ex.Mul(tuple(chain(*(p.factors if isinstance(p, ex.Mul) else (p,) for p in parts))))


def entrywise(parts: list[ex.Expr]) -> ex.Expr:
    """a ⊙ b ⊙ …, diagonal matrices and ones taken together."""
    flat = [a for p in parts for a in (p.args if isinstance(p, ex.Fn) and p.name == HADAMARD else (p,))]
    kept = [p for p in flat if p is not ONE_COLUMN] or [ONE_COLUMN]
    return kept[0] if len(kept) == 1 else ex.Fn(HADAMARD, tuple(kept))


def network(parts: list[Whole], bound: Axes) -> Whole:
    """Σ over the bound indices of a product of arrays, one index after the other.

    What is left is diag(u) A diag(v), u v^⊤ where there is no A, diag(u ⊙ v) where A is the identity.
    """
    numbers = tuple(n for p in parts for n in p.numbers)
    parts = merged([replace(p, numbers=()) for p in parts if p.axes])
    while bound:
        index = min(bound, key=lambda v: len({i for p in parts if v in p.axes for i in p.axes}))
        bound = tuple(v for v in bound if v is not index)
        done = eliminated([p for p in parts if index in p.axes], index)
        numbers += done.numbers
        parts = merged([*(p for p in parts if index not in p.axes), *([done] if done.axes else [])])
    if len(parts) < 2:
        return replace(parts[0], numbers=numbers) if parts else Whole((), None, numbers)
    parts.sort(key=lambda p: -len(p.axes))
    axes = parts[0].axes if len(parts[0].axes) == 2 else (parts[0].axes + parts[1].axes)
    if any(not {*p.axes} <= {*axes} for p in parts):
        raise Formless
    ends = [[p.array for p in parts if p.axes == (i,)] for i in axes]
    if len(parts[0].axes) == 1:
        return Whole(axes, product(*ends[0], *map(transposed, ends[1])), numbers)
    if parts[0].node is IDENTITY:
        return Whole(axes, ex.Fn(DIAGONAL, (entrywise([*ends[0], *ends[1]]),)), numbers)
    left, right = ([ex.Fn(DIAGONAL, (e,)) for e in end] for end in ends)
    return Whole(axes, product(*left, parts[0].array, *right), numbers)


def merged(parts: list[Whole]) -> list[Whole]:
    """Arrays over the same indices as one, entry by entry."""
    found: dict[frozenset[ex.Idx], list[Whole]] = {}
    for p in parts:
        found.setdefault(frozenset(p.axes), []).append(p)
    return [own[0] if len(own) == 1 else Whole(own[0].axes, entrywise(
        [(p if p.axes == own[0].axes else p.turned()).array for p in own])) for own in found.values()]


def eliminated(parts: list[Whole], index: ex.Idx) -> Whole:
    """Σ_v of all arrays over v: an inner product, a matrix on a vector, a product of two matrices."""
    vectors = [p.array for p in parts if len(p.axes) == 1]
    matrices = [p for p in parts if len(p.axes) == 2]
    if not parts or len(matrices) > 2:
        raise Formless
    if not matrices:
        left, right = halves(vectors[0])
        return Whole((), None, (product(transposed(left), right),))
    if len(matrices) == 1:
        (matrix,) = matrices
        left = (matrix if matrix.axes[1] is index else matrix.turned()).array
        return Whole(tuple(i for i in matrix.axes if i is not index), product(left, *(vectors or [ONE_COLUMN])))
    first, second = matrices
    first, second = (first if first.axes[1] is index else first.turned()), (
        second if second.axes[0] is index else second.turned())
    middle = [ex.Fn(DIAGONAL, (v,)) for v in vectors]
    return Whole((first.axes[0], second.axes[1]), product(first.array, *middle, second.array))


def halves(node: ex.Expr) -> tuple[ex.Expr, ex.Expr]:
    """u and v ⊙ … of u ⊙ v ⊙ …, whose inner product is the sum of all entries; ones and u of u alone."""
    if isinstance(node, ex.Fn) and node.name == HADAMARD:
        first, *others = sorted(node.args, key=lambda a: (
            isinstance(a, ex.Add), isinstance(a, ex.Entry) and a.tensor.startswith("delta_")))
        return first, entrywise(others)
    return ONE_COLUMN, node


def lettered(name: str, table: SymbolTable, form: str) -> tuple[ex.Entry, tuple[int | str, ...]] | None:
    """The letter that a gradient or tensor has in a formula of vectors, and its sizes: of x, and of x_n where the card
    writes these; None of a number, and of the t_n of a vector t.
    """
    own = name if is_own(table.named(name)) else name.removeprefix("delta_")
    symbol, written = table.named(own), table.named(name)
    if symbol is None or not symbol.axes or len(symbol.sizes) != len(symbol.axes):
        return None
    if symbol.unwritten and not is_capital(own):
        before = len(symbol.axes) - symbol.unwritten
        return ex.Entry(own, tuple(map(ex.Idx, symbol.axes[:before]))), symbol.sizes[before:]
    latex = (written or symbol).latex
    others = _ACCENTED.sub(lambda m: m[0] if latex.startswith(m[0]) else "", form)
    stands = re.search(rf"(?<![\\\w]){re.escape(latex)}(?![_^]\{{|\w)", others)
    return (ex.Entry(own, ()), symbol.sizes) if stands or len(symbol.axes) > 1 and not symbol.above else None


def in_rows(node: ex.Expr, module: Module) -> ex.Expr:
    """The same where the letters of vectors are rows: x is the transpose of a column."""
    def turned(n: ex.Node) -> ex.Node | None:
        if isinstance(n, ex.Entry):
            symbol = module.table.named(n.tensor)
            return ex.Fn(TRANSPOSE, (n,)) if symbol is not None and len(symbol.axes) == 1 else None
        if not isinstance(n, ex.Fn):
            return None
        inner = [a.args[0] for a in n.args if isinstance(a, ex.Fn) and a.name == TRANSPOSE]
        if len(inner) != len(n.args) or not inner:
            return None
        if n.name == TRANSPOSE:
            return inner[0]
        return ex.Fn(DIAGONAL, tuple(inner)) if n.name == DIAGONAL else ex.Fn(TRANSPOSE, (ex.Fn(n.name, tuple(inner)),))

    return ex.transform(node, turned, ex.Entry, ex.Fn)
