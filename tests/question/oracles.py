"""What layers compute, in NumPy, to hold cards against: by name, with a shape for each argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Oracle:
    """A layer's function, the shapes of its arguments in order, and how to draw those that are special."""

    compute: Callable[..., Any]
    shapes: tuple[Shape, ...]
    draw: dict[int, str] = field(default_factory=dict)  # argument → positive, binary, sign, simplex, onehot, 1..5, a number

    @property
    def whole(self) -> set[int]:
        """The arguments that are no letters to differentiate by: strides, and labels, which count from their first."""
        return {n for n, kind in self.draw.items() if kind[0].isdigit()}

    def arrays(self, rng: np.random.Generator) -> list[Array]:
        found = []
        for n, shape in enumerate(self.shapes):
            values = rng.normal(size=shape)
            match self.draw.get(n):
                case "positive":
                    values = np.abs(values) + 0.2
                case "unit":
                    values = 0.1 + 0.8 * rng.random(size=shape)
                case "binary":
                    values = (values > 0).astype(float)
                case "sign":
                    values = np.where(values < 0, -1.0, 1.0)
                case "simplex":
                    values = np.exp(values) / np.exp(values).sum(-1, keepdims=True)
                case "onehot":
                    values = np.eye(shape[-1])[rng.integers(0, shape[-1], size=shape[:-1])]
                case str(kind) if ".." in kind:
                    first, last = map(int, kind.split(".."))
                    values = rng.integers(first, last + 1, size=shape)
                case str(kind) if kind.isdigit():
                    values = np.array(int(kind))
            found.append(np.asarray(values, float))
        return found


def sigmoid(s: Any) -> Any:
    return 1 / (1 + np.exp(-s))


def gelu(s: Any) -> Any:
    return s / 2 * (1 + math.erf(s / math.sqrt(2)))


def softmax(z: Array) -> Array:
    return np.exp(z) / np.exp(z).sum()


def conv1d(w: Array, x: Array, b: Any = 0.0, stride: int = 1) -> Array:
    out = (len(x) - len(w)) // stride + 1
    return np.array([w @ x[k * stride : k * stride + len(w)] for k in range(out)]) + b


def conv2d(w: Array, x: Array, b: Any = 0.0, stride: int = 1) -> Array:
    p, q = w.shape
    out = [(n - m) // stride + 1 for n, m in zip(x.shape, w.shape, strict=True)]
    return np.array([[(w * x[k * stride : k * stride + p, m * stride : m * stride + q]).sum() for m in range(out[1])]
                     for k in range(out[0])]) + b


def batch_norm(x: Array, gamma: Any, beta: Any, eps: Any) -> Array:
    return gamma * (x - x.mean(0)) / np.sqrt(x.var(0) + eps) + beta


def bce(y: Any, t: Any) -> Any:
    return -(t * np.log(y) + (1 - t) * np.log(1 - y))


def attention(q: Array, k: Array, v: Array) -> Array:
    return softmax(k @ q / np.sqrt(len(q))) @ v


def windows(x: Array, size: Shape, stride: Shape, reduce: Callable[[Array], Any]) -> Array:
    out = [(n - k) // s + 1 for n, k, s in zip(x.shape, size, stride, strict=True)]
    found = np.zeros(out)
    for at in np.ndindex(*out):
        found[at] = reduce(x[tuple(slice(a * s, a * s + k) for a, s, k in zip(at, stride, size, strict=True))])
    return found


V, M, S = (4,), (3, 4), ()
ORACLES: dict[str, Oracle] = {
    "relu": Oracle(lambda x: np.maximum(0, x), (V,)),
    "relu_s": Oracle(lambda x: np.maximum(0, x), (S,)),
    "leaky": Oracle(lambda x, a: np.where(x > 0, x, a * x), (V, S)),
    "leaky_s": Oracle(lambda x, a: np.where(x > 0, x, a * x), (S, S)),
    "leaky01_s": Oracle(lambda x: np.where(x > 0, x, 0.01 * x), (S,)),
    "leaky01": Oracle(lambda x: np.where(x > 0, x, 0.01 * x), (V,)),
    "max_prelu": Oracle(lambda x, a: np.maximum(x, a * x), (V, S)),
    "max_prelu_s": Oracle(lambda x, a: np.maximum(x, a * x), (S, S)),
    "prelu_slope": Oracle(lambda x, a: np.maximum(0, x) + a * np.minimum(0, x), (V, S), {1: "unit"}),
    "linear_relu0": Oracle(lambda w, x: np.maximum(0, w @ x), (M, V)),
    "prelu_k": Oracle(lambda x, a: np.where(x > 0, x, a * x), (V, V)),
    "elu": Oracle(lambda x, a: np.where(x > 0, x, a * (np.exp(x) - 1)), (V, S)),
    "elu_one": Oracle(lambda x: np.where(x > 0, x, np.exp(x) - 1), (S,)),
    "elu_s": Oracle(lambda x, a: np.where(x > 0, x, a * (np.exp(x) - 1)), (S, S)),
    "sigmoid": Oracle(sigmoid, (V,)),
    "sigmoid_s": Oracle(sigmoid, (S,)),
    "tanh": Oracle(np.tanh, (V,)),
    "tanh_s": Oracle(np.tanh, (S,)),
    "softplus": Oracle(lambda x: np.log1p(np.exp(x)), (V,)),
    "softplus_s": Oracle(lambda x: np.log1p(np.exp(x)), (S,)),
    "swish_s": Oracle(lambda x: x * sigmoid(x), (S,)),
    "huber": Oracle(lambda y, t, d: np.where(abs(y - t) <= d, 0.5 * (y - t) ** 2, d * (abs(y - t) - d / 2)),
                    (S, S, S), {2: "positive"}),
    "huber1": Oracle(lambda r: np.where(abs(r) <= 1, 0.5 * r**2, abs(r) - 0.5), (S,)),
    "absolute": Oracle(lambda y, t: np.abs(y - t).sum(), (V, V)),
    "mean_absolute": Oracle(lambda y, t: np.abs(y - t).mean(), (V, V)),
    "squared": Oracle(lambda y, t: 0.5 * ((y - t) ** 2).sum(), (V, V)),
    "squared_s": Oracle(lambda y, t: 0.5 * (y - t) ** 2, (S, S)),
    "squared1_s": Oracle(lambda y, t: (y - t) ** 2, (S, S)),
    "mse": Oracle(lambda y, t: ((y - t) ** 2).mean(), (V, V)),
    "squared_log": Oracle(lambda y, t: (np.log1p(y) - np.log1p(t)) ** 2, (S, S), {0: "positive", 1: "positive"}),
    "squared_log_sum": Oracle(lambda y, t: ((np.log1p(y) - np.log1p(t)) ** 2).sum(), (V, V),
                              {0: "positive", 1: "positive"}),
    "squared_log_mean": Oracle(lambda y, t: ((np.log1p(y) - np.log1p(t)) ** 2).mean(), (V, V),
                               {0: "positive", 1: "positive"}),
    "hinge": Oracle(lambda w, x, b, t: np.maximum(0, 1 - t * (w @ x + b)), (V, V, S, S), {3: "sign"}),
    "hinge_s": Oracle(lambda s, t: np.maximum(0, 1 - t * s), (S, S), {1: "sign"}),
    "neuron_bce": Oracle(lambda w, x, b, t: bce(sigmoid(w @ x + b), t), (V, V, S, S), {3: "binary"}),
    "bce_s": Oracle(bce, (S, S), {0: "unit", 1: "binary"}),
    "sigmoid_neuron": Oracle(lambda w, x, b: sigmoid(w @ x + b), (V, V, S)),
    "tanh_neuron": Oracle(lambda w, x, b: np.tanh(w @ x + b), (V, V, S)),
    "logistic": Oracle(lambda w, x, t: np.log1p(np.exp(-t * (w @ x))), (V, V, S), {2: "sign"}),
    "logistic_samples": Oracle(lambda w, x, t: bce(sigmoid(x @ w), t).sum(), (V, (5, 4), (5,)), {2: "binary"}),
    "pair_sums": Oracle(lambda x: x[:-1] + x[1:], ((5,),)),
    "squared_steps": Oracle(lambda x: ((x[:-1] - x[1:]) ** 2).sum(), ((5,),)),
    "pooled_twice": Oracle(lambda x: x.reshape(-1, 4).max(1), ((12,),)),
    "conv_relu_pool_ce": Oracle(
        lambda x, w, b, v, t: -(t * np.log(softmax(v @ np.maximum(0, conv1d(w, x, b)).reshape(-1, 2).max(1)))).sum(),
        ((8,), (3,), S, (4, 3), (4,)), {4: "onehot"}),
    "mixture_density": Oracle(
        lambda p, t, m, s: -np.log((p / (np.sqrt(2 * np.pi) * s) * np.exp(-((t[:, None] - m) ** 2) / (2 * s**2))).sum(1)).sum(),
        ((3,), (4,), (3,), (3,)), {0: "simplex", 3: "positive"}),
    "softmax": Oracle(softmax, (V,)),
    "softmax_linear": Oracle(lambda x, w, b: softmax(w @ x + b), (V, M, (3,))),
    "softmax_ce": Oracle(lambda z, t: -(t * np.log(softmax(z))).sum(), (V, V), {1: "onehot"}),
    "softmax_regression": Oracle(lambda w, x, b, t: -(t * np.log(softmax(w @ x + b))).sum(),
                                 (M, V, (3,), (3,)), {3: "onehot"}),
    "maxout3": Oracle(lambda w, x, b: (np.einsum("krj,j->kr", w, x) + b).max(1), ((2, 3, 4), V, (2, 3))),
    "inverted_dropout": Oracle(lambda x, m, p: m * x / p, (V, V, S), {1: "binary", 2: "unit"}),
    "softmax_temperature": Oracle(lambda z, t: softmax(z / t), (V, S), {1: "positive"}),
    "rms_norm": Oracle(lambda x, g, eps: g * x / np.sqrt((x**2).mean() + eps), (V, V, S), {2: "positive"}),
    "residual_relu": Oracle(lambda w, x, b: x + np.maximum(0, w @ x + b), ((4, 4), V, V)),
    "focal_softmax": Oracle(lambda z, g, t: -(t * (1 - softmax(z)) ** g * np.log(softmax(z))).sum(), (V, S, V),
                            {1: "positive", 2: "onehot"}),
    "pinball_linear": Oracle(lambda w, x, b, q, t: np.maximum(q * (t - w @ x - b), (q - 1) * (t - w @ x - b)),
                             (V, V, S, S, S), {3: "unit"}),
    "elman": Oracle(lambda w, x, u, h, b: np.tanh(w @ x + u @ h + b), (M, V, (3, 3), (3,), (3,))),
    "smoothed_cross_entropy": Oracle(lambda z, e, t: -(((1 - e) * t + e / len(t)) * np.log(softmax(z))).sum(), (V, S, V),
                                     {1: "unit", 2: "onehot"}),
    "gated_linear": Oracle(lambda w, x, b, v, c: (w @ x + b) * sigmoid(v @ x + c), (M, V, (3,), M, (3,))),
    "linear_tanhgate": Oracle(lambda w, x, b: (w @ x + b) * np.tanh(w @ x + b), (M, V, (3,))),
    "linear_cube": Oracle(lambda w, x, b: (w @ x + b) ** 3, (M, V, (3,))),
    "linear_relu2_squared": Oracle(lambda w, x, b, t: ((np.maximum(0, w @ x + b) ** 2 - t) ** 2).sum(),
                                   (M, V, (3,), (3,))),
    "linear_softplus_units": Oracle(lambda w, x, b: np.log1p(np.exp(w @ x + b)), (M, V, (3,))),
    "linear_rms_skip": Oracle(lambda w, x, g, eps: x + g * (w @ x) / np.sqrt(((w @ x) ** 2).mean() + eps),
                              ((4, 4), V, V, S), {3: "positive"}),
    "tanh_regression_mean": Oracle(lambda w, x, b, t: ((np.tanh(x @ w + b) - t) ** 2).mean() / 2,
                                   (V, (5, 4), S, (5,))),
    "batch_linear": Oracle(lambda x, w, b: x @ w + b, ((5, 4), (4, 3), (3,))),
    "batch_softmax_regression": Oracle(
        lambda x, w, b, t: -(t * np.log([softmax(z) for z in x @ w.T + b])).sum() / len(x), ((5, 4), M, (3,), (5, 3)),
        {3: "onehot"}),
    "prelu_regression_mean": Oracle(
        lambda w, x, a, t: ((np.where(x @ w > 0, 1, a) * (x @ w) - t) ** 2).mean(), (V, (5, 4), S, (5,))),
    "logistic_regression_bias_mean": Oracle(lambda w, x, b, t: bce(sigmoid(x @ w + b), t).mean(),
                                            (V, (5, 4), S, (5,)), {3: "binary"}),
    "logsumexp": Oracle(lambda x: np.log(np.exp(x).sum()), (V,)),
    "logmeanexp": Oracle(lambda x, r: np.log(np.exp(r * x).mean()) / r, (V, S)),
    "norm": Oracle(lambda x: np.sqrt((x**2).sum()), (V,)),
    "norm_p": Oracle(lambda x, p: (np.abs(x) ** p).sum() ** (1 / p), (V, S), {1: "positive"}),
    "norm_sq": Oracle(lambda x: 0.5 * (x**2).sum(), (V,)),
    "normalise": Oracle(lambda x: x / np.sqrt((x**2).sum()), (V,)),
    "linear": Oracle(lambda w, x, b: w @ x + b, (M, V, (3,))),
    "linear_t": Oracle(lambda w, x, b: x @ w + b, ((4, 3), (4,), (3,))),
    "linear_nobias": Oracle(lambda w, x: w @ x, (M, V)),
    "neuron": Oracle(lambda w, x, b: w @ x + b, (V, V, S)),
    "linear_relu": Oracle(lambda w, x, b: np.maximum(0, w @ x + b), (M, V, (3,))),
    "linear_relu_b": Oracle(lambda b, w, x: np.maximum(0, w @ x + b), ((3,), M, V)),
    "linear_sigmoid": Oracle(lambda w, x, b: sigmoid(w @ x + b), (M, V, (3,))),
    "tanh_column": Oracle(lambda w, x, b: np.tanh(w @ x + b), (M, V, (3,))),
    "linear_bent": Oracle(lambda w, x, b: (s := w @ x + b) / np.sqrt(1 + s * s), (M, V, (3,))),
    "weighed_log": Oracle(lambda p, t, kappa: -t * (1 - p) ** kappa * np.log(p), (S, S, S), {0: "unit"}),
    "linear_tanh": Oracle(lambda w, x, b: np.tanh(w @ x + b), (M, V, (3,))),
    "mlp": Oracle(lambda w, x, b, u, c: u @ sigmoid(w @ x + b) + c, (M, V, (3,), (2, 3), (2,))),
    "mlp_squared": Oracle(lambda x, u, w, y: 0.5 * ((u @ np.tanh(w @ x) - y) ** 2).sum(), (V, (2, 3), M, (2,))),
    "mlp_number": Oracle(lambda w, x, b, v, c: v @ np.tanh(w @ x + b) + c, (M, V, (3,), (3,), S)),
    "relu_regression": Oracle(lambda w, c, x, v, b, y: (y - v @ np.maximum(0, x @ w + c) - b) ** 2,
                              ((4, 3), (3,), V, (3,), S, S)),
    "maxout": Oracle(lambda w, x, b: (np.einsum("rkj,j->rk", w, x) + b).max(0), ((3, 2, 4), V, (3, 2))),
    "maxout_units": Oracle(lambda x, w, b: (np.einsum("c,cij->ij", x, w) + b).max(1), (V, (4, 2, 3), (2, 3))),
    "maxout1": Oracle(lambda w, x, b: (w @ x + b).max(), (M, V, (3,))),
    "conv1d": Oracle(conv1d, ((3,), (8,))),
    "conv1d_b": Oracle(conv1d, ((3,), (8,), S)),
    "conv1d_2": Oracle(lambda w, x: conv1d(w, x, stride=2), ((3,), (8,))),
    "conv1d_2b": Oracle(lambda w, x, b: conv1d(w, x, b, 2), ((3,), (8,), S)),
    "conv1d_full": Oracle(np.convolve, ((3,), (6,))),
    "conv2d": Oracle(conv2d, ((3, 2), (6, 5))),
    "conv2d_2b": Oracle(lambda w, x, b: conv2d(w, x, b, 2), ((3, 2), (7, 6), S)),
    "conv2d_b": Oracle(conv2d, ((3, 2), (6, 5), S)),
    "batch_norm": Oracle(batch_norm, ((5,), S, S, S), {3: "positive"}),
    "batch_norm_d": Oracle(batch_norm, ((5, 3), (3,), (3,), S), {3: "positive"}),
    "normalise_mean": Oracle(lambda x, e: (x - x.mean()) / np.sqrt(x.var() + e), ((5,), S), {1: "positive"}),
    "layer_norm": Oracle(batch_norm, ((5,), (5,), (5,), S), {3: "positive"}),
    "attention": Oracle(attention, ((3,), (4, 3), (4, 2))),
    "attention_plain": Oracle(lambda q, k, v: softmax(k @ q) @ v, ((3,), (4, 3), (4, 3))),
    "batch_norm_plain": Oracle(lambda x, g, b: g * (x - x.mean()) / x.std() + b, ((5,), S, S)),
    "prelu_squared": Oracle(lambda w, x, b, a, t: (np.maximum(w @ x + b, a * (w @ x + b)) - t) ** 2, (V, V, S, S, S)),
    "prelu_squared_nb": Oracle(lambda w, x, a, t: (np.maximum(w @ x, a * (w @ x)) - t) ** 2, (V, V, S, S)),
    "prelu_cases_nb": Oracle(lambda w, x, a, t: (np.where(w @ x > 0, w @ x, a * (w @ x)) - t) ** 2, (V, V, S, S)),
    "prelu_cases": Oracle(lambda w, x, b, a, t: (np.where(w @ x + b > 0, 1, a) * (w @ x + b) - t) ** 2, (V, V, S, S, S)),
    "prelu_half": Oracle(lambda w, x, a, t: 0.5 * (np.where(w @ x > 0, 1, a) * (w @ x) - t) ** 2, (V, V, S, S)),
    "prelu_bank_squared": Oracle(
        lambda w, x, b, a, t: ((np.where(w @ x + b > 0, 1, a) * (w @ x + b) - t) ** 2).sum(), (M, V, (3,), (3,), (3,))),
    "leaky01_squared": Oracle(lambda w, x, t: (np.where(w @ x > 0, 1, 0.1) * (w @ x) - t) ** 2, (V, V, S)),
    "abs_prelu": Oracle(lambda w, x, a, t: abs(np.where(w @ x > 0, 1, a) * (w @ x) - t), (V, V, S, S)),
    "prelu_bank_one": Oracle(
        lambda w, x, b, a, t: ((np.where(w @ x + b > 0, 1, a) * (w @ x + b) - t) ** 2).sum(), (M, V, (3,), S, (3,))),
    "elu_one_squared": Oracle(lambda w, x, t: (np.where(w @ x > 0, w @ x, np.exp(w @ x) - 1) - t) ** 2, (V, V, S)),
    "gelu_squared": Oracle(lambda w, x, t: (gelu(w @ x) - t) ** 2, (V, V, S)),
    "logistic_loss_nb": Oracle(lambda w, x, t: np.log1p(np.exp(-t * (w @ x))), (V, V, S), {2: "sign"}),
    "contrast": Oracle(lambda d, y, m: (1 - y) * d**2 / 2 + y * max(0.0, m - d) ** 2 / 2, (S, S, S),
                       {1: "binary", 2: "positive"}),
    "pooled_head": Oracle(lambda f, u, t: -(t * np.log(softmax(u @ f.mean((1, 2))))).sum(),
                          ((2, 3, 4), (3, 2), (3,)), {2: "onehot"}),
    "pooled_tanh": Oracle(lambda x: np.tanh(x.reshape(2, 2, 3, 2).mean((1, 3))), ((4, 6),)),
    "highway_named": Oracle(lambda v, x, c, w, b: sigmoid(v @ x + c) * np.tanh(w @ x + b)
                            + (1 - sigmoid(v @ x + c)) * x, ((4, 4), V, V, (4, 4), V)),
    "conv1d_halved": Oracle(lambda b, w, x: conv1d(w, x, b, 2), (S, (3,), (7,))),
    "ridge_ones": Oracle(lambda x, w, b, y, r: ((x @ w + b - y) ** 2).sum() + r * (w @ w),
                         ((5, 4), V, S, (5,), S)),
    "cosine_scaled": Oracle(lambda s, w, x: s * (w @ x) / np.sqrt((w**2).sum(1) * (x @ x)), (S, (3, 4), V)),
    "two_layers_squared": Oracle(lambda w, x, b, v, t: (v @ np.maximum(0, w @ x + b) - t) ** 2, (M, V, (3,), (3,), S)),
    "regressor": Oracle(lambda w, x, b, v, c, t: (v @ np.maximum(0, w @ x + b) + c - t) ** 2 / 2,
                        (M, V, (3,), (3,), S, S)),
    "classifier_two_layers": Oracle(
        lambda w, x, b, v, c, t: -(t * np.log(softmax(v @ sigmoid(w @ x + b) + c))).sum(),
        (M, V, (3,), (2, 3), (2,), (2,)), {5: "onehot"}),
    "logistic_unit": Oracle(lambda v, h, c, t: bce(sigmoid(v @ h + c), t), (V, V, S, S), {3: "binary"}),
    "tanh_of_neuron": Oracle(lambda w, x, b, t: (np.tanh(w @ x + b) - t) ** 2, (V, V, S, S)),
    "mean_softmax": Oracle(lambda x, u, y: -(y * np.log(softmax(u @ x.mean(0)))).sum(), ((2, 4), (3, 4), (3,)),
                           {2: "onehot"}),
    "conv_softplus_mean": Oracle(
        lambda w, a, x: np.log1p(np.exp(np.array([[a[f] + (w[f] * x[:, s:s + 3]).sum() for s in range(4)]
                                                  for f in range(2)]))).mean(1), ((2, 5, 3), (2,), (5, 6))),
    "norm_then_linear": Oracle(
        lambda x, g, b, w, e: w @ (g * (x - x.mean()) / np.sqrt(x.var() + e) + b), (V, V, V, M, S), {4: "positive"}),
    "batch_normalised": Oracle(lambda x, a, c, e: a * (x - x.mean(0)) / np.sqrt(x.var(0) + e) + c,
                               ((5, 3), (3,), (3,), S), {3: "positive"}),
    "residual_softplus": Oracle(lambda w, u, b, v, c: u + v @ np.log1p(np.exp(w @ u + b)) + c,
                                (M, V, (3,), (4, 3), V)),
    "residual_sigmoid": Oracle(lambda w, x, v: sigmoid(x + v @ np.log1p(np.exp(w @ x))), (M, V, (4, 3))),
    "two_tanh_squared": Oracle(lambda w, x, b, v, c, t: ((v @ np.tanh(w @ x + b) + c - t) ** 2).sum(),
                               (M, V, (3,), (2, 3), (2,), (2,))),
    "linear_sigmoid_nb": Oracle(lambda w, x: sigmoid(w @ x), (M, V)),
    "dot_tanh_nb": Oracle(lambda w, x, t: (np.tanh(w @ x) - t) ** 2, (V, V, S)),
    "relu_squared": Oracle(lambda w, x, t: (np.maximum(0, w @ x) - t) ** 2, (V, V, S)),
    "abs_squared": Oracle(lambda w, x, t: (abs(w @ x) - t) ** 2, (V, V, S)),
    "elu_squared_nb": Oracle(lambda w, x, a, t: (np.where(w @ x > 0, w @ x, a * (np.exp(w @ x) - 1)) - t) ** 2,
                             (V, V, S, S)),
    "sigmoid_squared_nb": Oracle(lambda w, x, t: (sigmoid(w @ x) - t) ** 2, (V, V, S)),
    "sigmoid_half_squared": Oracle(lambda w, x, b, t: 0.5 * (sigmoid(w @ x + b) - t) ** 2, (V, V, S, S)),
    "linear_squared": Oracle(lambda w, x, b, t: 0.5 * ((w @ x + b - t) ** 2).sum(), (M, V, (3,), (3,))),
    "regression": Oracle(lambda w, x, t: 0.5 * ((x @ w - t) ** 2).sum(), (V, (5, 4), (5,))),
    "ridge": Oracle(lambda w, x, t, r: 0.5 * ((x @ w - t) ** 2).sum() + r / 2 * (w**2).sum(), (V, (5, 4), (5,), S)),
    "mean_regression": Oracle(lambda w, b, x, t: ((x @ w + b - t) ** 2).mean(), (V, S, (5, 4), (5,))),
    "win_mean3": Oracle(lambda x: windows(x, (3,), (3,), np.mean), ((9,),)),
    "win_mean3_1": Oracle(lambda x: windows(x, (3,), (1,), np.mean), ((7,),)),
    "win_mean22": Oracle(lambda x: windows(x, (2, 2), (2, 2), np.mean), ((4, 6),)),
    "win_norm22": Oracle(lambda x: windows(x, (2, 2), (2, 2), lambda v: np.sqrt((v**2).sum())), ((4, 6),)),
    "win_norm3_2": Oracle(lambda x: windows(x, (3,), (2,), lambda v: np.sqrt((v**2).sum())), ((9,),)),
    "win_lme22": Oracle(lambda x, r: windows(x, (2, 2), (2, 2), lambda v: np.log(np.exp(r * v).mean()) / r),
                        ((4, 6), S)),
    "win_min3_2": Oracle(lambda x: windows(x, (3,), (2,), np.min), ((9,),)),
    "win_shift": Oracle(lambda x, b: windows(x, (2, 2), (2, 2), np.max) + b, ((4, 6), S)),
    "relu_win": Oracle(lambda x: np.maximum(0, windows(x, (2, 2), (2, 2), np.max)), ((4, 6),)),
    "conv_win": Oracle(lambda w, x: windows(conv2d(w, x), (2, 2), (2, 2), np.max), ((3, 2), (6, 5))),
    "quadratic": Oracle(lambda a, x: x @ a @ x, ((4, 4), V)),
    "rows_bias": Oracle(lambda x, w, b: x @ w + b, ((5, 4), (4, 3), (3,))),
    "columns_bias": Oracle(lambda x, w, b: w @ x + b[:, None], ((4, 5), (3, 4), (3,))),
    "least_squares": Oracle(lambda a, x, b: ((a @ x - b) ** 2).sum(), (M, V, (3,))),
    "rbf": Oracle(lambda x, c, s: np.exp(-((x - c) ** 2).sum() / (2 * s**2)), (V, V, S), {2: "positive"}),
    "glu": Oracle(lambda w, x, u: (w @ x) * sigmoid(u @ x), (M, V, M)),
    "product_sine": Oracle(lambda x_1, x_2: x_1 * x_2 + np.sin(x_1), (S, S)),
    "two_neurons": Oracle(lambda w_11, x_1, w_12, x_2, w_21, w_22: (w_11 * x_1 + w_12 * x_2) * (w_21 * x_1 + w_22 * x_2),
                          (S, S, S, S, S, S)),
    "line": Oracle(lambda w_0, w_1, x, t: ((w_0 + w_1 * x - t) ** 2).mean(), (S, S, (3,), (3,))),
    "cube_s": Oracle(lambda x: x**3, (S,)),
    "two_chain": Oracle(lambda x, w, v: v * np.tanh(w * x), (S, S, S)),
    "net_softmax": Oracle(
        lambda w, x, b, u, c, t: -(t * np.log(softmax(u @ np.maximum(0, w @ x + b) + c))).sum(),
        (M, V, (3,), (2, 3), (2,), (2,)), {5: "onehot"}),
    "dot_tanh": Oracle(lambda w, x, b, t: (np.tanh(w @ x + b) - t) ** 2, (V, V, S, S)),
    "residual": Oracle(lambda x, u, w: x + u @ sigmoid(w @ x), (V, (4, 3), M)),
    "two_tanh": Oracle(lambda w, x, b, u, c: np.tanh(u @ np.tanh(w @ x + b) + c), (M, V, (3,), (2, 3), (2,))),
    "matrices": Oracle(lambda x, w: x @ w, ((3, 4), (4, 2))),
    "squared_rows": Oracle(lambda w, x, t: 0.5 * ((x @ w.T - t) ** 2).sum(1), (M, (5, 4), (5, 3))),
    "hard_tanh": Oracle(lambda x: np.clip(x, -1, 1), (S,)),
    "log_square": Oracle(lambda x: np.log(1 + x**2), (S,)),
    "contrastive": Oracle(
        lambda a, b, y, m: y * ((a - b) ** 2).sum() + (1 - y) * np.maximum(0, m - np.sqrt(((a - b) ** 2).sum())) ** 2,
        (V, V, S, S), {2: "binary"}),
    "rbf_layer": Oracle(lambda x, m, s: np.exp(-((x - m) ** 2).sum(1) / (2 * s**2)), (V, (3, 4), S), {2: "positive"}),
    "temperature": Oracle(lambda z, t: softmax(z / t), (V, S), {1: "positive"}),
    "sigmoid_squared": Oracle(lambda w, x, b, t: (sigmoid(w @ x + b) - t) ** 2, (V, V, S, S)),
    "mean_maps": Oracle(lambda x: x.mean((1, 2)), ((2, 3, 4),)),
    "min": Oracle(np.min, (V,)),
    "prelu_channels": Oracle(lambda x, a: np.maximum(0, x) + a * np.minimum(0, x), ((5, 3), (3,))),
    "logistic_mean": Oracle(lambda x, y, w: np.log1p(np.exp(-y * (x @ w))).mean(), ((5, 4), (5,), V), {1: "sign"}),
    "row_norm": Oracle(lambda a: (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True), ((3, 5),)),
    "mahalanobis": Oracle(lambda x, m, a: (x - m) @ a @ (x - m), (V, V, (4, 4))),
    "maximum": Oracle(np.ptp, (V,)),
    "mixture_of_widths": Oracle(lambda u, t, m, s: -np.log((softmax(u) * np.exp(-((t - m) ** 2) / (2 * np.exp(2 * s))) / (
        np.sqrt(2 * np.pi) * np.exp(s))).sum()), (V, S, V, V)),
    "batch_norm_relu": Oracle(lambda w, x, g, b, e: np.maximum(
        0, g * ((a := x @ w) - a.mean(0)) / np.sqrt(a.var(0) + e) + b), ((3, 2), (4, 3), (2,), (2,), S), {4: "positive"}),
    "gaussian_unit": Oracle(lambda x, m, s: np.exp(-((x - m) ** 2) / (2 * s**2)) / (s * np.sqrt(2 * np.pi)), (S, S, S),
                            {2: "positive"}),
    "weighted_sum": Oracle(np.dot, (V, V)),
    "tanh_cell": Oracle(lambda w, x, u, h, b: np.tanh(w * x + u * h + b), (S, S, S, S, S)),
    "relu_unit": Oracle(lambda w, x, b: np.maximum(0, w * x + b), (S, S, S)),
    "tanh_unit": Oracle(lambda w, x, b: np.tanh(w * x + b), (S, S, S)),
    "two_tanh_linear": Oracle(lambda w, x, b, u, c: u @ np.tanh(w @ x + b) + c, (M, V, (3,), (2, 3), (2,))),
    "divergence": Oracle(lambda p, q: (p * np.log(p / q)).sum(), (V, V), {0: "positive", 1: "positive"}),
    "win_lme3": Oracle(lambda x, r: windows(x, (3,), (1,), lambda v: np.log(np.exp(r * v).mean()) / r), ((7,), S),
                       {1: "positive"}),
    "half_squared_unit": Oracle(lambda w, x, t: 0.5 * (w @ x - t) ** 2, (V, V, S)),
    "squared_unit": Oracle(lambda w, x, t: (w @ x - t) ** 2, (V, V, S)),
    "decay": Oracle(lambda w, c: c / 2 * (w**2).sum(), (V, S)),
    "highway_tanh": Oracle(lambda x, w, b, v, c: (t := sigmoid(v @ x + c)) * np.tanh(w @ x + b) + (1 - t) * x,
                      ((3,), (3, 3), (3,), (3, 3), (3,))),
    "logistic_regression_mean": Oracle(lambda w, x, t: bce(sigmoid(x @ w), t).mean(), (V, (5, 4), (5,)), {2: "binary"}),
    "gaussian_log_variance": Oracle(
        lambda w, x, b, v, c, t: ((v @ x + c) + (t - w @ x - b) ** 2 / np.exp(v @ x + c) + np.log(2 * np.pi)) / 2,
        (V, V, S, V, S, S)),
    "bilinear_form": Oracle(lambda e, r, o: e @ r @ o, ((3,), (3, 4), V)),
    "win_rms2": Oracle(lambda x: windows(x, (2,), (2,), lambda v: np.sqrt((v**2).mean())), ((8,),)),
    "win_tanh3": Oracle(lambda x, b: np.tanh(b * windows(x, (3,), (1,), np.mean)), ((7,), S)),
    "linear_ones": Oracle(lambda x, w, b: x @ w + b, ((5, 4), (4, 3), (3,))),
    "recurrent": Oracle(lambda x, g, w, u, b: np.tanh(w @ x + u @ g + b), (V, (3,), M, (3, 3), (3,))),
    "margin": Oracle(lambda w, d, e, m: np.maximum(0, m - w @ d + w @ e), (V, V, V, S), {3: "positive"}),
    "conv_transposed": Oracle(lambda x, w: sum(np.convolve(np.eye(2 * len(x) - 1)[2 * k], w) * x[k] for k in range(len(x))), (V, (3,))),
    "embeddings": Oracle(lambda e, w, b, t: bce(sigmoid(w @ e.mean(0) + b), t), ((5, 4), V, S, S), {3: "binary"}),
    "sigmoid_linear_wxb": Oracle(lambda w, x, b: sigmoid(w @ x + b), (M, V, (3,))),
    "contrastive_numbered": Oracle(
        lambda u, v, y, m: y * ((u - v) ** 2).sum() / 2 + (1 - y) * np.maximum(0, m - np.sqrt(((u - v) ** 2).sum())) ** 2 / 2,
        (V, V, S, S), {2: "binary", 3: "positive"}),
    "win_min22_1": Oracle(lambda x: windows(x, (2, 2), (1, 1), np.min), ((4, 5),)),
    "sigmoid_half_words": Oracle(lambda w, x, t: 0.5 * (sigmoid(w @ x) - t) ** 2, (V, V, S)),
    "sigmoid_half_units": Oracle(lambda w, x, b, t: 0.5 * ((sigmoid(w @ x + b) - t) ** 2).sum(), (M, V, (3,), (3,))),
    "focal": Oracle(
        lambda z, t, a, c: -a * t * (1 - sigmoid(z)) ** c * np.log(sigmoid(z))
        - (1 - a) * (1 - t) * sigmoid(z) ** c * np.log(1 - sigmoid(z)),
        (S, S, S, S), {1: "binary", 2: "unit", 3: "positive"}),
    "layer_cost": Oracle(lambda w, b, a, y: 0.5 * ((y - sigmoid(w @ a + b)) ** 2).sum(), (M, (3,), V, (3,))),
    "instance_norm": Oracle(
        lambda x, e: (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + e),
        ((2, 3, 4), S), {1: "positive"}),
    "softsign_squared": Oracle(lambda z, t: ((z / (1 + abs(z)) - t) ** 2).sum(), (V, V)),
    "mae_regression": Oracle(lambda w, x, b, t: abs(x @ w + b - t).mean(), (V, (5, 4), S, (5,))),
    "regression_twt": Oracle(lambda t, w, x: 0.5 * ((t - x @ w) ** 2).sum(), ((5,), V, (5, 4))),
    "softmax_class": Oracle(lambda w, x, b, c: -np.log(softmax(w @ x + b))[int(c)], (M, V, (3,), S), {3: "0..2"}),
    "linear_relu_t": Oracle(lambda w, x, b: np.maximum(0, x @ w + b), ((4, 3), (4,), (3,))),
    "multiclass_hinge": Oracle(lambda x, w, t, m: ((1 - t) * np.maximum(0, x @ w - t @ (x @ w) + m)).sum(),
                               ((3,), (3, 4), V, S), {2: "onehot"}),
    "tanh_two": Oracle(lambda w, x, u, h, b: np.tanh(w @ x + u @ h + b), (M, V, (3, 3), (3,), (3,))),
    "memory_cell": Oracle(lambda o, f, c, i, g: o * np.tanh(f * c + i * g), (V, V, V, V, V)),
    "negative_sampling": Oracle(lambda u, v, n: -np.log(sigmoid(u @ v)) - np.log(sigmoid(-n @ v)).sum(),
                                ((3,), (3,), (4, 3))),
    "bilinear": Oracle(lambda u, w, v, b: np.einsum("i,kij,j->k", u, w, v) + b, ((2,), (4, 2, 3), (3,), (4,))),
    "causal": Oracle(lambda w, x, b: np.convolve(w, x, "valid") + b, ((3,), (8,), S)),
    "upsample": Oracle(lambda x: np.repeat(x, 2), (V,)),
    "transposed": Oracle(lambda w, x: np.convolve(w, np.kron(x, [1, 0])[:-1]), ((3,), (5,))),
    "conv1d_short": Oracle(lambda w, x: conv1d(w, x)[:-1], ((3,), (8,))),
    "dice": Oracle(lambda p, g: 2 * (p @ g) / (p @ p + g @ g), (V, V), {0: "unit", 1: "binary"}),
    "triplet": Oracle(lambda a, p, n, m: np.maximum(0, ((a - p) ** 2).sum() - ((a - n) ** 2).sum() + m), (V, V, V, S)),
    "pinball": Oracle(lambda c, b, x, y, t: np.where(y - c - b @ x >= 0, t, t - 1) * (y - c - b @ x), (S, V, V, S, S),
                      {4: "unit"}),
    "kl_normal": Oracle(lambda m, r: 0.5 * (m**2 + np.exp(r) - r - 1).sum(), (V, V)),
    "ranking": Oracle(
        lambda b, c, p, q, r, k: np.log1p(np.exp(-(b - c + p @ (q - r)))) + k / 2 * (p @ p + q @ q + r @ r),
        (S, S, V, V, V, S)),
    "logistic_ridge": Oracle(lambda w, x, t, r: bce(sigmoid(x @ w), t).mean() + r / 2 * (w @ w), (V, (5, 4), (5,), S),
                             {2: "binary"}),
    "depthwise": Oracle(
        lambda w, x, v: np.einsum("kc,cij->kij", v, np.array([conv2d(a, b) for a, b in zip(w, x, strict=True)])),
        ((2, 3, 2), (2, 5, 4), (3, 2))),
    "highway": Oracle(
        lambda t, x, c, h, b: sigmoid(t @ x + c) * np.maximum(0, h @ x + b) + (1 - sigmoid(t @ x + c)) * x,
        ((4, 4), V, V, (4, 4), V)),
    "fir": Oracle(lambda h, x: np.convolve(h, x, "valid"), ((3,), (8,))),
    "feed_forward": Oracle(lambda x, w, b, u, c: x + u @ np.maximum(0, w @ x + b) + c, ((3,), (4, 3), V, (3, 4), (3,))),
    "film": Oracle(lambda x, z, a, b: (a @ z)[:, None, None] * x + (b @ z)[:, None, None], ((3, 4, 5), (2,), (3, 2), (3, 2))),
    "squeeze": Oracle(lambda x, w: sigmoid(w @ x.mean(1))[:, None] * x, ((3, 5), (3, 3))),
    "radial": Oracle(lambda x, w, c, s: w @ np.exp(-((x - c) ** 2).sum(1) / (2 * s**2)), ((3,), V, (4, 3), V), {3: "positive"}),
    "win_range22": Oracle(lambda x: windows(x, (2, 2), (2, 2), np.ptp), ((4, 6),)),
    "gru": Oracle(
        lambda a, x, b, h, w, u: (1 - sigmoid(a @ x + b @ h)) * h + sigmoid(a @ x + b @ h) * np.tanh(w @ x + u @ h),
        (M, V, (3, 3), (3,), M, (3, 3))),
    "bag_of_words": Oracle(lambda e, a, y: -(y * np.log(softmax(a @ e.mean(0)))).sum(), ((5, 3), (4, 3), (4,)),
                           {2: "onehot"}),
    "info_nce": Oracle(lambda q, p, k, t: -q @ p / t + np.log(np.exp(q @ p / t) + np.exp(k @ q / t).sum()),
                       ((3,), (3,), (4, 3), S), {3: "positive"}),
    "huber_samples": Oracle(
        lambda t, w, x, d: np.where(abs(t - x @ w) <= d, 0.5 * (t - x @ w) ** 2, d * (abs(t - x @ w) - d / 2)).sum(),
        ((5,), V, (5, 4), S), {3: "positive"}),
    "scale_shift": Oracle(lambda g, x, b: g * x + b, (V, V, V)),
    "elastic": Oracle(
        lambda y, x, w, a, b: ((y - x @ w) ** 2).sum() / (2 * len(y)) + a * np.abs(w).sum() + b / 2 * (w @ w),
        ((5,), (5, 4), V, S, S)),
    "loss_of_class": Oracle(lambda s: -np.log(softmax(s)), (V,)),
    "loss_of_one_class": Oracle(lambda s, c: -np.log(softmax(s))[int(c)], (V, S), {1: "0..3"}),
    "loss_of_label": Oracle(lambda s, y: -np.log(softmax(s))[int(y) - 1], (V, S), {1: "1..4"}),
    "loss_of_labels": Oracle(lambda s, y: -np.mean([np.log(softmax(row))[int(k) - 1] for row, k in zip(s, y, strict=True)]),
                             ((3, 4), (3,)), {1: "1..4"}),
    "hinge_of_label": Oracle(lambda s, y: np.maximum(0, 1 + np.delete(s, int(y) - 1) - s[int(y) - 1]).sum(), (V, S),
                             {1: "1..4"}),
    "embedding": Oracle(lambda e, n: e[n.astype(int) - 1], ((5, 3), (4,)), {1: "1..5"}),
    "gram": Oracle(lambda f, a: ((f @ f.T / 5 - a) ** 2).sum() / 36, ((3, 5), (3, 3))),
    "memory_of_gates": Oracle(lambda f, m, i, g, o: o * np.tanh(f * m + i * g), (V,) * 5),
    "line_of_filters": Oracle(lambda b, w, x: np.maximum(0, b[:, None] + np.array([np.correlate(x, r) for r in w])).max(1),
                              ((2,), (2, 3), (6,))),
    "messages_inside": Oracle(lambda w, x, b, v, t: (v @ np.tanh(w @ x + b) - t) ** 2 / 2, ((3, 2), (2,), (3,), (3,), S)),
    "norm_of_fours": Oracle(lambda x, p: (np.abs(x.reshape(-1, 4)) ** p).sum(1) ** (1 / p), ((8,), S), {1: "3"}),
    "causal_of_three": Oracle(lambda w, b, x: b + np.convolve(np.kron(w, [1, 0])[:5], x)[: len(x)], ((3,), S, (7,))),
    "numbers_above": Oracle(lambda x, w, b, v, c, d: ((d - sigmoid(v @ np.tanh(w @ x + b) + c)) ** 2).sum() / 2,
                            ((2,), (3, 2), (3,), (2, 3), (2,), (2,))),
    "second_order": Oracle(lambda a, h, x, q: a + h @ x + x @ q @ x, (S, (3,), (3,), (3, 3))),
    "mean_of_words": Oracle(lambda e, w: e[w.astype(int) - 1].mean(0), ((5, 3), (4,)), {1: "1..5"}),
    "strided": Oracle(lambda w, x, s: conv1d(w, x, 0, int(s)), ((3,), (9,), S), {2: "2"}),
    "dilated_zeros": Oracle(lambda w, x, d: np.convolve(np.kron(w, np.eye(int(d))[0]), x)[: len(x)], ((3,), (9,), S), {2: "2"}),
    "windows_mean": Oracle(lambda x, p, s: conv1d(np.ones(int(p)) / int(p), x, 0, int(s)), ((9,), S, S), {1: "3", 2: "2"}),
    "windows_max": Oracle(lambda x, p, s: windows(x, (1, int(p)), (1, int(s)), np.max), ((2, 9), S, S), {1: "3", 2: "2"}),
    "blocks_max": Oracle(lambda x, s: x.reshape(-1, int(s)).max(1), ((12,), S), {1: "3"}),
    "pulses": Oracle(lambda x, h, s: sum(np.pad(v * h, (n * int(s), (len(x) - 1 - n) * int(s))) for n, v in enumerate(x)),
                     ((4,), (3,), S), {2: "2"}),
    "log_posterior": Oracle(lambda w, x, t, a: -bce(sigmoid(x @ w), t).sum() - a / 2 * (w @ w), (V, (5, 4), (5,), S),
                            {2: "binary"}),
    "tanh_ridge": Oracle(lambda w, x, t, a: ((t - np.tanh(x @ w)) ** 2).sum() + a / 2 * (w @ w), (V, (5, 4), (5,), S)),
    "lstm": Oracle(lambda x, h, c, wi, ui, bi, wf, uf, bf, wc, uc, bc: sigmoid(wf @ x + uf @ h + bf) * c
                   + sigmoid(wi @ x + ui @ h + bi) * np.tanh(wc @ x + uc @ h + bc),
                   ((4,), (3,), (3,), *((3, 4), (3, 3), (3,)) * 3)),
    "cross": Oracle(lambda z, x, w, b: z * (x @ w) + b + x, (V, V, V, V)),
    "insensitive": Oracle(lambda x, w, b, y, e: np.maximum(0, abs(y - w @ x - b) - e), (V, V, S, S, S), {4: "positive"}),
    "linear_error": Oracle(lambda w, x, b, y: (y - w @ x - b) ** 2, (V, V, S, S)),
    "response": Oracle(
        lambda a, k, r, b: np.array([a[i] / (k + r * (a[max(0, i - 1) : i + 2] ** 2).sum()) ** b for i in range(len(a))]),
        ((5,), S, S, S), {1: "positive", 2: "positive", 3: "positive"}),
    "hard_swish": Oracle(lambda x: x * np.clip(x + 3, 0, 6) / 6, (S,)),
    "cosine_logits": Oracle(lambda x, w, s: s * (w @ x) / np.linalg.norm(w, axis=1) / np.linalg.norm(x), (V, (3, 4), S)),
    "experts": Oracle(lambda x, v, u: softmax(u @ x) @ (v @ x), (V, (3, 4), (3, 4))),
    "pooled_relu": Oracle(lambda w, x, b: max(0, conv1d(w, x, b).max()), ((3,), (8,), S)),
    "max_sq_win": Oracle(lambda x: windows(x**2, (2, 2), (2, 2), np.max), ((4, 6),)),
    "linear_relu_first": Oracle(lambda w, x, b: np.maximum(0, w @ x + b), (M, V, (3,))),
    "neuron_sig": Oracle(lambda w, x, b: sigmoid(w @ x + b), (V, V, S)),
    "prelu_sq": Oracle(lambda s, a, y: (np.maximum(0, s) + a * np.minimum(0, s) - y) ** 2, (S, S, S)),
    "scores_ce": Oracle(lambda w, x, y: -(y * np.log(softmax(w @ x))).sum(), (M, V, (3,)), {2: "onehot"}),
    "ridge_one": Oracle(lambda w, x, b, y, a: (w @ x + b - y) ** 2 + a * (w @ w), (V, V, S, S, S)),
    "attention_factor": Oracle(lambda k, q, v: v.T @ softmax(k @ q / np.sqrt(len(q))), ((5, 3), (3,), (5, 2))),
    "clip1": Oracle(lambda x: np.clip(x, -1, 1), (S,)),
    "hard_tanh_relu": Oracle(lambda x: np.clip(np.maximum(0, x), -1, 1), (V,)),
}
