"""The graphs of a layer of one number are read back: a point, a number of an axis or a slope that is changed is refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

import derive
from derive.module import Module
from derive.sheet import Dot, Figure, Item, Label, Line
from derive.verify.curves import curves
from derive.verify.report import Verdict
from tests.bank import composed

CARDS = ("relu_layer", "elu_alpha", "sigmoid_derivative", "pinball_cz", "huber", "label_of_two_values")


@cache
def drawn(name: str) -> tuple[Figure, Module]:
    solution = composed(name)
    return next(f for f in solution.sheet.figures() if f.scene.name == "curve"), solution.messages.module


def verdicts(figure: Figure, module: Module) -> set[Verdict]:
    return {check.verdict for check in curves(figure, module)}


@pytest.mark.parametrize("name", CARDS)
def test_the_curves_are_those_of_the_function_and_its_derivative(name: str) -> None:
    assert verdicts(*drawn(name)) == {Verdict.TESTED}


def raised(item: Line | Dot) -> Item:
    if isinstance(item, Dot):
        return replace(item, y=item.y - 0.4)
    at = len(item.points) // 2
    x, y = item.points[at]
    return replace(item, points=(*item.points[:at], (x, y - 0.2), *item.points[at + 1:]))


def ended(line: Line) -> Item:
    *rest, (x, y) = line.points
    return replace(line, points=(*rest, (x, y + 0.2)))


def shortened(line: Line) -> Item:
    return replace(line, points=line.points[:len(line.points) // 2])


def numbered(label: Label) -> Item:
    return replace(label, text=f"${float(label.text.strip('$')) + 1:g}$")


def without_middle(line: Line) -> Item:
    return replace(line, points=(line.points[0], line.points[-1]))


CHANGES: list[tuple[str, str, Callable[[object], Item]]] = [
    ("sigmoid_derivative", "curve", raised), ("sigmoid_derivative", "slope", raised), ("elu_alpha", "curve", raised),
    ("elu_alpha", "slope", ended), ("relu_layer", "kink", raised), ("relu_layer", "open", raised),
    ("relu_layer", "curve", ended), ("sigmoid_derivative", "coordinate", numbered),
    ("sigmoid_derivative", "curve", shortened), ("elu_alpha", "slope", shortened),
    ("sigmoid_derivative", "slope", without_middle), ("huber", "slope", without_middle),
]  # type: ignore[list-item]  # fmt: skip


@pytest.mark.parametrize(("name", "role", "change"), CHANGES)
def test_a_changed_curve_point_or_number_is_refuted(name: str, role: str, change: Callable[[object], Item]) -> None:
    figure, module = drawn(name)
    items = figure.scene.items
    for at in [n for n, item in enumerate(items) if getattr(item, "role", "") == role]:
        wrong = replace(figure, scene=replace(figure.scene, items=(*items[:at], change(items[at]), *items[at + 1:])))
        assert Verdict.REFUTED in verdicts(wrong, module), items[at]


@pytest.mark.parametrize(("name", "old", "new"), [
    ("relu_layer", "from 0 to 1.", "from 0 to 7."), ("pinball_cz", "from -3 to 3", "from -2 to 3"),
    ("elu_alpha", "goes from -0.24", "goes from -0.5"), ("huber", "The", "The")])  # fmt: skip
def test_changed_words_of_a_curve_are_refuted(name: str, old: str, new: str) -> None:
    figure, module = drawn(name)
    assert old == new or old in figure.scene.description, figure.scene.description
    wrong = replace(figure, scene=replace(figure.scene, description=figure.scene.description.replace(old, new)))
    assert (Verdict.REFUTED in verdicts(wrong, module)) == (old != new)


@pytest.mark.parametrize(("name", "facts"), [
    ("relu_layer", {"kinks": []}), ("relu_layer", {"kinks": [], "jumps": [0.0]}), ("relu_layer", {"kinks": [0.5]}),
    ("sigmoid_derivative", {"kinks": [0.0]}), ("relu_layer", {"kinks": [0.0, 1.0]}), ("relu_layer", {})])
def test_a_caption_that_loses_a_kink_is_refuted(name: str, facts: dict[str, list[float]]) -> None:
    figure, module = drawn(name)
    said = next(c.facts for c in composed(name).sheet.claims if c.macro == "curve_caption")
    found = {check.verdict for check in curves(figure, module, {**said, **facts})}
    assert (Verdict.REFUTED in found) == bool(facts)


@pytest.mark.parametrize("formula", [r"y = \operatorname{sign}(x - 0.313)", r"y = \operatorname{sign}(x)", r"y = \sqrt{|x|}",
                                     r"y = \max(x, 1 - 2 x)", "y = e^{3 x}", "y = x^7", "y = (x + 1)^{200}"])
def test_steps_steep_places_and_large_values_are_drawn_as_they_are(formula: str) -> None:
    solution = derive.solve(formula=formula)
    found = [check for check in solution.report.checks if check.name == "picture"]
    assert {check.verdict for check in found} == {Verdict.TESTED}
    words = next(f.scene.description for f in solution.sheet.figures() if f.scene.name == "curve")
    assert ("jumps from -1 to 1" in words) == ("sign" in formula)
