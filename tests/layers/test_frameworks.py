"""Pooling layers against PyTorch's, JAX's and ONNX's own, many geometries each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import derive
from derive.numbers import Numbers

Axes = tuple[int, ...]


def geometries(count: int, rank: int, seed: int) -> Iterator[dict[str, Any]]:
    """Kernel, stride, padding ≤ kernel/2, dilation, ceil_mode and an input's shape that gives an output."""
    rng = np.random.default_rng(seed)
    found = 0
    while found < count:
        kernel, stride, dilation = (tuple(map(int, rng.integers(1, high, rank))) for high in (5, 4, 4))
        padding = tuple(int(rng.integers(0, k // 2 + 1)) for k in kernel)
        shape = tuple(map(int, rng.integers(2, 9 if rank < 3 else 6, rank)))
        arguments = {"kernel_size": kernel, "stride": stride, "padding": padding, "ceil_mode": bool(rng.integers(2))}
        field = derive.layer("max_pool", dilation=dilation, **arguments).receptive_field
        assert field is not None
        if 0 not in field.output_shape(shape) and not field.misses(shape):
            found += 1
            yield {**arguments, "dilation": dilation, "shape": shape}


def agrees(numbers: Numbers, x: Any, theirs: Any) -> None:
    """Values and gradients of ours at x (two batch axes) are those of ``theirs``, a function in PyTorch."""
    import torch

    t = torch.tensor(x, requires_grad=True)
    f = theirs(t)
    y = numbers.forward(x=x)
    np.testing.assert_allclose(y, f.detach().numpy(), rtol=1e-12)
    upstream = np.random.default_rng(1).normal(size=y.shape)
    f.backward(torch.tensor(upstream))
    assert t.grad is not None
    np.testing.assert_allclose(numbers.backward("x", upstream=upstream, x=x), t.grad.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("rank", "count"), [(1, 25), (2, 25), (3, 8)])
def test_max_pooling_is_pytorch_s_at_ties_too(rank: int, count: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    rng = np.random.default_rng(0)
    pool = getattr(torch.nn.functional, f"max_pool{rank}d")
    for case in geometries(count, rank, 10 + rank):
        shape = case.pop("shape")
        x = rng.integers(-1, 3, (2, 1, *shape)).astype(float)
        agrees(Numbers(derive.layer("max_pool", **case)), x, lambda t, case=case: pool(t, **case))  # type: ignore[misc]


@pytest.mark.parametrize(("rank", "count"), [(1, 20), (2, 20), (3, 8)])
def test_average_pooling_is_pytorch_s(rank: int, count: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    rng = np.random.default_rng(0)
    pool = getattr(torch.nn.functional, f"avg_pool{rank}d")
    compared = 0
    for number, case in enumerate(geometries(count, rank, 20 + rank)):
        shape = case.pop("shape")
        case.pop("dilation")  # PyTorch has none here
        options: dict[str, Any] = {"count_include_pad": bool(number % 2)}
        if rank > 1 and number % 5 == 0:
            options["divisor_override"] = 7
        layer = derive.layer("avg_pool", **case, **options)
        assert layer.receptive_field is not None
        smaller = rank == 3 and any(n < k for n, k in zip(shape, case["kernel_size"], strict=True))
        if 0 in layer.receptive_field.output_shape(shape) or smaller:  # PyTorch refuses
            continue
        agrees(Numbers(layer), rng.normal(size=(2, 1, *shape)), lambda t, c=case, o=options: pool(t, **c, **o))  # type: ignore[misc]
        compared += 1
    assert compared > count // 3


@pytest.mark.parametrize(("rank", "count"), [(1, 15), (2, 15)])
def test_lp_pooling_is_pytorch_s(rank: int, count: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    rng = np.random.default_rng(0)
    pool = getattr(torch.nn.functional, f"lp_pool{rank}d")
    compared = 0
    for norm, case in zip(itertools.cycle((1, 2, 3, 4, 1.5)), geometries(count, rank, 30 + rank), strict=False):
        shape, kernel, stride = case["shape"], case["kernel_size"], case["stride"]
        if any(n < k for n, k in zip(shape, kernel, strict=True)):
            continue
        x = rng.normal(size=(2, 1, *shape))
        x = x if norm in (2, 4) else np.abs(x) + 0.1  # elsewhere PyTorch sums x^p, not |x|^p
        numbers = Numbers(derive.layer("lp_pool", kernel_size=kernel, stride=stride, norm_type=norm))
        plain = (kernel[0], stride[0]) if rank == 1 else (kernel, stride)
        agrees(numbers, x, lambda t, p=norm, a=plain: pool(t, p, *a))  # type: ignore[misc]
        compared += 1
    assert compared > count // 3


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_adaptive_pooling_is_pytorch_s(kind: str, rank: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    rng = np.random.default_rng(0)
    pool = getattr(torch.nn.functional, f"adaptive_{kind}_pool{rank}d")
    for _ in range(8):
        shape, size = (tuple(map(int, rng.integers(1, 8 if rank < 3 else 5, rank))) for _ in range(2))
        numbers = Numbers(derive.layer(f"adaptive_{kind}_pool", output_size=size))
        agrees(numbers, rng.integers(-1, 3, (2, 1, *shape)).astype(float), lambda t, size=size: pool(t, size))  # type: ignore[misc]


@pytest.mark.parametrize(("rank", "count"), [(1, 6), (2, 12), (3, 3)])
def test_any_padding_is_jax_s(rank: int, count: int) -> None:
    """Padding of any width at each end, dilation; windows wholly in padding have JAX's value of nothing."""
    jax = pytest.importorskip("jax", reason="JAX is the oracle here")
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(rank)

    def sizes(low: int, high: int) -> Axes:
        return tuple(map(int, rng.integers(low, high, rank)))

    for number in range(count):
        kernel, stride, dilation, shape = sizes(1, 4), sizes(1, 4), sizes(1, 3), sizes(1, 6)
        padding = tuple(zip(sizes(0, 6), sizes(0, 6), strict=True))
        name, start, join = (("max_pool", -np.inf, jax.lax.max), ("min_pool", np.inf, jax.lax.min),
                             ("sum_pool", 0.0, jax.lax.add))[number % 3]
        layer = derive.layer(name, kernel_size=kernel, stride=stride, padding=padding, dilation=dilation)
        assert layer.receptive_field is not None
        if 0 in layer.receptive_field.output_shape(shape):
            continue
        x, numbers = rng.integers(0, 3, shape).astype(float), Numbers(layer)

        def pool(a: Any, start: Any = start, join: Any = join, k: Any = kernel, s: Any = stride,
                 p: Any = padding, d: Any = dilation) -> Any:
            return jax.lax.reduce_window(a, start, join, k, s, p, window_dilation=d)

        y = numbers.forward(x=x)
        assert np.array_equal(y, pool(x)), layer.receptive_field
        if set(dilation) == {1}:  # JAX has no gradient of a dilated window
            upstream = rng.normal(size=y.shape)
            np.testing.assert_allclose(numbers.backward("x", upstream=upstream, x=x), jax.vjp(pool, x)[1](upstream)[0],
                                       atol=1e-12)


SQUARE = {n: np.arange(1.0, n * n + 1).reshape(n, n) for n in (2, 3, 4, 5)}
ONNX = [  # the node tests of ONNX that have numbers: (name, input's size, layer, arguments, output)
    ("maxpool_2d_precomputed_pads", 5, "max_pool", {"kernel_size": 5, "stride": 1, "padding": 2},
     [[13, 14, 15, 15, 15], [18, 19, 20, 20, 20], *[[23, 24, 25, 25, 25]] * 3]),
    ("maxpool_2d_precomputed_same_upper", 5, "max_pool",
     {"kernel_size": 3, "stride": 2, "padding": "same", "input_size": (5, 5)}, [[7, 9, 10], [17, 19, 20], [22, 24, 25]]),
    ("maxpool_2d_precomputed_strides", 5, "max_pool", {"kernel_size": 2}, [[7, 9], [17, 19]]),
    ("maxpool_2d_ceil", 4, "max_pool", {"kernel_size": 3, "stride": 2, "ceil_mode": True}, [[11, 12], [15, 16]]),
    ("maxpool_2d_ceil_output_size_reduce_by_one", 2, "max_pool", {"kernel_size": 1, "stride": 2, "ceil_mode": True}, [[1]]),
    ("maxpool_2d_dilations", 4, "max_pool", {"kernel_size": 2, "stride": 1, "dilation": 2}, [[11, 12], [15, 16]]),
    ("averagepool_2d_precomputed_pads", 5, "avg_pool",
     {"kernel_size": 5, "stride": 1, "padding": 2, "count_include_pad": False},
     [[7, 7.5, 8, 8.5, 9], [9.5, 10, 10.5, 11, 11.5], [12, 12.5, 13, 13.5, 14], [14.5, 15, 15.5, 16, 16.5],
      [17, 17.5, 18, 18.5, 19]]),
    ("averagepool_2d_precomputed_pads_count_include_pad", 5, "avg_pool", {"kernel_size": 5, "stride": 1, "padding": 2},
     [[2.52, 3.6, 4.8, 4.08, 3.24], [4.56, 6.4, 8.4, 7.04, 5.52], [7.2, 10, 13, 10.8, 8.4], [6.96, 9.6, 12.4, 10.24, 7.92],
      [6.12, 8.4, 10.8, 8.88, 6.84]]),
    ("averagepool_2d_precomputed_same_upper", 5, "avg_pool",
     {"kernel_size": 3, "stride": 2, "padding": "same", "input_size": (5, 5), "count_include_pad": False},
     [[4, 5.5, 7], [11.5, 13, 14.5], [19, 20.5, 22]]),
    ("averagepool_2d_precomputed_strides", 5, "avg_pool", {"kernel_size": 2}, [[4, 6], [14, 16]]),
    ("averagepool_2d_ceil", 4, "avg_pool", {"kernel_size": 3, "stride": 2, "ceil_mode": True}, [[6, 7.5], [12, 13.5]]),
    ("averagepool_2d_dilations", 4, "avg_pool", {"kernel_size": 2, "stride": 1, "dilation": 2}, [[6, 7], [10, 11]]),
    ("globalaveragepool_precomputed", 3, "global_avg_pool", {}, 5),
    ("globalmaxpool_precomputed", 3, "global_max_pool", {}, 9),
]


@pytest.mark.parametrize(("name", "size", "layer", "arguments", "output"), ONNX, ids=[case[0] for case in ONNX])
def test_onnx_node_tests(name: str, size: int, layer: str, arguments: dict[str, Any], output: Any) -> None:
    np.testing.assert_allclose(Numbers(derive.layer(layer, **arguments)).forward(x=SQUARE[size]), output)
