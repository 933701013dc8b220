"""Formulas of a question with what belongs to them and stands elsewhere: numbers for letters, ranges."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.expr import Node, Rel
from derive.layers.forward import window_form
from derive.notation.grammar import skeleton
from derive.question.words import reading
from derive.question.words.reading import Read, read_formulas


def read_question(question: str) -> Read:
    return read_formulas(Card.parse(f"---\nid: a\n---\n# Question\n{question}\n"))


def first(question: str) -> Node:
    return read_question(question).nodes[0][1]


@pytest.mark.parametrize("apart", [
    r"$$ y_{kl} = \max_{a,b} x_{2k+a,2l+b}, \quad a, b \in \{0, 1\} $$",
    r"$$ y_{kl} = \max_{a,b} x_{2k+a,2l+b} $$ for $0 \le a < 2$ and $0 \le b < 2$",
    r"$$ y_{kl} = \max_{0 \le a, b < F} x_{Sk+a,Sl+b} $$ with $F = S = 2$",
])  # fmt: skip
def test_what_stands_apart_is_put_in(apart: str) -> None:
    plain = first(r"$$ y_{kl} = \max_{0 \le a, b \le 1} x_{2k+a,2l+b} $$")
    node = first(apart)
    assert isinstance(node, Rel) and isinstance(plain, Rel)
    assert window_form(node) == window_form(plain)


@pytest.mark.parametrize("ranges", [
    "$a, b \\in \\{0, 1\\}$ and $a, b \\in \\{0, 1, 2\\}$",  # which of the two?
    "$0 \\le a < 2$",  # and b?
    "$a < 2$ and $b < 2$",
])  # fmt: skip
def test_no_range_is_guessed(ranges: str) -> None:
    formula = r"$y_{kl} = \max_{a,b} x_{2k+a,2l+b}$"
    assert first(f"{formula} for {ranges}") is first(formula)


def test_ranges_that_cannot_be_read_leave_the_equation() -> None:
    read = read_question("$$ y_{k} = \\max_{i \\in \\Omega(k)} x_i,\n \\quad k, l \\in \\{0, 3, 7\\} $$")
    assert len(read.nodes) == 1
    assert [(f.latex, f.line, f.column) for f, _ in read.failures] == [(r"k, l \in \{0, 3, 7\}", 6, 7)]


def test_an_equation_with_a_condition_is_never_cut() -> None:
    ((formula, _),) = read_question(r"$$ y_{k} = \foo_{i \in \Omega(k)} x_i \quad \text{if } k > 2 $$").failures
    assert formula.latex.endswith("k > 2")


def test_numbers_of_letters() -> None:
    read = read_question("$F = S = 2$, $P=1$, $k = 3$, $y_{kl} = x_{kl}$, $Q = 1$, $Q = 2$")
    assert read.known == {"F": 2, "S": 2, "P": 1}


def test_formulas_that_are_parsed_anew_are_read_as_before() -> None:
    """A process that has read many cards has forgotten some of what it kept of this one, and not the rest."""
    question = r"Let $p = \sigma(z) = 1/(1+e^{-z})$ and $$L = -y \log p - (1-y) \log(1-p).$$ Derive $\partial L/\partial z$."
    nodes = [node for _, node in read_question(question).nodes]
    for forgotten in (skeleton, reading._prose, reading._lettered):
        forgotten.cache_clear()
    assert [node for _, node in read_question(question).nodes] == nodes
