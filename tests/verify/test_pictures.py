"""A picture is read back: an arrow, a number, a mark or a slope that is changed turns its check red."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

import derive
from derive.sheet import Cell, Figure, Line, Scene
from derive.solve import Solution
from derive.verify.pictures import routing, slopes
from derive.verify.report import Verdict

CARDS = ["cards/max_pooling_backward.md", *(derive.layer("max_pool", kernel_size=3, stride=1, dims=d) for d in (1, 2))]


@cache
def solved(formula: str) -> Solution:
    return derive.solve(formula=formula)


def figure(solution: Solution, name: str) -> Figure:
    return next(f for f in solution.sheet.figures() if f.scene.name == name)


def scene(solution: Solution, name: str) -> Scene:
    return figure(solution, name).scene


@pytest.mark.parametrize("layer", CARDS, ids=["card", "row", "plane"])
def test_the_ways_through_a_pooling_layer_are_as_drawn(layer: object) -> None:
    (found,) = routing(scene(derive.solve(layer), "routing"))  # type: ignore[arg-type]
    assert found.verdict is Verdict.TESTED


def elsewhere(line: Line) -> Line:
    (x, y), *rest = line.points
    return replace(line, points=((x - 1, y), *rest))


def first(items: tuple[object, ...], kind: type, change: Callable[[object], object], role: str) -> tuple[object, ...]:
    at = next(n for n, item in enumerate(items) if isinstance(item, kind) and item.role == role)  # type: ignore[attr-defined]
    return (*items[:at], change(items[at]), *items[at + 1:])


CHANGES: list[tuple[type, str, Callable[[object], object]]] = [
    (Line, "forward", elsewhere), (Line, "backward", lambda line: replace(line, points=line.points[::-1])),  # type: ignore
    (Line, "forward", lambda line: replace(line, points=((-9, -9), *line.points[1:]))),  # type: ignore
    (Cell, "chosen", lambda cell: replace(cell, text="$99$")), (Cell, "chosen", lambda cell: replace(cell, role="cell")),  # type: ignore
]


@pytest.mark.parametrize(("kind", "role", "change"), CHANGES)
def test_a_changed_arrow_number_or_mark_is_refuted(kind: type, role: str, change: Callable[[object], object]) -> None:
    drawn = scene(derive.solve(CARDS[0]), "routing")
    (found,) = routing(replace(drawn, items=first(drawn.items, kind, change, role)))  # type: ignore[arg-type]
    assert found.verdict is Verdict.REFUTED


@pytest.mark.parametrize("formula", [r"y_k = \max(0, x_k)", r"y = \max(x, a x)", r"y = \max(0, x) + 2 \min(0, x)"])
def test_the_slopes_of_a_curve_are_those_of_the_function(formula: str) -> None:
    module, drawn = solved(formula).messages.module, figure(solved(formula), "curve")
    assert [c.verdict for c in slopes(drawn, module)] == [Verdict.TESTED]
    start, _, end = drawn.scene.description.rpartition(" to ")
    wrong = replace(drawn, scene=replace(drawn.scene, description=f"{start} to 7{end[1:]}"))
    assert [c.verdict for c in slopes(wrong, module)] == [Verdict.REFUTED]
