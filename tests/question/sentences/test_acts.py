"""Words that act beside formulas: verbs in all their forms, where they say that something is done, and where they tell."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import OpenError
from derive.module import Module
from derive.question import module_of
from derive.question.sentences.acts import does, doing, done

LAYER = (r"A layer has $s_k = \sum_j W_{kj} x_j + b_k$ and $y_k = \max(0, s_k)$.",
         r"Given $\partial L/\partial y_k$, derive $\partial L/\partial x_j$ and $\partial L/\partial W_{kj}$.")
ROOT = (r"Let $q = \frac1n \sum_j x_j^2$ and $y_i = g_i x_i / \sqrt{q + \epsilon}$.",
        r"Given $\partial L/\partial y_i$, derive $\partial L/\partial x_i$ and $\partial L/\partial g_i$.")


def read(layer: tuple[str, str], said: str = "", first: str = "") -> Module:
    told, asked = layer
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{first} {told} {said} {asked}\n"))


@pytest.mark.parametrize(("verb", "forms"), [
    ("scale", "scale scales scaled scaling"), ("clip", "clip clips clipped clipping"), ("copy", "copy copies copied copying"),
    ("squash", "squash squashes squashed squashing"), ("delay", "delay delays delayed delaying"),
])
def test_the_forms_of_a_verb(verb: str, forms: str) -> None:
    assert {*forms.split()} <= does(verb) | done(verb) | doing(verb)


@pytest.mark.parametrize("layer", [LAYER, ROOT], ids=["unit", "root"])
@pytest.mark.parametrize("said", [
    "An arctangent squashes each output.", "Every third weight has been pruned.", "The inputs are shuffled beforehand.",
    "In addition, an extra offset enters.", "The encoder and the decoder share their weights.", "We then rotate the result.",
    "What goes on is a blurred copy of it.", "The first coordinate is set to one.", "Its result is fed back to the input.",
    "The leading coordinate is absent in this variant.", "After that the signal follows another nonlinearity.",
])
def test_acts_are_open(layer: tuple[str, str], said: str) -> None:
    with pytest.raises(OpenError, match="not understood beside"):
        read(layer, said)


@pytest.mark.parametrize("layer", [LAYER, ROOT], ids=["unit", "root"])
@pytest.mark.parametrize("said", [
    "Students tend to underestimate how often such a layer is met in practice.", "Only this one step is to be considered.",
    "The centres of such models were once found by clustering.", "We omitted nothing but the index of the sample.",
    "Some libraries swap the two factors, so do not copy formulas from there.", "Doubling all weights would not alter this.",
    "You may ignore the point at which it has a kink.", "(Biologists subtract a resting level first.)",
    "Mobile phones run it because others replace whole filters by thin ones.", "Gradients that arrive along two paths add up.",
    r"If $b = 0$, the state is copied from one step to the next.", "It is the workhorse of every feed-forward network.",
    "Which of the coordinates matter most?", "Large inputs dominate, and everyone in the lab knows that.",
])
def test_what_is_told_changes_nothing(layer: tuple[str, str], said: str) -> None:
    assert read(layer, said).equations == read(layer).equations


@pytest.mark.parametrize("first", [
    "Residual networks came later; a common trick there is to replace a thick matrix by thin ones.",
    "Dropout and batch normalisation were in fashion then, and max pooling gave its gradient to one pixel.",
    "The authors proposed to give each unit a slope of its own.",
])
def test_stories_in_front_name_no_part(first: str) -> None:
    assert read(LAYER, first=first).equations == read(LAYER).equations


def test_parts_behind_the_formulas_are_parts() -> None:
    for said in ("The result is passed through a softmax.", "A dropout follows.", "It is followed by a batch normalisation."):
        with pytest.raises(OpenError):
            read(LAYER, said)


def test_an_order_for_no_derivative_is_told() -> None:
    layer, asked = LAYER
    module = module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{layer} {asked} First give the sum a name.\n"))
    assert any("not answered" in reading and "the sum a name" in reading for reading in module.readings)


@pytest.mark.parametrize("asked", [
    r"Derive $\partial L/\partial x_j$ and the templates.", r"Derive $\partial L/\partial x_j$ and the gradient of the templates.",
    r"Derive $\partial L/\partial x_j$, and the gradients with respect to the six weight matrices.",
])
def test_nouns_beside_derivatives_need_a_letter(asked: str) -> None:
    layer, _ = LAYER
    with pytest.raises(OpenError, match="what is asked"):
        module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{layer} With $\\partial L/\\partial y_k$ given: {asked}\n"))
