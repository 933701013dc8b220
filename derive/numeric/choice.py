"""Which candidate of an argmax is chosen, under each tie rule, for whole arrays of windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from derive.numeric.gather import Array, Indices

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Candidate:
    """One place of the window: its coordinates, its values, and where it lies in the input."""

    position: tuple[Indices, ...]
    value: Array
    mask: Mask | None  # None: everywhere


@dataclass(frozen=True)
class Choice:
    """The candidate chosen at each grid point: its number in ``candidates``, or their count if there is none."""

    candidates: tuple[tuple[Indices, ...], ...]
    chosen: NDArray[np.int16]
    grid: tuple[int, ...]

    def component(self, d: int) -> Indices:
        """Coordinate d of the chosen place; −1 where the window has none."""
        return self._decode([position[d] for position in self.candidates])

    def flat(self, shape: tuple[int, ...]) -> Indices:
        """The chosen place as a row-major number in an array of ``shape``; −1 where there is none."""
        def number(position: tuple[Indices, ...]) -> Indices:
            total = position[0]
            for i, n in zip(position[1:], shape[1:], strict=True):
                total = total * n + i
            return total

        return self._decode([number(p) for p in self.candidates])

    def _decode(self, values: list[Indices]) -> Indices:
        # one row per candidate, one column per grid point, and a last row for "none"
        table = np.stack([np.broadcast_to(v, self.grid).reshape(-1) for v in values] + [np.full(self._points, -1)])
        rows = self.chosen.reshape(-1, self._points) * np.int64(self._points)
        return table.reshape(-1)[rows + np.arange(self._points)].reshape(self.chosen.shape)

    @property
    def _points(self) -> int:
        return int(np.prod(self.grid, dtype=np.int64))

    def weight(self, target: tuple[Indices, ...]) -> Mask:
        """[target = chosen place]."""
        found = [t == self.component(d) for d, t in enumerate(target)]
        return np.logical_and.reduce(np.broadcast_arrays(*found))


@dataclass(frozen=True)
class Shares:
    """The tie rule ``split``: each of m maximisers has the weight 1/m."""

    candidates: tuple[tuple[Indices, ...], ...]
    shares: tuple[Array, ...]

    def weight(self, target: tuple[Indices, ...]) -> Array:
        """The share of ``target``: 0 where it is no maximiser."""
        total: Array = np.zeros(())
        for position, share in zip(self.candidates, self.shares, strict=True):
            here = [t == p for t, p in zip(target, position, strict=True)]
            total = total + np.logical_and.reduce(np.broadcast_arrays(*here)) * share
        return total


def choose(candidates: Sequence[Candidate], op: str, tie_rule: str, grid: tuple[int, ...],
           lead: tuple[int, ...]) -> Choice:
    """The first (or last) candidate in row-major order that attains the max (or min).

    A candidate in range beats none, whatever its value: −∞ in the input beats padding.
    """
    shape, count = lead + grid, len(candidates)
    best = np.full(shape, -np.inf if op == "max" else np.inf)
    chosen = np.full(shape, count, np.int16)
    order = list(enumerate(candidates))
    order = order[::-1] if tie_rule == "last" else order
    for number, c in order:
        better = np.greater(c.value, best) if op == "max" else np.less(c.value, best)
        if c.mask is not None:
            better &= c.mask
        np.copyto(best, c.value, where=better)
        np.copyto(chosen, np.int16(number), where=better)
    if (chosen == count).any():  # a window of infinities only, or wholly in padding
        for number, c in order:
            np.copyto(chosen, np.int16(number), where=(chosen == count) & (True if c.mask is None else c.mask))
    return Choice(tuple(c.position for c in candidates), chosen, grid)


def share(candidates: Sequence[Candidate], op: str) -> Shares:
    """1/m for each of the m candidates that attain the max (or min)."""
    worst, better = (-np.inf, np.maximum) if op == "max" else (np.inf, np.minimum)
    masks = [np.True_ if c.mask is None else c.mask for c in candidates]
    values = [np.where(m, c.value, worst) for m, c in zip(masks, candidates, strict=True)]
    best = values[0]
    for value in values[1:]:
        best = better(best, value)
    active = [(v == best) & m for v, m in zip(values, masks, strict=True)]
    count = np.maximum(sum(a.astype(np.int64) for a in active), 1)
    return Shares(tuple(c.position for c in candidates), tuple(a / count for a in active))
