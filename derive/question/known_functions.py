"""A known function spelled out by a card, tanh(z) = …: whether what it says is that function."""

from __future__ import annotations

import math
from collections.abc import Callable

from derive.expr import Add, Entry, Expr, Fn, Mul, Num, Pow

_KNOWN: dict[str, Callable[[float], float]] = {
    "exp": math.exp, "log": math.log, "tanh": math.tanh, "sinh": math.sinh, "cosh": math.cosh, "sin": math.sin,
    "cos": math.cos, "abs": abs, "sign": lambda x: float((x > 0) - (x < 0)),
}
_POINTS = (-1.7, -0.3, 0.4, 1.9)
_CLOSE = 1e-9


def contradicts(head: Fn, body: Expr) -> bool:
    """Whether the value differs from the known function somewhere; False where either cannot be computed."""
    if len(head.args) != 1 or head.name not in _KNOWN:
        return False
    for point in _POINTS:
        try:
            expected, stated = _KNOWN[head.name](point), _value(body, head.args[0], point)
        except (ValueError, OverflowError, ZeroDivisionError, _Uncomputed):
            continue
        if not math.isclose(expected, stated, rel_tol=_CLOSE, abs_tol=_CLOSE):
            return True
    return False


class _Uncomputed(Exception):
    """The value has something other than arithmetic of its argument."""


def _value(node: Expr, argument: Expr, at: float) -> float:
    match node:
        case Num(value):
            return float(value)
        case Entry() if node is argument:
            return at
        case Add(terms):
            return math.fsum(_value(t, argument, at) for t in terms)
        case Mul(factors):
            return math.prod(_value(f, argument, at) for f in factors)
        case Pow(base, exponent):
            return math.pow(_value(base, argument, at), _value(exponent, argument, at))
        case Fn(name, (of,)) if name in _KNOWN:
            return _KNOWN[name](_value(of, argument, at))
    raise _Uncomputed
