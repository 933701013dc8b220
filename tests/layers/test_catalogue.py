"""The catalogue: names, aliases and the arguments of ``layer``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from derive.axes import with_axes
from derive.errors import CardError, UnsupportedError
from derive.layers import POOLINGS, find, layer
from derive.layers.catalogue import Pooling
from derive.notation import read, write
from derive.notation.symbols import Kind
from derive.receptive_field import WindowAxis

FORMULAS = {
    ("max_pool",): r"f_{kl} = \max_{(i, j) \in \Omega(k, l)} x_{ij}",
    ("avg_pool",): r"f_{kl} = \frac{1}{9} \sum_{(i, j) \in \Omega(k, l)} x_{ij}",
    ("avg_pool", "count_include_pad", False): r"f_{kl} = \frac{1}{\left|\Omega(k, l)\right|} \sum_{(i, j) \in \Omega(k, l)} x_{ij}",
    ("avg_pool", "divisor_override", 7): r"f_{kl} = \frac{1}{7} \sum_{(i, j) \in \Omega(k, l)} x_{ij}",
    ("avg_pool", "ceil_mode", True): r"f_{kl} = \frac{1}{\min(3, n + 2 - 2k) \min(3, m + 2 - 2l)} \sum_{(i, j) \in \Omega(k, l)} x_{ij}",
    ("sum_pool",): r"f_{kl} = \sum_{(i, j) \in \Omega(k, l)} x_{ij}",
    ("lp_pool",): r"f_{kl} = \sqrt{\sum_{(i, j) \in \Omega(k, l)} x_{ij}^{2}}",
    ("lp_pool", "norm", 1): r"f_{kl} = \sum_{(i, j) \in \Omega(k, l)} \left|x_{ij}\right|",
    ("lp_pool", "norm_type", 2.5): r"f_{kl} = \left(\sum_{(i, j) \in \Omega(k, l)} \left|x_{ij}\right|^{\frac{5}{2}}\right)^{\frac{2}{5}}",
    ("lse_pool",): r"f_{kl} = \log\left(\sum_{(i, j) \in \Omega(k, l)} e^{x_{ij}}\right)",
    ("lse_pool", "sharpness", -2): r"f_{kl} = -\frac{1}{2} \log\left(\sum_{(i, j) \in \Omega(k, l)} e^{-2 x_{ij}}\right)",
    ("lme_pool", "sharpness", 0.5): r"f_{kl} = 2 \log\left(\frac{1}{\left|\Omega(k, l)\right|} \sum_{(i, j) \in \Omega(k, l)} e^{\frac{1}{2} x_{ij}}\right)",
    ("softmax_pool",): r"f_{kl} = \frac{\sum_{(i, j) \in \Omega(k, l)} x_{ij} e^{x_{ij}}}{\sum_{(i, j) \in \Omega(k, l)} e^{x_{ij}}}",
    ("max_abs_pool",): r"f_{kl} = \max_{(i, j) \in \Omega(k, l)} \left|x_{ij}\right|",
    ("median_pool",): r"f_{kl} = \mathop{\mathrm{median}}_{(i, j) \in \Omega(k, l)} x_{ij}",
    ("global_max_pool",): r"f = \max_{i, j} x_{ij}",
    ("global_avg_pool",): r"f = \frac{1}{n m} \sum_{i, j} x_{ij}",
    ("adaptive_avg_pool",): r"f_{kl} = \frac{1}{\left|\Omega(k, l)\right|} \sum_{(i, j) \in \Omega(k, l)} x_{ij}",
}
GEOMETRY: dict[str, dict[str, Any]] = {"window": {"kernel_size": (3, 3, 3), "stride": 2, "padding": 1}, "global": {},
                                       "adaptive": {"output_size": (2, 2, 2)}}


def geometry(spec: Pooling, rank: int) -> dict[str, Any]:
    """Arguments that give a layer ``rank`` axes."""
    found = {name: v[:rank] if isinstance(v, tuple) else v for name, v in GEOMETRY[spec.form].items()}
    return found if spec.form != "global" else {"dims": rank}


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: " ".join(map(str, case)))
def test_formulas(case: tuple[Any, ...]) -> None:
    spec = find(case[0])
    options = {case[1]: case[2]} if len(case) > 1 else {}
    module = layer(spec.name, **geometry(spec, 2), **options)
    assert write(module.equations[0], with_axes(module).table) == FORMULAS[case]


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_layer_is_its_formula(spec: Pooling, rank: int) -> None:
    module = layer(spec.name, **geometry(spec, rank))
    assert (module.name, module.inputs, module.output) == (spec.name, ("x",), "f")
    assert module.tie_rule == ("split" if "median" in spec.name else "first")
    if spec.form == "window":
        assert module.receptive_field and module.receptive_field.kernel_size == (3,) * rank
        assert (module.receptive_field.stride, module.receptive_field.padding) == ((2,) * rank, (1,) * rank)
    for name, axes in {"x": rank, "f": 0 if spec.form == "global" else rank}.items():
        symbol = module.table.named(name)
        assert symbol and symbol.kind is Kind.TENSOR and len(symbol.axes) == axes
    table = with_axes(module).table
    assert read(write(module.equations[0], table), table) is module.equations[0]


def test_names_are_unique() -> None:
    names = [n for spec in POOLINGS for n in (spec.name, *spec.aliases)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("padding", "ends"), [
    (1, [(1, 1), (1, 1)]), ((1, 0), [(1, 1), (0, 0)]), (((0, 1), (2, 0)), [(0, 1), (2, 0)]), ([(0, 1), 2], [(0, 1), (2, 2)]),
    ("same", [(1, 1), (1, 2)]),
])
def test_padding(padding: Any, ends: list[tuple[int, int]]) -> None:
    field = layer("max_pool", kernel_size=(3, 4), stride=1, padding=padding).receptive_field
    assert field and [(a.padding, a.padding_after) for a in field.axes if isinstance(a, WindowAxis)] == ends


def test_same_padding_over_steps_wants_the_input_s_size() -> None:
    with pytest.raises(CardError, match="depends on the size of the input; add `input_size`"):
        layer("max_pool", kernel_size=3, stride=2, padding="same")
    field = layer("max_pool", kernel_size=3, stride=2, padding="same", input_size=(7, 8)).receptive_field
    assert field and field.output_shape((7, 8)) == (4, 4) and field.padding == (1, 0)


def test_defaults() -> None:
    field = layer("max_pool", kernel_size=3).receptive_field
    assert field and (field.kernel_size, field.stride, field.padding) == ((3, 3), (3, 3), (0, 0))


@pytest.mark.parametrize("name", ["max_pool", "MAX_POOL", "max pool", "max-pool", "max pooling"])
def test_names(name: str) -> None:
    assert find(name).name == "max_pool"


def test_one_mistake_is_said_once() -> None:
    with pytest.raises(CardError) as error:
        layer("max_pool", kernel_size=0)
    assert str(error.value) == "`kernel_size: 0` is not a positive integer"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "maxpool"}, "unknown layer `maxpool`; did you mean `max_pool`?"),
        ({"name": "MinPool"}, "unknown layer `MinPool`; did you mean `min_pool`?"),
        ({"name": "mx_pool"}, "did you mean `max_pool`?"),
        ({"name": "perceiver"}, "unknown layer `perceiver`; there are `max_pool`, `min_pool`"),
        ({"kernel_size": 0}, "`kernel_size: 0` is not a positive integer"),
        ({"kernel_size": ()}, "`kernel_size: ()` has 0 numbers"),
        ({"kernel_size": 2.0}, "`kernel_size: 2.0` is not an integer"),
        ({"kernel_size": "22"}, "`kernel_size: '22'` is not an integer"),
        ({"stride": 0}, "`stride: 0` is not a positive integer"),
        ({"dilation": 0}, "`dilation: 0` is not a positive integer"),
        ({"padding": "valid"}, "`padding: 'valid'` is not a number of cells"),
        ({"padding": ((1, 2, 3), 0)}, "is not an integer, one an axis, or a pair (before, behind) an axis"),
        ({"kernel_size": (2,), "padding": (0, 1)}, "for one axis write `((before, behind),)`"),
        ({"ceil_mode": 1}, "`ceil_mode: 1` is neither true nor false"),
        ({"kernel_size": None}, "`max_pool` needs `kernel_size`"),
        ({"output_size": 2}, "`max_pool` takes no `output_size`"),
        ({"name": "global_max_pool"}, "`global_max_pool` takes no `kernel_size`"),
        ({"name": "adaptive_max_pool"}, "`adaptive_max_pool` takes no `kernel_size`; it takes `output_size`"),
        ({"norm": 2}, "`max_pool` takes no `norm`; it takes"),
        ({"name": "lp_pool", "nrom": 2}, "`lp_pool` takes no `nrom`; did you mean `norm`?"),
        ({"name": "lp_pool", "norm": 0.5}, "`norm: 0.5` is less than 1"),
        ({"name": "lp_pool", "norm": float("inf")}, "`norm: inf` is not a number"),
        ({"name": "lse_pool", "sharpness": 0}, "`sharpness: 0` leaves nothing"),
        ({"name": "lse_pool", "sharpness": Fraction(10**400)}, "`sharpness` is beyond the range"),
        ({"name": "avg_pool", "divisor_override": 0}, "`divisor_override: 0` is not an integer other than 0"),
        ({"name": "median_pool", "tie_rule": "first"}, "`tie_rule: first` can leave the subdifferential"),
        ({"input_size": (3,)}, "has 1 numbers; the layer has 2 axes"),
        ({"stride": (1, 2, 3)}, "`stride: (1, 2, 3)` has 3 numbers; kernel_size has 2"),
        ({"padding": -1}, "`padding: -1` is negative"),
        ({"tie_rule": "frist"}, "unknown tie rule `frist`; did you mean `first`?"),
        ({"tie_rule": 3}, "unknown tie rule `3`; there are `first`, `last`, `split`"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CardError) as caught:
        layer(**({"name": "max_pool", "kernel_size": 2} | arguments))
    assert message in str(caught.value)


def test_more_axes_than_letters() -> None:
    with pytest.raises(UnsupportedError, match="4 axes"):
        layer("max_pool", kernel_size=(2, 2, 2, 2))
