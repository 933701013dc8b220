"""Values and messages of every layer of the catalogue: listed is tested."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import derive
from derive.errors import CardError
from derive.layers import POOLINGS
from derive.layers.catalogue import Pooling
from derive.module import Module
from derive.numbers import Numbers
from derive.numeric.evaluator import evaluate
from derive.testing import assert_backward
from tests.layers.reference import reference, windows

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "avg_pool": [{}, {"count_include_pad": False}, {"divisor_override": 3}],
    "lp_pool": [{}, {"norm": 1}, {"norm": 3}, {"norm": 2.5}, {"norm": 1.5}],
    "lse_pool": [{}, {"sharpness": -2}, {"sharpness": 7.5}], "lme_pool": [{}, {"sharpness": 0.5}],
    "softmax_pool": [{}, {"sharpness": -1}, {"sharpness": 3}],
}
EMPTY = {"max_pool": -math.inf, "min_pool": math.inf, "sum_pool": 0.0, "lp_pool": 0.0, "lse_pool": -math.inf,
         "max_abs_pool": -math.inf, "avg_pool": math.nan, "lme_pool": math.nan, "softmax_pool": math.nan}


def base(name: str | None) -> str:
    return str(name).removeprefix("global_").removeprefix("adaptive_")


@st.composite
def geometries(draw: st.DrawFn, spec: Pooling) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Arguments of a layer's windows, and the shape of an input for them."""
    rank = draw(st.integers(1, 2 if draw(st.integers(0, 3)) else 3))

    def per_axis(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))

    shape = per_axis(1, 6 if rank < 3 else 4)
    if spec.form == "global":
        return {"dims": rank}, shape
    if spec.form == "adaptive":
        return {"output_size": per_axis(1, 5 if rank < 3 else 3)}, shape
    padding = tuple(zip(per_axis(0, 3), per_axis(0, 3), strict=True))
    return {"kernel_size": per_axis(1, 4 if rank < 3 else 2), "stride": per_axis(1, 3), "padding": padding,
            "dilation": per_axis(1, 3), "ceil_mode": draw(st.booleans())}, shape


@st.composite
def layers(draw: st.DrawFn, spec: Pooling) -> tuple[Module, np.ndarray[Any, Any], dict[str, Any]]:
    """A layer with some geometry and options, and an input whose entries differ; no window is empty."""
    arguments, shape = draw(geometries(spec))
    options = draw(st.sampled_from([o for o in OPTIONS.get(base(spec.name), [{}]) if {*o} <= {*spec.options}]))
    module = derive.layer(spec.name, **arguments, **options)
    field = module.receptive_field
    assume(field is None or (0 not in field.output_shape(shape) and not field.misses(shape)))
    if base(spec.name) == "median_pool":
        assume(all(len(cells) % 2 for cells, _ in windows(module, shape)[1]))
    order = draw(st.permutations(range(math.prod(shape))))
    return module, (np.array(order).reshape(shape) + 1) * np.where(np.array(order).reshape(shape) % 3, 0.25, -0.25), options


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
def test_values_and_messages_are_pytorch_s(spec: Pooling) -> None:
    pytest.importorskip("torch", reason="PyTorch is the oracle here")

    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def check(data: st.DataObject) -> None:
        module, x, options = data.draw(layers(spec))
        numbers = Numbers(module)
        y = numbers.forward(x=x)
        upstream = np.cos(np.arange(y.size, dtype=float)).reshape(y.shape)
        expected, gradient = reference(module, x, upstream, options)
        np.testing.assert_allclose(y, expected, rtol=1e-10, atol=1e-12)
        found = numbers.backward("x", upstream=upstream, x=x)
        np.testing.assert_allclose(found, gradient, rtol=1e-9, atol=1e-11)
        outputs, inputs, values = numbers.jacobian("x", sparse=True, x=x)
        dense = numbers.jacobian("x", x=x)
        rebuilt = np.zeros_like(dense)
        rebuilt[(*outputs.T, *inputs.T)] = values
        np.testing.assert_allclose(rebuilt, dense, atol=1e-12)
        np.testing.assert_allclose(np.tensordot(upstream, dense, y.ndim), found, rtol=1e-9, atol=1e-11)
        cells = {at: float(x[at]) for at in itertools.product(*map(range, x.shape))}
        by_loops = evaluate(module, {"x": cells}, {"x": x.shape})["f"]
        np.testing.assert_allclose([by_loops[at] for at in itertools.product(*map(range, y.shape))], y.reshape(-1), rtol=1e-10)

    check()


@pytest.mark.parametrize("spec", [s for s in POOLINGS if s.form == "window"], ids=lambda spec: spec.name)
def test_a_window_wholly_in_padding_has_the_value_of_nothing_and_no_gradient(spec: Pooling) -> None:
    kernel = 1 if spec.name == "median_pool" else 2
    numbers = Numbers(derive.layer(spec.name, kernel_size=(kernel,), stride=2, padding=2, **(
        {"count_include_pad": False} if spec.name == "avg_pool" else {})))
    x = np.array([2.0, -1, 3, 5])
    if spec.name == "median_pool":
        with pytest.raises(CardError, match="a window has 0 entries"):
            numbers.forward(x=x)
        return
    y = numbers.forward(x=x)
    np.testing.assert_equal([y[0], y[-1]], [EMPTY[spec.name]] * 2)
    assert np.isfinite(y[1:-1]).all()
    quiet = Numbers(derive.layer(spec.name, kernel_size=(kernel,), stride=2))
    upstream = np.array([100.0, 1, 10, 1000])
    np.testing.assert_allclose(numbers.backward("x", upstream=upstream, x=x), quiet.backward("x", upstream=[1, 10], x=x))


@pytest.mark.parametrize("name", ["max_pool", "min_pool", "max_abs_pool", "sum_pool", "lse_pool"])
def test_an_input_that_no_window_holds(name: str) -> None:
    numbers = Numbers(derive.layer(name, kernel_size=(1,), stride=3, padding=1))
    assert [part.size for part in numbers.jacobian("x", x=[5.0], sparse=True)] == [0, 0, 0]
    assert numbers.backward("x", upstream=[[7.0], [8]], x=[[5.0], [6]]).tolist() == [[0], [0]]


def test_an_average_may_count_padding_alone() -> None:
    numbers = Numbers(derive.layer("avg_pool", kernel_size=(2,), padding=2))
    assert numbers.forward(x=[2.0, 4]).tolist() == [0, 3, 0]
    assert numbers.backward("x", upstream=[7, 2, 7], x=[2.0, 4]).tolist() == [1, 1]


@pytest.mark.parametrize("rule", ["first", "last", "split"])
def test_infinite_entries_beat_padding(rule: str) -> None:
    for name, worst in (("max_pool", -np.inf), ("min_pool", np.inf), ("global_max_pool", -np.inf)):
        arguments: dict[str, Any] = {"dims": 1} if name.startswith("global") else {"kernel_size": (4,), "padding": (1,)}
        numbers = Numbers(derive.layer(name, tie_rule=rule, **arguments))
        x = np.full(2, worst)
        assert np.ravel(numbers.forward(x=x)).tolist() == [worst]
        found = numbers.backward("x", upstream=np.ones_like(numbers.forward(x=x)), x=x).tolist()
        assert found == {"first": [1, 0], "last": [0, 1], "split": [0.5, 0.5]}[rule]


def test_exponentials_hold_at_any_size() -> None:
    pytest.importorskip("torch", reason="PyTorch is the oracle here")
    for sharpness in (1000, -1000, 0.001):
        for name in ("lse_pool", "lme_pool", "softmax_pool"):
            numbers = Numbers(derive.layer(name, kernel_size=(3,), stride=1, sharpness=sharpness))
            x = np.array([500.0, -700, 800, 3, -2])
            y, gradient = numbers.forward(x=x), numbers.backward("x", upstream=[1, 1, 1], x=x)
            expected, back = reference(numbers.module, x, np.ones(3), {"sharpness": sharpness})
            np.testing.assert_allclose(y, expected, rtol=1e-12)
            np.testing.assert_allclose(gradient, back, atol=1e-12)


def test_exponentials_of_infinite_entries() -> None:
    numbers = Numbers(derive.layer("lse_pool", kernel_size=(3,)))
    x = np.array([-np.inf, 0, 1, np.inf, 2, -np.inf, -np.inf, -np.inf, -np.inf])
    assert numbers.forward(x=x).tolist() == [pytest.approx(np.log(1 + np.e)), np.inf, -np.inf]
    third = pytest.approx(1 / 3)
    assert numbers.backward("x", upstream=[0, 1, 1], x=x).tolist() == [0, 0, 0, 1, 0, 0, third, third, third]
    softmax = Numbers(derive.layer("softmax_pool", kernel_size=(3,)))
    assert softmax.forward(x=[-np.inf, 0, 0]).tolist() == [0]
    assert softmax.backward("x", upstream=[1], x=[-np.inf, 0, 0]).tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("norm", [1, 1.5, 2, 3])
def test_the_gradient_of_a_norm_is_0_at_0(norm: float) -> None:
    for name, arguments in (("lp_pool", {"kernel_size": (2,)}), ("global_lp_pool", {"dims": 1})):
        numbers = Numbers(derive.layer(name, norm=norm, **arguments))
        x = np.zeros(2)
        assert np.ravel(numbers.forward(x=x)).tolist() == [0]
        assert numbers.backward("x", upstream=np.ones_like(numbers.forward(x=x)), x=x).tolist() == [0, 0]
        assert not numbers.jacobian("x", x=x).any() and not len(numbers.jacobian("x", x=x, sparse=True)[2])


def test_the_slope_of_the_largest_absolute_value_is_0_at_0() -> None:
    numbers = Numbers(derive.layer("max_abs_pool", kernel_size=(2,)))
    assert numbers.backward("x", upstream=[1, 1, 1], x=[0, 0, -2, 2, 1, -3]).tolist() == [0, 0, -1, 0, 0, -1]


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
def test_leading_axes_are_batch_axes(spec: Pooling) -> None:
    arguments = {"window": {"kernel_size": (3, 1), "stride": 2}, "global": {}, "adaptive": {"output_size": (1, 3)}}[spec.form]
    numbers = Numbers(derive.layer(spec.name, **arguments))
    x = np.random.default_rng(2).permutation(2 * 4 * 15).reshape(2, 4, 5, 3)
    y = numbers.forward(x=x)
    upstream = np.random.default_rng(3).normal(size=y.shape)
    gradient = numbers.backward("x", upstream=upstream, x=x)
    assert y.dtype == gradient.dtype == np.float64 and gradient.shape == x.shape
    for at in np.ndindex(2, 4):
        np.testing.assert_allclose(numbers.forward(x=x[at]), y[at], rtol=1e-12)
        np.testing.assert_allclose(numbers.backward("x", upstream=upstream[at], x=x[at].astype(np.float32)), gradient[at],
                                   rtol=1e-12, atol=1e-14)


def test_what_is_no_number_is_named() -> None:
    numbers = Numbers(derive.layer("avg_pool", kernel_size=2))
    with pytest.raises(CardError, match=r"`x` is not a number \(NaN\) at \(1, 0\)"):
        numbers.forward(x=[[1, 2], [np.nan, 3]])
    with pytest.raises(CardError, match="the kernel spans 5 cells, but the padded input has only 4"):
        Numbers(derive.layer("sum_pool", kernel_size=(3,), dilation=2, padding=1)).forward(x=[1, 2])
    with pytest.raises(CardError, match="a window has 2 entries in the input: a median"):
        Numbers(derive.layer("median_pool", kernel_size=(3,), padding=1)).forward(x=[1, 2, 3])
    with pytest.raises(CardError, match="`y` is no input, parameter or constant"):
        numbers.backward("y", x=[[1, 2], [3, 4]])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_max_pooling_hands_the_whole_upstream_gradient_on(data: st.DataObject) -> None:
    """Σ δ_x = Σ δ_y where every window meets the input, whatever the ties."""
    arguments, shape = data.draw(geometries(next(s for s in POOLINGS if s.name == "max_pool")))
    rule = data.draw(st.sampled_from(["first", "last", "split"]))
    module = derive.layer("max_pool", tie_rule=rule, **arguments)
    assert module.receptive_field is not None
    assume(0 not in module.receptive_field.output_shape(shape) and not module.receptive_field.misses(shape))
    x = np.array(data.draw(st.lists(st.integers(0, 2), min_size=math.prod(shape), max_size=math.prod(shape)))).reshape(shape)
    numbers = Numbers(module)
    upstream = np.arange(1.0, 1 + numbers.forward(x=x).size).reshape(numbers.forward(x=x).shape)
    assert numbers.backward("x", upstream=upstream, x=x).sum() == pytest.approx(upstream.sum())


def test_the_published_loops_over_clipped_windows_are_right_with_ceil_mode() -> None:
    """The discussion's own function pools a 3×3 input by 2 into 2×2: its last windows are clipped."""
    def max_pool_backward(d_output: Any, x: Any) -> Any:
        d_input, size = np.zeros_like(x), 2
        for i in range(d_output.shape[0]):
            for j in range(d_output.shape[1]):
                region = x[i * size:(i + 1) * size, j * size:(j + 1) * size]
                at = np.unravel_index(np.argmax(region), region.shape)
                d_input[i * size:(i + 1) * size, j * size:(j + 1) * size][at] += d_output[i, j]
        return d_input

    numbers = Numbers(derive.layer("max_pool", kernel_size=2, ceil_mode=True))
    x = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])
    assert np.array_equal(numbers.backward("x", upstream=np.ones((2, 2)), x=x), max_pool_backward(np.ones((2, 2)), x))
    assert_backward(max_pool_backward, "max_pool", kernel_size=2, ceil_mode=True)
    with pytest.raises(AssertionError, match="shape"):
        assert_backward(lambda upstream, x: max_pool_backward(upstream, x)[:-1], "max_pool", kernel_size=2, ceil_mode=True)
