"""The algebra of proofs: what is reduced to 0 is 0, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.errors import UnsupportedError
from derive.verify.provers.algebra import Algebra, TooLarge

A = Algebra(4)
X, Y = A.entry("x"), A.entry("y")
P, Q = A.entry("p", True), A.entry("q", True)
ONE = A.number(1)


@pytest.mark.parametrize("difference", [
    A.exp(X + Y) - A.exp(X) * A.exp(Y),
    A.exp(X) * A.exp(-X) - 1,
    A.exp(X * Y) - A.exp(X * Y / 2) ** 2,
    A.exp(A.log(P)) - P,
    A.log(A.exp(X)) - X,
    A.log(P * Q) - A.log(P) - A.log(Q),
    A.root(X**2 + 1, 2) ** 2 - X**2 - 1,
    A.inverse(X + Y) * (X + Y) - 1,
    A.inverse(2 * X + 2 * Y) * 2 - A.inverse(X + Y),
    A.inverse(A.inverse(X + Y)) - X - Y,
    A.power(P, A.number(3) / 2) - A.root(P, 2) * P,
    A.exp(X) * A.inverse(A.exp(X) + A.exp(Y)) + A.exp(Y) * A.inverse(A.exp(X) + A.exp(Y)) - 1,
    A.root(A.number(8), 2) - 2 * A.root(A.number(2), 2),
    A.inverse(A.root(P + 1, 2)) * (P + 1) - A.root(P + 1, 2),
    A.power(P, X) * A.inverse(P) - A.power(P, X - 1),
])
def test_identities(difference) -> None:  # type: ignore[no-untyped-def]
    assert A.is_zero(difference)


@pytest.mark.parametrize("difference", [
    A.exp(X + Y) - A.exp(X) - A.exp(Y), A.root(X**2, 2) - X, A.log(X**2) - 2 * A.log(X), A.inverse(X + Y) - A.inverse(X),
    A.function("tanh", X) - A.function("tanh", Y), A.exp(2 * X) - A.exp(X), A.root(A.number(2), 2) - 1,
])
def test_what_is_no_identity(difference) -> None:  # type: ignore[no-untyped-def]
    assert not A.is_zero(difference)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-3, 3), min_size=4, max_size=4))
def test_a_fraction_is_zero_where_its_numerator_is(c: list[int]) -> None:
    numerator = c[0] * X + c[1] * Y + c[2] * X * Y + c[3]
    assert A.is_zero(A.times(numerator, A.inverse(X**2 + P))) == (not any(c))


def test_what_is_too_large_is_said_to_be() -> None:
    small = Algebra(1)
    with pytest.raises(TooLarge):
        small.raised(sum((small.entry("x") ** n for n in range(60)), small.number(0)), 60)
    with pytest.raises(UnsupportedError):
        for n in range(200):
            small.entry(n)
