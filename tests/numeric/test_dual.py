"""Dual and decimal numbers against mpmath and against differences."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest

from derive.numeric.arithmetic import DECIMAL, EXACT, close, precision
from derive.numeric.dual import Dual, dual
from derive.numeric.point import Undefined

FUNCTIONS = {"exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "tanh": mpmath.tanh, "sin": mpmath.sin,
             "cos": mpmath.cos, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "arctan": mpmath.atan}


def agrees(found: Decimal, expected: mpmath.mpf) -> bool:
    return bool(abs(mpmath.mpf(str(found)) - expected) < mpmath.mpf(10) ** -45)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("at", ["0.3", "2.75"])
def test_functions_and_their_derivatives_to_45_digits(name: str, at: str) -> None:
    with precision(), mpmath.workdps(80):
        found = dual(DECIMAL).functions[name](Dual(Decimal(at), {"x": 1}))
        assert agrees(found.value, FUNCTIONS[name](mpmath.mpf(at)))
        assert agrees(found.slopes["x"], mpmath.diff(FUNCTIONS[name], mpmath.mpf(at), h=mpmath.mpf(10) ** -30))


@pytest.mark.parametrize("exponent", [3, -2, Fraction(1, 2), Fraction(-3, 2)])
def test_powers(exponent: Fraction | int) -> None:
    with precision(), mpmath.workdps(80):
        found = dual(DECIMAL).power(Dual(Decimal("1.7"), {"x": 1}), exponent)
        e = mpmath.mpf(Fraction(exponent).numerator) / Fraction(exponent).denominator
        assert agrees(found.value, mpmath.mpf("1.7") ** e)
        assert agrees(found.slopes["x"], e * mpmath.mpf("1.7") ** (e - 1))


def test_a_power_whose_exponent_moves() -> None:
    with precision(), mpmath.workdps(80):
        found = dual(DECIMAL).power(Dual(Decimal("1.7"), {"x": 1}), Dual(Decimal("0.4"), {"a": 1}))
        base, a = mpmath.mpf("1.7"), mpmath.mpf("0.4")
        assert agrees(found.slopes["x"], a * base ** (a - 1))
        assert agrees(found.slopes["a"], base**a * mpmath.log(base))


def test_exact_quotients_stay_fractions() -> None:
    x = Dual(Fraction(3), {"x": 1})
    found = x * x * dual(EXACT).power(x + 1, -1)
    assert (found.value, found.slopes["x"]) == (Fraction(9, 4), Fraction(15, 16))


def test_a_tie_of_values_alone_is_a_kink() -> None:
    x, y = Dual(1, {"x": 1}), Dual(1, {"y": 1})
    for compare in (lambda: x > y, lambda: max(x, y), lambda: x == 1, lambda: abs(x - 1)):
        with pytest.raises(Undefined):
            compare()
    assert max(x, Dual(1, {"x": 1})).slopes == {"x": 1}


def test_rounding_does_not_move_a_number_off_a_kink() -> None:
    with precision():
        root = dual(DECIMAL).power(Dual(Decimal(3), {"x": 1}), Fraction(1, 2))
        near = root * root
        assert near.value != 3
        with pytest.raises(Undefined):
            max(near, Decimal(3))
        assert close(max(near, Dual(Decimal(3), {"x": 1})).slopes["x"], 1)
        assert near > Decimal("2.9999999")


@pytest.mark.parametrize(("function", "value"), [("log", 0), ("log", -1), ("sqrt", -1)])
def test_outside_its_domain_a_function_has_no_value(function: str, value: int) -> None:
    with precision(), pytest.raises((ValueError, ArithmeticError)):
        DECIMAL.functions[function](Decimal(value))


def test_equal_up_to_rounding() -> None:
    with precision():
        assert close(Decimal(1) / 3 * 3, 1) and close(Decimal(10) ** 30 / 3 * 3, 10**30)
        assert not close(Decimal("0.333333333333333333333333333333"), Fraction(1, 3))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh", "sinh", "cosh", "root"])
def test_what_is_kept_has_all_digits_whoever_asked_first(name: str) -> None:
    at = Decimal("1.234567")

    def value() -> Decimal:
        return DECIMAL.power(at, Fraction(1, 2)) if name == "root" else DECIMAL.functions[name](at)

    value()
    with precision(), mpmath.workdps(80):
        assert agrees(value(), FUNCTIONS["sqrt" if name == "root" else name](mpmath.mpf("1.234567")))
