"""Pooling layers against every node test of ONNX, with the numbers that its package brings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derive
from derive.numbers import Numbers

LAYERS = {"MaxPool": "max_pool", "AveragePool": "avg_pool", "LpPool": "lp_pool", "GlobalAveragePool": "global_avg_pool",
          "GlobalMaxPool": "global_max_pool", "GlobalLpPool": "global_lp_pool"}


def same_lower(shape: tuple[int, ...], kernel: Any, stride: Any, dilation: Any) -> tuple[tuple[int, int], ...]:
    """An odd cell of «same» padding before the input, not behind it."""
    total = [max(0, (-(-n // s) - 1) * s + d * (k - 1) + 1 - n) for n, k, s, d in zip(shape, kernel, stride, dilation, strict=True)]
    return tuple((t - t // 2, t // 2) for t in total)


def arguments(op: str, given: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """The attributes of a node as :func:`derive.layer` takes them."""
    rank = len(shape)
    found: dict[str, Any] = {"norm": given.get("p", 2)} if "Lp" in op else {}
    if op.startswith("Global"):
        return {**found, "dims": rank}
    if op == "AveragePool":
        found["count_include_pad"] = bool(given.get("count_include_pad", 0))
    kernel, stride, dilation = given["kernel_shape"], given.get("strides", [1] * rank), given.get("dilations", [1] * rank)
    found |= {"kernel_size": kernel, "stride": stride, "dilation": dilation, "ceil_mode": bool(given.get("ceil_mode", 0))}
    pads = given.get("pads", [0] * 2 * rank)
    padding: Any = tuple(zip(pads[:rank], pads[rank:], strict=True))
    match given.get("auto_pad", b"NOTSET"):
        case b"SAME_UPPER":
            return {**found, "padding": "same", "input_size": shape}
        case b"SAME_LOWER":
            padding = same_lower(shape, kernel, stride, dilation)
    return {**found, "padding": padding}


@pytest.mark.filterwarnings("ignore")
def test_every_node_test() -> None:
    pytest.importorskip("onnx", reason="ONNX is the oracle here")
    from onnx.backend.test.case.node import collect_testcases
    from onnx.helper import get_attribute_value

    count = 0
    for case in collect_testcases(None):
        node, *others = case.model.graph.node
        if others or node.op_type not in LAYERS:
            continue
        (x, *_), (y, *_) = case.data_sets[0]
        given = {a.name: get_attribute_value(a) for a in node.attribute}
        layer = derive.layer(LAYERS[node.op_type], **arguments(node.op_type, given, np.shape(x)[2:]))
        found = Numbers(layer).forward(x=x)
        np.testing.assert_allclose(found.reshape(np.shape(y)), y, rtol=4e-4, atol=1e-5, err_msg=case.name)
        count += 1
    assert count > 40
