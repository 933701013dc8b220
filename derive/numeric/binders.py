"""The values a bound variable takes: windows, covering windows and ranges, one grid-wide step at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from derive.numeric.choice import Mask
from derive.numeric.gather import Indices
from derive.numeric.shapes import WindowSet

Step = tuple[Indices, Mask | None]  # the variable's value at each grid point, and where it counts


def window(k: Indices, axis: WindowSet) -> Iterator[Step]:
    """i = s k − p + a for a = 0 … K − 1, where 0 ≤ i < n."""
    start = axis.window.stride * k - axis.window.padding
    for a in range(axis.window.kernel_size):
        yield counted(start + a, 0, axis.n - 1)


def covering(i: Indices, axis: WindowSet) -> Iterator[Step]:
    """k = ⌊(i + p)/s⌋ − b, where 0 ≤ k < out and i ≤ s k − p + K − 1."""
    w = axis.window
    last = (i + w.padding) // w.stride
    for b in range(-(-w.kernel_size // w.stride)):
        k = last - b
        step, mask = counted(k, 0, axis.out - 1)
        inside = (i < w.stride * k - w.padding + w.kernel_size) & (i >= 0) & (i < axis.n)
        yield step, (inside if mask is None else mask & inside)


def between(lower: Indices, upper: Indices) -> Iterator[Step]:
    """lower, lower + 1, … as long as a grid point's upper bound is not passed."""
    for t in range(int(np.max(upper - lower, initial=-1)) + 1):
        value = lower + t
        mask = value <= upper
        yield value, (None if mask.all() else mask)


def counted(value: Indices, low: int, high: int) -> Step:
    mask = (value >= low) & (value <= high)
    return value, (None if mask.all() else mask)


def contains(i: Indices, k: Indices, axis: WindowSet) -> Mask:
    """i ∈ Ω(k) on one axis."""
    start = axis.window.stride * k - axis.window.padding
    inside: Mask = (i >= 0) & (i < axis.n) & (i >= start) & (i < start + axis.window.kernel_size)
    return inside


def both(left: Mask | None, right: Mask | None) -> Mask | None:
    return right if left is None else left if right is None else left & right
