"""What the points tried may not reach: numbers of indices, steps of values, values that are equal outside a window."""

import pytest

import derive
from derive.verify.report import Verdict

SQUARE = r"A layer computes $y_k = s_k^2$. Derive $\frac{\partial y_k}{\partial s_i}$."
RELU = r"A unit computes $y = \max(0, s)$. Derive $\frac{\partial y}{\partial s}$."
POOL = (r"A max pooling layer computes $y_k = \max_{0 \le p < 3} x_{2k+p}$. Derive $\frac{\partial y_k}{\partial x_i}$ and, for"
        r" an upstream gradient $\delta^y_k$, the backward message $\delta^x_i$.")
PAIRS = r"Let $y_k = \max(x_{2k}, x_{2k+1})$. Derive the backward message for a loss $L$ with $\delta_k = \frac{\partial L}{\partial y_k}$."
CONVOLUTION = (r"A convolution computes $y_t = \sum_{a=0}^{A-1} w_a x_{t+a} + b$ for $t = 0, \dots, T-1$, with trained $w$ and"
               r" $b$. Derive the messages for a loss $L$.")
TANH = (r"A layer computes $s_k = \sum_j W_{kj} x_j$ and $y_k = \tanh(s_k)$, where $W$ is trained. Derive the messages for a"
        r" loss $L$ with $\delta_k = \frac{\partial L}{\partial y_k}$.")
HINGE = (r"A linear classifier with the score $s = w^\top x + b$ is trained with the hinge loss $\ell = \max(0, 1 - t s)$, where"
         r" $t \in \{-1, 1\}$; $w$ and $b$ are trained. Derive the gradient with respect to $w$ and $b$.")
HUBER = (r"The Huber loss of $r = y - t$ is $\ell = \begin{cases} \frac12 r^2 & |r| \le \kappa \\ \kappa (|r| - \frac12 \kappa) &"
         r" |r| > \kappa \end{cases}$ with a constant $\kappa > 0$. Derive $\frac{\partial \ell}{\partial y}$.")
PARTED = r"\frac{\partial \ell}{\partial b} = \begin{cases} -t & t s < %s \\ 0 & t s > %s \end{cases}"
OF_HUBER = (r"\frac{\partial \ell}{\partial y} = \begin{cases} r & |r| \le %s \\ \operatorname{sign}(r) & |r| > %s \end{cases}"
            r" \quad \text{for } \kappa = 1")
SLOPE = r"\frac{\partial y}{\partial s} = \mathbb{1}[s > 0] + "
OF_SQUARE = r"\frac{\partial y_k}{\partial s_i} = 2 \mathbb{1}[i = k] s_k + "
OF_POOL = r"\frac{\partial y_k}{\partial x_i} = "
OF_FIRST, OF_W = r"\frac{\partial y_k}{\partial x_{2k}} = ", r"\frac{\partial L}{\partial w_a} = "
REFUTED, UNREAD, HOLDS = "refuted", "not read", "holds"


@pytest.mark.parametrize(("question", "latex", "wanted"), [
    *((SQUARE, OF_SQUARE + more, UNREAD) for more in (
        r"\mathbb{1}[n = 7]", r"\max(0, k - 5)", r"\lfloor k / 5 \rfloor", r"\sum_{j=6}^{k} s_j", "k (k-1)(k-2)(k-3)(k-4)")),
    (SQUARE, OF_SQUARE + r"\max(0, k - 1)", REFUTED),
    *((RELU, SLOPE + more, UNREAD) for more in (
        r"\lfloor |s| / 1000 \rfloor", "e^{-1000}")),
    (RELU, r"\frac{\partial y}{\partial s} = \lceil \tanh(\max(0, s)) - 10^{-6} \rceil", UNREAD),
    (POOL, OF_POOL + r"\mathbb{1}[0 \le i - 2k < 3] \mathbb{1}[x_i = y_k]", HOLDS),
    (POOL, OF_POOL + r"\mathbb{1}[0 \le i - 2k \le 3] \mathbb{1}[x_i = y_k]", REFUTED),
    (POOL, OF_POOL + r"\mathbb{1}[x_i = y_k]", REFUTED),
    (POOL, r"\frac{\partial y_k}{\partial x_{2k+2}} = \mathbb{1}[x_{2k+2} \ge x_{2k+1}] \mathbb{1}[x_{2k+2} \ge x_{2k}]", HOLDS),
    (POOL, r"\frac{\partial y_k}{\partial x_{2k+2}} = \mathbb{1}[x_{2k+2} \ge x_{2k+1}]", REFUTED),
    (PAIRS, OF_FIRST + r"\frac{1}{2} (1 + \operatorname{sign}(x_{2k} - x_{2k+1}))", HOLDS),
    (PAIRS, OF_FIRST + r"\operatorname{sign}(x_{2k} - x_{2k+1})", REFUTED),
    (PAIRS, OF_FIRST + r"\mathbb{1}[x_{2k} > x_{2k+1}] + 2 \cdot \mathbb{1}[x_{2k} = x_{2k+1}]", "off ties"),
    (CONVOLUTION, OF_W + r"\sum_{t=0}^{T-1} \frac{\partial L}{\partial y_t} x_{t+a}", HOLDS),
    (CONVOLUTION, OF_W + r"\sum_{t=1}^{T-1} \frac{\partial L}{\partial y_t} x_{t+a}", REFUTED),
    (CONVOLUTION, OF_W + r"\sum_{t=0}^{T-A} \frac{\partial L}{\partial y_t} x_{t+a}", REFUTED),
    (CONVOLUTION, r"\frac{\partial L}{\partial x_i} = \sum_{t=\max(0, i-A+1)}^{\min(i, T-1)} \frac{\partial L}{\partial y_t} w_{i-t}",
     HOLDS),
    *((HINGE, PARTED % (at, at), HOLDS if at == "1" else REFUTED) for at in ("1", "0", "2", r"\frac12")),
    *((HUBER, OF_HUBER % (at, at), HOLDS if at == "1" else REFUTED) for at in ("1", "0.99", "2")),
    (TANH, r"\frac{\partial s_k}{\partial W_{ij}} = \delta_{ik} x_j", HOLDS),
    (TANH, r"\frac{\partial s_k}{\partial W_{ij}} = \delta_{jk} x_i", REFUTED),
    (TANH, r"\frac{\partial L}{\partial W_{ij}} = \delta_i (1 - y_i^2) x_j", HOLDS),
])  # fmt: skip
def test_verdict(question: str, latex: str, wanted: str) -> None:
    card = derive.Card.parse(f"---\nid: a\n---\n\n# Question\n{question}\n")
    found, = derive.check(card, text=f"$$ {latex} $$").checks
    assert wanted == (HOLDS if found.verdict in (Verdict.PROVED, Verdict.TESTED) else found.verdict)
