"""Short questions that name layers of the catalogue: the same module as `layers` gives, or none."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of


def _module(question: str, header: str = "") -> Module:
    return module_of(Card.parse(f"---\nid: short\n{header}---\n# Question\n\n{question}\n\n---\n\n# Solution\n"))


READ = [
    ("Derive the messages when joining a linear layer and a squared error loss.", "linear -> squared_error",
     "forward, backward, parameters"),
    ("Derive the forward, backward and parameter messages when joining a linear layer and a squared error.",
     "linear -> squared_error", "forward, backward, parameters"),
    ("Compute the gradients of a linear layer with softmax cross-entropy loss.",
     "linear -> softmax -> categorical_cross_entropy", "backward, parameters"),
    ("Derive the gradients for a linear layer followed by a sigmoid and binary cross-entropy loss.",
     "linear -> sigmoid -> binary_cross_entropy", "backward, parameters"),
    ("Derive backpropagation through batch normalisation.", "batch_norm", "backward"),
    ("Derive the backward pass of layer normalization.", "layer_norm", "backward"),
    ("Derive all messages for a GRU cell.", "gru", "forward, backward, parameters"),
    ("Consider an LSTM cell. Derive the backward message.", "lstm", "backward"),
    ("Derive the parameter message of an embedding layer.", "embedding", "parameters"),
    ("Find the gradients for a linear layer without bias followed by a tanh.", "linear(bias=false) -> tanh",
     "backward, parameters"),
    ("Derive the gradient of the cross-entropy loss with respect to the logits $z$.",
     "softmax(input=z) -> categorical_cross_entropy", "backward"),
    ("Derive the gradient of the Huber loss with respect to its input $u$.", "huber(input=u)", "backward"),
    ("How does the gradient propagate back through a hard swish layer?", "hard_swish", "backward"),
    ("Take a linear layer followed by a GLU. Find the gradients with respect to the parameters.", "linear -> glu",
     "parameters"),
    ("Derive the backward pass of a ReLU6 layer.", "relu6", "backward"),
    ("Derive the forward, backward and parameter messages of a hinge loss.", "hinge", "forward, backward"),
]


@pytest.mark.parametrize("question, layers, derive", READ)
def test_a_short_question_is_the_chain_that_it_names(question: str, layers: str, derive: str) -> None:
    named = _module("Derive.", f"layers: {layers}\nderive: [{derive}]\n")
    read = _module(question)
    assert read.equations == named.equations
    assert (read.inputs, read.parameters, read.constants) == (named.inputs, named.parameters, named.constants)
    assert {*named.asked} <= {*read.asked}
    assert not any("front matter" in reading or "`inputs:" in reading for reading in read.readings)


@pytest.mark.parametrize("name", ["linear layer", "sigmoid layer", "softmax layer", "squared error loss"])
@pytest.mark.parametrize("adjective", [
    "low-rank", "quantised", "binarised", "random", "stochastic", "two", "three", "centred", "generalised", "sparse",
    "masked", "clipped", "causal", "weight-normalised", "differentiable"])
def test_a_word_that_may_make_another_layer_is_not_passed_over(adjective: str, name: str) -> None:
    with pytest.raises(DeriveError, match=r"not understood|not covered|named|about a random"):
        _module(f"Derive the backward message of a {adjective} {name}.")


@pytest.mark.parametrize("question", [
    "Derive the gradients for a linear layer followed by a cross-entropy loss.",  # of probabilities, or of scores
    "Derive the backward message of a dropout layer.",
    "Derive the negative gradient of a ReLU layer followed by a mish.",
    "Derive the gradient of the squared sigmoid layer.",
    "Derive the gradient of a batch norm layer in evaluation mode.",
    "Derive the gradients of a squared error loss followed by a linear layer.",
    "Derive the messages of a residual block.",
    "Derive the gradient of a GRU cell with respect to the gate.",
    "Derive the gradient of a GRU cell with respect to its weights $Q$.",
])
def test_what_stays_open(question: str) -> None:
    with pytest.raises(DeriveError):
        _module(question)


@pytest.mark.parametrize("question", [
    "Derive the messages of a linear layer over a ReLU.",
    "Derive the messages of a ReLU into which a linear layer goes.",
    "Derive the messages of a linear layer with a tanh at its input.",
    "Derive the messages of a linear layer with a ReLU on both sides.",
    "Derive the backward message from a ReLU to a linear layer.",
    "A linear layer feeds a ReLU and a sigmoid at the same time. Derive the messages.",
    "The first output of a linear layer goes through a ReLU, the second through a tanh. Derive the messages.",
    "The output of a linear layer goes through a ReLU if it is large and through a tanh otherwise. Derive the messages.",
    "A linear layer is followed by a ReLU that is turned off. Derive the messages.",
    "A linear layer is followed by a ReLU, which is left out. Derive the messages.",
    "A linear layer is followed by a ReLU on every output but the first. Derive the messages.",
    "A linear layer, of which the bias is turned off, is followed by a ReLU. Derive the messages.",
    "A linear layer with one weight for all inputs is followed by a sigmoid. Derive the messages.",
    "Derive the backward message of a leaky ReLU with slope 1/3.",
    "Derive the backward message of a leaky ReLU with slope -0.1.",
    "Derive the backward message of a leaky ReLU with slope 10 %.",
    "Derive the gradient of a softmax with temperature 2^3.",
    "Derive the backward message of a tanh with slope 2.",
    "Derive the derivative of the softmax with respect to the temperature.",
    "Derive the derivative of a leaky ReLU with respect to the slope.",
    "Derive the backward message of a ReLU whose kink is at one.",
    "Derive the gradient of a softmax to the base 3.",
    "Derive the derivative of the sigmoid at zero.",
    "Derive the numerical gradient of a softmax.",
    "A linear layer is followed by a sigmoid. Derive the backward message between the two.",
])
def test_words_beside_named_layers_of_which_nothing_takes_account_open(question: str) -> None:
    with pytest.raises(DeriveError):
        _module(question)


@pytest.mark.parametrize("request_", [
    "Derive the backward message of the last layer.", "Derive the backward message behind the linear layer.",
    "Derive the backward message in front of the sigmoid.", "Derive the upstream gradient of the network.",
    "Derive the gradient with respect to the quantile.",
])
def test_messages_of_some_of_several_layers_or_that_are_given_are_open(request_: str) -> None:
    assert _module("A linear layer is followed by a sigmoid. Derive the backward message.")
    with pytest.raises(DeriveError):
        _module(f"A linear layer is followed by a sigmoid. {request_}")
