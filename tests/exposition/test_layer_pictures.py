"""Which figures the sheet of a layer has."""

from __future__ import annotations

import pytest

from derive.calculus.messages import Messages
from derive.exposition.builder import Builder
from derive.exposition.pictures import pictures
from derive.exposition.subject import Subject
from derive.sheet import Figure
from tests.calculus.zoo import ZOO


@pytest.mark.parametrize(("name", "figures"), [
    ("relu", ["curve"]), ("tanh", ["curve"]), ("prelu", ["curve"]),
    ("linear", []), ("softmax", []),
    ("two_layers", ["graph"]), ("batch_norm", ["graph"]), ("attention", ["graph"]), ("linear_prelu_squared", ["graph"]),
    ("window_mean", ["receptive-fields"]), ("window_norm", ["receptive-fields"]),
])
def test_figures_by_layer(name: str, figures: list[str]) -> None:
    subject = Subject(Messages(ZOO[name].module()))
    b = Builder({"layer": subject.module.table})
    pictures(b, subject)
    assert [block.scene.name for block in b.blocks if isinstance(block, Figure)] == figures
    for block in b.blocks:
        assert isinstance(block, Figure) and block.caption.endswith(".")
