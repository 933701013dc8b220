"""Own formulas are called by the layers of the catalogue that compute the same."""

from __future__ import annotations

import pytest

from derive.calculus.called import _KNOWN, called, listing
from derive.expr import Rel
from tests.bank import understood

NAMES = {
    "attention_query": ("attention",), "attention_transposed": ("attention",), "softmax_jacobian": ("softmax",),
    "rms_norm": ("rms_norm",),
    "network_shapes": ("linear", "relu", "linear", "softmax", "categorical_cross_entropy"),
    "gru_step": (), "triplet": (), "softmax_as_factor": ("attention",), "logistic_regression": ("linear", "sigmoid", "binary_cross_entropy"),
    "bias_plain_of_vector": ("linear", "tanh", "linear"), "relu_linear": ("linear", "relu"), "bias_beside_bold": ("linear", "sigmoid"),
    "residual_block": ("linear", "relu", "h + x"), "own_function": ("linear", "f(s)"),
    "contrastive_pairs": (), "mixture_of_linear_experts": (),
}  # fmt: skip


@pytest.mark.parametrize("card", NAMES)
def test_each_definition_is_one_of_the_catalogue_s_and_feeds_the_next(card: str) -> None:
    found = called(understood(card))
    assert tuple(name if isinstance(name, str) else own for name, own in zip(found, NAMES[card], strict=True)) == NAMES[card]
    own = [n for n, name in enumerate(found) if isinstance(name, Rel)]
    assert own == [n for n, name in enumerate(NAMES[card]) if not name.isidentifier()]


def test_what_is_known_is_the_catalogue() -> None:
    assert listing() == _KNOWN.read_text("utf-8"), (
        "write it anew: python -c 'from derive.calculus import called as c; c._KNOWN.write_text(c.listing())'")
