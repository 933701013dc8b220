"""Numbers that carry derivatives: dual numbers for a smooth function, one-sided ones beside a kink.

Forward-mode differentiation by running the forward formula itself: each function's
derivative is the only calculus here.  Where two equal values with different
derivatives are compared, the derivative of a dual number may not exist: :class:`Undefined`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, total_ordering
from typing import Any

from derive.errors import UnsupportedError
from derive.functions import FUNCTIONS, Function, Table
from derive.numeric.arithmetic import Arithmetic, Calculating, arithmetic, close, difference
from derive.numeric.point import Undefined

Slopes = Mapping[Hashable, Any]  # variable → derivative; a variable that is not there has 0


@total_ordering
class Dual(Calculating):
    """value + Σ_v slopes[v] dv."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: Any, slopes: Slopes) -> None:
        self.value, self.slopes = value, slopes

    def __add__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.slopes)
        return Dual(self.value + other.value, _combined(self.slopes, 1, other.slopes, 1))

    def __neg__(self) -> Dual:
        return Dual(-self.value, {v: -d for v, d in self.slopes.items()})

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value * other, {v: d * other for v, d in self.slopes.items()})
        return Dual(self.value * other.value, _combined(self.slopes, other.value, other.slopes, self.value))

    def __abs__(self) -> Dual:
        return self if self > 0 else -self

    def _order(self, other: Any) -> int:
        """1, 0 or −1; a tie in value alone is a kink, rounded numbers tie where they are close."""
        value, slopes = (other.value, other.slopes) if isinstance(other, Dual) else (other, {})
        if _same(self.value, value):
            if not all(_same(self.slopes.get(v, 0), slopes.get(v, 0)) for v in {*self.slopes, *slopes}):
                raise Undefined
            return 0
        return 1 if self.value > value else -1

    def __lt__(self, other: Any) -> bool:
        return self._order(other) < 0

    def __gt__(self, other: Any) -> bool:
        return self._order(other) > 0

    def __eq__(self, other: object) -> bool:
        return self._order(other) == 0

    __hash__ = None  # type: ignore[assignment]


def _same(one: Any, other: Any) -> bool:
    """Up to rounding: what is exact, or infinite, is not rounded."""
    if one == other:
        return True
    kinds = (type(one), type(other))
    return Decimal in kinds and float not in kinds and close(one, other)


def _combined(left: Slopes, a: Any, right: Slopes, b: Any) -> Slopes:
    """a · left + b · right."""
    found = dict(left) if isinstance(a, int) and a == 1 else {v: d * a for v, d in left.items()}
    for v, d in right.items():
        term = d if isinstance(b, int) and b == 1 else d * b
        found[v] = found[v] + term if v in found else term
    return found


def value_of(number: Any) -> Any:
    return number.value if isinstance(number, Dual) else number


def slopes_of(number: Any) -> Slopes:
    return number.slopes if isinstance(number, Dual) else {}


def slope_in(function: Function, kind: Arithmetic) -> Callable[[Any, Any], Any]:
    """f'(u) from u and f(u) in an arithmetic: by its own formula, else by differences of mpmath's function."""
    formula = function.slope
    if formula is not None:
        return lambda u, y: formula(u, y, kind)
    return lambda u, _: kind.number(difference(function.mpmath, u))


@lru_cache(maxsize=8)
def dual(base: Arithmetic) -> Arithmetic:
    """The arithmetic of dual numbers over another; plain numbers stay plain."""
    def lifted(function: Function) -> Callable[[Any], Any]:
        plain, slope = base.functions[function.name], slope_in(function, base)

        def apply(x: Any) -> Any:
            if not isinstance(x, Dual):
                return plain(x)
            y = plain(x.value)
            factor = slope(x.value, y)
            return Dual(y, {v: d * factor for v, d in x.slopes.items()})

        return apply

    def power(x: Any, e: Any) -> Any:
        if isinstance(e, Dual):
            value = base.power(value_of(x), e.value)
            by_e, by_x = value * base.functions["log"](value_of(x)), e.value * base.power(value_of(x), e.value - 1)
            return Dual(value, _combined(slopes_of(x), by_x, e.slopes, by_e))
        if not isinstance(x, Dual):
            return base.power(x, e)
        if e == 0:
            return base.power(x.value, e)
        value = base.power(x.value, e)
        factor = -value * value if e == -1 else base.number(e) * base.power(x.value, e - 1)
        return Dual(value, {v: d * factor for v, d in x.slopes.items()})

    functions = Table(lambda f: (f.exact or lifted(f)) if f.name in base.functions else None,
                      {name: f for name, f in base.functions.items() if name not in FUNCTIONS})
    return Arithmetic(base.number, lambda a, b: a * power(b, -1), power, functions)


# c + s ε^q for an infinitely small ε > 0: a value and how it starts to change along a direction.  Compared as they are
# for small ε, so a maximum, a median or |x| takes the branch that it has just beside a tie.

@total_ordering
class OneSided(Calculating):
    """``value`` + ``slope`` · ε^``order``, the first term that changes; slope 0 where none does."""

    __slots__ = ("order", "slope", "value")

    def __init__(self, value: Any, slope: Any = 0, order: Any = 1) -> None:
        self.value, self.slope, self.order = value, slope, order

    def arithmetic(self) -> Arithmetic:
        """The arithmetic of such numbers over that of the value."""
        return _over(arithmetic(self.value))

    def derivative(self) -> Any:
        """The coefficient of ε; infinite where the change starts with a lower power."""
        if self.slope == 0 or self.order > 1:
            return 0
        return self.slope if self.order == 1 else self.slope * float("inf")

    def __add__(self, other: Any) -> OneSided:
        other = one_sided(other)
        return OneSided(self.value + other.value, *_first((self.slope, self.order), (other.slope, other.order)))

    def __neg__(self) -> OneSided:
        return OneSided(-self.value, -self.slope, self.order)

    def __mul__(self, other: Any) -> OneSided:
        other = one_sided(other)
        terms = [(self.value * other.slope, other.order), (other.value * self.slope, self.order),
                 (self.slope * other.slope, self.order + other.order)]
        return OneSided(self.value * other.value, *_first(*terms))

    def __abs__(self) -> OneSided:
        return -self if self < 0 else self

    def _ahead(self, other: OneSided) -> Any:
        """The first term of the difference to a number of the same value."""
        return self.slope - other.slope if self.order == other.order else (self - other).slope

    def __lt__(self, other: Any) -> bool:
        other = one_sided(other)
        return bool(self.value < other.value or (self.value == other.value and self._ahead(other) < 0))

    def __gt__(self, other: Any) -> bool:
        other = one_sided(other)
        return bool(self.value > other.value or (self.value == other.value and self._ahead(other) > 0))

    def __eq__(self, other: object) -> bool:
        other = one_sided(other)
        return bool(self.value == other.value and self._ahead(other) == 0)

    __hash__ = None  # type: ignore[assignment]


def one_sided(number: Any) -> OneSided:
    """A number that does not change."""
    return number if isinstance(number, OneSided) else OneSided(number)


def _first(*terms: tuple[Any, Any]) -> tuple[Any, Any]:
    """The sum of the terms of the lowest order."""
    changing = [(s, q) for s, q in terms if s != 0]
    if not changing:
        return 0, 1
    lowest = min(q for _, q in changing)
    return sum(s for s, q in changing if q == lowest), lowest


@lru_cache(maxsize=8)
def _over(kind: Arithmetic) -> Arithmetic:
    def power(base: Any, exponent: Any) -> Any:
        if not isinstance(base, OneSided):
            return kind.power(base, exponent)
        if isinstance(exponent, OneSided):
            raise UnsupportedError("a power whose exponent varies has no one-sided derivative here")
        if exponent == 0:
            return OneSided(kind.number(1))
        if base.value != 0:
            slope = kind.number(exponent) * kind.power(base.value, exponent - 1) * base.slope
            return OneSided(kind.power(base.value, exponent), slope, base.order)
        if exponent < 0:
            raise UnsupportedError("a division by 0 has no one-sided derivative")
        if base.slope == 0:
            return OneSided(base.value)
        return OneSided(base.value, kind.power(base.slope, exponent), base.order * Fraction(exponent))

    def smooth(function: Function) -> Callable[[Any], OneSided]:
        plain, slope = kind.functions[function.name], slope_in(function, kind)

        def apply(u: Any) -> OneSided:
            u = one_sided(u)
            value = plain(u.value)
            return OneSided(value, slope(u.value, value) * u.slope, u.order)

        return apply

    functions = Table(lambda f: (f.exact or smooth(f)) if f.name in kind.functions else None, {
        **{name: f for name, f in kind.functions.items() if name not in FUNCTIONS},
        "sqrt": lambda u: power(one_sided(u), Fraction(1, 2))})
    return Arithmetic(kind.number, lambda a, b: a * power(one_sided(b), -1), power, functions)
