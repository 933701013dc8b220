"""Σ over the windows k that cover i of c(k, i): for each cell a of a window, c is added at i = s k − p + d a."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from derive.expr import Expr, Idx, In, Mul, Reduce, SetApp, free_indices, mul
from derive.numeric import binders
from derive.numeric.binders import items
from derive.numeric.compile import Evaluation
from derive.numeric.exponentials import has_exponentials
from derive.numeric.gather import Array, Indices, steps
from derive.numeric.shapes import Shape, WindowSet


@dataclass(frozen=True)
class Covering:
    """``front`` · Σ over ``outputs`` with target ∈ set(outputs) of ``term``."""

    outputs: tuple[Idx, ...]
    name: str
    term: Expr
    front: Expr


def covering_sum(node: Expr, target: tuple[Idx, ...], evaluation: Evaluation) -> Covering | None:
    """The sum over all windows that cover the target, and what stands in front of it; None where it is none."""
    factors = node.factors if isinstance(node, Mul) else (node,)
    for n, factor in enumerate(factors):
        if isinstance(factor, Reduce) and factor.op == "sum" and isinstance(factor.binder.cond, In):
            binder, body = evaluation.opened(factor)
            member = binder.cond
            assert isinstance(member, In)
            plain = isinstance(member.set, SetApp) and member.set.args == binder.variables
            if plain and items(member.element) == target and not any(binder.lower):
                rest = mul(*factors[:n], *factors[n + 1:])
                if has_exponentials(node):  # e^{x_i} Σ_k c_k e^{−m_k} is Σ_k c_k e^{x_i − m_k}: that stays in range
                    body, rest = mul(rest, body), mul()
                assert isinstance(member.set, SetApp)
                return Covering(binder.variables, member.set.name, body, rest)
    return None


def summed(found: Covering, target: tuple[Idx, ...], shape: Shape, evaluation: Evaluation) -> Array:
    """The sum as an array of ``shape``, batch axes in front."""
    sets = evaluation.reach.sets[found.name]
    inner = evaluation.over(found.outputs, tuple(s.out for s in sets))
    env = inner.grid()
    total = np.zeros((*evaluation.lead, *shape))
    whole = (*evaluation.lead, *inner.shape)
    fixed = None
    if free_indices(found.term) <= set(found.outputs):
        fixed = np.broadcast_to(inner.value(found.term, env), whole)
    for places in product(*(list(_cells(s, d, len(sets))) for d, s in enumerate(sets))):
        values = fixed
        if values is None:
            at = dict(zip(target, (i for i, _ in places), strict=True))
            values = np.broadcast_to(inner.value(found.term, {**env, **at}), whole)
        _add(total, values, [(i.reshape(-1), np.flatnonzero(inside)) for i, inside in places])
    return total


def _cells(axis: WindowSet, d: int, rank: int) -> Iterator[tuple[Indices, NDArray[np.bool_]]]:
    """For each cell number: where it lies in every window of axis d, and whether that is in the input."""
    k = np.arange(axis.out).reshape([-1 if e == d else 1 for e in range(rank)])
    for i, mask in binders.window(k, axis):
        yield i, np.ones(axis.out, bool) if mask is None else mask.reshape(-1)


def _add(total: Array, values: Array, lines: list[tuple[Indices, Indices]]) -> None:
    """total[…, i_1, …, i_r] += values[…, k_1, …, k_r] at the k that count."""
    if any(not len(k) for _, k in lines):
        return
    into = [steps(i[k]) for i, k in lines]
    picked = values
    lead = values.ndim - len(lines)
    for d, (_, k) in enumerate(lines, lead):
        picked = picked[(slice(None),) * d + (steps(k),)]
    if all(isinstance(line, slice) for line in into):  # else two adaptive windows start at the same cell
        total[(Ellipsis, *into)] += picked
        return
    np.add.at(total, (Ellipsis, *np.ix_(*(i[k] for i, k in lines))), picked)  # type: ignore[arg-type]
