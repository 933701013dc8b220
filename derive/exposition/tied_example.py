"""A second input for the worked example of a layer that selects entries, with ties: the message under the tie rule."""

from __future__ import annotations

import hashlib
import random

from derive.errors import UnsupportedError
from derive.exposition.builder import Builder
from derive.exposition.matrices import matrix
from derive.expr import Entry, Expr, Fn, Num, eq
from derive.module import Module
from derive.numeric.clarke import active_sets, selection
from derive.numeric.point import Index
from derive.verify.points.point import Point, Values
from derive.verify.ties import Message

_TRIES = 60
_NUMBERS = {False: (0, 1, 1, 2), True: (0, 1, -1, 2, -2)}  # of the entries; where their size is what counts


def build(b: Builder, module: Module, first: Point) -> None:
    """An input of few different numbers, its output, and the gradient that the first example's upstream gives."""
    if len(module.inputs) != 1 or module.parameters or module.constants:
        return
    try:
        node = selection(module)
    except UnsupportedError:
        return
    (wrt,) = module.inputs
    absolute = isinstance(node.body, Fn) and node.body.name == "abs"
    delta = f"delta_{module.output}"
    drawn = _tied(module, list(first.tensor(wrt)), first.shapes[wrt], _NUMBERS[absolute])
    alone = module.definition(module.output)[1] is node and (absolute or isinstance(node.body, Entry))
    if not alone or drawn is None:
        return
    message = Message(module)
    point = message.point(drawn).with_upstream(first.tensor(delta))
    output, back = point.tensor(module.output), message.at(point)
    b.prose("tied_given", upstream=b.m(Entry(delta, ())))
    b.math("tied_input", eq(Entry(wrt, ()), matrix(drawn)), "tied", definition=True)
    b.prose("tied_output")
    b.math("tied_output", eq(Entry(module.output, ()), _printed(output)), "tied")
    b.prose("tied_gradient", rule=module.tie_rule, op=node.op, absolute=absolute, rank=len(first.shapes[wrt]))
    b.math("tied_gradient", eq(Entry(f"delta_{wrt}", ()), _printed(back)), "tied")


def _tied(module: Module, cells: list[Index], shape: Index, pool: tuple[int, ...]) -> Values | None:
    """Drawn from the card's id until a window has several active entries, and another only one."""
    seed = hashlib.sha256(f"{module.key}:{module.receptive_field}:tied".encode()).digest()
    source = random.Random(int.from_bytes(seed[:8], "big"))
    found: tuple[int, Values] | None = None
    for _ in range(_TRIES):
        values = {cell: source.choice(pool) for cell in cells}
        counts = [len(s.active) for s in active_sets(module, {module.inputs[0]: values}, {module.inputs[0]: shape})]
        score = sum(n > 1 for n in counts) and 1 + (1 in counts) + (2 in counts)
        if score and (found is None or score > found[0]):
            found = score, values
    return None if found is None else found[1]


def _printed(values: Values) -> Expr:
    return Num(values[()]) if () in values else matrix(values)
