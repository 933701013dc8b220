"""Windows of formulas: x_{2k+p} and Ω(k, l) against what words and front matter say of strides, sizes and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from derive.card import Card
from derive.errors import CardError, Problem
from derive.expr import Add, Entry, Expr, Idx, Mul, Num, Reduce, SetApp, SetOf, walk
from derive.layers.intervals import Interval, intervals
from derive.question.parts.unaccounted import is_aside
from derive.question.windows.geometry import window_geometry
from derive.question.windows.pooling import refuse_other_pooling, spoken
from derive.question.windows.stated import Reader
from derive.question.windows.wording import Words
from derive.question.words.lexicon import named
from derive.receptive_field import ReceptiveField, WindowAxis
from derive.specify.definitions import Definition, Definitions
from derive.specify.places import place


def refuse_other_stride(card: Card, words: Words, used: Sequence[Definition]) -> None:
    """Raise :class:`CardError` where the words or the front matter give another stride than the formula."""
    written = [(definition, found) for definition in used if (found := _strides(definition))]
    if len(written) != 1:
        return
    definition, strides = written[0]
    said = [(f.value, f"“{f.quote}”", f.line) for f in words.about("stride") if isinstance(f.value, tuple)]
    given = card.front_matter.get("stride")
    if isinstance(given, int) and not isinstance(given, bool):
        said.append(((given,), f"`stride: {given}`", card.key_line("stride") or 1))
    for value, quoted, line in said:
        wanted = set(value) if len(value) == 1 else None
        if (wanted is not None and wanted != set(strides)) or (wanted is None and value != strides):
            times = "×".join(map(str, strides))
            raise CardError(Problem(f"{quoted} contradicts the formula ({place(definition.formula)}), which has stride "
                                    f"{times}; change one of them", card.path, line))


def _strides(definition: Definition) -> tuple[int, ...]:
    """2, 2 of y_{kl} = … x_{2k+p, 2l+q} …: the coefficients of the output's indices beside an index that runs."""
    outputs = [i for i in definition.entry.indices if isinstance(i, Idx)]
    for entry in walk(definition.value):
        if isinstance(entry, Entry):
            found = [s for term in entry.indices if (s := _stride(term, outputs)) is not None]
            if found:
                return tuple(found)
    return ()


def _stride(term: Expr, outputs: list[Idx]) -> int | None:
    if not isinstance(term, Add):
        return None
    moving = [t for t in term.terms if any(i in walk(t) for i in outputs)]
    running = [t for t in term.terms if t not in moving and any(isinstance(n, Idx) for n in walk(t))]
    if len(moving) != 1 or not running:
        return None
    if any(isinstance(t, Mul) and isinstance(t.factors[0], Num) and t.factors[0].value < -1 for t in running):
        return None  # i − 2j: a transposed convolution of stride 2, or a dilated one
    match moving[0]:
        case Idx():
            return 1
        case Mul((Num(value), Idx())):
            return int(value) if value.denominator == 1 else None
    return None


Fields = tuple[tuple[str, ReceptiveField], ...]


def fields_of(card: Card, words: Words, used: Sequence[Definition],
              found: Definitions) -> tuple[Fields, tuple[str, ...]]:
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
    spelt = _spelt(applied, found)
    starts = {int(low.value) for letter, low, _ in found.ranges if letter in applied.args and isinstance(low, Num)}
    first = starts.pop() if spelt and len(starts) == 1 and starts <= {0, 1} else None
    reader = Reader(card, words, len(applied.args), definition.formula.line, first=first)
    field, _ = window_geometry(reader, spelt, place(definition.formula))
    _refuse_other_count(words, definition, name, field)
    return ((name, field),), tuple(reader.readings)


def _spelt(applied: SetApp, found: Definitions) -> tuple[Interval, ...] | None:
    """The window of Ω(k, l) = {…}."""
    for claim in found.sets:
        left, right = claim.terms[0], claim.terms[1]
        if isinstance(left, SetApp) and left.name == applied.name and isinstance(right, SetOf):
            return intervals(right, left.args)[1]
    return None


_SMOOTH = frozenset({"lp", "lse", "lme", "softmax"})


def _refuse_contradiction(words: Words, used: Sequence[Definition]) -> None:
    """«max pooling» over a formula without a maximum."""
    ops = {node.op for d in used for node in walk(d.value) if isinstance(node, Reduce)}
    smooth = any(spec.name.partition("_")[0] in _SMOOTH for spec in spoken(words.plain))  # compared with the maximum
    for found in words.about("pooling"):
        text = words.plain.text
        for end in "?!;¶":
            text = text.replace(end, ".")
        sentences = [s for s in text.split(".") if found.quote.lower() in s]
        aside = bool(sentences) and all(is_aside(s) or smooth and not named(s, "join") for s in sentences)
        if found.value in ("max", "min") and found.value not in ops and not aside:
            where = place(used[-1].formula)
            raise CardError(Problem(f"“{found.quote}” contradicts the formula ({where}), which has no \\{found.value}; "
                                    "change one of them", line=found.line))


def _refuse_other_count(words: Words, definition: Definition, name: str, field: ReceptiveField) -> None:
    """Raise :class:`CardError` where an average over windows of n entries is written as 1/m of their sum."""
    value = definition.value
    if not (isinstance(value, Mul) and isinstance(field.axes[0], WindowAxis) and any(
            f.value in ("average", "mean", "avg") for f in words.about("pooling"))):
        return
    sums = [f for f in value.factors if isinstance(f, Reduce) and f.op == "sum" and any(
        isinstance(n, SetApp) and n.name == name for n in walk(f.binder))]
    numbers = [f.value for f in value.factors if isinstance(f, Num)]
    count = math.prod(field.kernel_size)
    if len(sums) == 1 and numbers and math.prod(numbers, start=Fraction(1)) != Fraction(1, count):
        raise CardError(Problem(f"{place(definition.formula)}: the average over {count} entries is 1/{count} of their "
                                "sum; change the factor, the window or the name", line=definition.formula.line))
