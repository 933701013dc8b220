"""The layer at concrete sizes: every entry against difference quotients, arrays and SymPy's own constructors."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.module import Module
from derive.numeric.evaluator import jacobian_by_differences
from derive.numeric.vectorised import backward
from derive.symbolic.instance import entry_symbols, symbolic_jacobian
from derive.symbolic.window import entry_symbol
from tests.numeric.modules import message, pooling

RULES = ("first", "last", "split")


def instance_backward(module: Module, shape: tuple[int, ...]) -> dict[tuple[int, ...], sympy.Expr]:
    """δ_x of every input entry: Σ over the windows that contain it of g_k · ∂f_k/∂x_i."""
    messages: dict[tuple[int, ...], list[sympy.Expr]] = {at: [] for at in itertools.product(*map(range, shape))}
    for out, at, entry in symbolic_jacobian(module, shape):
        messages[at].append(sympy.Mul(entry_symbol("g", out), entry, evaluate=False))
    return {at: sympy.Add(*parts, evaluate=False) if parts else sympy.S.Zero for at, parts in messages.items()}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.sampled_from(["max", "min"]),
       st.sampled_from(RULES), st.permutations(range(5)))
def test_entries_are_the_difference_quotients_off_ties(kernel: int, stride: int, padding: int, op: str, rule: str,
                                                       values: list[int]) -> None:
    layer = pooling((kernel,), (stride,), (padding,), op, rule)
    x = {(c,): 2 * v for c, v in enumerate(values)}
    right, left = jacobian_by_differences(layer, {"x": x}, {"x": (5,)}, "x", 1)
    point = {entry_symbol("x", at): v for at, v in x.items()}
    found = {(out, at): e.subs(point) for out, at, e in symbolic_jacobian(layer, (5,))}
    assert {key: v for key, v in found.items() if v != 0} == right == left


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("op", ["max", "min"])
def test_every_tie_pattern_of_two_overlapping_windows(rule: str, op: str) -> None:
    layer = pooling((2, 2), (1, 1), op=op, tie_rule=rule)
    deltas = instance_backward(layer, (2, 3))
    upstream = {entry_symbol("g", (0, 0)): 1, entry_symbol("g", (0, 1)): 10}
    symbols = [entry_symbol("x", at) for at in itertools.product(range(2), range(3))]
    compute = sympy.lambdify([*symbols, *upstream], [deltas[at] for at in sorted(deltas)], modules="math")
    points = list(itertools.product(range(3), repeat=6))
    batch = np.array(points).reshape(-1, 2, 3)
    expected = backward(layer, message(layer), "x", np.tile([[1, 10]], (len(points), 1, 1)), {"x": batch})
    for point, one in zip(points, expected, strict=True):
        found = compute(*point, *upstream.values())
        assert np.allclose(np.array(found, float).reshape(2, 3), one), point


def test_hand_worked_ties() -> None:
    ones = {entry_symbol("x", at): 1 for at in itertools.product(range(3), repeat=2)}
    upstream = {entry_symbol("g", at): 10 ** n for n, at in enumerate(itertools.product(range(2), repeat=2))}
    expected = {"first": [1, 10, 0, 100, 1000, 0, 0, 0, 0],
                "split": [Fraction(v).limit_denominator(4) for v in (.25, 2.75, 2.5, 25.25, 277.75, 252.5, 25, 275, 250)]}
    for rule, values in expected.items():
        deltas = instance_backward(pooling((2, 2), (1, 1), tie_rule=rule), (3, 3))
        assert [Fraction(str(deltas[at].subs(ones | upstream))) for at in sorted(deltas)] == values


def test_only_entries_within_windows_are_listed() -> None:
    entries = symbolic_jacobian(pooling((2, 2)), (5, 4))
    assert len(entries) == 2 * 2 * 4 and len({e[:2] for e in entries}) == 16
    assert instance_backward(pooling((2, 2)), (5, 4))[4, 0] == 0
    clipped = symbolic_jacobian(pooling((2,), (1,), (1,)), (2,))
    assert [(out, at) for out, at, _ in clipped] == [((0,), (0,)), ((1,), (0,)), ((1,), (1,)), ((2,), (1,))]
    assert clipped[0][2] == 1


def by_constructors(module_op: str, rule: str, terms: list[sympy.Symbol], t: int) -> sympy.Expr:
    """The same indicator through SymPy's public constructors."""
    largest: Any = {"max": sympy.Max, "min": sympy.Min}[module_op]
    sign = 1 if module_op == "max" else -1
    above = (lambda a, b: a > b) if sign > 0 else (lambda a, b: a < b)
    weakly = (lambda a, b: a >= b) if sign > 0 else (lambda a, b: a <= b)
    first, then = (above, weakly) if rule == "first" else (weakly, above)
    conds = [first(terms[t], largest(*terms[:t]))] if t else []
    conds += [then(terms[t], largest(*terms[t + 1:]))] if t + 1 < len(terms) else []
    return sympy.Piecewise((1, sympy.And(*conds)), (0, True))


@pytest.mark.parametrize(("op", "rule"), [("max", "first"), ("min", "last")])
def test_nodes_are_those_that_sympy_s_constructors_make(op: str, rule: str) -> None:
    layer = pooling((2, 3), (1, 1), op=op, tie_rule=rule)
    entries = symbolic_jacobian(layer, (2, 12))  # names x_0_9, x_0_10 sort differently from places
    for out, group in itertools.groupby(entries, key=lambda e: e[0]):
        window = list(group)
        terms = [entry_symbol("x", at) for _, at, _ in window]
        for t, (_, _, found) in enumerate(window):
            expected = by_constructors(op, rule, terms, t)
            assert found == expected and hash(found) == hash(expected), (out, t)
            assert sympy.srepr(found) == sympy.srepr(expected)


@pytest.mark.parametrize("rule", RULES)
def test_entries_are_whole_sympy_expressions(rule: str) -> None:
    entries = [e for *_, e in symbolic_jacobian(pooling((2, 2), (1, 1), tie_rule=rule), (2, 3))]
    again = [e for *_, e in symbolic_jacobian(pooling((2, 2), (1, 1), tie_rule=rule), (2, 3))]
    a = sympy.Symbol("a", real=True)
    for e, same in zip(entries, again, strict=True):
        assert e == same and hash(e) == hash(same)
        assert pickle.loads(pickle.dumps(e)) == e
        assert len(e.free_symbols) == 4 and str(e).startswith("Piecewise")
        z = min(e.free_symbols, key=str)
        assert a in e.xreplace({z: a}).free_symbols and a in e.subs(z, a).free_symbols
        assert e.subs(dict.fromkeys(e.free_symbols, 0)).is_number
        assert all(hasattr(n, "_argset") for n in sympy.preorder_traversal(e) if isinstance(n, (sympy.And, sympy.Max)))
        assert sympy.latex(e) and e.func(*e.args) == e and e.is_commutative


def test_the_garbage_collector_is_left_as_it_was() -> None:
    import gc

    frozen = gc.get_freeze_count()
    symbolic_jacobian(pooling((2,)), (4,))
    assert gc.isenabled() and gc.get_freeze_count() == frozen
    gc.disable()
    try:
        symbolic_jacobian(pooling((2,)), (4,))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_symbols_of_all_places_are_those_of_each() -> None:
    places = list(itertools.product(range(2), range(11)))
    for at, symbol in zip(places, entry_symbols("x", places), strict=True):
        assert symbol == entry_symbol("x", at) and hash(symbol) == hash(entry_symbol("x", at))
        assert symbol.is_real and symbol.is_commutative and symbol.assumptions0 == entry_symbol("x", at).assumptions0
        assert sympy.srepr(symbol) == sympy.srepr(entry_symbol("x", at)) and pickle.loads(pickle.dumps(symbol)) == symbol
