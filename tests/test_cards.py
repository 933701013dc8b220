"""Every card that the tests hold: its sheet is whole and can be typeset, each check of it passes."""

from __future__ import annotations

from pathlib import Path

import pytest

import derive
from derive.card import Card

CARDS = sorted((Path(__file__).parent / "cards").glob("**/*.md"))
SOLVED = [path for path in CARDS if "Error: " not in str(Card.read(path).front_matter.get("expect"))]


@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
def test_every_check_of_its_sheet_passes(path: Path) -> None:
    solution = derive.solve(path)
    report = solution.report
    assert [f"{c.name} {c.verdict.value}: {c.latex} {c.counterexample or c.evidence}" for c in report.failures] == []
    assert derive.render(solution, "tex")
