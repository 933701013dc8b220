"""c + s ε^q for an infinitely small ε > 0: a value and how it starts to change along a direction.

Compared as they are for small ε, so a maximum, a median or |x| takes the branch that
it has just beside a tie: f(x + ε v) = f(x) + ε f'(x; v) + …
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, total_ordering
from typing import Any

from derive.errors import UnsupportedError
from derive.numeric.numbers import Arithmetic, arithmetic


@total_ordering
@dataclass(frozen=True, eq=False)
class OneSided:
    """``value`` + ``slope`` · ε^``order``, the first term that changes; slope 0 where none does."""

    value: Any
    slope: Any = 0
    order: Any = 1

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

    __radd__ = __add__

    def __neg__(self) -> OneSided:
        return OneSided(-self.value, -self.slope, self.order)

    def __sub__(self, other: Any) -> OneSided:
        return self + -one_sided(other)

    def __rsub__(self, other: Any) -> OneSided:
        return -self + other

    def __mul__(self, other: Any) -> OneSided:
        other = one_sided(other)
        terms = [(self.value * other.slope, other.order), (other.value * self.slope, self.order),
                 (self.slope * other.slope, self.order + other.order)]
        return OneSided(self.value * other.value, *_first(*terms))

    __rmul__ = __mul__

    def __abs__(self) -> OneSided:
        return -self if self < 0 else self

    def __lt__(self, other: Any) -> bool:
        gap = self - other
        return bool(gap.value < 0 or (gap.value == 0 and gap.slope < 0))

    def __eq__(self, other: object) -> bool:
        gap = self - other
        return bool(gap.value == 0 and gap.slope == 0)

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
        if base.value != 0:
            slope = kind.number(exponent) * kind.power(base.value, exponent - 1) * base.slope
            return OneSided(kind.power(base.value, exponent), slope, base.order)
        if exponent < 0:
            raise UnsupportedError("a division by 0 has no one-sided derivative")
        if base.slope == 0:
            return OneSided(base.value)
        return OneSided(base.value, kind.power(base.slope, exponent), base.order * Fraction(exponent))

    def smooth(name: str, derivative: Callable[[Any], Any]) -> Callable[[Any], OneSided]:
        def function(u: Any) -> OneSided:
            u = one_sided(u)
            return OneSided(kind.functions[name](u.value), derivative(u.value) * u.slope, u.order)

        return function

    known = {"exp": lambda u: kind.functions["exp"](u), "log": lambda u: kind.quotient(1, u),
             "tanh": lambda u: 1 - kind.functions["tanh"](u) ** 2}
    functions = {**kind.functions, **{name: smooth(name, d) for name, d in known.items() if name in kind.functions},
                 "sqrt": lambda u: power(one_sided(u), Fraction(1, 2))}
    return Arithmetic(kind.number, lambda a, b: a * power(one_sided(b), -1), power, functions)
