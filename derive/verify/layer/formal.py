"""Numbers for proofs: an element of the algebra with its value at the point that decides the region."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.rings import PolyElement

from derive.errors import UnsupportedError
from derive.functions import elementary
from derive.numeric.arithmetic import Arithmetic, decimal_of
from derive.numeric.dual import Ordered
from derive.numeric.point import Undefined
from derive.verify.layer.algebra import Algebra

Decision = tuple[PolyElement, bool]  # d > 0, or d < 0, of a difference whose leading coefficient is positive
Path = tuple[Decision, ...]


class Formal(Ordered):
    """An element with its value; what is compared is noted in ``within.path``."""

    __slots__ = ("poly", "value", "within")

    def __init__(self, poly: PolyElement, value: Any, within: Formals) -> None:
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
        self.path: dict[PolyElement, bool] = {}
        self._numbers: dict[Any, Formal] = {}
        self.arithmetic = Arithmetic(_plain, lambda a, b: a * self.power(b, -1), self.power, {
            **base.functions, **{f.name: f.exact or self._lifted(f.name) for f in elementary()},
            "pi": self._pi})

    def start(self, path: Iterable[Decision] = ()) -> None:
        """Forget the decisions made, but for those of the point that is taken up."""
        self.path = dict(path)

    def decide(self, difference: PolyElement, above: bool) -> None:
        """Note the sign of a difference; numbers decide nothing."""
        if not difference.is_ground:
            flipped = difference.LC < 0
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
        if not isinstance(base, Formal) and not isinstance(exponent, Formal) and Fraction(exponent).denominator == 1:
            return Fraction(base) ** int(exponent)
        b, e = self.lift(base), self.lift(exponent)
        literal = exponent if not isinstance(exponent, Formal) else e.value
        return Formal(self.algebra.power(b.poly, e.poly), self.base.power(b.value, literal), self)

    def _lifted(self, name: str) -> Callable[[Any], Any]:
        def apply(x: Any) -> Formal:
            u, algebra = self.lift(x), self.algebra
            if name not in self.base.functions:
                raise UnsupportedError(f"no proof over {name}")
            known: dict[str, Callable[[PolyElement], PolyElement]] = {
                "exp": algebra.exp, "log": algebra.log, "sqrt": lambda p: algebra.root(p, 2)}
            poly = known[name](u.poly) if name in known else algebra.function(name, u.poly)
            return Formal(poly, self.base.functions[name](u.value), self)

        return apply

    def _pi(self) -> Formal:
        """π: a number that no equation is proved to depend on."""
        return Formal(self.algebra.function("pi", self.algebra.number(0)), self.base.functions["pi"](), self)

    def of_sympy(self, expr: sympy.Expr, known: dict[sympy.Expr, Formal]) -> Formal:
        """A SymPy expression as an element; ``known`` holds its symbols' and keeps what is found."""
        found = known.get(expr)
        if found is None:
            found = known[expr] = self.lift(self._of_sympy(expr, known))
        return found

    def _of_sympy(self, expr: sympy.Expr, known: dict[sympy.Expr, Formal]) -> Any:
        if expr.is_Rational:
            return Fraction(int(expr.p), int(expr.q))
        if expr is sympy.pi:
            return self._pi()
        args = [self.of_sympy(a, known) for a in expr.args]
        if isinstance(expr, sympy.Add):
            return sum(args[1:], args[0])
        if isinstance(expr, sympy.Mul):
            product = args[0]
            for a in args[1:]:
                product = product * a
            return product
        if isinstance(expr, sympy.Pow):
            exponent = expr.args[1]
            literal = Fraction(int(exponent.p), int(exponent.q)) if exponent.is_Rational else args[1]
            return self.power(args[0], literal)
        name = next((f.name for f in elementary() if f.sympy == type(expr).__name__), None)
        if name is None:
            raise UnsupportedError(f"no proof over {type(expr).__name__}")
        return self.arithmetic.functions[name](args[0])


def _plain(value: Any) -> Any:
    return value if isinstance(value, (Formal, int)) else Fraction(decimal_of(value)) if isinstance(
        value, Decimal) else Fraction(value)
