"""Texts of any length: a question of many pages is refused at once, and what is no question does not matter."""

from __future__ import annotations

import pytest

import derive
from derive.errors import CardError
from derive.limits import MOST_ASKED, MOST_CHARACTERS, MOST_FORMULAS, MOST_IN_A_FORMULA
from derive.question import module_of

ASKED = r"Let $y_k = \max(0, \sum_j W_{kj} x_j)$. Derive the backward message with respect to $x$."
LONG = 300_000


def card(question: str, solution: str = "") -> derive.Card:
    return derive.Card.parse(f"---\nid: a\n---\n\n## Question\n\n{question}\n\n## Solution\n\n{solution}\n")


@pytest.mark.parametrize(("more", "problem"), [
    ("a " * (MOST_CHARACTERS // 2), r"the question has 20,0\d\d characters, and at most 20,000"),
    (f"$$ z = {'x + ' * (MOST_IN_A_FORMULA // 4)} x $$", r"line 9: a formula of 5,0\d\d characters, and at most 5,000"),
    ("$x_i$ " * MOST_FORMULAS, r"the question has 402 formulas, and at most 400"),
    ("Derive it with respect to $x$ and " + "with respect to " * MOST_ASKED, "with respect to” 102 times, and at most 100"),
    ("`x` " * MOST_FORMULAS, r"the question has 402 formulas, and at most 400"),
])  # fmt: skip
@pytest.mark.parametrize("layer", [r"\max(0, \sum_j W_{kj} x_j)", r"\sum_j W_{kj} x_j"])  # a pooling may be, or not
def test_an_endless_question_is_refused_with_both_numbers(layer: str, more: str, problem: str) -> None:
    with pytest.raises(CardError, match=problem):
        module_of(card(f"{ASKED}\n\n{more}".replace(r"\max(0, \sum_j W_{kj} x_j)", layer)))


@pytest.mark.parametrize("unit", ["`", "<!--\n", "a `b", "$x_i$ ", "max pooling ", "$ ", "```\n", "**", "[[a]] ", "> "])
def test_what_stands_in_the_solution_may_be_as_long_as_it_likes(unit: str) -> None:
    found = card(ASKED, unit * (LONG // len(unit)))
    assert module_of(found).output == "y"


@pytest.mark.parametrize("unit", ["`", "unlike max pooling, ", "the stride is 2, ", "~~", "<!--\n"])
def test_a_question_up_to_that_length_is_read(unit: str) -> None:
    assert module_of(card(f"{ASKED}\n\n{unit * ((MOST_CHARACTERS - 200) // len(unit))}")).output == "y"
