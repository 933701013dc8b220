"""Each differentiation rule, what it concludes, and that a stored conclusion cannot be altered."""

from dataclasses import replace
from typing import cast

import pytest

import derive
from derive.axes import with_axes, with_size_letters
from derive.calculus import rules
from derive.calculus.derivation import differentiate
from derive.calculus.form import simplified
from derive.calculus.messages import jacobian, message
from derive.calculus.rules import RULES, Rule
from derive.errors import UnsupportedError
from derive.expr import ONE, ZERO, Bracket, Cases, Entry, Expr, Fn, Idx, Partial, Star, Tuple, eq
from derive.notation import read
from derive.notation.symbols import Kind, Symbol
from derive.solve import solve
from tests.calculus.zoo import ZOO, Layer, module_from
from tests.kept import forget_derivations, forget_verdicts

K, L, I, J = map(Idx, "klij")


@pytest.fixture
def module() -> derive.Module:
    return derive.layer("max_pool", kernel_size=2, stride=2)


def test_an_entry_depends_on_itself_alone(module: derive.Module) -> None:
    step = differentiate(Entry("x", (K, L)), Entry("x", (I, J)), module)
    assert step.after is Bracket(eq(Tuple((I, J)), Tuple((K, L))))
    assert differentiate(Entry("w", (K,)), Entry("x", (I, J)), module).after is ZERO


def test_the_maximum_has_the_derivative_of_its_maximiser(module: derive.Module) -> None:
    step = differentiate(Entry("f", (K, L)), Entry("x", (I, J)), module)
    stars = Tuple((Star("i", (K, L)), Star("j", (K, L))))
    assert step.after is Bracket(eq(Tuple((I, J)), stars))
    assert [s.rule for s in step] == ["entry", "extremum", "definition"]


def test_the_jacobian_is_written_case_by_case(module: derive.Module) -> None:
    after = jacobian(module, "x").after
    assert isinstance(after, Cases)
    assert [value for value, _ in after.branches] == [ONE, ZERO]


def test_an_unknown_form_is_not_guessed_at(module: derive.Module) -> None:
    with pytest.raises(UnsupportedError, match="no rule differentiates the function `gd`"):
        differentiate(Fn("gd", (Entry("x", (I, J)),)), Entry("x", (I, J)), module)


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


def _say(name: str, conclusion: Expr, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule of that name concludes this, whatever it is asked."""
    others = tuple(replace(r, conclude=lambda *_: conclusion) if r.name == name else r for r in RULES)
    monkeypatch.setattr(rules, "RULES", others)


@pytest.mark.parametrize("rule", ["entry", "definition", "extremum"])
def test_a_disabled_rule_changes_the_jacobian_and_turns_a_check_red(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numpy = pytest.importorskip("numpy")
    module = derive.layer("max_pool", kernel_size=2, stride=2)
    x = numpy.arange(16.0).reshape(4, 4)
    before = solve(module).jacobian("x", x=x)
    _say(rule, ZERO, monkeypatch)
    forget_derivations()
    forget_verdicts()
    broken = solve(module)
    assert not broken.report.ok
    assert {"routes", "jacobian"} & {c.name for c in broken.report.failures}
    assert (broken.jacobian("x", x=x) != before).any()
    forget_derivations()
    forget_verdicts()


# rule: (layer of the zoo, input, ∂output/∂input by that rule before it is simplified)
EXAMPLES = {
    "constant": ("batch_norm", "epsilon"), "entry": ("linear", "b"), "composition": ("two_layers", "x"),
    "definition": ("sigmoid", "s"), "linearity": ("linear", "b"), "product": ("linear", "W"), "power": ("two_norm", "x"),
    "elementwise": ("tanh", "s"), "sum": ("squared", "y"), "prod": ("product_of_entries", "x"), "extremum": ("maxout", "W"),
    "pair": ("prelu", "a"), "branches": ("huber", "y"), "short": ("mean_of_squares", "x"),
}


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_every_rule_is_used_and_matters(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    if rule.name == "bracket":  # its conclusion is 0 already
        return
    name, wrt = EXAMPLES[rule.name]
    module = ZOO[name].module()
    before = jacobian(module, wrt)
    assert rule.name in {s.rule for s in before}
    forget_derivations()
    _say(rule.name, ONE if rule.name == "constant" else ZERO, monkeypatch)
    assert jacobian(module, wrt).after is not before.after
    forget_derivations()


STATEMENTS = {  # rule: (tensor differentiated, its formula, by, what the rule concludes)
    "linearity": (r"y_k = x_k + 3 x_k", "x", r"[i = k] + 3 [i = k]"),
    "product": (r"y_k = x_k \tanh(x_k)", "x", r"[i = k] \tanh(x_k) + x_k (1 - (\tanh(x_k))^2) [i = k]"),
    "power": (r"y_k = x_k^{3}", "x", r"3 x_k^2 [i = k]"),
    "sum": (r"y = \sum_j x_j^2", "x", r"\sum_j 2 x_j [i = j]"),
    "prod": (r"y = \prod_j x_j", "x", r"\sum_{j=0}^{n-1} [i = j] \prod_{m \ne j} x_m"),
    "pair": (r"y_k = \max(2 x_k, c)", "x", r"\begin{cases} 2 [i = k] & \text{if } 2 x_k > c \\ 0 & \text{otherwise} \end{cases}"),
}


@pytest.mark.parametrize("rule", STATEMENTS)
def test_a_rule_says_what_its_statement_says(rule: str) -> None:
    forward, wrt, expected = STATEMENTS[rule]
    layer = Layer(rule, (forward,), {"x": (4,)})
    module = with_axes(module_from(layer))
    of = module.definition("y")[0]
    step = differentiate(of, Entry(wrt, (Idx("i"),)), module)
    table = module.table.extended([Symbol(c, c, Kind.INDEX) for c in "ikjm"])
    right = read(expected, table)
    concluded = next(s for s in step if s.rule == rule)
    values = simplified(cast(Expr, concluded.after), {}, module), simplified(right, {}, module)  # type: ignore
    assert values[0] is values[1]
