"""What a sheet states of its windows: they tile, overlap, leave gaps, are clipped, or lie wholly in padding."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from derive.adaptive_axis import AdaptiveAxis
from derive.receptive_field import ReceptiveField
from derive.window_axis import Axis, WindowAxis

_SIZES = 24  # a period of strides and remainders for every usual window


@dataclass(frozen=True)
class WindowFacts:
    """Of the windows at one size of the input; where that is not known, at many that hold several windows.

    ``most``: no entry lies in more windows, and some entry lies in so many.  ``tiles``:
    windows are whole, and from the first entry to the last of the last window each lies
    in exactly one.  ``gaps``: an entry between others that lie in windows lies in none.
    ``clipped``: a window has cells outside the input, and ``missed``: one has no cell inside.
    """

    most: int
    tiles: bool
    gaps: bool
    clipped: bool
    missed: bool


def window_facts(field: ReceptiveField, size: tuple[int, ...] | None) -> WindowFacts:
    """The facts along each axis, taken together."""
    known: tuple[int | None, ...] = size or (None,) * len(field.axes)
    found = [_along(axis) if n is None else facts_at(axis, n) for axis, n in zip(field.axes, known, strict=True)]
    return WindowFacts(math.prod(f.most for f in found), all(f.tiles for f in found), any(f.gaps for f in found),
                       any(f.clipped for f in found), any(f.missed for f in found))


def sizes_of(axis: Axis) -> range:
    """Sizes of an input that hold several windows, so many that each remainder occurs."""
    if isinstance(axis, AdaptiveAxis):
        return range(axis.outputs, axis.outputs + _SIZES)
    assert isinstance(axis, WindowAxis)
    least = axis.span + axis.stride * (-(-axis.span // axis.stride) + 1)
    return range(least, least + max(_SIZES, 2 * axis.stride))


def at_many(found: Iterable[WindowFacts]) -> WindowFacts:
    """What is true at every one of several sizes (tiles), or at one of them (the others)."""
    facts = list(found)
    return WindowFacts(max(f.most for f in facts), all(f.tiles for f in facts), any(f.gaps for f in facts),
                       any(f.clipped for f in facts), any(f.missed for f in facts))


@lru_cache(maxsize=256)
def _along(axis: Axis) -> WindowFacts:
    return at_many(facts_at(axis, n) for n in sizes_of(axis))


def shares(axis: Axis, n: int) -> bool:
    """Two windows over n cells share one, where windows of this axis overlap at all."""
    return not isinstance(axis, WindowAxis) or facts_at(axis, n).most > 1 or _along(axis).most == 1


@lru_cache(maxsize=1024)
def facts_at(axis: Axis, n: int) -> WindowFacts:
    """The facts for n cells, by the closed form of the windows around each."""
    counts = [len(axis.covering(i, n)) for i in range(n)]
    clipped = axis.clips(n)
    within = counts[: max((i + 1 for i, count in enumerate(counts) if count), default=0)]
    return WindowFacts(max(counts, default=0), set(within) == {1} and not clipped, 0 in within, clipped, axis.misses(n))
