"""The committed sheets are what the program writes today, and what they print is checked anew."""

from pathlib import Path

import pytest

import derive
from derive.render import files
from derive.render.guard import displayed

GALLERY = Path("output/gallery")
CARDS = {"ssu_batch4_004": "cards/max_pooling_backward.md"}


@pytest.mark.parametrize("form", ["md", "tex", "html"])
@pytest.mark.parametrize("name", CARDS)
def test_regenerating_gives_the_same_bytes(name: str, form: str) -> None:
    solution = derive.solve(CARDS[name])
    for file, text in {f"{name}.{form}": derive.render(solution, form), **files(solution, form)}.items():
        assert isinstance(text, str)
        assert (GALLERY / file).read_bytes() == text.encode("utf-8")


@pytest.mark.parametrize("name", CARDS)
def test_every_formula_of_the_sheet_was_checked(name: str) -> None:
    solution = derive.solve(CARDS[name])
    known = {" ".join(c.latex.split()) for c in solution.report.checks if c.latex}
    known |= {" ".join(latex.split()) for latex in solution.report.definitions}
    solved = (GALLERY / f"{name}.md").read_text("utf-8").split("# Solution")[1]
    printed = [" ".join(f.split()) for f in displayed(solved)]
    assert len(printed) > 30
    assert set(printed) <= known
