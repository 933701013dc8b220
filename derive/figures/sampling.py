"""A layer of one number, sampled: its values, its slopes, and the kinks between."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from derive.errors import DeriveError
from derive.expr import BINDING, Entry, walk
from derive.module import Module
from derive.numeric.vectorised import forward

GIVEN = (Fraction(1, 4), Fraction(1))  # values to try for every letter besides the variable
_INTERVALS = ((-3.0, 3.0), (0.02, 4.0))  # the second for logarithms and roots
_SAMPLES = 240
_H = 1e-6
_FLAT = 1e-4  # a smaller change of the slope from sample to sample is none
_JUMP = 1e-2  # a larger change of the slope within 1e-5 is a kink

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Kink:
    """A place without a derivative, and the slopes before and after it."""

    at: float
    before: float
    after: float


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
    """The samples of an elementwise layer; None for any other, and where it has no value on the interval."""
    if not _elementwise(module):
        return None
    for low, high in _INTERVALS:
        try:
            found = [_sampled(module, given, low, high) for given in (GIVEN if others(module) else GIVEN[:1])]
        except DeriveError:
            continue
        return max(found, key=lambda c: (len(c.kinks), c.bent))  # the one that shows most of the function
    return None


def _elementwise(module: Module) -> bool:
    """Every equation defines an entry from entries at the same indices and from single numbers."""
    if len(module.inputs) < 1 or module.fields:
        return False
    used = False
    for equation in module.equations:
        entry, value = equation.terms
        if not isinstance(entry, Entry) or any(isinstance(n, BINDING) for n in walk(value)):
            return False
        entries = [n for n in walk(value) if isinstance(n, Entry)]
        if any(n.indices and n.indices != entry.indices for n in entries):
            return False
        used = used or any(n.tensor == module.inputs[0] and n.indices == entry.indices for n in entries)
    return used


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
    wide = np.abs(left - right) > _JUMP
    sharp = inner[np.abs(after - before) > _JUMP]
    starts, ends = np.append(s[:-1][wide], sharp), np.append(s[1:][wide], sharp)
    kinks = sorted({k.at: k for k in _kinks(function, starts, ends)}.values(), key=lambda k: k.at)
    bounds = [low, *(k.at for k in kinks), high]
    pieces = tuple(_piece(function, s, a, b) for a, b in itertools.pairwise(bounds))
    return Curve(pieces, tuple(kinks), given)


def _slopes(function: Function, s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Central differences."""
    h = _H / 4
    return (function(s + h) - function(s - h)) / (2 * h)


def _kinks(function: Function, a: NDArray[np.float64], b: NDArray[np.float64]) -> list[Kink]:
    """The places between a_n and b_n where the slope jumps, all bisected at once; none where it only bends."""
    if not a.size:
        return []
    while (b - a).max() > 1e-7:
        middle = (a + b) / 2
        p, q, r = _slopes(function, np.concatenate([a + _H, middle, b - _H])).reshape(3, -1)
        first = np.abs(q - p) > np.abs(r - q)
        a, b = np.where(first, a, middle), np.where(first, middle, b)
    at = np.round((a + b) / 2, 5)
    before, after = _slopes(function, np.concatenate([at - 5 * _H, at + 5 * _H])).reshape(2, -1)
    return [Kink(float(m), float(p), float(q)) for m, p, q in zip(at, before, after, strict=True) if abs(q - p) > _JUMP]


def _piece(function: Function, s: NDArray[np.float64], a: float, b: float) -> NDArray[np.float64]:
    edge = 4 * _H
    inside = np.array([a + edge, *s[(s > a + 1e-4) & (s < b - 1e-4)], b - edge])
    return np.stack([inside, function(inside), _slopes(function, inside)])
