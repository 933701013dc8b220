"""Words behind formulas that change what they compute leave the question open; names, roles and care do not."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import DeriveError, OpenError
from derive.module import Module
from derive.question import module_of
from derive.question.sentences.actions import ACTIONS
from derive.question.sentences.atoms import ATOMS
from derive.question.sentences.grammar import MOST_STEPS, Parse
from derive.question.sentences.meaning import ROWS
from derive.question.sentences.runs import RUNS
from derive.question.sentences.tokens import sentences
from derive.question.words.prose import prose_of

LAYER, ASKED = r"Let $y = \tanh(Wx + b)$", r"Derive $\partial L/\partial W$."


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))


@pytest.mark.parametrize("said", [
    " and add the input to it.", ". Then halve the output.", " with the bias shared by all units.", " without the bias.",
    ", where every second unit is switched off.", " where Gaussian noise is added to the output.", ", iterated twice.",
    ". The gradient is reversed in the backward pass.", ". The weights are repeated.", ", where the gradient is stopped.",
    ". Two identical layers follow.",
    ", where both layers share their weights.", ", whose output is negated.", " with $W_{kk} = 0$.", ". It is composed with itself.", ", with large weights penalised.",
])
def test_words_behind_a_formula_that_change_it_are_open(said: str) -> None:
    with pytest.raises(OpenError):
        read(f"{LAYER}{said} {ASKED}")


@pytest.mark.parametrize("said", [
    ", where $W$ are the weights and $b$ the bias.", " with the scale $b$ of shape $(K,)$.", ". Treat $b$ as a constant.", ". The input is used twice.",
    ". Do not forget that $y$ depends on all $x$.", ", applied elementwise.", ". Usually noise is added to $x$.",
    ". (Careful: $x$ is used twice.)", ". Which unit would never be updated?",
])
def test_names_roles_and_care_change_nothing(said: str) -> None:
    assert read(f"{LAYER}{said} {ASKED}").equations == read(f"{LAYER}. {ASKED}").equations


@pytest.mark.parametrize("asked", [
    r"Derive the derivative of $h$ with respect to $x$.", r"Derive the Jacobian of $h$.",
    r"Derive the gradient of $\|y\|^2$ with respect to $x$.", r"Derive $\partial L/\partial W$ (not $\partial L/\partial b$).",
    r"Derive the derivative twice.", "Where does the derivative vanish?", "How much memory does the gradient take?",
])
def test_what_is_not_the_layer_s_derivative_is_not_answered_for_it(asked: str) -> None:
    try:
        module = read(rf"Let $h = \tanh(Wx + b)$ and $y = Vh$. {asked}")
    except DeriveError:
        pass
    else:
        assert {w.of.tensor for w in module.wanted} == {"h"}


def test_a_sentence_that_takes_too_many_steps_is_not_read() -> None:
    listed = ", ".join(["the weights", "the biases", "and the input of both layers"] * 60)
    (tokens,) = sentences(prose_of(f"Derive the gradients with respect to {listed}.", 1, ()))
    parse = Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens)
    assert parse.whole("sentence") == [] and parse.steps <= MOST_STEPS + 1


def test_one_letter_for_all_units_is_as_the_formula_has_it() -> None:
    formula = r"A layer computes $y_k = \max(0, x_k) + a \min(0, x_k)$, where the slope $a$ is one number"
    told = f"{formula} that is shared by all units and is learned together with the weights. {ASKED_X}"
    assert read(told).equations == read(f"{formula}. {ASKED_X}").equations


ASKED_X = r"Derive $\partial L/\partial x_k$."
