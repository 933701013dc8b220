"""The windows of a layer that reduces over sets Ω(k, l): their geometry from words and front matter."""

from __future__ import annotations

from derive.card import Card
from derive.errors import CardError, Problem
from derive.expr import Reduce, SetApp, SetOf, walk
from derive.layers.intervals import Interval, intervals
from derive.question.definitions import Definition, Definitions
from derive.question.geometry import window_geometry
from derive.question.places import place
from derive.question.stated import Reader
from derive.question.windows import refuse_other_pooling
from derive.question.wording import Words
from derive.receptive_field import ReceptiveField

Fields = tuple[tuple[str, ReceptiveField], ...]


def fields_of(card: Card, words: Words, used: list[Definition], found: Definitions) -> tuple[Fields, tuple[str, ...]]:
    """The receptive field of each window set, and how it was read.

    Raises :class:`CardError` where a window's size is missing or contradictory.
    """
    sets = {node.name: (node, d) for d in used for node in walk(d.value) if isinstance(node, SetApp) and node.args}
    if not sets:
        return (), ()
    if len(sets) > 1:
        names = " and ".join(f"`{name}`" for name in sets)
        raise CardError(f"two kinds of windows, {names}: write their ranges into the formulas instead")
    refuse_other_pooling(card, words)
    (name, (applied, definition)), = sets.items()
    _refuse_contradiction(words, used)
    reader = Reader(card, words, len(applied.args), definition.formula.line)
    field, _ = window_geometry(reader, _spelt(applied, found), place(definition.formula))
    return ((name, field),), tuple(reader.readings)


def _spelt(applied: SetApp, found: Definitions) -> tuple[Interval, ...] | None:
    """The window of Ω(k, l) = {…}."""
    for claim in found.sets:
        left, right = claim.terms[0], claim.terms[1]
        if isinstance(left, SetApp) and left.name == applied.name and isinstance(right, SetOf):
            return intervals(right, left.args)[1]
    return None


def _refuse_contradiction(words: Words, used: list[Definition]) -> None:
    """«max pooling» over a formula without a maximum."""
    ops = {node.op for d in used for node in walk(d.value) if isinstance(node, Reduce)}
    for found in words.about("pooling"):
        if found.value in ("max", "min") and found.value not in ops:
            where = place(used[-1].formula)
            raise CardError(Problem(f"“{found.quote}” contradicts the formula ({where}), which has no \\{found.value}; "
                                    "change one of them", line=found.line))
