"""Questions on layers of the catalogue: the geometry and the options in the words of an exam."""

from __future__ import annotations

from typing import Any

import pytest

import derive
from derive.card import Card
from derive.errors import CardError, DeriveError
from derive.module import Module
from derive.question import module_of


def read(question: str, keys: str = "") -> Module:
    return module_of(Card.parse(f"---\nid: a\n{keys}---\n# Question\n{question} Derive the backward message.\n"))


WORDS: list[tuple[str, str, dict[str, Any]]] = [
    ("2x2 average pooling with stride 2.", "avg_pool", {"kernel_size": 2}),
    ("Global average pooling over an input of size 4×5.", "global_avg_pool", {"input_size": (4, 5)}),
    ("Global average pooling of a volume.", "global_avg_pool", {"dims": 3}),
    ("Adaptive average pooling to 3×3.", "adaptive_avg_pool", {"output_size": 3}),
    ("Adaptive max pooling of a signal to 3 outputs.", "adaptive_max_pool", {"output_size": 3, "dims": 1}),
    ("3x3 max pooling, stride 2, dilated by 2.", "max_pool", {"kernel_size": 3, "stride": 2, "dilation": 2}),
    ("One-dimensional max pooling, kernel size 2, stride 1, padding of one cell on the left.", "max_pool",
     {"kernel_size": (2,), "stride": 1, "padding": ((1, 0),)}),
    ("2x2 max pooling, stride 2; the input is padded with one row at the top.", "max_pool",
     {"kernel_size": 2, "padding": ((1, 0), (0, 0))}),
    ("2x2 sum pooling, stride 2, padding ((0, 1), 2).", "sum_pool", {"kernel_size": 2, "padding": ((0, 1), 2)}),
    ("3x3 max pooling with stride 1 and same padding.", "max_pool", {"kernel_size": 3, "stride": 1, "padding": "same"}),
    ("3x3 max pooling with stride 2 and same padding on an 8x8 input.", "max_pool",
     {"kernel_size": 3, "stride": 2, "padding": "same", "input_size": (8, 8)}),
    ("3x3 min pooling with stride 2 in ceil mode.", "min_pool", {"kernel_size": 3, "stride": 2, "ceil_mode": True}),
    ("3D max pooling with windows 2x2x2, stride 2.", "max_pool", {"kernel_size": 2, "dims": 3}),
    ("L3 pooling over 2x2 windows.", "lp_pool", {"kernel_size": 2, "norm": 3}),
    ("Log-sum-exp pooling with windows of size 3x3, stride 1, sharpness 2.", "lse_pool",
     {"kernel_size": 3, "stride": 1, "sharpness": 2}),
    ("Softmax pooling over 2x2 windows.", "softmax_pool", {"kernel_size": 2}),
    ("Max-abs pooling over 2x2 windows.", "max_abs_pool", {"kernel_size": 2}),
    ("Median pooling over windows of length 3 with stride 1.", "median_pool", {"kernel_size": (3,), "stride": 1}),
]


@pytest.mark.parametrize(("words", "name", "arguments"), WORDS, ids=[words for words, _, _ in WORDS])
def test_words(words: str, name: str, arguments: dict[str, Any]) -> None:
    found, meant = read(words), derive.layer(name, **arguments)
    assert (found.name, found.receptive_field, found.input_size) == (name, meant.receptive_field, meant.input_size)
    assert found.equations == meant.equations


REFUSED = [
    ("Global max pooling with a 2x2 window.", "takes the whole input and has no kernel size"),
    ("3x3 max pooling with dilated windows.", "by how much?"),
    ("3x3 max pooling with a stride.", "“stride”: by how much?"),
    ("3x3 max pooling, stride = .", "“stride”: by how much?"),
    ('3x3 max pooling with stride 2 and "same" padding.', "depends on the size of the input"),
    ("Adaptive average pooling of an image.", "the size of the output is not stated"),
    ("2x2 average pooling, padding 1 and padding of one cell on the left.", "two values of padding"),
    ("3D max pooling with windows 2x2x2, padding of one cell on the left.", "of which axis?"),
    ("ROI max pooling.", "region pooling"),
    (r"2x2 max pooling $f_{k} = \max_{0 \le a < 2} x_{2k+2a}$ with dilation 3.", "contradicts the formula"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_refused(words: str, message: str) -> None:
    with pytest.raises(DeriveError, match=message):
        read(words)


def test_a_formula_in_other_letters_is_the_layer() -> None:
    formula = r"$$ y_{k} = \sum_{t \in R(k)} z_t $$"
    module = read(f"A layer {formula} with windows of length 3 and stride 2.", "layer: sum_pool\n")
    assert (module.output, module.inputs) == ("y", ("z",))


@pytest.mark.parametrize("name", ["avg_pool", "lse_pool", "median_pool"])
def test_a_formula_of_another_layer_is_a_contradiction(name: str) -> None:
    formula = r"$$ f_{k} = \sum_{i \in \Omega(k)} x_i $$"
    with pytest.raises(CardError, match=rf"`layer: {name}` contradicts the formula"):
        read(f"A layer {formula} with windows of length 3 and stride 2.", f"layer: {name}\n")
