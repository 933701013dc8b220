"""Texts of any length: a question of many pages is refused at once, and what is no question does not matter."""

from __future__ import annotations

import itertools
import sys
from contextlib import suppress

import pytest

import derive
from derive.errors import CardError
from derive.limits import MOST_ASKED, MOST_CHARACTERS, MOST_FORMULAS, MOST_IN_A_FORMULA, MOST_IN_A_SENTENCE, MOST_NAMED
from derive.question import module_of

ASKED = r"Let $y_k = \max(0, \sum_j W_{kj} x_j)$. Derive the backward message with respect to $x$."
LONG = 300_000


def card(question: str, solution: str = "") -> derive.Card:
    return derive.Card.parse(f"---\nid: a\n---\n\n## Question\n\n{question}\n\n## Solution\n\n{solution}\n")


@pytest.mark.parametrize(("more", "problem"), [
    ("a " * (MOST_CHARACTERS // 2), r"the question has 10,\d\d\d characters, and at most 10,000"),
    (f"$$ z = {'x + ' * (MOST_IN_A_FORMULA // 4)} x $$", r"line 9: a formula of 4,0\d\d characters, and at most 4,000"),
    ("$x_i$ " * MOST_FORMULAS, r"the question has 202 formulas, and at most 200"),
    ("Derive it with respect to $x$ and " + "with respect to " * MOST_ASKED, "with respect to” 102 times, and at most 100"),
    ("`x` " * MOST_FORMULAS, r"the question has 202 formulas, and at most 200"),
    ("the same " * (MOST_IN_A_SENTENCE // 8), r"line 9: a sentence of 2,2\d\d characters, and at most 2,000"),
    ("another tanh; " * (MOST_NAMED + 1), "line 9: the question names more than 60 layers in words"),
])  # fmt: skip
@pytest.mark.parametrize("layer", [r"\max(0, \sum_j W_{kj} x_j)", r"\sum_j W_{kj} x_j"])  # a pooling may be, or not
def test_an_endless_question_is_refused_with_both_numbers(layer: str, more: str, problem: str) -> None:
    with pytest.raises(CardError, match=problem):
        module_of(card(f"{ASKED}\n\n{more}".replace(r"\max(0, \sum_j W_{kj} x_j)", layer)))


@pytest.mark.parametrize("unit", ["`", "<!--\n", "a `b", "$x_i$ ", "max pooling ", "$ ", "```\n", "**", "[[a]] ", "> "])
def test_what_stands_in_the_solution_may_be_as_long_as_it_likes(unit: str) -> None:
    found = card(ASKED, unit * (LONG // len(unit)))
    assert module_of(found).output == "y"


@pytest.mark.parametrize("unit", [
    "`", "unlike max pooling; ", "the stride is 2; ", "~~", "<!--\n", "(the; ", "a; ", "derive the gradient; "])
def test_a_question_up_to_that_length_is_read(unit: str) -> None:
    assert module_of(card(f"{ASKED}\n\n{unit * ((MOST_CHARACTERS - 200) // len(unit))}")).output == "y"


@pytest.mark.parametrize(("unit", "count"), [
    ("(the ", 100), ("a, ", 100), ("1, ", 100), ("gradient ", 100), ("derive the gradient, ", 40), ("the mean of ", 60), ("|", 200),
    ("$x_i$, ", 30), ("where $w_k$ is a weight, ", 30), ("$n$ and $x$ with ", 15), ("a vector $v_i$ ", 30),
])  # fmt: skip
def test_work_grows_as_the_text_does(unit: str, count: int) -> None:
    """Twice the text is at most two and a half times the calls: clauses were compared with their whole sentence."""
    def calls(times: int) -> int:
        made = itertools.count()
        sys.setprofile(lambda *_: next(made))
        try:
            with suppress(CardError):
                module_of(card(f"{ASKED[:-1]} {unit * times}."))
        finally:
            sys.setprofile(None)
        return next(made)

    calls(1)
    assert calls(2 * count) < 2.5 * calls(count)


def test_a_superscript_is_no_number_in_words() -> None:
    """``"²".isdigit()``, and it is no integer."""
    assert module_of(card(f"Consider a layer of size ² for $x$. {ASKED}")).output == "y"


def test_a_long_side_question_is_set_aside() -> None:
    aside = "What is the meaning of this result, " + "and why would anybody be surprised by the shape that it has, " * 6
    assert module_of(card(rf"Let $y = w x$. Derive $\partial y/\partial w$. {aside}in the end?")).wanted
