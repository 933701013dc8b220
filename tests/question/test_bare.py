"""Letters whose shape nothing states are not taken smaller than they are meant."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card
from derive.errors import CardError
from derive.module import Module
from derive.question import module_of


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))


@pytest.mark.parametrize(("question", "ranks"), [
    (r"Let $y = x^T W$. Derive $\partial L/\partial W$.", {"y": 1, "x": 1, "W": 2}),
    (r"Let $y = x^\top \Theta + b$. Derive $\partial L/\partial \Theta$.", {"y": 1, "Theta": 2, "b": 1}),
    (r"Let $s = q^\top K$. Derive $\partial L/\partial K$.", {"s": 1, "K": 2}),
    (r"Let $c = a^T V$ with $a = \mathrm{softmax}(Kq)$. Derive $\partial L/\partial V$.", {"c": 1, "a": 1, "V": 2, "K": 2}),
    (r"Let $y = x^T A$ and $z = yB$. Derive $\partial L/\partial A$.", {"y": 1, "z": 1, "A": 2, "B": 2}),
    (r"Let $y = x^T W_1$ and $z = y W_2$. Derive $\partial L/\partial W_1$.", {"x": 1, "y": 1, "z": 1, "W_1": 2, "W_2": 2}),
    (r"Let $y = x^T W$ with $W \in \mathbb{R}^{m \times n}$. Derive $\partial L/\partial x$.", {"x": 1, "y": 1}),
    (r"A linear layer $h = xW$ with the weight matrix $W$ is given. Derive $\partial L/\partial x$.", {"h": 1, "x": 1}),
    (r"Let $\mathbf{y}^T = \mathbf{x}^T \mathbf{W} + \mathbf{b}^T$. Derive $\partial L/\partial \mathbf{W}$.", {"y": 1, "b": 1}),
    (r"Let $Y^T = W X^T$. Derive $\partial L/\partial W$.", {"Y": 2, "W": 2, "X": 2}),
    (r"Let $y^{(n)} = W x^{(n)} + b$ for the samples $n = 1, \dots, N$. Derive $\partial L/\partial W$.",
     {"y": 2, "W": 2, "x": 2, "b": 1}),
    (r"Let $y_k = x^T W^{(k)} z$, $k = 1, \dots, K$. Derive $\partial L/\partial x$.", {"x": 1, "z": 1, "W": 3, "y": 1}),
    (r"Let $p = \frac{a^T b}{a^T a} a$ be the projection of $b$ onto $a$. Derive $\partial L/\partial b$.", {"p": 1, "a": 1, "b": 1}),
    (r"Let $y = x - 2\frac{v^T x}{v^T v} v$. Derive $\partial L/\partial v$.", {"y": 1, "x": 1, "v": 1}),
    (r"Let $y = (v^T x) v$. Derive the backward message.", {"y": 1, "x": 1, "v": 1}),
    (r"Let $y_k = w^{(k)\top} x + b_k$. Derive $\partial L/\partial x$.", {"y": 1, "w": 2, "x": 1, "b": 1}),
    (r"Let $y = \sum_{t=1}^T a_t h_t$ with vectors $h_t$ and scalars $a_t$. Derive $\partial L/\partial h_t$.",
     {"y": 1, "a": 1, "h": 2}),
    (r"Let $y = \sum_i A_i x_i$ with matrices $A_i$ and vectors $x_i$. Derive $\partial L/\partial A_i$.",
     {"y": 1, "A": 3, "x": 2}),
    (r"Let $L = \frac{1}{NK}\sum_n\sum_k (y_{nk}-t_{nk})^2$. Derive $\partial L/\partial y_{nk}$.", {"L": 0, "y": 2}),
    (r"Let $s^2 = \frac{1}{n-1} \sum_i (x_i - \mu)^2$. Derive $\partial s^2/\partial x_i$.", {"x": 1, "mu": 0}),
    (r"Let $y = Wx$, where $x_0 = 1$. Derive $\partial L/\partial W$.", {"y": 1, "W": 2, "x": 1}),
    (r"Let $p_k = e^{z_k/T} / \sum_j e^{z_j/T}$. Derive $\partial p_k/\partial T$.", {"z": 1, "T": 0}),
])
def test_shapes_that_follow(question: str, ranks: dict[str, int]) -> None:
    table = read(question).table
    assert {name: len(symbol.axes) for name in ranks if (symbol := table.named(name))} == ranks


@pytest.mark.parametrize("question", [
    r"Let $y = u v^\top x$. Derive $\partial L/\partial x$.", r"Let $z = w^T x$, $\hat x = z v$. Derive the backward message.",
    r"The same linear layer $y = Wx+b$ is applied to each of $T$ time steps. Derive $\partial L/\partial W$.",
    r"A linear layer $y = Wx+b$ is applied position-wise. Derive $\partial L/\partial W$.",
    r"The weights of the layer $y = Wx + b$ are the same at all time steps. Derive $\partial L/\partial W$.",
    r"Let $y = Wx + b$ where $x_1 = 1$ is constant. Derive the backward message.",
    r"Let $y = w^\top x$, where $x_0 = 1$. Derive the backward message.", r"Let $y = (I + W) x$. Derive the backward message.",
    r"Let $y = (I_n + W) x$. Derive the backward message.",
    r"Let $y = (E + W) x$ with the identity matrix $E$. Derive the backward message.",
    r"Let $Y = \tanh(X)$. Derive the backward message.", r"Let $F = \tanh(D)$. Derive the backward message.",
    r"Let $Y = X + B$. Derive the backward message.",
    r"Let $z = Wx + b$ and $L = (z - y)^2$. Derive $\partial L/\partial W$.",
    r"Let $z = W h + b$, $a = \sigma(z)$ with $\sigma(u) = 1/(1 + e^{-u})$ and $L = -y \log a - (1-y) \log(1 - a)$ with "
    r"$h \in \mathbb{R}^n$ and $z \in \mathbb{R}^m$. Derive $\partial L/\partial W$.",
    r"Let $y=\mathbf{W}\mathbf{x}$ with $\mathbf{x}=(x_1,x_2)^T$. Derive $\partial y/\partial x$.",
])
def test_a_shape_is_asked_for(question: str) -> None:
    with pytest.raises(CardError):
        read(question)


@pytest.mark.parametrize("question", [
    r"Let $y = (v^T x) v$ with $v, x \in \mathbb{R}^n$. Derive the backward message.",
    r"Let $z = Wx + b$ and $J = (z - y)^2$. Here $W \in \mathbb{R}$. Derive $\partial J/\partial W$.",
    r"Let $y = W x$ with the input image $I$ and $x = \tanh(I)$, $I \in \mathbb{R}^n$. Derive $\partial L/\partial I$.",
    r"Let $y = \alpha W x$ with $W \in \mathbb{R}^{m \times n}$. Derive $\partial L/\partial W$.",
    r"A layer computes $y_t = W x_t$ for $t = 1, \dots, T$ with $x_t \in \mathbb{R}^n$, $W \in \mathbb{R}^{m \times n}$; it is applied to each "
    r"of the $T$ steps. Derive $\partial L/\partial W$.",
])
def test_what_is_stated_counts(question: str) -> None:
    assert read(question).asked


def test_a_range_that_stands_elsewhere_is_that_of_the_output() -> None:
    module = read(r"For the neurons $k = 1, \dots, K$ let $y_k = \max(0, x_k)$. Derive $\partial L/\partial x_k$.")
    assert module.table.named("y").sizes == ("K",) and module.first == 1


def test_a_mean_over_samples_keeps_its_factor_where_it_is_turned() -> None:
    solution = derive.solve(Card.parse("---\nid: q\n---\n\n# Question\nLet $L = \\frac{1}{2N}\\sum_{n=1}^N \\|W x_n - t_n\\|^2$. "
                                       "Derive $\\partial L/\\partial W$.\n"))
    assert solution.report.ok

