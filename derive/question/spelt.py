"""The window that a formula itself spells out, held against what the words say of it."""

from __future__ import annotations

from derive.layers.intervals import Interval
from derive.question.paddings import Padding
from derive.question.stated import Reader, Sizes, Stated, times

Said = tuple[Stated | None, Stated | None, Padding | None]


def dilation_spelt(reader: Reader, spelt: tuple[Interval, ...], formula: str, said: Stated | None) -> Stated:
    """The formula's own dilation, held against what the words say of it."""
    own = tuple(a.dilation for a in spelt)
    if said is not None and said.value != own:
        reader.refuse(f"dilation {times(said.value)} ({said.source}) contradicts the formula, which has {times(own)} "
                      f"({formula})", said.line)
    return Stated(own, f"{formula.partition(':')[0]}: the formula", None)


def window_spelt(
    reader: Reader, spelt: tuple[Interval, ...], formula: str, said: Said
) -> tuple[Stated, Stated, Padding]:
    """The formula's own window, held against what the words say of it."""
    kernel, stride, padding = said
    place = f"{formula.partition(':')[0]}: the formula"
    own = Stated(tuple(a.size for a in spelt), place, None), Stated(tuple(a.stride for a in spelt), place, None)
    for what, mine, theirs in (("window", own[0], kernel), ("stride", own[1], stride)):
        if theirs is not None and theirs.value != mine.value:
            reader.refuse(
                f"{what} {times(theirs.value)} ({theirs.source}) contradicts the formula, "
                f"which has {times(mine.value)} ({formula})",
                theirs.line,
            )
    zero_based = tuple(-a.start for a in spelt)
    one_based = tuple(1 - a.start - a.stride for a in spelt)
    counts = {a.base for a in spelt}
    choice = _padding(zero_based, one_based, padding, counts, own[0].value == own[1].value)
    if choice is None:
        stated = f"padding {padding.words} ({padding.source})" if padding else "no padding is stated"
        reader.refuse(
            f"{stated}, and the formula ({formula}) has padding {times(zero_based)} where coordinates count from 0, "
            f"{times(one_based)} where they count from 1; say which padding is meant",
            padding.line if padding else None,
        )
        choice = tuple(max(0, p) for p in zero_based)  # one problem is enough
    elif choice != zero_based:
        reader.readings.append("the card counts coordinates from 1; here they count from 0")
    return own[0], own[1], padding or Padding(choice, choice, place, None)


def _padding(
    zero_based: Sizes, one_based: Sizes, padding: Padding | None, counts: set[int | None], tiles: bool
) -> Sizes | None:
    """Which counting fits: the one with the stated padding; unstated, see below; None where both may be meant."""
    both = (zero_based, one_based)
    if padding is not None and not padding.same:
        return next((p for p in both if p == padding.before), None)
    if not any(zero_based) or zero_based == one_based:
        return zero_based if min(zero_based) >= 0 else None
    if not any(one_based) and (tiles or counts == {1}):
        return one_based
    if counts == {0} and min(zero_based) >= 0 and not tiles:  # the window counts from 0, so do coordinates
        return zero_based
    possible = [p for p in both if min(p) >= 0]
    return possible[0] if len(possible) == 1 else None
