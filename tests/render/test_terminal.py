"""The sheet in a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from derive.card import Card
from derive.errors import VerificationError
from derive.render import terminal
from derive.sheet import Heading, Sheet
from tests.render.example import BAD, CARD, PARSED, Solution


def shown(solution: Solution, width: int = 100, detail: str = "full") -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal.render(solution, detail))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_question_answer_and_details() -> None:
    text = shown(Solution())
    for part in (
        "Vrstva s největší hodnotou", "1. Derive the backward message ∂f_kl/∂x_ij of the layer.", "• for n maxima.",
        "y = np.maximum(x, 0)  # 100 %", "[Figure: pool.png]", "∂f_kl/∂x_ij = ⎨", "• [1] A small change of x_ij",
        "PyTorch", "[i = k] · x_i", "⎛0  1  0   0⎞", "<b>Explain</b>",
    ):  # fmt: skip
        assert part in text, part
    assert "$" not in text and "\\" not in text


def test_the_short_form_has_the_answer_and_the_checks() -> None:
    text = shown(Solution(), detail="short")
    assert "∂f_kl/∂x_ij" in text and "Checked" in text and "Why" not in text


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, shown(Solution(), width).splitlines())) <= width


def test_nothing_in_a_card_reaches_the_terminal_as_a_command() -> None:
    card = Card.parse(CARD.replace("Consider", "\x1b[2J\x07\u202e\x9b31m [red]Consider[/red]"))
    text = shown(replace(Solution(), card=card))
    assert not any(c in text for c in "\x1b\x07\u202e\x9b") and "[red]Consider[/red]" in text


def test_a_refuted_sheet_is_not_shown() -> None:
    with pytest.raises(VerificationError):
        terminal.render(replace(Solution(), report=BAD))


def test_formulas_in_titles_and_headings() -> None:
    sheet = Sheet(r"Messages of $\ell$", (), (Heading(r"$\delta_h$"),))
    text = shown(Solution(sheet=sheet))
    assert "Messages of ℓ" in text and "\nδ_h\n" in text


def test_a_sheet_without_a_card() -> None:
    assert PARSED.question.split()[0] not in shown(replace(Solution(), card=None))
