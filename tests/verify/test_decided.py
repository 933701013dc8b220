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


@pytest.mark.parametrize("formula", [r"y_i = \pi", r"y_i = \begin{cases} \end{cases}"])
def test_a_layer_without_an_input_is_told(formula: str) -> None:
    with pytest.raises(CardError, match="the layer has no input"):
        derive.solve(formula=formula)


def test_a_power_of_zero_is_one_everywhere() -> None:
    assert derive.solve(formula="y_i = x_i^{0}").report.ok


@pytest.mark.parametrize(("asked", "sizes"), [  # each after the same layer at other sizes
    (r"\frac{\partial y_i}{\partial x_j}", "2 and n\u00a0=\u00a03"), (r"\frac{\partial y_i}{\partial x_5}", "6 and n\u00a0=\u00a07"),
    (r"\frac{\partial y_i}{\partial x_j}", "2 and n\u00a0=\u00a03"), (r"\frac{\partial y_3}{\partial x_j}", "4 and n\u00a0=\u00a05"),
])
def test_derivatives_by_numbered_entries_have_inputs_that_reach_them(asked: str, sizes: str) -> None:
    solution = derive.solve(derive.Card.parse(f"---\nid: x\n---\n# Question\nConsider $y_i = \\tanh(x_i)$. Derive ${asked}$.\n"))
    assert solution.report.ok and any(check.evidence.endswith(f"n\u00a0=\u00a0{sizes}") for check in solution.report.checks)


def test_a_derivative_by_a_far_entry_is_refused() -> None:
    with pytest.raises(derive.errors.LimitError, match="beyond the 10,000th"):
        derive.solve(derive.Card.parse("---\nid: x\n---\n# Question\nConsider $y_i = \\tanh(x_i)$. Derive "
                                       "$\\frac{\\partial y_i}{\\partial x_{999999999}}$.\n"))


@pytest.mark.parametrize("asked", [r"\frac{\partial y}{\partial y}", r"\frac{\partial y_i}{\partial y_j}"])
def test_a_derivative_by_itself_is_told(asked: str) -> None:
    card = derive.Card.parse(f"---\nid: x\n---\n# Question\nConsider $y_i = \\tanh(x_i)$. Derive ${asked}$.\n")
    with pytest.raises(CardError, match="is 1 where the indices agree, and 0 elsewhere"):
        derive.solve(card)
