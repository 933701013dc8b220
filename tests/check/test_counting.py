"""A solution counts as its question does, also where the layer counts windows from 0."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card

MAXIMA = (r"Max pooling with window 2 and stride 2: $y_i = \max(x_{2i-1}, x_{2i})$ for $i=1,\dots,4$ with $x \in \mathbb{R}^8$. "
          r"Compute $\partial y_i/\partial x_j$ and the backward message.")
MEANS = (r"Let $y_{k} = \frac13\sum_{a=1}^3 x_{2(k-1)+a}$ for $k=1,\dots,K$, $x \in \mathbb{R}^{2K+1}$. "
         r"Derive $\partial L/\partial x_i$.")
TABLE = [
    (MAXIMA, r"$\frac{\partial y_i}{\partial x_{2i}}=1$ if $x_{2i}>x_{2i-1}$.", True),
    (MAXIMA, r"$\frac{\partial y_i}{\partial x_{2i}}=1$ if $x_{2i}>x_{2i+1}$.", False),
    (MAXIMA, r"If $x_1>x_2$, then $\frac{\partial y_1}{\partial x_1}=1$.", True),
    (MAXIMA, r"If $x_2>x_3$, then $\frac{\partial y_1}{\partial x_2}=1$.", False),
    (MAXIMA, r"$\frac{\partial L}{\partial x_{2i}} = \begin{cases}\frac{\partial L}{\partial y_i}&x_{2i}>x_{2i-1}\\0&x_{2i}<x_{2i-1}"
             r"\end{cases}$", True),
    (MAXIMA, r"$\frac{\partial L}{\partial x_{2i}} = \frac{\partial L}{\partial y_{i+1}}$ if $x_{2i}>x_{2i-1}$.", False),
    (MAXIMA, "Counted from 0: $\\frac{\\partial y_i}{\\partial x_{2i}}=1$ if $x_{2i}>x_{2i+1}$; all is counted from 0.", True),
    (MEANS, r"$\frac{\partial L}{\partial x_i} = \frac13\sum_{k: 1\le i-2(k-1)\le 3}\frac{\partial L}{\partial y_k}$", True),
    (MEANS, r"$\frac{\partial L}{\partial x_i} = \frac13\sum_{k: 1\le i-2k\le 3}\frac{\partial L}{\partial y_k}$", False),
    (MEANS, r"$\frac{\partial y_k}{\partial x_{2k}} = \frac13$", True),
    (MEANS, r"$\frac{\partial y_k}{\partial x_{2k+2}} = \frac13$", False),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "right"), TABLE)
def test_verdicts(question: str, text: str, right: bool) -> None:
    first = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"), text=text).checks[0]
    assert first.verdict in (("proved", "tested") if right else ("refuted",)), first
    assert right or question is MEANS or "counted from 0" in (first.counterexample or "")
