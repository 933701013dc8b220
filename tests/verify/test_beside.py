"""Facts altered where they are said: each sentence that says another thing than the display beside it turns red."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import derive
from derive.calculus.one_window import scope_tables
from derive.exposition.builder import Builder
from derive.exposition.sheet import compose
from derive.numeric.arithmetic import precision
from derive.sheet import Sheet
from derive.verify.pictures import pictures
from derive.verify.report import Check, Verdict
from derive.verify.sheet import parsed_of, scopes_of
from derive.verify.words import closed, words
from tests.bank import solved

Facts = dict[str, Any]


def checked(sheet: Sheet, name: str) -> list[Check]:
    messages = solved(name).messages
    with precision():
        parsed, _ = parsed_of(sheet, scope_tables(messages.module))
        found = words(sheet, messages.module, scopes_of(parsed, messages))
        return [c for c in (*found, *pictures(sheet, messages.module)) if c.verdict is Verdict.REFUTED]


PLANTS: list[tuple[str, str, Callable[[Facts], Facts]]] = [
    ("affine_layer", "rule_sum", lambda f: {"only": f["only"].split(" = ")[0] + f" = {f['only'].split(' = ')[0][1:]}$"}),
    ("affine_layer", "rule_sum", lambda f: {"one": not f["one"]}),
    ("transposed_range", "rule_sum", lambda f: {"only": f["only"].replace(" - ", " + ")}),
    ("transposed_range", "rule_sum", lambda f: {"only": f["only"].replace("2", "3")}),
    ("affine_layer", "answer_bracket", lambda f: {"bracket": "$W$"}),
    ("affine_layer", "answer_shapes", lambda f: {"shapes": f["shapes"][:1]}),
    ("affine_layer", "answer_shapes", lambda f: {"functions": True}), ("mlp_words_cz", "answer_shapes", lambda f: {"functions": False}),
    ("conv2d_bank", "example_derivatives", lambda f: {"several": False}),
    ("dilated_causal", "example_derivatives", lambda f: {"several": True}),
    ("layer_norm_by_name", "inserted", lambda f: {"users": f["users"][::-1]}), ("svm_hinge", "answer_kinks", lambda f: {"jumps": []}),
    ("max_pooling_backward", "window_derivative", lambda f: {"z": f["other"]}), ("maxout_unit", "example_sliced", lambda f: {"rank": 2}),
    ("max_pooling_backward", "window_derivative", lambda f: {"other": f["z"]}), ("maxout_unit", "answer_maximiser", lambda f: {"others": []}),
    ("max_pooling_backward", "why_below", lambda f: {"h": f["z"]}), ("max_pooling_backward", "matrix_form", lambda f: {"row": f["z"]}),
    ("layer_norm_by_name", "answer_letters", lambda f: {"parameters": f["parameters"][:1]}),
    ("layer_norm_by_name", "answer_letters", lambda f: {"constants": []}),
    ("layer_norm_by_name", "readings", lambda f: {"readings": [r.replace(r"$\gamma$, ", "") for r in f["readings"]]}),
    ("gradient_step", "readings", lambda f: {"readings": f["readings"][:-1]}),
    ("affine_layer", "readings", lambda f: {"readings": [r.replace("taken as input ", "parameter ") for r in f["readings"]]}),
    ("affine_layer", "letters", lambda f: {"rows": [(r[0], r[1].replace("assumed", "input"), r[2]) for r in f["rows"]]}),
    ("affine_layer", "letters", lambda f: {"rows": [(r[0], r[1], r[2].replace("<", r"\le")) for r in f["rows"]]}),
    ("logistic_regression", "rule_power", lambda f: {"kind": "number"}), ("focal", "rule_power", lambda f: {"kind": "general"}),
    ("logistic_regression", "chain", lambda f: {"through": [f["wrt"]]}),
    ("logistic_regression", "chain", lambda f: {"of": f["wrt"], "wrt": f["of"]}),
    ("gated_linear_unit", "rule_direct", lambda f: {"wrt": f["of"], "of": f["wrt"]}),
    ("gated_linear_unit", "inserted", lambda f: {"users": f["users"][:1]}),
    ("gated_linear_unit", "stage_used", lambda f: {"here": f["used"][0]}),
    ("elu_alpha", "answer_kinks", lambda f: {"jumps": []}),
    ("elu_alpha", "answer_kinks", lambda f: {"jumps": [j._replace(unless=()) for j in f["jumps"]]}),
    ("elu_alpha", "curve_caption", lambda f: {"function": f["derivative"], "derivative": f["function"]}),
    ("elu_alpha", "curve_caption", lambda f: {"given": [g.replace("1/4", "1/2") for g in f["given"]]}),
    ("huber", "kink", lambda f: {"smooth": []}), ("huber", "kink", lambda f: {"kind": "function"}),
    ("max_pooling_backward", "sizes", lambda f: {"sizes": f["sizes"][::-1]}),
    ("max_pooling_backward", "window_entries", lambda f: {"output": "$x$"}),
    ("max_pooling_backward", "window_derivative", lambda f: {"z": "$f$"}),
    ("max_pooling_backward", "receptive_fields_caption", lambda f: {"outputs": f["outputs"][::-1]}),
    ("max_pooling_backward", "answer_maximiser", lambda f: {"at": f["at"][:1]}),
    ("overlapping_max_pooling", "routing_caption", lambda f: {"shared": not f["shared"]}),
    ("batch_normalisation", "stage_message", lambda f: {"users": f["users"][:1]}),
    ("batch_normalisation", "answer_messages", lambda f: {"letter": "ε"}),
]


@pytest.mark.parametrize(("name", "macro", "change"), PLANTS, ids=[f"{n}-{m}" for n, m, _ in PLANTS])
def test_a_fact_altered_where_it_is_said_is_refuted(
    name: str, macro: str, change: Callable[[Facts], Facts], monkeypatch: pytest.MonkeyPatch
) -> None:
    solution, say, planted = solved(name), Builder.say, list[bool]()

    def altered(self: Builder, own: str, /, **facts: Any) -> str:
        words = say(self, own, **facts)
        if own == macro:
            self.claims.pop()
            before, words = words, say(self, own, **facts | change(facts))
            planted.append(words != before)
        return words

    assert solution.card is not None and checked(solution.sheet, name) == []
    monkeypatch.setattr(Builder, "say", altered)
    found = checked(compose(solution.messages, solution.card.question), name)
    assert any(planted) and any(f"`{macro}`" in c.evidence or c.name == "picture" or macro in ("answer_kinks", "answer_letters") for c in found)


@pytest.mark.parametrize("change", [
    lambda t: replace(t, windows=(t.windows[0][::-1], *t.windows[1:])), lambda t: replace(t, op="min"),
    lambda t: replace(t, upstream=t.upstream[::-1]), lambda t: replace(t, tie_rule="last"),
    lambda t: replace(t, letters=t.letters[::-1])])  # fmt: skip
def test_what_a_page_lets_change_is_the_layer_s(change: Callable[[Any], Any]) -> None:
    sheet = solved("max_pooling_backward").sheet
    assert "The numbers that a page lets its reader change" in {
        c.evidence for c in checked(replace(sheet, trial=change(sheet.trial)), "max_pooling_backward")}


@pytest.mark.parametrize("change", [
    lambda f: {"proved": f["tested"], "tested": f["proved"]}, lambda f: {"proved": f["proved"][1:]},
    lambda f: {"definitions": f["definitions"] * 2},
    lambda f: {"routes": [{**r, "verdict": Verdict.PROVED} for r in f["routes"]]}])  # fmt: skip
def test_the_closing_words_are_those_of_the_report(change: Callable[[Facts], Facts]) -> None:
    solution = solved("max_pooling_backward")
    claims = tuple(replace(c, facts={**c.facts, **change(dict(c.facts))}) if c.macro == "checked" else c
                   for c in solution.sheet.claims)
    assert closed(solution.sheet, solution.report) == []
    assert closed(replace(solution.sheet, claims=claims), solution.report)


@pytest.mark.parametrize("formula", [r"y = \sum_i x_{ii}", r"y_i = \sum_j x_{ijij}"])
def test_a_diagonal_is_met_by_two_equations(formula: str) -> None:
    """Only the term i = j, i = k of a trace holds x_jk: true, and was called untrue."""
    assert derive.solve(formula=formula).report.ok
