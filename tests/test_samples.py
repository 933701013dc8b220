"""The sample cards: solved with every check green, their numbers PyTorch's; the gallery holds their sheets as they are written today."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import derive
from derive.numbers import Numbers
from derive.render import files
from derive.render.guard import displayed
from tests.bank import ROOT, SAMPLE, SAMPLES, derived, solved, understood
from tests.render.katex import formulas, refused, refused_by_github

GALLERY = ROOT / "output" / "gallery"
DECLINED = [path for path in SAMPLES if path.parent.name == "declined"]
SOLVED = [path for path in SAMPLES if path not in DECLINED]
# Card → a function of PyTorch's `torch` that gives the layer, and the shapes of its letters.  The letters are the card's.
Layer = tuple[Callable[..., Callable[..., Any]], dict[str, tuple[int, ...]]]
NEURON = {"w": (4,), "x": (4,), "b": ()}
DENSE = {"W": (3, 4), "x": (4,), "b": (3,)}
LAYERS: dict[str, Layer] = {
    "average_pooling": (lambda t: lambda x: pooled(t.nn.functional.avg_pool2d, x, 2), {"x": (6, 4)}),
    "overlapping_max_pooling": (lambda t: lambda a: pooled(t.nn.functional.max_pool2d, a, 3, 2), {"a": (7, 9)}),
    "l2_pooling": (lambda t: lambda x: pooled(t.nn.functional.lp_pool2d, x, 2.0, 3), {"x": (6, 9)}),
    "minimum_cz": (lambda t: lambda x: -pooled(t.nn.functional.max_pool2d, -x, 3), {"x": (6, 6)}),
    "global_average_head": (lambda t: lambda a, V, d: V @ a.mean((1, 2)) + d, {"a": (3, 4, 5), "V": (2, 3), "d": (2,)}),
    "relu_layer": (lambda t: t.relu, {"x": (5,)}),
    "sigmoid_derivative": (lambda t: t.sigmoid, {"z": ()}),
    "leaky_slope": (lambda t: lambda s: t.nn.functional.leaky_relu(s, 0.01), {"s": (5,)}),
    "elu_alpha": (lambda t: lambda x, alpha: t.where(x > 0, x, alpha * t.expm1(x)), {"x": (5,), "alpha": ()}),
    "swish_neuron": (lambda t: lambda w, x, b: t.nn.functional.silu(w @ x + b), NEURON),
    "mish_by_name": (lambda t: lambda W, x, b: t.nn.functional.mish(W @ x + b), DENSE),
    "own_function": (lambda t: lambda W, x, b: (s := W @ x + b) / t.sqrt(1 + s**2), DENSE),
    "maxout_unit": (lambda t: lambda W, x, b: (W @ x + b).max(1).values, {"W": (3, 2, 4), "x": (4,), "b": (3, 2)}),
    "softplus_cz": (lambda t: t.nn.functional.softplus, {"x": (5,)}),
    "affine_layer": (lambda t: lambda W, x, b: W @ x + b, DENSE),
    "mini_batch": (lambda t: lambda X, W, b: X @ W + b, {"X": (5, 4), "W": (4, 3), "b": (3,)}),
    "prelu_network": (lambda t: lambda w, x, b, a, y: (y - t.where((s := w @ x + b) > 0, s, a * s))**2, {**NEURON, "a": (), "y": ()}),
    "residual_block": (lambda t: lambda W, x, b: x + t.relu(W @ x + b), {"W": (4, 4), "x": (4,), "b": (4,)}),
    "neuron_cz": (lambda t: lambda w, x, b, t_: (t.tanh(w @ x + b) - t_)**2 / 2, {**NEURON, "t": ()}),
    "mlp_words_cz": (lambda t: lambda W, x, b, V, c, y: -(y * t.log_softmax(V @ t.relu(W @ x + b) + c, 0)).sum(),
                     {**DENSE, "V": (2, 3), "c": (2,), "y": (2,)}),
    "huber": (lambda t: lambda y, t_, kappa: t.where(abs(y - t_) <= kappa, (y - t_)**2 / 2, kappa * (abs(y - t_) - kappa / 2)),
              {"y": (), "t": (), "kappa": ()}),
    "svm_hinge": (lambda t: lambda w, x, b, t_: t.relu(1 - t_ * (w @ x + b)), {**NEURON, "t": ()}),
    "logistic_regression": (lambda t: lambda w, x, b, t_: t.nn.functional.binary_cross_entropy_with_logits(w @ x + b, t_), {**NEURON, "t": ()}),
    "softmax_jacobian": (lambda t: lambda s: t.softmax(s, 0), {"s": (4,)}),
    "softmax_cross_entropy": (lambda t: lambda s, t_: -(t_ * t.log_softmax(s, 0)).sum(), {"s": (4,), "t": (4,)}),
    "focal": (lambda t: lambda p, gamma: -(1 - p)**gamma * t.log(p), {"p": (), "gamma": ()}),
    "pinball_cz": (lambda t: lambda y, t_, tau: t.maximum(tau * (t_ - y), (tau - 1) * (t_ - y)), {"y": (), "t": (), "tau": ()}),
    "contrastive_pairs": (lambda t: lambda u, v, t_, m: t_ * (D := ((u - v)**2).sum()) + (1 - t_) * t.relu(m - D),
                          {"u": (3,), "v": (3,), "t": (), "m": ()}),
    "signal_filter": (lambda t: lambda x, w, b: t.nn.functional.conv1d(x[None, None], w[None, None])[0, 0] + b, {"x": (7,), "w": (3,), "b": ()}),
    "strided_convolution": (lambda t: lambda x, W, b: t.nn.functional.conv2d(x[None], W, b, 2)[0],
                            {"x": (2, 7, 9), "W": (3, 2, 3, 3), "b": (3,)}),
    "dilated_causal": (lambda t: lambda x, w: t.nn.functional.conv1d(x[None, None], w.flip(0)[None, None], dilation=2)[0, 0], {"x": (9,), "w": (3,)}),
    "conv_relu_pool": (lambda t: lambda x, w, b: pooled(t.nn.functional.max_pool2d, t.relu(t.nn.functional.conv2d(x[None, None], w[None, None]) + b)[0, 0], 2),
                       {"x": (8, 6), "w": (3, 3), "b": ()}),
    "batch_normalisation": (lambda t: lambda x, gamma, beta, epsilon: gamma * (x - x.mean()) / t.sqrt(((x - x.mean())**2).mean() + epsilon) + beta,
                            {"x": (5,), "gamma": (), "beta": (), "epsilon": ()}),
    "rms_norm": (lambda t: lambda x, g, epsilon: g * x / t.sqrt((x**2).mean() + epsilon), {"x": (5,), "g": (5,), "epsilon": ()}),
    "layer_norm_by_name": (lambda t: lambda x, gamma, beta, epsilon: t.nn.functional.layer_norm(x, x.shape, gamma, beta, float(epsilon.detach())),
                           {"x": (5,), "gamma": (5,), "beta": (5,), "epsilon": ()}),
    "attention_query": (lambda t: lambda q, k, v: t.nn.functional.scaled_dot_product_attention(q[None], k, v)[0], {"q": (3,), "k": (4, 3), "v": (4, 3)}),
    "recurrent_step": (lambda t: lambda W, x, b, U, h: t.tanh(W @ x + U @ h + b), {**DENSE, "U": (3, 3), "h": (3,)}),
    "mixture_of_linear_experts": (lambda t: lambda W, x, b, V: t.softmax(V @ x, 0) @ (W @ x + b),
                           {"W": (2, 3, 4), "x": (4,), "b": (2, 3), "V": (2, 4)}),
    "gated_linear_unit": (lambda t: lambda W, x, b, V, c: (W @ x + b) * t.sigmoid(V @ x + c), {**DENSE, "V": (3, 4), "c": (3,)}),
}  # fmt: skip


def pooled(function: Callable[..., Any], x: Any, *options: Any) -> Any:
    return function(x[None, None], *options)[0, 0]


def name_of(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", SOLVED, ids=name_of)
def test_a_sample_s_checks_pass_and_are_of_every_formula_and_its_sheet_is_in_the_gallery(path: Path) -> None:
    solution = solved(path.stem)
    assert [f"{c.name} {c.verdict.value}: {c.latex}" for c in solution.report.failures] == []
    name = derive.Card.read(path).id
    for form in ("md", "tex", "html") if path == SAMPLE else ("md",):
        for file, text in {f"{name}.{form}": derive.render(solution, form), **files(solution, form)}.items():
            assert isinstance(text, str)
            assert (GALLERY / file).read_bytes() == text.encode("utf-8"), "`make gallery` writes them anew"
    known = {" ".join(c.latex.split()) for c in solution.report.checks if c.latex}
    known |= {" ".join(latex.split()) for latex in solution.report.definitions}
    printed = [" ".join(f.split()) for f in displayed(str(derive.render(solution, "md")).split("# Solution")[1])]
    assert printed and set(printed) <= known


@pytest.mark.parametrize("path", DECLINED, ids=name_of)
def test_what_is_out_of_scope_is_declined(path: Path) -> None:
    with pytest.raises(derive.UnsupportedError):
        derive.solve(path)
    assert path.stem in (ROOT / "cards" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", LAYERS)
def test_the_numbers_of_a_sample_are_pytorch_s(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    layer, shapes = LAYERS[name]
    solution, source = Numbers(understood(name), derived(name)), np.random.default_rng(len(name))
    scalars = ("alpha", "a", "kappa", "gamma", "tau", "p", "epsilon", "m")
    arrays = {n: source.uniform(0.1, 0.9, s) if n in scalars else source.normal(size=s) for n, s in shapes.items()}
    if "t" in arrays:
        arrays["t"] = np.eye(4)[2] if shapes["t"] else np.array(1.0)
    tensors = {n: torch.tensor(a, dtype=torch.float64, requires_grad=True) for n, a in arrays.items()}
    value = layer(torch)(*tensors.values())
    upstream = source.normal(size=tuple(value.shape))
    value.backward(torch.tensor(upstream))
    module = solution.module
    np.testing.assert_allclose(solution.forward(**arrays), value.detach().numpy(), rtol=1e-9, atol=1e-12)
    for letter in (*module.inputs, *module.parameters):
        if letter != "epsilon":
            found = solution.backward(letter, upstream=upstream, **arrays)
            np.testing.assert_allclose(found, tensors[letter].grad.numpy(), rtol=1e-7, atol=1e-10, err_msg=letter)


@pytest.mark.parametrize("file", sorted(GALLERY.glob("*.md")), ids=name_of)
def test_github_shows_the_mathematics_of_the_gallery(file: Path) -> None:
    assert refused_by_github(file.read_text("utf-8")) == []


def test_katex_renders_every_formula_of_the_gallery() -> None:
    found = {f for file in sorted(GALLERY.glob("*.md")) for f in formulas(file.read_text("utf-8"))}
    assert len(found) > 1000
    assert refused(found) == []


def test_katex_refuses_what_is_no_formula() -> None:
    assert [latex for latex, _ in refused([(False, r"\frac{1}"), (True, "x^2"), (False, r"\nosuchmacro x")])] == [
        r"\frac{1}", r"\nosuchmacro x"]  # fmt: skip
