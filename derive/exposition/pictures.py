"""The figures of any layer's sheet: its curve, its graph, its windows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from derive.calculus.one_window import windowed
from derive.exposition.builder import Builder
from derive.exposition.story import Story
from derive.exposition.subject import Subject
from derive.expr import Entry, Reduce, SetApp, walk
from derive.figures import graph, receptive_fields, routing
from derive.figures.grids import Letters, letter
from derive.figures.windows import Example, picture_shape, shown
from derive.module import Module
from derive.notation.term_writer import decimal, ends
from derive.numeric.point import Index
from derive.receptive_field import ReceptiveField
from derive.sheet import Trial
from derive.verify.points.point import Point

FEWEST, MOST = 2, 7  # tensors defined: one is no chain, more do not fit the page


def pictures(b: Builder, subject: Subject) -> None:
    """The function and its slope where entries do not mix; else the graph of a chain, and the windows."""
    module = subject.module
    if module.elementwise:
        _curve(b, module)
    if FEWEST <= len(module.defined) <= MOST:
        b.figure(graph(module))
    if not windowed(module):  # a maximum over windows has the picture in its own section
        windows(b, subject)


def _curve(b: Builder, module: Module) -> None:
    """The function and its slope, where they can be sampled."""
    from derive.figures.curve import curve, elementwise, given  # it samples arrays

    scene, sampled = elementwise(module), curve(module)
    if scene is not None and sampled is not None:
        function = letter(module.table, module.output)
        b.figure(scene, function=function, derivative=f"{function[:-1]}'$", given=given(module),
                 kinks=[k.at for k in sampled.kinks if k.values is None],
                 jumps=[k.at for k in sampled.kinks if k.values is not None])


def windows(b: Builder, subject: Subject) -> None:
    """The receptive fields of a layer that reduces windows of one tensor."""
    module = subject.module
    found = _windowed(subject)
    if found is None:
        return
    letters, operation = found
    field = module.field(letters.windows)
    shape = picture_shape(field, module.input_size)
    if shape is not None:
        _fields(b, field, shape, letters, operation)


def _fields(b: Builder, field: ReceptiveField, shape: Index, letters: Letters, operation: str) -> None:
    """Two windows of an input of that shape, and the outputs that they give."""
    scene = receptive_fields(field, shape, letters, operation)
    if scene is not None:
        outputs = shown(field, shape)
        b.figure(scene, source=letters.tensor(letters.source), windows=[letters.window(at) for at in outputs],
                 outputs=[letters.entry(letters.output, at) for at in outputs])


def _windowed(subject: Subject) -> tuple[Letters, str] | None:
    """The one equation that reads a tensor through a window set, and what it does with the window where it says so."""
    for equation in subject.module.equations:
        target, value = equation.terms
        for node in walk(value):
            if not isinstance(node, Reduce) or not isinstance(target, Entry):
                continue
            sets = [n for n in walk(node.binder) if isinstance(n, SetApp) and n.args == target.indices]
            read = [n for n in walk(node.body) if isinstance(n, Entry) and n.indices == node.binder.variables]
            if sets and read and sets[0].name in dict(subject.module.fields):
                letters = Letters(subject.module.table, read[0].tensor, target.tensor, sets[0].name)
                return letters, node.op if node is value and node.op in ("max", "min", "sum") else ""
    return None


class _InDecimals(Fraction):
    """A number that says itself as a decimal, where this ends."""

    def __str__(self) -> str:
        return "-" * (self < 0) + decimal(abs(self)) if ends(self) else super().__str__()


def letters(d: Story) -> Letters:
    return Letters(d.messages.module.table, d.wrt, d.module.output, d.module.fields[0][0])


def receptive_fields_of(b: Builder, d: Story, shape: Index) -> None:
    """Two windows of an input of that shape, and the outputs that they give."""
    _fields(b, d.field, shape, letters(d), d.op)


def gradients(b: Builder, d: Story, point: Point, gradient: Mapping[Index, Any]) -> None:
    """The worked example: each output's way from the entry that it selected, and its gradient's way back."""
    known = letters(d)
    source, output = point.given[d.wrt], point.tensor(d.module.output)
    shape = point.shapes[d.wrt]
    if d.field.misses(shape):  # an output without an entry has no way back
        return
    chosen = {at: next(c for c in d.field.window(at, shape) if source[c] == output[at]) for at in output}
    said = _InDecimals if d.messages.module.decimals else Fraction
    x, y, delta_y, delta_x = ({at: said(v) for at, v in values.items()} for values in (
        source, output, point.tensor(f"delta_{d.module.output}"), gradient))
    example = Example(x, y, delta_y, delta_x, chosen)
    shared = len(set(chosen.values())) < len(chosen)
    names = [known.tensor(name) for name in (d.wrt, d.module.output, f"delta_{d.module.output}", f"delta_{d.wrt}")]
    b.figure(routing(example, known, d.op), op=d.op, source=names[0], output=names[1], upstream=names[2],
             gradient=names[3], shared=shared)


def trial(d: Story, point: Point) -> Trial | None:
    """The example's numbers and windows, for those who want to change them; None where a window has no entry."""
    known, shape = letters(d), point.shapes[d.wrt]
    whole = all(v == int(v) for name in (d.wrt, f"delta_{d.module.output}") for v in point.tensor(name).values())
    if d.field.misses(shape) or not whole:
        return None
    axes = zip(d.field.axes, shape, d.field.output_shape(shape), strict=True)
    windows = tuple(tuple(tuple(axis.covered(k, n)) for k in range(count)) for axis, n, count in axes)
    names = (d.wrt, d.module.output, f"delta_{d.module.output}", f"delta_{d.wrt}")
    a, b, c, e = (known.tensor(name).strip("$") for name in names)
    return Trial(d.op, d.module.tie_rule, windows, _table(point.given[d.wrt]), _table(point.tensor(names[2])),
                 (a, b, c, e))


def _table(values: Mapping[Index, Any]) -> tuple[tuple[int, ...], ...]:
    rows: dict[int, list[int]] = {}
    for at in sorted(values):
        rows.setdefault(at[0] if len(at) == 2 else 0, []).append(int(values[at]))
    return tuple(map(tuple, rows.values()))
