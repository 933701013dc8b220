"""The figures of a sheet of windows: the receptive fields, and the way of the example's gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from derive.compose.builder import Builder
from derive.figures import receptive_fields, routing
from derive.figures.letters import Letters, say
from derive.figures.routing import Example
from derive.figures.windows import shown
from derive.sheet import Trial

if TYPE_CHECKING:
    from derive.compose.sheet import Derived
    from derive.verify.samples import Sample

Index = tuple[int, ...]


def letters(d: Derived) -> Letters:
    return Letters(d.tables["layer"], d.wrt, d.module.output, d.sized.fields[0][0])


def windows(b: Builder, d: Derived, shape: Index) -> None:
    """Two windows of an input of that shape, and the outputs that they give."""
    known = letters(d)
    scene = receptive_fields(d.field, shape, known, d.op)
    if scene is None:
        return
    outputs = shown(d.field, shape)
    b.figure(scene, say("fields_caption", source=known.tensor(d.wrt), windows=[known.window(at) for at in outputs],
                        outputs=[known.entry(d.module.output, at) for at in outputs]))


def gradients(b: Builder, d: Derived, sample: Sample, gradient: Mapping[Index, Any]) -> None:
    """The worked example: each output's way from the entry that it selected, and its gradient's way back."""
    known = letters(d)
    source, output = sample.arrays[d.wrt], sample.tensor(d.module.output)
    shape = sample.shapes[d.wrt]
    if d.field.misses(shape):  # an output without an entry has no way back
        return
    chosen = {at: next(c for c in d.field.window(at, shape) if source[c] == output[at]) for at in output}
    example = Example(source, output, sample.tensor(f"delta_{d.module.output}"), gradient, chosen)
    shared = len(set(chosen.values())) < len(chosen)
    names = [known.tensor(name) for name in (d.wrt, d.module.output, f"delta_{d.module.output}", f"delta_{d.wrt}")]
    caption = say("routing_caption", op=d.op, source=names[0], output=names[1], upstream=names[2], gradient=names[3],
                  shared=shared)
    b.figure(routing(example, known, d.op), caption)


def trial(d: Derived, sample: Sample) -> Trial | None:
    """The example's numbers and windows, for those who want to change them; None where a window has no entry."""
    known, shape = letters(d), sample.shapes[d.wrt]
    if d.field.misses(shape):
        return None
    axes = zip(d.field.axes, shape, d.field.output_shape(shape), strict=True)
    windows = tuple(tuple(tuple(axis.covered(k, n)) for k in range(count)) for axis, n, count in axes)
    names = (d.wrt, d.module.output, f"delta_{d.module.output}", f"delta_{d.wrt}")
    a, b, c, e = (known.tensor(name).strip("$") for name in names)
    return Trial(d.op, d.module.tie_rule, windows, _table(sample.arrays[d.wrt]), _table(sample.tensor(names[2])),
                 (a, b, c, e))


def _table(values: Mapping[Index, Any]) -> tuple[tuple[int, ...], ...]:
    rows: dict[int, list[int]] = {}
    for at in sorted(values):
        rows.setdefault(at[0] if len(at) == 2 else 0, []).append(int(values[at]))
    return tuple(map(tuple, rows.values()))
