"""Ω(k) = {s k − p + d a : 0 ≤ a < K} ∩ [0, n) per axis, its inverse, and what a sheet states of such windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from derive.errors import CardError
from derive.records import dataclass
from derive.window_axis import AdaptiveAxis, Axis, WindowAxis

__all__ = ["AdaptiveAxis", "Axis", "Padding", "ReceptiveField", "WindowAxis", "adaptive_field", "receptive_field"]

Index = tuple[int, ...]
Padding = int | tuple[int, int]  # as many cells before as behind the input, or (before, behind)


@dataclass(frozen=True)
class ReceptiveField:
    """Ω: an axis of windows for each axis of the input."""

    axes: tuple[Axis, ...]

    def output_shape(self, shape: Index) -> Index:
        return tuple(a.output_size(n) for a, n in zip(self.axes, shape, strict=True))

    def outputs(self, shape: Index) -> Iterator[Index]:
        """All output indices, row by row."""
        return itertools.product(*map(range, self.output_shape(shape)))

    def window(self, at: Index, shape: Index) -> list[Index]:
        """The input indices that the window of output ``at`` covers, row by row."""
        return list(itertools.product(*(a.covered(k, n) for a, k, n in zip(self.axes, at, shape, strict=True))))

    def covering(self, at: Index, shape: Index) -> list[Index]:
        """The output indices whose windows contain the input index ``at``."""
        return list(itertools.product(*(a.covering(i, n) for a, i, n in zip(self.axes, at, shape, strict=True))))

    @property
    def kernel_size(self) -> Index:
        return tuple(a.kernel_size for a in self.axes)

    @property
    def stride(self) -> Index:
        return tuple(a.stride for a in self.axes)

    @property
    def padding(self) -> Index:
        """The cells before the input."""
        return tuple(a.padding for a in self.axes)

    @property
    def dilation(self) -> Index:
        return tuple(a.dilation for a in self.axes)

    @property
    def padded(self) -> bool:
        """There are cells around the input, or the last windows may run beyond it."""
        return any(a.padded for a in self.axes)

    @property
    def whole(self) -> bool:
        """There is one window, and it holds every entry."""
        return all(isinstance(a, AdaptiveAxis) and a.outputs == 1 for a in self.axes)

    def misses(self, shape: Index) -> bool:
        """A window has no cell in an input of this shape: it lies wholly in padding."""
        return any(a.misses(n) for a, n in zip(self.axes, shape, strict=True))

    @property
    def overlaps(self) -> bool:
        return any(a.overlaps for a in self.axes)


def receptive_field(
    kernel_size: Index,
    stride: Index | None = None,
    padding: Sequence[Padding] | None = None,
    dilation: Index | None = None,
    ceil_mode: bool = False,
) -> ReceptiveField:
    """The receptive field of a window; stride defaults to kernel_size, padding to 0, dilation to 1.

    Raises :class:`CardError` where a size is not positive or a padding negative.
    """
    steps = () if stride is None else stride  # a stride that nobody gave is not to be found fault with
    stride = kernel_size if stride is None else stride
    dilation = (1,) * len(kernel_size) if dilation is None else dilation
    pairs = [(p, p) if isinstance(p, int) else p for p in padding or (0,) * len(kernel_size)]
    problems = [f"`{name}: {v}` is not a positive integer" for name, values in
                (("kernel_size", kernel_size), ("stride", steps), ("dilation", dilation)) for v in values if v < 1]
    problems += [f"`padding: {v}` is negative; padding counts cells added, 0 or more"
                 for pair in pairs for v in pair if v < 0]
    if problems:
        raise CardError(*dict.fromkeys(problems))
    return ReceptiveField(tuple(WindowAxis(k, s, low, d, high, ceil_mode)
                                for k, s, (low, high), d in zip(kernel_size, stride, pairs, dilation, strict=True)))


def adaptive_field(output_size: Index) -> ReceptiveField:
    """The windows of adaptive pooling to this shape; raises :class:`CardError` where a size is not positive."""
    problems = [f"`output_size: {m}` is not a positive integer" for m in output_size if m < 1]
    if problems:
        raise CardError(*problems)
    return ReceptiveField(tuple(map(AdaptiveAxis, output_size)))


def same_padding(axis: WindowAxis, n: int) -> tuple[int, int]:
    """The padding (before, behind) with which n cells give ⌈n/s⌉ windows; an odd cell goes behind."""
    total = max(0, (-(-n // axis.stride) - 1) * axis.stride + axis.span - n)
    return total // 2, total - total // 2


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
    return of_axes(found)


def of_axes(found: Iterable[WindowFacts]) -> WindowFacts:
    """The facts along each axis, taken together."""
    facts = list(found)
    return replace(at_many(facts), most=math.prod(f.most for f in facts))


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
