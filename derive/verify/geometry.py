"""The facts that a sheet states of its windows, counted window by window from the definition of Ω."""

from __future__ import annotations

import math

from derive.adaptive_axis import AdaptiveAxis
from derive.receptive_field import ReceptiveField
from derive.verify.report import Check, Verdict
from derive.window_axis import Axis, WindowAxis
from derive.window_facts import WindowFacts, at_many, sizes_of, window_facts


def geometry(field: ReceptiveField, size: tuple[int, ...] | None) -> Check:
    """Tile, overlap, leave gaps, are clipped, lie wholly in padding: stated by closed forms, counted by definitions."""
    sizes = [(n,) for n in size] if size else [tuple(sizes_of(axis)) for axis in field.axes]
    found = [at_many(_counted(axis, n) for n in along) for axis, along in zip(field.axes, sizes, strict=True)]
    counted = WindowFacts(math.prod(f.most for f in found), all(f.tiles for f in found), any(f.gaps for f in found),
                          any(f.clipped for f in found), any(f.missed for f in found))
    runs = dict.fromkeys(f"{along[0]} to {along[-1]}" for along in sizes)
    where = f"an input of size {'×'.join(map(str, size))}" if size else f"inputs of {' and '.join(runs)} entries a side"
    evidence = f"How the windows lie was counted window by window for {where}"
    stated = window_facts(field, size)
    if counted != stated:
        return Check("geometry", "", Verdict.REFUTED, evidence, f"stated {stated}, counted {counted}")
    return Check("geometry", "", Verdict.PROVED if size else Verdict.TESTED, evidence)


def _counted(axis: Axis, n: int) -> WindowFacts:
    windows = [_cells(axis, k, n) for k in range(axis.output_size(n))]
    inside = [[i for i in cells if 0 <= i < n] for cells in windows]
    counts = [0] * n
    for i in (i for cells in inside for i in cells):
        counts[i] += 1
    within = counts[: max((i + 1 for cells in inside for i in cells), default=0)]
    clipped = any(len(a) < len(b) for a, b in zip(inside, windows, strict=True))
    return WindowFacts(max(counts, default=0), set(within) == {1} and not clipped, 0 in within, clipped,
                       not all(inside))


def _cells(axis: Axis, k: int, n: int) -> list[int]:
    """The cells of a window by definition, in padding or not."""
    if isinstance(axis, AdaptiveAxis):
        m = axis.outputs
        return [i for i in range(n) if k * n < (i + 1) * m and i * m < (k + 1) * n]
    assert isinstance(axis, WindowAxis)
    return [axis.stride * k - axis.padding + axis.dilation * a for a in range(axis.kernel_size)]
