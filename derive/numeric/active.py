"""Active sets: the places of each window where its maximum, minimum or median is attained."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from derive.errors import UnsupportedError
from derive.expr import Entry, Idx, In, Reduce, SetApp, eq, free_indices, open_as, walk
from derive.module import Module
from derive.numeric.evaluator import evaluate

Index = tuple[int, ...]


@dataclass(frozen=True)
class ActiveSet:
    """One window: its places, those of them that are ``active``, and how many of the others have smaller values."""

    output: Index
    places: tuple[Index, ...]
    active: tuple[Index, ...]
    below: int


def selection(module: Module) -> Reduce:
    """The maximum, minimum or median that the layer's forward formula is.

    Raises :class:`UnsupportedError` where it is none, or its values are not functions of one entry each.
    """
    node = module.definition(module.output)[1]
    if isinstance(node, Reduce) and node.op in ("max", "min", "median") and len(module.equations) == 1:
        inside = [n for n in walk(node.body) if isinstance(n, Entry) and n.indices]
        if len(set(inside)) == 1 and inside[0].indices == node.binder.variables and (
                free_indices(node.body) <= set(node.binder.variables)):
            return node
    raise UnsupportedError("only a layer that takes the maximum, minimum or median of its windows has active sets")


def active_sets(module: Module, values: Mapping[str, Mapping[Index, Any]], shapes: Mapping[str, Index]
                ) -> list[ActiveSet]:
    """The active set of every window, in the arithmetic of the values given."""
    node = selection(module)
    (wrt,) = {n.tensor for n in walk(node.body) if isinstance(n, Entry) and n.indices}
    compared = _compared(module, node, values, shapes)
    found = []
    for output, places in windows(module, node, shapes[wrt]):
        if not places:
            continue
        ordered = sorted(compared[p] for p in places)
        best = {"max": ordered[-1], "min": ordered[0]}.get(node.op, ordered[len(ordered) // 2])
        active = tuple(p for p in places if compared[p] == best)
        found.append(ActiveSet(output, tuple(places), active, sum(compared[p] < best for p in places)))
    return found


def windows(module: Module, node: Reduce, shape: Index) -> list[tuple[Index, list[Index]]]:
    """(output index, the input indices of its window) for each window, row by row."""
    if isinstance(node.binder.cond, In) and isinstance(node.binder.cond.set, SetApp):
        field = module.field(node.binder.cond.set.name)
        return [(k, field.window(k, shape)) for k in field.outputs(shape)]
    return [((), list(itertools.product(*map(range, shape))))]


def _compared(module: Module, node: Reduce, values: Mapping[str, Mapping[Index, Any]],
              shapes: Mapping[str, Index]) -> dict[Index, Any]:
    """g(x_i), what the windows compare, at every place."""
    if isinstance(node.body, Entry):
        return dict(values[node.body.tensor])
    variables = tuple(Idx(f"place_{d}") for d in range(len(node.binder.variables)))
    _, body = open_as(node, variables)
    alone = replace(module, equations=(eq(Entry("compared", variables), body),), output="compared", fields=())
    return evaluate(alone, values, shapes)["compared"]
