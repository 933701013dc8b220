"""Cost grows with the input and no faster: counted in objects made and array operations, not in seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import derive
from derive.layers import POOLINGS
from derive.layers.catalogue import Pooling
from derive.numbers import Numbers
from derive.numeric import gather
from derive.symbolic import instance, window

GEOMETRY: dict[str, dict[str, Any]] = {"window": {"kernel_size": 3, "stride": 2, "ceil_mode": True}, "global": {"dims": 2},
                                       "adaptive": {"output_size": 3}}


@pytest.mark.parametrize("name", ["max_pool", "min_pool"])
@pytest.mark.parametrize("rule", ["first", "last", "split"])
def test_the_symbolic_jacobian_makes_as_many_nodes_for_each_window(name: str, rule: str, monkeypatch: Any) -> None:
    made = [0]
    real = window._make

    def counting(*args: Any) -> Any:
        made[0] += 1
        return real(*args)

    monkeypatch.setattr(window, "_make", counting)
    layer, per_window = derive.layer(name, kernel_size=3, stride=2, tie_rule=rule), []
    for n in (9, 33, 65):
        made[0] = 0
        entries = instance.symbolic_jacobian(layer, (n, n))
        windows = ((n - 1) // 2) ** 2
        assert len(entries) == 9 * windows  # nothing that is identically 0, no dense Jacobian
        per_window.append(made[0] / windows)
    assert max(per_window) == min(per_window) < 100
    assert len(instance.symbolic_jacobian(layer, (3, 3))) == 9


@pytest.mark.parametrize("spec", POOLINGS, ids=lambda spec: spec.name)
def test_arrays_take_as_many_operations_at_any_size(spec: Pooling, monkeypatch: Any) -> None:
    """Only their length grows: the reads of a whole array do not become more, nor does any array outgrow the input."""
    reads: list[int] = []
    real = gather._sub_array

    def counting(*args: Any) -> Any:
        found = real(*args)
        reads.append(found.size)
        return found

    monkeypatch.setattr(gather, "_sub_array", counting)
    layer, counts = Numbers(derive.layer(spec.name, **GEOMETRY[spec.form])), []
    for n in (15, 31):
        x = np.random.default_rng(0).permutation(n * n).reshape(n, n)
        y = layer.forward(x=x)
        reads.clear()
        layer.forward(x=x)
        layer.backward("x", upstream=np.ones_like(y), x=x)
        assert max(reads, default=0) <= n * n
        counts.append(len(reads))
    if spec.form != "adaptive":  # whose windows grow with the input
        assert counts[0] == counts[1]


def test_a_sparse_jacobian_holds_the_entries_within_windows_alone() -> None:
    for spec in POOLINGS:
        if spec.form != "window":
            continue
        layer = Numbers(derive.layer(spec.name, kernel_size=3, stride=2))
        x = np.random.default_rng(0).permutation(65 * 65).reshape(65, 65) - 2000.5
        outputs, inputs, values = layer.jacobian("x", sparse=True, x=x)
        assert len(outputs) == len(inputs) == len(values) <= 9 * 32 * 32
