"""Answers are written in the letters that the question names, or the sheet tells that they are not."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card
from derive.exposition.subject import Subject
from derive.expr import Entry, walk

LOGISTIC = r"Let $p = \sigma(z)$, $\sigma(z) = 1/(1+e^{-z})$ and $L = -t \log p - (1-t) \log(1-p)$."
SOFTMAX = r"Let $p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}$."
MAP = r"Let $s_k = \sum_j W_{kj} x_j$ and $y_k = \tanh(s_k)$."
UNIT = r"Let $y = \tanh(x)$."


def solved(question: str) -> derive.Solution:
    found = derive.solve(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    assert found.report.ok
    return found


def letters(found: derive.Solution) -> set[str]:
    return {n.tensor for t in Subject(found.messages).targets for n in walk(t.value) if isinstance(n, Entry)}


@pytest.mark.parametrize(("question", "written"), [
    (rf"{LOGISTIC} Give $\partial L/\partial z$ in terms of $p$ and $t$.", "p t"),
    (rf"{LOGISTIC} Give $\partial L/\partial z$ as a function of $z$ and $t$.", "z t"),
    (rf"{UNIT} Derive $\partial y/\partial x$ in terms of $y$.", "y"),
    (rf"{UNIT} Derive $\partial y/\partial x$ as a function of $x$.", "x"),
    (rf"{UNIT} Express $\partial y/\partial x$ through $x$.", "x"),
    (rf"{SOFTMAX} Derive the Jacobian in terms of $p$.", "p"),
    (rf"{SOFTMAX} Derive $\partial p_i/\partial z_j$ as a function of the inputs $z$ only.", "z"),
    (rf"{MAP} Derive $\partial y_k/\partial x_j$ in terms of $y$ and $W$ only.", "y W"),
    (rf"{MAP} Derive $\partial L/\partial x_j$ as a function of $x$ and $W$.", "x W delta_y"),
    (rf"{MAP} Derive $\partial L/\partial W_{{kj}}$ in terms of $\partial L/\partial s_k$.", "x delta_s"),
    (rf"{MAP} Derive $\partial L/\partial W_{{kj}}$ in terms of $\delta_k = \partial L/\partial s_k$.", "x delta_s"),
])
def test_an_answer_is_written_in_the_letters_named(question: str, written: str) -> None:
    found = solved(question)
    assert letters(found) == {*written.split()} and not found.module.unanswered


@pytest.mark.parametrize(("question", "said"), [
    (r"Let $y = \log(1 + e^x)$. Write its derivative in terms of $y$.", "in terms of $y$"),
    (r"Let $y = x^2$. Derive $\partial y/\partial x$ in terms of the output.", "in terms of the output"),
    (r"Let $y_i = x_i / \sqrt{\sum_j x_j^2}$. Derive $\partial y_i/\partial x_j$ in terms of $y$.", "in terms of $y$"),
    (rf"{MAP} Derive $\partial L/\partial s_k$, then $\partial L/\partial W_{{kj}}$ in terms of $\partial L/\partial s_k$.",
     r"in terms of $\partial L/\partial s_k$"),
    (rf"{MAP} Give the forward message and derive $\partial L/\partial W_{{kj}}$ in terms of $\partial L/\partial s_k$.",
     r"in terms of $\partial L/\partial s_k$"),
    (rf"{MAP} Derive all messages, $\partial L/\partial W_{{kj}}$ in terms of $\partial L/\partial s_k$.",
     r"in terms of $\partial L/\partial s_k$"),
])
def test_an_answer_with_other_letters_is_told(question: str, said: str) -> None:
    assert any("not written in these letters" in why and said in why for why in solved(question).module.unanswered)


@pytest.mark.parametrize("behind", [r"as a function of $\partial L/\partial y_k$", "using the chain rule", ""])
def test_what_names_no_letter_of_the_layer_changes_nothing(behind: str) -> None:
    found = solved(rf"{MAP} Derive $\partial L/\partial x_j$ {behind}.")
    assert letters(found) == {"W", "y", "delta_y"} and not found.module.unanswered
