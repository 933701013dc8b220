"""What words say of all entries of a letter holds at the points at which an equation is looked at."""

from __future__ import annotations

import pytest

from tests.check.verdicts import agree

QUADRATIC = r"Let $f = x^\top A x$ with %s. Derive $\nabla_x f$."
PLAIN = QUADRATIC % r"$A \in \mathbb{R}^{n \times n}$"
COSINE = r"Let $s = \frac{u^\top v}{\|u\| \|v\|}$ with $u, v \in \mathbb{R}^n$. Derive $\nabla_u s$."
SOFTMAX = r"Let $p_k = \frac{e^{z_k}}{\sum_{j=1}^{K} e^{z_j}}$. Derive $\frac{\partial p_k}{\partial z_i}$."
TARGETS = (r"Let $q_i = \frac{e^{z_i}}{\sum_{j=1}^n e^{z_j}}$ and $L = -\sum_{i=1}^n t_i \log q_i$ with targets $t_i$. "
           r"Derive $\frac{\partial L}{\partial z_i}$.")
SAID = [  # p: proved or tested, x: refuted, -: not read
    (QUADRATIC % r"symmetric $A \in \mathbb{R}^{n \times n}$", r"$\nabla_x f = 3 A x$.", "x"),
    (QUADRATIC % r"symmetric $A \in \mathbb{R}^{n \times n}$", r"Since $A$ is symmetric, $\nabla_x f = 2 A x$.", "p"),
    (QUADRATIC % r"the Gram matrix $A \in \mathbb{R}^{n \times n}$", r"$\nabla_x f = 2 A x$.", "p"),
    (QUADRATIC % r"the Gram matrix $A \in \mathbb{R}^{n \times n}$", r"$\nabla_x f = 3 A x$.", "-"),  # more is said
    (PLAIN, r"Since $A$ is symmetric, $\nabla_x f = 2 A x$.", "-"), (PLAIN, r"For symmetric $A$, $\nabla_x f = 2 A x$.", "p"),
    (PLAIN, r"$\nabla_x f = 2 A x$ if $A$ is symmetric.", "p"), (PLAIN, r"If $A$ is not symmetric, $\nabla_x f = 2 A x$.", "-"),
    (PLAIN, r"Suppose $A = A^\top$. Then $\nabla_x f = 2 A x$.", "p"), (PLAIN, r"With $A = I$, $\nabla_x f = x$.", "x"),
    (PLAIN, r"Let $A$ be symmetric. Then $\nabla_x f = 2 A x$. In general, $\nabla_x f = 2 A x$.", "p-"),
    (PLAIN, r"For skew-symmetric $A$ we get $\nabla_x f = 0$.", "p"),
    (COSINE, r"For unit vectors, $\nabla_u s = v - s u$.", "p"), (COSINE, r"With $\|u\| = \|v\| = 1$, $\nabla_u s = v + s u$.", "x"),
    (COSINE, r"If $\|u\| = 1$ and $u^\top v = 0$, then $\nabla_u s = \frac{v}{\|v\|}$.", "p"),
    (SOFTMAX, r"If all $z_k$ are equal, $p_k = \frac1K$.", "p"), (SOFTMAX, r"For constant $z$, $p_k = \frac1K$.", "p"),
    (TARGETS, r"If the targets sum to one, $\frac{\partial L}{\partial z_i} = q_i - t_i$.", "p"),
    (TARGETS, r"Because the targets are probabilities, $\frac{\partial L}{\partial z_i} = q_i - t_i$.", "-"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(question, text, signs)
