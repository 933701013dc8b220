"""The way of the gradients through a worked example: forward to the outputs, and back to where they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from derive.figures.grids import Grid, legend
from derive.figures.letters import Index, Letters, number, say
from derive.scene import Cell, Item, Label, Line, Point, Scene

Values = Mapping[Index, Any]
_TOP, _LEFT = 0.8, 0.9
_BETWEEN, _BELOW = 2.4, 1.1
_WIDE, _APART = 3.2, 0.9  # an output in a column, and the way to the next
_ARROWS = 9  # more of them are a tangle


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
    words = [("chosen", say("legend_chosen", op=op)), *([("shared", say("legend_shared"))] if shared else [])]
    entries, end, low = legend(words, _LEFT, bottom + 0.4, max(right - _LEFT, 9))
    return Scene("routing", say("routing_title"), _description(example, letters, op), max(right + 0.2, end), low + 0.1,
                 (*items, *entries))


def _plane(example: Example, letters: Letters) -> list[Item]:
    """Two axes: few outputs stand in a column, each with its arrow; many stand in their grid."""
    shape = _ranges(example.source)
    source = Grid(_LEFT, _TOP, shape)
    few = len(example.output) <= _ARROWS
    depth = max(len(shape[0]), len(example.output) * _APART if few else 0)
    source = replace(source, y=_TOP + (depth - len(shape[0])) / 2)
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
    x, top = grid.right + _BETWEEN, middle - len(values) * _APART / 2
    items: list[Item] = []
    lanes: dict[float, int] = {}
    for n, (at, cell) in enumerate(example.chosen.items()):
        y = top + n * _APART
        text = f"{letters.entry(name, at)[:-1]} = {values[at]}$"
        items.append(Cell(x, y, "cell", text, width=_WIDE, height=_APART - 0.15))
        u, v = grid.middle(cell)
        lane = lanes[v] = lanes.get(v, -1) + 1  # beside the numbers of a row, not through them
        v += (0.37, -0.37, 0.29, -0.29)[lane % 4]
        w = y + _APART / 2 - 0.08
        path = ((u + 0.4, v), (grid.right + 0.1, v), (x - 0.35, w), (x - 0.08, w))
        items.append(Line(path if role == "forward" else path[::-1], role, smooth=True))
    return items


def _beside(letters: Letters, grid: Grid, middle: float, name: str, values: Values, role: str) -> list[Item]:
    """The outputs in their grid, and one arrow for all."""
    ranges = _ranges(values)
    output = Grid(grid.right + _BETWEEN, middle - len(ranges[0]) / 2, ranges)
    ends = ((grid.right + 0.4, middle), (output.x - 0.4, middle))
    return [Label(output.x + output.columns / 2, output.y - 0.4, letters.tensor(name), "title"),
            *(Cell(*output.corner(at), "cell", number(values[at])) for at in values),
            Line(ends if role == "forward" else ends[::-1], role)]


def _rows(example: Example, letters: Letters) -> list[Item]:
    """One axis: four rows below each other."""
    shape, outputs = _ranges(example.source), _ranges(example.output)
    x = _LEFT + 0.3
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
    if len(parts) == 2 and numbers is example.gradient:  # three do not fit a cell
        note = number(str(parts[0]) + "".join(f"+{p}" if p >= 0 else str(p) for p in parts[1:]))
    return Cell(*grid.corner(at), role, number(numbers[at]), note)


def _description(example: Example, letters: Letters, op: str) -> str:
    ways = [{"output": letters.entry(letters.output, at), "source": letters.entry(letters.source, cell),
             "value": example.output[at], "gradient": example.upstream[at]} for at, cell in example.chosen.items()]
    return say("routing_description", op=op, ways=ways)
