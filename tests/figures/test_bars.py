"""Bars: how often each value occurs."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from derive.figures.bars import bars, counted, short
from derive.render.pictures import svg
from derive.sheet import Cell, Label

COUNTED = [
    ([], []), ([3.0], [(3, 3, 1)]), ([2.0, -1.0, 2.0], [(-1, -1, 1), (2, 2, 2)]),
    ([float(n) for n in range(100)], [(9.9 * n, 9.9 * (n + 1), 10) for n in range(10)]),
]  # fmt: skip


@pytest.mark.parametrize(("values", "found"), COUNTED)
def test_each_value_is_counted_once(values: list[float], found: list[tuple[float, float, int]]) -> None:
    assert counted(values) == [pytest.approx(bar) for bar in found]
    assert sum(count for *_, count in counted(values)) == len(values)


def test_bars_are_as_high_as_what_they_count_and_stand_within_the_picture() -> None:
    scene = bars({"y": [1.0, 1.0, 2.0], "none": [], "∂y/∂x": [0.1 * n for n in range(40)]}, "spread", "T", "D")
    one, two, *_ = [item for item in scene.items if isinstance(item, Cell)]
    assert one.height == 2 * two.height and one.y + one.height == pytest.approx(two.y + two.height)
    assert [i.text for i in scene.items if isinstance(i, Label) and i.role == "title"] == ["y", "∂y/∂x"]
    assert all(0 <= i.x <= scene.width and 0 <= i.y <= scene.height for i in scene.items if isinstance(i, Cell | Label))
    root = ElementTree.fromstring(svg(scene))
    assert sum("box" in r.get("class", "") for r in root.iter("{http://www.w3.org/2000/svg}rect")) == 12


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (-1.5, "−1.5"), (1 / 3, "0.3333"), (12345.6, "1.235e+04")])
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text
