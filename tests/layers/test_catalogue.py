"""The catalogue: names, aliases and the arguments of ``layer``."""

from __future__ import annotations

from typing import Any

import pytest

from derive.errors import CardError, UnsupportedError
from derive.expr import Reduce
from derive.layers import LAYERS, find, layer
from derive.notation.symbols import Kind


@pytest.mark.parametrize("spec", LAYERS, ids=lambda spec: spec.name)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_layer_is_its_formula(spec: Any, rank: int) -> None:
    module = layer(spec.name, kernel_size=(3,) * rank, stride=2, padding=1)
    value = module.equations[0].terms[1]
    assert isinstance(value, Reduce) and value.op == spec.name[:3]
    assert module.receptive_field and module.receptive_field.kernel_size == (3,) * rank
    assert (module.receptive_field.stride, module.receptive_field.padding) == ((2,) * rank, (1,) * rank)
    assert (module.name, module.inputs, module.output) == (spec.name, ("x",), "f")
    for name, kind in (("x", Kind.TENSOR), ("f", Kind.TENSOR), ("delta_x", Kind.TENSOR), ("Omega", Kind.SET)):
        symbol = module.table.named(name)
        assert symbol and symbol.kind is kind and len(symbol.axes) == rank


def test_defaults() -> None:
    field = layer("max_pool", kernel_size=3).receptive_field
    assert field and (field.kernel_size, field.stride, field.padding) == ((3, 3), (3, 3), (0, 0))


@pytest.mark.parametrize("name", ["max_pool", "MAX_POOL", "max pool", "max-pool", "max pooling"])
def test_names(name: str) -> None:
    assert find(name).name == "max_pool"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "maxpool"}, "unknown layer `maxpool`; did you mean `max_pool`?"),
        ({"name": "MinPool"}, "unknown layer `MinPool`; did you mean `min_pool`?"),
        ({"name": "mx_pool"}, "did you mean `max_pool`?"),
        ({"name": "attention"}, "unknown layer `attention`; there are `max_pool`, `min_pool`"),
        ({"kernel_size": 0}, "`kernel_size: 0` is not a positive integer"),
        ({"kernel_size": ()}, "`kernel_size: ()` has 0 numbers"),
        ({"kernel_size": 2.0}, "`kernel_size: 2.0` is not an integer"),
        ({"kernel_size": "22"}, "`kernel_size: '22'` is not an integer"),
        ({"stride": 0}, "`stride: 0` is not a positive integer"),
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
