"""The arithmetic of each number type: exact (int, Fraction), float, mpf."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """How a number type writes constants, divides, raises to a power and applies functions."""

    number: Callable[[Any], Any]
    quotient: Callable[[Any, Any], Any]
    power: Callable[[Any, Any], Any]
    functions: Mapping[str, Callable[..., Any]]

    @property
    def index_functions(self) -> dict[str, Any]:
        """Index terms are exact in every arithmetic: ⌊i/2⌋ is an integer."""
        return {"floor": math.floor, "ceil": math.ceil, "Fraction": Fraction, "inf": math.inf}

    @staticmethod
    def product(factors: Iterable[Any]) -> Any:
        return math.prod(factors)


def _plain(value: Any) -> Any:
    """An int where the fraction is whole: integers compare and add much faster."""
    whole = Fraction(value)
    return whole.numerator if whole.denominator == 1 else whole


def _exact_power(base: Any, exponent: Any) -> Any:
    if exponent == int(exponent):
        return _plain(Fraction(base) ** int(exponent))
    raise ValueError("a root is not a fraction: evaluate with floats or mpf")


PIECEWISE: dict[str, Callable[..., Any]] = {
    "abs": abs, "floor": math.floor, "ceil": math.ceil, "mod": lambda a, b: a % b, "sign": lambda a: (a > 0) - (a < 0),
}
EXACT = Arithmetic(_plain, lambda a, b: _plain(Fraction(a) / Fraction(b)), _exact_power, PIECEWISE)
FLOAT = Arithmetic(float, lambda a, b: a / b, lambda a, b: a**b, PIECEWISE | {
    name: getattr(math, name) for name in ("exp", "log", "sqrt", "tanh")
} | {"pi": lambda: math.pi})


@lru_cache(maxsize=1)
def _multiprecision() -> Arithmetic:
    import mpmath

    def number(value: Any) -> Any:
        exact = Fraction(value)
        return mpmath.mpf(exact.numerator) / exact.denominator

    functions = PIECEWISE | {name: getattr(mpmath, name) for name in ("exp", "log", "sqrt", "tanh")}
    functions["pi"] = lambda: +mpmath.pi
    return Arithmetic(number, lambda a, b: a / b, mpmath.power, functions)


def arithmetic(sample: Any) -> Arithmetic:
    """The arithmetic of a number's type."""
    if isinstance(sample, (int, Fraction)):
        return EXACT
    if hasattr(sample, "arithmetic"):  # a number made of others
        return sample.arithmetic()
    return FLOAT if isinstance(sample, float) else _multiprecision()
