"""Chains of layers by name: formulas, letters, roles, and what is refused."""

from __future__ import annotations

import pytest

import derive
from derive.errors import CardError
from derive.layers import compose
from derive.layers.chain import Part, parse

CHAINS = [
    ("linear -> prelu -> squared_error",
     [r"s = \sum_{j} w_{j} x_{j}", r"h = \begin{cases} s & \text{if } s > 0 \\ a s & \text{otherwise} \end{cases}",
      r"\ell = (h - y)^2"], ("w", "a"), ("y",)),
    ("linear(bias=false) -> softmax -> cross_entropy",
     [r"s_{k} = \sum_{j} W_{kj} x_{j}", r"h_{k} = \frac{e^{s_{k}}}{\sum_{j} e^{s_{j}}}",
      r"\ell = -\sum_{k} y_{k} \log(h_{k})"], ("W",), ("y",)),
    ("linear -> sigmoid -> cross_entropy",
     [r"s = \sum_{j} w_{j} x_{j}", r"h = \frac{1}{1 + e^{-s}}", r"\ell = -(y \log(h) + (1 - y) \log(1 - h))"],
     ("w",), ("y",)),
    ("linear(units=1)", [r"y = \sum_{j} w_{j} x_{j}"], ("w",), ()),
    ("linear(units=1, bias=true) -> relu", [r"s = \sum_{j} w_{j} x_{j} + b", r"y = \max(0, s)"], ("w", "b"), ()),
    ("relu", [r"y_{k} = \max(0, x_{k})"], (), ()),
    ("linear(10) -> relu -> linear -> squared_error(half=true)",
     [r"s_{k} = \sum_{j} W_{kj} x_{j} + b_{k}", r"h_{k} = \max(0, s_{k})", r"z = \sum_{j} w_{j} h_{j}",
      r"\ell = \frac{1}{2} (z - y)^2"], ("W", "b", "w"), ("y",)),
    ("max_pool(2) -> linear -> relu",
     [r"h_{k,l} = \max_{(i,j) \in \Omega(k,l)} x_{i,j}", r"s_{k} = \sum_{i,j} W_{kij} h_{ij} + b_{k}",
      r"y_{k} = \max(0, s_{k})"], ("W", "b"), ()),
    ("linear(weights=k, bias=j) -> sigmoid",
     [r"s_{i} = \sum_{l} k_{il} x_{l} + j_{i}", r"y_{i} = \frac{1}{1 + e^{-s_{i}}}"], ("k", "j"), ()),
    ("linear -> leaky_relu(slope=0.1) -> hinge(target=t)",
     [r"s = \sum_{j} w_{j} x_{j}", r"h = \begin{cases} s & \text{if } s > 0 \\ 0.1 s & \text{otherwise} \end{cases}",
      r"\ell = \max(0, 1 - t h)"], ("w",), ("t",)),
    ("elu(1)", [r"y_{k} = \begin{cases} x_{k} & \text{if } x_{k} > 0 \\ (e^{x_{k}} - 1) & \text{otherwise} \end{cases}"],
     (), ()),
    ("linear -> relu(function=f)", [r"s_{k} = \sum_{j} W_{kj} x_{j} + b_{k}", "y_{k} = f(s_{k})"], ("W", "b"), ()),
]


@pytest.mark.parametrize(("chain", "formulas", "parameters", "constants"), CHAINS, ids=[c[0] for c in CHAINS])
def test_formulas(chain: str, formulas: list[str], parameters: tuple[str, ...], constants: tuple[str, ...]) -> None:
    found = compose(chain)
    assert list(found.formulas) == formulas
    assert (found.inputs, found.parameters, found.constants) == (("x",), parameters, constants)


def test_letters_are_bound_part_by_part() -> None:
    found = compose("linear -> relu -> linear -> softmax -> cross_entropy",
                    letters={"input": "v", "weights": ["A", "B"], "bias": "c", "target": "d", "loss": "L",
                             "preactivation": [r"\alpha", r"\beta"]}, taken={"h", "b"})
    assert found.formulas == (
        r"\alpha_{k} = \sum_{j} A_{kj} v_{j} + c_{k}", r"z_{k} = \max(0, \alpha_{k})",
        r"\beta_{k} = \sum_{j} B_{kj} z_{j} + d'_{k}".replace("d'", found.parameters[-1]),
        rf"{found.parts[3].letters['output']}_{{k}} = \frac{{e^{{\beta_{{k}}}}}}{{\sum_{{j}} e^{{\beta_{{j}}}}}}",
        rf"L = -\sum_{{k}} d_{{k}} \log({found.parts[3].letters['output']}_{{k}})")
    assert len({*found.parameters, *found.constants, *found.inputs}) == 6
    assert found.facts == (r"\sum_{j} d_{j} = 1",)


@pytest.mark.parametrize(("chain", "message"), [
    ("", "the name of a layer should stand at its end"),
    ("relu ->", "the name of a layer should stand at its end"),
    ("relu relu2)", "` -> ` or the end should stand where `)` does"),
    ("linear(", "a value should stand at its end"),
    ("linear(1 2)", "`,` or `)` should stand where `2` does"),
    ("linear(bias=false, bias=true)", "`linear` has `bias` twice"),
    ("linear(bias=false, 3)", "an option and its name should stand where `3` does"),
    ("relu; tanh", "`;` is no part of a chain"),
    ("prelu(1/0)", "`1/0` is not a number"),
    ("rellu", "unknown layer `rellu`; did you mean `relu`?"),
    ("linear(unit=3)", "`linear` takes no `unit`; did you mean `units`?"),
    ("relu(3)", "`relu` takes no value without a name"),
    ("max_pool", "`max_pool` needs `kernel_size`"),
    ("linear -> conv2d", "`conv2d` takes 3 axes, and `linear` gives a vector"),
    ("linear -> max_pool(3x2)", "`max_pool` takes 2 axes, or 3 with channels, and `linear` gives a vector"),
    ("linear -> batch_norm", "`batch_norm` takes 2 axes or 4 axes, and `linear` gives a vector"),
    ("residual(linear(units=1))", "`residual` adds a vector to a number, which `linear` gives"),
    ("linear(output=s) -> relu(output=s)", "`s` is the output of `relu` and stands for something else too"),
    ("conv2d(0)", "`kernel_size: 0` is not a positive integer"),
    ("conv2d(3, channels=2)", "`channels: 2` is neither true nor false"),
    ("linear(units=0)", "`units: 0` is not a positive integer"),
    ("conv1d(3, stride=2, padding=same)", "`padding: same` takes a `kernel_size` in numbers and stride 1"),
    ("softmax(function=f)", "`softmax` is no function of each entry"),
    ("squared_error -> relu", "`relu` behind `squared_error`: a loss stands at the end of the chain"),
    ("relu -> cross_entropy", "`cross_entropy` behind `relu`: it is categorical behind `softmax`"),
    ("linear(units=1) -> embedding", "`embedding` takes a vector, and `linear` gives a number"),
])
def test_what_is_no_chain(chain: str, message: str) -> None:
    with pytest.raises(CardError) as caught:
        compose(chain)
    assert message in str(caught.value)


def test_values() -> None:
    (part,) = parse(r"Max Pooling(3x2, stride=(2, 1), padding=same, a=0.5, b=-1, c=\hat{y}, d=none)")
    assert (part.name, part.plain) == ("Max Pooling", ((3, 2),))
    assert part.given == {"stride": (2, 1), "padding": "same", "a": 0.5, "b": -1, "c": r"\hat{y}", "d": None}
    assert parse("relu → tanh -> relu") == (Part("relu"), Part("tanh"), Part("relu"))


def test_a_chain_is_a_module() -> None:
    module = derive.compose("linear -> relu(function=f) -> squared_error(target=t)", functions=[r"f(z) = z^3"])
    assert module.defined[-1] == module.output and len(module.equations) == 3
    assert (module.inputs, module.parameters, module.constants) == (("x",), ("w",), ("t",))
    assert [f.name for f in module.functions] == ["f"]
    pooled = derive.compose("max_pool(2) -> linear -> relu")
    assert pooled.receptive_field is not None and pooled.receptive_field.kernel_size == (2, 2)
    assert float(derive.solve(derive.compose("linear(units=1) -> tanh")).forward(x=[0.0], w=[1.0])) == 0


def test_a_layer_by_name() -> None:
    assert derive.layer("linear", units=3, weights="A", bias=False).parameters == ("A",)
    assert derive.layer("conv2d", kernel_size=3, padding=1).ranges
    assert derive.layer("relu", dims=2, tie_rule="split").tie_rule == "split"
    with pytest.raises(CardError, match="`relu` takes no `stride`"):
        derive.layer("relu", stride=2)
    with pytest.raises(CardError, match="`prelu` takes no `input_size`"):
        derive.layer("prelu", input_size=(3,))
