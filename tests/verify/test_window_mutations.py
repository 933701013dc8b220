"""The verifier, tested: every single-token change of every printed formula is refuted, unreadable, or explained."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

import derive
from derive.calculus.one_window import WHOLE, scope_tables
from derive.errors import DeriveError
from derive.notation import read
from derive.numeric.arithmetic import precision
from derive.numeric.statements import componentwise
from derive.render.guard import displayed
from derive.sheet import Math
from derive.verify import sheet as verification
from derive.verify.check import fresh
from derive.verify.provers.cases import Proofs, proofs
from derive.verify.report import Verdict
from derive.verify.scope import Scope

from .mutations import mutants

EVERY = 5  # of the changed letters and digits one of so many; with --every-card all of them
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


def survivors(solution: derive.Solution, every: int) -> Iterator[tuple[str, str, str]]:
    """(formula's name, change, changed formula) for each change let through and not proved to be true as well.

    Of the changed letters and digits one of ``every`` is tried, of the operators and relations each.
    """
    sheet, messages = solution.sheet, solution.messages
    tables = scope_tables(messages.module)
    parsed, _ = verification.parsed_of(sheet, tables)
    scopes = verification.scopes_of(parsed, messages)
    able = {name: proofs(scope) for name, scope in scopes.items()}
    for math in sheet.formulas():
        for change, latex in mutants(math.latex, letters(solution, math.scope)):
            tried = not change[0].isalnum() or zlib.crc32(latex.encode()) % every == 0
            if tried and passes(math, latex, solution, scopes, able):
                yield math.name, change, latex


def passes(math: Math, latex: str, solution: derive.Solution, scopes: dict[str, Scope],
           able: dict[str, Proofs]) -> bool:
    """Whether the sheet with this one formula changed is accepted, though the formula is not known to be true."""
    table = scope_tables(solution.messages.module)[math.scope]
    try:
        node, original = read(latex, table), read(math.latex, table)
    except DeriveError:
        return False
    if node is original:
        return False  # the same mathematics, written another way
    changed = replace(math, latex=latex)
    if math.definition or math.scope in ("entries", "example", "tied"):
        sheet = solution.sheet
        details = tuple(changed if b is math else b for b in sheet.details)
        answer = tuple(changed if b is math else b for b in sheet.answer)
        sheet = replace(sheet, answer=answer, details=details, inline=())
        parsed, unread = verification.parsed_of(sheet, scope_tables(solution.messages.module))
        with precision():  # the first that fails tells
            return not unread and all(c.verdict in (Verdict.PROVED, Verdict.TESTED)
                                      for c in verification.checks_of(sheet, parsed, solution.messages))
    home = "layer" if math.scope == WHOLE else math.scope  # a matrix form is read into entries of the layer
    scope = scopes[home]
    node = componentwise(node, scope.table)
    if fresh(changed, node, scope, tuple).verdict not in (Verdict.PROVED, Verdict.TESTED):
        return False
    return fresh(changed, node, scope, lambda: able[home]).verdict is not Verdict.PROVED


def test_the_finished_files_hold_the_checked_formulas(solution: derive.Solution) -> None:
    checked = [" ".join(m.latex.split()) for m in solution.sheet.formulas()]
    for form in ("md", "tex"):
        text = derive.render(solution, form, "full")
        assert isinstance(text, str)
        found = [" ".join(f.split()) for f in displayed(text)]
        assert found[-len(checked):] == checked


def test_every_change_of_a_printed_formula_is_found(solution: derive.Solution, pytestconfig: pytest.Config) -> None:
    every = 1 if pytestconfig.getoption("--every-card") else EVERY
    unexplained = [
        (name, change, latex) for name, change, latex in survivors(solution, every)
        if not any(re.fullmatch(n, name) and re.fullmatch(c, change) for n, c in EXPLAINED.values())
    ]
    assert unexplained == []
