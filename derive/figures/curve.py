"""A layer of one number as a picture: the graphs of y(s) and of y'(s), the kinks marked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from derive.axes import with_axes
from derive.figures.letters import letter, say
from derive.figures.sampling import Curve, curve, others
from derive.module import Module
from derive.scene import Dot, Item, Label, Line, Point, Scene

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
            ends = [kink.before, kink.after] if row == 2 else [float(np.interp(kink.at, x, y))]
            items += [Dot(*panel.place(kink.at, end), "kink" if row == 1 else "open") for end in ends]
    return Scene("curve", say("curve_title"), _description(sampled), 2 * _WIDE + _BETWEEN + 1.8, _HIGH + 1.2,
                 tuple(items))


def _description(sampled: Curve) -> str:
    x, y, _ = np.concatenate(sampled.pieces, axis=1)
    kinks = [{"at": _short(k.at), "before": _short(k.before), "after": _short(k.after)} for k in sampled.kinks]
    return say("curve_description", low=_short(x[0]), high=_short(x[-1]), start=_short(y[0]), end=_short(y[-1]),
               kinks=kinks)


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
        step = next(t for t in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 1e9) if (self.top - self.bottom) / t <= 6)
        return [n * step for n in range(int(self.bottom / step), int(self.top / step) + 1)]


def _primed(letter: str) -> str:
    return f"{letter[:-1]}'$"


def _short(value: float) -> str:
    return f"{round(float(value), 2) + 0.0:g}"
