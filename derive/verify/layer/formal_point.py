"""The layer in the region of a point: entries are generators, derivatives are SymPy's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from derive.errors import UnsupportedError
from derive.expr import Entry, Num
from derive.numeric.dual import dual
from derive.numeric.evaluator import evaluate
from derive.numeric.point import Index
from derive.symbolic.layer import Region, symbol
from derive.verify.facts import Facts
from derive.verify.layer.formal import Formal, Formals, Path
from derive.verify.point import LOSS, Point, Values


class FormalPoint(Point):
    """The layer in the region of a point: entries are generators, ∂s/∂t is what SymPy makes of the formula."""

    def __init__(self, point: Point, formals: Formals, facts: Facts) -> None:
        self.module, self.formals, self.free = point.module, formals, point.free
        self.kind = dual(formals.arithmetic)
        self.shapes, self._input_shapes = point.shapes, point._input_shapes
        self._kept, self._spans, self._slopes, self._sets = {}, {}, {}, {}
        formals.start()
        self.given = {name: self._generators(name, values, facts) for name, values in point.given.items()}
        self.values = {**self.given, **evaluate(self.module, self.given, self._input_shapes, self.kind)}
        upstream = f"delta_{self.module.output}"
        for name in (*point.free, upstream):
            self.values[name] = self._generators(name, point.values[name], facts)
        self.path: Path = tuple(formals.path.items())
        self._named = set(self.given)
        self._symbols = {symbol(name, at): value for name in self.given for at, value in self.values[name].items()}
        self._converted = dict(self._symbols)
        plain = {name: point.values[name] for name in point.values}
        self._region = Region(self.module, formals.base, plain, tuple(point.given), point.shapes)

    def _generators(self, name: str, values: Values, facts: Facts) -> dict[Index, Any]:
        """An entry of the algebra for each entry of a tensor; the last of a sum that a fact fixes is what remains."""
        algebra, positive = self.formals.algebra, _positive(facts, name)
        found = {at: Formal(algebra.entry((name, at), positive), value, self.formals) for at, value in values.items()}
        if name in facts.totals:
            for group in facts.groups(name, list(values)):
                rest = sum((found[at].poly for at in group[:-1]), algebra.number(0))
                last = group[-1]
                found[last] = Formal(algebra.number(facts.totals[name].value) - rest, values[last], self.formals)
        return found

    def partial(self, of: str, at: Index, wrt: str, by: Index) -> Any:
        if of == LOSS:
            return self.tensor(f"delta_{wrt}")[by]
        if by not in self.tensor(wrt) or at not in self.tensor(of):
            raise KeyError((at, by))
        if of == wrt:
            return int(at == by)
        return self._lifted(self._region.derivative(of, at, wrt, by), wrt)

    def _lifted(self, expr: Any, wrt: str) -> Any:
        if expr is sympy.S.Zero:
            return 0
        if wrt not in self._named:
            self._named.add(wrt)
            self._symbols |= {symbol(wrt, at): value for at, value in self.values[wrt].items()}
            self._converted |= self._symbols
        decided = len(self.formals.path)
        found = self.formals.of_sympy(expr, self._converted)
        if len(self.formals.path) > decided:  # what was decided belongs to one statement
            self._converted = dict(self._symbols)
        return found

    def _message(self, wrt: str) -> Values:
        delta, output = self.values[f"delta_{self.module.output}"], self.module.output
        return {at: sum(d * self.partial(output, out, wrt, at) for out, d in delta.items())
                for at in self.values[wrt]} if wrt != output else delta

    def slope(self, value: Any, wrt: str, by: Index) -> Any:
        raise UnsupportedError("no proof over the derivative of an expression")

    def slope_of(self, function: str, args: tuple[Any, ...], order: int) -> Any:
        if order != 1 or len(args) != 1 or self.module.function(function) is None:
            raise UnsupportedError("no proof over this derivative of a function")
        argument = self.formals.lift(args[0])
        u, expr = self._region.slope(function, argument.value)
        return self.formals.of_sympy(expr, {**self._symbols, u: argument})


def _positive(facts: Facts, name: str) -> bool:
    """A fact says that every entry is above 0."""
    for fact in facts.single.get(name, ()):
        for left, op, right in zip(fact.terms, fact.ops, fact.terms[1:], strict=False):
            low, high, strict = (left, right, "<") if op == "<" else (right, left, ">")
            if op == strict and isinstance(high, Entry) and isinstance(low, Num) and low.value >= Fraction(0):
                return True
    return False
