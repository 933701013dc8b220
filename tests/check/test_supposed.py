"""Special cases: what a solution supposes, of numbers, of whole letters and of sizes, holds where it is checked."""

from __future__ import annotations

import pytest

import derive
from tests.check.verdicts import agree

QUESTIONS = {
    "poisson": r"Let $L = \sum_{i=1}^n (e^{\eta_i} - y_i \eta_i)$ with $\eta_i = \sum_j X_{ij} w_j$. Derive $\frac{\partial L}{\partial w_j}$.",
    "unit": r"L2 normalisation: $y = \frac{x}{\|x\|}$ with $x \in \mathbb{R}^n$, $x \ne 0$. Derive the Jacobian $\frac{\partial y}{\partial x}$.",
    "softmax": r"Let $p_i = \frac{e^{z_i}}{\sum_k e^{z_k}}$ with $z \in \mathbb{R}^K$. Derive $\frac{\partial p_i}{\partial z_j}$.",
    "heated": r"Let $p_i = \frac{e^{z_i / T}}{\sum_k e^{z_k / T}}$ with $T > 0$. Derive $\frac{\partial p_i}{\partial z_j}$.",
    "logistic": r"Let $z = w^\top x + b$, $p = \sigma(z)$ with $\sigma(z) = \frac{1}{1+e^{-z}}$ and $L = -y \log p - (1-y) \log(1-p)$."
                r" Derive $\nabla_w L$ and $\frac{\partial L}{\partial b}$.",
    "ridge": r"Let $L = \|Xw - y\|^2 + \lambda \|w\|^2$, $X \in \mathbb{R}^{n \times d}$, $w \in \mathbb{R}^d$. Derive $\nabla_w L$.",
    "rms": r"Let $r = \sqrt{\frac{1}{n} \sum_i x_i^2}$ and $y_i = \frac{g_i x_i}{r}$. Derive $\frac{\partial y_i}{\partial x_j}$.",
    "mean": r"Let $\hat y_i = \sum_j X_{ij} w_j + b$ and $L = \frac{1}{2n} \sum_{i=1}^n (\hat y_i - y_i)^2$. Derive $\frac{\partial L}{\partial b}$.",
    "huber": r"Let $\ell(r) = \begin{cases} \frac12 r^2 & |r| \le \delta \\ \delta(|r| - \frac12 \delta) & \text{otherwise} \end{cases}$,"
             r" $\delta > 0$. Derive $\ell'(r)$.",
    "rnn": r"Let $h_i = \tanh(a_i)$ with $a_i = \sum_k U_{ik} s_k + b_i$. Derive $\frac{\partial h_i}{\partial s_k}$.",
    "unit_loss": r"Let $e = \sum_j w_j x_j - y$ and $L = e^2$. Derive $\frac{\partial L}{\partial w_j}$ and $\frac{\partial L}{\partial y}$.",
    "net": r"Let $h = \tanh(Wx + b)$ with $W \in \mathbb{R}^{m \times n}$ and $L = \frac12 \|h - t\|^2$. Derive $\nabla_b L$.",
    "residual": r"Let $y = x + W_2 \tanh(W_1 x)$ with $W_1 \in \mathbb{R}^{m \times n}$, $W_2 \in \mathbb{R}^{n \times m}$. Derive the"
                r" Jacobian $\frac{\partial y}{\partial x}$.",
    "cosine": r"Let $s = \frac{u^\top v}{\|u\| \|v\|}$ with $u, v \in \mathbb{R}^n$. Derive $\nabla_u s$.",
    "map": r"Let $y = Wx$ with $W \in \mathbb{R}^{m \times n}$ and $L = \frac12 \|y - t\|^2$. Derive $\nabla_x L$.",
    "gate": r"Let $h_i = z_i s_i + (1 - z_i) c_i$ with $z_i = \frac{1}{1 + e^{-a_i}}$. Derive $\frac{\partial h_i}{\partial a_j}$.",
    "triplet": r"Let $L = \max(0, \|a - p\|^2 - \|a - q\|^2 + m)$ with $a, p, q \in \mathbb{R}^n$, $m > 0$. Derive $\nabla_a L$.",
    "pairs": r"Max pooling computes $y_i = \max(x_{2i-1}, x_{2i})$, $i = 1, \dots, n$. Derive $\frac{\partial y_i}{\partial x_j}$.",
}
SAID = [  # p: proved or tested, x: refuted, -: not read
    ("poisson", r"For $\eta_i = 0$, $\frac{\partial L}{\partial \eta_i} = 1 - y_i$.", "p"),
    ("poisson", r"For $\eta_i = 0$, $\frac{\partial L}{\partial \eta_i} = 2 - y_i$.", "-"),  # of one i, or of all
    ("poisson", r"At $w = 0$: $\nabla_w L = X^\top (\mathbf 1 - y)$.", "p"),
    ("poisson", r"At $w = \mathbf{0}$: $\nabla_w L = X^\top y$.", "x"),
    ("unit", r"For $\|x\| = 1$ this becomes $\frac{\partial y}{\partial x} = I - xx^\top$.", "p"),
    ("unit", r"If $\|x\| = 1$ then $\frac{\partial y}{\partial x} = I + xx^\top$.", "x"),
    ("softmax", r"For $K = 2$ we have $p_2 = 1 - p_1$ and therefore $\frac{\partial p_1}{\partial z_2} = -p_1 (1 - p_1)$.", "pp"),
    ("softmax", r"For $K = 2$ we have $p_2 = 1 - p_1$ and therefore $\frac{\partial p_1}{\partial z_2} = p_1 (1 - p_1)$.", "px"),
    ("softmax", r"For $K = 2$: $p_1 + p_2 = 1$.", "p"), ("softmax", r"For $K = 3$: $p_1 + p_2 = 1$.", "-"),
    ("softmax", r"At $z = 0$ all $p_i = \frac1K$ and $\frac{\partial p_i}{\partial z_j} = \frac1K (\delta_{ij} - \frac1K)$.", "pp"),
    ("logistic", r"If $w = 0$ and $b = 0$, then $p = \frac12$ and $\nabla_w L = (\frac12 - y) x$.", "pp"),
    ("logistic", r"If $w = 0$ and $b = 0$, then $p = \frac12$ and $\nabla_w L = (y - \frac12) x$.", "px"),
    ("logistic", r"Initialise $w = 0$ and $b = 0$. Then $z = 0$, $p = \frac12$ and $\nabla_w L = (\frac12 - y) x$.", "ppp"),
    ("logistic", r"If $y = 1$ and $z = 0$, then $\frac{\partial L}{\partial z} = -\frac12$.", "p"),
    ("logistic", r"Suppose $y = 1$. Then $L = -\log p$ and $\frac{\partial L}{\partial z} = p - 1$.", "pp"),
    ("logistic", r"Let $y = 0$. Then $L = -\log p$ and $\frac{\partial L}{\partial z} = p$.", "xp"),
    ("logistic", "Let $y = 1$. Then $\\frac{\\partial L}{\\partial z} = p - 1$.\n\nFurther, $\\frac{\\partial L}{\\partial b} = p - 1$.", "p-"),
    ("logistic", r"Let $y = 1$. In general $\frac{\partial L}{\partial z} = p - 1$.", "x"),
    ("ridge", r"For $\lambda = 0$ and $w = 0$ we get $\nabla_w L = -2 X^\top y$.", "p"),
    ("ridge", r"For $y = 0$, $\nabla_w L = 2 X^\top Xw + \lambda w$.", "x"),
    ("rms", r"If $g_i = 1$ for every $i$, then $\sum_i y_i^2 = n$.", "p"),
    ("rms", r"When all $g_i = 1$, $\frac{\partial y_i}{\partial x_j} = \frac1r (\delta_{ij} - \frac1n y_i y_j)$.", "p"),
    ("rms", r"When all $g_i = 1$, $\frac{\partial y_i}{\partial x_j} = \frac1r (\delta_{ij} - y_i y_j)$.", "x"),
    ("rms", r"For $g_i = 1$, $\frac{\partial y_i}{\partial x_j} = \frac1r (\delta_{ij} - \frac1n y_i y_j)$.", "-"),  # this entry alone?
    ("rms", r"If $r = 1$, then $\frac{\partial y_i}{\partial g_j} = \delta_{ij} x_i$.", "p"),
    ("mean", r"For $n = 1$ we have $\frac{\partial L}{\partial b} = \hat y_1 - y_1$.", "p"),
    ("mean", r"For $n = 1$ we have $\frac{\partial L}{\partial b} = y_1 - \hat y_1$.", "x"),
    ("mean", r"Assuming $b = 0$, $\nabla_w L = \frac1n X^\top (Xw - y)$.", "p"),
    ("heated", r"Let $T = 1$. Then $\frac{\partial p_i}{\partial z_j} = p_i (\delta_{ij} - p_j)$.", "p"),
    ("heated", r"Let $T = 2$. Then $\frac{\partial p_i}{\partial z_j} = p_i (\delta_{ij} - p_j)$.", "x"),
    ("huber", r"Take $\delta = 1$. For $r > 1$, $\ell'(r) = 1$.", "p"),
    ("huber", r"Let $\delta = 1$. Then $\ell'(r) = \max(-1, \min(1, r))$.", "p"),
    ("huber", r"Let $\delta = 2$. Then $\ell'(r) = \max(-1, \min(1, r))$.", "x"),
    ("rnn", r"For $h_i = 0$ we get $\frac{\partial h_i}{\partial s_k} = U_{ik}$.", "p"),
    ("rnn", r"For $h_i = 0$ we get $\frac{\partial h_i}{\partial s_k} = 2 U_{ik}$.", "-"),
    ("net", r"If $h = t$, then $\nabla_b L = 0$.", "p"), ("net", r"If $h = t$, then $\nabla_b L = t$.", "x"),
    ("mean", r"If $\hat y_i = y_i$ for all $i$, then $\frac{\partial L}{\partial b} = 0$.", "p"),
    ("mean", r"If $\hat y_i = y_i$, then $\frac{\partial L}{\partial b} = 0$.", "-"),  # of this i
    ("residual", r"For $x = 0$ the Jacobian is $\frac{\partial y}{\partial x} = I + W_2 W_1$.", "p"),
    ("residual", r"For $W_2 = 0$ we get $\frac{\partial y}{\partial x} = 2I$.", "x"),
    ("cosine", r"If $\|u\| = 1$ and $\|v\| = 1$, then $\nabla_u s = v - su$.", "p"),
    ("cosine", r"$\nabla_u s = v + su$ if $\|u\| = 1$ and $\|v\| = 1$.", "x"),
    ("cosine", r"Let $\|u\| = \|v\| = 1$. Then $\nabla_u s = v - su$.", "p"),
    ("map", r"If $m = n$ and $W = I$, then $\nabla_x L = x - t$.", "-"),
    ("gate", r"If $s = c$, then $\frac{\partial h_i}{\partial a_j} = 0$.", "p"),
    ("gate", r"For $a = 0$ we have $\frac{\partial h}{\partial s} = \frac12 I$.", "p"),
    ("logistic", r"In case of $y = 1$, $\frac{\partial L}{\partial z} = p - 1$ and in case of $y = 0$, $\frac{\partial L}{\partial z} = 1 - p$.", "px"),
    ("pairs", r"For a tie ($x_{2i-1} = x_{2i}$) we use $\frac{\partial y_i}{\partial x_{2i}} = 1$.", "-"),
    ("pairs", r"If $x_{2i-1} > x_{2i}$, then $\frac{\partial y_i}{\partial x_j} = \delta_{j,2i-1}$.", "p"),
    ("pairs", r"If $x_{2i-1} > x_{2i}$, then $\frac{\partial y_i}{\partial x_j} = \delta_{j,2i}$.", "x"),
    ("mean", r"For a single example ($n = 1$) the gradient is $\frac{\partial L}{\partial b} = \hat y_1 - y_1$.", "p"),
    ("mean", r"For a single example ($n = 1$) the gradient is $\frac{\partial L}{\partial b} = y_1 - \hat y_1$.", "x"),
    ("cosine", r"For unit vectors ($\|u\| = 1$, $\|v\| = 1$) we have $\nabla_u s = v - su$.", "p"),
    ("cosine", r"For unit vectors ($\|u\| = 1$, $\|v\| = 1$) we have $\nabla_u s = v + su$.", "x"),
    ("softmax", r"In the binary case $K = 2$, $p_1 = \frac{1}{1 + e^{z_2 - z_1}}$.", "p"),
    ("softmax", r"In the binary case $K = 2$, $p_1 = \frac{1}{1 + e^{z_1 - z_2}}$.", "x"),
    ("softmax", r"For all classes but one ($i \ne j$) $\frac{\partial p_i}{\partial z_j} = p_i p_j$.", "-"),
    ("ridge", r"At initialisation $w = 0$, so $\nabla_w L = -2 X^\top y$.", "p"),
    ("ridge", r"At the starting point $w = 0$ we have $\nabla_w L = 2 X^\top y$.", "x"),
    ("triplet", r"If the loss is active ($L > 0$), $\nabla_a L = 2 (q - p)$.", "p"),
    ("triplet", r"If the loss is active ($L > 0$), $\nabla_a L = 2 (p - q)$.", "x"),
    ("unit_loss", r"For $w = (1,2)$, $x = (3,1)$, $y = 4$: $e = 1$. With learning rate $0.1$ the new weights are $w = (1.6, 2.2)$.", "p-"),
    ("unit_loss", r"For $w = (1,2)$, $x = (3,1)$, $y = 4$: $e = 1$. For all other inputs $\frac{\partial L}{\partial y} = -2$ as well.", "p-"),
    ("unit_loss", r"For $w = (1,2)$, $x = (3,1)$, $y = 4$: $e = 1$ and $\frac{\partial L}{\partial y} = -2$.", "pp"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(QUESTIONS[question], text, signs)


def test_what_is_supposed_is_said() -> None:
    card = derive.Card.parse(f"---\nid: a\n---\n\n# Question\n{QUESTIONS['mean']}\n")
    check, = derive.check(card, text=r"For $n = 1$ we have $\frac{\partial L}{\partial b} = \hat y_1 - y_1$.").checks
    assert check.reason.endswith("for $n = 1$")
