"""The plain-loop evaluator: values, difference quotients, directional derivatives, number types."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.axes import with_axes
from derive.errors import CardError, UnsupportedError
from derive.expr import (
    ONE,
    OTHERWISE,
    ZERO,
    Bracket,
    Cases,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Num,
    Pow,
    Reduce,
    Size,
    add,
    eq,
    mul,
    over,
    ranging,
    rel,
    sub,
)
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.numeric.arithmetic import precision
from derive.numeric.evaluator import evaluate, jacobian_by_differences
from derive.numeric.shapes import extents
from tests.numeric.modules import pooling

i, k = Idx("i"), Idx("k")


def grid(shape: tuple[int, ...], values: list[Any]) -> dict[tuple[int, ...], Any]:
    return dict(zip(itertools.product(*map(range, shape)), values, strict=True))


def vector_layer(value: Expr, equations: tuple[Any, ...] = (), scalar: bool = False) -> Module:
    table = SymbolTable((Symbol("x", "x", Kind.TENSOR, ("i",), sizes=("n",)), Symbol("f", "f", Kind.TENSOR, ("k",)),
                         Symbol("s", "s", Kind.TENSOR, ("k",))))
    return Module((*equations, eq(Entry("f", () if scalar else (k,)), value)), table, "f", ("x",))


def test_pooling_by_hand() -> None:
    x = grid((4, 4), list(range(16)))
    assert evaluate(pooling((2, 2)), {"x": x}, {"x": (4, 4)}) == {"f": grid((2, 2), [5, 7, 13, 15])}
    assert evaluate(pooling((2, 2), op="min"), {"x": x}, {"x": (4, 4)}) == {"f": grid((2, 2), [0, 2, 8, 10])}


def test_a_window_wholly_in_padding_has_the_value_of_the_empty_maximum() -> None:
    f = evaluate(pooling((2,), (1,), (2,)), {"x": grid((2,), [3, 4])}, {"x": (2,)})["f"]
    assert [f[j,] for j in range(5)] == [-math.inf, 3, 4, 4, -math.inf]


def test_a_coordinate_between_windows_belongs_to_none() -> None:
    right, left = jacobian_by_differences(pooling((2,), (3,)), {"x": grid((6,), [0, 5, 90, 10, 0, 90])}, {"x": (6,)}, "x", 1)
    assert right == left == {((0,), (1,)): 1, ((1,), (3,)): 1}


def test_one_sided_quotients_differ_at_a_tie() -> None:
    x = {"x": grid((2,), [Fraction(1, 3)] * 2)}
    right, left = jacobian_by_differences(pooling((2,)), x, {"x": (2,)}, "x", Fraction(1, 7))
    assert right == {((0,), (0,)): 1, ((0,), (1,)): 1} and left == {}


FORMULAS: list[tuple[str, Expr, list[Any], list[Any]]] = [
    ("sum over a range", add(Entry("x", (k,)), Reduce("sum", ranging(i, ZERO, sub(k, ONE)), Entry("x", (i,)))),
     [1, 2, 4], [1, 3, 7]),
    ("sum over an axis", mul(Entry("x", (k,)), Reduce("sum", over((i,), rel(i, "≠", k)), Entry("x", (i,)))),
     [1, 2, 4], [6, 10, 12]),
    ("mean", mul(Entry("x", (k,)), Pow(Size("n"), Num(-1))), [1, 2, 4], [Fraction(1, 3), Fraction(2, 3), Fraction(4, 3)]),
    ("an index that stays in range for ever", add(Entry("x", (k,)), Entry("x", (Extremum("min", (k, ONE)),))), [1, 2, 4], [2, 4, 6]),
    ("a false bracket guards an index", add(Entry("x", (k,)), mul(Bracket(rel(ONE, "≤", k)), Entry("x", (sub(k, ONE),)))),
     [1, 2, 4], [1, 3, 6]),
    ("listed maximum", Extremum("max", (Entry("x", (k,)), ZERO)), [-1, 2], [0, 2]),
    ("cases", Cases(((ONE, rel(Entry("x", (k,)), ">", ZERO)), (Num(Fraction(1, 2)), OTHERWISE))), [-1, 2], [Fraction(1, 2), 1]),
    ("bracket", Bracket(rel(ZERO, "<", Entry("x", (k,)))), [-1, 2], [0, 1]),
    ("power and absolute value", add(Pow(Entry("x", (k,)), Num(2)), Fn("abs", (Entry("x", (k,)),))), [-3, 2], [12, 6]),
    ("floor in an index", mul(ONE, Entry("x", (Fn("floor", (mul(Num(Fraction(1, 2)), k),)),)),
                              Entry("x", (k,))), [3, 5, 7], [9, 15, 35]),
    ("empty sum", Reduce("sum", ranging(i, add(k, ONE), k), Entry("x", (k,))), [1, 2], [0, 0]),
    ("product", mul(Entry("x", (k,)), Reduce("prod", ranging(i, ZERO, sub(Size("n"), ONE)), Entry("x", (i,)))),
     [1, 2, 3], [6, 12, 18]),
]


@pytest.mark.parametrize(("value", "given", "expected"), [f[1:] for f in FORMULAS], ids=[f[0] for f in FORMULAS])
def test_constructs(value: Expr, given: list[Any], expected: list[Any]) -> None:
    n = len(given)
    f = evaluate(vector_layer(value), {"x": grid((n,), given)}, {"x": (n,)})["f"]
    assert f == grid((n,), expected)


def test_functions_and_precision_follow_the_number_type() -> None:
    layer = vector_layer(Fn("exp", (mul(Num(Fraction(1, 3)), Entry("x", (k,))),)))
    assert evaluate(layer, {"x": {(0,): 1.0}}, {"x": (1,)})["f"][0,] == math.exp(1 / 3)
    with precision(), mpmath.workdps(60):
        value = mpmath.mpf(str(evaluate(layer, {"x": {(0,): Decimal(1)}}, {"x": (1,)})["f"][0,]))
        assert abs(value - mpmath.exp(mpmath.mpf(1) / 3)) < mpmath.mpf(10) ** -49


def test_changes_reach_the_output_through_intermediate_tensors() -> None:
    squares = eq(Entry("s", (k,)), Pow(Entry("x", (k,)), Num(2)))
    layer = vector_layer(add(Entry("s", (k,)), Reduce("sum", ranging(i, ZERO, sub(k, ONE)), Entry("s", (i,)))), (squares,))
    right, left = jacobian_by_differences(layer, {"x": grid((2,), [1, 3])}, {"x": (2,)}, "x", 1)
    assert right == {((0,), (0,)): 3, ((1,), (0,)): 3, ((1,), (1,)): 7}
    assert left == {((0,), (0,)): 1, ((1,), (0,)): 1, ((1,), (1,)): 5}


def test_what_is_not_forward_mathematics_is_refused() -> None:
    with pytest.raises(UnsupportedError):
        evaluate(vector_layer(Reduce("sum", over((i,), rel(i, "=", k)), ONE)), {"x": {(0,): 1}}, {"x": (1,)})
    with pytest.raises(CardError, match="cases"):
        undefined = Cases(((ONE, rel(Entry("x", (k,)), ">", ZERO)),))
        evaluate(vector_layer(undefined), {"x": {(0,): -1}}, {"x": (1,)})


def test_an_empty_sum_ends_no_index() -> None:
    """y_k = Σ_{i=0}^{-1} x_{2k+i} reads nothing, so nothing says how far k runs."""
    empty = Reduce("sum", ranging(i, ZERO, Num(-1)), Entry("x", (add(mul(Num(2), k), i),)))
    with pytest.raises(UnsupportedError, match="no range"):
        evaluate(vector_layer(empty), {"x": grid((3,), [1, 2, 3])}, {"x": (3,)})
    with pytest.raises(UnsupportedError, match="no range"):
        extents(with_axes(vector_layer(empty)), {"x": (3,)})


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_quotients_are_those_of_two_whole_evaluations(data: st.DataObject) -> None:
    kernel, stride, padding = (data.draw(st.integers(low, 3)) for low in (1, 1, 0))
    n = data.draw(st.integers(max(1, kernel - 2 * padding), 6))
    layer, shape = pooling((kernel,), (stride,), (padding,)), {"x": (n,)}
    x = grid((n,), data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)))
    right, _ = jacobian_by_differences(layer, {"x": x}, shape, "x", 1)
    base = evaluate(layer, {"x": x}, shape)["f"]
    for cell in x:
        moved = evaluate(layer, {"x": {**x, cell: x[cell] + 1}}, shape)["f"]
        expected = {out: moved[out] - base[out] for out in base if moved[out] != base[out]}
        assert {out: q for (out, c), q in right.items() if c == cell} == expected
