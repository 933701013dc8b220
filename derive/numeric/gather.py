"""Entries of an array at whole grids of indices, and the sum back into an array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]


def gather(array: Array, indices: Sequence[Indices], grid: int, fill: float = np.nan) -> Array:
    """array[…, i_1, …, i_r] on a grid of ``grid`` axes; ``fill`` (NaN: undefined) where an index is out of range.

    Axes of ``array`` beyond r are batch axes and stay in front.  An index array has
    ``grid`` axes, of length 1 where it does not vary, or batch axes before them.
    """
    batch = array.ndim - len(indices)
    axes = [_only_axis(i) for i in indices]
    used = [a for a in axes if a is not None]
    if used != sorted(set(used)) or -1 in used or any(i.ndim != grid for i in indices):
        return _scattered(array, indices, batch, grid, fill)
    shape = [1] * grid
    for a, i in zip(axes, indices, strict=True):
        if a is not None:
            shape[a] = i.size
    lines = [i.reshape(-1) for i in indices]
    return _sub_array(array, lines, batch, fill).reshape((*array.shape[:batch], *shape))


def _only_axis(index: Indices) -> int | None:
    """The one axis along which an index varies; None if constant, −1 if there are several."""
    varying = [d for d, n in enumerate(index.shape) if n != 1]
    return varying[0] if len(varying) == 1 else -1 if varying else None


def _sub_array(array: Array, lines: Sequence[Indices], batch: int, fill: float) -> Array:
    """array[…, line_1, …, line_r], a line of indices an axis; a view where every line has equal steps."""
    runs = [_run(line.tobytes(), n) for line, n in zip(lines, array.shape[batch:], strict=True)]
    part = array
    for d, (source, _) in enumerate(runs, batch):
        part = part[(slice(None),) * d + (source,)]
    if all(target is None for _, target in runs):
        return part
    result = np.full((*array.shape[:batch], *map(len, lines)), fill)
    result[(slice(None),) * batch + tuple(slice(None) if target is None else target for _, target in runs)] = part
    return result


@lru_cache(maxsize=4096)
def _run(line: bytes, n: int) -> tuple[slice | Indices, slice | Indices | None]:
    """The indices of a line that are in range, and where they stand in it; None: all are."""
    indices = np.frombuffer(line, np.int64)
    inside = (indices >= 0) & (indices < n)
    return steps(indices[inside]), None if inside.all() else steps(np.flatnonzero(inside))


def steps(line: Indices) -> slice | Indices:
    """A slice for indices in equal, rising steps; else the indices."""
    if len(line) < 2:
        return slice(int(line[0]), int(line[0]) + 1) if len(line) else slice(0)
    step = int(line[1] - line[0])
    if step > 0 and np.array_equal(line, np.arange(line[0], line[0] + step * len(line), step)):
        return slice(int(line[0]), int(line[-1]) + 1, step)
    return line


def _scattered(array: Array, indices: Sequence[Indices], batch: int, grid: int, fill: float) -> Array:
    """The general case: indices that vary along several axes, or from one batch entry to the next."""
    sizes, lead = array.shape[batch:], array.shape[:batch]
    flat, ok = np.int64(0), np.bool_(True)
    for i, n in zip(indices, sizes, strict=True):
        ok, flat = ok & (i >= 0) & (i < n), flat * n + np.clip(i, 0, max(n - 1, 0))
    at = np.asarray(flat)
    own, shape = at.shape[:at.ndim - grid], at.shape[at.ndim - grid:]
    rows = array.reshape(*lead, math.prod(sizes))
    if batch and own:
        lead = np.broadcast_shapes(lead, own)
        places = np.broadcast_to(at, (*lead, *shape)).reshape(*lead, math.prod(shape))
        values = np.take_along_axis(np.broadcast_to(rows, (*lead, rows.shape[-1])), places, axis=-1)
        values = values.reshape(*lead, *shape)
    else:
        values = rows[..., at.reshape(-1)].reshape((*lead, *at.shape))
    return values if np.all(ok) else np.where(ok, values, fill)


def scatter_add(values: Array, positions: Indices, size: int, lead: tuple[int, ...]) -> Array:
    """out[…, q] = Σ of ``values`` where ``positions`` is q; −1 goes nowhere.  Shape ``(*lead, size)``."""
    rows = int(np.prod(lead, dtype=np.int64))
    columns = positions.size // max(rows, 1)
    weights = np.broadcast_to(values, positions.shape).reshape(rows, columns)
    at = positions.reshape(rows, columns)
    nowhere = at.min(initial=0) < 0
    keep = at >= 0 if nowhere else None
    at = at + size * np.arange(rows)[:, None]
    if keep is not None:
        at, weights = at[keep], weights[keep]
    total: Array = np.bincount(at.reshape(-1), weights.reshape(-1), rows * size).astype(np.float64, copy=False)
    return total.reshape(*lead, size)


def merged(join: np.ufunc, total: Array, value: Array) -> Array:
    """join(total, value); in place where ``total``, made by an earlier call, has the shape already."""
    fits = total.ndim > 0 and total.shape == np.shape(value)
    result: Array = join(total, value, out=total) if fits else join(total, value)
    return result


def first_nan(array: Array) -> tuple[int, ...] | None:
    """Where the first NaN stands; None if there is none."""
    if not np.isnan(np.min(array, initial=np.inf)):  # a minimum passes NaN on, and needs no array of its own
        return None
    return tuple(map(int, np.argwhere(np.isnan(array))[0]))
