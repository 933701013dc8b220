"""The derivatives of the elementary functions, as one table."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from derive.expr import MINUS_ONE, ONE, ZERO, Expr, Fn, Num, Pow, add, mul, sub

HALF = Num(Fraction(1, 2))

# f'(u), off the kinks of abs and sign
DERIVATIVES: dict[str, Callable[[Expr], Expr]] = {
    "exp": lambda u: Fn("exp", (u,)),
    "log": lambda u: Pow(u, MINUS_ONE),
    "sqrt": lambda u: mul(HALF, Pow(u, mul(MINUS_ONE, HALF))),
    "tanh": lambda u: sub(ONE, Pow(Fn("tanh", (u,)), Num(2))),
    "sin": lambda u: Fn("cos", (u,)),
    "cos": lambda u: mul(MINUS_ONE, Fn("sin", (u,))),
    "sinh": lambda u: Fn("cosh", (u,)),
    "cosh": lambda u: Fn("sinh", (u,)),
    "arctan": lambda u: Pow(add(Pow(u, Num(2)), ONE), MINUS_ONE),
    "abs": lambda u: Fn("sign", (u,)),
    "sign": lambda u: ZERO,
}
