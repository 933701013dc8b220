"""Capitals with a label are matrices where that fits, and h_{k+1} beside a definition of h_k is that tensor shifted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import derive

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
