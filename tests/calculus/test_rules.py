"""Each differentiation rule, what it concludes, and that a stored conclusion cannot be altered."""

from dataclasses import replace

import pytest

import derive
from derive.calculus import rules
from derive.calculus.messages import jacobian, message
from derive.errors import UnsupportedError
from derive.expr import ONE, ZERO, Bracket, Cases, Entry, Fn, Idx, Partial, Star, Tuple, eq
from derive.letters import with_size_letters
from derive.solve import solve
from derive.verify.sheet import forget

K, L, I, J = map(Idx, "klij")


@pytest.fixture
def module() -> derive.Module:
    return derive.layer("max_pool", kernel_size=2, stride=2)


def test_an_entry_depends_on_itself_alone(module: derive.Module) -> None:
    step = rules.differentiate(Entry("x", (K, L)), Entry("x", (I, J)), module)
    assert step.after is Bracket(eq(Tuple((I, J)), Tuple((K, L))))
    assert rules.differentiate(Entry("w", (K,)), Entry("x", (I, J)), module).after is ZERO


def test_the_maximum_has_the_derivative_of_its_maximiser(module: derive.Module) -> None:
    step = rules.differentiate(Entry("f", (K, L)), Entry("x", (I, J)), module)
    stars = Tuple((Star("i", (K, L)), Star("j", (K, L))))
    assert step.after is Bracket(eq(Tuple((I, J)), stars))
    assert [s.rule for s in step] == ["entry", "extremum", "definition"]


def test_the_jacobian_is_written_case_by_case(module: derive.Module) -> None:
    after = jacobian(module, "x").after
    assert isinstance(after, Cases)
    assert [value for value, _ in after.branches] == [ONE, ZERO]


def test_an_unknown_form_is_not_guessed_at(module: derive.Module) -> None:
    with pytest.raises(UnsupportedError, match="no rule differentiates"):
        rules.differentiate(Fn("exp", (Entry("x", (I, J)),)), Entry("x", (I, J)), module)


def test_every_step_concludes_again_what_it_says() -> None:
    for named, size in (("max_pool", 2), ("min_pool", (3, 2))):
        layer = with_size_letters(derive.layer(named, kernel_size=size, stride=2))
        for derivation in (jacobian(layer, "x"), message(layer, "x")):
            assert derivation.holds(layer)


def test_a_step_with_an_altered_conclusion_fails(module: derive.Module) -> None:
    derivation = jacobian(module, "x")
    for step in derivation:
        assert step.holds(module)
        assert not replace(step, after=Partial(ONE, Entry("x", (I, J)))).holds(module)


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda r: r.name)
def test_a_disabled_rule_changes_the_jacobian_and_turns_a_check_red(
    rule: rules.Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    numpy = pytest.importorskip("numpy")
    module = derive.layer("max_pool", kernel_size=2, stride=2)
    x = numpy.arange(16.0).reshape(4, 4)
    before = solve(module).jacobian("x", x=x)
    monkeypatch.setattr(type(rule), "conclude", lambda *_: ZERO)
    forget()
    broken = solve(module)
    assert not broken.report.ok
    assert {"routes", "jacobian"} & {c.name for c in broken.report.failures}
    assert (broken.jacobian("x", x=x) != before).any()
    forget()
