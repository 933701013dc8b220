"""Functions and letters of several letters that stand in a formula as if they were products."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.module import Module
from derive.question import module_of


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\nLet {question}.\n"))


@pytest.mark.parametrize(("plain", "spelt"), [
    ("$y = tanh(W x + b)$", r"$y = \tanh(W x + b)$"), ("$y_k = max(0, x_k)$", r"$y_k = \max(0, x_k)$"),
    ("$y = ReLU(W x + b)$", r"$y = \mathrm{ReLU}(W x + b)$"), ("$y = softmax(W x)$", r"$y = \mathrm{softmax}(W x)$"),
    ("$y_k = sigmoid(x_k)$", r"$y_k = \mathrm{sigmoid}(x_k)$"), ("$y = max_j x_j$", r"$y = \max_j x_j$"),
    ("$y_k = log x_k$", r"$y_k = \log x_k$"), ("$y_k = e^{tanh(x_k)}$", r"$y_k = e^{\tanh(x_k)}$"),
    (r"$y_k = a\,exp(x_k)$", r"$y_k = a \exp(x_k)$"),
])
def test_functions_that_are_known_need_no_backslash(plain: str, spelt: str) -> None:
    asked = ". Derive the backward message"
    assert read(plain + asked).equations == read(spelt + asked).equations


@pytest.mark.parametrize(("formulas", "output"), [
    (r"$\hat y = w^\top x$ and $MSE = \frac{1}{2} (\hat y - y)^2$. Derive the gradient of $MSE$ with respect to $w$", "MSE"),
    (r"$CE(p, t) = -\sum_k t_k \log p_k$ with $p = \mathrm{softmax}(z)$. Derive the gradient with respect to $z$", "CE"),
    (r"$J = CE(t, p)$, $CE(t, p) = -\sum_k t_k \log p_k$ with $p = \mathrm{softmax}(z)$. Derive $\nabla_z CE$", "CE"),
    (r"$FL(p) = -(1 - p)^\gamma \log(p)$. Derive its derivative with respect to $p$", "FL"),
    (r"$net_j = \sum_i w_{ij} x_i$ and $o_j = \tanh(net_j)$. Derive $\partial o_j / \partial net_j$", "o"),
    (r"$loss = (y - t)^2$ with $y = w x$. Derive the gradient of $loss$ with respect to $w$", "loss"),
    (r"$BCE = -t \log p - (1-t) \log(1-p)$, $p = \sigma(z)$. Derive $\frac{\partial BCE}{\partial z}$", "BCE"),
])
def test_what_an_equation_defines_by_a_word_is_one_letter(formulas: str, output: str) -> None:
    assert read(formulas).output == output


def test_a_product_of_matrices_is_no_word() -> None:
    module = read("$Y = XW$ with matrices $X$, $W$. Derive the gradient with respect to $W$")
    assert {*module.given} == {"X", "W"}


@pytest.mark.parametrize("formula", ["C E(p, t) = -", "2 C = -", "C + 1 = ", "-C = "])
def test_an_equation_that_defines_no_letter_is_not_left_out(formula: str) -> None:
    with pytest.raises(CardError, match="what stands left of = is no letter"):
        read(rf"${formula}\sum_k t_k \log p_k$ with $p = \mathrm{{softmax}}(z)$. Derive the gradient with respect to $z$")


@pytest.mark.parametrize(("question", "message"), [
    (r"$y_i = x_{\pi(i)}$ with a permutation $\pi$. Derive $\partial y_i/\partial x_k$", "a function of the index, or a product"),
    (r"$y = x_{(1)}$ be the smallest of $x_1, \dots, x_n$. Derive $\partial y/\partial x_k$", "an order, a layer, or an index"),
    ("$y = w * x$ be a valid 1D convolution. Derive the gradients", "may be a convolution or a product"),
    (r"$y = x f(x)$ be the swish activation. Derive $\partial y/\partial x$", "an argument of `f` or a factor"),
])
def test_signs_with_another_meaning_are_open(question: str, message: str) -> None:
    with pytest.raises(CardError, match=message):
        read(question)


@pytest.mark.parametrize(("question", "computed"), [
    (r"$L = u \cdot (v + w)$ with $u, v, w \in \mathbb{R}^K$. Derive $\partial L/\partial v$", r"$L = u^\top (v + w)$"),
    (r"$L = y \cdot \log p$ with $p, y \in \mathbb{R}^K$. Derive $\partial L/\partial p$", r"$L = y^\top \log p$"),
    (r"$f(x) = V \tanh(W x)$ and $L = \|f(x) - y\|^2$. Derive $\partial L/\partial W$", r"$f = V \tanh(W x)$ and $L = \|f - y\|^2$"),
    (r"$y_k = s_k \Phi(s_k)$ with the CDF $\Phi$ of the standard normal distribution. Derive $\partial y_k/\partial s_i$",
     r"$y_k = s_k \Phi(s_k)$ with $\Phi(u) = \frac{1 + \mathrm{erf}(u / \sqrt{2})}{2}$"),
])
def test_what_is_written_in_two_ways_is_one_layer(question: str, computed: str) -> None:
    rest = question.partition("$ with ")[2] if "mathbb" in question else ""
    asked = question[question.index(". Derive") :]
    given = f" with {rest.partition('. ')[0]}" if rest else ""
    assert read(question).equations == read(f"{computed}{given}{asked}").equations


@pytest.mark.parametrize(("written", "plain"), [
    (r"$z_j = h(a_j)$ with $h = \tanh$", r"$z_j = h(a_j)$ with $h(u) = \tanh(u)$"),
    (r"$L = -\sum_{k=1}^K 1\{c = k\} \log p_k$ with $p = \mathrm{softmax}(z)$", r"$L = -\sum_{k=1}^K [c = k] \log p_k$ with $p = \mathrm{softmax}(z)$"),
    (r"$E = \sum_{n=1}^N (f(x_n, \theta) - t_n)^2$ with $f(x, \theta) = \theta_0 + \theta_1 x$",
     r"$E = \sum_{n=1}^N (f(x_n) - t_n)^2$ with $f(x) = \theta_0 + \theta_1 x$"),
])
def test_functions_as_textbooks_write_them(written: str, plain: str) -> None:
    asked = ". Derive the backward message"
    assert read(written + asked).equations == read(plain + asked).equations
