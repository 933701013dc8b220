"""SymPy's derivatives of a layer's instance, region by region."""

from fractions import Fraction
from typing import Any

import sympy

from derive.axes import with_axes
from derive.numeric.arithmetic import EXACT, Arithmetic
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


def derivative(found: Region, of: str, at: tuple[int, ...], wrt: str, by: tuple[int, ...]) -> Any:
    """∂of_at/∂wrt_by, evaluated over the symbols themselves."""
    value = found.forward(wrt)[of][at]
    symbols = {s: s for s in getattr(value, "expr", sympy.S.Zero).free_symbols}
    kind = Arithmetic(sympy.Rational, lambda a, b: a / b, lambda a, b: a**b, {})
    return found.derivative(value, wrt, by, symbols, kind)


def test_a_region_holds_one_smooth_expression() -> None:
    found = region("prelu", s=(3, -2), a=Fraction(1, 4))
    s, a = [symbol("s", (i,)) for i in (0, 1)], symbol("a", ())
    assert derivative(found, "y", (0,), "s", (0,)) == 1
    assert derivative(found, "y", (1,), "s", (1,)) == a
    assert derivative(found, "y", (1,), "a", ()) == s[1]
    assert derivative(found, "y", (0,), "a", ()) == 0


def test_a_defined_tensor_is_free_where_it_is_differentiated_by() -> None:
    found = region("hinge", w=(1, 2), x=(1, -1), b=0, t=1)
    assert derivative(found, "ell", (), "s", ()) == -symbol("t", ())
    w = symbol("w", (0,))
    assert sympy.simplify(derivative(found, "ell", (), "x", (0,)) + symbol("t", ()) * w) == 0


def test_no_two_entries_share_a_symbol() -> None:
    assert symbol("x_1", (2,)) != symbol("x", (1, 2))
