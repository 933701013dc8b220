"""Every declared layer, and chains of them: solved, verified, and in values and all gradients what PyTorch computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import derive
from derive.layers import LAYERS, compose, module_of
from derive.layers.catalogue import Layer
from derive.numbers import Numbers

Tensors = Mapping[str, Any]
Oracle = Callable[[Any, Any, Any], Any]  # of torch, torch.nn.functional and the tensors by letter

VECTOR = {"x": (5,)}
LOSS = {"x": (), "y": ()}
POINTS: dict[str, Callable[[Any, tuple[int, ...]], Any]] = {
    "real": lambda rng, shape: rng.normal(size=shape),
    "positive": lambda rng, shape: rng.uniform(0.2, 2.0, size=shape),
    "probability": lambda rng, shape: rng.uniform(0.1, 0.9, size=shape),
    "sign": lambda rng, shape: rng.choice([-1.0, 1.0], size=shape),
    "binary": lambda rng, shape: rng.choice([0.0, 1.0], size=shape),
    "one-hot": lambda rng, shape: np.eye(*shape)[1],
}


class Case:
    """A chain, the shape of each letter, what its values are like, and PyTorch's own.

    ``solved``: the chain that is solved in its place, where that is as good and cheaper; empty for none.
    """

    def __init__(self, chain: str, shapes: Mapping[str, Any], oracle: Oracle, solved: str | None = None, **like: str) -> None:
        self.chain, self.shapes, self.oracle, self.like = chain, shapes, oracle, like
        self.solved = chain if solved is None else solved

    def arrays(self) -> dict[str, Any]:
        rng = np.random.default_rng(len(self.chain))
        return {name: np.array(shape) if isinstance(shape, float) else POINTS[self.like.get(name, "real")](rng, shape)
                for name, shape in self.shapes.items()}


def _gates(F: Any, t: Tensors, gate: str, h: Any) -> Any:
    return t[f"W_{gate}"] @ t["x"] + t[f"U_{gate}"] @ h + t[f"b_{gate}"]


def _lstm(torch: Any, F: Any, t: Tensors) -> Any:
    i, f, o = (torch.sigmoid(_gates(F, t, g, t["h"])) for g in "ifo")
    return o * torch.tanh(f * t["c"] + i * torch.tanh(_gates(F, t, "g", t["h"])))


def _gru(torch: Any, F: Any, t: Tensors) -> Any:
    z, r = (torch.sigmoid(_gates(F, t, g, t["h"])) for g in "zr")
    return (1 - z) * t["h"] + z * torch.tanh(_gates(F, t, "g", r * t["h"]))


def _cell(gates: str, inputs: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    return {**inputs, **{f"{w}_{g}": s for g in gates for w, s in (("W", (3, 4)), ("U", (3, 3)), ("b", (3,)))}}


def _batch(torch: Any, F: Any, t: Tensors) -> Any:
    return F.batch_norm(t["x"], None, None, t["gamma"], t["beta"], True, 0.0, float(t["epsilon"]))


def _causal(torch: Any, F: Any, t: Tensors) -> Any:
    return F.scaled_dot_product_attention(t["Q"], t["K"], t["V"], is_causal=True)


CASES = [
    Case("linear", {"x": (4,), "W": (3, 4), "b": (3,)}, lambda torch, F, t: F.linear(t["x"], t["W"], t["b"])),
    Case("linear(units=1)", {"x": (4,), "w": (4,)}, lambda torch, F, t: t["w"] @ t["x"]),
    Case("linear(3, bias=false)", {"x": (4,), "W": (3, 4)}, lambda torch, F, t: t["W"] @ t["x"]),
    Case("maxout(2)", {"x": (4,), "W": (3, 2, 4), "b": (3, 2)},
         lambda torch, F, t: (torch.einsum("krj,j->kr", t["W"], t["x"]) + t["b"]).amax(1)),
    Case("glu", {"x": (4,), "W": (3, 4), "b": (3,), "V": (3, 4), "c": (3,)},
         lambda torch, F, t: F.glu(torch.cat([t["W"] @ t["x"] + t["b"], t["V"] @ t["x"] + t["c"]]))),
    Case("embedding", {"x": (4,), "E": (4, 3)}, lambda torch, F, t: F.embedding(torch.tensor(1), t["E"]) + 0 * t["x"][0]
         + (t["x"] - t["x"].detach()) @ t["E"], x="one-hot"),
    Case("residual(linear -> relu)", {"x": (4,), "W": (4, 4), "b": (4,)},
         lambda torch, F, t: t["x"] + F.relu(F.linear(t["x"], t["W"], t["b"]))),
    Case("dropout(drop=true)", {"x": (5,), "m": (5,), "p": 0.2}, lambda torch, F, t: t["m"] * t["x"] / (1 - t["p"]), m="binary"),
    Case("dropout", {"x": (5,), "m": (5,), "p": 0.8}, lambda torch, F, t: t["m"] * t["x"] / t["p"], m="binary"),
    Case("softmax(temperature=2) -> categorical_cross_entropy(smoothing=0.1)", {"x": (5,), "y": (5,)},
         lambda torch, F, t: F.cross_entropy(t["x"] / 2, t["y"].argmax(), label_smoothing=0.1), y="one-hot"),
    Case("relu", VECTOR, lambda torch, F, t: F.relu(t["x"])),
    Case("leaky_relu", VECTOR | {"alpha": 0.1}, lambda torch, F, t: F.leaky_relu(t["x"], 0.1)),
    Case("prelu", VECTOR | {"a": 0.3}, lambda torch, F, t: F.prelu(t["x"], t["a"].reshape(1))),
    Case("prelu(shared=false)", VECTOR | {"a": (5,)}, lambda torch, F, t: F.prelu(t["x"][None], t["a"])[0]),
    Case("elu", VECTOR | {"alpha": 0.7}, lambda torch, F, t: F.elu(t["x"], 0.7)),
    Case("selu", VECTOR | {"lambda": 1.0507009873554805, "alpha": 1.6732632423543772},
         lambda torch, F, t: F.selu(t["x"])),
    Case("celu", VECTOR | {"alpha": 0.7}, lambda torch, F, t: F.celu(t["x"], 0.7)),
    Case("sigmoid", VECTOR, lambda torch, F, t: torch.sigmoid(t["x"])),
    Case("tanh", VECTOR, lambda torch, F, t: torch.tanh(t["x"])),
    Case("softplus", VECTOR, lambda torch, F, t: F.softplus(t["x"])),
    Case("softsign", VECTOR, lambda torch, F, t: F.softsign(t["x"])),
    Case("identity", VECTOR, lambda torch, F, t: t["x"]),
    Case("modulus", VECTOR, lambda torch, F, t: t["x"].abs()),
    Case("gelu", VECTOR, lambda torch, F, t: F.gelu(t["x"])),
    Case("gelu(approximate=true)", VECTOR, lambda torch, F, t: F.gelu(t["x"], approximate="tanh"), ""),
    Case("silu", VECTOR, lambda torch, F, t: F.silu(t["x"])),
    Case("mish", VECTOR, lambda torch, F, t: F.mish(t["x"])),
    Case("hard_tanh", VECTOR, lambda torch, F, t: F.hardtanh(t["x"])),
    Case("hard_sigmoid", VECTOR, lambda torch, F, t: F.hardsigmoid(t["x"])),
    Case("hard_swish", VECTOR, lambda torch, F, t: F.hardswish(t["x"])),
    Case("relu6", VECTOR, lambda torch, F, t: F.relu6(t["x"])),
    Case("sine", VECTOR | {"omega": 3.0}, lambda torch, F, t: torch.sin(3 * t["x"])),
    Case("softmax", VECTOR, lambda torch, F, t: F.softmax(t["x"], -1)),
    Case("log_softmax", VECTOR, lambda torch, F, t: F.log_softmax(t["x"], -1)),
    Case("squared_error", LOSS, lambda torch, F, t: F.mse_loss(t["x"], t["y"])),
    Case("squared_error(half=true)", LOSS, lambda torch, F, t: F.mse_loss(t["x"], t["y"]) / 2),
    Case("absolute_error", LOSS, lambda torch, F, t: F.l1_loss(t["x"], t["y"])),
    Case("huber", LOSS | {"kappa": 0.8}, lambda torch, F, t: F.huber_loss(t["x"], t["y"], delta=0.8)),
    Case("log_cosh", LOSS, lambda torch, F, t: torch.log(torch.cosh(t["x"] - t["y"]))),
    Case("pinball", LOSS | {"tau": 0.3}, lambda torch, F, t: torch.where(t["y"] >= t["x"], 0.3, -0.7) * (t["y"] - t["x"])),
    Case("hinge", LOSS, lambda torch, F, t: F.relu(1 - t["y"] * t["x"]), y="sign"),
    Case("squared_hinge", LOSS, lambda torch, F, t: F.relu(1 - t["y"] * t["x"]) ** 2, y="sign"),
    Case("logistic_loss", LOSS, lambda torch, F, t: F.soft_margin_loss(t["x"], t["y"]), y="sign"),
    Case("binary_cross_entropy", LOSS, lambda torch, F, t: F.binary_cross_entropy(t["x"], t["y"]), x="probability",
         y="binary"),
    Case("categorical_cross_entropy", {"x": (4,), "y": (4,)}, lambda torch, F, t: F.nll_loss(torch.log(t["x"]), torch.tensor(1)),
         x="probability", y="one-hot"),
    Case("negative_log_likelihood", {"x": (4,), "y": (4,)}, lambda torch, F, t: F.nll_loss(t["x"], torch.tensor(1)),
         y="one-hot"),
    Case("focal", {"x": (4,), "y": (4,), "gamma": 2.0}, lambda torch, F, t: -((1 - t["x"][1]) ** 2) * torch.log(t["x"][1]),
         x="probability", y="one-hot"),
    Case("binary_focal", LOSS | {"gamma": 2.0}, lambda torch, F, t: torch.where(
        t["y"] > 0, -((1 - t["x"]) ** 2) * torch.log(t["x"]), -(t["x"] ** 2) * torch.log(1 - t["x"])), x="probability", y="binary"),
    Case("squared_logarithmic", LOSS, lambda torch, F, t: F.mse_loss(torch.log1p(t["x"]), torch.log1p(t["y"])),
         x="positive", y="positive"),
    Case("conv1d", {"x": (2, 6), "W": (3, 2, 3), "b": (3,)}, lambda torch, F, t: F.conv1d(t["x"], t["W"], t["b"])),
    Case("conv1d(3, stride=2, padding=2, dilation=2)", {"x": (2, 7), "W": (3, 2, 3), "b": (3,)},
         lambda torch, F, t: F.conv1d(t["x"], t["W"], t["b"], 2, 2, 2)),
    Case("conv1d(padding=1, channels=false)", {"x": (7,), "w": (3,), "b": ()},
         lambda torch, F, t: F.conv1d(t["x"][None], t["w"][None, None], t["b"].reshape(1), padding=1)[0]),
    Case("conv1d(2, padding=same, filters=4)", {"x": (2, 5), "W": (4, 2, 2), "b": (4,)},
         lambda torch, F, t: F.conv1d(t["x"], t["W"], t["b"], padding="same")),
    Case("conv2d(3, stride=2, padding=1)", {"x": (2, 5, 6), "W": (3, 2, 3, 3), "b": (3,)},
         lambda torch, F, t: F.conv2d(t["x"], t["W"], t["b"], 2, 1)),
    Case("conv2d", {"x": (2, 5, 4), "W": (3, 2, 3, 2), "b": (3,)}, lambda torch, F, t: F.conv2d(t["x"], t["W"], t["b"]), ""),
    Case("conv2d((3, 2), stride=(1, 2), channels=false, bias=false)", {"x": (5, 6), "w": (3, 2)},
         lambda torch, F, t: F.conv2d(t["x"][None], t["w"][None, None], stride=(1, 2))[0]),
    Case("depthwise_conv1d(3)", {"x": (2, 6), "W": (2, 3), "b": (2,)},
         lambda torch, F, t: F.conv1d(t["x"], t["W"][:, None], t["b"], groups=2)),
    Case("depthwise_conv2d(2, padding=1)", {"x": (2, 4, 3), "W": (2, 2, 2), "b": (2,)},
         lambda torch, F, t: F.conv2d(t["x"], t["W"][:, None], t["b"], padding=1, groups=2)),
    Case("pointwise_conv2d", {"x": (2, 4, 3), "W": (3, 2), "b": (3,)},
         lambda torch, F, t: F.conv2d(t["x"], t["W"][:, :, None, None], t["b"])),
    Case("conv_transpose1d(3, stride=2, padding=1)", {"x": (2, 4), "W": (2, 3, 3), "b": (3,)},
         lambda torch, F, t: F.conv_transpose1d(t["x"], t["W"], t["b"], 2, 1)),
    Case("conv_transpose1d", {"x": (2, 4), "W": (2, 3, 2), "b": (3,)},
         lambda torch, F, t: F.conv_transpose1d(t["x"], t["W"], t["b"])),
    Case("conv_transpose2d(2, stride=2)", {"x": (2, 3, 2), "W": (2, 3, 2, 2), "b": (3,)},
         lambda torch, F, t: F.conv_transpose2d(t["x"], t["W"], t["b"], 2),
         "conv_transpose2d(2, stride=2, channels=false)"),
    Case("batch_norm", {"x": (6, 3), "gamma": (3,), "beta": (3,), "epsilon": 0.01}, _batch),
    Case("layer_norm", {"x": (5,), "gamma": (5,), "beta": (5,), "epsilon": 0.01},
         lambda torch, F, t: F.layer_norm(t["x"], (5,), t["gamma"], t["beta"], 0.01)),
    Case("instance_norm", {"x": (2, 3, 4), "gamma": (2,), "beta": (2,), "epsilon": 0.01},
         lambda torch, F, t: F.instance_norm(t["x"][None], weight=t["gamma"], bias=t["beta"], eps=0.01)[0]),
    Case("group_norm(2)", {"x": (4, 3, 2), "gamma": (4,), "beta": (4,), "epsilon": 0.01},
         lambda torch, F, t: F.group_norm(t["x"][None], 2, t["gamma"], t["beta"], 0.01)[0]),
    Case("rms_norm", {"x": (5,), "gamma": (5,), "epsilon": 0.01},
         lambda torch, F, t: F.rms_norm(t["x"], (5,), t["gamma"], 0.01)),
    Case("attention", {"Q": (3, 4), "K": (5, 4), "V": (5, 2)},
         lambda torch, F, t: F.scaled_dot_product_attention(t["Q"], t["K"], t["V"])),
    Case("attention(causal=true)", {"Q": (4, 3), "K": (4, 3), "V": (4, 2)}, _causal),
    Case("rnn", {"x": (4,), "h": (3,), "W": (3, 4), "U": (3, 3), "b": (3,)},
         lambda torch, F, t: torch.tanh(F.linear(t["x"], t["W"], t["b"]) + t["U"] @ t["h"])),
    Case("lstm", _cell("ifog", {"x": (4,), "h": (3,), "c": (3,)}), _lstm, ""),
    Case("gru", _cell("zrg", {"x": (4,), "h": (3,)}), _gru),
]
CHAINS = [
    Case("linear -> prelu -> squared_error", {"x": (4,), "w": (4,), "a": 0.3, "y": ()},
         lambda torch, F, t: (F.prelu((t["w"] @ t["x"]).reshape(1), t["a"].reshape(1))[0] - t["y"]) ** 2),
    Case("linear(bias=b) -> sigmoid -> cross_entropy", {"x": (4,), "w": (4,), "b": (), "y": ()},
         lambda torch, F, t: F.binary_cross_entropy_with_logits(t["w"] @ t["x"] + t["b"], t["y"]), y="binary"),
    Case("linear(bias=false) -> softmax -> cross_entropy", {"x": (4,), "W": (3, 4), "y": (3,)},
         lambda torch, F, t: F.cross_entropy(t["W"] @ t["x"], torch.tensor(1)), y="one-hot"),
    Case("linear -> log_softmax -> cross_entropy", {"x": (4,), "W": (3, 4), "b": (3,), "y": (3,)},
         lambda torch, F, t: F.cross_entropy(t["W"] @ t["x"] + t["b"], torch.tensor(1)), y="one-hot"),
    Case("linear -> relu -> linear -> absolute_error",
         {"x": (4,), "W": (3, 4), "b": (3,), "w": (3,), "y": ()},
         lambda torch, F, t: (t["w"] @ F.relu(t["W"] @ t["x"] + t["b"]) - t["y"]).abs()),
    Case("max_pool(2) -> linear -> relu", {"x": (4, 5), "W": (3, 2, 2), "b": (3,)}, lambda torch, F, t: F.relu(
        torch.einsum("kij,ij->k", t["W"], F.max_pool2d(t["x"][None], 2)[0]) + t["b"])),
    Case("avg_pool(2, padding=1) -> linear(1) -> tanh", {"x": (3, 4), "w": (2, 3)},
         lambda torch, F, t: torch.tanh((t["w"] * F.avg_pool2d(t["x"][None], 2, padding=1)[0]).sum())),
    Case("conv1d(2, filters=2) -> global_avg_pool -> softmax", {"x": (2, 5), "W": (2, 2, 2), "b": (2,)},
         lambda torch, F, t: F.softmax(F.conv1d(t["x"], t["W"], t["b"]).mean(-1), -1)),
    Case("conv1d(2) -> relu -> max_pool(2, stride=1)", {"x": (2, 5), "W": (3, 2, 2), "b": (3,)},
         lambda torch, F, t: F.max_pool1d(F.relu(F.conv1d(t["x"], t["W"], t["b"])), 2, 1)),
    Case("max_pool(2, dims=1) -> max_pool(3, stride=1)", {"x": (9,)},
         lambda torch, F, t: F.max_pool1d(F.max_pool1d(t["x"][None], 2), 3, 1)[0]),
    Case("attention -> layer_norm", {"Q": (3, 4), "K": (5, 4), "V": (5, 3), "gamma": (3,), "beta": (3,), "epsilon": 0.1},
         lambda torch, F, t: F.layer_norm(F.scaled_dot_product_attention(t["Q"], t["K"], t["V"]), (3,), t["gamma"], t["beta"], 0.1), ""),
    Case("conv1d(3, padding=1) -> instance_norm", {"x": (2, 5), "W": (3, 2, 3), "b": (3,), "gamma": (3,), "beta": (3,),
                                                   "epsilon": 0.1},
         lambda torch, F, t: F.instance_norm(F.conv1d(t["x"], t["W"], t["b"], padding=1)[None], weight=t["gamma"],
                                             bias=t["beta"], eps=0.1)[0], ""),
]


def identifiers(cases: list[Case]) -> list[str]:
    return [case.chain for case in cases]


def test_every_declared_layer_is_a_case() -> None:
    named = {case.chain.split("(")[0] for case in CASES}
    assert {spec.name for spec in LAYERS if isinstance(spec, Layer)} == named


@pytest.mark.parametrize("case", [*CASES, *CHAINS], ids=identifiers([*CASES, *CHAINS]))
def test_values_and_gradients_are_pytorch_s(case: Case) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    module, arrays = module_of(compose(case.chain)), case.arrays()
    assert {*module.inputs, *module.parameters, *module.constants} == arrays.keys()
    numbers = Numbers(module)
    tensors = {name: torch.tensor(value, requires_grad=name not in module.constants) for name, value in arrays.items()}
    theirs = case.oracle(torch, torch.nn.functional, tensors)
    ours = numbers.forward(**arrays)
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-6, atol=1e-9)
    upstream = np.random.default_rng(7).normal(size=np.shape(ours))
    theirs.backward(torch.tensor(upstream))
    for name in (*module.inputs, *module.parameters):
        if case.like.get(name) in ("one-hot",) and tensors[name].grad is None:
            continue
        np.testing.assert_allclose(numbers.backward(name, upstream=upstream, **arrays), tensors[name].grad.numpy(),
                                   rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", dict.fromkeys(case.solved for case in (*CASES, *CHAINS) if case.solved))
def test_every_equation_is_verified(name: str) -> None:
    solution = derive.solve(module_of(compose(name)))
    assert solution.report.ok, solution.report.failures
