"""An answer that lacks something, a picture with other words: each turns a named check red."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from derive.sheet import Block, Cell, Figure, Label, Math, Prose, Scene, Sheet, Table
from derive.verify.sheet import verify
from tests.bank import solved

Change = Callable[[Sheet], Sheet]


def without(which: Callable[[Block], bool]) -> Change:
    return lambda sheet: replace(sheet, answer=tuple(b for b in sheet.answer if not which(b)))


def named(name: str) -> Callable[[Block], bool]:
    return lambda b: isinstance(b, Math) and b.name == name


def words(text: str) -> Callable[[Block], bool]:
    return lambda b: isinstance(b, Prose) and text in b.text


def swapped(blocks: tuple[Block, ...], one: Callable[[Block], bool], other: Callable[[Block], bool]) -> tuple[Block, ...]:
    """The blocks with the first of two kinds in each other's places."""
    found = list(blocks)
    a, b = (next(n for n, block in enumerate(found) if which(block)) for which in (one, other))
    found[a], found[b] = found[b], found[a]
    return tuple(found)


def redrawn(name: str, change: Callable[[Scene], Scene]) -> Change:
    def block(b: Block) -> Block:
        return replace(b, scene=change(b.scene)) if isinstance(b, Figure) and b.scene.name == name else b

    return lambda sheet: replace(sheet, answer=tuple(map(block, sheet.answer)), details=tuple(map(block, sheet.details)))


def first(kind: type, which: Callable[[object], bool], **new: object) -> Callable[[Scene], Scene]:
    def changed(scene: Scene) -> Scene:
        at = next(n for n, i in enumerate(scene.items) if isinstance(i, kind) and which(i))
        return replace(scene, items=(*scene.items[:at], replace(scene.items[at], **new), *scene.items[at + 1:]))  # type: ignore[arg-type]

    return changed


def told(old: str, new: str) -> Callable[[Scene], Scene]:
    return lambda scene: replace(scene, description=scene.description.replace(old, new, 1))


ASKED, SAID, WORDS = "What is asked for is in the answer", "What the answer was to say is said", "The words of a picture"
ORDER = "The answer is in the order of the question"
POOLING, LSTM = "max_pooling_backward", "lstm_by_name"
PLANTED: dict[str, tuple[str, Change, str]] = {
    "gradients of parameters are in another order": ("affine_layer", lambda sheet: replace(sheet, answer=swapped(
        sheet.answer, named("message_W"), named("message_b"))), ORDER),
    "a derivative is missing": (POOLING, without(named("jacobian_x")), ASKED),
    "a derivative of several is missing": ("overlapping_max_pooling", without(named("jacobian_a")), ASKED),
    "a parameter is missing": ("prelu_network", without(named("jacobian_a")), ASKED),
    "a message is missing": ("affine_layer", without(lambda b: isinstance(b, Math) and "delta_b" in str(b.expr)), ASKED),
    "the forward message is missing": ("prelu_network", without(named("forward")), ASKED),
    "one formula of it is missing": ("prelu_network", without(lambda b: isinstance(b, Math) and b.latex.startswith("s =")), ASKED),
    "the numbers are missing": ("two_layers_numbers", without(named("numbers")), ASKED),
    "a row of numbers is missing": ("one_neuron_step", lambda sheet: replace(sheet, answer=tuple(
        replace(b, rows=b.rows[:-1]) if isinstance(b, Table) else b for b in sheet.answer)), ASKED),
    "the answer is in another order": ("prelu_network", lambda sheet: replace(sheet, answer=sheet.answer[::-1]), ORDER),
    "derivatives are in another order": ("contrastive_pairs", lambda sheet: replace(sheet, answer=sheet.answer[::-1]), ORDER),
    "letters are not told": ("prelu_network", without(words("is the input")), SAID),
    "shapes are not told": ("affine_layer", without(words("In the matrix form")), SAID),
    "rows that are picked are not told": ("maxout_unit", without(words("collects")), SAID),
    "the mask is not told": (POOLING, without(words("*mask*")), SAID),
    "a picture covers other cells": (POOLING, redrawn("receptive-fields", told("rows 0 to 1", "rows 0 to 2")), "The cells that the picture marks"),
    "a picture has another title": (POOLING, redrawn("routing", lambda s: replace(s, title=f"{s.title} of averages")), WORDS),
    "a legend says the other extreme": (POOLING, redrawn("routing", first(Label, lambda i: "largest" in i.text, text="smallest of its window")), WORDS),  # type: ignore[attr-defined]
    "an output has another sign": (POOLING, redrawn("routing", first(Cell, lambda i: "=" in i.text, text="$f_{0,0} = - 18$")), "The picture's numbers"),  # type: ignore[attr-defined]
    "a coordinate is none": (POOLING, redrawn("receptive-fields", first(Label, lambda i: i.role == "coordinate", text="7")), "The cells that the picture marks"),  # type: ignore[attr-defined]
    "a node has another message": (LSTM, redrawn("graph", first(Cell, lambda i: bool(i.note), note="$\\delta_{b_f}$")), "The picture's arrows"),  # type: ignore[attr-defined]
    "a parameter is drawn as a tensor": (LSTM, redrawn("graph", first(Cell, lambda i: i.role == "parameter", role="tensor")), "The picture's arrows"),  # type: ignore[attr-defined]
    "a curve is called smooth": ("leaky_slope", redrawn("curve", lambda s: replace(s, description=f"{s.description} It is smooth.")), WORDS),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_turns_a_named_check_red(name: str) -> None:
    card, change, check = PLANTED[name]
    sheet, messages = solved(card).sheet, solved(card).messages
    changed = change(sheet)
    assert changed != sheet
    failures = verify(changed, messages).failures
    assert any(check in c.evidence for c in failures), [c.evidence for c in failures]
