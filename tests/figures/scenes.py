"""Scenes of many kinds, for the tests of figures and of what draws them."""

from __future__ import annotations

import itertools
import random
from functools import cache

from derive.figures import graph, receptive_fields, routing
from derive.figures.curve import elementwise
from derive.figures.grids import Index, Letters
from derive.figures.windows import Example
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.receptive_field import ReceptiveField, receptive_field
from derive.sheet import Cell, Dot, Label, Line, Outline, Point, Scene
from tests.calculus.zoo import ZOO

GEOMETRIES: dict[str, tuple[Index, ...]] = {  # kernel size, stride, padding, shape, and a dilation
    "tile": ((2, 2), (2, 2), (0, 0), (4, 4)), "overlap": ((3, 3), (1, 1), (0, 0), (4, 5)),
    "padded": ((3, 3), (2, 2), (1, 1), (5, 5)), "gaps": ((2, 2), (3, 3), (0, 0), (5, 5)),
    "one window": ((2, 3), (1, 1), (0, 0), (2, 3)), "many": ((2, 2), (1, 1), (0, 0), (6, 6)),
    "dilated": ((2, 2), (1, 1), (0, 0), (5, 5), (2, 2)), "dilated row": ((3,), (2,), (2,), (8,), (2,)),
    "row": ((2,), (2,), (0,), (6,)), "overlapping row": ((3,), (2,), (1,), (7,)), "row of gaps": ((2,), (3,), (0,), (8,)),
}  # fmt: skip
GRAPHS = ("linear_prelu_squared", "batch_norm", "two_layers", "attention", "relu")
CURVES = ("relu", "elu", "tanh", "huber", "sigmoid")
NAMES = (*(f"{kind}: {name}" for name in GEOMETRIES for kind in ("windows", "routing")),
         *(f"graph: {name}" for name in GRAPHS), *(f"curve: {name}" for name in CURVES))  # fmt: skip


def letters(rank: int) -> Letters:
    inner, outer = ("i", "j")[:rank], ("k", "l")[:rank]
    tensors = [Symbol("x", "x", Kind.TENSOR, inner), Symbol("f", "f", Kind.TENSOR, outer),
               Symbol("delta_x", r"\delta_x", Kind.TENSOR, inner), Symbol("delta_f", r"\delta_f", Kind.TENSOR, outer)]
    return Letters(SymbolTable((*tensors, Symbol("Omega", r"\Omega", Kind.SET, outer))), "x", "f", "Omega")


def field(name: str) -> tuple[ReceptiveField, Index]:
    kernel, stride, padding, shape, *dilation = GEOMETRIES[name]
    return receptive_field(kernel, stride, padding, *dilation), shape


def example(name: str, seed: int = 1) -> Example:
    """Distinct numbers through a geometry."""
    windows, shape = field(name)
    source = random.Random(seed)
    cells = list(itertools.product(*map(range, shape)))
    x = dict(zip(cells, source.sample(range(-40, 60), len(cells)), strict=True))
    chosen = {at: max(windows.window(at, shape), key=x.__getitem__) for at in windows.outputs(shape)}
    upstream = {at: source.randint(-9, 9) for at in chosen}
    gradient = {c: sum(upstream[at] for at in chosen if chosen[at] == c) for c in cells}
    return Example(x, {at: x[c] for at, c in chosen.items()}, upstream, gradient, chosen)


@cache
def scenes() -> dict[str, Scene]:
    made: dict[str, Scene | None] = {}
    for name in GEOMETRIES:
        windows, shape = field(name)
        made[f"windows: {name}"] = receptive_fields(windows, shape, letters(len(shape)), "max")
        made[f"routing: {name}"] = routing(example(name), letters(len(shape)), "max")
    made |= {f"graph: {name}": graph(ZOO[name].module()) for name in GRAPHS}
    made |= {f"curve: {name}": elementwise(ZOO[name].module()) for name in CURVES}
    return {name: scene for name, scene in made.items() if scene is not None}


def points(scene: Scene) -> list[Point]:
    """Every point that a scene mentions, the corners of its boxes among them."""
    found: list[Point] = []
    for item in scene.items:
        match item:
            case Cell() | Outline():
                found += [(item.x, item.y), (item.x + item.width, item.y + item.height)]
            case Line():
                found += item.points
            case Label() | Dot():
                found.append((item.x, item.y))
    return found
