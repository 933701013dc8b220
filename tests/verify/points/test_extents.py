"""Sizes behind windows: what one layer's windows leave is what the next has weights for."""

from __future__ import annotations

import pytest

import derive
from derive.axes import with_axes
from derive.card import Card
from derive.module import Module
from derive.question import module_of
from derive.verify.points.extents import settled
from derive.verify.points.sizes import choices


def chain(layers: str) -> Card:
    return Card.parse(f"---\nid: q\nlayers: '{layers}'\n---\n# Question\nDerive the backward message.\n")


def module(layers: str) -> Module:
    return with_axes(module_of(chain(layers)))


def test_the_weights_behind_a_pooling_are_as_many_as_its_windows() -> None:
    found = module("conv1d -> max_pool(2) -> linear")
    (name, place), = settled(found).items()
    assert place == ("z", 1)
    assert name in found.table.named("V").sizes  # type: ignore[union-attr]
    assert settled(module("linear -> relu -> linear")) == {}


@pytest.mark.parametrize("layers", ["conv2d(stride=2) -> relu -> max_pool(2)", "conv1d -> max_pool(2) -> linear",
                                    "conv1d(stride=2) -> avg_pool(3) -> linear -> softmax"])
def test_small_sizes_fit(layers: str) -> None:
    for sizes in choices(module(layers), 3):
        assert all(n >= 2 for shape in sizes.shapes.values() for n in shape)


def test_a_maximum_inside_a_chain_has_its_own_indices() -> None:
    """i^*(c, k) of z_{ck}, whatever letter the output y_k has."""
    assert derive.solve(chain("conv1d -> max_pool(2) -> linear")).report.ok


@pytest.mark.parametrize("formula", ["y = w_1 x_1 + w_2 x_2 + w_3 x_3 + b", "y_i = w_0 x_i + w_1 x_i^2 + w_2 x_i^3",
                                     "y = x_{15}^2"])
def test_sizes_reach_the_entries_that_numbers_name(formula: str) -> None:
    assert derive.solve(formula=formula).report.ok
