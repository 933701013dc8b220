"""Whether an expression is 0 at random values of its entries: to decide what is worth saying, not to prove it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping

from derive.expr import Add, Entry, Expr, Fn, Idx, Mul, Num, Pow, Size, walk

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "tanh": math.tanh, "abs": abs, "sin": math.sin,
    "cos": math.cos, "sinh": math.sinh, "cosh": math.cosh, "arctan": math.atan,
    "sign": lambda x: float((x > 0) - (x < 0)),
}
_POINTS, _NEAR = 12, 1e-9


def vanishes(value: Expr) -> bool | None:
    """Whether it is 0 at all random points where it has a value; None where it cannot be evaluated."""
    source = random.Random(0)
    found = []
    for _ in range(_POINTS):
        at: dict[Expr, float] = {n: source.uniform(-2, 2) for n in walk(value) if isinstance(n, (Entry, Size, Idx))}
        try:
            found.append(_value(value, at))
        except (ArithmeticError, ValueError):
            continue
        except KeyError:
            return None
    return all(abs(v) < _NEAR for v in found) if found else None


def _value(node: Expr, at: Mapping[Expr, float]) -> float:
    match node:
        case Num(number):
            return float(number)
        case Add(terms):
            return sum(_value(t, at) for t in terms)
        case Mul(factors):
            return math.prod(_value(f, at) for f in factors)
        case Pow(base, exponent):
            power = _value(base, at) ** _value(exponent, at)
            if isinstance(power, complex):
                raise ValueError
            return float(power)
        case Fn("pi", ()):
            return math.pi
        case Fn(name, (argument,)):
            return _FUNCTIONS[name](_value(argument, at))
    return at[node]
