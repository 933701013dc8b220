"""What a statement may look up at a point, and what it may find undefined there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from derive.expr import Arg, Expr, Idx, SetOf

Index = tuple[int, ...]


class Undefined(Exception):
    """The statement claims nothing at this point: a tie in an argmax, a kink in a derivative."""


class NoCase(Exception):
    """No branch of the cases holds."""


class TwoCases(Exception):
    """Two branches of the cases hold and differ."""


class Point(Protocol):
    """Concrete values: what a statement may look up."""

    @property
    def sizes(self) -> Mapping[str, int]: ...
    @property
    def shapes(self) -> Mapping[str, Index]: ...
    @property
    def origin(self) -> int: ...  # the first index of every axis
    def extent(self, tensor: str, axis: int) -> int: ...
    def inside(self, at: Index) -> int: ...
    def remember(self, key: Any, compute: Callable[[], Any]) -> Any: ...
    def tensor(self, name: str) -> Mapping[Index, Any]: ...
    def elements(self, set_name: str, at: Index) -> list[Any]: ...
    def outputs(self, set_name: str) -> Index: ...
    def partial(self, of: str, at: Index, wrt: str, by: Index) -> Any: ...
    def slope(self, value: Callable[[Any], Any], wrt: str, by: Index) -> Any: ...
    def directional(self, of: str, wrt: str, along: str) -> Any: ...
    def supports(self, of: str, active: frozenset[int]) -> bool: ...


class Remembering:
    """A point's memo: a value computed once; that it is undefined is remembered too."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def remember(self, key: Any, compute: Callable[[], Any]) -> Any:
        """The value under this key; raises :class:`Undefined` where it has none."""
        if key not in self._kept:
            try:
                self._kept[key] = compute()
            except Undefined:
                self._kept[key] = Undefined
        if self._kept[key] is Undefined:
            raise Undefined
        return self._kept[key]


@dataclass(frozen=True)
class Definitions:
    """What a statement's letters abbreviate: stars, and tensors and sets that the sheet defines."""

    stars: Mapping[str, tuple[Arg, int, tuple[Idx, ...]]]
    tensors: Mapping[str, tuple[tuple[Expr, ...], Expr]]
    sets: Mapping[str, SetOf]


def best(candidates: list[tuple[Any, Any]], sign: int) -> Any:
    """The one index with the largest (sign 1) or smallest (−1) value; :class:`Undefined` at a tie."""
    if not candidates:
        raise Undefined
    top = max(value * sign for value, _ in candidates)
    found = [at for value, at in candidates if value * sign == top]
    if len(found) != 1:
        raise Undefined
    return found[0]


def first_best(candidates: list[tuple[Any, Any]], sign: int) -> Any:
    """The first of the indices with the largest (sign 1) or smallest (−1) value."""
    if not candidates:
        raise Undefined
    found, at = candidates[0]
    for value, other in candidates[1:]:
        if value * sign > found * sign:
            found, at = value, other
    return at


def middle(candidates: list[tuple[Any, Any]], _: int) -> Any:
    """The one index with the median value; :class:`Undefined` at a tie or where no entry is the middle one."""
    if len(candidates) % 2 == 0:
        raise Undefined
    value = median([value for value, _ in candidates])
    found = [at for other, at in candidates if other == value]
    if len(found) != 1:
        raise Undefined
    return found[0]


def median(values: list[Any]) -> Any:
    """The middle one of an odd number of values; :class:`Undefined` where their number is even."""
    if len(values) % 2 == 0:
        raise Undefined
    return sorted(values)[len(values) // 2]


def choose(hits: set[int], branches: tuple[tuple[int, Any, Callable[[], Any]], ...], other: Callable[[], Any]) -> Any:
    """The value of the cases that hold, which must agree (:class:`ValueError` where they do not), else ``other``."""
    values = []
    for number, holds, value in branches:
        if holds:
            hits.add(number)
            values.append(value())
    if not values:
        return other()
    if any(value != values[0] for value in values):
        raise ValueError("two cases hold and differ")
    return values[0]


def noted(point: Point, key: Any, hits: set[int], first: int, compute: Callable[[set[int]], Any]) -> Any:
    """A value kept in the point together with what it left in ``hits``, numbers from ``first`` on."""
    def found() -> tuple[Any, tuple[int, ...]]:
        own: set[int] = set()
        return compute(own), tuple(n - first for n in own)

    value, left = point.remember(key, found)
    hits.update(first + n for n in left)
    return value


def no_case() -> Any:
    raise NoCase


def whole(tensor: Mapping[Index, Any], shape: Index) -> Any:
    """A tensor of rank 1 (as one row) or 2 as nested tuples."""
    if len(shape) == 1:
        return (tuple(tensor[(i,)] for i in range(shape[0])),)
    return tuple(tuple(tensor[i, j] for j in range(shape[1])) for i in range(shape[0]))
