"""Points of one window: every winner with every runner-up, and every tie pattern."""

from __future__ import annotations

import itertools
import random
from functools import cached_property

from derive.calculus.one_window import OneWindow
from derive.numeric.arithmetic import EXACT
from derive.numeric.point import Index
from derive.verify.points.draw import Draws, Pool
from derive.verify.points.point import Point
from derive.verify.points.sizes import Sizes

_STEP = 4  # between values, so that small steps change no order
_LEAST = 36
_ALL = 9  # entries up to which every pair and every tie pattern is drawn
_MOST = 40  # winners of a wider window
_STEPS = (-24, -4, -3, -2, -1, 1, 2, 4, 8, 24, 0)
_UPSTREAM = (-3, -2, -1, 1, 2, 3, 5, 7)


class WindowDraws(Draws):
    """Up to nine entries every pair of winner and runner-up, above up to 40 winners; :data:`_LEAST` points at least."""

    def __init__(self, window: OneWindow, free: tuple[str, ...]) -> None:
        self.window = window
        shape = (window.n,)
        super().__init__(window.module, EXACT, (Sizes({}, {window.entries: shape}),), Pool({}), free)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """(winner, runner-up), counted from 1."""
        n, source = self.window.n, random.Random(13)
        if n <= _ALL:
            return tuple(itertools.permutations(range(1, n + 1), 2)) or ((1, 0),)
        return tuple((q, q % n + 1) for q in sorted(source.sample(range(1, n + 1), min(n, _MOST))))

    @property
    def least(self) -> int:
        return -(-_LEAST // len(self.pairs)) * len(self.pairs)

    def point(self, number: int, ties: bool = False) -> Point:
        winner, second = self.pairs[number % len(self.pairs)]
        return self._at((winner,), second, apart=number % 3 < 2)

    def patterns(self) -> list[Point]:
        """Every set of two or more tied positions up to nine entries; above, one per number of ties, by symmetry."""
        n, source = self.window.n, random.Random(17)
        positions = range(1, n + 1)
        found = [p for size in range(2, n + 1) for p in itertools.combinations(positions, size)] if n <= _ALL else [
            tuple(sorted(source.sample(positions, size))) for size in range(2, n + 1)]
        before, self._source = self._source, source  # points are the same whether these were asked for or not
        try:
            return [self._at(pattern) for pattern in found]
        finally:
            self._source = before

    def _at(self, active: tuple[int, ...], second: int = 0, apart: bool = False) -> Point:
        """The best value is attained exactly at ``active``, the next best at ``second``; the others equal or apart."""
        source, window = self._source, self.window
        sign, top = (1 if window.op == "max" else -1), source.randint(-2, 5)
        others = source.sample(range(2, window.n + 6), window.n) if apart else source.choices(range(2, 7), k=window.n)
        loss = {q: 0 if q in active else 1 if q == second else others[q - 1] for q in range(1, window.n + 1)}
        values: dict[Index, int] = {(q,): _STEP * sign * (top - n) for q, n in loss.items()}
        free = {name: source.choice(_STEPS) for name in self.free}
        point = Point(window.module, EXACT, {window.entries: values}, {window.entries: (window.n,)}, free)
        point.put("direction", {at: source.randint(-9, 9) for at in values})
        return point.with_upstream({at: source.choice(_UPSTREAM) for at in point.values[window.module.output]})
