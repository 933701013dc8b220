"""Layers by name in the front matter, one behind the other, and what stands beside them."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of

ALL = "derive: [backward, parameters]\n"


def read(front: str, question: str = "Derive.") -> Module:
    return module_of(Card.parse(f"---\nid: q\n{front}---\n# Question\n{question}\n", "q.md"))


def refused(front: str) -> str:
    with pytest.raises(DeriveError) as error:
        read(front)
    return str(error.value)


def test_a_chain_has_the_roles_of_the_catalogue() -> None:
    module = read("layers: linear -> prelu -> squared_error\n", "Derive the backward message and the parameter messages.")
    assert (module.inputs, module.parameters, module.constants) == (("x",), ("w", "a"), ("y",))
    assert module.asked == ("vjp", "parameters")
    assert module.readings[0] == "layers: linear layer → PReLU → squared error (line 3: `layers`)"
    assert "parameter `w` (line 3: `layers`)" in module.readings
    assert module.readings[-1] == "the front matter counts over the question's words: `layers` (line 3)"


def test_windows_before_a_linear_layer_are_solved() -> None:
    solution = derive.solve(Card.parse(
        f"---\nid: q\nlayers: max_pool(2, stride=1) -> linear -> sigmoid\n{ALL}---\n# Question\nDerive.\n"))
    assert solution.report.ok
    assert solution.module.fields[0][1].stride == (1, 1)


def test_one_layer_is_called_by_its_name() -> None:
    assert read(f"layers: softmax\n{ALL}").name == "softmax"
    module = read(f"layers: avg_pool(3)\ninput_size: [9, 9]\n{ALL}")
    assert (module.name, module.input_size, module.fields[0][1].kernel_size) == ("avg_pool", (9, 9), (3, 3))
    assert read(f"layers: max_pool(2)\n{ALL}").fields[0][1].kernel_size == (2, 2)


def test_one_pooling_with_its_windows_under_keys_is_as_layer_names_it() -> None:
    keys = f"kernel_size: 2\n{ALL}"
    ours, theirs = read("layers: max_pool\n" + keys), read("layer: max_pool\n" + keys)
    assert (ours.equations, ours.fields, ours.name) == (theirs.equations, theirs.fields, theirs.name)


def test_roles_and_functions_of_the_statement_s_own() -> None:
    module = read("layers: linear -> prelu(function=f)\nfunctions: ['f(s) = \\max(s, c s)']\nconstants: [c]\ninputs: [x, b]\n" + ALL)
    assert (module.inputs, module.parameters, module.constants) == (("x", "b"), ("W",), ("c",))


def test_formulas_beside_the_names_must_compute_the_same() -> None:
    forward = "forward: ['z_k = \\sum_j V_{kj} x_j + c_k', 'y_k = %s']\n" + ALL
    assert read("layers: linear -> relu\n" + forward % r"\max(0, z_k)").inputs == ("V", "x", "c")
    assert refused("layers: linear -> relu\n" + forward % r"\tanh(z_k)") == (
        "q.md:3: linear layer → ReLU and `forward` do not compute the same, letter by letter; keep one")
    window = "forward: ['f_{kl} = \\%s_{(i,j) \\in R(k,l)} x_{ij}']\nkernel_size: 2\n" + ALL
    assert read("layer: max_pool\n" + window % "max").name == "max_pool"
    assert "do not compute the same" in refused("layer: max_pool\n" + window % "min")


@pytest.mark.parametrize(("front", "message"), [
    ("layers: linear -> softmaxx\n", "q.md:3: unknown layer `softmaxx`; did you mean `softmax`?"),
    ("layers: linear -> max_pool\nkernel_size: 2\n", "q.md:4: `kernel_size` stands beside `layers: linear -> max_pool`: write it "
     "in the brackets of its layer, as in `max_pool(kernel_size=2)`"),
    ("layers: max_pool\nlayer: avg_pool\nkernel_size: 2\n", "q.md:3: `layer: avg_pool` and `layers: max_pool` differ; keep one of "
     "them"),
])  # fmt: skip
def test_what_is_refused(front: str, message: str) -> None:
    assert refused(front + ALL) == message
