"""What stands beside the equations and restricts them is not passed over."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.module import Module
from derive.question import module_of


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))


@pytest.mark.parametrize("question", [
    r"Let $E = -\frac12 \sum_{i,j} w_{ij} s_i s_j$, where $i \neq j$. Derive $\partial E/\partial s_k$.",
    r"Let $s_i = \sum_j w_{ij} x_j$, where the sum runs over $j \ne i$. Derive $\partial s_i/\partial x_k$.",
    r"Let $E = \sum_{i,j} (x_i - x_j)^2$, where the sum runs over all pairs $i < j$. Derive $\partial E/\partial x_k$.",
    r"Let $y_i = \sum_j L_{ij} x_j$ with $j \le i$. Derive $\partial y_i/\partial x_k$.",
    r"Let $y_i = \sum_k w_k x_{i+k}$ with $k = -1, 0, 1$. Derive $\partial L/\partial x_i$.",
    r"Let $y_i = \sum_k w_k x_{i+k}$ with $k \in \{-1,0,1\}$. Derive $\partial L/\partial x_i$.",
    r"Let $y_i = \sum_k w_k x_{i+k}$ with $-1 \le k \le 1$. Derive $\partial L/\partial x_i$.",
    r"Let $A_{ij} = s_i s_j$ for $i \neq j$, $A_{ii} = 0$, and $E = \frac12 \sum_i\sum_j A_{ij}$. Derive $\partial E/\partial s_k$.",
    r"Let $J = \frac1N \sum_n (w^\top x_n - t_n)^2$, where $x_{n0} = 1$. Derive $\partial J/\partial w$.",
    r"Let $y = Wx + b$ with $W = W^T$. Derive $\partial L/\partial W$.",
    r"Let $y = Wx$, where $w_{ij} = w_{ji}$. Derive $\partial L/\partial W$.",
    r"Let $p_k = \frac{e^{z_k}}{\sum_j e^{z_j}}$, where $z_K = 0$ is fixed. Derive $\partial p_k/\partial z_j$.",
    r"Let $p_k = \frac{e^{z_k}}{\sum_j e^{z_j}}$; the last score $z_K$ is fixed to zero. Derive $\partial p_k/\partial z_j$.",
    r"A layer computes $y^{(n)} = W x^{(n)} + b$ for each sample. Derive $\partial L/\partial W$.",
    r"Let $y = \sum_j w_j x_j - w_c$ with $c = 2$. Derive $\partial y/\partial w_j$.",
    r"Let $L = \sum_j (s_j - s_m)^2$ with $m = 1$. Derive $\partial L/\partial s_j$.",
    r"Let $L = \sum_{j \ne c} \max(0, 1 + s_j - s_c)$ with the class $c = 2$. Derive $\partial L/\partial s_j$.",
])
def test_a_restriction_is_open(question: str) -> None:
    with pytest.raises(CardError):
        read(question)


@pytest.mark.parametrize("question", [
    r"Let $y_i = \sum_k w_k x_{i+k}$, $k = 0, \dots, 2$. Derive $\partial L/\partial x_i$.",
    r"Let $y_i = \sum_j W_{ij} x_j$ with $j = 1, \dots, n$. Derive $\partial L/\partial x_j$.",
    r"Let $p_i = e^{z_i}/\sum_j e^{z_j}$. Derive $\partial p_i/\partial z_k$ for $i = k$ and $i \neq k$.",
    r"Let $E = \sum_{i, j: i < j} (x_i - x_j)^2$. Derive $\partial E/\partial x_k$.",
    r"Let $E = -\sum_n \sum_k t_{nk} \log y_{nk}$, where $t_{nk} = 1$ if the sample belongs to the class $k$ and $t_{nk} = 0$ "
    r"otherwise. Derive $\partial E/\partial y_{nk}$.",
    r"Let $t = \sigma(W x)$ and $y = t \odot x$, where the matrix is $n \times n$ and $\sigma$ is the logistic sigmoid. Derive "
    r"$\partial L/\partial x$.",
    r"For one sample let $y^{(n)} = W x^{(n)} + b$. Derive $\partial L/\partial W$.",
    r"Let $J = \frac1T\sum_{t=1}^T (w^T x_t - y_t)^2$ with $w, x_t \in \mathbb{R}^n$. Derive $\partial J/\partial w$.",
])
def test_ranges_and_cases_of_what_is_asked_are_none(question: str) -> None:
    assert read(question).wanted
