"""Exact numbers are those of the standard library, however they are calculated."""

import operator
import pickle
from copy import copy
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from derive.numeric.arithmetic import EXACT, Ratio

NUMBERS = [Fraction(n, d) for n in range(-4, 5) for d in (1, 2, 3, 6)]
PAIRS = [operator.add, operator.sub, operator.mul, operator.lt, operator.le, operator.gt, operator.ge, operator.eq]


def ratio(value: Fraction) -> Ratio:
    return Ratio(value.numerator, value.denominator)


@pytest.mark.parametrize("operation", PAIRS, ids=lambda o: o.__name__)
def test_as_the_library_has_it(operation: Any) -> None:
    for a, b in product(NUMBERS, NUMBERS):
        expected = operation(a, b)
        others = [b, ratio(b), float(b), *([int(b)] if b.denominator == 1 else [])]
        for left, right in [*((ratio(a), other) for other in others), (a, ratio(b))]:
            found = operation(left, right)
            if type(right) is float:
                assert found == operation(a, right) and type(found) is type(operation(a, right))
            else:
                assert found == expected and hash(found) == hash(expected) and str(found) == str(expected)
        if a.denominator == 1:
            assert operation(int(a), ratio(b)) == expected


def test_what_is_made_of_one() -> None:
    for value in NUMBERS:
        own = ratio(value)
        assert (-own, abs(own), copy(own), pickle.loads(pickle.dumps(own))) == (-value, abs(value), value, value)
    with pytest.raises(TypeError):
        operator.add(ratio(Fraction(1, 2)), "1")


def test_powers_and_whole_numbers() -> None:
    for value, exponent in product(NUMBERS, range(-3, 4)):
        if value or exponent >= 0:
            found = EXACT.power(EXACT.number(value), exponent)
            assert found == value**exponent and (type(found) is int) == (found.denominator == 1)
    with pytest.raises(ValueError, match="root"):
        EXACT.power(4, Fraction(1, 2))
    with pytest.raises(ZeroDivisionError):
        EXACT.power(0, -1)
