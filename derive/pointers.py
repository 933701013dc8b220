"""Tensors of whole numbers: labels y_i of s_{i,y_i}, word numbers w_t of E_{w_t d}, the counts k of k!."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

import derive.expr as ex
from derive.axes import Slot, stands
from derive.module import Module


def pointing(equations: Iterable[ex.Rel]) -> Mapping[str, Slot]:
    """name ↦ the axis in which its entries point: as an index term, or in [k = y_i] beside an index k of that axis."""
    found: dict[str, Slot] = {}
    compared: dict[str, Slot] = {}
    equations = tuple(equations)
    for node in (n for equation in equations for n in ex.walk(equation)):
        if isinstance(node, ex.Entry):
            found |= {n.tensor: (node.tensor, d) for d, term in enumerate(node.indices) for n in ex.walk(term)
                      if isinstance(n, ex.Entry)}
        elif isinstance(node, (ex.Reduce, ex.Arg)):
            compared |= _compared(node, node.binder.variables)
    for equation in equations:  # q_k = [k = t]
        left = equation.terms[0]
        compared |= _compared(equation, left.indices) if isinstance(left, ex.Entry) else {}
    return compared | found


@lru_cache(maxsize=64)
def pointers(module: Module) -> Mapping[str, Slot]:
    """Those that a layer is given."""
    return {name: slot for name, slot in pointing(module.equations).items() if name in module.given}


def _compared(node: ex.Node, variables: Collection[ex.Expr]) -> dict[str, Slot]:
    """y of Σ_k [k = y_i] log p_{ik}: the axis along which k runs, one of these variables."""
    return {e.tensor: slots[0] for part in ex.walk(node) if isinstance(part, ex.Rel) and part.ops == ("=",)
            for k, e in (part.terms, part.terms[::-1]) if isinstance(k, ex.Idx) and isinstance(e, ex.Entry)
            if k in variables and (slots := stands(k, node))}


def counts(equations: Iterable[ex.Rel]) -> frozenset[str]:
    """The letters whose factorial is taken: whole numbers from 0 on."""
    factorials = (n for e in equations for n in ex.walk(e) if isinstance(n, ex.Fn) and n.name == "factorial")
    return frozenset(n.tensor for f in factorials for n in ex.walk(f) if isinstance(n, ex.Entry))
