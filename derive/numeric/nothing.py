"""Windows without entries: which outputs have one, and what a formula makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from derive.expr import Entry, Rel, SetApp, walk
from derive.module import Module

NOTHING = math.nan  # the value of a formula that has none over a window without entries


def windows_of(equation: Rel, module: Module) -> tuple[str, tuple[int, ...]] | None:
    """Ω(k, l) in the definition of y_{…k…l…}: its name, and the places of k and l among the indices of y."""
    entry, value = equation.terms
    for node in walk(value):
        if isinstance(entry, Entry) and isinstance(node, SetApp) and node.name in dict(module.fields) \
                and set(node.args) <= set(entry.indices):
            return node.name, tuple(map(entry.indices.index, node.args))
    return None


def missed(equation: Rel, module: Module, shape: Sequence[int], out: Sequence[int]) -> NDArray[np.bool_]:
    """Where the window of an output lies wholly in padding; ``shape`` that of the input, ``out`` of the output."""
    found = np.zeros(tuple(out), bool)
    windows = windows_of(equation, module)
    field = module.field(windows[0]) if windows else None
    for axis, n, place in zip(field.axes, shape, windows[1], strict=True) if field and windows else ():
        empty = [not axis.covered(k, n) for k in range(out[place])]
        found |= np.array(empty).reshape([-1 if d == place else 1 for d in range(len(out))])
    return found
