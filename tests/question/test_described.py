"""Clauses beside formulas on what goes through a layer: what they say is described, or the statement is open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import OpenError
from derive.module import Module
from derive.question import module_of

DENSE = (r"A dense layer maps $x \in \mathbb{R}^n$ to $y \in \mathbb{R}^m$ by $$y_k = \tanh\Bigl(\sum_{j=1}^n W_{kj} x_j + b_k\Bigr)$$",
         "Derive the backward message and the gradients for the weights and the biases.")
PEAKS = (r"A layer picks the larger of two neighbours: $$y_k = \max(x_k, x_{k+1})$$", "Derive the backward message.")
COSTS = (r"A model predicts $$y_k = \sum_j W_{kj} x_j$$ with the loss $$L = \tfrac12 \sum_k (y_k - t_k)^2$$ for a target $t$.",
         r"Find $\frac{\partial L}{\partial W_{kj}}$ and $\frac{\partial L}{\partial x_j}$.")

HARMLESS = [
    "Each output is a real number.", "Its weights are trained, and the biases are as well.", "The gradient arrives from above.",
    "Its parameters start from small numbers.", "It is advisable to begin with one component.", "No value is exactly zero.",
    "The outputs are handed to the next layer.", "Suppose that the upstream gradient is known.", "Where does the input enter?",
]  # fmt: skip
MORE = [
    "The output undergoes a rotation.", "Its result is thresholded.", "The inputs pass through a square root on their way in.",
    "What comes out is the square of it.", "On the way back no signal reaches the first unit.", "The layer hands on its total.",
    "Every value counts half when it leaves.", "It runs backwards.",
]  # fmt: skip


def read(layer: tuple[str, str], said: str = "", first: str = "") -> Module:
    told, asked = layer
    return module_of(Card.parse(f"---\nid: q\n---\n# Question\n{first} {told} {said} {asked}\n"))


@pytest.mark.parametrize("layer", [DENSE, PEAKS, COSTS], ids=["dense", "peaks", "costs"])
@pytest.mark.parametrize("said", HARMLESS)
def test_what_describes_changes_nothing(layer: tuple[str, str], said: str) -> None:
    assert read(layer, said).equations == read(layer).equations


@pytest.mark.parametrize("layer", [DENSE, PEAKS, COSTS], ids=["dense", "peaks", "costs"])
@pytest.mark.parametrize("said", MORE)
def test_what_does_more_is_open(layer: tuple[str, str], said: str) -> None:
    with pytest.raises(OpenError, match="line"):
        read(layer, said)


@pytest.mark.parametrize("first", ["In the layer below the inputs enter after a rotation.", "Before it arrives, the input is mirrored."])
def test_what_points_to_formulas_is_about_them(first: str) -> None:
    with pytest.raises(OpenError, match="not understood"):
        read(DENSE, first=first)


@pytest.mark.parametrize("first", ["Layers of this kind were proposed long ago.", "The layer below is popular."])
def test_what_stands_in_front_may_tell_a_story(first: str) -> None:
    assert read(DENSE, first=first).equations == read(DENSE).equations


def test_a_noun_in_front_of_a_letter_is_its_name() -> None:
    said = r"The connection strengths $W_{kj}$ and the resting level $b_k$ are learned, and $x$ is the stimulus."
    assert read(DENSE, said).equations == read(DENSE).equations


def test_of_labels_anything_may_be_said() -> None:
    assert read(COSTS, "The label $t$ says what a physician saw.").equations == read(COSTS).equations
