"""What a statement may look up at a point, and what it may find undefined there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from derive.expr import Arg, Expr, Idx, SetOf
from derive.records import dataclass

Index = tuple[int, ...]


class Undefined(Exception):
    """The statement claims nothing at this point: a tie in an argmax, a kink in a derivative."""


class NoCase(Exception):
    """No branch of the cases holds."""


class TwoCases(Exception):
    """Two branches of the cases hold and differ."""


class Remembering:
    """A point's memo: a value computed once; that it is undefined is remembered too."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def remember(self, key: Any, compute: Callable[[], Any]) -> Any:
        """The value under this key; raises :class:`Undefined` where it has none."""
        found = self._kept.get(key, self)  # the point itself is no value
        if found is self:
            try:
                found = compute()
            except Undefined:
                found = Undefined
            self._kept[key] = found
        if found is Undefined:
            raise Undefined
        return found


@dataclass(frozen=True)
class Definitions:
    """What a statement's letters abbreviate: stars, and tensors and sets that the sheet defines."""

    stars: Mapping[str, tuple[Arg, int, tuple[Idx, ...]]]
    tensors: Mapping[str, tuple[tuple[Expr, ...], Expr]]
    sets: Mapping[str, SetOf]


def first_best(candidates: list[tuple[Any, Any]], sign: int) -> Any:
    """The first of the indices with the largest (sign 1) or smallest (−1) value."""
    if not candidates:
        raise Undefined
    pick = max if sign > 0 else min
    return pick(candidates, key=itemgetter(0))[1]  # the first of those that are equal


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


def noted(point: Remembering, key: Any, hits: set[int], first: int, compute: Callable[[set[int]], Any]) -> Any:
    """A value kept in the point together with what it left in ``hits``, numbers from ``first`` on."""
    def found() -> tuple[Any, tuple[int, ...]]:
        own: set[int] = set()
        return compute(own), tuple(n - first for n in own)

    value, left = point.remember(key, found)
    hits.update(first + n for n in left)
    return value


def no_case() -> Any:
    raise NoCase
