"""Reductions over a whole tensor at once: the bound variables become axes of a grid, and these axes are reduced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.expr import Arg, Expr, Reduce, free_indices
from derive.numeric.choice import Mask
from derive.numeric.gather import Array, Indices
from derive.numeric.scaled import Scaled
from derive.numeric.shapes import span

if TYPE_CHECKING:
    from derive.numeric.compile import Evaluation


def is_whole(node: Reduce | Arg) -> bool:
    """The variables run along whole axes, and nothing around the node stands in it."""
    return node.binder.cond is None and not any(node.binder.lower) and not free_indices(node)


def grid_of(evaluation: Evaluation, node: Reduce | Arg) -> tuple[Evaluation, Expr]:
    """The evaluation with the bound variables for axes, and the body in them."""
    binder, body = evaluation.opened(node)
    variables, reach = binder.variables, evaluation.reach
    inner = evaluation.over(variables, tuple(span(v, body, reach) for v in variables))
    inner.starts = tuple(reach.start(v, body) for v in variables)
    return inner, body


def reduced(evaluation: Evaluation, node: Reduce, join: np.ufunc | None) -> Any:
    """The reduction's value; without ``join`` the median."""
    from derive.numeric.median import median

    inner, body = grid_of(evaluation, node)
    rows = _rows(inner.value(body, inner.grid()), inner)
    found = median(list(np.moveaxis(rows, -1, 0)), [None] * rows.shape[-1]) if join is None else join.reduce(rows, -1)
    return _outside(found, evaluation)


def exponential_sum(evaluation: Evaluation, inner: Evaluation, term: Scaled) -> Scaled:
    """Σ m e^c over the inner grid."""
    mantissa, exponent = _rows(term.mantissa, inner), _rows(term.exponent, inner)
    top = np.max(exponent, axis=-1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        gap = np.where(exponent == top[..., None], 0.0, exponent - top[..., None])
        weighted = mantissa * np.exp(gap)
    total = np.where(np.exp(gap) == 0, 0.0, weighted).sum(-1)
    return Scaled(_outside(total, evaluation), _outside(top, evaluation))


@dataclass(frozen=True)
class WholeChoice:
    """Where a maximum over a whole tensor is attained: one place, or shares (lead, *sizes) under the rule ``split``."""

    places: tuple[Indices, ...]
    shares: Array | None
    starts: tuple[int, ...]

    def component(self, d: int) -> Indices:
        return self.places[d]

    def weight(self, target: tuple[Indices, ...]) -> Mask | Array:
        """[target = chosen place], or the share of the target."""
        if self.shares is None:
            found: Mask = np.logical_and.reduce(np.broadcast_arrays(
                *(t == p for t, p in zip(target, self.places, strict=True))))
            return found
        at = tuple(np.asarray(t) - s for t, s in zip(target, self.starts, strict=True))
        inside = np.logical_and.reduce(np.broadcast_arrays(
            *((a >= 0) & (a < n) for a, n in zip(at, self.shares.shape[-len(at):], strict=True))))
        clipped = tuple(np.where(inside, a, 0) for a in at)
        index: Any = (Ellipsis, *clipped)
        return np.where(inside, self.shares[index], 0.0)


def choice(evaluation: Evaluation, arg: Arg) -> WholeChoice:
    """The first or last place in row-major order that attains the maximum, or equal shares of all that do."""
    inner, body = grid_of(evaluation, arg)
    rows = _rows(inner.value(body, inner.grid()), inner)
    if arg.op == "median":
        best = np.sort(rows, axis=-1)[..., rows.shape[-1] // 2]
    else:
        best = rows.max(-1) if arg.op == "max" else rows.min(-1)
    active = rows == best[..., None]
    if evaluation.module.tie_rule == "split":
        shares = active / np.maximum(active.sum(-1, keepdims=True), 1)
        return WholeChoice((), shares.reshape(*evaluation.lead, *inner.shape), inner.starts)
    last = evaluation.module.tie_rule == "last"
    flat = active.shape[-1] - 1 - active[..., ::-1].argmax(-1) if last else active.argmax(-1)
    places = np.unravel_index(flat, inner.shape)
    return WholeChoice(tuple(_outside(p + s, evaluation) for p, s in zip(places, inner.starts, strict=True)), None,
                       inner.starts)


def _rows(values: Any, inner: Evaluation) -> Array:
    """(*lead, N): the inner grid in one axis."""
    return np.broadcast_to(values, (*inner.lead, *inner.shape)).reshape(*inner.lead, -1)


def _outside(values: Any, evaluation: Evaluation) -> Any:
    """The same for every point of the outer grid."""
    return np.reshape(values, (*evaluation.lead, *(1 for _ in evaluation.shape)))
