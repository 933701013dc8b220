"""Concepts that words name beside formulas are shown by these, or the card is open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.module import Module
from derive.question import module_of
from derive.question.parts.concepts import SHOWN_BY
from derive.question.words.lexicon import tables


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))


def test_each_concept_of_the_lexicon_says_what_shows_it() -> None:
    named = {concept.partition(".")[2] for concept, _ in tables("en")["concept"]}
    assert named - {"none", "quantity"} == {*SHOWN_BY}


FILTER = r"$y_i = \sum_{k=-1}^{1} w_k x_{i+k}$, $i = 1, \dots, n$"


@pytest.mark.parametrize("question", [
    rf"Let {FILTER}, with zero padding. Derive the backward message.", rf"A same convolution computes {FILTER}. Derive the backward message.",
    rf"Let {FILTER} (circular). Derive the backward message.", r"Let $y = w^\top x + b$ with the L2 loss $L$. Derive $\partial L/\partial w$.",
    r"Let $y_i = e^{z_i} / \sum_j e^{z_j}$ with temperature $T$. Derive the backward message.",
    r"Let $y_i = \max(0, x_i)$ with a small slope $\alpha$ for negative inputs. Derive the backward message.",
    r"A convolution with dilation 2 computes $y_i=\sum_{k=-1}^{1} w_k x_{i+k}$. Derive $\partial L/\partial x_i$.",
    r"Let $y_{ij}=\sum_{a=0}^{2}\sum_{b=0}^{2} w_{ab}x_{i+a,j+b}$, where only every second output is kept. Derive $\partial L/\partial w_{ab}$.",
    r"Let $y_{ij}=\sum_{a=0}^{2}\sum_{b=0}^{2} w_{ab}x_{i+a,j+b}$, summed over all input channels. Derive $\partial L/\partial w_{ab}$.",
    r"Let $L = \frac{1}{2}\|y - t\|^2$ with $y = Wx$ and a regulariser $\lambda \|W\|^2$. Derive $\partial L/\partial W$.",
    r"Let $y_i = \max(0, x_i)$ with slope 0.01 for $x_i < 0$ (leaky ReLU). Derive the backward message.",
    r"Let $y_i = \max(0, x_i)$, capped at 6. Derive the backward message.",
    r"Let $y_i = \max(0, x_i)$ with a threshold $\theta$. Derive the backward message.",
    r"Let $p = \mathrm{softmax}(z)$ with the logits divided by $\tau$. Derive the Jacobian.",
    r"Let $p = \mathrm{softmax}(z)$ with masked logits. Derive the Jacobian.",
    r"Scores are $s_{ij} = q_i^\top k_j$, scaled by $1/\sqrt d$. Derive $\partial L/\partial q_i$.",
    r"Let $\mu = \frac1n\sum_i x_i$, $v = \frac1n \sum_i (x_i - \mu)^2$ and $y_i = (x_i-\mu)/\sqrt{v+\epsilon}$ with the unbiased variance. Derive the backward message.",
    r"Let $\mu = \frac1n\sum_i x_i$, $v = \frac1n \sum_i (x_i - \mu)^2$ and $y_i = (x_i-\mu)/\sqrt{v+\epsilon}$ with learnable $\gamma$, $\beta$. Derive the backward message.",
    r"Let $\mu = \frac1n\sum_i x_i$, $v = \frac1n \sum_i (x_i - \mu)^2$ and $y_i = (x_i-\mu)/\sqrt{v+\epsilon}$ in inference mode with running averages. Derive the backward message.",
    r"Let $y = Wx + b$ with weight normalisation. Derive $\partial L/\partial W$.",
])
def test_concepts_that_no_formula_shows_are_open(question: str) -> None:
    with pytest.raises(CardError):
        read(question)


@pytest.mark.parametrize("question", [
    rf"Let {FILTER}, with $x_i = 0$ for $i < 1$ and for $i > n$ (zero padding). Derive the backward message.",
    r"Let $y_i = \sum_{k=0}^{2} w_k x_{i+k}$ without zero padding. Derive the backward message.",
    r"Let $y_i = e^{z_i/\tau} / \sum_j e^{z_j/\tau}$ with temperature $\tau$. Derive the backward message.",
    r"Let $y_i = \max(0, x_i) + \alpha \min(0, x_i)$ with slope $\alpha$. Derive the backward message.",
    r"Let $L = (w^\top x + b - t)^2$ with the squared loss $L$ and $w, x \in \mathbb{R}^n$. Derive $\partial L/\partial w$.",
])
def test_concepts_that_formulas_show_are_read(question: str) -> None:
    assert read(question).asked
