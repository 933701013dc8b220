"""One entry that is asked for is answered by itself: at a label, at a number, in a case of the indices."""

from __future__ import annotations

from pathlib import Path

import pytest

import derive
from derive.card import Card
from derive.sheet import Math

CROSS = r"Let $p_k = \frac{e^{s_k}}{\sum_j e^{s_j}}$ and $L = -\log p_y$, where $y$ is the label."
HINGE = r"Let $L = \sum_{j \neq y} \max(0, s_j - s_y + 1)$, where $y$ is the true class."
BATCH = (r"Let $p_{nk} = \frac{e^{s_{nk}}}{\sum_j e^{s_{nj}}}$ and $L = -\sum_n \log p_{n y_n}$, "
         "where $y_n$ is the label.")
SOFTMAX = r"Let $p_k = \frac{e^{s_k}}{\sum_j e^{s_j}}$."
MAP = r"The layer computes $y_i = \tanh(\sum_j W_{ij} x_j)$."
AT_LABEL = r"\frac{\partial L}{\partial s_{y}} = p_{y} - 1"


def solved(question: str) -> derive.Solution:
    found = derive.solve(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    assert found.report.ok
    return found


@pytest.mark.parametrize(("question", "answer"), [
    (rf"{CROSS} Derive $\partial L/\partial s_y$.", AT_LABEL),
    (rf"{CROSS} Derive $\partial L/\partial s_k$ for $k = y$.", AT_LABEL),
    (rf"{CROSS} Derive $\partial L/\partial s_k$ for the correct class $k = y$.", AT_LABEL),
    (rf"{CROSS} Derive $\partial L/\partial s_k$ for the correct class.", AT_LABEL),
    (rf"{CROSS} Derive the derivative of $L$ with respect to the score $s_y$ of the right class.", AT_LABEL),
    (rf"{CROSS} Derive $\partial L/\partial s_k$.", r"\frac{\partial L}{\partial s_{k}} = p_{k} - \mathbb{I}[k = y]"),
    (rf"{CROSS} Derive $\partial L/\partial s_k$ for $k = y$ and for $k \neq y$.",
     r"\frac{\partial L}{\partial s_{k}} = p_{k} - \mathbb{I}[k = y]"),
    (rf"{CROSS} Derive $\partial L/\partial p_y$.", r"\frac{\partial L}{\partial p_{y}} = -\frac{1}{p_{y}}"),
    (rf"{HINGE} Derive $\partial L/\partial s_y$.",
     r"\frac{\partial L}{\partial s_{y}} = -\sum_{j \ne y} \mathbb{I}[s_{j} - s_{y} + 1 > 0]"),
    (rf"{BATCH} Derive $\partial L/\partial s_{{n y_n}}$.",
     r"\frac{\partial L}{\partial s_{n,y_{n}}} = p_{n,y_{n}} - 1"),
    (rf"{SOFTMAX} Derive $\partial p_k/\partial s_j$ when $j = k$.",
     r"\frac{\partial p_{k}}{\partial s_{k}} = p_{k} (1 - p_{k})"),
    (rf"{MAP} Derive $\partial y_2/\partial x_1$.", r"\frac{\partial y_{2}}{\partial x_{1}} = (1 - y_{2}^{2}) W_{2,1}"),
    (rf"{MAP} Derive the derivative of $y_2$ with respect to $x_1$.",
     r"\frac{\partial y_{2}}{\partial x_{1}} = (1 - y_{2}^{2}) W_{2,1}"),
    (rf"{MAP} Derive the derivative of $y_2$ with respect to $x$.",
     r"\frac{\partial y_{2}}{\partial x_{j}} = (1 - y_{2}^{2}) W_{2,j}"),
    (rf"{MAP} Derive the gradient of the loss with respect to $x_1$.",
     r"\frac{\partial L}{\partial x_{1}} = \sum_{i} \delta_{y,i} (1 - y_{i}^{2}) W_{i,1}"),
    (rf"{MAP} Derive the gradient of the loss with respect to $W_{{1,2}}$.",
     r"\frac{\partial L}{\partial W_{1,2}} = \delta_{y,1} (1 - y_{1}^{2}) x_{2}"),
])
def test_the_entry_that_is_asked_for_is_the_answer(question: str, answer: str) -> None:
    found = solved(question)
    shown = [b.latex for b in found.sheet.answer if isinstance(b, Math)]
    assert shown == [answer] and len(found.module.wanted) == 1


@pytest.mark.parametrize(("question", "case"), [
    (rf"{CROSS} Derive $\partial L/\partial s_k$ for $k \neq y$.", r"$k \neq y$"),
    (rf"{HINGE} Derive $\partial L/\partial s_j$ for $j \neq y$.", r"$j \neq y$"),
    (rf"{SOFTMAX} Derive $\partial p_k/\partial s_j$ for $k \ne j$.", r"$k \ne j$"),
    (rf"{CROSS} Derive $\partial L/\partial s_k$ for all wrong classes.", "“for all wrong classes”"),
])
def test_all_entries_but_one_are_told_as_a_case(question: str, case: str) -> None:
    assert any(r.startswith(f"{case} is one case of the formula") for r in solved(question).module.readings)


def test_the_derivation_at_a_label_is_that_by_any_letter() -> None:
    found = solved(rf"{HINGE} Derive $\partial L/\partial s_y$.")
    heads = [b.latex.partition("=")[0] for b in found.sheet.details if isinstance(b, Math)]
    assert any(r"\frac{\partial L}{\partial s_{j}}" in h for h in heads) and not any(r"\partial s_{y}" in h for h in heads)


def test_a_letter_of_many_numbers_is_no_entry() -> None:
    solution = derive.solve(Path(__file__).parents[1] / "cards" / "words" / "embedding_of_words.md")
    answer = [block.latex for block in solution.sheet.answer if isinstance(block, Math)]
    assert solution.report.ok and answer[0].startswith(r"\frac{\partial L}{\partial E_{id}} =")

