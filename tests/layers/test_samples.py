"""Chains over the samples of a batch: drawn at random, in values and gradients what PyTorch computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from derive.errors import CardError
from derive.layers import compose, module_of
from derive.layers.samples import Samples
from derive.numbers import Numbers

SIZES = {"x": (4, 5), "W": (3, 5), "b": (3,), "V": (2, 3), "c": (2,), "a": (), "y": (4, 2)}  # 4 samples, 3 and 2 units
INNER = {"relu": "relu", "tanh": "tanh", "softplus": "softplus", "prelu": "", "residual(linear(3) -> tanh)": ""}
LOSSES = {"squared_error": "mse_loss", "softmax -> cross_entropy": "cross_entropy", "log_cosh": "",
          "sigmoid -> cross_entropy": "binary_cross_entropy_with_logits", "squared_error(half=true)": ""}


def oracle(F: Any, inner: str, loss: str, how: str, t: dict[str, Any]) -> Any:
    """The loss of linear -> inner -> linear -> loss, of all samples."""
    s = F.linear(t["x"], t["W"], t["b"])
    h = F.prelu(s, t["a"].reshape(1)) if inner == "prelu" else getattr(F, inner)(s)
    z, y = F.linear(h, t["V"], t["c"]), t["y"]
    each = {"log_cosh": lambda: (z - y).cosh().log(), "squared_error(half=true)": lambda: (z - y) ** 2 / 2}.get(
        loss, lambda: getattr(F, LOSSES[loss])(z, y, reduction="none"))()
    return each.sum() / (4 if how == "mean" else 1)


@pytest.mark.parametrize("seed", range(6))
def test_random_chains_are_pytorch_s(seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    rng = np.random.default_rng(seed)
    inner, loss, how = rng.choice([*INNER][:4]), [*LOSSES][seed % len(LOSSES)], rng.choice(["mean", "sum"])
    module = module_of(compose(f"linear(3) -> {inner} -> linear(2) -> {loss}", samples=Samples("N", how)))
    arrays = {name: rng.normal(size=SIZES[name]) for name in (*module.given,)}
    if "cross_entropy" in loss:
        arrays["y"] = np.eye(2)[rng.integers(0, 2, size=4)]
    tensors = {n: torch.tensor(v, requires_grad=n in (*module.inputs, *module.parameters)) for n, v in arrays.items()}
    theirs = oracle(torch.nn.functional, inner, loss, how, tensors)
    theirs.backward()
    numbers = Numbers(module)
    np.testing.assert_allclose(numbers.forward(**arrays), theirs.item(), rtol=1e-9)
    for name in (*module.inputs, *module.parameters):
        np.testing.assert_allclose(numbers.backward(name, upstream=np.array(1.0), **arrays), tensors[name].grad.numpy(),
                                   rtol=1e-7, atol=1e-9, err_msg=name)


CHAINS = [
    ("linear -> batch_norm -> relu", Samples("B"), [
        r"s_{mk} = \sum_{j} W_{kj} x_{mj} + b_{k}", r"\mu_{k} = \frac{1}{B} \sum_{n} s_{nk}", r"y_{mk} = \max(0, h_{mk})"]),
    ("linear(weights=W_1, bias=b_1) -> tanh", Samples("N"), [r"s = x W_1^\top + b_1^\top", r"y_{nk} = \tanh(s_{nk})"]),
    ("linear(transposed=true) -> relu", Samples("32"), [r"s_{nk} = \sum_{j} W_{jk} x_{nj} + b_{k}"]),
    ("linear(H) -> relu", Samples("N", last=True), [r"s_{kn} = \sum_{j} W_{kj} x_{jn} + b_{k}"]),
    ("conv2d -> relu", Samples("N"), [
        r"h_{rkij} = \sum_{c} \sum_{p=0}^{P - 1} \sum_{q=0}^{Q - 1} W_{kcpq} x_{r,c,i + p,j + q} + b_{k}"]),
    ("linear -> sigmoid -> cross_entropy", Samples("8", "mean"), [
        r"\ell = -\frac{1}{8} \sum_{n=1}^{8} (y_{n} \log(h_{n}) + (1 - y_{n}) \log(1 - h_{n}))"]),
]


@pytest.mark.parametrize(("chain", "samples", "formulas"), CHAINS, ids=[c[0] for c in CHAINS])
def test_formulas(chain: str, samples: Samples, formulas: list[str]) -> None:
    found = compose(chain, samples=samples).formulas
    assert [f for f in formulas if f not in found] == []


def test_the_samples_of_a_loss_are_averaged_or_summed() -> None:
    with pytest.raises(CardError, match="is it their mean, or their sum"):
        compose("linear -> squared_error", samples=Samples("N"))
