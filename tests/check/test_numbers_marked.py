"""Of a question with numbers the right numbers earn the points, each its own."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from derive.card import Card
from derive.check import check

CARD = Path(__file__).parents[2] / "cards" / "numbers" / "one_neuron_step.md"
VALUES = ["p = 0.5622", r"\ell = 0.5759", r"\frac{\partial \ell}{\partial w} = (-0.8756, 0.4378)", r"\frac{\partial \ell}{\partial b} = -0.4378"]


@pytest.mark.parametrize("given", [VALUES[:1], VALUES[:2], VALUES[1:2] + VALUES[3:], [VALUES[0], VALUES[3]]], ids=len)
def test_each_number_that_is_right_earns_its_points(given: list[str]) -> None:
    card = Card.read(CARD)
    report = check(card, text="\n".join(f"$$ {value} $$" for value in given))
    assert report.points is not None
    assert report.points.low == Fraction(len(given))
