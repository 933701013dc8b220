"""What nothing hangs on is set aside, what a request names must be there, and zeros outside are read from words."""

from __future__ import annotations

import numpy as np
import pytest

import derive
from derive.question import module_of
from tests.bank import card_of, is_read

LAYER = (r"Let $$s_e = \sum_j G_{ej} x_j, \qquad y = \frac{1}{\beta} \sum_e \tanh(\beta s_e) x_e^2.$$ ", r"Derive $\partial y/\partial G_{ej}$ and $\partial y/\partial x_j$.")
REMARKS = r"""
Note that the input enters twice.|Remember that $x$ occurs in two places: once in the scores, and once in the sum.|Mind that $x$ is used twice.
For $\beta \to \infty$ one recovers the sign.|It interpolates between a linear unit ($\beta \to 0$) and a hard one ($\beta \to \infty$).
For $\beta = 1$ this is the sum of the squares.|The numerator compresses the range.|Caution: $x$ belongs to the second index of $G$.
Every year somebody treats the scores $s_e$ as constants.|Ignore the points where some $s_e = 0$.|A card of this size has half a billion activations.
Square the result if you have nothing better to do.|The signal can flow through the sum without being squashed.
""".replace("\n", "|").strip("|").split("|")
HARMFUL = r"""
Note that the outputs are doubled.|A second tanh follows.|Note that half the outputs are dropped.|We let $\beta \to \infty$ in this layer.|Now take the limit $\beta \to 0$.
Half of the inputs are masked.|For $j = 1$ the input is doubled.|Note that $x$ is applied twice to the layer.|Then another unit squares the output.
Treat the scores $s_e$ as constants.|The layer is applied twice.|Square the result.|No gradient flows through $s_e$.
""".replace("\n", "|").strip("|").split("|")


@pytest.mark.parametrize("remark", REMARKS)
def test_a_remark_changes_nothing(remark):
    plain, told = module_of(card_of("".join(LAYER))), module_of(card_of(f"{LAYER[0]}{remark} {LAYER[1]}"))
    assert (told.equations, told.asked, told.wanted) == (plain.equations, plain.asked, plain.wanted)


@pytest.mark.parametrize("said", HARMFUL)
def test_what_changes_the_layer_is_no_remark(said):
    assert not is_read(f"{LAYER[0]}{said} {LAYER[1]}")


def test_how_an_answer_is_written_may_be_said():
    said = r"Let $$p_k = \frac{e^{z_k}}{\sum_l e^{z_l}}, \qquad \ell = -\sum_k t_k \log p_k.$$ Derive the gradient of the loss with respect to the logits $z$"
    assert module_of(card_of(f"{said} and simplify as far as possible.")).equations == module_of(card_of(f"{said}.")).equations


def test_the_derivative_of_a_function_in_a_hint_defines_nothing():
    said = r"Let $\sigma(u) = 1/(1 + e^{-u})$ and $$y_i = z_i \sigma(\beta z_i).$$ Derive $\partial y_i/\partial \beta$. Hint: $\sigma' = \sigma(1 - \sigma)$."
    assert module_of(card_of(said)).output == "y"


@pytest.mark.parametrize("request_", (
    r"For a given message $\delta_i = \partial L/\partial y_i$, compute the derivatives of $L$ with respect to $x_j$, $W_{ij}$ and $\alpha$.",
    r"Given $\delta_i = \partial L/\partial y_i$, compute the gradients with respect to $\alpha$, $z$ and $W$.",
))
def test_a_letter_that_no_formula_has_is_never_left_out(request_):
    said = r"Let $$y_i = \max(0, z_i) + \alpha \min(0, z_i)$$ with a trainable scalar $\alpha$. "
    assert not is_read(said + request_)
    assert is_read(said + request_.replace("$x_j$, $W_{ij}$", "$z_i$").replace("$z$ and $W$", "$z$"))


def test_a_noun_may_call_a_constant_or_the_loss():
    said = r"Let $a \in \mathbb{R}^d$ be an anchor and $k_{ni}$ candidates. With the temperature $\tau$, $$c_n = \sum_i a_i k_{ni}, \qquad E = \log \sum_n e^{c_n/\tau}.$$ "
    module = module_of(card_of(said + "Compute the gradients of this energy with respect to the anchor and to the temperature."))
    assert {"a", "tau"} <= {d.wrt.tensor for d in module.wanted}


@pytest.mark.parametrize("outside", (r"$x_t$ outside $0, \dots, T-1$ is zero", "entries of $x$ outside the range count as zero",
                                     r"$x_t = 0$ whenever $t$ lies outside of the signal"))
def test_zeros_outside_in_words(outside):
    said = rf"Let $x_t$, $t = 0,\dots,T-1$, be a signal, and $$y_t = \sum_{{k=-1}}^{{1}} w_k x_{{t+k}}, \qquad t = 0, \dots, T-1,$$ where {outside}. "
    solution = derive.solve(card_of(said + r"Given $\partial L/\partial y_t$, derive $\partial L/\partial w_k$ and $\partial L/\partial x_t$."))
    w, x = np.array([2.0, -1.0, 3.0]), np.array([1.0, 4.0, -2.0, 5.0, 0.5])
    assert np.allclose(solution.forward(w=w, x=x), np.convolve(x, w[::-1], "same"))


def test_zeros_outside_without_a_range_are_open():
    said = r"Let $$y_t = \sum_{k=-1}^{1} w_k x_{t+k}, \qquad t = 0, \dots, T-1,$$ where values outside the signal are zero. "
    assert not is_read(said + r"Given $\partial L/\partial y_t$, derive $\partial L/\partial w_k$.")


@pytest.mark.parametrize("label", (r"\delta_{kt}", r"\mathbb{1}[k = t]"))
def test_a_class_in_a_bracket_is_a_label(label):
    said = (rf"Let $t \in \{{1,\dots,K\}}$ be the true class, $$q_k = (1 - \alpha) {label} + \frac{{\alpha}}{{K}}, \qquad "
            r"\ell = -\sum_k q_k \log p_k.$$ Derive $\partial\ell/\partial p_k$.")
    solution = derive.solve(card_of(said))
    p = np.array([0.2, 0.5, 0.3])
    value = -(0.8 * np.log(p[1]) + np.log(p).sum() * 0.2 / 3)
    assert np.isclose(float(np.asarray(solution.forward(p=p, t=2, alpha=0.2))), value)


@pytest.mark.parametrize("question, weights", (
    ("Consider a network with one hidden layer of ReLU units and a linear output unit.", 2),
    ("A hidden layer of tanh units is followed by a linear output layer.", 2),
    ("Hidden sigmoid units are followed by a linear layer and the squared error.", 1),
))
def test_hidden_units_have_weights(question, weights):
    module = module_of(card_of(f"{question} Derive the parameter messages."))
    assert sum(len(s.axes) == 2 for s in module.table.symbols if s.name in module.parameters) == weights


PADDED = (r"Max pooling over 2×2 windows with stride 2 on a 4×4 input with zero padding 1: "
          r"$$f_{kl} = \max_{(i,j) \in \Omega(k,l)} x_{ij}.$$ ")


@pytest.mark.parametrize("said, read", (
    ("", True), ("The padding does not take part. ", True), ("The zeros take part in the maximum. ", False),
    ("The zeros of the border count like all other values. ", False), ("A padded zero may win. ", False),
))
def test_zeros_that_take_part_in_a_maximum_need_a_formula(said, read):
    assert is_read(rf"{PADDED}{said}Derive $\partial f_{{kl}}/\partial x_{{ij}}$.") == read
