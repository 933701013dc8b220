"""What a question asks to show is judged: false claims are refused, true ones printed and checked."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.solve import Solution, solve
from derive.verify.report import Verdict

SOFTMAX = r"Let $p_k = e^{z_k} / \sum_j e^{z_j}$ and $L = -\sum_k t_k \ln p_k$. "


def solved(question: str) -> Solution:
    return solve(Card.parse(f"---\nid: shown\n---\n# Question\n{question}\n"))


@pytest.mark.parametrize(
    "question",
    [
        r"Let $y_i = \tanh(x_i)$. Show that $\partial y_i/\partial x_i = 1 - y_i$.",
        r"Let $y_i = \tanh(x_i)$. Derive the backward message, and prove that $\frac{dy_i}{dx_i} = 1 + y_i^2$.",
        SOFTMAX + r"Show that $\frac{\partial p_k}{\partial z_j} = p_k (\delta_{kj} + p_j)$.",
        SOFTMAX + r"Targets $t$ are one-hot. Show that $\frac{\partial L}{\partial z_k} = t_k - p_k$.",
        r"Let $y_i = \max(0, x_i)$. Show that $\partial y_i/\partial x_i = 2 \mathbb{I}[x_i > 0]$.",
        r"Let $f(a) = \tanh(a)$. Show that $f'(a) = 1 + f(a)^2$.",
        r"Let $f(a) = \tanh(a)$. Show that $\frac{df}{da} = 1 + f(a)^2$.",
        r"Let $\sigma(a) = \frac{1}{1+e^{-a}}$. Show that its derivative is $\frac{d\sigma}{da} = \sigma(1 + \sigma)$.",
    ],
)
def test_a_false_claim_is_said_to_be_false_with_a_counterexample(question: str) -> None:
    with pytest.raises(CardError, match=r"^line 5: .* is to be shown, and it is false: (at .*)?for [xza] = .* differ") as found:
        solved(question)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "question",
    [
        r"Let $y_i = \tanh(x_i)$. Show that $\partial y_i/\partial x_i = 1 - y_i^2$.",
        SOFTMAX + r"Hence show that $\frac{\partial p_k}{\partial z_j} = p_k (\delta_{kj} - p_j)$.",
        SOFTMAX + r"Targets $t$ are one-hot. Show that $\frac{\partial L}{\partial z_k} = p_k - t_k$.",
        r"Let $y_i = \max(0, x_i)$. Show that $\partial y_i/\partial x_i = \mathbb{I}[x_i > 0]$.",
        r"Let $f(a) = \tanh(a)$. Show that $f'(a) = 1 - f(a)^2$.",
        r"Let $\sigma(a) = \frac{1}{1+e^{-a}}$. Show that its derivative is $\frac{d\sigma}{da} = \sigma(1 - \sigma)$.",
    ],
)
def test_a_true_claim_is_printed_and_proved(question: str) -> None:
    found = solved(question)
    assert found.report.ok
    assert [c.verdict for c in found.report.checks if c.name == "claim"] == [Verdict.PROVED]


def test_what_holds_of_the_labels_that_a_reader_expects_is_not_called_false() -> None:
    found = solved(SOFTMAX + r"Show that $\frac{\partial L}{\partial z_k} = p_k - t_k$.")
    assert found.report.ok and not found.module.claims
    assert found.messages.module.unanswered == (
        r"since it holds only where $\sum_{k} t_{k} = 1$: $\partial L / \partial z_{k} = p_{k} - t_{k}$",)


@pytest.mark.parametrize(
    "question",
    [
        r"Let $y_i = \max(0, x_i)$. Derive the backward message. Show that for $x_i > 0$ $\partial y_i/\partial x_i = 1$.",
        r"Let $y_i = \tanh(x_i)$. Derive the backward message. Show that $\partial y_i/\partial x_i = 1$ at the origin.",
        r"Let $y_i = \tanh(x_i)$. Derive the backward message. Hint: $\partial y_i/\partial x_i = 1 - y_i^2$.",
    ],
)
def test_what_is_restricted_or_recalled_is_no_claim(question: str) -> None:
    assert solved(question).module.claims == ()


@pytest.mark.parametrize("shown", [r"p_k (I_{kj} + p_j)", r"p_k ([k = j] - p_j)$ where $\beta = 1"])
def test_a_claim_that_is_not_judged_is_said_to_be_unanswered(shown: str) -> None:
    found = solved(rf"{SOFTMAX}Show that $\frac{{\partial p_k}}{{\partial z_j}} = {shown}$.")
    assert not found.module.claims and "it is not judged" in found.messages.module.unanswered[0]
