"""The graph of a module: each tensor once, apart from the others, each edge there and back, past all other nodes."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest

from derive.figures import graph
from derive.magnitudes import held
from derive.module import Module
from derive.sheet import Cell, Line, Point, Scene
from derive.verify.pictures import edges
from derive.verify.report import Verdict
from derive.words import templates
from tests.bank import derived
from tests.calculus.zoo import ZOO

CARDS = ("lstm_by_name", "lstm_cell", "gru_step", "attention_query", "batch_normalisation", "mlp_words_cz",
         "residual_block", "conv_relu_pool")
NAMES = ("linear", "linear_prelu_squared", "batch_norm", "two_layers", "attention", "softmax_cross_entropy", *CARDS)


def module(name: str) -> Module:
    return derived(name).module if name in CARDS else ZOO[name].module()


def nodes(scene: Scene) -> dict[str, Cell]:
    """By letter; those that stand together have one box."""
    return {text: i for i in scene.items if isinstance(i, Cell) for text in i.text.split(", ")}


def lines(scene: Scene) -> list[Line]:
    return [i for i in scene.items if isinstance(i, Line)]


@pytest.mark.parametrize("name", NAMES)
def test_each_tensor_each_edge_each_message(name: str) -> None:
    layer = module(name)
    scene = graph(layer)
    used = {s for t in layer.defined for s in layer.sources(t)} | {*layer.defined}
    assert len(nodes(scene)) == len(used)
    assert edges(scene, layer).verdict is Verdict.TESTED
    notes = [note for i in scene.items if isinstance(i, Cell) for note in i.note.split(", ") if note]
    assert len(notes) == len(used - {*layer.constants, *held(layer)})


@pytest.mark.parametrize("name", NAMES)
def test_nothing_collides_and_arrows_end_at_nodes(name: str) -> None:
    scene = graph(module(name))
    boxes = {*nodes(scene).values()}
    for one, other in itertools.combinations(boxes, 2):
        assert one.x + one.width < other.x or other.x + other.width < one.x or abs(one.y - other.y) > one.height
    for line in lines(scene):
        ends = [box for box in boxes for point in (line.points[0], line.points[-1]) if beside(point, box)]
        assert len(ends) == 1 + (len({*line.points}) > 2 or line.points[0] not in upstream(scene))
        assert not [box for box in boxes if box not in ends and any(
            crosses(a, b, box) for a, b in itertools.pairwise(line.points))]


def upstream(scene: Scene) -> set[Point]:
    """The point at which the gradient comes in from the right."""
    return {max((point for line in lines(scene) for point in line.points), key=lambda p: p[0])}


def beside(point: Point, box: Cell) -> bool:
    x, y = point
    return min(abs(x - box.x), abs(x - box.x - box.width)) < 0.1 and box.y <= y <= box.y + box.height


def crosses(a: Point, b: Point, box: Cell) -> bool:
    """A point of the segment lies in the box."""
    between = ((a[0] + (b[0] - a[0]) * n / 50, a[1] + (b[1] - a[1]) * n / 50) for n in range(51))
    return any(box.x < x < box.x + box.width and box.y < y < box.y + box.height for x, y in between)


def test_a_missing_arrow_and_one_to_another_node_are_refuted() -> None:
    layer = module("lstm_by_name")
    scene = graph(layer)
    first = next(line for line in lines(scene) if line.role == "forward")
    other = max((line for line in lines(scene) if line.role == "forward"), key=lambda line: line.points[-1])
    moved = replace(first, points=(*first.points[:-1], other.points[-1]))
    for change in ((), (moved,), (replace(first, points=first.points[::-1]),)):
        items = tuple(i for item in scene.items for i in (change if item is first else (item,)))
        assert edges(replace(scene, items=items), layer).verdict is Verdict.REFUTED


def test_letters_are_seven_points_at_least() -> None:
    css = (templates() / "pages" / "figure.css").read_text("utf-8")
    assert min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", css)) >= 7 * 96 / 72
    styles = (templates() / "pages" / "figure-styles.tex").read_text("utf-8")
    assert r"\tiny" not in styles and min(map(int, re.findall(r"\\fontsize\{(\d+)", styles))) >= 7


def test_parameters_and_constants_have_roles_and_a_constant_no_message() -> None:
    layer = replace(ZOO["linear_prelu_squared"].module(), inputs=("x",), parameters=("W", "b", "a"), constants=("t",))
    found = nodes(graph(layer))
    assert [found[f"${n}$"].role for n in ("x", "W", "a", "t")] == ["tensor", "parameter", "parameter", "constant"]
    assert found["$W$"] is found["$b$"] and found["$W$"].note == r"$\delta_W$, $\delta_b$" and not found["$t$"].note


def test_what_is_computed_stands_right_of_what_it_is_computed_from() -> None:
    layer = module("lstm_by_name")
    found = nodes(graph(layer))
    letters = {name: next(text for text in found if text == f"${latex}$") for name, latex in (
        ("x", "x"), ("f", "f"), ("c'", "c'"), ("h'", "h'"))}
    assert [found[letters[n]].x for n in ("x", "f", "c'", "h'")] == sorted(found[letters[n]].x for n in letters)


def test_what_is_held_fixed_has_no_message() -> None:
    box = nodes(graph(module("batch_normalisation")))[r"$\epsilon$"]
    assert (box.role, box.note) == ("constant", "")
