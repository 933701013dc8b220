"""One window in SymPy: Max, cases, derivatives."""

from __future__ import annotations

import itertools

import pytest
import sympy

from derive.errors import UnsupportedError
from derive.expr import Entry, Idx, In, Num, Reduce, SetApp, eq, mul, over
from derive.module import Module
from derive.symbolic.instance import symbolic_jacobian
from derive.symbolic.window import case_list, cases, entry_symbol, raw, window_max
from tests.numeric.modules import pooling


def scaled(factor: int) -> Module:
    """f_k = max over Ω(k) of factor · x_i."""
    layer, i, k = pooling((2,)), Idx("i"), Idx("k")
    window = over((i,), In(i, SetApp("Omega", (k,))))
    value = Reduce("max", window, mul(Num(factor), Entry("x", (i,))))
    return Module((eq(Entry("f", (k,)), value),), layer.table, "f", ("x",), fields=layer.fields)


def test_the_window_is_sympy_s_max_or_min() -> None:
    symbols, window = window_max(pooling((2, 2)))
    assert window == sympy.Max(*symbols) and [z.name for z in symbols] == ["z_1", "z_2", "z_3", "z_4"]
    assert window_max(pooling((3,), op="min"))[1].func is sympy.Min
    assert all(z.is_real for z in symbols)


@pytest.mark.parametrize("op", ["max", "min"])
def test_each_case_is_an_open_region_with_its_derivative(op: str) -> None:
    symbols, _ = window_max(pooling((2, 2), op=op))
    for r, case in enumerate(case_list(pooling((2, 2), op=op))):
        assert case.value == symbols[r] and len(case.region) == 3
        assert case.gradient == tuple(sympy.Integer(q == r) for q in range(4))
        assert {(c.lhs, c.rhs) for c in case.region} == {(symbols[r], z) for z in symbols if z != symbols[r]}
    assert {c.func for c in case_list(pooling((2,), op=op))[0].region} == {
        sympy.StrictGreaterThan if op == "max" else sympy.StrictLessThan}


def test_a_factor_in_the_formula_reaches_region_and_derivative() -> None:
    first, _ = case_list(scaled(-3))
    z1, z2 = window_max(scaled(-3))[0]
    assert first.value == -3 * z1 and first.gradient == (-3, 0) and first.region == (-3 * z1 > -3 * z2,)


def test_cases_agree_with_max_off_ties_and_claim_nothing_at_one() -> None:
    symbols, window = window_max(pooling((3,)))
    by_case = cases(pooling((3,)))
    assert isinstance(by_case, sympy.Piecewise) and len(by_case.args) == 3
    for point in itertools.permutations((1, 2, 3)):
        at = dict(zip(symbols, point, strict=True))
        assert by_case.subs(at) == window.subs(at) == 3
    assert by_case.subs(dict.fromkeys(symbols, 1)) is sympy.nan


@pytest.mark.parametrize(("tie_rule", "shares"), [
    ("first", ["1", "0", "0"]), ("last", ["0", "0", "1"]), ("split", ["1/3", "1/3", "1/3"]),
])
def test_the_gradient_follows_the_tie_rule(tie_rule: str, shares: list[str]) -> None:
    symbols = [entry_symbol("x", (n,)) for n in range(3)]
    gradient = [entry for _, _, entry in symbolic_jacobian(pooling((3,), tie_rule=tie_rule), (3,))]
    assert [g.subs(dict.fromkeys(symbols, 7)) for g in gradient] == [sympy.Rational(s) for s in shares]
    at = dict(zip(symbols, (4, 9, 9), strict=True))
    partly = {"first": [0, 1, 0], "last": [0, 0, 1], "split": [0, sympy.Rational(1, 2), sympy.Rational(1, 2)]}
    assert [g.subs(at) for g in gradient] == partly[tie_rule]


def test_a_window_of_one_cell_passes_everything() -> None:
    assert symbolic_jacobian(pooling((1, 1)), (1, 1)) == [((0, 0), (0, 0), 1)]
    (case,) = case_list(pooling((1,)))
    assert case.condition is sympy.true


def test_other_reductions_are_not_covered() -> None:
    with pytest.raises(UnsupportedError):
        window_max(pooling((2, 2), op="sum"))


def test_the_arguments_of_a_node_are_a_set_as_sympy_keeps_it() -> None:
    a, b, c = sympy.symbols("a b c", real=True)
    ours, theirs = raw(sympy.And, (a > b, a > c)), sympy.And(a > b, a > c)
    kept = sympy.And.make_args(ours)
    assert kept == sympy.And.make_args(theirs) and hash(kept) == hash(sympy.And.make_args(theirs))
    assert kept | {b > c} == {a > b, a > c, b > c} and {a > b, b > c} - kept == {b > c}
    assert kept & frozenset((a > b,)) == {a > b} and len(kept | kept) == 2
    assert (kept != {a > b, a > c}) is False and kept != {a > b}
    assert ours.subs(a, 1) == theirs.subs(a, 1) and set(sympy.preorder_traversal(ours)) == set(
        sympy.preorder_traversal(theirs))
