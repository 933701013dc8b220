"""The graph of a module: each tensor once, apart from the others, each edge there and back."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from derive.expr import Entry, Partial
from derive.figures import graph
from derive.sheet import Cell, Label, Line, Scene
from tests.calculus.zoo import ZOO


def nodes(scene: Scene) -> dict[str, Cell]:
    return {i.text: i for i in scene.items if isinstance(i, Cell)}


def lines(scene: Scene, role: str) -> int:
    return sum(isinstance(i, Line) and i.role == role for i in scene.items)


@pytest.mark.parametrize("name", ["linear", "linear_prelu_squared", "batch_norm", "two_layers", "attention", "softmax_cross_entropy"])
def test_each_tensor_each_edge_each_message(name: str) -> None:
    module = ZOO[name].module()
    scene = graph(module)
    tensors = {*module.inputs, *module.defined}
    edges = sum(s in tensors for t in module.defined for s in module.sources(t))
    assert len(nodes(scene)) == len(tensors)
    assert lines(scene, "forward") == edges
    assert lines(scene, "backward") == edges + 1  # and the upstream gradient
    assert sum(isinstance(i, Label) and i.role == "message" for i in scene.items) == len(tensors)
    boxes = sorted(nodes(scene).values(), key=lambda c: (c.y, c.x))
    for one, other in itertools.pairwise(boxes):
        assert one.y != other.y or one.x + one.width < other.x


def test_parameters_and_constants_have_roles_and_a_constant_no_message() -> None:
    module = replace(ZOO["linear_prelu_squared"].module(), inputs=("x",), parameters=("W", "b", "a"), constants=("t",))
    scene = graph(module)
    assert [nodes(scene)[f"${n}$"].role for n in ("x", "W", "a", "t")] == ["tensor", "parameter", "parameter", "constant"]
    assert not any(isinstance(i, Label) and "delta_t" in i.text for i in scene.items)


@pytest.mark.parametrize(("name", "first"), [("two_layers", "x"), ("attention", "q"), ("batch_norm", "x")])
def test_the_chain_begins_with_what_is_no_matrix_of_weights(name: str, first: str) -> None:
    assert min(nodes(graph(ZOO[name].module())).values(), key=lambda c: c.x).text == f"${first}$"


def test_the_chain_begins_with_what_is_asked_for() -> None:
    module = ZOO["two_layers"].module()
    wanted = (Partial(Entry("y", ()), Entry("W", ())),)
    assert min(nodes(graph(replace(module, wanted=wanted))).values(), key=lambda c: c.x).text == "$W$"
