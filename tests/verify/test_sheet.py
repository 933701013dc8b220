"""What else is on a sheet: definitions, words, an example, functions of the card, altered derivations."""

from __future__ import annotations

from dataclasses import replace

import pytest

import derive
from derive.calculus.derivation import Step
from derive.calculus.messages import Messages
from derive.errors import CardError
from derive.expr import ONE, Node
from derive.module import Module
from derive.notation import read
from derive.notation.symbols import SymbolTable
from derive.sheet import Math, Prose, Sheet
from derive.verify.report import Report, Verdict
from derive.verify.sheet import verify
from tests.calculus.zoo import Layer, module_from
from tests.kept import forget_verdicts
from tests.verify.sheets import messages_of, sheet_of, table_of


def displayed(latex: str, table: SymbolTable, name: str = "stated", scope: str = "layer", **flags: bool) -> Math:
    return Math(latex, read(latex, table), name, scope, **flags)


def failed(report: Report) -> dict[str, Verdict]:
    return {c.name: c.verdict for c in report.failures}


def with_more(name: str, *more: Math | Prose) -> Report:
    messages, sheet = messages_of(name), sheet_of(name)
    return verify(replace(sheet, answer=(*sheet.answer, *more)), messages)


def test_a_definition_that_is_not_the_layer_s_is_refuted() -> None:
    table = table_of(messages_of("linear"))
    wrong = displayed(r"s_k = \sum_j W_{kj} x_j - b_k", table, "forward", definition=True)
    assert failed(with_more("linear", wrong)) == {"forward": Verdict.REFUTED}


@pytest.mark.parametrize("circular", [r"p_k = p_k", r"s = s", r"s = \frac{e^{z_k}}{p_k}"])
def test_a_definition_by_itself_or_by_what_follows_is_none(circular: str) -> None:
    messages = Messages(module_from(Layer("stages", (r"s = \sum_i e^{z_i}", r"p_k = \frac{e^{z_k}}{s}"), {"z": (3,)})))
    sheet = Sheet("", (displayed(circular, messages.module.table, "forward", definition=True),), ())
    assert failed(verify(sheet, messages)) == {"forward": Verdict.NOT_READ}


@pytest.mark.parametrize("latex", [
    r"\delta_{x,j} = \delta_{x,j}", r"\delta_{x,j} = 2 \delta_{x,j} - \sum_k \delta_{s,k} W_{kj}",
    r"\frac{\partial s_k}{\partial b_i} = \frac{\partial s_k}{\partial b_i}",
])
def test_a_message_told_by_itself_is_not_passed(latex: str) -> None:
    stated = displayed(latex, table_of(messages_of("linear")))
    assert failed(with_more("linear", stated)) == {"stated": Verdict.NOT_READ}


def test_a_definition_of_an_upstream_gradient_holds() -> None:
    table = table_of(messages_of("linear_prelu_squared"))
    report = with_more("linear_prelu_squared", displayed(
        r"\delta_{s,k} = \delta_\ell \frac{\partial \ell}{\partial s_k}", table))
    assert report.ok


def test_a_formula_of_a_template_s_own_is_found() -> None:
    found = with_more("linear", Prose("Here $s_k = 0$.")).failures
    assert [c.verdict for c in found] == [Verdict.NOT_READ, Verdict.REFUTED]  # the formula, and words of no facts


def test_an_unreadable_formula_is_not_passed() -> None:
    broken = Math(r"\delta_{x,j} = \heartsuit", ONE, "stated")
    assert failed(with_more("linear", broken)) == {"stated": Verdict.NOT_READ}


def test_what_claims_nothing_is_not_passed() -> None:
    table = table_of(messages_of("relu"))
    empty = displayed(r"\delta_{s,i} = 7 \quad \text{if } s_i > s_i + 1", table)
    assert failed(with_more("relu", empty)) == {"stated": Verdict.NOT_READ}


def test_conditions_of_a_kink_are_checked() -> None:
    table = table_of(messages_of("prelu"))
    right = displayed(r"\frac{\partial y_k}{\partial s_k} = a \quad \text{if } s_k > 0,\ a > 1", table, "right")
    wrong = displayed(r"\frac{\partial y_k}{\partial s_k} = a \quad \text{if } s_k > 0,\ a < 1", table, "wrong")
    assert failed(with_more("prelu", right, wrong)) == {"wrong": Verdict.REFUTED}


@pytest.mark.parametrize("rule", ["form", "chain", "inserted", "stage", "definition"])
def test_an_altered_step_is_found(rule: str) -> None:
    def altered(step: Step) -> Step:
        if step.rule == rule:
            return replace(step, after=ONE)
        return replace(step, premises=tuple(map(altered, step.premises)))

    messages = Messages(messages_of("linear_prelu_squared").given)
    for wrt in messages.letters:
        messages.jacobian(wrt), messages.message(wrt)
    for key, step in messages._kept.items():
        messages._kept[key] = altered(step)
    table = table_of(messages)
    if rule == "stage":
        stages = tuple(altered(s) for s in messages.stages("x"))
        messages = _Staged(messages.given, stages)
    sheet = Sheet("", (displayed(r"\delta_{x,j} = \sum_k \delta_{s,k} W_{kj}", table),), ())
    assert "derivation" in failed(verify(sheet, messages))


class _Staged(Messages):
    """Messages with stages given."""

    def __init__(self, given: Module, steps: tuple[Step, ...]) -> None:
        super().__init__(given)
        object.__setattr__(self, "_steps", steps)

    def stages(self, wrt: str) -> tuple[Step, ...]:
        return self._steps  # type: ignore[attr-defined, no-any-return]


def test_a_derived_message_that_is_not_the_jacobian_s_is_found() -> None:
    messages = Messages(messages_of("linear").given)
    step = messages.message("x")
    messages._kept["message", "x"] = replace(step, after=messages.message("b").after)
    sheet = Sheet("", (displayed(r"\delta_{x,j} = \sum_k \delta_{s,k} W_{kj}", table_of(messages)),), ())
    assert "adjointness" in failed(verify(sheet, messages))


EXAMPLE = (r"W = \begin{pmatrix} 1 & 2 & 0 \\ -1 & 1 & 3 \end{pmatrix}", r"x = \begin{pmatrix} 1 & 2 & 3 \end{pmatrix}",
           r"b = \begin{pmatrix} 1 & 1 \end{pmatrix}", r"\delta_s = \begin{pmatrix} 1 & -2 \end{pmatrix}")


@pytest.mark.parametrize(("claim", "verdict"), [
    (r"s = \begin{pmatrix} 6 & 11 \end{pmatrix}", None),
    (r"s = \begin{pmatrix} 6 \\ 11 \end{pmatrix}", None),
    (r"\delta_x = \begin{pmatrix} 3 & 0 & -6 \end{pmatrix}", None),
    (r"\delta_W = \begin{pmatrix} 1 & 2 & 3 \\ -2 & -4 & -6 \end{pmatrix}", None),
    (r"\delta_x = \begin{pmatrix} 3 & 0 & 6 \end{pmatrix}", Verdict.REFUTED),
])
def test_an_example_is_checked_at_its_own_numbers(claim: str, verdict: Verdict | None) -> None:
    table = table_of(messages_of("linear"))
    given = [displayed(f, table, "given", "example", definition=True) for f in EXAMPLE]
    report = with_more("linear", *given, displayed(claim, table, "claim", "example"))
    assert failed(report) == ({} if verdict is None else {"claim": verdict})


def neuron() -> Messages:
    layer = Layer("named", (r"y_k = \tanh(s_k)",), {"s": (4,)},
                  functions=(("sigma", "tanh", "s", r"\frac{1}{1 + e^{-s}}"),))
    return Messages(module_from(layer))


@pytest.mark.parametrize(("latex", "holds"), [
    (r"\sigma'(s) = \sigma(s) (1 - \sigma(s))", True),
    (r"\sigma'(s) = \sigma(s) (1 + \sigma(s))", False),
    (r"\frac{\partial y_k}{\partial s_k} = \sigma'(s_k)", True),
    (r"\sigma(s) = \frac{1}{1 + e^{-s}}", True),
])
def test_functions_of_the_card_and_their_derivatives(latex: str, holds: bool) -> None:
    messages = neuron()
    table = table_of(messages)
    node: Node = read(latex, table)
    report = verify(Sheet("", (Math(latex, node, "stated"),), ()), messages)
    assert failed(report) == ({} if holds else {"stated": Verdict.REFUTED})
    assert not holds or report.checks[0].verdict is Verdict.PROVED


def test_a_verdict_is_kept_until_it_is_dropped() -> None:
    messages, sheet = messages_of("sigmoid"), sheet_of("sigmoid")
    first = verify(sheet, messages)
    assert verify(sheet, messages) == first
    forget_verdicts()
    assert verify(sheet, messages) == first


def test_a_case_that_no_input_reaches_is_named() -> None:
    messages = Messages(module_from(Layer("positive", (r"y_k = \max(0, x_k^2 + 1)",), {"x": (3,)})))
    table = messages.module.table
    latex = r"\frac{\partial y_k}{\partial x_k} = 2 x_k"
    report = verify(Sheet("", (displayed(latex, table),), ()), messages)
    assert report.ok
    assert report.checks[0].verdict is Verdict.PROVED or "no input was found for term 1" in report.checks[0].evidence


@pytest.mark.parametrize(("latex", "holds"), [
    (r"\delta_{x,j} = \sum_k \delta_{s,k} W_{kj}", True),
    (r"\delta_{x,j} = \sum_k \delta_{s,k} W_{kk}", False),
])
def test_a_large_stated_size_is_checked_at_a_small_one(latex: str, holds: bool) -> None:
    given = module_from(Layer("large", (r"s_k = \sum_j W_{kj} x_j",), {"x": (784,), "W": (50, 784)}))
    sizes = {"x": (784,), "W": (50, 784)}
    table = given.table.extended([replace(given.table.named(n), sizes=s) for n, s in sizes.items()])  # type: ignore[type-var]
    messages = Messages(replace(given, table=table))
    report = verify(Sheet("", (displayed(latex, messages.module.table),), ()), messages)
    assert report.ok == holds
    assert not holds or "for 784" in report.checks[0].evidence


def test_a_condition_inside_a_sum_counts_in_each_statement_that_shares_it() -> None:
    messages = Messages(module_from(Layer("residual", (r"h_k = \max(0, \sum_j W_{kj} x_j)", r"y_k = x_k + h_k"),
                                          {"x": (3,), "W": (3, 3)})))
    table = messages.module.table
    shared = r"\sum_i \delta_{h,i} W_{ij} \, \mathbb{I}[\sum_k W_{ik} x_k > 0]"
    sheet = Sheet("", (displayed(rf"\delta_{{x,j}} = {shared} + \delta_{{y,j}}", table, "first"),
                       displayed(rf"\delta_{{x,j}} = \delta_{{y,j}} + {shared}", table, "second")), ())
    assert failed(verify(sheet, messages)) == {}


@pytest.mark.parametrize(("latex", "holds"), [
    (r"i \in \Omega(t) \iff 2t-1 \le i \le 2t+1", True), (r"i \in \Omega(t) \iff 2t \le i \le 2t+1", False),
    (r"i \in \Omega(t) \iff 2t-1 \le i \le 2t+2", False),
])
def test_which_windows_cover_an_entry(latex: str, holds: bool) -> None:
    table = table_of(messages_of("window_mean_1d"))
    report = with_more("window_mean_1d", displayed(latex, table))
    assert failed(report) == ({} if holds else {"stated": Verdict.REFUTED})


def with_sizes(**sizes: tuple[int | str, ...]) -> Messages:
    given = module_from(Layer("six", (r"y = \sum_{i=1}^{6} w_i x_i^2",), {"x": (6,), "w": (6,)}))
    table = given.table.extended([replace(given.table.named(n), sizes=s) for n, s in sizes.items()])  # type: ignore[type-var]
    return Messages(replace(given, table=table))


def test_sizes_reach_as_far_as_a_range_in_numbers() -> None:
    messages = with_sizes(x=("n",), w=("n",))
    sheet = Sheet("", (displayed(r"\frac{\partial y}{\partial w_i} = x_i^2 \, \mathbb{I}[i \le 6]", messages.module.table),
                       displayed(r"\frac{\partial y}{\partial w_i} = x_i^2", messages.module.table, "beyond")), ())
    report = verify(sheet, messages)
    assert failed(report) == {"beyond": Verdict.REFUTED}
    assert report.checks[0].evidence.startswith("by ring identity for n\u00a0=\u00a06 and n\u00a0=\u00a07")


def test_a_verdict_known_from_a_layer_in_other_letters_names_the_sizes_of_this_one() -> None:
    for n in "nm":
        messages = with_sizes(x=(n,), w=(n,))
        shown = displayed(r"\frac{\partial y}{\partial w_i} = x_i^2 \, \mathbb{I}[i \le 6]", messages.module.table)
        (check, *_) = verify(Sheet("", (shown,), ()), messages).checks
        assert check.evidence.startswith(f"by ring identity for {n}\u00a0=\u00a06 and {n}\u00a0=\u00a07")


def test_a_range_beyond_a_stated_shape_is_an_error_of_the_card() -> None:
    messages = with_sizes(x=(5,), w=(5,))
    sheet = Sheet("", (displayed(r"\frac{\partial y}{\partial w_i} = x_i^2", messages.module.table),), ())
    with pytest.raises(CardError, match=r"the formula of `y` reads `w` at 6, but the indices of `w` end at 5"):
        verify(sheet, messages)


def test_outside_of_its_domain_a_function_has_no_slope() -> None:
    assert derive.solve(formula=r"y_k = \mathrm{log1p}(x_k^2)").report.ok
