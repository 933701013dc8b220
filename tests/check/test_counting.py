"""A solution counts as its question does, also where the layer counts windows from 0."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card

MAXIMA = (r"Max pooling with window 2 and stride 2: $y_i = \max(x_{2i-1}, x_{2i})$ for $i=1,\dots,4$ with $x \in \mathbb{R}^8$. "
          r"Compute $\partial y_i/\partial x_j$ and the backward message.")
MEANS = (r"Let $y_{k} = \frac13\sum_{a=1}^3 x_{2(k-1)+a}$ for $k=1,\dots,K$, $x \in \mathbb{R}^{2K+1}$. "
         r"Derive $\partial L/\partial x_i$.")
SUMS = (r"Let $y_{kl} = \sum_{a=1}^2\sum_{b=1}^2 x_{2(k-1)+a,2(l-1)+b}$ for $k=1,\dots,K$, $l = 1,\dots,L$. "
        r"Derive $\partial E/\partial x_{ij}$ for $\delta_{kl} = \partial E/\partial y_{kl}$.")
TABLE = [
    (MAXIMA, r"$\frac{\partial y_i}{\partial x_{2i}}=1$ if $x_{2i}>x_{2i-1}$.", True),
    (MAXIMA, r"$\frac{\partial y_i}{\partial x_{2i}}=1$ if $x_{2i}>x_{2i+1}$.", False),
    (MAXIMA, r"If $x_1>x_2$, then $\frac{\partial y_1}{\partial x_1}=1$.", True),
    (MAXIMA, r"If $x_2>x_3$, then $\frac{\partial y_1}{\partial x_2}=1$.", False),
    (MAXIMA, r"$\frac{\partial L}{\partial x_{2i}} = \begin{cases}\frac{\partial L}{\partial y_i}&x_{2i}>x_{2i-1}\\0&x_{2i}<x_{2i-1}"
             r"\end{cases}$", True),
    (MAXIMA, r"$\frac{\partial L}{\partial x_{2i}} = \frac{\partial L}{\partial y_{i+1}}$ if $x_{2i}>x_{2i-1}$.", False),
    (MAXIMA, "Counted from 0: $\\frac{\\partial y_i}{\\partial x_{2i}}=1$ if $x_{2i}>x_{2i+1}$; all is counted from 0.", True),
    (MAXIMA, r"The windows are counted from 1: $\frac{\partial y_i}{\partial x_{2i}}=1$ if $x_{2i}>x_{2i-1}$.", True),
    (SUMS, r"$\frac{\partial E}{\partial x_{ij}} = \sum_{k=1}^K\sum_{l=1}^L \delta_{kl} [1 \le i-2(k-1) \le 2]"
           r"[1 \le j-2(l-1)\le 2]$", True),
    (SUMS, r"$\frac{\partial E}{\partial x_{ij}} = \delta_{\lceil i/2\rceil,\lceil j/2\rceil}$", True),
    (SUMS, r"$\frac{\partial E}{\partial x_{ij}} = \delta_{\lfloor i/2\rfloor,\lfloor j/2\rfloor}$", False),
    (MEANS, r"$\frac{\partial L}{\partial x_i} = \frac13\sum_{k: 1\le i-2(k-1)\le 3}\frac{\partial L}{\partial y_k}$", True),
    (MEANS, r"$\frac{\partial L}{\partial x_i} = \frac13\sum_{k: 1\le i-2k\le 3}\frac{\partial L}{\partial y_k}$", False),
    (MEANS, r"$\frac{\partial y_k}{\partial x_{2k}} = \frac13$", True),
    (MEANS, r"$\frac{\partial y_k}{\partial x_{2k+2}} = \frac13$", False),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "right"), TABLE)
def test_verdicts(question: str, text: str, right: bool) -> None:
    first = derive.check(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"), text=text).checks[0]
    assert first.verdict in (("proved", "tested") if right else ("refuted",)), first
    assert right or question is not MAXIMA or "counted from 0" in (first.counterexample or "")


@pytest.mark.parametrize(("keys", "question"), [
    ("", "A layer computes $f_{kl} = \\max_{1 \\le a, b \\le 2} x_{2(k-1)+a, 2(l-1)+b}$ for $k = 1, \\dots, M$ and "
         "$l = 1, \\dots, N$. Derive the backward message."),
    ("language: cs\n", "Vrstva počítá $f_{kl} = \\max_{1 \\le a, b \\le 2} x_{2(k-1)+a, 2(l-1)+b}$ pro $k = 1, \\dots, M$ a "
                       "$l = 1, \\dots, N$. Odvoďte zpětnou zprávu."),
])  # fmt: skip
def test_our_own_sheets_say_that_they_count_from_0(keys: str, question: str) -> None:
    from derive.render import markdown

    solution = derive.solve(Card.parse(f"---\nid: q\n{keys}---\n\n# Question\n{question}\n"))
    report = derive.check(Card.parse(markdown.render(solution, "standard")))
    assert report.ok and not any(c.verdict == "not read" for c in report.checks)
