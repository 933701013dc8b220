"""Derivatives of shared parts are those that SymPy finds by itself."""

from __future__ import annotations

import itertools

import pytest
import sympy

from derive.symbolic.gradient import Gradient

X, Y = sympy.symbols("x y", real=True)
S = sympy.exp(X) + sympy.exp(Y)


@pytest.mark.parametrize("expr", [
    sympy.Integer(3), X, X * Y, X**2 * Y**3 - X, sympy.exp(X) / S, sympy.log(S), sympy.sqrt(X**2 + Y**2), X**Y,
    sympy.tanh(X * Y) ** 2 * sympy.exp(X), sympy.atan(X + Y) * sympy.sin(X) / sympy.cosh(Y), S ** sympy.Rational(-3, 2),
])
@pytest.mark.parametrize("by", [X, Y])
def test_a_derivative_is_sympy_s(expr: sympy.Expr, by: sympy.Symbol) -> None:
    found = Gradient()(expr, by)
    at = {X: sympy.Rational(3, 10), Y: sympy.Rational(7, 10)}
    assert abs(sympy.N((found - expr.diff(by)).subs(at), 40)) < 1e-35


def test_a_sum_of_many_products_is_quick() -> None:
    letters = sympy.symbols("a:400", real=True)
    total = sympy.Add(*(a * b for a, b in itertools.pairwise(letters)))
    gradient = Gradient()
    assert [gradient(total, a) for a in letters[1:-1]] == [
        letters[n - 1] + letters[n + 1] for n in range(1, len(letters) - 1)]
