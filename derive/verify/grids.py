"""Grids in a picture of windows as they are drawn: whole, counted from 0, and joined as inputs and outputs are."""

from __future__ import annotations

from collections.abc import Sequence

from derive.sheet import Cell, Label, Line, Outline, Scene

_NEAR = 0.5  # how far beside a grid its coordinates stand
Place = tuple[float, float]


def misdrawn(scene: Scene, source: Sequence[Cell], outputs: Sequence[Cell]) -> str | None:
    """What of the two grids, their coordinates, the outlines of outputs or the ways between them is not so."""
    if not outputs:
        return "the outputs are missing"
    for name, grid in (("input", source), ("output", outputs)):
        left, top, right, bottom = _box(grid)
        if sorted(map(_at, grid)) != sorted((left + i, top + j) for i in range(round(right - left))
                                            for j in range(round(bottom - top))):
            return f"a cell of the {name} is missing, or lies beside its place"
        marks = [i for i in scene.items if isinstance(i, Label) and i.role == "coordinate"]
        rows = [sorted((m.x, int(m.text.strip("$"))) for m in marks if 0 < top - m.y < _NEAR and left < m.x < right),
                sorted((m.y, int(m.text.strip("$"))) for m in marks if 0 < left - m.x < _NEAR and top < m.y < bottom)]
        if any([number for _, number in row] != [*range(len(row))] for row in rows):
            return f"the coordinates of the {name} do not count from 0"
    outlined = {(o.role, *_at(o)) for o in scene.items if isinstance(o, Outline) and _at(o) in {*map(_at, outputs)}}
    if outlined != {(c.role, *_at(c)) for c in outputs if c.role != "cell"}:
        return "an outline is drawn around another output"
    return _misjoined(scene, source, outputs)


def _misjoined(scene: Scene, source: Sequence[Cell], outputs: Sequence[Cell]) -> str | None:
    """Whether the arrow does not lead from the input to the output, or a window's edges to another output."""
    lines = [i for i in scene.items if isinstance(i, Line)]
    _, top, right, bottom = _box(source)
    other = _box(outputs)
    arrows = [line.points for line in lines if line.role == "forward"]
    plane = other[0] >= right
    for (x, y), *_, (u, v) in arrows:
        if not (right < x < u < other[0] and y == v if plane else
                x == u > right and top < y < bottom and other[1] < v < other[3]):
            return "the arrow does not lead from the input to the output"
    if len(arrows) != 1 or any(line.role == "backward" for line in lines):
        return "one arrow leads from the input to the output"
    for role in () if plane else ("first", "second"):
        spans = [(o.x, o.x + o.width) for o in scene.items if isinstance(o, Outline) and o.role == role and o.y == top]
        wanted = {((min(spans)[0], bottom), (c.x, c.y)) for c in outputs if c.role == role and spans} | {
            ((max(spans)[1], bottom), (c.x + 1, c.y)) for c in outputs if c.role == role and spans}
        if {line.points for line in lines if line.role == role} != wanted:
            return f"the edges of the {role} window lead to another output"
    return None


def _at(item: Cell | Outline) -> Place:
    return round(item.x, 6), round(item.y, 6)


def _box(cells: Sequence[Cell]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom."""
    xs, ys = zip(*map(_at, cells), strict=True)
    return min(xs), min(ys), max(xs) + 1, max(ys) + 1
