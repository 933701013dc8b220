"""The way of the gradients: who is chosen, what arrives, and by which arrow."""

from __future__ import annotations

import re

import pytest

from derive.scene import Cell, Line
from tests.figures.scenes import GEOMETRIES, example, scenes


@pytest.mark.parametrize("name", GEOMETRIES)
def test_marks_and_arrows_follow_the_selected_entries(name: str) -> None:
    numbers, scene = example(name), scenes()[f"routing: {name}"]
    cells = [i for i in scene.items if isinstance(i, Cell) and i.text]
    once = sum(len(numbers.senders(c)) == 1 for c in numbers.source)
    several = sum(len(numbers.senders(c)) > 1 for c in numbers.source)
    assert [sum(c.role == role for c in cells) for role in ("chosen", "shared")] == [2 * once, 2 * several]
    row = len(GEOMETRIES[name][3]) == 1
    arrows = len(numbers.output) if len(numbers.output) <= 9 or row else 1
    for role in ("forward", "backward"):
        assert sum(isinstance(i, Line) and i.role == role for i in scene.items) == arrows


@pytest.mark.parametrize("name", ["overlap", "many"])
def test_addends_sum_to_the_number_above_them(name: str) -> None:
    noted = [i for i in scenes()[f"routing: {name}"].items if isinstance(i, Cell) and i.note]
    assert noted
    for cell in noted:
        assert sum(map(int, re.findall(r"[+-]?\d+", cell.note))) == int(cell.text.strip("$"))


def test_the_description_tells_every_way() -> None:
    numbers, scene = example("tile"), scenes()["routing: tile"]
    assert scene.description.count("sends the gradient") == len(numbers.output)
