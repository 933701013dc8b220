"""The arithmetic of each number type: exact (int, Fraction), float, and decimals of 60 digits."""

from __future__ import annotations

import decimal
import math
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from derive.functions import Function, Table
from derive.reductions import REDUCTIONS


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """How a number type writes constants, divides, raises to a power and applies functions."""

    number: Callable[[Any], Any]
    quotient: Callable[[Any, Any], Any]
    power: Callable[[Any, Any], Any]
    functions: Mapping[str, Callable[..., Any]]


class Calculating:
    """What is calculated with: differences, and what stands on the right, follow from sum, negative and product."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        raise NotImplementedError

    def __neg__(self) -> Any:
        raise NotImplementedError

    def __mul__(self, other: Any) -> Any:
        raise NotImplementedError

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __rmul__(self, other: Any) -> Any:
        return self * other


class Ratio(Fraction):
    """A fraction that asks no abstract class what the other number is: that takes longer than to calculate with it."""

    __slots__ = ()
    _numerator: int
    _denominator: int

    def __add__(self, other: Any) -> Any:
        if type(other) is int:
            return _ratio(self._numerator + other * self._denominator, self._denominator)
        if isinstance(other, Fraction):
            n, d = other.as_integer_ratio()
            return _reduced(self._numerator * d + n * self._denominator, self._denominator * d)
        return super().__add__(other)

    def __neg__(self) -> Any:
        return _ratio(-self._numerator, self._denominator)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if type(other) is int:
            return _reduced(self._numerator * other, self._denominator)
        if isinstance(other, Fraction):
            n, d = other.as_integer_ratio()
            return _reduced(self._numerator * n, self._denominator * d)
        return super().__mul__(other)

    __radd__, __rmul__ = __add__, __mul__

    def __abs__(self) -> Any:
        return -self if self._numerator < 0 else self

    def _richcmp(self, other: Any, op: Callable[[Any, Any], Any]) -> Any:
        """All comparisons but those of equality."""
        if isinstance(other, (int, Fraction)):
            n, d = other.as_integer_ratio()
            return op(self._numerator * d, n * self._denominator)
        return super()._richcmp(other, op)  # type: ignore[misc]


def _ratio(numerator: int, denominator: int) -> Ratio:
    """The fraction of two numbers without a common factor."""
    found = object.__new__(Ratio)
    found._numerator, found._denominator = numerator, denominator
    return found


def _reduced(numerator: int, denominator: int) -> Ratio:
    common = math.gcd(numerator, denominator)
    return _ratio(numerator // common, denominator // common)


def _plain(value: Any) -> Any:
    """An int where the fraction is whole: integers compare and add much faster."""
    if type(value) is int:
        return value
    n, d = (value if isinstance(value, Fraction) else Fraction(value)).as_integer_ratio()
    return n if d == 1 else _ratio(n, d)


def _exact_power(base: Any, exponent: Any) -> Any:
    if exponent.denominator != 1:
        raise ValueError("a root is not a fraction: evaluate with floats or decimals")
    power = exponent.numerator
    return base ** power if type(base) is int and power >= 0 else _plain(Fraction(base) ** power)


_WHOLE: dict[str, Callable[..., Any]] = {"floor": math.floor, "ceil": math.ceil, "mod": lambda a, b: a % b}
EXACT = Arithmetic(_plain, lambda a, b: _plain(Fraction(a) / Fraction(b)), _exact_power,
                   Table(lambda f: f.exact, _WHOLE))
FLOAT = Arithmetic(float, lambda a, b: a / b, lambda a, b: a**b,
                   Table(lambda f: f.exact or f.number, _WHOLE | {"pi": lambda: math.pi}))


def in_full(kind: Arithmetic) -> Callable[[str, list[Any]], Any]:
    """The value of a reduction that needs all its terms at once."""
    def reduced(op: str, terms: list[Any]) -> Any:
        loop = REDUCTIONS[op].loop
        if loop is None or not terms:
            raise ValueError(f"no {REDUCTIONS[op].words} of {len(terms)} terms")
        return loop(terms, kind)

    return reduced


def arithmetic(sample: Any) -> Arithmetic:
    """The arithmetic of a number's type."""
    if isinstance(sample, (int, Fraction)):
        return EXACT
    if hasattr(sample, "arithmetic"):  # a number made of others
        return sample.arithmetic()
    return FLOAT if isinstance(sample, float) else DECIMAL


# Decimal numbers of 60 digits, of which 50 are relied on: for what is not rational.

DIGITS = 60
_CLOSE = Decimal(10) ** -45
_HALF = Fraction(1, 2)
# What is kept between calls is computed in this context by name: the caller's may have fewer digits.
_CONTEXT = decimal.Context(prec=DIGITS, Emax=10**6, Emin=-(10**6))


def precision() -> AbstractContextManager[decimal.Context]:
    """The context in which all work with these numbers is done."""
    return decimal.localcontext(_CONTEXT)


def decimal_of(value: Any) -> Any:
    """A number as Decimal; a Decimal and an infinity stay."""
    if type(value) is Decimal:  # nearly all are
        return value
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
    return base.sqrt(_CONTEXT) if exponent == _HALF else _CONTEXT.power(base, decimal_of(exponent))


def _power(base: Any, exponent: Any) -> Any:
    """base^exponent; an exponent that is a value, not a literal number, wants a positive base."""
    if type(base) is int and base == 0 and exponent > 0:  # a sum over nothing
        return 0
    base = decimal_of(base)
    if type(exponent) is int or type(exponent) is Fraction and exponent.denominator == 1:
        if base == 0 and exponent < 0:
            raise ZeroDivisionError
        return base ** int(exponent)
    if base <= 0:
        raise ValueError("a root of a number that is not positive")
    return _root(base, exponent)


def _in_decimals(function: Function) -> Callable[[Any], Any] | None:
    """The function in the context of these numbers, with its values kept."""
    if function.exact:
        return function.exact

    @lru_cache(maxsize=8192, typed=True)
    def apply(value: Any) -> Any:
        if type(value) is int and value == 0 and function.edge is not None:  # a sum over nothing
            return Decimal(function.edge)
        if (function.domain == "positive" and value <= 0) or (function.domain == "nonnegative" and value < 0):
            raise ValueError(f"the {function.words} has no value there")
        number = decimal_of(value)
        if function.decimal is None:
            return _by_mpmath(function.mpmath, number)
        with precision():  # what is kept must not have the caller's digits
            return function.decimal(number, _CONTEXT)

    return apply


@lru_cache(maxsize=1024)
def _by_mpmath(name: str, value: Any) -> Any:
    own = _contexts.of(DIGITS + 5)
    return Decimal(own.nstr(getattr(own, name)(own.mpf(str(value))), DIGITS + 5))


class _Contexts(threading.local):
    """mpmath by digits: the precision of ``mpmath.mp`` is that of all threads, and a context takes long to make."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}

    def of(self, digits: int) -> Any:
        if digits not in self.made:
            from mpmath import MPContext

            self.made[digits] = MPContext()
            self.made[digits].dps = digits
        return self.made[digits]


_contexts = _Contexts()


def difference(name: str, value: Any) -> Decimal:
    """f'(u) to 60 digits: a central difference of mpmath's function at 160."""
    own, exact = _contexts.of(160), Fraction(value)
    function, h = getattr(own, name), own.mpf(10) ** -50
    u = own.mpf(exact.numerator) / exact.denominator
    return Decimal(own.nstr((function(u + h) - function(u - h)) / (2 * h), DIGITS))


DECIMAL = Arithmetic(decimal_of, lambda a, b: decimal_of(a) / decimal_of(b), _power,
                     Table(_in_decimals, _WHOLE | {"pi": lambda: _by_mpmath("acos", -1)}))
