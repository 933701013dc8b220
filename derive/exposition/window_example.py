"""The worked example of a layer of windows: numbers that follow from the card's id, through the derived formulas."""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from derive.errors import VerificationError
from derive.exposition.builder import Builder
from derive.exposition.example import in_rows, matrix, tied
from derive.exposition.pictures import gradients, trial
from derive.exposition.story import Story
from derive.exposition.worked import differing, stated
from derive.expr import Entry, Expr, eq
from derive.numeric.arithmetic import EXACT
from derive.numeric.point import Index
from derive.receptive_field import shares
from derive.sheet import Trial
from derive.verify.points.claims import Compiler
from derive.verify.points.point import Point, shape_of
from derive.verify.ties import Message

LARGEST = 8  # a side of more cells does not fit a page
MOST_CELLS = 54  # of three axes
_DRAWS = 32


def build(b: Builder, d: Story) -> Trial | None:
    """Input, upstream gradient, output, mask, and the gradient that comes back; its numbers, to be changed."""
    shape = example_shape(d)
    if len(d.indices) > 2 and max(math.prod(shape), math.prod(d.field.output_shape(shape))) > MOST_CELLS:
        return None
    point = example_point(d)
    b.heading("heading_example")
    if len(d.indices) > 2:
        sliced(b, d, point)
        return None
    source, output = Entry(d.wrt, ()), Entry(d.module.output, ())
    given = dict(d.messages.module.values)
    b.prose("example_given", stated=d.module.input_size == point.shapes[d.wrt], given=bool(given),
            own=f"delta_{d.module.output}" in given)
    upstream = Entry(f"delta_{d.module.output}", ())
    scope = scope_of(d, point)
    b.joined("example_given", (eq(source, matrix(point.given[d.wrt])), eq(upstream, matrix(point.tensor(
        upstream.tensor)))), scope, definition=True)
    gradient = gradient_of(d, point)
    if upstream.tensor not in given:
        forward = "" if given else b.say("example_output", op=d.op) + " "  # the answer has it
        b.text(forward + b.say("example_gradient", op=d.op, overlaps=d.field.overlaps))
        if not given:
            b.math("example_output", eq(output, matrix(point.tensor(d.module.output))), scope)
        b.math("example_gradient", eq(Entry(f"delta_{d.wrt}", ()), matrix(gradient)), scope)
    if scope == "example":
        gradients(b, d, point, gradient)
    if not given:
        tied(b, d.module, point)
    return trial(d, point)


def sliced(b: Builder, d: Story, point: Point) -> None:
    """Three axes: a row for each tensor, the gradient by the derived formula and by difference quotients alike."""
    message = d.message.after
    assert isinstance(message, Expr)
    gradient, known = values(d, message, point), point.tensor(f"delta_{d.wrt}")
    if any(gradient[at] != known[at] for at in known):
        raise VerificationError(f"a worked example: the derived message and the difference quotients differ for "
                                f"{point.describe()}")
    b.prose("example_sliced")
    rows = [(d.wrt, point.given[d.wrt]), *((name, point.tensor(name)) for name in (
        f"delta_{d.module.output}", d.module.output)), (f"delta_{d.wrt}", gradient)]
    b.table(tuple(b.say("example_header").split(" ~ ")),
            tuple((b.m(Entry(name, ())), in_rows(tensor)) for name, tensor in rows), "ll")


def example_shape(d: Story) -> Index:
    """The card's input size where it fits a page, else 4 × 4, or what holds two windows, and what they share."""
    values = dict(d.messages.module.values).get(d.wrt)
    if values is not None:
        return shape_of(dict(values))
    known = d.module.input_size
    if known is not None and max(known) <= LARGEST:
        return known
    shape: list[int] = []
    for axis in d.field.axes:
        n = axis.kernel_size if axis.kernel_size > 3 else 2 if len(d.field.axes) > 2 else 4
        least = 2 if len(d.field.axes) < 3 or not shape else 1
        while axis.output_size(n) < least or (least > 1 and not shares(axis, n)):
            n += 1
        shape.append(n)
    return tuple(shape)


def example_point(d: Story) -> Point:
    """Distinct small integers and an upstream gradient, drawn from the card's id.

    Where windows overlap, an entry that is selected by several of them is among the first draws, if there is one.
    """
    seed = hashlib.sha256(f"{d.module.key}:{d.field}".encode()).digest()
    source = random.Random(int.from_bytes(seed[:8], "big"))
    if d.messages.module.values:
        point = stated(d.messages.module, EXACT)
        return point if f"delta_{d.module.output}" in point.values else _with_upstream(d, point, source)
    shape = example_shape(d)
    cells = list(itertools.product(*map(range, shape)))
    found: list[Point] = []
    while not found or (d.field.overlaps and len(found) < _DRAWS and not _shared(found[-1], d)):
        drawn = source.sample(range(1, max(20, len(cells) + 5)), len(cells))
        found.append(Point(d.module, EXACT, {d.wrt: dict(zip(cells, drawn, strict=True))}))
    return _with_upstream(d, found[-1], source)


def _with_upstream(d: Story, point: Point, source: random.Random) -> Point:
    """An upstream gradient under which what adds up at an entry is not 0, as if nothing came back there."""
    output = point.tensor(d.module.output)
    for _ in range(_DRAWS):
        upstream = differing(output, source)
        arriving = Counter[Any]()
        for at, value in output.items():
            arriving[value] += upstream[at]
        if all(arriving.values()):
            break
    return point.with_upstream(upstream)


def gradient_of(d: Story, point: Point) -> Mapping[Index, Any]:
    """δ of the input by the derived formula, at ties by the rule."""
    if scope_of(d, point) == "tied":
        return Message(d.module).at(point)
    message = d.message.after
    assert isinstance(message, Expr)
    return values(d, message, point)


def scope_of(d: Story, point: Point) -> str:
    """Where its numbers stand: "tied" where an output is attained by several entries of its window, else "example"."""
    source, output, shape = point.given[d.wrt], point.tensor(d.module.output), point.shapes[d.wrt]
    several = (sum(source[c] == value for c in d.field.window(at, shape)) > 1 for at, value in output.items())
    return "tied" if any(several) else "example"


def _shared(point: Point, d: Story) -> bool:
    """Some of its outputs are the same entry, of more than two not all."""
    outputs = point.tensor(d.module.output).values()
    return len({*outputs}) < len(outputs) and (len({*outputs}) > 1 or len(outputs) == 2)


def values(d: Story, formula: Expr, point: Point) -> Mapping[Index, Any]:
    """A derived formula at every input entry."""
    function = Compiler.of(d.messages, EXACT).function(d.indices, formula)
    return {cell: function(point, cell) for cell in point.given[d.wrt]}
