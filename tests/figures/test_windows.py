"""Pictures of windows: what is drawn where, and the way of the gradients through them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.figures import receptive_fields, routing
from derive.figures.windows import Example
from derive.receptive_field import receptive_field
from derive.sheet import Cell, Label, Line, Outline, Scene
from tests.figures.scenes import GEOMETRIES, example, field, letters, scenes


def drawn(scene: Scene, role: str) -> int:
    """Full-size cells of a role: those of the legend are smaller."""
    return sum(isinstance(i, Cell) and i.role == role and i.width == 1 for i in scene.items)


@given(st.tuples(*[st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 1), st.integers(3, 6))] * 2))
def test_cells_by_role_are_those_of_the_windows(axes: tuple[tuple[int, int, int, int], ...]) -> None:
    kernel, stride, padding, shape = zip(*axes, strict=True)
    if any(p >= k for p, k in zip(padding, kernel, strict=True)):
        return
    windows = receptive_field(kernel, stride, padding)
    scene = receptive_fields(windows, shape, letters(2), "max")
    assert scene is not None
    outputs = list(windows.outputs(shape))
    first = set(windows.window(outputs[0], shape))
    named = [i for i in scene.items if isinstance(i, Cell) and i.text]
    assert len(named) == min(2, len(outputs))
    second: set[tuple[int, ...]] = set()
    if len(named) == 2:
        other = (0, 1) if windows.output_shape(shape)[1] > 1 else (1, 0)
        second = set(windows.window(other, shape))
    covered = {c for at in outputs for c in windows.window(at, shape)}
    inside = len(first) + len(second) - len(first & second)
    assert drawn(scene, "both") == len(first & second)
    assert drawn(scene, "first") == len(first - second) + 1
    assert drawn(scene, "second") == len(second - first) + bool(second)
    assert drawn(scene, "gap") == shape[0] * shape[1] - len(covered)
    assert drawn(scene, "cell") == len(covered) - inside + len(outputs) - len(named)


def test_padding_is_drawn_where_windows_reach_it() -> None:
    scene = scenes()["windows: padded"]
    assert drawn(scene, "padding") == 7 * 7 - 5 * 5
    outlines = [(i.width, i.height) for i in scene.items if isinstance(i, Outline)]
    assert outlines.count((3, 3)) == 2
    assert [i.text for i in scene.items if isinstance(i, Label) and i.role == "legend"][1:] == [
        r"$\Omega(0, 0)$", r"$\Omega(0, 1)$", "in both", "padding"]


def test_a_dilated_window_is_outlined_cell_by_cell() -> None:
    scene = scenes()["windows: dilated"]
    assert [(i.width, i.height) for i in scene.items if isinstance(i, Outline)] == [(1, 1)] * (4 + 4 + 2)
    assert (drawn(scene, "first"), drawn(scene, "second"), drawn(scene, "both")) == (3, 3, 2)


def test_a_row_joins_each_window_with_its_output() -> None:
    scene = scenes()["windows: overlapping row"]
    assert [i.role for i in scene.items if isinstance(i, Line)] == ["first", "first", "second", "second", "forward"]


def test_three_axes_and_no_window_have_no_picture() -> None:
    assert receptive_fields(receptive_field((2, 2, 2)), (4, 4, 4), letters(2), "max") is None
    assert receptive_fields(receptive_field((5, 5)), (4, 4), letters(2), "max") is None


@pytest.mark.parametrize(("name", "words"), [
    ("tile", ["4 × 4 cells", "output of 2 × 2 cells", "rows 0 to 1 and columns 2 to 3"]),
    ("overlapping row", ["7 cells", "covers cells −1 to 1", "covers cells 1 to 3"]),
])
def test_the_description_says_what_is_seen(name: str, words: list[str]) -> None:
    windows, shape = field(name)
    scene = receptive_fields(windows, shape, letters(len(shape)), "max")
    assert scene is not None
    for word in words:
        assert word in scene.description


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


@pytest.mark.parametrize("name", GEOMETRIES)
def test_addends_fit_their_cell_and_sum_to_the_number_above_them(name: str) -> None:
    noted = [i for i in scenes()[f"routing: {name}"].items if isinstance(i, Cell) and i.note]
    assert noted or name != "many"
    for cell in noted:
        assert len(cell.note.strip("$")) <= 3 and sum(map(int, re.findall(r"[+-]?\d+", cell.note))) == int(cell.text.strip("$"))


@pytest.mark.parametrize("name", ["tile", "overlap", "padded", "gaps", "dilated"])
def test_ways_of_one_entry_share_a_lane_and_no_others_do(name: str) -> None:
    if f"routing: {name}" in scenes():
        ways = [i.points for i in scenes()[f"routing: {name}"].items if isinstance(i, Line) and i.role == "forward" and i.smooth]
        lanes: dict[float, set[float]] = {}
        for (u, v), *_ in ways:
            lanes.setdefault(round(v, 3), set()).add(round(u, 3))
        assert all(len(starts) == 1 for starts in lanes.values())


def test_no_way_goes_through_a_sum_below_a_number() -> None:
    upstream = {(0, 0): 3, (0, 1): 5, (1, 1): -1}
    numbers = Example({(0, n): n for n in range(4)}, dict.fromkeys(upstream, 1), upstream, {(0, n): 4 * (n == 2) for n in range(4)},
                      {(0, 0): (0, 0), (0, 1): (0, 2), (1, 1): (0, 2)})
    scene = routing(numbers, letters(2), "max")
    (cell,) = [i for i in scene.items if isinstance(i, Cell) and i.note]
    ends = [i.points[-1] for i in scene.items if isinstance(i, Line) and i.role == "backward"]
    below = [u for u, v in ends if cell.y + cell.height / 2 < v < cell.y + cell.height]
    assert len(ends) == 3 and len(below) == 2 and min(below) > cell.x + cell.width - 0.02


def test_the_description_tells_every_way() -> None:
    numbers, scene = example("tile"), scenes()["routing: tile"]
    assert scene.description.count("sends the gradient") == len(numbers.output)
