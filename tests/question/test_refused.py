"""A letter that something on the card defines is no input, also where its definition cannot be read."""

import pytest

from derive.card import Card
from derive.errors import DeriveError
from derive.question import module_of

CARD = """---
id: unread
type: derivation
---

# Question
$$y_k = f_k x_k$$
{definition}
Derive $\\partial y_k / \\partial x_i$.

---
# Solution
"""


@pytest.mark.parametrize("definition", [
    r"$$f_k := \operatorname{foo}(x_k)$$",
    r"$$f_k \approx \operatorname{foo}(x_k)$$",
    r"$$f_k \propto \operatorname{foo}(x_k)$$",
    r"$$f_k \triangleq \operatorname{foo}(x_k)$$",
    r"where $f(x) = \mathbb{E}_{\pi}[x]$.",
    r"Recall that $f_k = \int_0^1 x_k dt$.",
    r"$$f_k = \operatorname{tr}(x) x_k$$",
])
def test_what_cannot_be_read_is_not_left_out(definition: str) -> None:
    with pytest.raises(DeriveError):
        module_of(Card.parse(CARD.format(definition=definition)))


@pytest.mark.parametrize("said", ["", r"Let $x_k \approx 0.5$.", r"Let $x_k \sim \mathcal{N}(0, 1)$."])
def test_what_defines_nothing_leaves_the_layer(said: str) -> None:
    module = module_of(Card.parse(CARD.format(definition=said)))
    assert {*module.inputs, *module.parameters, *module.constants} == {"f", "x"}
