"""A module as a computational graph in layers: solid arrows forward, dashed arrows for the messages back."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from derive.axes import with_axes
from derive.figures.grids import letter, say, wide
from derive.magnitudes import held
from derive.module import Module
from derive.sheet import Cell, Item, Line, Point, Scene

_HIGH, _LEAST = 1.25, 1.3  # a node
_APART, _PASS = 0.45, 0.35  # below a node, and below an edge that passes by
_BETWEEN, _GAP, _NEAR = 1.9, 0.09, 0.06  # from layer to layer, between an arrow and its return, before a node
_SWEEPS = 6
Node = tuple[str, ...]  # letters, several where one tensor alone is computed from them; of an edge that passes two ends
Edge = tuple[Node, Node]


def graph(module: Module) -> Scene:
    """What is given at the left, the output at the right; each tensor with its message below it."""
    module = with_axes(replace(module, constants=(*module.constants, *held(module))))
    nodes = _nodes(module)
    edges = [(s, t) for t in nodes for s in nodes if t[0] in module.defined and {*s} & {*module.sources(t[0])}]
    layers, paths = _layered(nodes, edges, module)
    heights = _heights(layers, paths)
    cells: dict[Node, Cell] = {}
    columns: dict[Node, tuple[float, float]] = {}
    x = 0.3
    for layer in layers:
        drawn = [_cell(module, node, x, heights[node]) for node in layer if node in nodes]
        width = max(cell.width for cell in drawn)
        columns |= dict.fromkeys(layer, (x, x + width))
        # as wide as one another: no arrow to a narrow one crosses a wide one above it
        cells |= zip((n for n in layer if n in nodes), (replace(cell, width=width) for cell in drawn), strict=True)
        x += width + _BETWEEN
    items = _arrows(module, cells, columns, heights, paths)
    end = cells[module.output,]
    at = end.x + end.width + _NEAR, end.y + _HIGH / 2
    items += [Line(((at[0] + 1.1, at[1]), at), "backward"), *cells.values()]
    table = module.table
    ways = [{"target": letter(table, t), "sources": [letter(table, s) for s in module.sources(t)]}
            for t in module.defined]
    height = max([cell.y + _HIGH for cell in cells.values()] + [heights[n] + _PASS for layer in layers for n in layer])
    return Scene("graph", say(table, "graph_title"), say(table, "graph_description", ways=ways),
                 x - _BETWEEN + 1.5, height + 0.3, tuple(items))


def _nodes(module: Module) -> list[Node]:
    """The tensors; parameters that one definition alone uses, and those that are no constants, stand together."""
    users = {name: [t for t in module.defined if name in module.sources(t)] for name in module.given}
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, used in users.items():
        alone = name in module.parameters and len(used) == 1
        groups.setdefault(tuple(used) if alone else (name, ""), []).extend([name] if used else [])
    return [tuple(group) for group in groups.values() if group] + [(name,) for name in module.defined]


def _cell(module: Module, node: Node, x: float, y: float) -> Cell:
    role = ("parameter" if node[0] in module.parameters else
            "constant" if node[0] in module.constants else "tensor")
    text = ", ".join(letter(module.table, name) for name in node)
    note = "" if role == "constant" else ", ".join(letter(module.table, f"delta_{name}") for name in node)
    width = max(_LEAST, *(wide(re.sub("[_{}]", "", words)) + 0.4 for words in (text, note)))
    return Cell(x, y, role, text, note, width, _HIGH)


def _layered(nodes: list[Node], edges: list[Edge], module: Module) -> tuple[list[list[Node]], dict[Edge, list[Node]]]:
    """The nodes by layer, each as near to its users as can be, and the way of each edge through the layers.

    An edge passes layers between as a node of its own; their order has the fewest crossings that sweeps find.
    """
    depth = dict.fromkeys(nodes, 0)
    for node in nodes:  # what is defined stands in the order of evaluation
        depth[node] = max((depth[s] + 1 for s, t in edges if t == node), default=0)
    for node in nodes:
        if node[0] not in module.defined:
            depth[node] = min(depth[t] for s, t in edges if s == node) - 1
    paths = {(s, t): [s, *((*s, *t, str(n)) for n in range(depth[s] + 1, depth[t])), t] for s, t in edges}
    level = depth | {n: d for path in paths.values() for d, n in enumerate(path, depth[path[0]])}
    layers = [[n for n in level if level[n] == d] for d in range(max(level.values()) + 1)]
    best = layers
    for sweep in range(_SWEEPS):
        layers = [list(layer) for layer in layers]
        for d in range(len(layers))[::1 if sweep % 2 == 0 else -1]:
            beside = d - 1 if sweep % 2 == 0 else d + 1
            if 0 <= beside < len(layers):
                places = {n: place for place, n in enumerate(layers[beside])}
                near = {n: [places[m] for m in _neighbours(n, paths) if m in places] for n in layers[d]}
                layers[d].sort(key=lambda n: sum(near[n]) / len(near[n]) if near[n] else 0)
        best = min(best, layers, key=lambda found: _crossings(found, paths))
    return best, paths


def _neighbours(node: Node, paths: Mapping[Edge, list[Node]]) -> list[Node]:
    return [other for path in paths.values() for a, b in itertools.pairwise(path)
            for mine, other in ((a, b), (b, a)) if mine == node]


def _crossings(layers: list[list[Node]], paths: Mapping[Edge, list[Node]]) -> int:
    places = {n: (d, place) for d, layer in enumerate(layers) for place, n in enumerate(layer)}
    steps = {(places[a], places[b]) for path in paths.values() for a, b in itertools.pairwise(path)}
    return sum(a[0] == c[0] and (a[1] - c[1]) * (b[1] - d[1]) < 0
               for (a, b), (c, d) in itertools.combinations(steps, 2))


def _heights(layers: list[list[Node]], paths: Mapping[Edge, list[Node]]) -> dict[Node, float]:
    """Where each node begins: in order and apart, as near to the middle of its neighbours as that allows.

    Those that are given come to those that are computed.
    """
    ends, given = {end for edge in paths for end in edge}, {s for s, _ in paths} - {t for _, t in paths}
    room = {n: _HIGH + _APART if n in ends else _PASS for layer in layers for n in layer}
    middle = {n: sum(room[m] for m in layer[:place]) + room[n] / 2 - sum(room[m] for m in layer) / 2
              for layer in layers for place, n in enumerate(layer)}
    beside = {n: [m for m in near if m not in given] or near for n in middle if (near := _neighbours(n, paths))}
    for sweep in range(2 * _SWEEPS):
        for layer in layers[:: 1 if sweep % 2 == 0 else -1]:
            wanted = [sum(middle[m] for m in beside[n]) / len(beside[n]) for n in layer]
            down, up = _spaced(layer, wanted, room, 1), _spaced(layer, wanted, room, -1)
            middle |= {n: (down[n] + up[n]) / 2 for n in layer}
    top = min(m - room[n] / 2 for n, m in middle.items())
    return {n: m - top - (_HIGH / 2 if n in ends else 0) + 0.1 for n, m in middle.items()}


def _spaced(layer: list[Node], wanted: list[float], room: Mapping[Node, float], sense: int) -> dict[Node, float]:
    """The nodes where they are wanted, or as far behind those before them as they need; ``sense`` −1: from below."""
    found: dict[Node, float] = {}
    last: Node | None = None
    for node, at in list(zip(layer, wanted, strict=True))[::sense]:
        least = at if last is None else found[last] + sense * (room[last] + room[node]) / 2
        found[node] = max(at, least) if sense > 0 else min(at, least)
        last = node
    return found


def _arrows(module: Module, cells: Mapping[Node, Cell], columns: Mapping[Node, tuple[float, float]],
            heights: Mapping[Node, float], paths: Mapping[Edge, list[Node]]) -> list[Item]:
    """An arrow for each edge, and beside it one back; those at one side of a node end apart, in their order."""
    items: list[Item] = []
    for (source, target), path in paths.items():
        out = _port(cells[source], [p[1] for (s, _), p in paths.items() if s == source], path[1], heights)
        into = _port(cells[target], [p[-2] for (_, t), p in paths.items() if t == target], path[-2], heights)
        a, b = cells[source], cells[target]
        points: list[Point] = [(a.x + a.width + _NEAR, out)]
        points += [(x, heights[n]) for n in path[1:-1] for x in columns[n]]
        points.append((b.x - _NEAR, into))
        learnt = source[0] not in module.constants
        shift = _GAP if learnt else 0.0
        items.append(Line(tuple((x, y - shift) for x, y in points), "forward"))
        if learnt:
            items.append(Line(tuple((x, y + shift) for x, y in reversed(points)), "backward"))
    return items


def _port(cell: Cell, others: Iterable[Node], other: Node, heights: Mapping[Node, float]) -> float:
    """The height at a node's side at which the edge to ``other`` ends."""
    order = sorted(others, key=heights.__getitem__)
    step = min(0.42, (_HIGH - 0.25) / len(order))
    return cell.y + _HIGH / 2 + (order.index(other) - (len(order) - 1) / 2) * step
