"""An operation that the words say is done, and that no formula does, leaves a question open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import OpenError
from derive.question import module_of

FORMULAS = r"A layer computes $s = w^\top x + b$ with weights $w$ and $p = 1 / (1 + e^{-s})$."
WINDOW = r"Max pooling with $2 \times 2$ windows and stride 2 is applied to an image $x_{ij}$, the output is $f_{kl}$."
ASKED = r"Derive the backward message."

# what none of the layers above does
SAID = ("The result is then squared.", "The output is multiplied by two.", "Noise is added to the input.",
        "The output is rounded to the nearest integer.", "Two such layers are stacked.", "The input is first flipped.",
        "The features are concatenated with their squares.", "The output is fed back into the input.",
        "The unit has a lateral inhibition term.", "The sum is replaced by a maximum.", "The labels are smoothed.",
        "Stop-gradient is applied to the second term.", "The loss is averaged over the batch.",
        "The input is centred.", "Výstup se vynásobí dvěma a zaokrouhlí se.")
# what is no operation of the layer, or is done
SILENT = ("If the result were squared, it would be no loss.", "Unlike other layers, nothing is squared.",
          "You may assume that the data have been centred.", "No noise is added.",
          "Usually the input is normalised beforehand.")


def read(*sentences: str) -> object:
    return module_of(Card.parse("---\nid: said\n---\n\n# Question\n" + " ".join(sentences) + "\n"))


@pytest.mark.parametrize("layer", [FORMULAS, WINDOW])
@pytest.mark.parametrize("said", SAID)
def test_what_is_said_to_be_done_and_is_not_is_open(layer: str, said: str) -> None:
    with pytest.raises(OpenError, match="is said, and no formula of the layer does it"):
        read(layer, said, ASKED)


@pytest.mark.parametrize("said", SILENT)
def test_conditions_asides_and_negations_say_nothing_of_the_layer(said: str) -> None:
    assert read(FORMULAS, said, ASKED)


def test_what_a_formula_does_may_be_said() -> None:
    assert read(r"A layer computes $r = w^\top x - t$.", r"The difference is squared, $\ell = r^2$.",
                "The weights $w$ are multiplied with the input and summed.", ASKED)
    assert read(r"The logits $z$ are scaled by two, $a_k = 2 z_k$.", ASKED)
    with pytest.raises(OpenError, match="scaled by three"):
        read(r"The logits $z$ are scaled by three: $a_k = 2 z_k$.", ASKED)
