"""Decimal numbers of 60 digits, of which 50 are relied on: for what is not rational."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from derive.numeric.numbers import PIECEWISE, Arithmetic

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
