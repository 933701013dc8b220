"""Ω(k) = {s k − p + a : 0 ≤ a < K} ∩ [0, n) per axis, and its inverse."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from derive.errors import CardError

Index = tuple[int, ...]


@dataclass(frozen=True)
class WindowAxis:
    """One axis of a window: ``kernel_size`` K ≥ 1, ``stride`` s ≥ 1, ``padding`` p ≥ 0."""

    kernel_size: int
    stride: int
    padding: int = 0

    def output_size(self, n: int) -> int:
        """⌊(n + 2p − K)/s⌋ + 1, or 0 where the kernel is larger than the padded input."""
        span = n + 2 * self.padding - self.kernel_size
        return span // self.stride + 1 if span >= 0 else 0

    def covered(self, k: int, n: int) -> range:
        """The input coordinates of window k that exist."""
        start = self.stride * k - self.padding
        return range(max(0, start), min(n, start + self.kernel_size))

    def covering(self, i: int, n: int) -> range:
        """The windows that contain coordinate i: max(0, ⌈(i+p−K+1)/s⌉) ≤ k ≤ min(out−1, ⌊(i+p)/s⌋)."""
        low = -((self.kernel_size - 1 - i - self.padding) // self.stride)
        high = (i + self.padding) // self.stride
        return range(max(0, low), min(self.output_size(n) - 1, high) + 1)

    @property
    def tiles(self) -> bool:
        """Windows meet edge to edge from coordinate 0 on."""
        return self.kernel_size == self.stride and self.padding == 0

    @property
    def overlaps(self) -> bool:
        """A coordinate can lie in two windows."""
        return self.kernel_size > self.stride

    @property
    def gaps(self) -> bool:
        """A coordinate between two windows can lie in none."""
        return self.kernel_size < self.stride


@dataclass(frozen=True)
class ReceptiveField:
    """Ω: an axis of windows for each axis of the input."""

    axes: tuple[WindowAxis, ...]

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
        return tuple(a.padding for a in self.axes)

    @property
    def tiles(self) -> bool:
        return all(a.tiles for a in self.axes)

    @property
    def overlaps(self) -> bool:
        return any(a.overlaps for a in self.axes)

    @property
    def gaps(self) -> bool:
        return any(a.gaps for a in self.axes)


def receptive_field(
    kernel_size: Index, stride: Index | None = None, padding: Index | None = None
) -> ReceptiveField:
    """The receptive field of a window; stride defaults to kernel_size, padding to 0.

    Raises :class:`CardError` where a size is not positive or a padding negative.
    """
    stride = kernel_size if stride is None else stride
    padding = (0,) * len(kernel_size) if padding is None else padding
    problems = [f"`{name}: {v}` is not a positive integer" for name, values in
                (("kernel_size", kernel_size), ("stride", stride)) for v in values if v < 1]
    problems += [f"`padding: {v}` is negative; padding counts cells added, 0 or more" for v in padding if v < 0]
    if problems:
        raise CardError(*problems)
    return ReceptiveField(tuple(map(WindowAxis, kernel_size, stride, padding)))
