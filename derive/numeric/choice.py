"""Which candidate of an argmax is chosen, under each tie rule, for whole arrays of windows; medians; stars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derive.errors import CardError, UnsupportedError
from derive.expr import Arg, Entry, Expr, Fn, Node, Rel, Star, items, subst, walk
from derive.module import Module
from derive.numeric.gather import Array, Indices, Mask, merged
from derive.records import dataclass
from derive.reductions import is_middle


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
        if any(v.ndim > len(self.grid) for v in values):  # places that follow another choice, one batch entry's its own
            own = [np.broadcast_to(v, self.chosen.shape) for v in (*values, np.full((), -1))]
            return np.take_along_axis(np.stack(own), self.chosen[None], axis=0)[0]
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

    def places_and_shares(self) -> Iterator[tuple[tuple[Indices, ...], Array]]:
        yield from zip(self.candidates, self.shares, strict=True)

    def weight(self, target: tuple[Indices, ...]) -> Array:
        """The share of ``target``: 0 where it is no maximiser."""
        total: Array = np.zeros(())
        for position, share in zip(self.candidates, self.shares, strict=True):
            here = [t == p for t, p in zip(target, position, strict=True)]
            total = total + np.logical_and.reduce(np.broadcast_arrays(*here)) * share
        return total


@dataclass(frozen=True)
class WholeChoice:
    """Where a maximum over a whole tensor is attained: one place, or shares (lead, *sizes) under the rule ``split``."""

    places: tuple[Indices, ...]
    shares: Array | None
    starts: tuple[int, ...]

    def places_and_shares(self) -> Iterator[tuple[tuple[Indices, ...], Array]]:
        assert self.shares is not None
        sizes = self.shares.shape[-len(self.starts):]
        for at in np.ndindex(*sizes):
            yield tuple(np.asarray(i + s) for i, s in zip(at, self.starts, strict=True)), self.shares[(Ellipsis, *at)]

    def component(self, d: int) -> Indices:
        return self.places[d]

    def weight(self, target: tuple[Indices, ...]) -> Mask | Array:
        """[target = chosen place], or the share of the target."""
        if self.shares is None:
            found: Mask = np.logical_and.reduce(np.broadcast_arrays(
                *(t == p for t, p in zip(target, self.places, strict=True))))
            return found
        at = tuple(np.asarray(t) - s for t, s in zip(target, self.starts, strict=True))
        inside = np.logical_and.reduce(np.broadcast_arrays(
            *((a >= 0) & (a < n) for a, n in zip(at, self.shares.shape[-len(at):], strict=True))))
        clipped = tuple(np.where(inside, a, 0) for a in at)
        index: Any = (Ellipsis, *clipped)
        return np.where(inside, self.shares[index], 0.0)


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
    if is_middle(op):
        middle = median([c.value for c in candidates], [c.mask for c in candidates])
        return [c.value == middle if c.mask is None else (c.value == middle) & c.mask for c in candidates]
    better, worst = (np.maximum, -np.inf) if op == "max" else (np.minimum, np.inf)
    best = reduce(partial(merged, better), [c.value for c in candidates], np.asarray(worst))
    return [c.value == best if c.mask is None else (c.value == best) & c.mask for c in candidates]


# The middle one of the values in each window.

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


# Stars: (i^*, j^*) are the components of the argmax that defines them.

Definitions = Mapping[str, tuple[Expr, int]]  # a star's letter -> the argmax and which of its components it is


@dataclass(frozen=True)
class Names:
    """The tensors, stars and functions that stand in a formula."""

    tensors: frozenset[str]
    stars: frozenset[str]
    functions: frozenset[str]


@lru_cache(maxsize=4096)
def names_in(node: Node) -> Names:
    """All names in a formula, gathered once."""
    nodes = list(walk(node))
    return Names(frozenset(n.tensor for n in nodes if isinstance(n, Entry)),
                 frozenset(n.name for n in nodes if isinstance(n, Star)),
                 frozenset(n.name for n in nodes if isinstance(n, Fn)))


@lru_cache(maxsize=4096)
def read_stars(node: Node) -> tuple[Star, ...]:
    """The stars whose value is used, as in x_{i^*}: all but those that a place alone is compared with, [i = i^*]."""
    if isinstance(node, Star):
        return (node,)
    parts: tuple[Node, ...] = node.children() if names_in(node).stars else ()
    if isinstance(node, Rel) and set(node.ops) <= {"=", "≠"}:
        parts = tuple(item for term in node.terms for item in items(term) if not isinstance(item, Star))
    return tuple(dict.fromkeys(s for part in parts for s in read_stars(part)))


def as_arg(node: Expr, definitions: Definitions, module: Module) -> Arg | None:
    """The argmax that a node is, or all of whose coordinates (i^*, j^*) it lists in order."""
    if isinstance(node, Arg):
        return node
    stars = [star_arg(s, definitions, module) for s in items(node) if isinstance(s, Star)]
    if not stars or len(stars) < len(items(node)):
        return None
    arg = stars[0][0]
    return arg if stars == [(arg, d) for d in range(len(arg.binder.variables))] else None


def star_arg(star: Star, definitions: Definitions, module: Module) -> tuple[Arg, int]:
    """The argmax at the star's own indices, and which of its components the star is."""
    if star.name not in definitions:
        raise UnsupportedError(f"`{star.name}^*` is not defined")
    arg, component = definitions[star.name]
    assert isinstance(arg, Arg)
    return subst(arg, dict(zip(module.parameters_of(arg), star.at, strict=True))), component
