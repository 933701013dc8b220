"""Which candidate of an argmax is chosen, under each tie rule, for whole arrays of windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from derive.numeric.gather import Array, Indices, merged
from derive.numeric.median import median

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Candidate:
    """One place of the window: its coordinates, its values, and where it lies in the input."""

    position: tuple[Indices, ...]
    value: Array  # ∓∞ where the place does not count
    mask: Mask | None  # where it counts; None: everywhere


@dataclass(frozen=True)
class Choice:
    """The candidate chosen at each grid point: its number in ``candidates``, or their count if there is none."""

    candidates: tuple[tuple[Indices, ...], ...]
    chosen: Indices
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
        rows = self.chosen.reshape(-1, self._points) * self._points
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
    """The first (or last) candidate in row-major order that attains the max (or min)."""
    count = len(candidates)
    kind = np.uint8 if count < 255 else np.uint32
    score = np.zeros(lead + grid, kind)  # of all maximisers the highest score stays; 0: there is none
    for number, active in enumerate(maximisers(candidates, op)):
        points = kind(number + 1 if tie_rule == "last" else count - number)
        np.maximum(score, active.view(np.uint8) * points, out=score)
    chosen = score.astype(np.int64)
    chosen = np.where(chosen == 0, count, chosen - 1) if tie_rule == "last" else count - chosen
    return Choice(tuple(c.position for c in candidates), chosen, grid)


def share(candidates: Sequence[Candidate], op: str) -> Shares:
    """1/m for each of the m candidates that attain the max (or min)."""
    active = maximisers(candidates, op)
    count = np.maximum(sum(a.astype(np.int64) for a in active), 1)
    return Shares(tuple(c.position for c in candidates), tuple(a / count for a in active))


def maximisers(candidates: Sequence[Candidate], op: str) -> list[Mask]:
    """Where each candidate attains the max (min, median).

    Only a place in range can: −∞ in the input beats padding.
    """
    if op == "median":
        middle = median([c.value for c in candidates], [c.mask for c in candidates])
        return [c.value == middle if c.mask is None else (c.value == middle) & c.mask for c in candidates]
    better, worst = (np.maximum, -np.inf) if op == "max" else (np.minimum, np.inf)
    best = reduce(partial(merged, better), [c.value for c in candidates], np.asarray(worst))
    return [c.value == best if c.mask is None else (c.value == best) & c.mask for c in candidates]
