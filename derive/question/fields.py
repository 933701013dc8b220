"""The windows of a layer that reduces over sets Ω(k, l): their geometry from words and front matter."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from derive.card import Card
from derive.errors import CardError, Problem
from derive.expr import Mul, Num, Reduce, SetApp, SetOf, walk
from derive.layers.intervals import Interval, intervals
from derive.question.definitions import Definition, Definitions
from derive.question.geometry import window_geometry
from derive.question.places import place
from derive.question.stated import Reader
from derive.question.unaccounted import is_aside
from derive.question.windows import refuse_other_pooling
from derive.question.wording import Words
from derive.receptive_field import ReceptiveField, WindowAxis

_AVERAGE = re.compile(r"\b(?:average|mean|avg)[- ]?pool\w*")
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
    _refuse_other_count(words, definition, name, field)
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
        named = [s for s in re.split(r"[.?!;¶]", words.plain.text) if found.quote.lower() in s]
        if found.value in ("max", "min") and found.value not in ops and not (named and all(map(is_aside, named))):
            where = place(used[-1].formula)
            raise CardError(Problem(f"“{found.quote}” contradicts the formula ({where}), which has no \\{found.value}; "
                                    "change one of them", line=found.line))


def _refuse_other_count(words: Words, definition: Definition, name: str, field: ReceptiveField) -> None:
    """Raise :class:`CardError` where an average over windows of n entries is written as 1/m of their sum."""
    value = definition.value
    if not (isinstance(value, Mul) and isinstance(field.axes[0], WindowAxis) and _AVERAGE.search(words.plain.text)):
        return
    sums = [f for f in value.factors if isinstance(f, Reduce) and f.op == "sum" and any(
        isinstance(n, SetApp) and n.name == name for n in walk(f.binder))]
    numbers = [f.value for f in value.factors if isinstance(f, Num)]
    count = math.prod(field.kernel_size)
    if len(sums) == 1 and numbers and math.prod(numbers, start=Fraction(1)) != Fraction(1, count):
        raise CardError(Problem(f"{place(definition.formula)}: the average over {count} entries is 1/{count} of their "
                                "sum; change the factor, the window or the name", line=definition.formula.line))
