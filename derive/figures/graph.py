"""A module as a computational graph: its tensors, solid arrows forward, dashed arrows for the messages back."""

from __future__ import annotations

from derive.axes import with_axes
from derive.expr import Entry
from derive.figures.grids import letter, say
from derive.module import Module
from derive.sheet import Cell, Item, Label, Line, Point, Scene

_WIDE, _HIGH = 1.3, 1.0  # a node
_STEP, _DROP = 3.0, 2.2  # from a column to the next, from the row above to the chain
_ASIDE, _GAP, _LEVEL = 1.2, 0.16, 0.95  # beside a node, between an arrow and its return, below the chain


def graph(module: Module) -> Scene:
    """An input at the left, the output at the right; all else that is given stands above its first user."""
    module = with_axes(module)
    start = _start(module)
    columns = _columns(module, start)
    places = _places(module, columns, start)
    table = module.table
    items: list[Item] = []
    labelled: set[str] = set()
    depth = 0
    for target in module.defined:
        for source in (s for s in module.sources(target) if s in places):
            learnt = source not in module.constants
            message = letter(table, f"delta_{source}") if learnt and source not in labelled else ""
            labelled.add(source)
            if source in module.defined or source == start:
                far = columns[target] - columns[source] > 1
                depth += far
                items += _below(places[source], places[target], depth, message) if far else _along(
                    places[source], places[target], message)
            else:
                items += _down(places[source], places[target], message, learnt)
    items += [Cell(x, y, _role(module, name), letter(table, name), width=_WIDE, height=_HIGH)
              for name, (x, y) in places.items()]
    items += _upstream(places[module.output], letter(table, f"delta_{module.output}"))
    width = max(x for x, _ in places.values()) + _WIDE + 1.4
    height = max(y for _, y in places.values()) + _HIGH + 0.7 + _LEVEL * depth
    ways = [{"target": letter(table, t), "sources": [letter(table, s) for s in module.sources(t) if s in places]}
            for t in module.defined]
    return Scene("graph", say("graph_title"), say("graph_description", ways=ways), width, height, tuple(items))


def _start(module: Module) -> str:
    """The input whose derivative is asked for, else that of the lowest rank, but no single number: x of W x + b.

    A layer of parameters alone begins with one of them.
    """
    wanted = {p.wrt.tensor for p in module.wanted if isinstance(p.wrt, Entry)}
    given = module.inputs or module.parameters or module.constants
    ranks = {s.name: len(s.axes) for s in module.table.symbols}
    return min(given, key=lambda name: (name not in wanted, not ranks[name], ranks[name]))


def _role(module: Module, name: str) -> str:
    if name in module.parameters:
        return "parameter"
    return "constant" if name in module.constants else "tensor"


def _columns(module: Module, start: str) -> dict[str, int]:
    """The chain in its order; what is given besides stands in the column of its first user."""
    columns = {start: 0, **{name: n for n, name in enumerate(module.defined, 1)}}
    for target in module.defined:
        for source in module.sources(target):
            if source in module.given:
                columns.setdefault(source, columns[target])
    return columns


def _places(module: Module, columns: dict[str, int], start: str) -> dict[str, Point]:
    """The upper left corner of each node; a column is as wide as what stands above it."""
    chain = [start, *module.defined]
    above = {c: [n for n in columns if n not in chain and columns[n] == c] for c in columns.values()}
    top = 0.3 + (_DROP if any(above.values()) else 0)
    places: dict[str, Point] = {}
    x = 0.3
    for name in chain:
        beside = above[columns[name]]
        room = max(0.0, (len(beside) - 1) * (_WIDE + _ASIDE) / 2)
        x += room / 2
        places[name] = (x, top)
        for n, given in enumerate(beside):
            places[given] = (x + (n - (len(beside) - 1) / 2) * (_WIDE + _ASIDE), 0.3)
        x += _STEP + room / 2
    left = min(x for x, _ in places.values()) - 0.3
    return {name: (x - left, y) for name, (x, y) in places.items()}


def _along(source: Point, target: Point, message: str) -> list[Item]:
    """To the next node: forward above, the message back below."""
    start, end, y = source[0] + _WIDE + 0.06, target[0] - 0.08, source[1] + _HIGH / 2
    items: list[Item] = [Line(((start, y - _GAP), (end, y - _GAP)), "forward"),
                         Line(((end, y + _GAP), (start, y + _GAP)), "backward")]
    return [*items, Label((start + end) / 2, y + 0.55, message, "message")] if message else items


def _below(source: Point, target: Point, depth: int, message: str) -> list[Item]:
    """Past the nodes between, below them."""
    y, low = source[1] + _HIGH, source[1] + _HIGH + _LEVEL * depth
    a, b = source[0] + _WIDE * 0.62, target[0] + _WIDE * 0.38
    forward = ((a, y), (a, low - _GAP), (b, low - _GAP), (b, y + 0.08))
    back = ((b + 2 * _GAP, y), (b + 2 * _GAP, low + _GAP), (a - 2 * _GAP, low + _GAP), (a - 2 * _GAP, y + 0.08))
    items: list[Item] = [Line(forward, "forward"), Line(back, "backward")]
    return [*items, Label((a + b) / 2, low + 0.5, message, "message")] if message else items


def _down(source: Point, target: Point, message: str, learnt: bool) -> list[Item]:
    """From a node above to its user; the message back on the outer side, its letter clear of the slant."""
    a, b = source[0] + _WIDE / 2, source[1] + _HIGH
    c, d = target[0] + _WIDE / 2 + (a - target[0] - _WIDE / 2) * 0.3, target[1]
    if not learnt:
        return [Line(((a, b), (c, d - 0.08)), "forward")]
    side, anchor = (-1, "end") if a < c else (1, "start")
    out = side * _GAP
    items: list[Item] = [Line(((a - out, b), (c - out, d - 0.08)), "forward"),
                         Line(((c + out, d), (a + out, b + 0.08)), "backward")]
    x, y = a + (c - a) * 0.4 + out + side * (0.12 + 0.3 * abs(c - a) / (d - b)), b + (d - b) * 0.4
    return [*items, Label(x, y, message, "message", anchor)] if message else items


def _upstream(output: Point, message: str) -> list[Item]:
    x, y = output[0] + _WIDE + 0.08, output[1] + _HIGH / 2 + _GAP
    return [Line(((x + 1.1, y), (x, y)), "backward"), Label(x + 0.6, y + 0.39, message, "message")]
