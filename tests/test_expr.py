"""The language as data: one object for expressions that differ in bound names alone."""

import gc
import pickle

from hypothesis import given
from hypothesis import strategies as st

from derive import expr
from derive.expr import (
    ONE,
    ZERO,
    Add,
    Arg,
    Entry,
    Idx,
    In,
    Mul,
    Num,
    Reduce,
    SetApp,
    Tuple,
    add,
    free_indices,
    mul,
    over,
    rel,
    subst,
    transform,
)

I, J, K, L, M = map(Idx, "ijklm")


def window_max(i: Idx, j: Idx, k: Idx = K, l: Idx = L) -> Reduce:
    return Reduce("max", over((i, j), In(Tuple((i, j)), SetApp("Omega", (k, l)))), Entry("x", (i, j)))


def test_bound_names_do_not_matter() -> None:
    assert window_max(I, J) is window_max(M, Idx("n"))
    assert window_max(I, J) is not window_max(J, I, L, K)


def test_nested_binders_are_numbered_from_inside() -> None:
    def nested(a: Idx, b: Idx) -> Reduce:
        inner = Reduce("sum", over((b,), rel(b, "<", a)), Entry("w", (a, b)))
        return Reduce("max", over((a,), rel(a, "<", K)), inner)

    assert nested(I, J) is nested(J, I) is nested(M, I)


def test_substitution_does_not_capture() -> None:
    """Σ_j W_{kj} with k := j keeps the two apart."""
    total = Reduce("sum", over((J,), rel(J, "<", M)), Entry("W", (K, J)))
    moved = subst(total, {K: J})
    assert free_indices(moved) == {J, M}
    assert moved is Reduce("sum", over((I,), rel(I, "<", M)), Entry("W", (J, I)))
    assert subst(total, {J: K}) is total


def test_an_argmax_under_a_sum_survives_a_change_of_names() -> None:
    def message(k: Idx, i: Idx) -> Reduce:
        arg = Arg("max", over((i,), In(i, SetApp("R", (k,)))), Entry("x", (i,)))
        return Reduce("sum", over((k,), In(M, SetApp("R", (k,)))), Mul((Entry("d", (k,)), Add((M, arg)))))

    assert message(K, I) is message(I, K) is message(L, J)


def test_nodes_are_pickled_to_themselves() -> None:
    expr = window_max(I, J)
    assert pickle.loads(pickle.dumps(expr)) is expr


def test_transform_leaves_what_no_rule_changes() -> None:
    expr = window_max(I, J)
    assert transform(expr, lambda _: None) is expr
    assert transform(expr, lambda n: ZERO if isinstance(n, Entry) else None).body is ZERO


def test_a_node_is_one_as_long_as_it_is_held_and_kept_no_longer_than_others_are_made() -> None:
    held, loose = Mul((I, Idx("held"))), ("loose",)
    Mul((I, Idx(*loose)))
    expr._let_go()
    assert Mul((I, Idx("held"))) is held
    assert (Idx, *loose) not in expr._older and (Idx, "held") in expr._older


def test_rewriting_leaves_nothing_to_the_collector() -> None:
    expr = Reduce("sum", over((Idx("q"),), rel(Idx("q"), "<", Idx("k"))), Entry("x", (Idx("q"), Idx("j"))))
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)  # what other threads leave meanwhile, such as those of the test runner, is not ours
    try:
        transform(subst(expr, {Idx("j"): Idx("u")}), lambda n: ZERO if isinstance(n, Entry) else None)
        gc.collect()
        ours = [o for o in gc.garbage if str(getattr(o, "__module__", None) or type(o).__module__).startswith("derive")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert ours == []


@given(st.lists(st.fractions(max_denominator=9), min_size=1, max_size=4))
def test_numbers_are_gathered(values: list) -> None:  # type: ignore[type-arg]
    numbers = [Num(v) for v in values]
    assert add(*numbers) is Num(sum(values))
    total = ONE.value
    for v in values:
        total *= v
    assert mul(*numbers) is Num(total)


def test_order_is_kept_as_written() -> None:
    assert Add((I, J)) is not Add((J, I))
    assert add(I, ZERO, J) is Add((I, J))
    assert mul(I, ZERO) is ZERO
    assert mul(I, Num(2)) is Mul((Num(2), I))
