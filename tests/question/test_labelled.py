"""Capitals with a label are matrices where that fits, and h_{k+1} beside a definition of h_k is that tensor shifted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import derive
from derive.card import Card
from derive.errors import CardError
from derive.question import module_of

CARD = "---\nid: labelled\n---\n\n# Question\nLet {}. Derive the backward message with respect to {}.\n"
MATRICES = {
    r"$\mathbf h = \tanh(W_a \mathbf x)$": ("W_a",),
    r"$\mathbf h = \tanh(W_{xh} \mathbf x + W_{hh} \mathbf g)$": ("W_xh", "W_hh"),
    r"$\mathbf h = \tanh(W_H \mathbf x + \mathbf b)$": ("W_H",),
}


def solved(tmp_path: Path, formulas: str, wrt: str = r"$\mathbf x$") -> derive.Solution:
    path = tmp_path / "card.md"
    path.write_text(CARD.format(formulas, wrt), encoding="utf-8")
    return derive.solve(path)


@pytest.mark.parametrize("formula", MATRICES)
def test_a_labelled_capital_before_a_vector_is_a_matrix(formula: str, tmp_path: Path) -> None:
    solution = solved(tmp_path, formula)
    source = np.random.default_rng(1)
    arrays = {n: source.normal(size=(2, 3)) if n in MATRICES[formula] else source.normal(size=2 if n == "b" else 3)
              for n in (*solution.module.inputs, *solution.module.parameters, *solution.module.constants)}
    h, first = solution.forward(**arrays), arrays[MATRICES[formula][0]]
    assert solution.report.ok
    np.testing.assert_allclose(solution.jacobian("x", **arrays), (1 - h**2)[:, None] * first)


def test_a_shifted_letter_is_the_tensor_that_the_card_defines(tmp_path: Path) -> None:
    solution = solved(tmp_path, r"$h_k = \max(x_k, x_{k+1})$ and $y_k = h_k + h_{k+1}$", "$x$")
    assert solution.module.inputs == ("x",)
    x = np.array([1.0, 5.0, 2.0, 4.0])
    np.testing.assert_allclose(solution.forward(x=x), [10.0, 9.0])
    np.testing.assert_allclose(solution.jacobian("x", x=x), [[0, 2, 0, 0], [0, 1, 0, 1]])


def module_of_text(text: str) -> derive.module.Module:
    return module_of(Card.parse(f"---\nid: labelled\n---\n\n# Question\n{text}\n"))


@pytest.mark.parametrize("told", ["the candidate has weights $W_h$ and bias $b_h$", "beside it works $W_h$"])
def test_a_letter_with_another_label_than_the_formulas_have_is_open(told: str) -> None:
    with pytest.raises(CardError, match="`W_h` is named"):
        module_of_text(rf"A gate computes $g = \sigma(W_g x + b_g)$; {told}. Derive $\partial L/\partial x$.")


def test_the_number_of_a_claim_is_not_put_in() -> None:
    asked = r"Derive $\partial L/\partial s$."
    loss = r"For a logit $s$ let $p = \frac{1}{1 + e^{-s}}$ and $L = -(1 - p)^\gamma \log p$."
    assert "gamma" in module_of_text(rf"{loss} {asked} Verify that $\gamma = 0$ gives $p - 1$.").given
    assert "gamma" not in module_of_text(rf"{loss} We set $\gamma = 2$. {asked}").given


@pytest.mark.parametrize("said", [
    r"$L = \sum_{k \ne c} \max(0, 1 + s_k - s_c)$. Derive $\partial L/\partial s_k$ for $k \ne c$ and $\partial L/\partial s_c$.",
    r"$q_k = \begin{cases} 1 - \epsilon & k = c \\ \epsilon & k \ne c \end{cases}$, $L = \sum_k q_k s_k^2$. Derive $\partial L/\partial s_k$.",
    r"$q_k = (1 - \epsilon) [k = c] + \epsilon/K$ for $k = 1, \dots, K$, $L = -\sum_k q_k s_k$. Derive $\partial L/\partial s_k$.",
])
def test_a_class_that_the_card_names_is_a_label_wherever_it_stands(said: str) -> None:
    module = module_of_text(rf"Let $s \in \mathbb{{R}}^K$, $0 < \epsilon < 1$, $c \in \{{1, \dots, K\}}$ the class and {said}")
    assert "c" in module.constants and module.output == "L"
