"""Σ_k c_k [i = g(k)] is a scatter-add of c to the places g: one pass over the windows, not over the input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from derive.expr import (
    ONE,
    OTHERWISE,
    ZERO,
    Arg,
    Bracket,
    Cases,
    Cond,
    Expr,
    Idx,
    In,
    Mul,
    Reduce,
    Rel,
    free_indices,
    mul,
)
from derive.numeric.binders import items
from derive.numeric.choice import Choice, Shares
from derive.numeric.compile import Evaluation
from derive.numeric.gather import Array, scatter_add
from derive.numeric.shapes import Shape, span
from derive.numeric.stars import as_arg


@dataclass(frozen=True)
class Scatter:
    """Σ over ``outputs`` of coefficient · [target = maximiser], the maximiser within the window of the outputs."""

    outputs: tuple[Idx, ...]
    coefficient: Expr
    maximiser: Arg


def scatter(node: Expr, target: tuple[Idx, ...], evaluation: Evaluation) -> Scatter | None:
    """The scatter that a sum over covering windows is; None where it is something else.

    Only if the sum runs over all (k, l) with target ∈ Ω(k, l), and the maximiser is
    taken over the same Ω(k, l): then no term is lost and none is added.
    """
    if not isinstance(node, Reduce) or node.op != "sum" or any(b is not None for b in node.binder.lower):
        return None
    binder, body = evaluation.opened(node)
    factors = body.factors if isinstance(body, Mul) else (body,)
    hits = [(f, arg) for f in factors if (arg := _maximiser(f, target, evaluation)) is not None]
    if len(hits) != 1 or not isinstance(binder.cond, In):
        return None
    (factor, arg), member = hits[0], binder.cond
    rest = mul(*(f for f in factors if f is not factor))
    own = set(binder.variables)
    domain = arg.binder.cond
    same = isinstance(domain, In) and domain.set is member.set and items(domain.element) == arg.binder.variables
    if same and items(member.element) == target and free_indices(rest) | free_indices(arg) <= own:
        return Scatter(binder.variables, rest, arg)
    return None


def _maximiser(factor: Expr, target: tuple[Idx, ...], evaluation: Evaluation) -> Arg | None:
    """The argmax in [target = argmax], also written as cases 1 and 0."""
    cond: Cond | None = None
    if isinstance(factor, Bracket):
        cond = factor.cond
    elif isinstance(factor, Cases) and len(factor.branches) == 2:
        (first, cond), last = factor.branches
        cond = cond if first is ONE and last == (ZERO, OTHERWISE) else None
    if not isinstance(cond, Rel) or cond.ops != ("=",):
        return None
    left, right = cond.terms
    if items(right) == target:
        left, right = right, left
    return as_arg(right, evaluation.definitions, evaluation.module) if items(left) == target else None


def scattered(found: Scatter, shape: Shape, evaluation: Evaluation) -> Array:
    """The sum as an array of ``shape``, batch axes in front."""
    whole = mul(found.coefficient, Bracket(Rel((found.maximiser, found.maximiser), ("=",))))
    extent = tuple(span(v, whole, evaluation.reach) for v in found.outputs)
    inner = evaluation.over(found.outputs, extent)
    env = inner.grid()
    coefficient = inner.value(found.coefficient, env)
    chosen = inner.choice(found.maximiser, env)
    lead, size = evaluation.lead, int(np.prod(shape, dtype=np.int64))
    if isinstance(chosen, Choice):
        flat = chosen.flat(shape)
        flat = flat.reshape(*lead, *(1 for _ in extent)) if flat.shape == lead else flat  # no window has an entry
        places = np.broadcast_to(flat, (*lead, *extent))
        return scatter_add(coefficient, places, size, lead).reshape(*lead, *shape)
    assert isinstance(chosen, Shares)  # a window's, never a whole tensor's
    total = np.zeros((*lead, size))
    for position, share in zip(chosen.candidates, chosen.shares, strict=True):
        inside = np.logical_and.reduce(np.broadcast_arrays(
            *((p >= 0) & (p < n) for p, n in zip(position, shape, strict=True))))
        flat = np.where(inside, np.ravel_multi_index(np.broadcast_arrays(*position), shape, mode="clip"), -1)
        weights = np.where(share == 0, 0.0, coefficient * share)
        total += scatter_add(np.broadcast_to(weights, (*lead, *extent)),
                             np.broadcast_to(flat, (*lead, *extent)), size, lead)
    return total.reshape(*lead, *shape)
