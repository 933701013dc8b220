"""Own formulas are called by the layers of the catalogue that compute the same."""

from __future__ import annotations

import pytest

from derive.calculus.called import _KNOWN, called, listing
from tests.bank import understood

NAMES = {
    "attention_query": ("attention",), "attention_transposed": ("attention",), "softmax_jacobian": ("softmax",),
    "formula_on_top": ("linear", "sigmoid", "binary_cross_entropy"), "rms_norm": ("rms_norm",),
    "network_shapes": ("linear", "relu", "linear", "softmax", "categorical_cross_entropy"),
    "residual_block": (), "gru_step": (), "own_function": (), "triplet": (), "softmax_as_factor": (),
}  # fmt: skip


@pytest.mark.parametrize("card", NAMES)
def test_each_definition_is_one_of_the_catalogue_s_and_feeds_the_next(card: str) -> None:
    assert called(understood(card)) == NAMES[card]


def test_what_is_known_is_the_catalogue() -> None:
    assert listing() == _KNOWN.read_text("utf-8"), (
        "write it anew: python -c 'from derive.calculus import called as c; c._KNOWN.write_text(c.listing())'")
