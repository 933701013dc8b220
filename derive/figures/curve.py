"""A layer of one number as a picture: sampled, the graphs of y(s) and of y'(s), the kinks marked."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from derive.axes import with_axes
from derive.errors import DeriveError
from derive.expr import Cases, Cond, Expr, Rel, conditions, walk
from derive.figures.grids import letter, say
from derive.module import Module
from derive.numeric.vectorised import forward
from derive.records import dataclass
from derive.sheet import Dot, Item, Label, Line, Point, Scene

GIVEN = (Fraction(1, 4), Fraction(1))  # values to try for every letter besides the variable
_INTERVALS = ((-3.0, 3.0), (0.02, 4.0))  # the second for logarithms and roots
_SAMPLES = 240
_H = 1e-6
_NEAR = 5e-6 + 2 * _H  # of a kink, whose place is rounded to five digits: what is on one side of it
_STEEP = 1e-2  # how near a curve is drawn to where its slope grows without bound
_FLAT = 1e-4  # a smaller change of the slope from sample to sample is none
_HALVED, _CHORD, _FINE = 8, 0.2, 2e-3  # how often; how far from a chord: in parts of its rise, of the graph's height
_BENT = 0.6  # a smaller part of the slope's change over thrice the distance is no kink
_JUMP = 1e-2  # a larger change of the slope within 1e-5 is a kink

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Kink:
    """A place without a derivative, and the slopes before and after it; ``values``: between which the function jumps.

    ``level`` is its value there, where it has one; ``steep``: the slopes grow without bound.
    """

    at: float
    before: float
    after: float
    level: float
    values: tuple[float, float] | None = None
    steep: bool = False


@dataclass(frozen=True)
class Curve:
    """Samples of a function over an interval: ``pieces`` lie between its kinks, as (s, y, y').

    ``given`` is the value of every letter besides the variable.
    """

    pieces: tuple[NDArray[np.float64], ...]
    kinks: tuple[Kink, ...]
    given: Fraction = GIVEN[0]

    @property
    def bent(self) -> float:
        """The part of the samples at which the slope changes."""
        slopes = [np.abs(np.diff(piece[2])) > _FLAT for piece in self.pieces]
        return float(np.concatenate(slopes).mean())


@lru_cache(64)
def curve(module: Module) -> Curve | None:
    """The samples of an elementwise layer; None for any other, and where it has no value on the interval.

    None, too, of a layer with a case for one place, s = 0: what is drawn is what is so beside it.
    """
    if not module.elementwise or any(isinstance(n, Cases) and any(map(_single, n.branches)) for e in module.equations
                                     for n in walk(e)):
        return None
    for low, high in _INTERVALS:
        try:
            found = [_sampled(module, given, low, high) for given in (GIVEN if others(module) else GIVEN[:1])]
        except DeriveError:
            continue
        return max(found, key=lambda c: (len(c.kinks), c.bent))  # the one that shows most of the function
    return None


def _single(branch: tuple[Expr, Cond]) -> bool:
    """The case holds at single places alone."""
    return any(isinstance(part, Rel) and "=" in part.ops for part in conditions(branch[1]))


def others(module: Module) -> tuple[str, ...]:
    """All letters that are given besides the variable."""
    return (*module.inputs[1:], *module.parameters, *module.constants)


def _function(module: Module, given: Fraction) -> Function:
    ranks = {s.name: len(s.axes) for s in module.table.symbols}

    def at(s: NDArray[np.float64]) -> NDArray[np.float64]:
        arrays: dict[str, NDArray[np.float64]] = {
            name: np.full((1,) * ranks[name], float(given)) for name in others(module)}
        arrays[module.inputs[0]] = s.reshape(-1, *(1,) * ranks[module.inputs[0]])
        values = forward(module, arrays)
        if not np.isfinite(values).all():
            raise DeriveError("no finite value")
        return np.broadcast_to(values.reshape(-1), s.shape)

    return at


def _sampled(module: Module, given: Fraction, low: float, high: float) -> Curve:
    function = _function(module, given)
    s = np.linspace(low, high, _SAMPLES + 1)
    inner = s[1:-1]
    before, after = _slopes(function, inner - _H), _slopes(function, inner + _H)
    right = np.append(_slopes(function, s[:1] + 2 * _H), after)
    left = np.append(before, _slopes(function, s[-1:] - 2 * _H))
    stepped = _stepped(function, s[:-1] + _H, s[1:] - _H, (s[1] - s[0]) * (left + right) / 2)
    wide = (np.abs(left - right) > _JUMP) | stepped
    sharp = inner[(np.abs(after - before) > _JUMP) | _stepped(function, inner - _H, inner + _H)]
    starts, ends = np.append(s[:-1][wide], sharp), np.append(s[1:][wide], sharp)
    kinks = sorted({k.at: k for k in _kinks(function, starts, ends)}.values(), key=lambda k: k.at)
    bounds = [(low, 4 * _H), *((k.at, _STEEP if k.steep else _NEAR) for k in kinks), (high, 4 * _H)]
    pieces = tuple(_piece(function, s, a, b) for a, b in itertools.pairwise(bounds))
    return Curve(pieces, tuple(kinks), given)


def _stepped(function: Function, a: NDArray[np.float64], b: NDArray[np.float64],
             rise: NDArray[np.float64] | float = 0.0) -> NDArray[np.bool_]:
    """Where the value changes from a_n to b_n by more than the slopes let it."""
    low, high = function(a), function(b)
    return np.abs(high - low - rise) > _JUMP * (1 + np.abs(high))


def _slopes(function: Function, s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Central differences."""
    h = _H / 4
    return (function(s + h) - function(s - h)) / (2 * h)


def _kinks(function: Function, a: NDArray[np.float64], b: NDArray[np.float64]) -> list[Kink]:
    """The places between a_n and b_n where the slope jumps, all bisected at once; none where it only bends."""
    if not a.size:
        return []
    ends = np.concatenate([a + _H, b - _H])
    (p, r), (u, w) = _slopes(function, ends).reshape(2, -1), function(ends).reshape(2, -1)
    while (b - a).max() > 1e-7:
        middle = (a + b) / 2
        q, v = _slopes(function, middle), function(middle)
        level = np.abs(p - r) <= _JUMP  # then it is the value that jumps
        first = np.where(level, np.abs(v - u) > np.abs(w - v), np.abs(q - p) > np.abs(r - q))
        a, p, u = (np.where(first, *pair) for pair in ((a, middle), (p, q), (u, v)))
        b, r, w = (np.where(first, *pair) for pair in ((middle, b), (q, r), (v, w)))
    at = np.round((a + b) / 2, 5)
    beside = np.concatenate([at - _NEAR, at + _NEAR])
    low, high = function(beside).reshape(2, -1)
    before, after = _slopes(function, beside).reshape(2, -1)
    outside = _slopes(function, np.concatenate([at - 20 * _H, at + 20 * _H])).reshape(2, -1)
    steep = np.any(np.abs([before, after]) > 1.5 * np.abs(outside), axis=0).reshape(-1)
    bent = np.abs(after - before) < _BENT * np.abs(outside[1] - outside[0])  # a slope that changes with the distance
    step = (np.abs(high - low) > _JUMP * (1 + np.abs(high))).reshape(-1)
    return [Kink(float(m), float(p), float(q), float(u + v) / 2, (float(u), float(v)) if jumps else None, bool(grows))
            for m, p, q, u, v, jumps, grows, bends in zip(at, before, after, low, high, step, steep, bent, strict=True)
            if jumps or (abs(q - p) > _JUMP * (1 + abs(p)) and not bends)]


def _piece(function: Function, s: NDArray[np.float64], start: tuple[float, float],
           end: tuple[float, float]) -> NDArray[np.float64]:
    """Samples between two places, at these distances from them, more of them where the graph leaves their chord."""
    (a, near), (b, far) = start, end
    inside = np.array([a + near, *s[(s > a + max(near, 1e-4)) & (s < b - max(far, 1e-4))], b - far])
    found = np.stack([inside, function(inside), _slopes(function, inside)])
    for _ in range(_HALVED):
        middle = (found[0, 1:] + found[0, :-1]) / 2
        between = np.stack([middle, function(middle), _slopes(function, middle)])
        low, high = found[1:, :-1], found[1:, 1:]
        allowed = _CHORD * np.abs(high - low) + _FINE * np.ptp(found[1:], axis=1, keepdims=True)
        off = (np.abs(between[1:] - (low + high) / 2) > allowed).any(axis=0)
        found = np.concatenate([found, between[:, off]], axis=1)
        found = found[:, np.argsort(found[0])]
    return found


_WIDE, _HIGH, _BETWEEN = 6.0, 4.2, 2.7  # a panel, and the room between the two


def elementwise(module: Module) -> Scene | None:
    """y over s at the left, y' at the right; None unless y_k depends on s_k alone, whatever the rank.

    Letters besides the input have the value that :func:`given` names.
    """
    module = with_axes(module)
    sampled = curve(module)
    if sampled is None:
        return None
    variable, output = letter(module.table, module.inputs[0]), letter(module.table, module.output)
    x, y, slope = np.concatenate(sampled.pieces, axis=1)
    items: list[Item] = []
    for left, values, row, name in ((0.8, y, 1, output), (0.8 + _WIDE + _BETWEEN, slope, 2, _primed(output))):
        panel = _Panel(left, x, values)
        items += panel.axes(variable, name)
        items += [panel.line(piece[0], piece[row], "curve" if row == 1 else "slope") for piece in sampled.pieces]
        for kink in sampled.kinks:
            slopes = () if kink.steep else (kink.before, kink.after)
            ends = slopes if row == 2 else kink.values or (kink.level,)
            items += [Dot(*panel.place(kink.at, end), "kink" if len(ends) == 1 else "open") for end in ends]
    return Scene("curve", say(module.table, "curve_title"), _description(sampled, module),
                 2 * _WIDE + _BETWEEN + 1.8, _HIGH + 1.2, tuple(items))


def _description(sampled: Curve, module: Module) -> str:
    x, y, _ = np.concatenate(sampled.pieces, axis=1)
    kinks = [{"at": _short(k.at), "jumps": k.values is not None, "steep": k.steep,
              "ends": [_short(v) for v in k.values or (k.before, k.after)]} for k in sampled.kinks]
    return say(module.table, "curve_description", low=_short(x[0]), high=_short(x[-1]), start=_short(y[0]),
               end=_short(y[-1]), kinks=kinks)


def given(module: Module) -> tuple[str, ...]:
    """The letters that :func:`elementwise` sets to a value: a = 1/4."""
    module = with_axes(module)
    sampled = curve(module)
    return tuple(f"{letter(module.table, name)[:-1]} = {sampled.given}$" for name in others(module)) if sampled else ()


class _Panel:
    """Axes through 0, one unit of s as long as the panel allows, the same for y unless it is too high."""

    def __init__(self, left: float, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        self.left, self.low, self.high = left, float(x[0]), float(x[-1])
        spread = max(float(np.ptp(y)), 0.5)
        self.bottom = min(0.0, float(y.min())) - 0.08 * spread
        self.top = max(0.0, float(y.max())) + 0.08 * spread

    def place(self, s: float, y: float) -> Point:
        across = (s - self.low) / (self.high - self.low) * _WIDE
        return self.left + across, 0.6 + (self.top - y) / (self.top - self.bottom) * _HIGH

    def line(self, s: NDArray[np.float64], y: NDArray[np.float64], role: str) -> Line:
        """The samples as a path; of a straight piece its ends are enough."""
        bends = np.abs(np.diff(y, 2)) > 1e-6 if len(y) > 2 else np.zeros(0, bool)
        kept = np.concatenate([[True], bends, [True]])
        kept[1:-1:3] |= bends.any()
        return Line(tuple(self.place(float(a), float(b)) for a, b in zip(s[kept], y[kept], strict=True)), role)

    def axes(self, variable: str, name: str) -> list[Item]:
        """Axes through 0; the numbers stand at the left and at the bottom, clear of the curve."""
        origin = min(max(0.0, self.low), self.high)
        (wall, ground), bottom = self.place(origin, 0.0), 0.6 + _HIGH
        right = self.left + _WIDE
        items: list[Item] = []
        for s in range(int(np.ceil(self.low)), int(self.high) + 1):
            x, _ = self.place(s, 0)
            items += [Line(((x, 0.6), (x, bottom)), "grid"), Label(x, bottom + 0.3, f"${s}$", "coordinate")]
        for y in self._ticks():
            _, down = self.place(0, y)
            items += [Line(((self.left, down), (right, down)), "grid"),
                      Label(self.left - 0.2, down, f"${_short(y)}$", "coordinate", "end")]
        return [*items, Line(((self.left, ground), (right + 0.3, ground)), "axis"),
                Line(((wall, bottom), (wall, 0.35)), "axis"), Label(right + 0.55, ground, variable, "title"),
                Label(wall + 0.18, 0.3, name, "title", "start")]

    def _ticks(self) -> list[float]:
        high = self.top - self.bottom
        large = (t * 10.0**n for n in itertools.count() for t in (1, 2, 5))
        step = next(t for t in itertools.chain((0.02, 0.05, 0.1, 0.25, 0.5), large) if high / t <= 6)
        return [n * step for n in range(int(self.bottom / step), int(self.top / step) + 1)]


def _primed(letter: str) -> str:
    return f"{letter[:-1]}'$"


def _short(value: float) -> str:
    return f"{round(float(value), 2) + 0.0:.15g}"
