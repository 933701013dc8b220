"""Layers by their forward formulas, with shapes of arrays to try them on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from derive.calculus.messages import Messages
from derive.exposition.sheet import compose
from derive.expr import Entry, Fn, Rel, transform
from derive.module import Function, Module
from derive.notation import gather, read
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.receptive_field import ReceptiveField, receptive_field
from derive.sheet import Sheet

Shape = tuple[int, ...]
Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Layer:
    """Formulas in LaTeX, shapes of the tensors that are given, and how to draw them."""

    name: str
    formulas: tuple[str, ...]
    shapes: dict[str, Shape]
    positive: tuple[str, ...] = ()
    functions: tuple[tuple[str, str, str, str], ...] = ()  # (name, as which it is written above, parameter, body)
    facts: tuple[str, ...] = ()
    fields: tuple[tuple[str, ReceptiveField], ...] = ()
    ones: tuple[str, ...] = ()  # tensors that sum to one
    signs: tuple[str, ...] = ()  # tensors of ±1
    sizes: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def module(self) -> Module:
        return _module(self.name)


@cache
def _module(name: str) -> Module:
    return module_from(ZOO[name])


def module_from(layer: Layer) -> Module:
    """The module of a layer's formulas, all that is given an input."""
    sizes = [Symbol(s, s, Kind.SIZE) for _, names in layer.sizes for s in names]
    table = gather([*layer.formulas, *layer.facts], SymbolTable(tuple(sizes)))
    table = table.extended([replace(table.named(n), sizes=s) for n, s in layer.sizes])  # type: ignore[type-var]
    functions = tuple(Function(f, (p,), _rel(rf"u = {body}", gather([rf"u = {body}"])).terms[1])
                      for f, _, p, body in layer.functions)
    names = {known: f for f, known, _, _ in layer.functions}
    equations = tuple(transform(_rel(f, table), lambda n: Fn(names.get(n.name, n.name), n.args) if isinstance(n, Fn) else None)
                      for f in layer.formulas)
    facts = tuple(_rel(f, table) for f in layer.facts)
    output = equations[-1].terms[0]
    assert isinstance(output, Entry)
    table = table.extended([Symbol(f.name, rf"\{f.name}", Kind.FUNCTION, f.parameters) for f in functions])
    return Module(equations, table, output.tensor, tuple(layer.shapes), fields=layer.fields, functions=functions, facts=facts)


def _rel(latex: str, table: Any) -> Rel:
    found = read(latex, table)
    assert isinstance(found, Rel), latex
    return found


OMEGA2 = (("Omega", receptive_field((2, 3), (1, 2), (1, 0))),)
OMEGA1 = (("Omega", receptive_field((3,), (2,), (1,))),)
X = {"x": (4,)}
NEURON = r"s = \sum_j w_j x_j + b"
LINEAR = r"s_k = \sum_j W_{kj} x_j + b_k"
WXB = {"x": (4,), "W": (3, 4), "b": (3,)}
BATCH_NORM = (
    r"\mu = \frac{1}{n} \sum_{i} x_i", r"v = \frac{1}{n} \sum_{i} (x_i - \mu)^2",
    r"\hat{x}_i = \frac{x_i - \mu}{\sqrt{v + \epsilon}}", r"y_i = \gamma \hat{x}_i + \beta",
)
LAYERS = [
    Layer("relu", (r"y_k = \max(0, s_k)",), {"s": (5,)}),
    Layer("leaky_relu", (r"y_k = \begin{cases} s_k & \text{if } s_k > 0 \\ \frac{1}{10} s_k & \text{otherwise} \end{cases}",), {"s": (5,)}),
    Layer("elu", (r"y_k = \begin{cases} s_k & \text{if } s_k > 0 \\ \alpha (e^{s_k} - 1) & \text{otherwise} \end{cases}",), {"s": (5,), "alpha": ()}),
    Layer("prelu", (r"y_k = \max(s_k, a s_k)",), {"s": (5,), "a": ()}),
    Layer("sigmoid", (r"y_k = \frac{1}{1 + e^{-s_k}}",), {"s": (5,)}),
    Layer("tanh", (r"y_k = \tanh(s_k)",), {"s": (5,)}),
    Layer("softplus", (r"y_k = \log(1 + e^{s_k})",), {"s": (5,)}),
    Layer("huber", (r"\ell = \begin{cases} \frac{1}{2} (y - t)^2 & \text{if } |y - t| \le d \\ d (|y - t| - \frac{1}{2} d) & \text{otherwise} \end{cases}",), {"y": (), "t": (), "d": ()}, positive=("d",)),
    Layer("absolute", (r"\ell = \sum_k |y_k - t_k|",), {"y": (4,), "t": (4,)}),
    Layer("squared", (r"\ell = \frac{1}{2} \sum_k (y_k - t_k)^2",), {"y": (4,), "t": (4,)}),
    Layer("squared_log", (r"\ell = (\log(1 + y) - \log(1 + t))^2",), {"y": (), "t": ()}, positive=("y", "t")),
    Layer("hinge", (NEURON, r"\ell = \max(0, 1 - t s)"), {"w": (4,), "x": (4,), "b": (), "t": ()}, signs=("t",)),
    Layer("neuron_bce", (NEURON, r"\hat{y} = \frac{1}{1 + e^{-s}}", r"\ell = -(t \log(\hat{y}) + (1 - t) \log(1 - \hat{y}))"),
          {"w": (4,), "x": (4,), "b": (), "t": ()}),
    Layer("neuron_bce_function", (NEURON, r"\hat{y} = \tanh(s)", r"\ell = -(t \log(\hat{y}) + (1 - t) \log(1 - \hat{y}))"),
          {"w": (4,), "x": (4,), "b": (), "t": ()}, functions=(("sigma", "tanh", "s", r"\frac{1}{1 + e^{-s}}"),)),
    Layer("softmax", (r"p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}",), {"z": (4,)}),
    Layer("softmax_sum", (r"S = \sum_j e^{z_j}", r"p_i = \frac{e^{z_i}}{S}"), {"z": (4,)}),
    Layer("softmax_cross_entropy", (r"p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}", r"\ell = -\sum_i t_i \log(p_i)"),
          {"z": (4,), "t": (4,)}, facts=(r"\sum_i t_i = 1",), ones=("t",)),
    Layer("softmax_regression", (r"s_k = \sum_j W_{kj} x_j", r"p_k = \frac{e^{s_k}}{\sum_m e^{s_m}}", r"\ell = -\sum_k t_k \log(p_k)"),
          {"x": (4,), "W": (3, 4), "t": (3,)}, facts=(r"\sum_k t_k = 1",), ones=("t",)),
    Layer("log_sum_exp", (r"y = \log(\sum_j e^{x_j})",), X),
    Layer("two_norm", (r"y = \sqrt{\sum_j x_j^2}",), X),
    Layer("linear", (LINEAR,), WXB),
    Layer("linear_ranged", (r"s_k = \sum_{j=1}^{n} W_{kj} x_j + b_k",), WXB),
    Layer("maxout", (r"y_k = \max_r \left( \sum_j W_{rkj} x_j + b_{rk} \right)",), {"x": (4,), "W": (3, 2, 4), "b": (3, 2)}),
    Layer("maxout_stages", (r"s_{rk} = \sum_j W_{rkj} x_j + b_{rk}", r"y_k = \max_r s_{rk}"), {"x": (4,), "W": (3, 2, 4), "b": (3, 2)}),
    Layer("conv1d", (r"y_k = \sum_{a=0}^{A-1} w_a x_{k+a} + b",), {"x": (7,), "w": (3,), "b": ()}),
    Layer("conv1d_stride", (r"y_k = \sum_{a=0}^{A-1} w_a x_{2k+a}",), {"x": (8,), "w": (3,)}),
    Layer("conv2d", (r"y_{kl} = \sum_{p} \sum_{q} w_{pq} x_{2k+p, 2l+q} + b",), {"x": (7, 6), "w": (3, 2), "b": ()}),
    Layer("conv_relu", (r"s_k = \sum_a w_a x_{k+a}", r"y_k = \max(0, s_k)"), {"x": (7,), "w": (3,)}),
    Layer("batch_norm", BATCH_NORM, {"x": (5,), "gamma": (), "beta": (), "epsilon": ()}, positive=("epsilon",), sizes=(("x", ("n",)),)),
    Layer("batch_norm_features", (
        r"\mu_j = \frac{1}{n} \sum_{i} x_{ij}", r"v_j = \frac{1}{n} \sum_{i} (x_{ij} - \mu_j)^2",
        r"\hat{x}_{ij} = \frac{x_{ij} - \mu_j}{\sqrt{v_j + \epsilon}}", r"y_{ij} = \gamma_j \hat{x}_{ij} + \beta_j",
    ), {"x": (5, 3), "gamma": (3,), "beta": (3,), "epsilon": ()}, positive=("epsilon",), sizes=(("x", ("n", "d")),)),
    Layer("instance_norm", (
        r"\mu_c = \frac{1}{H W} \sum_{i=1}^{H} \sum_{j=1}^{W} x_{cij}", r"v_c = \frac{1}{H W} \sum_{i,j} (x_{cij} - \mu_c)^2",
        r"y_{cij} = \frac{x_{cij} - \mu_c}{\sqrt{v_c + \epsilon}}",
    ), {"x": (2, 3, 2), "epsilon": ()}, positive=("epsilon",), sizes=(("x", ("C", "H", "W")),)),
    Layer("conv1d_transposed", (r"y_i = \sum_{j : 0 \le i - 2j < A} w_{i-2j} x_j",), {"x": (4,), "w": (3,)}),
    Layer("layer_norm", (
        r"\mu = \frac{1}{n} \sum_{j=1}^n x_j", r"v = \frac{1}{n} \sum_{j=1}^n (x_j - \mu)^2",
        r"y_j = \gamma_j \frac{x_j - \mu}{\sqrt{v + \epsilon}} + \beta_j",
    ), {"x": (5,), "gamma": (5,), "beta": (5,), "epsilon": ()}, positive=("epsilon",)),
    Layer("attention", (r"s_j = \frac{1}{\sqrt{d}} \sum_{c=1}^{d} q_c K_{jc}", r"a_j = \frac{e^{s_j}}{\sum_m e^{s_m}}", r"o_c = \sum_j a_j V_{jc}"),
          {"q": (3,), "K": (4, 3), "V": (4, 2)}),
    Layer("linear_prelu_squared", (LINEAR, r"y_k = \max(s_k, a s_k)", r"\ell = \frac{1}{2} \sum_k (y_k - t_k)^2"), {**WXB, "a": (), "t": (3,)}),
    Layer("two_layers", (r"s_k = \sum_j W_{kj} x_j", r"h_k = \tanh(s_k)", r"y_m = \sum_k U_{mk} h_k"), {"x": (4,), "W": (3, 4), "U": (2, 3)}),
    Layer("window_sum", (r"f_{kl} = \sum_{(i,j) \in \Omega(k,l)} x_{ij}",), {"x": (5, 7)}, fields=OMEGA2),
    Layer("window_mean", (r"f_{kl} = \frac{1}{|\Omega(k,l)|} \sum_{(i,j) \in \Omega(k,l)} x_{ij}",), {"x": (5, 7)}, fields=OMEGA2),
    Layer("window_norm", (r"f_{kl} = \sqrt{\sum_{(i,j) \in \Omega(k,l)} x_{ij}^2}",), {"x": (5, 7)}, fields=OMEGA2),
    Layer("window_log_mean_exp", (r"f_{kl} = \frac{1}{r} \log\left( \frac{1}{|\Omega(k,l)|} \sum_{(i,j) \in \Omega(k,l)} e^{r x_{ij}} \right)",),
          {"x": (5, 7), "r": ()}, fields=OMEGA2),
    Layer("window_mean_1d", (r"f_t = \frac{1}{|\Omega(t)|} \sum_{i \in \Omega(t)} x_i",), {"x": (8,)}, fields=OMEGA1),
    Layer("window_norm_1d", (r"f_t = \sqrt{\sum_{i \in \Omega(t)} x_i^2}",), {"x": (8,)}, fields=OMEGA1),
    Layer("window_max_scaled", (r"f_t = c \max_{i \in \Omega(t)} x_i",), {"x": (8,), "c": ()}, fields=OMEGA1),
    Layer("mean_of_squares", (r"y = \operatorname{mean}_j x_j^2",), X),
    Layer("product_of_entries", (r"y = \prod_j x_j",), X),
    Layer("power", (r"y_k = (x_k)^a",), {"x": (4,), "a": ()}, positive=("x",)),
    Layer("smallest_of_three", (r"y_k = \min(x_k, 2 x_k - 1, c)",), {"x": (6,), "c": ()}),
    Layer("signed", (r"y_k = \operatorname{sign}(x_k) \sqrt{|x_k|}",), {"x": (5,)}),
    Layer("weighted_by_index", (r"y = \sum_{j=1}^{n} j x_j",), X),
    Layer("differences", (r"y = \sum_{j=1}^{n-1} (x_{j+1} - x_j)^2",), {"x": (5,)}, sizes=(("x", ("n",)),)),
    Layer("differences_unstated", (r"y = \sum_{j=1}^{n-1} (x_{j+1} - x_j)^2",), {"x": (5,)}),
    Layer("full_convolution", (r"y_k = \sum_{p : 0 \le k-p < n} w_p x_{k-p}",), {"w": (3,), "x": (4,)}),
    Layer("guarded_logarithm", (r"y_k = \begin{cases} a \log(x_k) & \text{if } x_k > 1 \\ 2 a \log(x_k) & \text{if } \frac{1}{2} < x_k \le 1 \\ 0 & \text{otherwise} \end{cases}",), {"x": (6,), "a": ()}),
    Layer("two_maxouts", (r"h_k = \max_r \sum_j W_{rkj} x_j", r"y_m = \max_r \sum_k U_{rmk} h_k"), {"x": (4,), "W": (3, 2, 4), "U": (2, 3, 2)}),
    Layer("maxima_of_one_input", (r"y_k = \max_j (c_k x_j) + \max_j (d_k x_j)",), {"x": (4,), "c": (3,), "d": (3,)}),
    Layer("generalised_mean", (r"y = \left( \frac{1}{n} \sum_{j=1}^n x_j^p \right)^{\frac{1}{p}}",), {"x": (4,), "p": ()}, positive=("x", "p")),
    Layer("cosine", (r"y = \frac{\sum_j u_j v_j}{\sqrt{\sum_j u_j^2} \sqrt{\sum_j v_j^2}}",), {"u": (4,), "v": (4,)}),
    Layer("deep_prelu", (LINEAR, r"y_k = \max(s_k, a s_k)", r"u_m = \sum_k V_{mk} y_k", r"z_m = \max(u_m, a u_m)"),
          {**WXB, "a": (), "V": (2, 3)}),
    Layer("bilinear", (r"y = \sum_i \sum_j x_i A_{ij} x_j",), {"x": (4,), "A": (4, 4)}),
]
ZOO = {layer.name: layer for layer in LAYERS}


@cache
def messages_of(name: str) -> Messages:
    return Messages(ZOO[name].module())


@cache
def composed(name: str) -> Sheet:
    """The sheet of a layer, which nothing has checked."""
    return compose(messages_of(name))


def arrays_of(layer: Layer, rng: np.random.Generator) -> dict[str, Array]:
    """Random arrays that keep to what the layer assumes of them."""
    found: dict[str, Array] = {}
    for name, shape in layer.shapes.items():
        values = rng.normal(size=shape)
        if name in layer.positive:
            values = np.abs(values) + 0.1
        if name in layer.signs:
            values = np.where(values < 0, -1.0, 1.0)
        found[name] = np.asarray(values / values.sum() if name in layer.ones else values)
    return found
