"""The layer in the region of a point: numbers are elements of the algebra, derivatives are SymPy's.

Each element carries its value at the point, which decides the region.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from derive.errors import UnsupportedError
from derive.expr import Entry, Num
from derive.functions import elementary
from derive.numeric.arithmetic import Arithmetic, decimal_of
from derive.numeric.dual import Ordered, dual
from derive.numeric.evaluator import evaluate
from derive.numeric.point import Index, Undefined
from derive.ring import Poly
from derive.symbolic.layer import Region, Smooth, Traced, evaluated, expression, plain, symbol, traced
from derive.verify.points.facts import Facts
from derive.verify.points.point import LOSS, Point, Values
from derive.verify.provers.algebra import Algebra

Decision = tuple[Poly, bool]  # d > 0, or d < 0, of a difference whose leading coefficient is positive
Path = tuple[Decision, ...]


class Formal(Ordered):
    """An element with its value; what is compared is noted in ``within.path``."""

    __slots__ = ("poly", "value", "within")

    def __init__(self, poly: Poly, value: Any, within: Formals) -> None:
        self.poly, self.value, self.within = poly, value, within

    def __add__(self, other: Any) -> Formal:
        if type(other) is int and not other:  # where a sum begins
            return self
        right = self.within.lift(other)
        return Formal(self.poly + right.poly, self.value + right.value, self.within)

    __radd__ = __add__

    def __neg__(self) -> Formal:
        return Formal(-self.poly, -self.value, self.within)

    def __sub__(self, other: Any) -> Formal:
        return self + (-other)

    def __rsub__(self, other: Any) -> Formal:
        return -self + other

    def __mul__(self, other: Any) -> Formal:
        right = self.within.lift(other)
        return Formal(self.within.algebra.times(self.poly, right.poly), self.value * right.value, self.within)

    __rmul__ = __mul__

    def __abs__(self) -> Formal:
        return self if self > 0 else -self

    def _order(self, other: Any) -> int:
        """1, 0 or −1, noted as a decision; a tie that holds here only is a boundary."""
        right = self.within.lift(other)
        difference = self.poly - right.poly
        if self.value == right.value:
            if self.within.algebra.is_zero(difference):
                return 0
            raise Undefined
        above = bool(self.value > right.value)
        self.within.decide(difference, above)
        return 1 if above else -1


class Formals:
    """The numbers of one instance at one point: its algebra, and the decisions made so far."""

    def __init__(self, algebra: Algebra, base: Arithmetic) -> None:
        self.algebra, self.base = algebra, base
        self.path: dict[Poly, bool] = {}
        self._numbers: dict[Any, Formal] = {}
        self.arithmetic = Arithmetic(_plain, lambda a, b: a * self.power(b, -1), self.power, {
            **base.functions, **{f.name: f.exact or self._lifted(f.name) for f in elementary()},
            "pi": self._pi})

    def start(self, path: Iterable[Decision] = ()) -> None:
        """Forget the decisions made, but for those of the point that is taken up."""
        self.path = dict(path)

    def decide(self, difference: Poly, above: bool) -> None:
        """Note the sign of a difference; numbers decide nothing."""
        if not difference.is_number:
            flipped = difference.lead < 0
            self.path[-difference if flipped else difference] = above != flipped

    def lift(self, number: Any) -> Formal:
        if isinstance(number, Formal):
            return number
        if isinstance(number, Decimal):
            raise UnsupportedError("no proof over rounded numbers")
        found = self._numbers.get(number)
        if found is None:
            found = self._numbers[number] = Formal(self.algebra.number(number), self.base.number(number), self)
        return found

    def power(self, base: Any, exponent: Any) -> Any:
        if isinstance(base, Traced) or isinstance(exponent, Traced):
            return traced(self.base).power(base, exponent)
        if not isinstance(base, Formal) and not isinstance(exponent, Formal) and Fraction(exponent).denominator == 1:
            return Fraction(base) ** int(exponent)
        b, e = self.lift(base), self.lift(exponent)
        literal = exponent if not isinstance(exponent, Formal) else e.value
        return Formal(self.algebra.power(b.poly, e.poly), self.base.power(b.value, literal), self)

    def _lifted(self, name: str) -> Callable[[Any], Any]:
        def apply(x: Any) -> Any:
            if isinstance(x, Traced):
                return traced(self.base).functions[name](x)
            u, algebra = self.lift(x), self.algebra
            if name not in self.base.functions:
                raise UnsupportedError(f"no proof over {name}")
            known: dict[str, Callable[[Poly], Poly]] = {
                "exp": algebra.exp, "log": algebra.log, "sqrt": lambda p: algebra.root(p, 2)}
            poly = known[name](u.poly) if name in known else algebra.function(name, u.poly)
            return Formal(poly, self.base.functions[name](u.value), self)

        return apply

    def _pi(self) -> Formal:
        """π: a number that no equation is proved to depend on."""
        return Formal(self.algebra.function("pi", self.algebra.number(0)), self.base.functions["pi"](), self)


def _plain(value: Any) -> Any:
    return value if isinstance(value, (Formal, int)) else Fraction(decimal_of(value)) if isinstance(
        value, Decimal) else Fraction(value)


class FormalPoint(Point):
    """The layer in the region of a point: entries are generators, ∂s/∂t is what SymPy makes of the formula."""

    def __init__(self, point: Point, formals: Formals, facts: Facts) -> None:
        self.module, self.formals, self.free = point.module, formals, point.free
        self.kind = dual(formals.arithmetic)
        self.shapes, self._input_shapes = point.shapes, point._input_shapes
        self._kept, self._spans, self._slopes, self._sets, self._twins = {}, {}, {}, {}, {}
        formals.start()
        self.given = {name: self._generators(name, values, facts) for name, values in point.given.items()}
        self.values = {**self.given, **evaluate(self.module, self.given, self._input_shapes, self.kind)}
        upstream = f"delta_{self.module.output}"
        for name in (*point.free, upstream):
            self.values[name] = self._generators(name, point.values[name], facts)
        self.path: Path = tuple(formals.path.items())
        self._named = set(self.given)
        self._symbols = {symbol(name, at): value for name in self.given for at, value in self.values[name].items()}
        self._converted: dict[Any, Any] = dict(self._symbols)
        self._region = Region(self.module, formals.base, dict(point.values), tuple(point.given), point.shapes)

    def remember(self, key: Any, compute: Callable[[], Any]) -> Any:
        decided = len(self.formals.path)
        try:
            return super().remember(key, compute)
        finally:
            if len(self.formals.path) > decided:  # what was decided belongs to one statement
                self._kept.pop(key, None)

    def _generators(self, name: str, values: Values, facts: Facts) -> dict[Index, Any]:
        """An entry of the algebra for each entry of a tensor, with its value."""
        letters = letters_of(self.formals.algebra, name, values, facts)
        return {at: Formal(poly, values[at], self.formals) for at, poly in letters.items()}

    def partial(self, of: str, at: Index, wrt: str, by: Index) -> Any:
        if of == LOSS:
            return self.tensor(f"delta_{wrt}")[by]
        if by not in self.tensor(wrt) or at not in self.tensor(of):
            raise KeyError((at, by))
        if of == wrt:
            return int(at == by)
        return self._derivative(self._region.forward(wrt)[of][at], wrt, by)

    def _derivative(self, value: Any, wrt: str, by: Index) -> Any:
        if wrt not in self._named:
            self._named.add(wrt)
            self._symbols |= {symbol(wrt, at): value for at, value in self.values[wrt].items()}
            self._converted |= self._symbols
        decided, algebra = len(self.formals.path), self.formals.algebra
        spent, algebra.work = algebra.work, 0  # what a derivative takes is no part of what the statement may take
        found = self._region.derivative(value, wrt, by, self._converted, self.formals.arithmetic)
        algebra.work = spent
        if len(self.formals.path) > decided:  # what was decided belongs to one statement
            self._converted = dict(self._symbols)
        return found

    def _message(self, wrt: str) -> Values:
        delta, output = self.values[f"delta_{self.module.output}"], self.module.output
        slopes = {at: [(d, self.partial(output, out, wrt, at)) for out, d in delta.items()] for at in self.values[wrt]}
        return {at: sum(d * s for d, s in own if type(s) is not int or s) for at, own in slopes.items()}

    def slope(self, value: Any, wrt: str, by: Index) -> Any:
        """∂value/∂wrt_by of an expression that compares nothing itself."""
        if by not in self.tensor(wrt):
            raise KeyError(by)
        return self._derivative(value(self._twin(wrt, self._smooth)), wrt, by)

    def _smooth(self, wrt: str) -> dict[str, Values]:
        return {name: {at: Smooth(expression(v), plain(v)) for at, v in tensor.items()}
                for name, tensor in self._region.forward(wrt).items()}

    def slope_of(self, function: str, args: tuple[Any, ...], order: int) -> Any:
        if order != 1 or len(args) != 1 or self.module.function(function) is None:
            raise UnsupportedError("no proof over this derivative of a function")
        argument = self.formals.lift(args[0])
        u, expr = self._region.slope(function, argument.value)
        return self.formals.lift(evaluated(expr, {**self._symbols, u: argument}, self.formals.arithmetic))


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
