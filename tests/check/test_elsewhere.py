"""Words that put an equation elsewhere: to other cases, to another layer, to some terms of a sum, to another δ."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card

RELU = r"A ReLU layer computes $y_k = \max(0, s_k)$. Derive $\partial y_k/\partial s_k$ and the backward message."
SIGMOID = (r"A layer computes $s_k = \sum_j W_{kj}x_j$ and $y_k = \frac{1}{1+e^{-s_k}}$. Derive $\partial L/\partial x_j$ "
           r"and $\partial L/\partial W_{kj}$ from the incoming $\partial L/\partial y_k$.")
NEURON = r"Let $s = w x + b$ and $y = \tanh(s)$. Derive $\partial L/\partial w$ and $\partial L/\partial b$."
LEAKY = (r"A leaky ReLU is $y = s$ if $s > 0$ and $y = a s$ otherwise, with $a \in (0,1)$ trainable. "
         r"Derive $\partial y/\partial s$ and $\partial y/\partial a$.")
SQUARED = r"Let $\hat y = \sum_j w_jx_j$ and $E = \frac12(\hat y-y)^2$. Derive $\partial E/\partial w_j$."
CONV = (r"Let $y_k = \sum_{m=0}^{2} w_m x_{k+m}$ be a one-dimensional convolution. "
        r"Derive $\partial L/\partial x_i$ and $\partial L/\partial w_m$.")
SOFTMAX = (r"Let $p_k = \frac{e^{s_k}}{\sum_m e^{s_m}}$ and $L = -\sum_k t_k\ln p_k$. Compute $p$, $L$ and "
           r"$\partial L/\partial s$ for $s = (2, 1, 0)$, $t = (1, 0, 0)$.")
SOFT = (r"Soft thresholding is $y = x-\lambda$ for $x>\lambda$, $y = x+\lambda$ for $x<-\lambda$, $y=0$ otherwise. "
        r"Derive $\partial y/\partial x$ and $\partial y/\partial\lambda$.")
D = r"$\frac{\partial y_k}{\partial s_k} = "
SLOPE = r"$\frac{\partial y_k}{\partial s_k} = 1$ for $s_k > "
IN = r"$$\frac{\partial L}{\partial x_i} = \sum_k\frac{\partial L}{\partial y_k}w_{i-k}$$ "
BIAS = r"$\frac{\partial L}{\partial b} = \delta"
WEIGHT = r"$\frac{\partial L}{\partial W_{kj}} = \delta_kx_j$"
OF_W = r"$\frac{\partial E}{\partial w_j} = "
CASES = r"$\frac{\partial y_k}{\partial s_k} = \begin{cases}1&s_k>0\\0&s_k<"
TABLE: list[tuple[str, str, str]] = [
    # the other cases in words
    (RELU, f"{SLOPE}1$.", "proved"), (RELU, f"{SLOPE}1$, zero otherwise.", "refuted"),
    (RELU, f"{SLOPE}1$. Otherwise it is zero.", "refuted"), (RELU, f"{SLOPE}0$ and it vanishes elsewhere.", "proved"),
    (RELU, f"{SLOPE}1$, and $0$ otherwise.", "refuted"), (RELU, f"{SLOPE}0$, and minus one for $s_k<0$.", "refuted"),
    (RELU, f"{SLOPE}0$, all others vanish.", "proved"), (RELU, f"{SLOPE}0$, and its negative otherwise.", "not read"),
    (RELU, f"{CASES}0\\end{{cases}}$", "proved"), (RELU, f"{CASES}\\frac12\\end{{cases}}$", "not read"),
    (LEAKY, r"For $s<0$ we have $y = s$.", "refuted"), (LEAKY, r"For $s<0$ we have $y = as$.", "proved"),
    # «for A, …, for B …»: the condition in front
    (RELU, rf"For $s_k > 0$, {D}1$, for $s_k < 0$ it is $0$.", "proved"),
    (RELU, rf"For $s_k < 0$, {D}1$, for $s_k > 0$ it is $0$.", "refuted"),
    (RELU, rf"If $s_k < 0$, then {D}1$, if $s_k > 0$, then {D}0$.", "refuted"),
    (RELU, f"For $s_k > 0$ $${D[1:]}1,$$ for $s_k < 0$ $${D[1:]}0.$$", "proved"),
    (RELU, f"for $s_k > 0$: {D}1$\nfor $s_k < 0$: {D}0$", "proved"),
    # a part of it, and what is done with it
    (NEURON, r"The first term gives $\frac{\partial L}{\partial b} = \frac{\partial L}{\partial y}$.", "not read"),
    (NEURON, r"For unit vectors $\frac{\partial y}{\partial s} = 1$.", "not read"),
    (NEURON, r"For the bias we get $\frac{\partial y}{\partial b} = 1 + y^2$.", "refuted"),
    (NEURON, r"$\frac{\partial y}{\partial w} = x$ times the derivative of tanh.", "not read"),
    (NEURON, r"$\frac{\partial y}{\partial w} = (1-y^2) x$, multiplied by the slope.", "not read"),
    # quoted as wrong, or no equation
    (NEURON, r"✗ $\frac{\partial y}{\partial s} = 1 + y^2$", "not read"),
    (NEURON, r"**Wrong:** $\frac{\partial y}{\partial s} = 1 + y^2$", "not read"),
    (NEURON, r"It comes from the error: $\frac{\partial y}{\partial s} = 1 + y^2$.", "refuted"),
    (NEURON, r"Is $\frac{\partial y}{\partial s} = 1 + y^2$? No.", "not read"),
    (NEURON, r"Many write $\frac{\partial y}{\partial s} = 1 + y^2$.", "not read"),
    (NEURON, r"~~$\frac{\partial y}{\partial s} = 1 + y^2$~~ $\frac{\partial y}{\partial s} = 1 - y^2$", "proved"),
    (NEURON, r"$\frac{\partial y}{\partial s} \overset{!}{=} 0$", "not read"),
    (NEURON, r"$\frac{\partial y}{\partial s} \propto 1 + y^2$", "not read"),
    (NEURON, r"$w \leftarrow w + \eta \frac{\partial L}{\partial w}$", "not read"),
    (NEURON, r"$\frac{\partial y}{\partial s} \equiv 1 - y^2$", "proved"),
    (SOFTMAX, r"$p_1 \approx 0.665$", "tested"), (SOFTMAX, r"$p_1 \approx 0.512$", "refuted"),
    # another layer
    (SQUARED, rf"{OF_W}(\hat y-y)x_j$", "proved"), (SQUARED, rf"{OF_W}2(\hat y-y)x_j$", "refuted"),
    (SQUARED, rf"With the loss $(\hat y-y)^2$ it is {OF_W}2(\hat y-y)x_j$.", "not read"),
    (SQUARED, rf"Some books define the loss with no half; then {OF_W}2(\hat y-y)x_j$.", "not read"),
    (SQUARED, rf"With the cross-entropy it would be {OF_W}(\hat y-y)x_j$.", "not read"),
    (SQUARED, rf"With a sigmoid output it is {OF_W}(\hat y-y)\hat y(1-\hat y)x_j$.", "not read"),
    (SQUARED, r"For two inputs: $\hat y = w_1x_1+w_2x_2$.", "not read"),
    (SQUARED, r"For $n = 2$: $\hat y = w_1x_1+w_2x_2$.", "not read"),
    (CONV, r"With stride 2, $\frac{\partial L}{\partial w_m} = \sum_k\frac{\partial L}{\partial y_k}x_{2k+m}$.", "not read"),
    # some terms of a sum
    (CONV, IN + r"where $0\le i-k\le2$.", "proved"), (CONV, IN + r"with $i-2\le k\le i$.", "proved"),
    (CONV, IN + r"where $0\le i-k\le1$.", "not read"), (CONV, IN + r"where $k$ runs from $i-1$ to $i$.", "not read"),
    (CONV, IN + "where the sum runs over even $k$.", "not read"), (CONV, IN + "where $k$ runs over all outputs.", "proved"),
    # a δ
    (SIGMOID, rf"{WEIGHT} with $\delta_k = \frac{{\partial L}}{{\partial s_k}}$.", "proved"),
    (SIGMOID, rf"{WEIGHT} where $\delta_k$ is the gradient with respect to $s_k$.", "proved"),
    (SIGMOID, rf"{WEIGHT} where $\delta_k$ denotes $\frac{{\partial L}}{{\partial y_k}}$.", "refuted"),
    (SIGMOID, rf"{WEIGHT} with $\delta_k = \frac{{\partial L}}{{\partial y_k}}y_k(1-y_k)$.", "proved"),
    (SIGMOID, rf"{WEIGHT}, where $\delta_k$ is the negative error of the unit.", "not read"),
    (NEURON, rf"Let $\delta = \frac{{\partial L}}{{\partial y}}(1-y^2)$. Then {BIAS}$.", "proved"),
    (NEURON, rf"{BIAS}$ with $\delta = \frac{{\partial L}}{{\partial y}}(1+y^2)$.", "refuted"),
    (NEURON, rf"{BIAS} (1-y^2)$ where $\delta$ is the incoming gradient.", "proved"),
    # entries of examples, and letters that are positive
    (SOFTMAX, r"$p_1 = 0.665$", "tested"), (SOFTMAX, r"$p_1 = 0.245$", "not read"), (SOFTMAX, r"$p_0 = 0.665$", "tested"),
    (SOFTMAX, r"$p_1 = 0.512$", "refuted"),
    (SOFT, r"$y = \operatorname{sign}(x)\max(0,|x|-\lambda)$", "proved"), (SOFT, r"$y = \max(0,x-\lambda)$", "refuted"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "verdict"), TABLE)
def test_verdicts(question: str, text: str, verdict: str) -> None:
    report = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"), text=text)
    first = report.checks[0]
    assert first.verdict == verdict, first


@pytest.mark.parametrize(("text", "verdicts"), [
    (r"$\frac{\partial y}{\partial s} = 1 - y^2 > 0$", ["not read", "proved"]),
    (r"$\frac{\partial y}{\partial s} = 1 + y^2 > 0$", ["not read", "refuted"]),
    (r"$0 < \frac{\partial y}{\partial s} = 1 - y^2 \le 1$", ["not read", "proved"]),
    (r"$\frac{\partial y}{\partial s} > 0$", ["not read"]),
])
def test_inequalities_are_listed_and_not_judged(text: str, verdicts: list[str]) -> None:
    report = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{NEURON}\n"), text=text)
    assert [c.verdict for c in report.checks] == verdicts


@pytest.mark.parametrize(("value", "verdict"), [("0", "proved"), ("1", "refuted"), ("[s_k > 0]", "proved")])
def test_words_that_open_another_case_end_the_condition_in_front(value: str, verdict: str) -> None:
    text = rf"For $s_k > 0$ we have {D}1$, for negative inputs {D}{value}$."
    report = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{RELU}\n"), text=text)
    assert [c.verdict for c in report.checks] == ["proved", verdict]


def test_a_letter_that_is_openly_defined_again_is_not_held_against_its_first_meaning() -> None:
    text = (r"Let $\delta_k = \frac{\partial L}{\partial y_k}$. $\frac{\partial L}{\partial s_k} = \delta_ky_k(1-y_k)$. "
            rf"Now denote $\delta_k = \frac{{\partial L}}{{\partial s_k}}$. Then {WEIGHT}.")
    report = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{SIGMOID}\n"), text=text)
    assert [c.verdict for c in report.checks] == ["proved", "not read", "not read"]


def test_a_threshold_that_is_taken_for_positive_is_said() -> None:
    report = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{SOFT}\n"), text=r"$y = \operatorname{sign}(x)\max(0,|x|-\lambda)$")
    assert "\\lambda > 0" in report.checks[0].reason


def test_long_texts_hold_nothing_up() -> None:
    """Each of these is read in time that goes with its length: the test would not end otherwise."""
    right = r"$\frac{\partial y}{\partial s} = 1-y^2$ "
    for text in (right + "and " * 9_000, "~~a " * 9_000 + right, right + "over " * 9_000, "would " * 9_000 + right):
        report = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{NEURON}\n"), text=text)
        assert [c.latex.strip() for c in report.checks] == [r"\frac{\partial y}{\partial s} = 1-y^2"]
