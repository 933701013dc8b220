"""Forward, Jacobian and backward on arrays, against frameworks, hand-worked examples and the evaluator."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import derive
from derive.errors import CardError
from derive.expr import (
    ONE,
    OTHERWISE,
    ZERO,
    Bracket,
    Cases,
    Entry,
    Expr,
    Fn,
    Idx,
    Mul,
    Num,
    Reduce,
    Rel,
    Tuple,
    eq,
    mul,
)
from derive.module import Module
from derive.notation import gather, read
from derive.numbers import Numbers
from derive.numeric.evaluator import evaluate
from derive.numeric.gather import gather as entries_at
from derive.numeric.vectorised import backward, forward, jacobian
from tests.calculus.zoo import Layer, module_from
from tests.numeric.modules import arg, message, pooling, starred
from tests.numeric.modules import jacobian as jacobian_formula

GEOMETRIES = {
    "2x2/2": ((2, 2), (2, 2), (0, 0)),
    "3x3/2 pad 1": ((3, 3), (2, 2), (1, 1)),
    "3x3/1": ((3, 3), (1, 1), (0, 0)),
    "2x2/3, gaps": ((2, 2), (3, 3), (0, 0)),
    "1x4/1x2": ((1, 4), (1, 2), (0, 0)),
}
Geometry = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def written_out(formula: tuple[Entry, Expr]) -> tuple[Entry, Expr]:
    """The same message in a form that is not recognised as a scatter-add."""
    left, value = formula
    return left, Mul((value, Bracket(eq(left.indices[0], left.indices[0]))))


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("geometry", GEOMETRIES.values(), ids=GEOMETRIES)
def test_agrees_with_pytorch(geometry: Geometry, ties: bool) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    kernel, stride, padding = geometry
    layer, rng = pooling(*geometry), np.random.default_rng(7)
    for shape in ((7, 9), (2, 8, 8), (2, 3, 6, 11)):
        x = rng.integers(-1, 2, shape) if ties else rng.normal(size=shape)
        t = torch.tensor(x.reshape(1, -1, *shape[-2:]), dtype=torch.float64, requires_grad=True)
        f = torch.nn.functional.max_pool2d(t, kernel, stride, padding)
        y = forward(layer, {"x": x})
        assert np.array_equal(y, f.detach().numpy().reshape(y.shape))
        upstream = rng.normal(size=y.shape)
        f.backward(torch.tensor(upstream.reshape(f.shape)))
        for formula in (message(layer), written_out(message(layer))):
            found = backward(layer, formula, "x", upstream, {"x": x})
            np.testing.assert_allclose(found, t.grad.numpy().reshape(x.shape), atol=1e-12)


@pytest.mark.parametrize(("kernel", "stride", "padding"), [
    ((2, 2), (1, 1), (3, 3)), ((3, 2), (2, 3), (2, 5)), ((2,), (1,), (2,)), ((2, 1, 3), (1, 2, 2), (3, 0, 1)),
])
def test_agrees_with_jax_where_padding_is_larger_than_the_kernel(kernel: Any, stride: Any, padding: Any) -> None:
    jax = pytest.importorskip("jax", reason="JAX is the oracle here")
    jax.config.update("jax_enable_x64", True)
    layer, rng = pooling(kernel, stride, padding), np.random.default_rng(3)
    x = rng.integers(0, 3, (5, 4, 6)[:len(kernel)]).astype(float)

    def pool(a: Any) -> Any:
        return jax.lax.reduce_window(a, -np.inf, jax.lax.max, kernel, stride, [(p, p) for p in padding])

    y, pull = jax.vjp(pool, x)
    assert np.array_equal(forward(layer, {"x": x}), y)
    upstream = rng.normal(size=y.shape)
    found = backward(layer, message(layer), "x", upstream, {"x": x})
    np.testing.assert_allclose(found, pull(upstream)[0], atol=1e-12)


HAND_WORKED = {  # 3×3 of ones, 2×2 stride 1, upstream 1, 10, 100, 1000
    "first": [[1, 10, 0], [100, 1000, 0], [0, 0, 0]],
    "last": [[0, 0, 0], [0, 1, 10], [0, 100, 1000]],
    "split": [[.25, 2.75, 2.5], [25.25, 277.75, 252.5], [25, 275, 250]],
}


@pytest.mark.parametrize("tie_rule", HAND_WORKED)
@pytest.mark.parametrize("form", [message, lambda m: written_out(message(m))], ids=["scatter", "gather"])
def test_tie_rules_by_hand(tie_rule: str, form: Any) -> None:
    layer = pooling((2, 2), (1, 1), tie_rule=tie_rule)
    found = backward(layer, form(layer), "x", [[1, 10], [100, 1000]], {"x": np.ones((3, 3))})
    assert found.tolist() == HAND_WORKED[tie_rule]


@pytest.mark.parametrize("op", ["max", "min"])
def test_infinities_in_the_input_beat_padding(op: str) -> None:
    layer = pooling((2,), (1,), (2,), op=op)
    x = np.full(3, -np.inf if op == "max" else np.inf)
    y = forward(layer, {"x": x})
    assert np.array_equal(y, np.full(6, x[0]))
    assert backward(layer, message(layer), "x", [1., 2, 4, 8, 16, 32], {"x": x}).tolist() == [6, 8, 16]


@pytest.mark.parametrize("tie_rule", ["first", "last", "split"])
def test_all_ways_to_write_the_jacobian_agree(tie_rule: str) -> None:
    layer = pooling((2, 3), (1, 2), (1, 0), tie_rule=tie_rule)
    x = np.random.default_rng(5).integers(0, 2, (4, 7))
    left, bracket = jacobian_formula(layer)
    assert isinstance(bracket, Bracket)
    stars, definitions = starred(layer)
    place = Tuple((Idx("i"), Idx("j")))
    by_star = Cases(((ONE, eq(place, Tuple(stars))), (ZERO, OTHERWISE)))
    dense = jacobian(layer, (left, bracket), "x", {"x": x})
    assert isinstance(dense, np.ndarray) and dense.shape == (5, 3, 4, 7)
    assert np.allclose(jacobian(layer, (left, by_star), "x", {"x": x}, definitions=definitions), dense)
    outputs, inputs, values = jacobian(layer, (left, by_star), "x", {"x": x}, sparse=True, definitions=definitions)
    rebuilt = np.zeros_like(dense)
    rebuilt[(*outputs.T, *inputs.T)] = values
    assert np.allclose(rebuilt, dense) and len(values) == np.count_nonzero(dense)
    assert outputs.shape == (len(values), 2) and inputs.shape == (len(values), 2)
    upstream = np.random.default_rng(6).normal(size=(5, 3))
    np.testing.assert_allclose(backward(layer, message(layer), "x", upstream, {"x": x}),
                               np.tensordot(upstream, dense, 2), atol=1e-12)


def test_the_given_formula_is_what_is_evaluated() -> None:
    layer, x = pooling((2, 2)), np.arange(16.).reshape(4, 4)
    left, value = jacobian_formula(layer)
    doubled = jacobian(layer, (left, mul(Num(2), value)), "x", {"x": x})
    assert isinstance(doubled, np.ndarray) and doubled.sum() == 8
    entry, whole = message(layer)
    upstream = np.array([[1., 2], [3, 4]])
    good = backward(layer, (entry, whole), "x", upstream, {"x": x})
    assert good[1, 1] == 1 and good[1, 3] == 2
    halved = backward(layer, (entry, mul(Num(2), whole)), "x", upstream, {"x": x})
    assert np.array_equal(halved, 2 * good)
    everywhere = Reduce("sum", whole.binder, Entry("delta_f", whole.binder.variables))  # type: ignore[attr-defined]
    assert backward(layer, (entry, everywhere), "x", upstream, {"x": x})[0, 0] == 1


def test_the_tiled_form_needs_its_guard_at_an_odd_rest() -> None:
    layer = pooling((2,))
    half = Fn("floor", (mul(Num("1/2"), Idx("i")),))
    hit = Bracket(eq(Idx("i"), arg(layer, (half,))))
    formula = (Entry("delta_x", (Idx("i"),)), Mul((Entry("delta_f", (half,)), hit)))
    assert backward(layer, formula, "x", [5., 7], {"x": [1., 2, 4, 3]}).tolist() == [0, 5, 7, 0]
    with pytest.raises(CardError, match="out of range"):
        backward(layer, formula, "x", [5., 7], {"x": [1., 2, 4, 3, 9]})


BAD_INPUT: list[tuple[dict[str, Any], str]] = [
    ({}, "`x` is missing"),
    ({"x": np.ones((4, 4)), "z": 1}, "unknown array `z`"),
    ({"x": np.ones(4)}, r"shape \(4,\).*at least 2 axes"),
    ({"x": np.array([[1, 2], [3, np.nan]])}, r"NaN\) at \(1, 1\)"),
    ({"x": [["a", "b"]]}, "not an array of real numbers"),
    ({"x": [["1", "2"]]}, "not an array of real numbers"),
    ({"x": [[1, 2j]]}, "not an array of real numbers"),
    ({"x": [[1, None]]}, "not an array of real numbers"),
    ({"x": [[10**400, 1]]}, "not an array of real numbers"),
    ({"x": np.zeros((2, 2), [("a", int)])}, "not an array of real numbers"),
    ({"x": np.ma.masked_equal([[1, 2]], 2)}, "not an array of real numbers"),
    ({"x": np.ones((1, 4))}, "spans 2 cells.*only 1"),
]


@pytest.mark.parametrize(("arrays", "message_part"), BAD_INPUT, ids=[m for _, m in BAD_INPUT])
def test_bad_input_is_named(arrays: dict[str, Any], message_part: str) -> None:
    with pytest.raises(CardError, match=message_part):
        forward(pooling((2, 2)), arrays)


def test_the_upstream_gradient_must_have_the_output_s_shape() -> None:
    layer = pooling((2, 2))
    with pytest.raises(CardError, match=r"`upstream` has shape \(3, 3\), but the output has \(2, 2\)"):
        backward(layer, message(layer), "x", np.ones((3, 3)), {"x": np.ones((4, 4))})
    with pytest.raises(CardError, match="batch"):
        jacobian(layer, jacobian_formula(layer), "x", {"x": np.ones((2, 4, 4))})


R = np.random.default_rng(7).standard_normal


@pytest.mark.parametrize(
    ("formula", "wrt", "arrays"),
    [
        (r"y_i = \tanh(x_i)", "x", {"x": R(5)}),
        (r"y_k = \sum_j W_{kj} x_j + b_k", "W", {"W": R((4, 3)), "x": R(3), "b": R(4)}),
        (r"y_k = \sum_j W_{kj} x_j + b_k", "x", {"W": R((3, 0)), "x": R(0), "b": R(3)}),
        (r"p_k = e^{z_k} / \sum_j e^{z_j}", "z", {"z": R(4)}),
        (r"p_k = e^{z_k} / \sum_j e^{z_j}", "z", {"z": R(0)}),
        (r"Y_{ij} = X_{ji}", "X", {"X": R((2, 3))}),
        (r"\ell = \sum_i x_i^2", "x", {"x": R(3)}),
    ],
)
def test_sparse_entries_are_those_of_the_dense_jacobian(formula: str, wrt: str, arrays: dict[str, Any]) -> None:
    """Also of arrays without entries: NumPy's answer has the shapes that follow."""
    layer = derive.solve(formula=formula)
    dense, (out, into, found) = (layer.jacobian(wrt, sparse=sparse, **arrays) for sparse in (False, True))
    y = layer.forward(**arrays)
    assert dense.shape == (*y.shape, *arrays[wrt].shape)
    made = np.zeros_like(dense)
    made[tuple(np.concatenate([out, into], axis=1).T)] = found
    assert np.array_equal(made, dense)
    assert np.allclose(layer.backward(wrt, upstream=np.ones(y.shape), **arrays), dense.sum(tuple(range(y.ndim))))


def test_a_jacobian_that_would_not_fit_names_the_sparse_one() -> None:
    layer, x = derive.solve(formula=r"y_i = \tanh(x_i)"), np.zeros(20_000)
    with pytest.raises(CardError, match="has 400,000,000 entries, more than 200,000,000; `sparse=True`"):
        layer.jacobian("x", x=x)
    assert len(layer.jacobian("x", sparse=True, x=x)[2]) == len(x)
    with pytest.raises(CardError, match="the max of no entries has no value"):
        derive.solve(formula=r"m = \max_i x_i").forward(x=x[:0])


def test_other_number_types_become_float64() -> None:
    for dtype in (np.int8, np.float32, bool):
        assert forward(pooling((1,)), {"x": np.ones(2, dtype)}).dtype == np.float64


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_geometry_agrees_with_the_evaluator(data: st.DataObject) -> None:
    layer, x = data.draw(layers_and_inputs())
    cells = {at: float(x[at]) for at in itertools.product(*map(range, x.shape))}
    expected = evaluate(layer, {"x": cells}, {"x": x.shape})["f"]
    y = forward(layer, {"x": x})
    assert {at: y[at] for at in itertools.product(*map(range, y.shape))} == expected


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_backward_is_the_adjoint_of_the_jacobian(data: st.DataObject) -> None:
    layer, x = data.draw(layers_and_inputs())
    upstream = np.arange(1., 1 + forward(layer, {"x": x}).size).reshape(forward(layer, {"x": x}).shape)
    v = np.arange(x.size).reshape(x.shape) ** 2 - 3.
    dense = jacobian(layer, jacobian_formula(layer), "x", {"x": x})
    found = backward(layer, message(layer), "x", upstream, {"x": x})
    assert isinstance(dense, np.ndarray)
    np.testing.assert_allclose(np.sum(upstream * np.tensordot(dense, v, x.ndim)), np.sum(found * v))
    np.testing.assert_allclose(backward(layer, written_out(message(layer)), "x", upstream, {"x": x}), found)


@st.composite
def layers_and_inputs(draw: st.DrawFn) -> tuple[Module, np.ndarray[Any, np.dtype[np.float64]]]:
    """A layer of 1 to 3 axes, any kernel, stride, padding and tie rule, and a small input with ties."""
    axes = draw(st.integers(1, 3))
    sizes = st.integers(1, 3 if axes < 3 else 2)
    kernel, stride = (tuple(draw(st.lists(sizes, min_size=axes, max_size=axes))) for _ in range(2))
    padding = tuple(draw(st.lists(st.integers(0, 3 if axes < 3 else 1), min_size=axes, max_size=axes)))
    shape = tuple(draw(st.integers(max(1, k - 2 * p), 5 if axes < 3 else 3)) for k, p in zip(kernel, padding, strict=True))
    op, rule = draw(st.sampled_from(["max", "min"])), draw(st.sampled_from(["first", "last", "split"]))
    values = draw(st.lists(st.integers(-2, 2), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return pooling(kernel, stride, padding, op, rule), np.array(values, float).reshape(shape)


def test_a_star_inside_a_sum_over_a_whole_axis_keeps_its_own_letters() -> None:
    """Σ_k δ_k b_k c_{i^*(k)}: the maximum that i^* belongs to has sums of its own."""
    table = gather([formula := r"s_k = \max_i \left( c_i \sum_j b_k x_j \right)"])
    equation = read(formula, table)
    assert isinstance(equation, Rel)
    numbers = Numbers(Module((equation,), table, "s", ("b", "c", "x")))
    arrays = {"b": [1.0, -1], "x": [1.0, 2, 3], "c": [2.0, 5, -1]}
    assert numbers.forward(**arrays).tolist() == [30, 6]
    assert numbers.backward("x", upstream=[1, 10], **arrays).tolist() == [15, 15, 15]


def test_split_shares_a_maximum_whose_place_other_factors_read(tmp_path: Path) -> None:
    """y = max_i x_i − max_k h_k, h_k = Σ_j W_kj x_j: each of m maximisers of h counts 1/m, with its own row of W."""
    card = tmp_path / "split.md"
    card.write_text("---\ntype: question\nid: split\ntie_rule: split\n---\n# Question\n$$ h_k = \\sum_j W_{kj} x_j $$\n"
                    "$$ y = \\max_i x_i - \\max_k h_k $$\nDerive the backward message of this layer.\n", encoding="utf-8")
    solution = derive.solve(card)
    x = np.array([[1.0, 2.0, 2.0], [3.0, 0.0, 0.0]])
    w = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
    for row, own, of_h in zip(x, ([0, 0.5, 0.5], [1, 0, 0]), ([0.5, 0.5, 0], [0.5, 0.5, 0]), strict=True):
        shares = np.array(of_h)
        found = {name: solution.backward(name, upstream=2.0, x=row, W=w) for name in ("x", "W")}
        np.testing.assert_allclose(found["x"], 2 * (np.array(own) - shares @ w))
        np.testing.assert_allclose(found["W"], -2 * np.outer(shares, row))
    batch = solution.backward("x", upstream=np.ones(2), x=x, W=np.stack([w, w]))
    np.testing.assert_allclose(batch, [solution.backward("x", upstream=1.0, x=row, W=w) for row in x])


def test_a_batch_as_large_as_the_grid_is_a_batch() -> None:
    rows, places = np.arange(15.0).reshape(5, 3), np.random.default_rng(1).integers(0, 3, (5, 3))
    np.testing.assert_array_equal(entries_at(rows, [places], 2), [row[places] for row in rows])
    own = np.random.default_rng(2).integers(0, 3, (5, 4, 3))  # places of each batch entry's own
    np.testing.assert_array_equal(entries_at(rows, [own], 2), [row[at] for row, at in zip(rows, own, strict=True)])


def test_windows_over_windows_in_a_batch() -> None:
    formulas = (r"h_k = \max_{0 \le a < 2} x_{2k+a}", r"y_k = \max_{0 \le a < 2} h_{2k+a}")
    numbers = Numbers(module_from(Layer("twice", formulas, {"x": (12,)})))
    x = np.random.default_rng(1).permutation(36).astype(float).reshape(3, 12)
    upstream = np.random.default_rng(2).normal(size=numbers.forward(x=x).shape)
    found = numbers.backward("x", upstream=upstream, x=x)
    np.testing.assert_allclose(found, [numbers.backward("x", upstream=g, x=row) for g, row in zip(upstream, x, strict=True)])
    assert (found != 0).sum() == upstream.size
