"""SymPy's derivatives of a layer's instance, piece by piece."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import sympy

from derive.axes import with_axes
from derive.symbolic.pieces import Gradient, Pieces, symbol
from tests.calculus.zoo import ZOO


class Expressions:
    """Expressions themselves; of one on a region it is noted that it is."""

    def __init__(self) -> None:
        self.derived: dict[tuple[sympy.Expr, sympy.Symbol], Any] = {}
        self.on_regions: list[sympy.Expr] = []

    def number(self, expr: sympy.Expr) -> sympy.Expr:
        return expr

    def where(self, region: Any, value: Callable[[], Any]) -> Any:
        found = value()
        if found != 0:
            self.on_regions.append(found)
        return found


def pieces(name: str, **shapes: tuple[int, ...]) -> Pieces:
    module = with_axes(ZOO[name].module())
    given = {n: [*itertools.product(*map(range, shapes[n]))] for n in module.given}
    return Pieces(module, given, shapes)


def slopes(found: Pieces, of: str, at: tuple[int, ...], wrt: str, by: tuple[int, ...]) -> set[sympy.Expr]:
    """∂of_at/∂wrt_by on the regions where it is not 0."""
    numbers = Expressions()
    found.gradient(found.forward(wrt, [by])[of][at], symbol(wrt, by), numbers)
    return set(map(sympy.simplify, numbers.on_regions))


def test_a_maximum_has_a_slope_on_each_side() -> None:
    found = pieces("prelu", s=(2,), a=())
    s, a = symbol("s", (0,)), symbol("a", ())
    assert slopes(found, "y", (0,), "s", (0,)) == {sympy.Integer(1), a}
    assert slopes(found, "y", (0,), "a", ()) == {s}
    assert slopes(found, "y", (0,), "s", (1,)) == set()


def test_a_defined_tensor_is_free_where_it_is_differentiated_by() -> None:
    found = pieces("hinge", w=(2,), x=(2,), b=(), t=(), s=())
    assert slopes(found, "ell", (), "s", ()) == {-symbol("t", ())}
    assert slopes(found, "ell", (), "x", (0,)) == {-symbol("t", ()) * symbol("w", (0,))}


def test_no_two_entries_share_a_symbol() -> None:
    assert symbol("x_1", (2,)) != symbol("x", (1, 2))


X, Y = sympy.symbols("x y", real=True)
S = sympy.exp(X) + sympy.exp(Y)


@pytest.mark.parametrize("expr", [
    sympy.Integer(3), X, X * Y, X**2 * Y**3 - X, sympy.exp(X) / S, sympy.log(S), sympy.sqrt(X**2 + Y**2), X**Y,
    sympy.tanh(X * Y) ** 2 * sympy.exp(X), sympy.atan(X + Y) * sympy.sin(X) / sympy.cosh(Y), S ** sympy.Rational(-3, 2),
])
@pytest.mark.parametrize("by", [X, Y])
def test_a_derivative_is_sympy_s(expr: sympy.Expr, by: sympy.Symbol) -> None:
    found = Gradient({})(expr, by, Expressions())
    at = {X: sympy.Rational(3, 10), Y: sympy.Rational(7, 10)}
    assert abs(sympy.N((found - expr.diff(by)).subs(at), 40)) < 1e-35


def test_a_sum_of_many_products_is_quick() -> None:
    letters = sympy.symbols("a:400", real=True)
    total = sympy.Add(*(a * b for a, b in itertools.pairwise(letters)))
    gradient, numbers = Gradient({}), Expressions()
    assert [gradient(total, a, numbers) for a in letters[1:-1]] == [
        letters[n - 1] + letters[n + 1] for n in range(1, len(letters) - 1)]
