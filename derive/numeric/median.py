"""The middle one of the values in each window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from derive.errors import CardError
from derive.numeric.gather import Array


def median(values: Sequence[Array], masks: Sequence[NDArray[np.bool_] | None]) -> Array:
    """The median of the values where their masks hold, point by point.

    Raises :class:`CardError` where their number is even: no entry is then the middle one.
    """
    if not values:
        raise CardError("a median of no entries")
    counting = [np.True_ if mask is None else mask for mask in masks]
    rows = np.stack(np.broadcast_arrays(*(np.where(c, v, np.inf) for c, v in zip(counting, values, strict=True))))
    count = np.broadcast_to(sum(np.asarray(c, np.int64) for c in counting), rows.shape[1:])
    if (count % 2 == 0).any():
        even = int(count[count % 2 == 0].flat[0])
        raise CardError(f"a window has {even} entries in the input: a median is one of them only where their number "
                        "is odd; choose the padding so that no window is clipped to an even number")
    middle: Array = np.take_along_axis(np.sort(rows, axis=0), count[None] // 2, axis=0)[0]
    return middle
