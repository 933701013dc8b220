"""How long a sheet is on paper."""

from __future__ import annotations

import re

import pytest

import derive
from derive.render.pdf import compile_latex, engine
from tests.bank import ROOT, solved

_PAGES = re.compile(r"\((\d+) pages?,")


@pytest.mark.skipif(engine() is None, reason="no TeX with the packages of a sheet")
@pytest.mark.parametrize(("card", "pages"), [
    ("max_pooling_backward", 4), ("linear_squared", 2), ("kxk", 4), ("hyphens", 4), ("alexnet", 4), ("czech_minpool", 4),
])
def test_a_sheet_is_no_longer_than_a_lecturer_reads(card: str, pages: int) -> None:
    solution = derive.solve(ROOT / "cards" / f"{card}.md") if card.startswith("max_") else solved(card)
    log = compile_latex(str(derive.render(solution, "tex")), runs=1).log
    found = _PAGES.search(log.replace("\n", ""))
    assert found is not None and int(found[1]) <= pages
