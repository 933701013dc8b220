"""Sums that are computed from the windows' side: Σ_k c_k [i = g(k)], and Σ over the windows that cover i."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

import derive.expr as ex
from derive.numeric import binders
from derive.numeric.choice import Choice, Shares, as_arg, read_stars
from derive.numeric.compile import Evaluation, has_exponentials
from derive.numeric.gather import Array, Indices, scatter_add, steps
from derive.numeric.shapes import Shape, WindowSet, span
from derive.records import dataclass


@dataclass(frozen=True)
class Scatter:
    """Σ over ``outputs`` of coefficient · [target = maximiser], the maximiser within the window of the outputs."""

    outputs: tuple[ex.Idx, ...]
    coefficient: ex.Expr
    maximiser: ex.Arg


def scatter(node: ex.Expr, target: tuple[ex.Idx, ...], evaluation: Evaluation) -> Scatter | None:
    """The scatter that a sum over covering windows is; None where it is something else.

    Only if the sum runs over all (k, l) with target ∈ Ω(k, l), and the maximiser is
    taken over the same Ω(k, l): then no term is lost and none is added.
    """
    if not isinstance(node, ex.Reduce) or node.op != "sum" or any(b is not None for b in node.binder.lower):
        return None
    binder, body = evaluation.opened(node)
    factors = body.factors if isinstance(body, ex.Mul) else (body,)
    hits = [(f, arg) for f in factors if (arg := _maximiser(f, target, evaluation)) is not None]
    if len(hits) != 1 or not isinstance(binder.cond, ex.In):
        return None
    (factor, arg), member = hits[0], binder.cond
    rest = ex.mul(*(f for f in factors if f is not factor))
    own = set(binder.variables)
    domain = arg.binder.cond
    same = isinstance(domain, ex.In) and domain.set is member.set and ex.items(domain.element) == arg.binder.variables
    split = evaluation.module.tie_rule == "split" and read_stars(rest)
    free = ex.free_indices(rest) | ex.free_indices(arg)
    alone = same and not split and ex.items(member.element) == target and free <= own
    return Scatter(binder.variables, rest, arg) if alone else None


def _maximiser(factor: ex.Expr, target: tuple[ex.Idx, ...], evaluation: Evaluation) -> ex.Arg | None:
    """The argmax in [target = argmax], also written as cases 1 and 0."""
    cond: ex.Cond | None = None
    if isinstance(factor, ex.Bracket):
        cond = factor.cond
    elif isinstance(factor, ex.Cases) and len(factor.branches) == 2:
        (first, cond), last = factor.branches
        cond = cond if first is ex.ONE and last == (ex.ZERO, ex.OTHERWISE) else None
    if not isinstance(cond, ex.Rel) or cond.ops != ("=",):
        return None
    left, right = cond.terms
    if ex.items(right) == target:
        left, right = right, left
    return as_arg(right, evaluation.definitions, evaluation.module) if ex.items(left) == target else None


def scattered(found: Scatter, shape: Shape, evaluation: Evaluation) -> Array:
    """The sum as an array of ``shape``, batch axes in front."""
    whole = ex.mul(found.coefficient, ex.Bracket(ex.Rel((found.maximiser, found.maximiser), ("=",))))
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


# Σ over the windows k that cover i of c(k, i): for each cell a of a window, c is added at i = s k − p + d a.

@dataclass(frozen=True)
class Covering:
    """``front`` · Σ over ``outputs`` with target ∈ set(outputs) of ``term``."""

    outputs: tuple[ex.Idx, ...]
    name: str
    term: ex.Expr
    front: ex.Expr


def covering_sum(node: ex.Expr, target: tuple[ex.Idx, ...], evaluation: Evaluation) -> Covering | None:
    """The sum over all windows that cover the target, and what stands in front of it; None where it is none."""
    factors = node.factors if isinstance(node, ex.Mul) else (node,)
    for n, factor in enumerate(factors):
        if isinstance(factor, ex.Reduce) and factor.op == "sum" and isinstance(factor.binder.cond, ex.In):
            binder, body = evaluation.opened(factor)
            member = binder.cond
            assert isinstance(member, ex.In)
            plain = isinstance(member.set, ex.SetApp) and member.set.args == binder.variables
            if plain and ex.items(member.element) == target and not any(binder.lower):
                rest = ex.mul(*factors[:n], *factors[n + 1:])
                if has_exponentials(node):  # e^{x_i} Σ_k c_k e^{−m_k} is Σ_k c_k e^{x_i − m_k}: that stays in range
                    body, rest = ex.mul(rest, body), ex.mul()
                assert isinstance(member.set, ex.SetApp)
                return Covering(binder.variables, member.set.name, body, rest)
    return None


def summed(found: Covering, target: tuple[ex.Idx, ...], shape: Shape, evaluation: Evaluation) -> Array:
    """The sum as an array of ``shape``, batch axes in front."""
    sets = evaluation.reach.sets[found.name]
    inner = evaluation.over(found.outputs, tuple(s.out for s in sets))
    env = inner.grid()
    total = np.zeros((*evaluation.lead, *shape))
    whole = (*evaluation.lead, *inner.shape)
    fixed = None
    if ex.free_indices(found.term) <= set(found.outputs):
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
