"""The layer of a piecewise statement: entries are letters, all else numbers with cases.

∂s/∂t is what SymPy says: the derivative of each smooth piece on its region.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial, reduce
from operator import add
from typing import Any

import sympy

from derive.expr import Entry, Num
from derive.numeric.point import Index, Remembering
from derive.ring import Poly
from derive.symbolic.pieces import Cased, Pieces, Region, evaluated, expression, symbol
from derive.verify.points.facts import Facts
from derive.verify.points.point import LOSS, Point
from derive.verify.provers.algebra import Algebra
from derive.verify.provers.guarded import ALWAYS, Choice, Space, Truth, conjunction, unsupported


class Layer(Remembering):
    """The layer at the shapes of a point, for all inputs: entries are letters, all else numbers with cases."""

    def __init__(self, point: Point, facts: Facts, pieces: Pieces, spare: int) -> None:
        super().__init__()
        self.sizes, self.span, self.outputs = point.sizes, point.span, point.outputs
        self.elements, self.inside = point.elements, point.inside
        self.point, self.module, self.facts, self.pieces = point, point.module, facts, pieces
        self.upstream = f"delta_{self.module.output}"
        own = (*point.given, *point.free, self.upstream)
        self.space = Space(Algebra(sum(len(point.values[name]) for name in own), spare))
        self.letters = {name: letters_of(self.space.algebra, name, point.values[name], facts) for name in own}
        self._known: dict[sympy.Expr, Any] = {symbol(name, at): self.space.of(poly) for name in point.given
                                              for at, poly in self.letters[name].items()}
        self._free: set[str] = set(point.given)
        self._values: dict[tuple[str, Index], Any] = {}
        self._slopes: dict[Any, Any] = {}
        self.derived: dict[tuple[sympy.Expr, sympy.Symbol], Any] = {}
        self._smooth: set[sympy.Symbol] = set()
        self._truths: dict[Region, Truth] = {}
        self._expressions: dict[Any, sympy.Expr] = {}

    def at(self, tensor: str, index: tuple[Any, ...]) -> Any:
        """An entry, also at a place that depends on the values; KeyError where there is none."""
        known = self._values.get((tensor, index))
        if known is not None:
            return known
        if not any(isinstance(i, Choice) for i in index):
            return self.value(tensor, index)
        return reduce(add, [self.space.lift(self.value(tensor, at)).where(guard)
                            for guard, at in self.space.places(index)])

    def value(self, tensor: str, at: Index) -> Any:
        """An entry; KeyError where there is none."""
        key = tensor, at
        if key not in self._values:
            wrt = tensor.removeprefix("delta_")
            if tensor in self.letters:
                self._values[key] = self.space.of(self.letters[tensor][at])
            elif tensor == wrt:
                self._values[key] = self.number(self.pieces.forward()[tensor][at])
            else:
                deltas = self.letters[self.upstream]
                self._values[key] = reduce(add, [self.partial(self.module.output, out, wrt, at) * self.space.of(d)
                                                 for out, d in deltas.items()], 0)
        return self._values[key]

    def partial(self, of: str, at: Index, wrt: str, by: Index) -> Any:
        """∂of_at/∂wrt_by off the boundaries of the pieces; KeyError where there is no such entry."""
        if of == LOSS:
            return self.value(f"delta_{wrt}", by)
        values = self.point.values
        if wrt not in values or of not in values:
            raise unsupported(f"∂{of}/∂{wrt}")
        if by not in values[wrt] or at not in values[of]:
            raise KeyError((at, by))
        if of == wrt:
            return int(at == by)
        key = of, at, wrt, by
        if key not in self._slopes:
            self._slopes[key] = self.derivative(self.pieces.forward(wrt, values[wrt])[of][at], wrt, by)
        return self._slopes[key]

    def slope(self, value: Callable[[Any, Index], Any], at: Index, wrt: str, by: Index) -> Any:
        """∂value/∂wrt_by of an expression."""
        if by not in self.point.tensor(wrt):
            raise KeyError(by)
        key = value, at, wrt
        if key not in self._expressions:
            twin = self.point.twin(wrt, self.cased)
            self._expressions[key] = expression(self.pieces.entry(lambda: value(twin, at)))
        return self.derivative(self._expressions[key], wrt, by)

    def derivative(self, expr: sympy.Expr, wrt: str, by: Index) -> Any:
        """∂expr/∂wrt_by off the boundaries of the pieces."""
        if wrt not in self._free:
            self._free.add(wrt)
            self._known |= {symbol(wrt, i): self.value(wrt, i) for i in self.point.values[wrt]}
        return self.slope_at(expr, symbol(wrt, by))

    def slope_at(self, expr: sympy.Expr, letter: sympy.Symbol) -> Any:
        for p in sorted(self.pieces.beneath(expr) - self._smooth, key=str):
            self.smooth(p)
        spent, self.space.algebra.work = self.space.algebra.work, 0  # a derivative's is no part of its statement's
        found = self.pieces.gradient(expr, letter, self)
        self.space.algebra.work = spent
        return found

    def slope_of(self, function: str, args: tuple[Any, ...], order: int) -> Any:
        """f'(u) of a card's function of one argument."""
        if order != 1 or len(args) != 1 or self.module.function(function) is None:
            raise unsupported(f"a derivative of {function}")
        u, value = self.pieces.applied(function)
        self._known[u] = self.space.lift(args[0])
        return self.slope_at(value, u)

    def cased(self, wrt: str) -> dict[str, dict[Index, Any]]:
        """Every tensor in pieces, in terms of the given ones and of ``wrt``."""
        return {name: {at: Cased(value, self.pieces) for at, value in values.items()}
                for name, values in self.pieces.forward(wrt, self.point.values[wrt]).items()}

    def anything(self) -> Any:
        """What no case covers: the cases must cover what lies on no boundary."""
        for p in self.pieces.pieces:
            self.smooth(p)
        return self.space.of(self.space.fresh())

    def smooth(self, p: sympy.Symbol) -> None:
        """Take it that the inputs lie on no boundary of a piece."""
        self._smooth.add(p)
        inside = self.space.some([self._truth(region) for region, _ in self.pieces.pieces[p].open_cases])
        self.space.take(self.space.truth(inside))

    def number(self, expr: sympy.Expr) -> Any:
        """A SymPy expression as a number with cases."""
        for p in self.pieces.named(expr):
            if p not in self._known:
                piece = self.pieces.pieces[p]
                self._known[p] = self.space.extremum(piece.extremum[0], [self.number(e) for e in piece.extremum[1]]) \
                    if piece.extremum else reduce(add, [self.where(r, partial(self.number, v)) for r, v in piece.cases])
        return evaluated(expr, self._known, self.space.kind)

    def where(self, region: Region, value: Callable[[], Any]) -> Any:
        """A number on its region, 0 elsewhere."""
        truth = self._truth(region)
        return 0 if truth is False else self.space.lift(value()).where(ALWAYS if truth is True else truth)

    def _truth(self, region: Region) -> Truth:
        if region not in self._truths:
            self._truths[region] = self._found_truth(region)
        return self._truths[region]

    def _found_truth(self, region: Region) -> Truth:
        zero = self.space.algebra.number(0)
        found = []
        for d, signs in region:
            number = self.space.lift(self.number(d))
            if number.parts.keys() - {ALWAYS}:
                ops = [op for sign, op in ((1, ">"), (0, "="), (-1, "<")) if sign in signs]
                found.append(self.space.some([self.space.compare(number, op, 0) for op in ops]))
            else:
                found.append(self.space.signed(number.parts.get(ALWAYS, zero), signs))
        return conjunction(found)


def _positive(facts: Facts, name: str) -> bool:
    """A fact says that every entry is above 0."""
    for fact in facts.single.get(name, ()):
        for left, op, right in zip(fact.terms, fact.ops, fact.terms[1:], strict=False):
            low, high, strict = (left, right, "<") if op == "<" else (right, left, ">")
            if op == strict and isinstance(high, Entry) and isinstance(low, Num) and low.value >= Fraction(0):
                return True
    return False


def letters_of(algebra: Algebra, name: str, indices: Iterable[Index], facts: Facts) -> dict[Index, Poly]:
    """A letter for each entry of a tensor; the last of a sum that a fact fixes is what remains."""
    positive = _positive(facts, name)
    found = {at: algebra.entry((name, at), positive) for at in indices}
    if name in facts.totals:
        for group in facts.groups(name, list(found)):
            rest = sum((found[at] for at in group[:-1]), algebra.number(0))
            found[group[-1]] = algebra.number(facts.totals[name].value) - rest
    return found
