"""A second input for the worked example, with ties: the message under the tie rule."""

from __future__ import annotations

import hashlib
import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.compose.builder import Builder
from derive.compose.matrices import matrix
from derive.expr import Entry, eq
from derive.numbers import Numbers
from derive.numeric.point import Index
from derive.verify.samples import Sample

if TYPE_CHECKING:
    from derive.compose.sheet import Derived

_TRIES = 60


def build(b: Builder, d: Derived, first: Sample) -> None:
    """An input of few different numbers, its output, and the gradient that the first example's upstream gives."""
    tied = tied_sample(d, first)
    if tied is None:
        return
    numbers = Numbers(d.module)
    arrays = {d.wrt: _array(tied.arrays[d.wrt])}
    upstream = _array(first.tensor(f"delta_{d.module.output}"))
    gradient = numbers.backward(d.wrt, upstream=upstream, **arrays)
    entries = {at: Fraction(float(value)).limit_denominator(10**6) for at, value in np.ndenumerate(gradient)}
    b.prose("tied_given", upstream=b.m(Entry(f"delta_{d.module.output}", ())))
    b.math("tied_input", eq(Entry(d.wrt, ()), matrix(tied.arrays[d.wrt])), "tied", definition=True)
    b.prose("tied_output", op=d.op)
    b.math("tied_output", eq(Entry(d.module.output, ()), matrix(tied.tensor(d.module.output))), "tied")
    b.prose("tied_gradient", rule=d.module.tie_rule, op=d.op, axes=len(d.field.axes))
    b.math("tied_gradient", eq(Entry(f"delta_{d.wrt}", ()), matrix(entries)), "tied")


def tied_sample(d: Derived, first: Sample) -> Sample | None:
    """Entries 0, 1 and 2, drawn from the card's id until a window has several largest ones, and another only one."""
    seed = hashlib.sha256(f"{d.module.key}:{d.field}:tied".encode()).digest()
    source = random.Random(int.from_bytes(seed[:8], "big"))
    shape = first.shapes[d.wrt]
    found: tuple[int, Sample] | None = None
    for _ in range(_TRIES):
        values = {cell: source.choice((0, 1, 1, 2)) for cell in first.arrays[d.wrt]}
        sample = Sample(d.sized, {d.wrt: values}, {d.wrt: shape}, {"loss": 0})
        counts = [_active(sample, at) for at in sample.tensor(d.module.output)]
        score = sum(n > 1 for n in counts) and 1 + (1 in counts) + (2 in counts)
        if score and (found is None or score > found[0]):
            found = score, sample
        if score == 3:
            break
    return None if found is None else found[1]


def _active(sample: Sample, at: Index) -> int:
    """How many entries attain the value of a window."""
    value = sample.tensor(sample.module.output)[at]
    return sum(sample.arrays[sample.wrt][cell] == value for cell in sample.window(at))


def _array(values: Any) -> Any:
    shape = tuple(max(c) + 1 for c in zip(*values, strict=True))
    return np.array([float(values[at]) for at in np.ndindex(*shape)]).reshape(shape)
