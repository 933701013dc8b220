"""Entries that are 0 outside a tensor: beside the formulas, and as conditions in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import derive
from derive.errors import DeriveError
from derive.specify.writing import statement_of

CARD = "---\nid: zeros\n---\n\n# Question\nA filter computes\n$$ %s, $$\n%s Derive $%s$ for a given $%s$.\n"
CAUSAL = r"y_t = \sum_{k=0}^{K-1} w_k x_{t-k}, \quad t = 0, \dots, T-1"
CENTRED = r"y_t = \sum_{a=-1}^{1} w_a x_{t+a}, \quad t = 1, \dots, n"
BY = r"\partial L/\partial w_k$ and $\partial L/\partial x_s", r"\partial L/\partial y_t"
X, W = np.array([3.0, -1.0, 4.0, 2.0]), np.array([2.0, 5.0, -3.0])


def solved(tmp_path: Path, formula: str, said: str, by: tuple[str, str] = BY) -> derive.Solution:
    path = tmp_path / "zeros.md"
    path.write_text(CARD % (formula, said, *by))
    return derive.solve(path)


def padded(shift: int) -> np.ndarray:
    """y_t = Σ_k w_k x_{t − k + shift} by plain loops, zeros around x."""
    return np.array([sum(W[k] * X[t - k + shift] for k in range(3) if 0 <= t - k + shift < 4) for t in range(4)])


@pytest.mark.parametrize("said", [
    "where $x_s = 0$ for $s < 0$.", "with $x_s = 0$ if $s \\le -1$.", "where $x_{-1} = x_{-2} = 0$.",
    "Here $x_s = 0$ for $s < 0$ and for $s \\ge T$.",
])  # fmt: skip
def test_zeros_before_the_first_sample(tmp_path: Path, said: str) -> None:
    solution = solved(tmp_path, CAUSAL, said)
    assert solution.report.ok
    assert np.allclose(solution.forward(w=W, x=X), padded(0))
    upstream = np.ones(4)
    assert np.allclose(solution.backward("x", upstream=upstream, w=W, x=X), [W.sum(), W.sum(), W[:2].sum(), W[0]])
    assert np.allclose(solution.backward("w", upstream=upstream, w=W, x=X), [X.sum(), X[:3].sum(), X[:2].sum()])


@pytest.mark.parametrize("said", [
    "with $x_0 = x_{n+1} = 0$.", "where $x_t = 0$ for $t < 1$ and for $t > n$.", "with $x_0 = 0$ and $x_{n+1} = 0$.",
])  # fmt: skip
def test_zeros_on_both_sides_of_what_counts_from_one(tmp_path: Path, said: str) -> None:
    solution = solved(tmp_path, CENTRED, said, (r"\partial L/\partial w_a$ and $\partial L/\partial x_s", BY[1]))
    expected = [sum(W[a + 1] * X[t + a] for a in (-1, 0, 1) if 0 <= t + a < 4) for t in range(4)]
    assert np.allclose(solution.forward(w=W, x=X), expected)


@pytest.mark.parametrize("low", [0, 1])
@pytest.mark.parametrize("kernel", [-1, 0, 1])
@pytest.mark.parametrize("offset", ["t+k-1", "t-k", "t+2(k-1)"])
@pytest.mark.parametrize("where", ["behind", "in front"])
def test_each_index_counts_from_where_the_question_says(
        tmp_path: Path, low: int, kernel: int, offset: str, where: str) -> None:
    """Whatever the ranges and offsets are: right, or refused."""
    last = "T" if low else "T-1"
    range_ = rf"t = {low}, \dots, {last}"
    formula = rf"y_t = \sum_{{k={kernel}}}^{{{kernel + 2}}} w_k x_{{{offset}}}"
    said = f"where $x_s = 0$ for $s < {low}$ and for $s > {last}$."
    front = f"With ${range_}$ a filter computes" if where == "in front" else "A filter computes"
    between = f"for ${range_}$, " if where == "behind" else ""
    path = tmp_path / "card.md"
    path.write_text(f"---\nid: z\n---\n\n# Question\n{front}\n$$ {formula} $$\n{between}{said} "
                    r"Derive $\partial L/\partial x_s$ for a given $\partial L/\partial y_t$." "\n")
    try:
        solution = derive.solve(path)
    except DeriveError:
        return
    place = eval(f"lambda t, k: {offset.replace('2(', '2*(')}")
    expected = [sum(W[k - kernel] * X[at - low] for k in range(kernel, kernel + 3)
                    if 0 <= (at := place(t, k)) - low < 4) for t in range(low, low + 4)]
    assert np.allclose(solution.forward(w=W, x=X), expected)


@pytest.mark.parametrize("guard", [r"[t-k \ge 0]", r"[0 \le t-k]", r"[0 \le t-k < T]"])
def test_a_condition_in_a_sum_is_that_of_the_sum(tmp_path: Path, guard: str) -> None:
    solution = solved(tmp_path, CAUSAL.replace("x_", guard + " x_"), "")
    assert np.allclose(solution.forward(w=W, x=X), padded(0))


@pytest.mark.parametrize("value", ["x_t - x_{t-1}", r"x_t - [t \ge 2] x_{t-1}"])
def test_a_range_from_one_counts_from_one(tmp_path: Path, value: str) -> None:
    said = "where $x_0 = 0$." if "[" not in value else ""
    solution = solved(tmp_path, rf"y_t = {value}, \quad t = 1, \dots, T", said, (r"\partial L/\partial x_t", BY[1]))
    assert np.allclose(solution.forward(x=X), np.diff(X, prepend=0))


def test_the_statement_has_the_conditions(tmp_path: Path) -> None:
    first = solved(tmp_path, CAUSAL, "where $x_s = 0$ for $s < 0$.").module
    path = tmp_path / "again.md"
    path.write_text(f"---\nid: again\n{statement_of(first).text}---\n\n# Question\nDerive.\n")
    again = derive.solve(path)
    assert np.allclose(again.forward(w=W, x=X), padded(0))


@pytest.mark.parametrize("said", [
    "where $x_3 = 0$.", "where $x_s = 0$ for $s < 0$ or $s = 3$.", "where $x_s = 1$ for $s < 0$.", "where $w_s = 0$ for $s < 0$.", "",
])  # fmt: skip
def test_other_entries_with_numbers_stay_open(tmp_path: Path, said: str) -> None:
    with pytest.raises(DeriveError):
        solved(tmp_path, CAUSAL, said)


@pytest.mark.parametrize("said", [
    r"where $x_s = 0$ for $s < 1$, $s > n$ and $s \ne 3$.",
    r"where $x_s = 0 \text{ for } s < 1 \text{ and } t > 5$.", "where $x_s = 0$ for $s < 1$ or $s > s$.",
])  # fmt: skip
def test_further_conditions_are_not_passed_over(tmp_path: Path, said: str) -> None:
    with pytest.raises(DeriveError, match="where are these entries 0"):
        solved(tmp_path, CENTRED, said, (r"\partial L/\partial w_a$ and $\partial L/\partial x_s", BY[1]))


def test_zeros_take_part_in_a_maximum(tmp_path: Path) -> None:
    """Read with them, or refused; never a maximum of those entries only that are there."""
    formula = r"y_i = \max_{0\le a < 3} x_{2i+a-1}, \quad i = 0, \dots, 1"
    try:
        solution = solved(tmp_path, formula, "where $x_j = 0$ for $j < 0$.",
                          (r"\partial L/\partial x_j", r"\partial L/\partial y_i"))
    except DeriveError:
        return
    assert np.allclose(solution.forward(x=-np.arange(1.0, 5)), [0, -2])
