"""The size of a window layer's worked example: the question's own where it fits, else small with two windows a side."""

from __future__ import annotations

import math
from itertools import count

from derive.expr import Entry, Reduce, walk
from derive.module import Module
from derive.numeric.shapes import extents
from derive.verify.layer.sizes import Sizes
from derive.window_axis import Axis, WindowAxis
from derive.window_facts import shares

MOST_CELLS = 36  # of an input that is still read
_SIDES = {1: 6, 2: 4, 3: 2}  # of the input, by its axes


def window_sizes(module: Module) -> Sizes | None:
    """The shapes of the example; None where the layer is no single reduction over windows of its input."""
    source = module.table.named(module.inputs[0]) if len(module.inputs) == 1 else None
    _, value = module.definition(module.output)
    reduced = any(isinstance(n, Reduce) and any(isinstance(e, Entry) and e.indices == n.binder.variables
                                                for e in walk(n.body)) for n in walk(value))
    if len(module.equations) > 1 or module.parameters or module.constants or source is None or not reduced:
        return None
    field, rank = module.receptive_field, len(source.axes)
    if rank not in _SIDES or (field is None and module.name is None):
        return None
    sides = tuple(_side(axis, rank) for axis in field.axes) if field else (min(3, _SIDES[rank]),) * rank
    known = module.input_size
    shape = known if known and math.prod(known) <= MOST_CELLS else sides
    if math.prod(shape) > MOST_CELLS:
        return None
    return Sizes({}, dict(extents(module, {source.name: shape}).shapes))


def _side(axis: Axis, rank: int) -> int:
    """The smallest extent with two windows that hold entries; of three axes with one."""
    least = 1 if rank > 2 else 2
    if not isinstance(axis, WindowAxis):
        return max(_SIDES[rank], axis.output_size(0) + 2)
    return next(n for n in count(_SIDES[rank])
                if sum(1 for k in range(axis.output_size(n)) if axis.covered(k, n)) >= least
                and (least == 1 or shares(axis, n)))
