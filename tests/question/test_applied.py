"""Functions that formulas apply: what words, their own names and logarithms say of σ."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.module import Module
from derive.question import module_of


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: a\n---\n# Question\n{question}\n"))


def test_sigma_of_logistic_regression_is_the_logistic_sigmoid() -> None:
    assert read(r"Logistic regression computes $p = \sigma(w^\top x + b)$. Derive $\partial p/\partial w$.").functions
    with pytest.raises(CardError, match="define the function|what it computes"):
        read(r"Unlike logistic regression, $p = \sigma(w^\top x)$ has an activation $\sigma$. Derive $\partial p/\partial w$.")


@pytest.mark.parametrize(("loss", "known"), [
    (r"p = \sigma(z), \quad L = -y (1 - p)^2 \log p - (1 - y) p^2 \log(1 - p)", True),
    (r"L = -\ln \sigma(z) - \ln\sigma(-z)", True),
    (r"p = \sigma(z), \quad L = -\sum_k y_k \log p_k", False),  # it may be a softmax
])
def test_sigma_is_the_logistic_sigmoid_where_it_is_the_probability_of_one_of_two_classes(loss: str, known: bool) -> None:
    with nullcontext() if known else pytest.raises(CardError, match="a function is defined, as in"):
        assert read(rf"Let ${loss}$. Derive $\partial L/\partial z$.").functions


@pytest.mark.parametrize("said", [r"where $\sigma$ denotes the softmax function", r"with the softmax $\sigma(\cdot)$"])
def test_a_letter_that_words_call_the_softmax_is_open(said: str) -> None:
    with pytest.raises(CardError):
        read(rf"Let $p = \sigma(z)$, {said}, and $L = -\sum_k y_k \log p_k$. Derive $\partial L/\partial z$.")
