r"""\delta_x = W^\top \delta_y of δ_{x,i} = Σ_k δ_{y,k} W_{ki}: a formula of entries as one of vectors and matrices.

Found by what is contracted, not by the layer: each value is an array over its free indices, at most two of them.
Where the card writes vectors x_n, their n stays: ∂E/∂w = Σ_n (w^⊤ x_n − t_n) x_n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field, replace
from itertools import chain
from math import prod
from typing import cast

import derive.expr as ex
from derive.calculus.ranges import natural
from derive.calculus.selection import selected
from derive.calculus.whole_arrays import (
    IDENTITY,
    ONE_COLUMN,
    Axes,
    Formless,
    Whole,
    in_rows,
    network,
    product,
    summed,
    transposed,
)
from derive.functions import FUNCTIONS
from derive.module import Module
from derive.notation.shapes import DIAGONAL, ONES, TRANSPOSE
from derive.notation.symbols import Symbol, is_capital
from derive.records import dataclass

_MOST = 6  # terms of a sum that are multiplied out
_MOST_PRODUCTS = 256  # that come of it


def matrix_form(before: ex.Node, value: ex.Expr, module: Module, entrywise: bool = False) -> ex.Rel | None:
    """The statement before = value of whole vectors and matrices; None where it has none.

    Nor where all goes entry by entry, unless ``entrywise``, or the card writes vectors.
    """
    ends = (before.of, before.wrt) if isinstance(before, ex.Partial) else (before,)
    entries = [e for e in ends if isinstance(e, ex.Entry)]
    indices = [i for e in entries for i in e.indices]
    if len(entries) != len(ends) or len({*indices}) != len(indices):
        return None
    for recogniser in recognisers(entries, module):
        axes = tuple(i for i in indices if isinstance(i, ex.Idx) and i not in recogniser.kept)
        if len(axes) > 2:
            continue
        with suppress(Formless):
            whole = [recogniser.letter(e).expr for e in entries]
            found = recogniser.spread(recogniser.value(value), axes).expr
            break
    else:
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


def samples(node: ex.Node, module: Module) -> frozenset[ex.Idx]:
    """n of each x_{ni} of which the card writes x_n; W_k are the rows of a matrix."""
    found = ((e, module.table.named(e.tensor.removeprefix("delta_"))) for e in ex.walk(node) if isinstance(e, ex.Entry))
    return frozenset(i for e, symbol in found if symbol is not None and symbol.unwritten and not is_capital(symbol.name)
                     for i in e.indices[:len(symbol.axes) - symbol.unwritten] if isinstance(i, ex.Idx))


def recognisers(entries: list[ex.Entry], module: Module) -> Iterable[Recogniser]:
    """Where the card writes vectors x_n, with their n kept; then all letters whole."""
    if module.table.vectors and any(s.unwritten for s in module.table.symbols):
        yield Recogniser(module, True, frozenset().union(*(samples(e, module) for e in entries)))
    yield Recogniser(module)


_OPPOSITE = {"<": "≥", "≤": ">", ">": "≤", "≥": "<"}


@dataclass(frozen=True)
class Recogniser:
    """What array a value is; ``sampled``: each of vectors x_n by itself, with the n in ``kept`` as on the card."""

    module: Module
    sampled: bool = False
    kept: frozenset[ex.Idx] = frozenset()
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
        free = ex.free_indices(node) - self.kept
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
                kept = self.of_samples(binder, body)
                return self.over(binder, kept, (body,), ()) if kept else self.contracted(
                    (body,), self.bound(binder, body))
            case ex.Pow(base, exponent) if ex.free_indices(base) - self.kept and exponent == ex.Num(2):
                return self.contracted((base, base), ())
            case ex.Pow(base, exponent) if not ex.free_indices(node) - self.kept:
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
                return Whole((i, k), IDENTITY)
            case ex.Bracket(ex.Rel(terms, ops)) if not any(isinstance(n, ex.Star) for n in ex.walk(node)):
                return self.each(terms, lambda parts: ex.Bracket(ex.Rel(parts, ops)))
        raise Formless

    def letter(self, node: ex.Entry) -> Whole:
        """A whole tensor; matrices are those that are written with a capital, or whole by the card."""
        own = node.tensor.removeprefix("delta_")
        symbol, letter = map(self.module.table.named, (node.tensor, own))
        axes = tuple(i for i in node.indices if isinstance(i, ex.Idx) and i not in self.kept)
        if self.kept & {*node.indices}:
            return self.sample(node, letter or symbol, axes)
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

    def sample(self, node: ex.Entry, symbol: Symbol | None, axes: Axes) -> Whole:
        """x_n, a vector for each n; t_n, a number."""
        before = len(node.indices) - len(axes)
        if not axes:
            return Whole((), None, (node,))
        if symbol is None or symbol.unwritten != len(axes) or node.indices[before:] != axes or len({*axes}) > 2:
            raise Formless
        return Whole(axes, ex.Entry(node.tensor, node.indices[:before]))

    def of_samples(self, binder: ex.Binder, body: ex.Expr) -> frozenset[ex.Idx]:
        """Those of the variables that number vectors of the card."""
        return samples(body, self.module) & {*binder.variables} if self.sampled else frozenset()

    def over(self, binder: ex.Binder, kept: frozenset[ex.Idx], factors: tuple[ex.Expr, ...], bound: Axes) -> Whole:
        """Σ_n of what is an array for each n."""
        if len(kept) < len(binder.variables):
            raise Formless
        return summed(binder, replace(self, kept=self.kept | kept, known={}).contracted(factors, bound))

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
            return Whole(axes, ONE_COLUMN, of.numbers)
        column, row = (of.array if of.axes == (i,) else ONE_COLUMN for i in axes)
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
                    own, kept = (*before, body, *behind), self.of_samples(binder, body)
                    if kept and not bound:
                        continue
                    if kept:  # Σ_t α_t (δ^⊤ v_t) k_t, not (Σ_t α_t k_t v_t^⊤) δ
                        yield self.over(binder, kept, own, bound)
                        return
                    yield self.contracted(own, (*bound, *self.bound(binder, body)))
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


