"""Derivatives that a solution tells in words, and at numbers."""

from __future__ import annotations

import pytest

from tests.check.verdicts import agree

QUESTIONS = {
    "softmax": r"Let $p_i = \frac{e^{z_i}}{\sum_k e^{z_k}}$. Derive $\frac{\partial p_i}{\partial z_j}$.",
    "logits": r"Let $\ell_i = z_i - \log \sum_k e^{z_k}$. Derive $\frac{\partial \ell_i}{\partial z_j}$.",
    "logistic": r"Let $z = w^\top x + b$, $p = \sigma(z)$ with $\sigma(z) = \frac{1}{1+e^{-z}}$ and $L = -y \log p - (1-y) \log(1-p)$."
                r" Derive $\nabla_w L$ and $\frac{\partial L}{\partial b}$.",
    "ridge": r"Let $L = \|Xw - y\|^2 + \lambda \|w\|^2$, $X \in \mathbb{R}^{n \times d}$, $w \in \mathbb{R}^d$. Derive $\nabla_w L$.",
    "cost": r"Let $J(w) = \|Xw - y\|^2$, $X \in \mathbb{R}^{n \times d}$, $w \in \mathbb{R}^d$. Derive $\nabla_w J$.",
    "pairs": r"Max pooling computes $y_i = \max(x_{2i-1}, x_{2i})$, $i = 1, \dots, n$. Derive $\frac{\partial y_i}{\partial x_j}$.",
    "silu": r"Let $f(x) = x \sigma(x)$ with $\sigma(x) = \frac{1}{1+e^{-x}}$. Derive $f'(x)$.",
    "elu": r"Let $f(x) = \begin{cases} x & x > 0 \\ \alpha (e^x - 1) & x \le 0 \end{cases}$. Derive $f'(x)$.",
    "pinball": r"Let $L(q) = \max(\tau (y - q), (\tau - 1)(y - q))$ with $0 < \tau < 1$. Derive $\frac{\partial L}{\partial q}$.",
}
SAID = [  # p: proved or tested, x: refuted, -: not read
    ("softmax", r"Hence the Jacobian is $\mathrm{diag}(p) - pp^\top$.", "p"),
    ("softmax", r"The Jacobian matrix is $J = \mathrm{diag}(p) + pp^\top$.", "x"),
    ("softmax", r"The entries of the Jacobian are $J_{ij} = p_i (\delta_{ij} - p_j)$.", "p"),
    ("logits", r"So the Jacobian is $I - p \mathbf 1^\top$ with $p = e^{\ell}$ elementwise.", "x"),
    ("logits", r"So the Jacobian is $I - \mathbf 1 p^\top$ with $p = e^{\ell}$ elementwise.", "p"),
    ("logistic", r"$\frac{\partial L}{\partial w_j}$ equals $(y - p) x_j$ and $\frac{\partial L}{\partial b} = p - y$.", "xp"),
    ("logistic", r"The gradient with respect to $w_j$ is $(y - p) x_j$; that of the bias is $\frac{\partial L}{\partial b} = p - y$.", "xp"),
    ("logistic", r"The gradient with respect to $w$ is $(p - y) x$.", "p"),
    ("ridge", r"The gradient is $2 X^\top (Xw - y) + 2 \lambda w$.", "p"),
    ("ridge", r"The gradient is $2 X^\top (Xw - y) + \lambda w$.", "x"), ("ridge", r"The gradient is $d$-dimensional.", ""),
    ("cost", r"The gradient is $2 X^\top (Xw - y)$, and $J = 0$ at best.", "p-"),
    ("pairs", r"Example: for $x = (3, 1, 2, 5)$ the Jacobian is $\begin{pmatrix} 1 & 0 & 0 & 0 \\ 0 & 0 & 0 & 1 \end{pmatrix}$.", "p"),
    ("pairs", r"Example: for $x = (3, 1, 2, 5)$ the Jacobian is $\begin{pmatrix} 1 & 0 & 0 & 0 \\ 0 & 0 & 1 & 0 \end{pmatrix}$.", "x"),
    ("silu", r"$f'(x) = \sigma(x) + x \sigma'(x) = f(x) + \sigma(x) (1 - f(x))$. In particular $f'(0) = \frac12$.", "ppp"),
    ("silu", r"$f(0) = 0$ and $\sigma'(0) = \frac14$ and $f(1) = 0$.", "ppx"),
    ("elu", r"$f'(1) = 1$, $f'(-1) = \alpha e^{-1}$.", "pp"),
    ("pinball", r"For $q < y$ we have $\frac{\partial L}{\partial q} = -\tau$ and above $y$ $\frac{\partial L}{\partial q} = 1 - \tau$.", "p-"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(QUESTIONS[question], text, signs)
