"""What cancels and which fact is used: the step that is not obvious stands in the derivation, with its reason."""

from __future__ import annotations

import pytest

from derive.sheet import Math, Prose
from tests.bank import composed

STEPS = {
    "logistic_regression": (r"p \cdot (1 - p)$ cancels", r"= ((1 - t) p - (1 - p) t) x_{j} = (p - t) x_{j}"),
    "softmax_cross_entropy": (r"\sum_{k} t_{k} = 1$, which is given", r"\sum_{j=1}^{K} t_{j}\right) = p_{k} - t_{k}"),
    "batch_normalisation": (r"the ways through $\mu$, $\sigma^2$ and $\hat{x}_{i}$ give their terms",
                            r"+ \frac{\delta_{y,j} \gamma}{\sqrt{\sigma^2 + \epsilon}} \\ &= \frac{\gamma}{"),
}


@pytest.mark.parametrize("card", STEPS)
def test_the_decisive_step_is_shown_with_its_reason(card: str) -> None:
    words, form = STEPS[card]
    blocks = composed(card).sheet.details
    places = [n for n, b in enumerate(blocks) if isinstance(b, Prose) and words in b.text]
    assert len(places) == 1
    assert any(form in b.latex for b in blocks[places[0] - 1 : places[0] + 2] if isinstance(b, Math))


def test_an_obvious_step_has_no_reason() -> None:
    for card in ("affine_layer", "relu_layer", "mini_batch"):
        words = [b.text for b in composed(card).sheet.details if isinstance(b, Prose)]
        assert not [w for w in words if w.startswith(("*Fact.*", "*Cancellation.*")) or "put in" in w]


def test_what_is_multiplied_into_denominators_does_not_cancel() -> None:
    assert not [b.text for b in composed("own_function").sheet.details if isinstance(b, Prose) and "ancel" in b.text]
