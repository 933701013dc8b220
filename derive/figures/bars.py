"""How often each value occurs among several: bars, of many different values over ten intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from derive.sheet import Cell, Item, Label, Line, Scene

_MOST, _BINS = 16, 10  # different values that have a bar each; else so many intervals
_WIDTH, _HEIGHT, _ABOVE, _BELOW, _LEFT = 12.0, 2.4, 1.4, 0.9, 1.2


def counted(values: Sequence[float]) -> list[tuple[float, float, int]]:
    """(from, to, how many) from the least to the greatest value; of one bar for one value both ends are it."""
    found = Counter(values)
    if len(found) <= _MOST:
        return [(value, value, found[value]) for value in sorted(found)]
    low, high = min(found), max(found)
    step = (high - low) / _BINS
    if not math.isfinite(step) or not step:
        return []
    bins = Counter(min(int((value - low) / step), _BINS - 1) for value in values)
    return [(low + n * step, low + (n + 1) * step, bins[n]) for n in range(_BINS)]


def bars(values: Mapping[str, Sequence[float]], name: str, title: str, description: str) -> Scene:
    """A row of bars for each name that has values, one below the other."""
    found = [(label, counted(numbers)) for label, numbers in values.items() if numbers]
    items: list[Item] = []
    each = _ABOVE + _HEIGHT + _BELOW
    for n, (label, own) in enumerate(found):
        base = n * each + _ABOVE + _HEIGHT
        items += [Label(_LEFT, n * each + 0.45, label, "title", "start"), *_row(own, base)]
    return Scene(name, title, description, _LEFT + _WIDTH + 0.5, max(1.0, len(found) * each), tuple(items))


def _row(found: Sequence[tuple[float, float, int]], base: float) -> list[Item]:
    most = max((count for _, _, count in found), default=1)
    slot = _WIDTH / max(len(found), 4)
    apart = bool(found) and found[0][0] == found[0][1]
    items: list[Item] = [Line(((_LEFT, base), (_LEFT + _WIDTH, base)), "grid")]
    for n, (low, high, count) in enumerate(found):
        x, height = _LEFT + n * slot, _HEIGHT * count / most
        if count:
            items.append(Cell(x + slot * 0.1, base - height, "first", "", "", slot * 0.8, height))
            items.append(Label(x + slot / 2, base - height - 0.2, str(count), "coordinate"))
        items.append(Label(x + slot / 2 if apart else x, base + 0.3, short(low), "coordinate"))
        if not apart and n == len(found) - 1:
            items.append(Label(x + slot, base + 0.3, short(high), "coordinate"))
    return items


def short(value: float) -> str:
    """A number in at most four digits."""
    return f"{value:.4g}".replace("-", "−")
