"""A letter that something on the card defines is no input, also where its definition cannot be read."""

import pytest

from derive.card import Card
from derive.errors import CardError, DeriveError, UnsupportedError
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


POOLING = """---
id: words
---

# Question
A signal with 7 samples passes through a one-dimensional average pooling, window of size 3 and stride 2{said}.
Write the backward message of this layer.
"""
IN_THE_REQUEST = """---
id: words
---

# Question
Derive the backward message of a one-dimensional average pooling with windows of size 3 and stride 2{said}.
"""


# what a window does besides, in words of no row: never a plain window
@pytest.mark.parametrize("said", [
    ", after one zero was put at each end", ", after each end was extended by one sample",
    ", and only the outputs at even positions are kept", ", where the window leaves out one sample between its entries",
    ", where the windows wrap around at the border", ", where the first sample is left out",
    ", starting at the second sample", ", with the borders reflected", ". The last window may be incomplete",
    ". Samples outside are taken as 0", ". Cells outside the input count as −∞", ". Entry 1 is ignored",
    ". The output has the same length as the input", ", whose output is doubled", ", where the input is circular",
    ", with a dilation of one sample between entries", ", with the edge values repeated once at each side",
])
@pytest.mark.parametrize("question", [POOLING, IN_THE_REQUEST], ids=["told", "asked"])
def test_words_on_windows_that_are_not_read_are_not_left_out(question: str, said: str) -> None:
    with pytest.raises(DeriveError):
        module_of(Card.parse(question.format(said=said)))


@pytest.mark.parametrize("said", [
    "", " (no padding)", ". You may assume that the maximum of each window is unique",
])
def test_words_on_windows_that_say_what_they_are_leave_the_layer(said: str) -> None:
    field = module_of(Card.parse(POOLING.format(said=said))).fields[0][1]
    assert [(a.kernel_size, a.stride, a.padding) for a in field.axes] == [(3, 2, 0)]


@pytest.mark.parametrize(("kind", "order", "error"), [
    ("calculation", r"Compute $P(A \cup B)$.", UnsupportedError),
    ("calculation", "Derive the backward message.", CardError),
    ("derivation", r"Compute $P(A \cup B)$.", CardError),
])
def test_formulas_of_a_card_that_is_no_derivation_and_asks_for_none_are_out_of_scope(
    kind: str, order: str, error: type[DeriveError]
) -> None:
    text = f"---\nid: a\ntype: {kind}\n---\n# Question\nLet $P(A) = 0.4$ and $P(B) = 0.3$ be independent. {order}\n"
    with pytest.raises(error):
        module_of(Card.parse(text))
