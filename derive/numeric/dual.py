"""Dual numbers: a value with its derivatives by some variables, carried through any computation.

Forward-mode differentiation by running the forward formula itself: each function's
derivative is the only calculus here.  Where two equal values with different
derivatives are compared, the derivative may not exist: :class:`Undefined`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any

from derive.numeric.numbers import Arithmetic
from derive.numeric.ordered import Ordered
from derive.numeric.point import Undefined

Slopes = Mapping[Hashable, Any]  # variable → derivative; a variable that is not there has 0


class Dual(Ordered):
    """value + Σ_v slopes[v] dv."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: Any, slopes: Slopes) -> None:
        self.value, self.slopes = value, slopes

    def __add__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.slopes)
        return Dual(self.value + other.value, _combined(self.slopes, 1, other.slopes, 1))

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, {v: -d for v, d in self.slopes.items()})

    def __sub__(self, other: Any) -> Dual:
        return self + (-other)

    def __rsub__(self, other: Any) -> Dual:
        return -self + other

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value * other, {v: d * other for v, d in self.slopes.items()})
        return Dual(self.value * other.value, _combined(self.slopes, other.value, other.slopes, self.value))

    __rmul__ = __mul__

    def __abs__(self) -> Dual:
        return self if self > 0 else -self

    def _order(self, other: Any) -> int:
        """1, 0 or −1; a tie in value alone is a kink."""
        value, slopes = (other.value, other.slopes) if isinstance(other, Dual) else (other, {})
        if self.value == value:
            if any(self.slopes.get(v, 0) != slopes.get(v, 0) for v in {*self.slopes, *slopes}):
                raise Undefined
            return 0
        return 1 if self.value > value else -1


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


@lru_cache(maxsize=8)
def dual(base: Arithmetic) -> Arithmetic:
    """The arithmetic of dual numbers over another; plain numbers stay plain."""
    def lifted(function: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
        def apply(x: Any) -> Any:
            if not isinstance(x, Dual):
                return function(x)
            y = function(x.value)
            factor = slope(x.value, y)
            return Dual(y, {v: d * factor for v, d in x.slopes.items()})

        return apply

    def power(x: Any, e: Any) -> Any:
        if isinstance(e, Dual):
            value = base.power(value_of(x), e.value)
            by_e, by_x = value * f["log"](value_of(x)), e.value * base.power(value_of(x), e.value - 1)
            return Dual(value, _combined(slopes_of(x), by_x, e.slopes, by_e))
        if not isinstance(x, Dual):
            return base.power(x, e)
        if e == 0:
            return base.power(x.value, e)
        factor = base.number(e) * base.power(x.value, e - 1)
        return Dual(base.power(x.value, e), {v: d * factor for v, d in x.slopes.items()})

    f, one = dict(base.functions), base.number(1)
    slopes: dict[str, Callable[[Any, Any], Any]] = {
        "exp": lambda x, y: y, "log": lambda x, y: base.power(x, -1), "sqrt": lambda x, y: base.power(2 * y, -1),
        "tanh": lambda x, y: one - y * y, "sinh": lambda x, y: f["cosh"](x), "cosh": lambda x, y: f["sinh"](x),
        "sin": lambda x, y: f["cos"](x), "cos": lambda x, y: -f["sin"](x),
        "arctan": lambda x, y: base.power(one + x * x, -1),
    }
    functions = f | {name: lifted(f[name], slope) for name, slope in slopes.items() if name in f}
    return Arithmetic(base.number, lambda a, b: a * power(b, -1), power, functions)
