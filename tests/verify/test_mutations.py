"""The verifier, tested: every single-token change of every printed formula is refuted, unreadable, or explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

import derive
from derive.render.formulas import displayed
from derive.sheet import Math, Sheet
from derive.verify import sheet as verification
from derive.verify.check import check, read_back
from derive.verify.report import Verdict

from .mutations import mutants

LAYERS = {
    "tiling": {"kernel_size": 2, "stride": 2},
    "overlapping": {"kernel_size": 3, "stride": 2, "padding": 1},
}

# What survives and is not proved to be true all the same: by the formula's name and the change, and why.
EXPLAINED = {
    "each of the three claims is about every q, whatever the letter": (r"tie_membership", r"q→(r|q') .*"),
    "off ties, where alone the indicator is used, > and ≥ agree": (r"indicator", r">→\\ge .*"),
    "the input of the example is given: an entry that wins no window may have another value": (r"(example|tied)_input", r"\d→\d+ .*"),
    "∂S_q/∂z_r = 0 for all q and r": (r"locally_constant", r"[qr]→.*"),
}


@pytest.fixture(scope="module", params=LAYERS)
def solution(request: pytest.FixtureRequest) -> derive.Solution:
    return derive.solve(derive.layer("max_pool", **LAYERS[request.param]))


def letters(solution: derive.Solution, scope: str) -> tuple[str, ...]:
    return ("q", "r") if scope == "window" else ("i", "j", "k", "l")


def survivors(solution: derive.Solution) -> Iterator[tuple[str, str, str]]:
    """(formula's name, change, changed formula) for each change let through and not proved to be true as well."""
    sheet = solution.sheet
    subject = subject_of(solution)
    scopes = verification.scopes_of(sheet, subject)
    for math in sheet.formulas():
        for change, latex in mutants(math.latex, letters(solution, math.scope)):
            if passes(math, latex, sheet, subject, scopes, solution):
                yield math.name, change, latex


def subject_of(solution: derive.Solution) -> verification.Subject:
    d = solution.derivation
    return verification.Subject(d.sized, d.window, d.jacobian, d.message, d.tables)


def passes(math: Math, latex: str, sheet: Sheet, subject: verification.Subject, scopes, solution) -> bool:  # type: ignore[no-untyped-def]
    """Whether the sheet with this one formula changed is accepted, though the formula is not known to be true."""
    changed = replace(math, latex=latex)
    node, problem = read_back(changed, scopes[math.scope])
    original, _ = read_back(math, scopes[math.scope])
    if problem is not None or node is None:
        return False
    if node is original:
        return False  # the same mathematics, written another way
    if math.definition or math.scope == "entries":
        blocks = tuple(changed if b is math else b for b in sheet.details)
        answer = tuple(changed if b is math else b for b in sheet.answer)
        report = verification.verify(replace(sheet, answer=answer, details=blocks, inline=()), subject)
        return report.ok
    found = check(changed, node, replace(scopes[math.scope], provers=()))
    if found.verdict not in (Verdict.PROVED, Verdict.TESTED):
        return False
    return check(changed, node, scopes[math.scope]).verdict is not Verdict.PROVED


def test_the_finished_files_hold_the_checked_formulas(solution: derive.Solution) -> None:
    checked = [" ".join(m.latex.split()) for m in solution.sheet.formulas()]
    for form in ("md", "tex"):
        text = derive.render(solution, form)
        assert isinstance(text, str)
        found = [" ".join(f.split()) for f in displayed(text)]
        assert found[-len(checked):] == checked


def test_every_change_of_a_printed_formula_is_found(solution: derive.Solution) -> None:
    unexplained = [
        (name, change, latex) for name, change, latex in survivors(solution)
        if not any(re.fullmatch(n, name) and re.fullmatch(c, change) for n, c in EXPLAINED.values())
    ]
    assert unexplained == []
