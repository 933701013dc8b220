"""The arithmetic of each number type: exact (int, Fraction), float, mpf, and decimals of 60 digits."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
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


# Decimal numbers of 60 digits, of which 50 are relied on: for what is not rational.

DIGITS = 60
_CLOSE = Decimal(10) ** -45
# What is kept between calls is computed in this context by name: the caller's may have fewer digits.
_CONTEXT = decimal.Context(prec=DIGITS, Emax=10**6, Emin=-(10**6))


def precision() -> AbstractContextManager[decimal.Context]:
    """The context in which all work with these numbers is done."""
    return decimal.localcontext(_CONTEXT)


def decimal_of(value: Any) -> Any:
    """A number as Decimal; a Decimal and an infinity stay."""
    if isinstance(value, Fraction):
        return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Decimal(value) if isinstance(value, int) else value


def close(left: Any, right: Any) -> bool:
    """Equal up to rounding: to 45 digits, relative to the larger side where that is above 1."""
    if left == right:
        return True
    difference = abs(decimal_of(left) - decimal_of(right))
    return bool(difference <= _CLOSE * max(1, abs(decimal_of(left)), abs(decimal_of(right))))


@lru_cache(maxsize=8192)
def _root(base: Decimal, exponent: Any) -> Any:
    return base.sqrt(_CONTEXT) if exponent == Fraction(1, 2) else _CONTEXT.power(base, decimal_of(exponent))


def _power(base: Any, exponent: Any) -> Any:
    """base^exponent; an exponent that is a value, not a literal number, wants a positive base."""
    if type(base) is int and base == 0 and exponent > 0:  # a sum over nothing
        return 0
    base = decimal_of(base)
    if exponent == math.floor(exponent) and not (isinstance(exponent, Decimal) and base <= 0):
        if base == 0 and exponent < 0:
            raise ZeroDivisionError
        return base ** int(exponent)
    if base <= 0:
        raise ValueError("a root of a number that is not positive")
    return _root(base, exponent)


@lru_cache(maxsize=8192)
def _exp(value: Any) -> Any:
    return decimal_of(value).exp(_CONTEXT)


@lru_cache(maxsize=8192, typed=True)
def _log(value: Any) -> Any:
    if type(value) is int and value == 0:  # a sum over nothing: a window wholly in padding
        return Decimal("-Infinity")
    if value <= 0:
        raise ValueError("the logarithm of a number that is not positive")
    return decimal_of(value).ln(_CONTEXT)


def _sqrt(value: Any) -> Any:
    if value < 0:
        raise ValueError("the root of a negative number")
    return decimal_of(value).sqrt(_CONTEXT)


def _tanh(value: Any) -> Any:
    double = _exp(2 * decimal_of(value))
    return (double - 1) / (double + 1)


def _hyperbolic(sign: int) -> Callable[[Any], Any]:
    return lambda value: (_exp(value) + sign * _exp(-value)) / 2


def _by_mpmath(name: str) -> Callable[[Any], Any]:
    def function(value: Any) -> Any:
        import mpmath

        with mpmath.workdps(DIGITS + 5):
            return Decimal(mpmath.nstr(getattr(mpmath, name)(mpmath.mpf(str(decimal_of(value)))), DIGITS + 5))

    return function


DECIMAL = Arithmetic(decimal_of, lambda a, b: decimal_of(a) / decimal_of(b), _power, PIECEWISE | {
    "exp": _exp, "log": _log, "sqrt": _sqrt, "tanh": _tanh, "sinh": _hyperbolic(-1), "cosh": _hyperbolic(1),
    "sin": _by_mpmath("sin"), "cos": _by_mpmath("cos"), "arctan": _by_mpmath("atan"),
    "pi": lambda: _by_mpmath("acos")(-1),
})
