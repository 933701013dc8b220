"""What one format alone changes is caught: a cell of a table, a letter or a number in a picture."""

from __future__ import annotations

import re

import pytest

import derive
from derive.errors import VerificationError
from derive.render import render
from derive.render.guard import guard
from derive.render.pictures import svg
from derive.render.read_back import guard_picture
from tests.bank import composed, unchecked, understood

CELLS = [  # of a table in two halves, of numbers, of formulas with bars
    ("huber", "tex", r"15/2", "15/3"),
    ("huber", "tex", r"$-$2 & $-$3", "$-$3 & $-$2"),
    ("huber", "tex", r"& 3 & 1 \\", r"& $-$3 & 1 \\"),
    ("huber", "md", "| $t$ | −2 |", "| $y$ | −2 |"),
    ("softmax_jacobian", "tex", "0.1557", "0.1558"),
    ("softmax_jacobian", "html", "0.1557", "0.1558"),
    ("one_neuron_step", "md", "0.8756", "0.8765"),
]


@pytest.mark.parametrize(("card", "format", "old", "new"), CELLS)
def test_a_changed_cell_is_caught(card: str, format: str, old: str, new: str) -> None:
    solution = composed(card)
    made = str(render(solution, format))
    changed = made.replace(old, new, 1)
    assert changed != made
    guard(made, solution.sheet, "standard")
    with pytest.raises(VerificationError, match="tables have no row"):
        guard(changed, solution.sheet, "standard")


@pytest.mark.parametrize("card", ["lstm_by_name", "embeddings_averaged", "one_d_temporal", "align_env", "hats_and_stars"])
def test_a_changed_letter_of_a_picture_is_caught(card: str) -> None:
    for figure in unchecked(understood(card)).sheet.figures():
        made = svg(figure.scene)
        for found in [*re.finditer(r">([a-zα-ω0-9])<", made)][:5]:
            other = "q" if found[1] != "q" else "x"
            with pytest.raises(VerificationError, match="the picture"):
                guard_picture(made[:found.start(1)] + other + made[found.end(1):], figure.scene)


WORDS = [  # of a sentence, a list, a heading, a caption
    ("softmax_jacobian", "Only the", "Not the"), ("relu_layer", "has no derivative", "has a derivative"), ("huber", "Derivation", "Proof"),
    ("huber", "claim nothing", "claim all"), ("overlapping", "Above, forward", "Below, forward"),
]


@pytest.mark.parametrize("format", ["md", "html", "tex"])
@pytest.mark.parametrize(("card", "old", "new"), WORDS)
def test_a_changed_word_is_caught(card: str, old: str, new: str, format: str) -> None:
    solution = composed(card)
    made = str(render(solution, format))
    changed = made.replace(old, new)
    assert changed != made
    guard(made, solution.sheet, "standard")
    with pytest.raises(VerificationError, match="sentences have no"):
        guard(changed, solution.sheet, "standard")


@pytest.mark.parametrize("format", ["md", "html", "tex"])
@pytest.mark.parametrize("word", ["R&D &amp;", "½", "ﬁnite", "“bold”", "<b>raw</b>", "50% \\%"])
def test_words_of_the_card_are_quoted_as_each_format_has_them(word: str, format: str) -> None:
    question = rf"Let $y_k = \tanh(a x_k)$. Explain the {word} input. Derive the backward message."
    solution = derive.solve(derive.Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    assert render(solution, format)
