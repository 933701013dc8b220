"""Windows in a picture: the receptive fields of a layer, and the way of the gradients through a worked example."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from derive.figures.grids import Grid, Index, Letters, legend, number
from derive.receptive_field import Axis, ReceptiveField, shares
from derive.records import dataclass
from derive.sheet import Cell, Item, Label, Line, Outline, Point, Scene
from derive.window_axis import WindowAxis

_TOP, _LEFT = 1.25, 0.75  # room for a title and for coordinates
_BETWEEN = 2.6
_LARGEST = 10  # cells of a side that fit a page


def receptive_fields(field: ReceptiveField, shape: Index, letters: Letters, operation: str) -> Scene | None:
    """Input grid, two neighbouring windows Ω(k), output grid; ``operation`` stands on the arrow between.

    None for more than two axes, and where there is no window at this shape.
    """
    outputs = field.output_shape(shape)
    if len(shape) > 2 or not all(outputs):
        return None
    picture = _Picture(field, shape, letters)
    return picture.row(operation) if len(shape) == 1 else picture.plane(operation)


def picture_shape(field: ReceptiveField, known: Index | None) -> Index | None:
    """The input's own shape where it fits a page, else the smallest in which each axis has two windows with cells."""
    if known is not None and max(known) <= _LARGEST:
        return known
    shape = []
    for axis in field.axes:
        sizes = (n for n in range(4, _LARGEST + 1) if axis.output_size(n) > 1 and not axis.misses(n)
                 and shares(axis, n))
        shape.append(next(sizes, 0))
    return tuple(shape) if all(shape) else None


def shown(field: ReceptiveField, shape: Index) -> list[Index]:
    """The first output whose window has cells, and along the last axis that has another the next one, sharing cells
    with it if any does."""
    outputs = field.output_shape(shape)
    first = tuple(next((k for k in range(count) if a.covered(k, n)), 0)
                  for a, n, count in zip(field.axes, shape, outputs, strict=True))
    axis = next((d for d in reversed(range(len(shape))) if first[d] + 1 < outputs[d]), None)
    if axis is None:
        return [first]
    row, n, k = field.axes[axis], shape[axis], first[axis]
    shared = (later for later in range(k + 1, outputs[axis]) if {*row.covered(k, n)} & {*row.covered(later, n)})
    return [first, (*first[:axis], next(shared, k + 1), *first[axis + 1:])]


class _Picture:
    """The cells of two windows, and who of them is in which."""

    def __init__(self, field: ReceptiveField, shape: Index, letters: Letters) -> None:
        self.field, self.shape, self.letters = field, shape, letters
        self.outputs = field.output_shape(shape)
        self.ranges = tuple(map(_reach, field.axes, shape, self.outputs))
        self.shown = shown(field, shape)
        self.cells = [self._cells(at) for at in self.shown]

    def _cells(self, at: Index) -> list[Index]:
        axes = zip(self.field.axes, at, self.shape, strict=True)
        return list(itertools.product(*(_cells(axis, k, n) for axis, k, n in axes)))

    def role(self, cell: Index) -> str:
        inside = [name for name, cells in zip(("first", "second"), self.cells, strict=False) if cell in cells]
        if not all(0 <= c < n for c, n in zip(cell, self.shape, strict=True)):
            return "padding"
        if inside:
            return "both" if len(inside) == 2 else inside[0]
        return "cell" if self.field.covering(cell, self.shape) else "gap"

    def plane(self, operation: str) -> Scene:
        """Two axes: input at the left, output at the right."""
        source = Grid(_LEFT, _TOP, self.ranges)
        height = max(source.rows, self.outputs[0])
        source = Grid(_LEFT, _TOP + (height - source.rows) / 2, self.ranges)
        top = _TOP + (height - self.outputs[0]) / 2
        output = Grid(source.right + _BETWEEN, top, tuple(map(range, self.outputs)))
        middle = _TOP + height / 2
        arrow = ((source.right + 0.45, middle), (output.x - 0.75, middle))
        items = [*self._grids(source, output), Line(arrow, "forward"),
                 Label(sum(x for x, _ in arrow) / 2, middle - 0.4, operation, "legend"),
                 *source.coordinates(*self.shape), *output.coordinates(*self.outputs)]
        return self._scene(items, output.right + 0.2, _TOP + height + 0.45)

    def row(self, operation: str) -> Scene:
        """One axis: input above, output below."""
        source = Grid(_LEFT, _TOP, self.ranges)
        left = _LEFT + max(0.0, (source.columns - self.outputs[0]) / 2)
        output = Grid(left, source.bottom + 1.7, tuple(map(range, self.outputs)))
        items: list[Item] = []
        for at, cells, role in zip(self.shown, self.cells, ("first", "second"), strict=False):
            low, high = source.corner(cells[0])[0], source.corner(cells[-1])[0] + 1
            x, y = output.corner(at)
            items += [Line(((low, source.bottom), (x, y)), role), Line(((high, source.bottom), (x + 1, y)), role)]
        right = max(source.right, output.right) + 0.5
        arrow = ((right, source.y + 0.5), (right, output.y + 0.5))
        items = [*self._grids(source, output), *items, *source.coordinates(*self.shape), Line(arrow, "forward"),
                 Label(right + 0.25, (arrow[0][1] + arrow[1][1]) / 2, operation, "legend", "start")]
        return self._scene(items, right + 1.2, output.bottom + 0.35)

    def _grids(self, source: Grid, output: Grid) -> list[Item]:
        plane = len(self.shape) == 2
        items: list[Item] = [Cell(*source.corner(cell), self.role(cell)) for cell in source.indices()]
        for at in output.indices():
            role = dict(zip(self.shown, ("first", "second"), strict=False)).get(at, "cell")
            text = self.letters.entry(self.letters.output, at) if at in self.shown else ""
            items.append(Cell(*output.corner(at), role, text))
        for cells, role in zip(self.cells, ("first", "second"), strict=False):
            items += self._outlines(source, cells, role)
        for grid, name in ((source, self.letters.source), (output, self.letters.output)):
            place = (grid.x + grid.columns / 2, grid.y - 0.8) if plane else (grid.x - 0.45, grid.y + 0.5)
            items.append(Label(*place, self.letters.tensor(name), "title"))
        items += [Outline(*output.corner(at), 1, 1, role)
                  for at, role in zip(self.shown, ("first", "second"), strict=False)]
        return items

    def _outlines(self, grid: Grid, cells: list[Index], role: str) -> list[Item]:
        """One outline around cells that touch; else one around each."""
        if len(cells) == _volume(cells):
            (x, y), (right, bottom) = grid.corner(cells[0]), grid.corner(cells[-1])
            return [Outline(x, y, right - x + 1, bottom - y + 1, role)]
        return [Outline(*grid.corner(cell), 1, 1, role) for cell in cells]

    def _scene(self, items: list[Item], width: float, bottom: float) -> Scene:
        roles = {item.role for item in items if isinstance(item, Cell)}
        named = zip(("first", "second"), self.shown, strict=False)
        words = [(role, self.letters.window(at)) for role, at in named]
        words += [(role, self.letters.say(f"legend_{role}")) for role in ("both", "padding", "gap") if role in roles]
        entries, right, end = legend(words, _LEFT, bottom, max(width - _LEFT, 7))
        windows = [[tuple(str(n).replace("-", "−") for n in (r.start, r.stop - 1)) for r in _extents(cells)]
                   for cells in self.cells]
        facts = {"shape": self.shape, "outputs": self.outputs, "windows": windows}
        say = self.letters.say
        return Scene("receptive-fields", say("fields_title"), say("fields_description", **facts),
                     max(width, right), end + 0.1, (*items, *entries))


def _cells(axis: Axis, k: int, n: int) -> range:
    """The coordinates of window k, those in the padding too."""
    return range(axis.start(k, n), axis.stop(k, n), axis.step)


def _reach(axis: Axis, n: int, outputs: int) -> range:
    """All coordinates of an axis, with its padding, and with what windows reach beyond."""
    before, behind = (axis.padding, axis.padding_after) if isinstance(axis, WindowAxis) else (0, 0)
    return range(min(-before, axis.start(0, n)), max(n + behind, axis.stop(outputs - 1, n)))


def _extents(cells: list[Index]) -> list[range]:
    return [range(min(axis), max(axis) + 1) for axis in zip(*cells, strict=True)]


def _volume(cells: list[Index]) -> int:
    volume = 1
    for extent in _extents(cells):
        volume *= len(extent)
    return volume


Values = Mapping[Index, Any]
_ABOVE, _BESIDE = 0.8, 0.9
_MIDDLE, _BELOW = 2.4, 0.8
_WIDE, _APART = 3.2, 0.68  # an output in a column, and the way to the next
_ARROWS = 9  # more of them are a tangle
_LANES = (0.37, -0.37, 0.29, -0.29)  # below and above the middle of a row
_FITS = 3  # signs of a sum within a cell


@dataclass(frozen=True)
class Example:
    """Numbers: x, f, δ_f and δ_x by index, and for each output the input entry that it selected."""

    source: Values
    output: Values
    upstream: Values
    gradient: Values
    chosen: Mapping[Index, Index]

    def senders(self, cell: Index) -> list[Index]:
        """The outputs whose gradient a cell receives."""
        return [at for at, winner in self.chosen.items() if winner == cell]

    def role(self, cell: Index) -> str:
        return ("cell", "chosen", "shared")[min(2, len(self.senders(cell)))]


def routing(example: Example, letters: Letters, op: str) -> Scene | None:
    """x → f above, δ_x ← δ_f below, the selected entries marked; None for more than two axes."""
    rank = len(next(iter(example.source)))
    if rank > 2:
        return None
    items = _rows(example, letters) if rank == 1 else _plane(example, letters)
    right = max(item.x + item.width for item in items if isinstance(item, Cell))
    bottom = max(item.y + item.height for item in items if isinstance(item, Cell))
    shared = any(example.role(cell) == "shared" for cell in example.source)
    say = letters.say
    words = [("chosen", say("legend_chosen", op=op)), *([("shared", say("legend_shared"))] if shared else [])]
    entries, end, low = legend(words, _BESIDE, bottom + 0.4, max(right - _BESIDE, 13))
    return Scene("routing", say("routing_title"), _description(example, letters, op), max(right + 0.2, end), low + 0.1,
                 (*items, *entries))


def _plane(example: Example, letters: Letters) -> list[Item]:
    """Two axes: few outputs stand in a column, each with its arrow; many stand in their grid."""
    shape = _ranges(example.source)
    source = Grid(_BESIDE, _ABOVE, shape)
    few = len(example.output) <= _ARROWS
    depth = max(len(shape[0]), len(example.output) * _APART if few else len(_ranges(example.output)[0]))
    source = replace(source, y=_ABOVE + (depth - len(shape[0])) / 2)
    gradient = replace(source, y=source.y + depth + _BELOW)
    items: list[Item] = []
    passes = ((source, example.source, letters.source, letters.output, example.output, "forward"),
              (gradient, example.gradient, f"delta_{letters.source}", f"delta_{letters.output}", example.upstream,
               "backward"))
    for grid, numbers, name, other, values, role in passes:
        items.append(Label(grid.x + grid.columns / 2, grid.y - 0.4, letters.tensor(name), "title"))
        items += [_cell(example, grid, at, numbers) for at in numbers]
        middle = grid.y + grid.rows / 2
        if few:
            items += _column(example, letters, grid, middle, other, values, role)
        else:
            items += _beside(letters, grid, middle, other, values, role)
    return items


def _column(example: Example, letters: Letters, grid: Grid, middle: float, name: str, values: Values,
            role: str) -> list[Item]:
    """The outputs one below the other, and an arrow between each and the entry that it selected."""
    x, top = grid.right + _MIDDLE, middle - len(values) * _APART / 2
    items: list[Item] = []
    lanes: dict[float, dict[Index, float]] = {}
    for n, (at, cell) in enumerate(example.chosen.items()):
        y = top + n * _APART
        text = f"{letters.entry(name, at)[:-1]} = {values[at]}$"
        items.append(Cell(x, y, "cell", text, width=_WIDE, height=_APART - 0.1))
        u, v = grid.middle(cell)
        row = lanes.setdefault(v, {})  # a lane for each entry, beside the numbers of a row, not through them
        free = [lane for lane in _lanes(example, cell) if lane not in row.values()]
        v += row.setdefault(cell, free[0] if free else _LANES[0])
        w = y + _APART / 2 - 0.05
        end = u + (0.49 if example.role(cell) == "shared" else 0.4)  # beside a sum that stands there
        path = ((end, v), (grid.right + 0.1, v), (x - 0.35, w), (x - 0.08, w))
        items.append(Line(path if role == "forward" else path[::-1], role, smooth=True))
    return items


def _lanes(example: Example, cell: Index) -> tuple[float, ...]:
    """Above the numbers where a sum stands below one further right, which the line passes."""
    right = (other for other in example.source if other[0] == cell[0] and other[1] > cell[1])
    passed = any(example.role(other) == "shared" for other in right)
    return _LANES[1::2] + _LANES[::2] if passed else _LANES


def _beside(letters: Letters, grid: Grid, middle: float, name: str, values: Values, role: str) -> list[Item]:
    """The outputs in their grid, and one arrow for all."""
    ranges = _ranges(values)
    output = Grid(grid.right + _MIDDLE, middle - len(ranges[0]) / 2, ranges)
    ends = ((grid.right + 0.4, middle), (output.x - 0.4, middle))
    return [Label(output.x + output.columns / 2, output.y - 0.4, letters.tensor(name), "title"),
            *(Cell(*output.corner(at), "cell", number(values[at])) for at in values),
            Line(ends if role == "forward" else ends[::-1], role)]


def _rows(example: Example, letters: Letters) -> list[Item]:
    """One axis: four rows below each other."""
    shape, outputs = _ranges(example.source), _ranges(example.output)
    x = _BESIDE + 0.3
    aside = x + (len(shape[0]) - len(outputs[0])) / 2
    source = Grid(x, 0.3, shape)
    output = Grid(aside, source.bottom + 1.2, outputs)
    upstream = Grid(aside, output.bottom + 0.7, outputs)
    gradient = Grid(x, upstream.bottom + 1.2, shape)
    items: list[Item] = []
    for grid, numbers, name in ((source, example.source, letters.source), (output, example.output, letters.output),
                                (upstream, example.upstream, f"delta_{letters.output}"),
                                (gradient, example.gradient, f"delta_{letters.source}")):
        items.append(Label(grid.x - 0.55, grid.y + 0.5, letters.tensor(name), "title"))
        items += [_cell(example, grid, at, numbers) for at in numbers]
    for at, cell in example.chosen.items():
        items += [Line(_vertical(source.middle(cell), output.middle(at)), "forward", smooth=True),
                  Line(_vertical(upstream.middle(at), gradient.middle(cell)), "backward", smooth=True)]
    return items


def _vertical(upper: Point, lower: Point) -> tuple[Point, ...]:
    (x, y), (u, v) = upper, lower
    return (x, y + 0.52), (x, y + 0.6), (u, v - 0.7), (u, v - 0.56)


def _ranges(values: Values) -> tuple[range, ...]:
    return tuple(range(max(axis) + 1) for axis in zip(*values, strict=True))


def _cell(example: Example, grid: Grid, at: Index, numbers: Values) -> Cell:
    inputs = numbers is example.source or numbers is example.gradient
    role = example.role(at) if inputs else "cell"
    note = ""
    parts = [example.upstream[k] for k in example.senders(at)]
    if len(parts) > 1 and numbers is example.gradient:
        added = str(parts[0]) + "".join(f"+{p}" if p >= 0 else str(p) for p in parts[1:])
        note = number(added) if len(added) <= _FITS else ""
    return Cell(*grid.corner(at), role, number(numbers[at]), note)


def _description(example: Example, letters: Letters, op: str) -> str:
    ways = [{"output": letters.entry(letters.output, at), "source": letters.entry(letters.source, cell),
             "value": example.output[at], "gradient": example.upstream[at]} for at, cell in example.chosen.items()]
    return letters.say("routing_description", op=op, ways=ways)
