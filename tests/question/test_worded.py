"""Messages that words ask for, of a layer that formulas compute: all that it is given, or the card stays open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of

AFFINE = r"A block computes $$y_k = \tanh\Bigl(\sum_j A_{kj} x_j + c_k\Bigr), \qquad k = 1, \dots, K,$$ from a reading. "
BILINEAR = (r"A comparer takes two descriptions $u \in \mathbb{R}^n$ and $v \in \mathbb{R}^m$ and has a table $M$: "
            r"$$s = \sum_{i=1}^n \sum_{j=1}^m u_i M_{ij} v_j.$$ ")


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: a\n---\n# Question\n{question}\n\n---\n# Solution\n"))


@pytest.mark.parametrize("request_", [
    "Derive the message to the reading and the gradients for its table and its offsets.",
    "Find the gradients that it passes to its reading.",
    "Establish the backward message of the block, and compare it with that of a linear one.",
    "Which messages does the block send back?",
])
def test_nouns_of_what_is_given_ask_for_all_of_it(request_: str) -> None:
    module = read(AFFINE.replace("from a reading", "from a reading, with a table and offsets") + request_)
    assert {*module.inputs, *module.parameters} == {"x", "A", "c"}
    assert "vjp" in module.asked  # by each letter: no word tells parameters apart
    assert ("of what: derived by all" in " ".join(module.readings)) is ("table" in request_)


def test_what_no_derivative_answers_is_said() -> None:
    module = read(BILINEAR + "Derive the gradients for the two descriptions and the table, and test the case of a "
                  "single entry.")
    assert any("not answered" in reading for reading in module.readings)


@pytest.mark.parametrize("request_", [
    "Derive the gradient of the loss and the optimal step size.",
    "Derive the gradients of all quantities except the offsets.",
    "Derive the message to the reading and the Hessian.",
    "Derive the gradient of the squared outputs with respect to the reading.",
    "Derive the message to the blorp.",
    "Derive the gradients for the tied weights.",
    "Derive the gradient of the average output.",
    "Derive the backward messages of the block and of its transpose.",
    "The outputs are summed. Derive the gradient of this sum with respect to the reading.",
])
def test_words_that_may_ask_for_something_else_are_open(request_: str) -> None:
    with pytest.raises(DeriveError):
        read(AFFINE + request_)


@pytest.mark.parametrize("further", [
    "Its outputs are squashed by a sigmoid.", "Its output is squashed by a logistic sigmoid.",
    "Its units are normalised by a softmax.",
])
def test_a_function_is_shown_by_its_own_form_only(further: str) -> None:
    """tanh computes neither a sigmoid nor a softmax."""
    with pytest.raises(DeriveError, match="no formula computes it"):
        read(f"{AFFINE}{further} Derive the gradients for the weights $A$ and the biases $c$.")


@pytest.mark.parametrize("asked", [
    "Derive the gradient for the weights of the previous layer.", "Derive the backward message of the layer that undoes this one.",
])
def test_what_is_asked_of_another_layer_is_open(asked: str) -> None:
    with pytest.raises(DeriveError, match="not understood in what is asked"):
        read(f"{AFFINE} {asked}")
