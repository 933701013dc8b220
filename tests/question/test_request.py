"""What questions ask for, in words: kinds of messages, in their order."""

from __future__ import annotations

import pytest

import derive
from derive.question.request import Spoken

CASES = r"""
derive the backward message and the parameter message. | vjp parameters
derive the forward, backward and parameter messages. | forward vjp parameters
derive the parameter messages. | parameters
derive its backward. | vjp
the forward message is shown. | nothing
does it have a parameter message? | nothing
derive all messages. | vjp all
derive the messages of this layer. | vjp all
derive the messages for ∎. | vjp
use gradient descent. | nothing
the gradient vanishes. | vjp
differentiate the layer. | jacobian
compute the gradient of the loss with respect to both weights and bias. | vjp parameters
compute the weight update. | parameters
show how the error is propagated back to the input. | vjp
odvoďte zpětnou zprávu a zprávu pro parametry. | vjp parameters
odvoďte všechny zprávy. | vjp all
""".strip().splitlines()


@pytest.mark.parametrize("case", CASES)
def test_messages_in_words(case: str) -> None:
    words, _, expected = case.partition(" | ")
    said = Spoken(words)
    kinds = dict.fromkeys([*(item.kind for item in said.items), *["all"] * (said.everything is not None)])
    assert (" ".join(kinds) or "nothing") == expected


@pytest.mark.parametrize(("request_", "loss"), [
    ("Derive the gradient with respect to $W$.", True),
    ("Derive the gradient of the output with respect to $W$.", False),
    ("Derive the derivative of the loss with respect to $W$.", True),
    ("Derive the derivative with respect to $W$.", False),
])  # fmt: skip
def test_a_gradient_is_that_of_a_loss_unless_the_output_is_named(request_: str, loss: bool) -> None:
    text = f"---\nid: q\n---\n# Question\n$y_k = \\sum_j W_{{kj}} x_j$ with the weights $W$. {request_}\n"
    wanted = derive.question.module_of(derive.Card.parse(text, "q.md")).wanted
    assert any("loss" in repr(d.of) for d in wanted) is loss
