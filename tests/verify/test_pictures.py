"""A picture is read back: an arrow, a number, a mark or a slope that is changed turns its check red."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import derive
from derive.question import module_of
from derive.sheet import Cell, Figure, Label, Line, Outline, Scene
from derive.solve import Solution
from derive.verify.pictures import edges, fields, numbers, pictures, routing
from derive.verify.report import Verdict
from tests.bank import unchecked
from tests.calculus.zoo import composed, messages_of

CARDS = ["cards/max_pooling_backward.md", *(derive.layer("max_pool", kernel_size=3, stride=1, dims=d) for d in (1, 2))]


@cache
def drawn_on(layer: object) -> Solution:
    """The sheet of a layer or of the card at a path."""
    if isinstance(layer, derive.Module):
        return unchecked(layer)
    card = derive.Card.read(str(layer))
    return unchecked(module_of(card), card)


def figure(solution: Solution, name: str) -> Figure:
    return next(f for f in solution.sheet.figures() if f.scene.name == name)


def scene(solution: Solution, name: str) -> Scene:
    return figure(solution, name).scene


@pytest.mark.parametrize("layer", CARDS, ids=["card", "row", "plane"])
def test_the_ways_through_a_pooling_layer_are_as_drawn(layer: object) -> None:
    (found,) = routing(scene(drawn_on(layer), "routing"))  # type: ignore[arg-type]
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
    drawn = scene(drawn_on(CARDS[0]), "routing")
    (found,) = routing(replace(drawn, items=first(drawn.items, kind, change, role)))  # type: ignore[arg-type]
    assert found.verdict is Verdict.REFUTED


def test_addends_that_are_not_what_came_are_refuted() -> None:
    drawn = scene(drawn_on("cards/pooling/overlapping_max_pooling.md"), "routing")
    noted = next(i for i in drawn.items if isinstance(i, Cell) and i.note)
    for note in ("$6-2$", "$4$", "$5+1$"):
        (found,) = routing(replace(drawn, items=tuple(replace(i, note=note) if i is noted else i for i in drawn.items)))
        assert found.verdict is Verdict.REFUTED and "stands where" in (found.counterexample or "")


@pytest.mark.parametrize("layer", [*CARDS, derive.layer("max_pool", kernel_size=2, stride=1, input_size=(5, 5))],
                         ids=["card", "row", "plane", "many"])
def test_each_number_of_the_ways_is_the_layer_s(layer: object) -> None:
    """A larger input is selected, and any other number is not what is selected, sent or come."""
    solution = drawn_on(layer)
    drawn, module = scene(solution, "routing"), solution.messages.module
    assert numbers(drawn, module) == []
    for at, item in enumerate(drawn.items):
        if isinstance(item, Cell) and re.search(r"\d\$$", item.text):
            larger = replace(item, text=re.sub(r"(\d+)\$$", lambda m: f"{int(m[1]) + 70}$", item.text))
            found = numbers(replace(drawn, items=(*drawn.items[:at], larger, *drawn.items[at + 1:])), module)
            assert [c.verdict for c in found] == [Verdict.REFUTED], item


@pytest.mark.parametrize("layer", [*CARDS, derive.layer("min_pool", kernel_size=2, stride=1, input_size=(5, 5))],
                         ids=["card", "row", "plane", "many"])
def test_the_words_of_a_way_name_the_entries_that_it_joins(layer: object) -> None:
    solution = drawn_on(layer)
    drawn, module = scene(solution, "routing"), solution.messages.module
    entries = dict.fromkeys(re.findall(r"\$[^$]+\$", drawn.description))
    for one, other in pairwise(entries):
        wrong = replace(drawn, description=drawn.description.replace(one, other, 1))
        assert [c.verdict for c in numbers(wrong, module)] == [Verdict.REFUTED], (one, other)


FIELDS = [*CARDS, "cards/pooling/overlapping_max_pooling.md", "cards/pooling/average_pooling.md",
          "tests/cards/pooling/hats_and_stars.md", *(
    derive.layer("max_pool", kernel_size=k, stride=s, padding=p, dilation=d, dims=dims)
    for k, s, p, d, dims in ((3, 2, 1, 1, 2), (2, 1, 0, 2, 2), (2, 3, 0, 1, 2), (3, 2, 2, 2, 1), (2, 3, 0, 1, 1)))]


@pytest.mark.parametrize("layer", FIELDS, ids=map(str, range(len(FIELDS))))
def test_receptive_fields_are_those_of_the_evaluator(layer: object) -> None:
    solution = drawn_on(layer)
    found = fields(figure(solution, "receptive-fields"), solution.messages.module)
    assert (found.verdict, found.counterexample) == (Verdict.TESTED, None)
    assert [c for c in pictures(solution.sheet, solution.messages.module) if c.verdict is Verdict.REFUTED] == []


def role(cell: Cell, wanted: str) -> Cell:
    return replace(cell, role=wanted)


def moved(outline: Outline) -> Outline:
    return replace(outline, x=outline.x + 1)


SABOTAGES: list[tuple[type, str, Callable[[object], object]]] = [
    (Cell, "first", lambda cell: role(cell, "second")), (Cell, "second", lambda cell: role(cell, "cell")),  # type: ignore
    (Cell, "cell", lambda cell: role(cell, "gap")), (Outline, "first", moved), (Outline, "second", moved),  # type: ignore
]


@pytest.mark.parametrize(("kind", "name", "change"), SABOTAGES)
def test_a_changed_mark_or_outline_of_a_field_is_refuted(kind: type, name: str, change: Callable[[object], object]) -> None:
    solution = drawn_on(CARDS[0])
    drawn = figure(solution, "receptive-fields")
    wrong = replace(drawn.scene, items=first(drawn.scene.items, kind, change, name))  # type: ignore[arg-type]
    assert fields(replace(drawn, scene=wrong), solution.messages.module).verdict is Verdict.REFUTED


def all_but(kind: type, role: str, change: Callable[[object], object] | None, place: int) -> Callable[[Scene], Scene]:
    """The scene with the item of that kind and role at a place among such changed, or left out."""
    def altered(drawn: Scene) -> Scene:
        at = [n for n, i in enumerate(drawn.items) if isinstance(i, kind) and i.role == role][place]  # type: ignore[attr-defined]
        made = () if change is None else (change(drawn.items[at]),)
        assert made != (drawn.items[at],)
        return replace(drawn, items=(*drawn.items[:at], *made, *drawn.items[at + 1:]))  # type: ignore[arg-type]
    return altered


def turned(line: Line) -> Line:
    return replace(line, points=line.points[::-1])


DRAWN: list[tuple[object, str, Callable[[Scene], Scene]]] = [
    (CARDS[0], "receptive-fields", all_but(Cell, "cell", None, 0)), (CARDS[0], "receptive-fields", all_but(Cell, "first", moved, 0)),  # type: ignore
    (CARDS[0], "receptive-fields", all_but(Outline, "first", None, -1)), (CARDS[0], "receptive-fields", all_but(Outline, "second", moved, -1)),  # type: ignore
    (CARDS[0], "receptive-fields", all_but(Line, "forward", turned, 0)), (CARDS[0], "receptive-fields", all_but(Line, "forward", None, 0)),  # type: ignore
    (CARDS[0], "receptive-fields", all_but(Label, "coordinate", lambda c: replace(c, text="$3$"), 0)),  # type: ignore
    (CARDS[0], "receptive-fields", all_but(Label, "coordinate", lambda c: replace(c, text="$3$"), -1)),  # type: ignore
    (CARDS[1], "receptive-fields", all_but(Line, "first", None, 0)), (CARDS[1], "receptive-fields", all_but(Line, "second", elsewhere, 0)),  # type: ignore
    (CARDS[1], "receptive-fields", all_but(Line, "forward", turned, 0)),  # type: ignore
    (CARDS[0], "routing", all_but(Cell, "cell", lambda c: replace(c, role="chosen"), 0)),  # type: ignore
    (CARDS[0], "routing", all_but(Cell, "cell", lambda c: replace(c, text="$3$"), 0)),  # type: ignore
    (CARDS[0], "routing", all_but(Cell, "cell", lambda c: replace(c, text=c.text.replace("f,1,1", "f,0,1")), -1)),  # type: ignore
]


@pytest.mark.parametrize(("layer", "name", "change"), DRAWN, ids=map(str, range(len(DRAWN))))
def test_what_is_drawn_elsewhere_or_not_at_all_is_refuted(layer: object, name: str, change: Callable[[Scene], Scene]) -> None:
    """A cell, an outline, an arrow, a coordinate of the fields; a mark, a number, a letter of the ways."""
    solution = drawn_on(layer)
    own = figure(solution, name)
    other = replace(own, scene=change(own.scene))
    details = tuple(other if b is own else b for b in solution.sheet.details)
    found = pictures(replace(solution.sheet, details=details), solution.messages.module)
    assert Verdict.REFUTED in {c.verdict for c in found}


@pytest.mark.parametrize(("old", "new"), [("rows 0 to 1", "rows 1 to 2"), ("columns 2 to 3", "columns 1 to 2")])
def test_changed_words_of_a_field_are_refuted(old: str, new: str) -> None:
    solution = drawn_on(CARDS[0])
    drawn = figure(solution, "receptive-fields")
    wrong = replace(drawn.scene, description=drawn.scene.description.replace(old, new))
    assert wrong != drawn.scene
    assert fields(replace(drawn, scene=wrong), solution.messages.module).verdict is Verdict.REFUTED


@pytest.mark.parametrize("text", ["$f_{0,1}$", "$f_{1,0}$"])
def test_an_output_of_another_name_is_refuted(text: str) -> None:
    solution = drawn_on(CARDS[0])
    drawn = figure(solution, "receptive-fields")
    at = next(n for n, item in enumerate(drawn.scene.items) if isinstance(item, Cell) and item.text == "$f_{0,0}$")
    cell = replace(drawn.scene.items[at], text=text)  # type: ignore[type-var]
    wrong = replace(drawn.scene, items=(*drawn.scene.items[:at], cell, *drawn.scene.items[at + 1:]))  # type: ignore
    assert fields(replace(drawn, scene=wrong), solution.messages.module).verdict is Verdict.REFUTED


NAMED = "The titles and the legend of a picture name what is drawn"


@pytest.mark.parametrize(("layer", "name", "old", "new"), [
    (CARDS[1], "routing", "largest of its window", "of several windows: the gradients add up"),
    (CARDS[1], "routing", "of several windows: the gradients add up", "largest of its window"), (CARDS[1], "routing", "largest of its window", ""),
    (CARDS[1], "receptive-fields", "in both", "padding"), (CARDS[1], "receptive-fields", "$x$", "$y$"),
    (CARDS[0], "receptive-fields", "$f$", "$x$"), ("cards/losses/huber.md", "curve", "$y$", "$t$"),
    ("cards/losses/huber.md", "curve", r"$\ell$", r"$\ell'$"), ("cards/losses/huber.md", "curve", r"$\ell'$", r"$\ell$"),
])  # fmt: skip
def test_a_title_or_a_word_of_the_legend_at_another_mark_is_refuted(layer: object, name: str, old: str, new: str) -> None:
    solution = drawn_on(layer)
    drawn = figure(solution, name)

    def found(items: tuple[object, ...]) -> set[str]:
        other = replace(drawn, scene=replace(drawn.scene, items=items))  # type: ignore[arg-type]
        sheet = replace(solution.sheet, details=tuple(other if b is drawn else b for b in solution.sheet.details))
        return {c.evidence for c in pictures(sheet, solution.messages.module) if c.verdict is Verdict.REFUTED}

    assert old in {i.text for i in drawn.scene.items if isinstance(i, Label)} and NAMED not in found(drawn.scene.items)
    assert NAMED in found(tuple(replace(i, text=new) if isinstance(i, Label) and i.text == old else i for i in drawn.scene.items if
                                new or not isinstance(i, Label) or i.text != old))


@pytest.mark.parametrize(("name", "old", "new"), [
    ("receptive-fields", r"$\Omega(0, 1)$", r"$\Omega(1, 1)$"), ("routing", r"$\delta_x$", r"$\delta_W$"),
    ("receptive-fields", "$f_{0,0}$", "$f_{9,9}$")])  # fmt: skip
def test_a_formula_of_a_caption_stands_in_its_picture(name: str, old: str, new: str) -> None:
    solution = drawn_on(CARDS[0])
    drawn = figure(solution, name)
    assert old in drawn.caption
    wrong = replace(drawn, caption=drawn.caption.replace(old, new))
    sheet = replace(solution.sheet, details=tuple(wrong if b is drawn else b for b in solution.sheet.details))
    assert [c.verdict for c in pictures(sheet, solution.messages.module) if "caption" in c.evidence] == [Verdict.REFUTED]


def test_a_label_in_braces_stands_in_its_picture() -> None:
    """δ with the label a^{(l)}: the entries show it with their indices inside the same braces."""
    solution = derive.solve(next(Path("tests/cards").rglob("layers_sup.md")))
    assert solution.report.ok


def test_the_words_of_a_graph_say_what_is_computed_from_what() -> None:
    figure = next(f for f in composed("two_layers").figures() if f.scene.name == "graph")
    module, scene = messages_of("two_layers").module, figure.scene
    assert edges(scene, module).verdict is Verdict.TESTED and " is computed from " in scene.description
    wrong = replace(scene, description=re.sub(r"(\S+) is computed from (\$[^$]+\$)", r"\2 is computed from \1",
                                              scene.description, count=1))
    assert edges(wrong, module).verdict is Verdict.REFUTED
