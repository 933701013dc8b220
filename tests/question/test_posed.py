"""Words beside formulas that pose a question: they describe, or they say that more is done, and then it is open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import OpenError
from derive.module import Module
from derive.question import module_of

NORM = (r"Let $\mu = \frac1n \sum_{i=1}^n x_i$, $v = \frac1n \sum_{i=1}^n (x_i - \mu)^2$ and "
        r"$y_i = \gamma_i \frac{x_i - \mu}{\sqrt{v + \epsilon}} + \beta_i$.")
GATE = r"An experiment has $g_k = \sigma(\sum_j U_{kj} x_j)$ with $\sigma(s) = 1/(1 + e^{-s})$ and $y_k = g_k \sum_j V_{kj} x_j$."
ASKED = {NORM: r"Derive $\partial L/\partial x_i$ and $\partial L/\partial \gamma_i$.",
         GATE: r"Derive $\partial L/\partial x_j$, $\partial L/\partial U_{kj}$ and $\partial L/\partial V_{kj}$."}


def read(layer: str, said: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{layer} {said} {ASKED[layer]}\n"))


@pytest.mark.parametrize("layer", ASKED)
@pytest.mark.parametrize("said", [
    r"Full credit only for a formula with no leftover $\partial L/\partial y_i$.", "Be explicit about which output times contribute.",
    "The gain is learned and shared among tokens.", "A constant that we picked by hand stands there.",
    "(exactly one component is equal to 1, the others are 0)", "The vectors are not normalised.",
    "The additive constant has been dropped, since it plays no role.", "The masked entries of a sequence play no role here.",
    "Do not forget the second path.", "Such a unit is popular in image retrieval, where activations are positive.",
    "The teacher is frozen.", "Recall that this activation was the first that was used in deep networks.",
    "Note that the units compete.", "With a mini-batch the same would be done for each sample.",
])
def test_words_that_describe_change_nothing(layer: str, said: str) -> None:
    assert read(layer, said).equations == read(layer, "").equations


@pytest.mark.parametrize("layer", ASKED)
@pytest.mark.parametrize("said", [
    "The output is then masked.", "Replace the sum by a maximum.", "We then transpose the result.", "Two such layers follow.",
    "Treat the first of them as a constant.", "No gradient flows through the first of them.", "It is applied twice.",
    "Values below minus one are lifted to minus one.", "The first entry counts five times as much.", "The layer negates $x$.",
    "The output is forced to be positive.", "Every second output is discarded.", "Noise disturbs the input.",
    "It is restricted to the first entry.",
])
def test_words_that_say_that_more_is_done_are_open(layer: str, said: str) -> None:
    with pytest.raises(OpenError):
        read(layer, said)


@pytest.mark.parametrize(("said", "is_open"), [
    (r"Treat $\mu$ as a constant.", True), (r"Here $\mu$ and $v$ are held fixed.", True), (r"The constant $\epsilon$ is fixed.", False),
    (r"Remember that $\mu$ is not a constant.", False), (r"No gradient flows through $v$.", True), ("Without the mean it is simpler.", False),
])
def test_what_is_computed_and_held_is_open(said: str, is_open: bool) -> None:
    if is_open:
        with pytest.raises(OpenError, match="not understood beside the layer"):
            read(NORM, said)
    else:
        assert read(NORM, said).equations == read(NORM, "").equations


def test_messages_in_words_are_no_letters() -> None:
    question = f"{NORM} The gain is shared by hand only. Derive the backward message."
    with pytest.raises(OpenError):
        module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
