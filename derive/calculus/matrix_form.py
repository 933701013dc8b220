r"""\delta_x = W^\top \delta_y of δ_{x,i} = Σ_k δ_{y,k} W_{ki}: a formula of entries as one of vectors and matrices.

Found by what is contracted, not by the layer: each value is an array over its free indices, at most two of them.
Where factors share an index that a sum binds they are multiplied as matrices, where they share a free one entry by
entry or as a diagonal matrix, else as column times row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from itertools import chain
from math import prod
from typing import cast

import derive.expr as ex
from derive.calculus.algebra import monomial
from derive.calculus.ranges import natural
from derive.calculus.selection import selected
from derive.functions import FUNCTIONS
from derive.module import Module
from derive.notation.shapes import DIAGONAL, HADAMARD, ONES, TRANSPOSE
from derive.notation.symbols import is_capital
from derive.records import dataclass

Axes = tuple[ex.Idx, ...]
_ONES = ex.Fn(ONES, ())
_IDENTITY = ex.Fn(DIAGONAL, (_ONES,))
_MOST = 6  # terms of a sum that are multiplied out
_MOST_PRODUCTS = 256  # that come of it


class Formless(Exception):
    """No array of at most two axes."""


@dataclass(frozen=True)
class Whole:
    """The product of numbers and an array: none, a column over one index, or a matrix over rows and columns."""

    axes: Axes
    node: ex.Expr | None
    numbers: tuple[ex.Expr, ...] = ()
    terms: tuple[Whole, ...] = ()  # where the array is a sum

    @cached_property
    def expr(self) -> ex.Expr:
        """Numbers first, those below one bar, then what rows and columns make, then the array."""
        products = [n for n in self.numbers if _is_product(n)]
        plain = [n for n in self.numbers if n not in products and not _of_arrays(n)]
        others = [n for n in self.numbers if n not in products and n not in plain]
        flat = ex.mul(monomial(ex.mul(*plain)).expr(), *others)
        parts = flat.factors if isinstance(flat, ex.Mul) else () if flat is ex.ONE else (flat,)
        under = {f: f.base if f.exponent.value == -1 else ex.Pow(f.base, ex.Num(-f.exponent.value)) for f in parts
                 if isinstance(f, ex.Pow) and isinstance(f.exponent, ex.Num) and f.exponent.value < 0}
        below = sorted(under.values(), key=lambda f: not isinstance(f, ex.Size))
        factors = [f for f in parts if f not in under]
        if below and factors and isinstance(factors[0], ex.Num):
            below.insert(0, ex.Num(factors[0].value.denominator))
            factors[:1] = [ex.Num(factors[0].value.numerator)] if factors[0].value.numerator != 1 else []
        if below and products and not factors:
            factors = [*getattr(products.pop(0), "factors", ())]
        factors += [*([ex.Pow(ex.mul(*below), ex.MINUS_ONE)] if below else []), *products]
        if self.node is not None:
            factors += self.node.factors if isinstance(self.node, ex.Mul) else (self.node,)
        return ex.ONE if not factors else factors[0] if len(factors) == 1 else ex.Mul(tuple(factors))

    @property
    def array(self) -> ex.Expr:
        """The array without its numbers."""
        return _ONES if self.node is None else self.node

    def turned(self) -> Whole:
        """The transpose, taken into sums where it is no longer there."""
        inside = tuple(t.turned() for t in self.terms)
        node = ex.Add(tuple(t.expr for t in inside)) if inside else transposed(self.array)
        if inside and _turns(node) > _turns(self.array) + 1:
            inside, node = (), transposed(self.array)
        return Whole(self.axes[::-1], node, self.numbers, inside)


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


def _turns(node: ex.Expr) -> int:
    return sum(isinstance(n, ex.Fn) and n.name == TRANSPOSE for n in ex.walk(node))


def product(*parts: ex.Expr) -> ex.Expr:
    """A B …"""
    return ex.Mul(tuple(chain(*(p.factors if isinstance(p, ex.Mul) else (p,) for p in parts))))


def entrywise(parts: list[ex.Expr]) -> ex.Expr:
    """a ⊙ b ⊙ …, diagonal matrices and ones taken together."""
    flat = [a for p in parts for a in (p.args if isinstance(p, ex.Fn) and p.name == HADAMARD else (p,))]
    kept = [p for p in flat if p is not _ONES] or [_ONES]
    return kept[0] if len(kept) == 1 else ex.Fn(HADAMARD, tuple(kept))


def matrix_form(before: ex.Node, value: ex.Expr, module: Module, entrywise: bool = False) -> ex.Rel | None:
    """The statement before = value of whole vectors and matrices; None where it has none.

    Nor where all goes entry by entry, unless ``entrywise``, or the card writes vectors.
    """
    ends = (before.of, before.wrt) if isinstance(before, ex.Partial) else (before,)
    entries = [e for e in ends if isinstance(e, ex.Entry)]
    axes = tuple(i for e in entries for i in e.indices if isinstance(i, ex.Idx))
    if len(entries) != len(ends) or len({*axes}) != sum(len(e.indices) for e in entries) or len(axes) > 2:
        return None
    recogniser = Recogniser(module)
    try:
        whole = [recogniser.letter(e).expr for e in entries]
        found = recogniser.spread(recogniser.value(value), axes).expr
    except Formless:
        return None
    head = ex.Partial(whole[0], whole[1]) if isinstance(before, ex.Partial) else whole[0]
    matrix = isinstance(found, ex.Entry) and len(ends) == len(axes) == 2  # ∂y/∂x = W
    if not (matrix or ((module.table.vectors or entrywise) and axes) or _says_more(found, module)) or not any(
            isinstance(n, ex.Entry) for n in ex.walk(found)):
        return None
    if module.table.rows:
        found = in_rows(found, module)
        found = transposed(found) if len(axes) == 1 else found
    return ex.eq(head, found)


def _says_more(found: ex.Expr, module: Module) -> bool:
    """Something is contracted, or a matrix is made of vectors; not where all goes entry by entry."""
    matrices = {s.name for s in module.table.symbols if len(s.axes) == 2}
    return any((isinstance(n, ex.Fn) and n.name in (TRANSPOSE, DIAGONAL)) or (isinstance(n, ex.Mul) and any(
        isinstance(f, ex.Entry) and f.tensor in matrices and not f.indices for f in n.factors)) for n in ex.walk(found))


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


_OPPOSITE = {"<": "≥", "≤": ">", ">": "≤", "≥": "<"}


@dataclass(frozen=True)
class Recogniser:
    module: Module
    known: dict[object, Whole | None] = field(default_factory=dict, compare=False, repr=False)

    def once(self, of: object, found: Callable[[], Whole]) -> Whole:
        """What was found before, if only that there is no form: parts of deep terms are met again and again."""
        if of not in self.known:
            self.known[of] = None
            with suppress(Formless):
                self.known[of] = found()
        whole = self.known[of]
        if whole is None:
            raise Formless
        return whole

    def value(self, node: ex.Expr) -> Whole:
        """The array that a value is over its free indices.

        Raises :class:`Formless` where it is none of at most two axes.
        """
        free = ex.free_indices(node)
        if len(free) > 2:
            raise Formless
        try:
            return self.once(node, lambda: self._value(node))
        except Formless:
            if free:
                raise
            return Whole((), None, (node,))

    def _value(self, node: ex.Expr) -> Whole:
        match node:
            case ex.Num() | ex.Size():
                return Whole((), None, (node,))
            case ex.Entry():
                return self.letter(node)
            case ex.Add(terms):
                return self.total(list(map(self.value, terms)))
            case ex.Mul(factors):
                return self.contracted(factors, ())
            case ex.Reduce("sum", binder, _) if binder.cond is None:
                binder, body = ex.open_binder(node)
                return self.contracted((body,), self.bound(binder, body))
            case ex.Pow(base, exponent) if ex.free_indices(base) and exponent == ex.Num(2):
                return self.contracted((base, base), ())
            case ex.Pow(base, exponent) if not ex.free_indices(node):
                return Whole((), None, (ex.Pow(self.value(base).expr, exponent),))
            case ex.Fn(name, args) if self.module.function(name.rstrip("'")) or (
                    name in FUNCTIONS and name not in ("abs", "mod", "floor", "ceil")):
                return self.each(args, lambda parts: ex.Fn(name, parts))
            case ex.Extremum(op, args):
                return self.each(args, lambda parts: ex.Extremum(op, parts))
            case ex.Cases(((first, ex.Rel((u, v), (op,)) as cond), (second, other))) if op in _OPPOSITE:
                beyond = ex.Rel((u, v), (_OPPOSITE[op],))
                if other is not ex.OTHERWISE and other is not beyond:
                    raise Formless
                return self.total([self.contracted((value, ex.Bracket(c)), ()) for value, c in (
                    (first, cond), (second, beyond)) if value is not ex.ZERO])
            case ex.Bracket(ex.Rel((ex.Idx() as i, ex.Idx() as k), ("=",))):
                return Whole((i, k), _IDENTITY)
            case ex.Bracket(ex.Rel(terms, ops)) if not any(isinstance(n, ex.Star) for n in ex.walk(node)):
                return self.each(terms, lambda parts: ex.Bracket(ex.Rel(parts, ops)))
        raise Formless

    def letter(self, node: ex.Entry) -> Whole:
        """A whole tensor; matrices are those that are written with a capital, or whole by the card."""
        own = node.tensor.removeprefix("delta_")
        symbol, letter = map(self.module.table.named, (node.tensor, own))
        axes = tuple(i for i in node.indices if isinstance(i, ex.Idx))
        if any(isinstance(i, ex.Star) for i in node.indices):
            return self.selected(node, axes)
        if symbol is None or (letter or symbol).above or len({*axes}) != len(node.indices) or len(axes) > 2 or (
                len(axes) != len(symbol.axes)):
            raise Formless
        if not axes:
            return Whole((), None, (node,))
        if len(axes) == 2 and not is_capital(own) and (symbol.unwritten or not self.module.table.vectors):
            raise Formless
        return Whole(axes, ex.Entry(node.tensor, ()))

    def selected(self, node: ex.Expr, axes: Axes) -> Whole:
        """A letter for what a maximum selects: W_{kr^*j} is an entry of one matrix."""
        for head, value in (s.definition.terms for s in selected(self.module)):
            own = cast(ex.Entry, head).indices
            if len(own) == len(axes) and ex.subst(value, dict(zip(own, axes, strict=True))) is node:
                return Whole(axes, ex.Entry(cast(ex.Entry, head).tensor, ()))
        raise Formless

    def bound(self, binder: ex.Binder, body: ex.Expr) -> Axes:
        """The variables, if each runs along all of its axis."""
        for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
            run = natural(v, body, self.module) if low is not None else None
            if low is not None and (run is None or (run.lower, run.upper) != (low, high)):
                raise Formless
        return binder.variables

    def each(self, args: Iterable[ex.Expr], build: Callable[[tuple[ex.Expr, ...]], ex.Expr]) -> Whole:
        """A function of entries; a number goes with each."""
        parts = list(map(self.value, args))
        axes = next((p.axes for p in parts if p.axes), ())
        if any(p.axes and {*p.axes} != {*axes} for p in parts):
            raise Formless
        node = build(tuple((p if p.axes in ((), axes) else p.turned()).expr for p in parts))
        return Whole(axes, node) if axes else Whole((), None, (node,))

    def total(self, terms: list[Whole]) -> Whole:
        """The sum over all indices of its terms."""
        axes = tuple(dict.fromkeys(i for t in sorted(terms, key=lambda t: -len(t.axes)) for i in t.axes))
        if len(axes) > 2:
            raise Formless
        found = tuple(self.spread(t, axes) for t in terms)
        node = ex.Add(tuple(t.expr for t in found))
        return Whole(axes, node, (), found) if axes else Whole((), None, (node,))

    def spread(self, of: Whole, axes: Axes) -> Whole:
        """The array over these axes: turned, or the same along those that it lacks."""
        if of.axes == axes:
            return of
        if of.axes == axes[::-1]:
            return of.turned()
        if not {*of.axes} <= {*axes}:
            raise Formless
        if len(axes) == 1:
            return Whole(axes, _ONES, of.numbers)
        column, row = (of.array if of.axes == (i,) else _ONES for i in axes)
        return Whole(axes, product(column, transposed(row)), of.numbers)

    def contracted(self, factors: tuple[ex.Expr, ...], bound: Axes) -> Whole:
        """Σ over the bound indices of a product: as it stands, sums in it taken out or multiplied out; the shortest."""
        factors = tuple(chain(*(f.factors if isinstance(f, ex.Mul) else (f,) for f in factors)))
        return self.once((factors, bound), lambda: self.shortest(factors, bound))

    def shortest(self, factors: tuple[ex.Expr, ...], bound: Axes) -> Whole:
        options = [*self.options(factors, bound)]
        if not options:
            raise Formless
        return min(reversed(options), key=lambda w: _length(w.expr))

    def options(self, factors: tuple[ex.Expr, ...], bound: Axes) -> Iterable[Whole]:
        few = prod(len(f.terms) for f in factors if isinstance(f, ex.Add)) <= _MOST_PRODUCTS
        for n, f in enumerate(factors):
            before, behind = factors[:n], factors[n + 1:]
            with suppress(Formless):
                if isinstance(f, ex.Reduce) and f.op == "sum" and f.binder.cond is None and (bound or behind or before):
                    binder, body = ex.open_binder(f)
                    yield self.contracted((*before, body, *behind), (*bound, *self.bound(binder, body)))
                elif few and isinstance(f, ex.Add) and len(f.terms) <= _MOST and (
                        bound or len(set(map(ex.free_indices, f.terms))) > 1):
                    yield self.total([self.contracted((*before, t, *behind), bound) for t in f.terms])
                else:
                    continue
            break
        with suppress(Formless):
            yield network(list(map(self.value, factors)), bound)


def _length(node: ex.Expr) -> int:
    """How many letters it has; a transposed sum and a diagonal matrix are worth more."""
    return sum(isinstance(n, ex.Entry) or (isinstance(n, ex.Fn) and n.name in (ONES, DIAGONAL)) or 2 * (
        isinstance(n, ex.Fn) and n.name == TRANSPOSE and isinstance(n.args[0], ex.Add)) for n in ex.walk(node))


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
    if parts[0].node is _IDENTITY:
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
        return Whole(tuple(i for i in matrix.axes if i is not index), product(left, *(vectors or [_ONES])))
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
    return _ONES, node
