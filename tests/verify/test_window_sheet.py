"""What a planted mistake outside the formulas does: in a template's words, in a step, in a definition."""

from __future__ import annotations

from dataclasses import replace

import pytest

import derive
from derive.calculus.derivation import Step
from derive.calculus.messages import Messages
from derive.expr import ONE
from derive.sheet import Math, Prose
from derive.verify.report import Report
from derive.verify.sheet import verify


@pytest.fixture(scope="module")
def solution() -> derive.Solution:
    return derive.solve("cards/max_pooling_backward.md")


def failed(report: Report) -> set[str]:
    return {c.name for c in report.failures}


def test_the_sheet_itself_passes(solution: derive.Solution) -> None:
    assert verify(solution.sheet, solution.messages).ok


def test_a_formula_of_a_template_s_own_is_found(solution: derive.Solution) -> None:
    sheet = replace(solution.sheet, answer=(*solution.sheet.answer, Prose("Here $f_{kl} = 0$ always.")))
    assert failed(verify(sheet, solution.messages)) == {"words"}


def test_a_sentence_with_another_formula_than_it_was_given_is_found(solution: derive.Solution) -> None:
    first = next(b for b in solution.sheet.answer if isinstance(b, Prose))
    changed = replace(first, text=first.text.replace("^*", "^{**}"))
    assert changed != first
    sheet = replace(solution.sheet, answer=tuple(changed if b is first else b for b in solution.sheet.answer))
    assert failed(verify(sheet, solution.messages)) == {"answer", "words"}


@pytest.mark.parametrize("rule", ["entry", "extremum", "definition", "chain", "covering", "geometry"])
def test_an_altered_step_is_found(solution: derive.Solution, rule: str) -> None:
    def altered(step: Step) -> Step:
        if step.rule == rule:
            return replace(step, after=ONE)
        return replace(step, premises=tuple(map(altered, step.premises)))

    good = solution.messages
    broken = Messages(good.given, good.spare)
    for key, step in {("jacobian", "x", None): good.jacobian("x"), ("message", "x"): good.message("x")}.items():
        broken._kept[key] = altered(step)
    assert "derivation" in failed(verify(solution.sheet, broken))


def test_a_wrong_list_of_the_window_s_entries_is_found(solution: derive.Solution) -> None:
    listing = next(b for b in solution.sheet.details if isinstance(b, Math) and b.name == "window_entries")
    changed = replace(listing, latex=listing.latex.replace("2l+1", "2l+2", 1))
    sheet = replace(solution.sheet, details=tuple(changed if b is listing else b for b in solution.sheet.details))
    assert failed(verify(sheet, solution.messages)) == {"window_entries"}


def test_an_unreadable_formula_is_not_passed(solution: derive.Solution) -> None:
    first = next(b for b in solution.sheet.answer if isinstance(b, Math) and b.name == "jacobian_x")
    changed = replace(first, latex=r"\frac{\partial f_{kl}}{\partial x_{ij}} = \heartsuit")
    sheet = replace(solution.sheet, answer=tuple(changed if b is first else b for b in solution.sheet.answer))
    report = verify(sheet, solution.messages)
    assert [c.verdict for c in report.failures if c.name == "jacobian_x"] == ["not read"]
