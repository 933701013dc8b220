"""Products and quotients as factors in the order written."""

from __future__ import annotations

from fractions import Fraction

from derive.expr import MINUS_ONE, Expr, Infinity, Mul, Num, Pow


def product(factors: list[Expr]) -> Expr:
    return factors[0] if len(factors) == 1 else Mul(tuple(factors))


def negated(factors: list[Expr]) -> list[Expr]:
    """−(c · …) has the coefficient −c."""
    first = factors[0]
    if isinstance(first, Num):
        return [Num(-first.value), *factors[1:]]
    if isinstance(first, Infinity) and len(factors) == 1:
        return [Infinity(-first.sign)]
    return [MINUS_ONE, *factors]


def quotient(above: list[Expr], below: Expr) -> list[Expr]:
    """A number below becomes the coefficient in front; all else a power −1 behind."""
    if isinstance(below, Num):
        first = above[0].value if isinstance(above[0], Num) else Fraction(1)
        rest = above[1:] if isinstance(above[0], Num) else above
        coefficient = first / below.value
        return rest if coefficient == 1 and rest else [Num(coefficient), *rest]
    inverse = Pow(below, MINUS_ONE)
    return [inverse] if above == [Num(1)] else [*above, inverse]
