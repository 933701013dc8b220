"""Cases of a layer that words name, and what is left of them."""

from __future__ import annotations

import pytest

from tests.check.verdicts import agree

SOFTMAX = r"Let $p_k = \frac{e^{z_k}}{\sum_{j=1}^{K} e^{z_j}}$. Derive $\frac{\partial p_k}{\partial z_i}$."
RELU = r"A ReLU layer computes $y_i = \max(0, x_i)$. Derive $\frac{\partial y_i}{\partial x_i}$."
HUBER = (r"The Huber loss is $\ell = \begin{cases} \frac{1}{2} r^2 & |r| \le \kappa \\ \kappa (|r| - \frac{1}{2}\kappa) & |r| > \kappa "
         r"\end{cases}$ with $r = y - t$ and a constant $\kappa > 0$. Derive $\frac{\partial \ell}{\partial y}$.")
LOGISTIC = (r"Let $p = \sigma(z)$ with $z = w^\top x$, $\sigma(z) = \frac{1}{1+e^{-z}}$ and $\ell = -y \log p - (1-y) \log(1-p)$, "
            r"$y \in \{0, 1\}$. Derive $\nabla_w \ell$.")
STEP = r"Let $y = \max(0, x) - \max(0, x - 1)$ for $x \in \mathbb{R}$. Derive $\frac{\partial y}{\partial x}$."
SAME, OTHER = r"$\frac{\partial p_k}{\partial z_i} = p_k (1 - p_k)$", r"$\frac{\partial p_k}{\partial z_i} = -p_k p_i$"
ONE, ZERO = (rf"$\frac{{\partial y_i}}{{\partial x_i}} = {n}$" for n in (1, 0))
SMALL, LARGE = r"$\frac{\partial \ell}{\partial y} = r$", r"$\frac{\partial \ell}{\partial y} = \kappa \frac{r}{|r|}$"
FIRST, SECOND = r"$\nabla_w \ell = (p - 1) x$", r"$\nabla_w \ell = p x$"
SAID = [  # p: proved or tested, x: refuted, -: not read
    (SOFTMAX, f"On the diagonal {SAME}, off the diagonal {OTHER}.", "pp"),
    (SOFTMAX, f"Equal indices: {OTHER}. Different indices: {SAME}.", "xx"),
    (RELU, f"Active units have {ONE}. Inactive ones have {ZERO}.", "pp"), (RELU, f"If it is dead, {ONE}.", "x"),
    (RELU, f"{ONE} where the unit is active, {ONE} where it is inactive.", "px"), (RELU, f"Left branch: {ZERO}.", "p"),
    (RELU, f"Inactive units ($x_i > 0$): {ZERO}.", "-"), (RELU, f"Suppose the unit is dead. Then {ZERO}.", "p"),
    (HUBER, f"For small residuals, {SMALL}, for large residuals {LARGE}.", "pp"),
    (HUBER, f"For small residuals, {LARGE}, for large residuals {SMALL}.", "xx"),
    (LOGISTIC, f"For the positive class, {FIRST}; for the negative class, {SECOND}.", "pp"),
    (LOGISTIC, f"For the positive class, {SECOND}.", "x"), (LOGISTIC, f"For the positive class ($y = 0$), {FIRST}.", "-"),
    (STEP, "x<0: $y = 0$. 0<x<1: $y = x$. x>1: $y = 1$.", "ppp"), (STEP, "x > 1: $y = x$.", "x"),
    (STEP, "If $x < 0$, $y = 0$; if $x > 1$, $y = 1$; else $y = x$.", "ppp"),
    (RELU, f"{ONE} unless $x_i < 0$.", "p"), (RELU, f"{ZERO} unless $x_i < 0$.", "x"),
    (RELU, f"As long as $x_i > 0$, {ONE}, for all other inputs {ZERO}.", "pp"),
    (RELU, rf"If $x_i > 0$, then {ONE}, else $2$.", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(question, text, signs)
