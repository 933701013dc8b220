"""SymPy's derivatives of a layer's instance, region by region."""

from fractions import Fraction

import sympy

from derive.axes import with_axes
from derive.numeric.arithmetic import EXACT
from derive.numeric.evaluator import evaluate
from derive.symbolic.layer import Region, symbol
from tests.calculus.zoo import ZOO


def region(name: str, **values: object) -> Region:
    module = with_axes(ZOO[name].module())
    arrays = {n: {(i,): v for i, v in enumerate(x)} if isinstance(x, tuple) else {(): x} for n, x in values.items()}
    shapes = {n: () if () in a else (len(a),) for n, a in arrays.items()}
    found = evaluate(module, arrays, shapes)
    every = {n: () if () in t else (len(t),) for n, t in found.items()}
    return Region(module, EXACT, {**arrays, **found}, tuple(arrays), {**shapes, **every})


def test_a_region_holds_one_smooth_expression() -> None:
    found = region("prelu", s=(3, -2), a=Fraction(1, 4))
    s, a = [symbol("s", (i,)) for i in (0, 1)], symbol("a", ())
    assert found.derivative("y", (0,), "s", (0,)) == 1
    assert found.derivative("y", (1,), "s", (1,)) == a
    assert found.derivative("y", (1,), "a", ()) == s[1]
    assert found.derivative("y", (0,), "a", ()) == 0


def test_a_defined_tensor_is_free_where_it_is_differentiated_by() -> None:
    found = region("hinge", w=(1, 2), x=(1, -1), b=0, t=1)
    assert found.derivative("ell", (), "s", ()) == -symbol("t", ())
    w = symbol("w", (0,))
    assert sympy.simplify(found.derivative("ell", (), "x", (0,)) + symbol("t", ()) * w) == 0


def test_no_two_entries_share_a_symbol() -> None:
    assert symbol("x_1", (2,)) != symbol("x", (1, 2))
