"""What words say an equation is elsewhere, and a δ that is defined behind it, are not passed over."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card

RELU = r"A ReLU layer computes $y_k = \max(0, s_k)$. Derive $\partial y_k/\partial s_k$ and the backward message."
SIGMOID = (r"A layer computes $s_k = \sum_j W_{kj}x_j$ and $y_k = \frac{1}{1+e^{-s_k}}$. Derive $\partial L/\partial x_j$ "
           r"from the incoming $\partial L/\partial y_k$.")
SLOPE = r"$\frac{\partial y_k}{\partial s_k} = 1$ for $s_k > 1$"


@pytest.mark.parametrize(("question", "text", "verdicts"), [
    (RELU, f"{SLOPE}, zero otherwise.", ["not read"]), (RELU, f"{SLOPE}. Otherwise it is zero.", ["not read"]),
    (RELU, f"{SLOPE} and it vanishes elsewhere.", ["not read"]), (RELU, f"{SLOPE}, and $0$ otherwise.", ["refuted"]),
    (RELU, f"{SLOPE}.", ["proved"]),
    (SIGMOID, r"$\frac{\partial L}{\partial x_j} = \sum_k W_{kj}\delta_k y_k(1-y_k)$ with $\delta_k = "
              r"\frac{\partial L}{\partial s_k}$.", ["not read"]),
])
def test_verdicts(question: str, text: str, verdicts: list[str]) -> None:
    report = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"), text=text)
    assert [c.verdict for c in report.checks] == verdicts
