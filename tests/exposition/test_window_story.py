"""A maximum over windows anywhere in a layer brings its section: SymPy's Max and cases of one window, and ties."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import derive
from derive.sheet import Math
from derive.verify.report import Verdict
from derive.verify.sheet import verify

CARD = """---
id: {id}
---

# Question
{text} The windows are 2 × 2 with stride 2. Derive the backward message with respect to $x$.
"""
LAYERS = {
    "behind": r"Let $h_{ij} = \max(0, x_{ij})$ and $y_{kl} = \max_{(i, j) \in \Omega(k, l)} h_{ij}$.",
    "before": r"Let $p_{kl} = \min_{(i, j) \in \Omega(k, l)} x_{ij}$ and $y = \sum_{k, l} w_{kl} p_{kl}$.",
}
SECTION = ("window_entries", "window_value", "window_cases", "window_jacobian", "subdifferential", "directional")


@pytest.fixture(scope="module", params=LAYERS)
def solution(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> derive.Solution:
    path: Path = tmp_path_factory.mktemp("cards") / f"{request.param}.md"
    path.write_text(CARD.format(id=request.param, text=LAYERS[request.param]), encoding="utf-8")
    return derive.solve(path)


def test_the_section_is_there_and_proved(solution: derive.Solution) -> None:
    verdicts = {c.name: c.verdict for c in solution.report.checks}
    assert [verdicts.get(name) for name in SECTION[:4]] == [Verdict.PROVED] * 4
    assert solution.report.ok and set(SECTION) <= set(verdicts)


def test_a_change_in_it_is_found(solution: derive.Solution) -> None:
    printed = next(b for b in solution.sheet.details if isinstance(b, Math) and b.name == "window_cases")
    wrong = replace(printed, latex=printed.latex.replace(">", r"\le", 1).replace("<", r"\ge", 1))
    sheet = replace(solution.sheet, details=tuple(wrong if b is printed else b for b in solution.sheet.details))
    assert {c.name for c in verify(sheet, solution.messages).failures} == {"window_cases"}
