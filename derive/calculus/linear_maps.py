r"""y = A x of y_t = Σ_a w_a x_{t+a}: what is linear in its input, and reads it through windows or at a moving place.

Its derivative is no letter of the layer, as W of W x is, but a matrix of its own: a row for each output.
"""

from __future__ import annotations

import derive.expr as ex
from derive.module import Module

_MOST = 2  # axes of the output and of the input


def moves(module: Module) -> bool:
    """y = A x + b with a matrix A that no letter is."""
    if len(module.equations) != 1 or len(module.inputs) != 1:
        return False
    head, value = module.equations[0].terms
    (source,) = module.inputs
    read = [n for n in ex.walk(value) if isinstance(n, ex.Entry) and n.tensor == source]
    if any(isinstance(e, ex.Entry) for n in read for i in n.indices for e in ex.walk(i)):
        return False  # an entry that is looked up
    axes = [*(len(n.indices) for n in read), len(head.indices) if isinstance(head, ex.Entry) else 0]
    moving = any(isinstance(n, ex.SetApp) for n in ex.walk(value)) or any(
        not isinstance(i, ex.Idx) and ex.free_indices(i) for n in read for i in n.indices)
    return moving and all(0 < n <= _MOST for n in axes) and is_linear(value, source)


def is_linear(value: ex.Node, source: str) -> bool:
    """Each term has one factor with the letter, or none."""
    if not reads(value, source):
        return True
    match value:
        case ex.Entry():
            return True
        case ex.Add(terms):
            return all(is_linear(t, source) for t in terms)
        case ex.Mul(factors):
            return sum(reads(f, source) for f in factors) == 1 and all(is_linear(f, source) for f in factors)
        case ex.Reduce("sum", binder, body):
            return not (binder.cond is not None and reads(binder.cond, source)) and is_linear(body, source)
    return False


def reads(node: ex.Node, source: str) -> bool:
    return any(isinstance(n, ex.Entry) and n.tensor == source for n in ex.walk(node))


def has_rest(module: Module) -> bool:
    """y = A x + b, not A x."""
    value, (source,) = module.equations[0].terms[1], module.inputs
    return isinstance(value, ex.Add) and not all(reads(t, source) for t in value.terms)
