"""Cases that decide a layer's value are solved, others refused in the card's own words."""

from __future__ import annotations

import pytest

import derive
from derive.errors import CardError, DeriveError, UnsupportedError

UNDECIDED = [  # and the place that is named
    (r"f_i = \begin{cases} x_i & x_i \ge 0 \\ \frac{1}{100} x_i & x_i w < 0 \end{cases}", "two values, .* at i = 0 for x = "),
    (r"y_i = \begin{cases} x_i & x_i > w_i \\ 1 - x_i & x_i < w_i + 1 \end{cases}", "two values, .* at i = "),
    (r"y_i = \begin{cases} x_i & x_i > w_i \\ 1 - x_i & x_i < 0 \end{cases}", "two values, .* at i = "),
    (r"y_i = \begin{cases} x_i & x_i \ge w \\ 2 w - x_i & x_i \le w \end{cases}", "or two derivatives, at i = "),
    (r"y_i = \begin{cases} x_i & x_i \ge 0 \\ x_i + 1 & x_i \le 0 \end{cases}", "two branches at x_{i} = 0"),
    (r"y_i = \begin{cases} x_i & x_i \ge 0 \\ 0 & x_i \le 0 \end{cases}", "two branches at x_{i} = 0"),
    (r"y_i = \begin{cases} x_i & x_i > 0 \\ -x_i & x_i < 0 \end{cases}", "no value at x_{i} = 0"),
    (r"y_i = \begin{cases} x_i & x_i > 0 \\ 1 - x_i & x_i < 0 \end{cases}", "no value at x_{i} = 0"),
]


@pytest.mark.parametrize(("formula", "why"), UNDECIDED)
def test_every_value_has_exactly_one_branch(formula: str, why: str) -> None:
    with pytest.raises(CardError, match=why) as found:
        derive.solve(formula=formula)
    assert "give every value exactly one branch" in str(found.value)


@pytest.mark.parametrize(("formula", "kind", "why"), [
    (r"y_i = x_i^{-1000}", UnsupportedError, "the derivative has an exponent beyond 1000"),
    (r"y_i = x_i^{600} x_i^{600}", UnsupportedError, "the derivative has an exponent beyond 1000"),
    (r"y_i = \log(0) x_i", CardError, r"`\\log\(0\)` has no value"),
    (r"y_i = \sqrt{-1} x_i", UnsupportedError, "the formula has no value"),
])
def test_numbers_without_a_value_are_told(formula: str, kind: type[DeriveError], why: str) -> None:
    with pytest.raises(kind, match=why):
        derive.solve(formula=formula)


@pytest.mark.parametrize("asked", [r"\frac{\partial y}{\partial y}", r"\frac{\partial y_i}{\partial y_j}"])
def test_a_derivative_by_itself_is_told(asked: str) -> None:
    card = derive.Card.parse(f"---\nid: x\n---\n# Question\nConsider $y_i = \\tanh(x_i)$. Derive ${asked}$.\n")
    with pytest.raises(CardError, match="is 1 where the indices agree, and 0 elsewhere"):
        derive.solve(card)
