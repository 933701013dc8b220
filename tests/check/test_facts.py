"""What words say and nothing reads refutes nothing; what is said of a special case is not true of all."""

from __future__ import annotations

import pytest

from tests.check.verdicts import agree

QUADRATIC = r"Let $f = x^\top A x$ with %s. Derive $\nabla_x f$."
TARGETS = r"Let $q_i = \frac{e^{z_i}}{\sum_{j=1}^n e^{z_j}}$ and $L = -\sum_{i=1}^n t_i \log q_i$ %s. Derive $\frac{\partial L}{\partial z_i}$."
LEAKY = r"Let $f(x) = \max(x, a x)$ with $0 < a < 1$. Derive $f'(x)$."
CLASS = r"Let $p = \mathrm{softmax}(z)$ and $L = -\log p_y$. Derive $\frac{\partial L}{\partial z_i}$."
HEATED = r"Let $p_i = \frac{e^{z_i / T}}{\sum_k e^{z_k / T}}$ with $T > 0$. Derive $\frac{\partial p_i}{\partial z_j}$."
NEURON = r"Let $y = w x + b$ and $L = (y - t)^2$. Derive $\frac{\partial L}{\partial w}$ and $\frac{\partial L}{\partial b}$."
LAYER = r"Let $h = \tanh(W x + b)$ with $W \in \mathbb{R}^{m \times d}$. Derive $\frac{\partial h}{\partial x}$."
OF_T = r"$\frac{\partial L}{\partial z_i} = q_i - t_i$"
SAID = [  # p: proved or tested, x: refuted, -: not read
    (QUADRATIC % r"symmetric $A \in \mathbb{R}^{n \times n}$", r"$\nabla_x f = 2 A x$.", "p"),
    (QUADRATIC % r"a symmetric $n \times n$ matrix $A$", r"$\nabla_x f = (A + A^\top) x = 2 A x$.", "pp"),
    (QUADRATIC % r"$A = A^\top \in \mathbb{R}^{n \times n}$", r"$\nabla_x f = 2 A x$.", "p"),
    (QUADRATIC % r"$A \in \mathbb{R}^{n \times n}$", r"$\nabla_x f = 2 A x$.", "x"),
    (QUADRATIC % r"$A \in \mathbb{R}^{n \times n}$", r"Let $A$ be symmetric. Then $\nabla_x f = 2 A x$.", "p"),
    (TARGETS % "with target probabilities $t_i$", OF_T, "p"), (TARGETS % "where the targets $t_i$ sum to one", OF_T, "p"),
    (TARGETS % "with numbers $t_i$", OF_T, "x"), (TARGETS % "with numbers $t_i$", rf"Because $\sum_j t_j = 1$, {OF_T}.", "--"),
    (TARGETS % r"with $\sum_i t_i = 1$", OF_T, "p"),
    (LEAKY, "x>0: $f'(x) = 1$; x<0: $f'(x) = a$.", "pp"), (LEAKY, "Between 0 and 1: $f'(x) = 1$.", "-"),
    (LEAKY, "Either $f'(x) = 1$ or $f'(x) = a$.", "--"), (LEAKY, "Let $x$ be larger than one. Then $f'(x) = 1$.", "-"),
    (CLASS, r"For $z = (0, 0, 0)$ and $y = 1$, $\nabla_z L = (-\frac23, \frac13, \frac13)$.", "-"),
    (CLASS, r"For $z = (0, 0, 0)$ and $y = 1$, $\nabla_z L = (\frac13, -\frac23, \frac13)$.", "-"),  # from 0 or from 1?
    (HEATED, r"Let $T = 1$. Then $\frac{\partial p_i}{\partial z_j} = p_i (\delta_{ij} - p_j)$.", "p"),
    (HEATED, r"Let $T = 1$. The derivative is $\frac{\partial p_i}{\partial z_j} = p_i (\delta_{ij} - p_j)$ for general $T$.", "-"),
    (HEATED, r"Let $T = 1$. This formula, $\frac{\partial p_i}{\partial z_j} = p_i (\delta_{ij} - p_j)$, holds everywhere.", "-"),
    (NEURON, r"Let $\delta = 2 (y - t)$. Then $\frac{\partial L}{\partial b} = \delta$. Now let $\delta = y - t$; then "
             r"$\frac{\partial L}{\partial b} = \delta$.", "p--"),
    (LAYER, r"The transposed Jacobian is $J = \operatorname{diag}(1 - h \odot h) W$.", ""),
    (LAYER, r"The Jacobian is $J = \operatorname{diag}(1 - h \odot h) W$.", "p"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(question, text, signs)
