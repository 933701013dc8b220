"""Values with exponentials in them, kept as m e^c through sums, products and powers: e^{rx} / Σ e^{rx} at any x."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.expr import Add, Bracket, Expr, Fn, Mul, Num, Pow, Reduce, mul
from derive.numeric import whole
from derive.numeric.binders import Env
from derive.numeric.scaled import ONE, Scaled, scaled, total
from derive.numeric.stars import names_in

if TYPE_CHECKING:
    from derive.numeric.compile import Evaluation


def has_exponentials(node: Expr) -> bool:
    return "exp" in names_in(node).functions


def value(evaluation: Evaluation, node: Expr, env: Env) -> Any:
    """The value of a node with exponentials as an array."""
    found = kept(evaluation, node, env)
    return found.value() if isinstance(found, Scaled) else found


def kept(evaluation: Evaluation, node: Expr, env: Env) -> Any:
    """The value, as :class:`Scaled` where the node is made of exponentials by sums, products and powers."""
    def go(part: Expr) -> Any:
        return kept(evaluation, part, env)

    if not has_exponentials(node):
        return evaluation.value(node, env)
    match node:
        case Fn("exp", (arg,)):
            return Scaled(np.float64(1), evaluation.value(arg, env))
        case Fn("log", (arg,)) if isinstance(inner := go(arg), Scaled):
            return inner.log()
        case Pow(base, Num(exponent)) if isinstance(inner := go(base), Scaled):
            return inner.power(float(exponent))
        case Mul(factors):
            brackets = [f for f in factors if isinstance(f, Bracket)]
            rest = reduce(Scaled.times, (scaled(go(f)) for f in factors if not isinstance(f, Bracket)), ONE)
            if not brackets:
                return rest
            guard = evaluation.plain(mul(*brackets), env)  # several are a product once more
            return rest.times(scaled(guard)).where(guard != 0)
        case Add(terms):
            return total([scaled(go(t)) for t in terms])
        case Reduce("sum"):
            return evaluation.once(node, env, lambda n, e: _sum(evaluation, n, e))
    return evaluation.plain(node, env)


def _sum(evaluation: Evaluation, node: Reduce, env: Env) -> Scaled:
    if whole.is_whole(node):
        grid, body = whole.grid_of(evaluation, node)
        return whole.exponential_sum(evaluation, grid, scaled(kept(grid, body, grid.grid())))
    binder, body = evaluation.opened(node)
    terms = []
    for inner, mask in evaluation.steps(binder, body, env):
        term = scaled(kept(evaluation, body, inner))
        terms.append(term if mask is None else term.where(mask))
    return total(terms)
