"""Nouns in what is asked are the letters of the layers that the formulas compute, or open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import DeriveError
from derive.expr import Entry
from derive.module import Module
from derive.question import module_of

NET = r"Let $h = \tanh(W_1 x + b_1)$ and $y = W_2 h + b_2$ with $x \in \mathbb{R}^n$."
BEHIND = r"Let $y = W_2 h + b_2$, where $h = \tanh(W_1 x + b_1)$ with $x \in \mathbb{R}^n$."
PLAIN = r"Let $z = W x + b$, $a = \tanh(z)$ and $o = V a + c$ with $x \in \mathbb{R}^n$."
ONE = r"Let $y_k = \sum_j W_{kj} x_j + b_k$."
LINE = r"Let $y = w x + b$ and $L = (y-t)^2$."
BY = "Derive the gradient of the loss with respect to"


def asked(question: str) -> set[str]:
    module: Module = module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    return {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)}


@pytest.mark.parametrize(("layer", "words", "letters"), [
    (NET, "$W_1$ and the bias", "W_1 b_1"), (NET, "$W_2$ and the bias", "W_2 b_2"),
    (NET, "the weights of the first layer", "W_1"), (NET, "the weights in the second layer", "W_2"),
    (NET, "the parameters of the second layer", "W_2 b_2"), (NET, "the bias of the last layer", "b_2"),
    (NET, "the first weight matrix", "W_1"), (NET, "the weights of the output layer", "W_2"),
    (NET, "the hidden weights", "W_1"), (NET, "the first layer's weights and bias", "W_1 b_1"),
    (NET, "the weights and the bias of the first layer", "W_1 b_1"), (NET, "the biases", "b_1 b_2"),
    (NET, "the weights", "W_1 W_2"), (NET, "the input", "x"),
    (BEHIND, "the weights of the first layer and the bias of the second layer", "W_1 b_2"),
    (PLAIN, "the parameters of the output layer", "V c"), (PLAIN, "the hidden bias and the input", "b x"),
    (ONE, "the weights", "W"), (ONE, "the bias", "b"), (ONE, "its weights and its input", "W x"),
    (NET, "the weight matrix of layer 1", "W_1"), (NET, "the bias of layer two", "b_2"),
    (r"Let $y_k = \sum_j A_{kj} x_j + b_k$.", "the bias", "b"), (LINE, "the bias", "b"), (LINE, "$w$ and the bias", "w b"), (LINE, "the input", "x"),
])
def test_a_noun_is_the_letters_of_its_layer(layer: str, words: str, letters: str) -> None:
    assert asked(f"{layer} {BY} {words}.") == {*letters.split()}


@pytest.mark.parametrize(("layer", "words"), [
    (NET, "the bias"), (NET, "the weight matrix"), (NET, "the parameters of the third layer"),
    (NET, "the weights of the first unit"), (PLAIN, "the bias vector"),
    (r"Let $y = W_2 \tanh(W_1 x + b_1)$ with $x \in \mathbb{R}^n$.", "the weights of the first layer"),
])
def test_a_noun_of_several_letters_or_of_none_is_open(layer: str, words: str) -> None:
    with pytest.raises(DeriveError):
        asked(f"{layer} {BY} {words}.")


def test_an_input_of_no_weights_is_left_to_others() -> None:
    assert not asked(r"Let $y_k = \sum_a \sum_c T_{kac} u_a q_c + b_k$. Derive the backward message to the input.")


@pytest.mark.parametrize("words", ["the weights and the bias", "the weights and biases", "the parameters"])
def test_all_that_is_trained_is_the_parameter_message(words: str) -> None:
    module = module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{ONE} Derive the gradients with respect to {words}.\n"))
    assert "parameters" in module.asked and {*module.parameters} == {"W", "b"} and not module.wanted


def test_what_is_quoted_stands_on_the_card() -> None:
    module = module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{NET} {BY} the bias of the first layer.\n"))
    assert "asked for the derivative by `b_1` (line 6: “with respect to the bias of the first layer”)" in module.readings
    assert "asked for by $b_1$ (line 6: “the bias of the first layer”)" in module.readings
