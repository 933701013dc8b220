"""Windows that are too large for a sheet: each of its equations is tested at every entry of several windows."""

from __future__ import annotations

import math

from derive.errors import UnsupportedError
from derive.receptive_field import ReceptiveField
from derive.window_axis import WindowAxis

MOST_ENTRIES = 256
_TESTED = "each equation is tested at every entry of several windows, which takes too long"


def refuse_large_windows(field: ReceptiveField) -> None:
    """Raise :class:`UnsupportedError` where Π K, or d (K − 1) + 1, s or p along an axis, is above 256."""
    axes = [axis for axis in field.axes if isinstance(axis, WindowAxis)]
    entries = math.prod(axis.kernel_size for axis in axes)
    if entries > MOST_ENTRIES:
        raise UnsupportedError(f"a window of {entries:,} entries: a sheet has at most {MOST_ENTRIES}, for {_TESTED}")
    for axis in axes:
        widest = max(axis.span, axis.stride, axis.padding, axis.padding_after)
        if widest > MOST_ENTRIES:
            raise UnsupportedError(f"a kernel, stride or padding that spans {widest:,} cells: a sheet has at most "
                                   f"{MOST_ENTRIES}, for {_TESTED}")
