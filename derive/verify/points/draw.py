"""Numbers for a layer's tensors: in every region, within what the card states, where the formula has a value."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any

from derive.axes import axes
from derive.calculus.one_window import OneWindow
from derive.errors import CardError, UnsupportedError
from derive.expr import Entry, Extremum, Fn, Node, Num, Pow, Reduce, Rel, walk
from derive.functions import elementary
from derive.module import Module
from derive.numeric.arithmetic import DECIMAL, EXACT, Arithmetic
from derive.numeric.evaluator import OutOfRange
from derive.numeric.point import Index
from derive.pointers import pointers
from derive.records import dataclass
from derive.reductions import selects
from derive.verify.points.facts import Facts
from derive.verify.points.point import Point
from derive.verify.points.sizes import Sizes, cells

_ATTEMPTS = 600
NO_VALUE = "the formula has no value"
# where a tensor's entries are drawn: anywhere, above 0, in (0, 1), in (−1, 1)
_MODES = ("any", "positive", "unit", "small")


@dataclass(frozen=True)
class Pool:
    """Candidate numbers of each mode, in tenths or as integers and a few fractions."""

    numbers: Mapping[str, tuple[Any, ...]]

    @staticmethod
    @lru_cache(maxsize=64)
    def of(kind: Arithmetic, thresholds: frozenset[Fraction]) -> Pool:
        """Numbers of both signs and on both sides of ±1 and of every threshold that a condition names."""
        if kind is EXACT:
            plain = [Fraction(n) for n in range(-9, 10) if n]
            fine = [Fraction(n, 5) for n in range(-12, 13) if n % 5]
        else:
            plain = [Fraction(n, 10) for n in range(-30, 31) if n]
            fine = [Fraction(n, 100) for n in range(-99, 100, 2)]
        near = [sign * t + Fraction(d, 10) for t in thresholds for sign in (1, -1) for d in (-7, -3, 3, 7)]
        numbers = [*plain, *near]
        unit = [n for n in (*plain, *fine) if 0 < n < 1]
        small = [n for n in (*plain, *fine) if -1 < n < 1]
        as_numbers = {"any": numbers, "positive": [n for n in (*numbers, *unit) if n > 0], "unit": unit, "small": small,
                      "near": near}
        return Pool({mode: tuple(map(kind.number, found)) for mode, found in as_numbers.items()})

    def scalar(self, source: random.Random, mode: str) -> Any:
        """A number of a region chosen first: any, in (−1, 1), beside what a condition compares with."""
        region = source.random() if mode == "any" else 1.0
        near = 0.5 if self.numbers["near"] else 0.0
        return source.choice(self.numbers["near" if region < near / 2 else "small" if region < 0.5 else mode])


def arithmetic_of(nodes: tuple[Node, ...]) -> Arithmetic:
    """Exact where every operation on values is rational, else decimal."""
    rational = {"floor", "ceil", "mod", *(f.name for f in elementary() if f.exact)}
    for node in (n for part in nodes for n in walk(part)):
        if isinstance(node, Fn) and node.name.rstrip("'") not in rational:
            return DECIMAL
        if isinstance(node, Pow) and not (isinstance(node.exponent, Num) and node.exponent.value.denominator == 1):
            return DECIMAL
    return EXACT


@lru_cache(maxsize=1024)
def thresholds(nodes: tuple[Node, ...]) -> frozenset[Fraction]:
    """The numbers that conditions and extrema compare with."""
    places = [n for part in nodes for n in walk(part) if isinstance(n, (Rel, Extremum)) or
              (isinstance(n, Reduce) and n.op in ("max", "min"))]
    inside = [p for place in places for p in _sides(place)]
    return frozenset(abs(n.value) for p in inside for n in walk(p) if isinstance(n, Num) and abs(n.value) <= 100)


def _sides(place: Node) -> tuple[Node, ...]:
    """What a relation compares; of a chain of equations nothing, it is a statement, and of indices nothing."""
    if isinstance(place, Rel):
        values = "=" not in place.ops and any(isinstance(n, (Entry, Fn)) for n in walk(place))
        return place.terms if values else ()
    return (place.body,) if isinstance(place, Reduce) else place.children()


class Draws:
    """Points of a module, more of them as they are asked for; the same in every run."""

    def __init__(self, module: Module, kind: Arithmetic, sizes: tuple[Sizes, ...], pool: Pool,
                 free: tuple[str, ...], seed: int = 7) -> None:
        self.module, self.kind, self.sizes, self.pool, self.free = module, kind, sizes, pool, free
        self.facts = Facts.of(module, kind)
        self._source = random.Random(seed)
        self._good: list[dict[str, str]] = []  # modes in which the formula had values

    @property
    def least(self) -> int:
        """How many points are wanted before every kind of input has come up."""
        return 0

    def point(self, number: int, ties: bool = False) -> Point:
        """A point at the sizes whose turn it is; with ``ties`` equal entries and zeros are common."""
        sizes = self.sizes[number % len(self.sizes)]
        reason = self._no_value(sizes)
        for _ in range(_ATTEMPTS // 10 if ties or reason != NO_VALUE else _ATTEMPTS):
            modes = dict.fromkeys((*self.module.given, *self.free), "any") if ties else self._modes()
            arrays = self._arrays(sizes, modes, ties)
            if arrays is None:
                reason = "the facts stated of its letters are not met"
                continue
            try:
                point = Point(self.module.stepping(sizes.chosen), self.kind, arrays, sizes.shapes, self._scalars(modes))
            except OutOfRange:  # whatever the numbers
                raise
            except (ArithmeticError, ValueError, CardError):
                continue
            if not self.facts.hold(point):
                reason = "the facts stated of its letters are not met"
                continue
            if len(self._good) < 20:
                self._good.append(modes)
            return point.with_upstream(self._upstream(point))
        raise UnsupportedError(f"no numbers were found at which the layer can be checked: {reason}")

    def _no_value(self, sizes: Sizes) -> str:
        shapes = [sizes.shapes[name] for name in self.module.inputs]
        missed = any(field.misses(s) for _, field in self.module.fields for s in shapes if len(s) == len(field.axes))
        where = " at a window wholly in padding; take a smaller padding" if missed else ""
        return f"{NO_VALUE}{where}"

    def _cells(self, name: str, sizes: Sizes) -> list[Index]:
        return cells(axes(self.module), name, sizes.shapes[name])

    def _modes(self) -> dict[str, str]:
        """Where each tensor is drawn: mostly anywhere, or as it worked before, else at random.

        Exact numbers are mostly integers: fractions are slow, and few regions need them.
        """
        letters = (*self.module.given, *self.free)
        chance = self._source.random()
        anywhere = 0.7 if self.kind is EXACT else 0.3 if self._good else 0.1
        if chance < anywhere:
            return dict.fromkeys(letters, "any")
        if self._good and chance < 0.8:
            return self._source.choice(self._good)
        return {name: self._source.choice(_MODES) for name in letters}

    def _arrays(self, sizes: Sizes, modes: Mapping[str, str], ties: bool) -> dict[str, dict[Any, Any]] | None:
        found = {}
        for name in self.module.given:
            if name in pointers(self.module):
                found[name] = self._places(name, sizes)
                continue
            number: Callable[[], Any] = partial(self._number, modes[name], not sizes.shapes[name], ties)
            if self._selects and not ties and modes[name] in ("any", "positive"):
                number = self._apart(name, number)
            values = self.facts.draw(name, self._cells(name, sizes), number, self.kind, self._source)
            if values is None:
                return None
            found[name] = values
        return found

    def _places(self, name: str, sizes: Sizes) -> dict[Any, Any]:
        """Coordinates of the axis into which the entries point, whatever numbers are calculated with."""
        tensor, axis = pointers(self.module)[name]
        first = axes(self.module).origin(tensor, axis)
        last = first + sizes.shapes[tensor][axis] - 1
        return {at: self._source.randint(first, last) for at in self._cells(name, sizes)}

    @cached_property
    def _selects(self) -> bool:
        """A formula compares entries over an index: equal ones, |x| too, would all be on a boundary."""
        return any(isinstance(n, Reduce) and selects(n.op) for e in self.module.equations
                   for n in walk(e))

    def _apart(self, name: str, number: Callable[[], Any]) -> Callable[[], Any]:
        """Numbers no two of which have the same size, farther out where the pool is used up."""
        taken: set[Any] = set()

        def another() -> Any:
            found = number()
            while abs(found) in taken:
                found += (1 if found > 0 else -1) * self.kind.number(Fraction(self._source.randint(1, 19), 10))
            taken.add(abs(found))
            return found

        return another

    def _number(self, mode: str, scalar: bool, ties: bool) -> Any:
        if ties and mode == "any" and self._source.random() < 0.7:
            return self.kind.number(self._source.choice((-1, 0, 0, 1)))
        return self.pool.scalar(self._source, mode) if scalar else self._source.choice(self.pool.numbers[mode])

    def _scalars(self, modes: Mapping[str, str]) -> dict[str, Any]:
        return {name: self.pool.scalar(self._source, modes[name]) for name in self.free}

    def _upstream(self, point: Point) -> dict[Any, Any]:
        numbers = (-3, -2, -1, 1, 2, 3, 5, 7)
        return {at: self.kind.number(self._source.choice(numbers)) for at in point.values[self.module.output]}


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
        point = Point(window.module, EXACT, {window.entries: values}, free=free)
        point.put("direction", {at: source.randint(-9, 9) for at in values})
        return point.with_upstream({at: source.choice(_UPSTREAM) for at in point.values[window.module.output]})
