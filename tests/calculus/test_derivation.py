"""The derivation as it is shown: raw forms from simplified premises, silent rules, what ∂ may stand for in print."""

import pytest

from derive.calculus.derivation import Shown, is_total, shown
from derive.calculus.messages import Messages, variable
from derive.expr import Entry, eq
from derive.notation import read, write
from tests.calculus.zoo import LAYERS, ZOO, Layer, messages_of


def of(name: str, wrt: str, tensor: str | None = None) -> tuple[Shown, Messages]:
    messages = Messages(ZOO[name].module())
    return shown(messages.jacobian(wrt, tensor), messages.module), messages


RAW = [
    ("sigmoid", "s", None, r"\frac{e^{-s_k}}{(1 + e^{-s_k})^2} [i = k]"),
    ("softmax", "z", None, r"\frac{e^{z_i}}{\sum_k e^{z_k}} [j = i] - \frac{e^{z_i} e^{z_j}}{(\sum_k e^{z_k})^2}"),
    ("squared", "y", None, r"\frac{1}{2} \sum_i 2 (y_i - t_i) [k = i]"),
    ("linear", "x", None, r"\sum_i W_{ki} [j = i]"),
    ("batch_norm", "x", "mu", r"\frac{1}{n} \sum_{k=0}^{n-1} [i = k]"),
]


@pytest.mark.parametrize(("name", "wrt", "tensor", "expected"), RAW)
def test_what_a_rule_gives_before_it_is_simplified(name: str, wrt: str, tensor: str | None, expected: str) -> None:
    found, messages = of(name, wrt, tensor)
    table = messages.module.table
    assert write(found.raw, table) == write(read(expected, table), table)


def test_definitions_are_folded_back_at_the_end_only() -> None:
    found, _ = of("softmax", "z")
    outer, *inner = reversed(list(found))
    assert any(isinstance(n, Entry) and n.tensor == "p" for n in _entries(outer))
    assert not any(n.tensor == "p" for s in inner if s.before is not outer.before for n in _entries(s))


def _entries(step: Shown) -> list[Entry]:
    from derive.expr import walk

    return [n for n in walk(step.after) if isinstance(n, Entry)]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_every_step_reads_back(layer: Layer) -> None:
    messages = messages_of(layer.name)
    for wrt in messages.letters:
        for stage in messages.stages(wrt):
            for user in stage.premises[0].premises:
                for step in shown(user, messages.module):
                    statement = eq(step.before, step.raw, step.after)
                    assert read(write(statement, messages.module.table), messages.module.table) is statement


def test_a_derivative_with_the_mean_held_is_not_the_total_one() -> None:
    module = Messages(ZOO["batch_norm"].module()).module
    x = variable(module, "x")
    assert not is_total(module.definition("x_hat")[1], x, module)
    assert is_total(module.definition("mu")[1], x, module)
    assert is_total(module.definition("x_hat")[1], Entry("mu", ()), module)  # ∂v/∂μ = 0


def test_a_module_that_holds_tensors_is_one_object() -> None:
    module = Messages(ZOO["batch_norm"].module()).module
    held = module.holding(("mu",))
    assert held is module.holding(("mu",)) and held.holding(()) is module and held.held == ("mu",)
