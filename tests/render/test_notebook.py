"""The notebook: its cells are run, and what they assert is what the sheet shows."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from derive.errors import VerificationError
from derive.exposition.shown import shown
from derive.render import render
from derive.render.guard import guard, in_cells
from derive.sheet import Math, Sheet, Table
from tests.bank import CARDS, REFUSED, solved
from tests.render.test_notes import hostile

EVERY = [path.stem for path in CARDS if path not in REFUSED]
NAMED = ["max_pooling_numbers", "one_neuron_step", "two_layers_numbers", "strided_convolution", "lstm_by_name", "overlapping_max_pooling"]


def notebook(name: str, detail: str = "standard") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render(solved(name), "ipynb", detail))
    return found


def code(made: dict[str, Any]) -> list[str]:
    return ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]


def run(cells: list[str]) -> None:
    space: dict[str, Any] = {}
    for cell in cells:
        exec(compile(cell, "<cell>", "exec"), space)


@pytest.mark.parametrize("name", NAMED)
def test_the_cells_compute_the_example_and_assert_it(name: str) -> None:
    cells = code(notebook(name))
    assert sum("assert_allclose" in cell for cell in cells) >= 1 and "def " in cells[0]
    run(cells)


@pytest.mark.some(28)
@pytest.mark.parametrize("name", EVERY)
def test_every_card_has_its_notebook(name: str) -> None:
    run(code(notebook(name)))


@pytest.mark.parametrize("name", NAMED)
def test_a_wrong_number_stops_a_cell(name: str) -> None:
    cells = code(notebook(name))
    planted = [cell.replace("def ", "upstream = 0\ndef ", 1).replace("return ", "return 1.25 * ") for cell in cells[:1]]
    with pytest.raises((AssertionError, TypeError)):
        run([*planted, *cells[1:]])


def test_numbers_that_are_not_on_the_sheet_are_refused() -> None:
    for name, kind in (("max_pooling_numbers", Math), ("strided_convolution", Table)):
        solution = solved(name)
        without = tuple(b for b in solution.sheet.details if not (isinstance(b, kind) and (kind is Table or b.scope == "example" and "delta_X" in b.latex and not b.definition)))  # type: ignore[union-attr]
        sheet = replace(solution.sheet, details=without, answer=())
        if kind is Table:
            assert shown(sheet, solution.messages, "") is None
            sheet = replace(sheet, details=(*without, Table(("a", "b"), (("$y$", "(1, 2)"),), "ll")))
        with pytest.raises(VerificationError, match="is not that of the sheet"):
            shown(sheet, solution.messages, solution.card.question if solution.card else "")


def test_what_is_given_and_what_follows_are_exact() -> None:
    found = shown(solved("max_pooling_numbers").sheet, solved("max_pooling_numbers").messages, "")
    assert found is not None and [str(r.node) for r in found.given] and found.results[0].values[0, 0] == Fraction(4)
    assert shown(Sheet("t", (), ()), solved("max_pooling_numbers").messages, "") is None


@pytest.mark.parametrize("detail", ["answer", "standard", "full"])
def test_the_formulas_are_those_that_were_checked(detail: str) -> None:
    solution = solved("max_pooling_numbers")
    made = str(render(solution, "ipynb", detail))
    guard(made, solution.sheet, detail, in_cells)
    with pytest.raises(VerificationError, match="the finished file shows"):
        guard(made.replace(r"\\delta_{Y,kl}", r"\\delta_{Y,lk}"), solution.sheet, detail, in_cells)
    assert "assert_allclose" in made and made == render(solution, "ipynb", detail)


def test_what_a_question_writes_stays_text() -> None:
    solution = replace(solved("max_pooling_numbers"), card=hostile().card)
    cells = json.loads(render(solution, "ipynb"))["cells"]
    question = "".join(cells[0]["source"])
    assert r"\<script" in question and "<script" not in question.replace(r"\<", "")
    assert code({"cells": cells}) == code(notebook("max_pooling_numbers"))


def test_figures_are_inside() -> None:
    cells = notebook("max_pooling_numbers")["cells"]
    pictures = [name for cell in cells for name in cell.get("attachments", {})]
    text = "".join(line for cell in cells for line in cell["source"])
    assert len(pictures) == 2 and all(f"](attachment:{name})" in text for name in pictures)


def test_jupyter_takes_the_notebook_and_runs_it() -> None:
    pytest.importorskip("ipykernel")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    read = nbformat.reads(str(render(solved("max_pooling_numbers"), "ipynb")), as_version=4)
    nbformat.validate(read)
    nbclient.NotebookClient(read, timeout=120, kernel_name="python3").execute()
    assert not [o for cell in read.cells if cell.cell_type == "code" for o in cell.outputs]
