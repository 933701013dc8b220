"""Our own sheets, read as somebody's: nothing in them is refuted, and the notation reads all that they print."""

from pathlib import Path

import pytest

import derive
from derive.verify.report import Verdict
from tests.bank import LAYERS, ROOT, named, solved

GALLERY = sorted((ROOT / "output" / "gallery").glob("*.md"))
SAMPLE = LAYERS[::24]
# how many equations are not read, and why
OPEN = {
    "gradient_step": 3,  # W^new in numbers before η has one, the numbers alone
    "conv_relu_pool": 6,  # z of one window in a network: its subdifferential, the subgradient in use
    "habit_softmax": 2,  # f_k (…), where the question writes f_k(x)
    "gru_step": 22,  # \tilde{h}_t of a cell whose letters have a label already
    "batch_norm_listed": 20,  # σ² as a letter of its own, beside x^i
    "depthwise_pointwise": 17,  # x_{l,r+p,u+q}: l is a label of x there
    "sequence_k": 7,  # z of one window over a sequence with letters of its own
}


def unread(solution: Path | str, card: derive.Card) -> int:
    """How many equations are not read, none being refuted."""
    report = derive.check(card) if isinstance(solution, Path) else derive.check(card, text=solution)
    assert report.ok and not report.missing, [str(c) for c in report.checks if c.verdict == Verdict.REFUTED]
    assert all(c.verdict != "off ties" for c in report.checks)
    return sum(c.verdict == Verdict.NOT_READ for c in report.checks)


@pytest.mark.parametrize("sheet", GALLERY, ids=lambda p: p.stem)
def test_the_gallery_is_read(sheet: Path) -> None:
    assert unread(sheet, derive.Card.read(sheet)) <= OPEN.get(sheet.stem, 0)


@pytest.mark.parametrize("path", dict.fromkeys((*SAMPLE, *map(named, OPEN))), ids=lambda p: p.stem)
def test_sheets_of_the_cards_are_read(path: Path) -> None:
    from derive.render import markdown

    sheet = derive.Card.parse(markdown.render(solved(path.stem), "standard"))
    assert unread(path, sheet) <= OPEN.get(path.stem, 0)
