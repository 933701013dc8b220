"""SymPy's derivatives of a layer's instance, piece by piece."""

import itertools

import sympy

from derive.axes import with_axes
from derive.symbolic.pieces import Pieces, symbol
from tests.calculus.zoo import ZOO


def pieces(name: str, **shapes: tuple[int, ...]) -> Pieces:
    module = with_axes(ZOO[name].module())
    given = {n: [*itertools.product(*map(range, shapes[n]))] for n in module.given}
    return Pieces(module, given, shapes)


def slopes(found: Pieces, of: str, at: tuple[int, ...], wrt: str, by: tuple[int, ...]) -> set[sympy.Expr]:
    """The terms of ∂of_at/∂wrt_by, each on its region."""
    return {sympy.simplify(value) for _, value in
            found.slopes(found.forward(wrt, [by])[of][at], symbol(wrt, by))}


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
