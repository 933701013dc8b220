"""What lecturers and language models write: steps of a recursion, worked numbers, operators, cases, words between."""

import pytest

import derive
from tests.check.verdicts import RIGHT, agree

STEP = (r"One step of a recurrent network: $h_t = \tanh(W x_t + U h_{t-1} + b)$. Let $\delta_t = \partial L/\partial h_t$. Derive "
        "the gradients of this step with respect to $W$, $U$, $b$ and $h_{t-1}$.")
SKIP = (r"A block computes $y = x + \tanh(Wx)$ with $W \in \mathbb{R}^{n \times n}$. For $\delta = \frac{\partial L}{\partial y}$ "
        r"derive $\frac{\partial L}{\partial x}$ and $\frac{\partial L}{\partial W}$.")
NORM = (r"RMS normalisation: $r = \sqrt{\frac1n \sum_{i} x_i^2}$ and $y_i = g_i \frac{x_i}{r}$. Derive $\frac{\partial L}{\partial g_i}$"
        r" for a given upstream gradient $\delta_{y_i}$.")
MEAN = r"Average pooling: $y_{kl} = \frac{1}{4} \sum_{a=0}^{1} \sum_{b=0}^{1} x_{2k+a,2l+b}$. Derive the backward message."
MAX = (r"A max pooling layer computes $y_k = \max_{0 \le a < %s} x_{%s}$. For $\delta_k = \frac{\partial L}{\partial y_k}$ derive "
       r"$\frac{\partial L}{\partial x_i}$.")
RIDGE = (r"Let $L = \frac{1}{N} \sum_{i=1}^{N} (y_i - p_i)^2 + \lambda \sum_j w_j^2$ with $p_i = \sum_j w_j x_{ij}$. "
         r"Compute $\frac{\partial L}{\partial w_j}$.")
HINGE = (r"The hinge loss is $L = \max(0, 1 - t s)$ with $t \in \{-1, 1\}$ and $s = \sum_i w_i x_i$. Derive "
         r"$\frac{\partial L}{\partial s}$ and $\frac{\partial L}{\partial w_i}$.")
NEURON = (r"A neuron computes $y = \tanh(z)$, $z = \sum_i w_i x_i + b$. Given the numbers $w = (1, -1)$, $x = (2, 1)$, $b = -1$ and "
          r"the loss $L = \frac{1}{2} (y - 1)^2$, evaluate $\frac{\partial L}{\partial w_i}$.")
MATRIX = (r"A linear layer $y = Wx$ with $W = \begin{pmatrix} 1 & -1 \\ 2 & 0 \end{pmatrix}$ and $x = (3, 1)^\top$ has the loss "
          r"$L = \frac{1}{2} \|y - t\|^2$ with $t = (1, 5)^\top$. Compute $\frac{\partial L}{\partial W}$ and $\frac{\partial L}{\partial x}$.")
FILTER = (r"A filter computes $Y_{ij} = \sum_{m=0}^{M-1} \sum_{n=0}^{N-1} K_{mn} X_{i+m,j+n}$ without padding. Derive the gradient "
          r"with respect to the input, given $G_{ij} = \partial L/\partial Y_{ij}$.")
CLASSES = (r"Multi-class hinge loss: $L = \sum_{j \neq y} \max(0, s_j - s_y + 1)$ with the class $y$. Derive "
           r"$\frac{\partial L}{\partial s_j}$ for $j \neq y$ and $\frac{\partial L}{\partial s_y}$.")
SIGMOID = (r"Let $y_k = \sigma(s_k)$ with $\sigma(u) = \frac{1}{1 + e^{-u}}$, $s_k = \sum_j W_{kj} x_j$. Derive "
           r"$\frac{\partial y_k}{\partial x_j}$.")
RELU = r"A layer computes $y_k = \max(0, s_k)$. Derive the backward message."
OF_N, OF_X, OF_XX = r"$\frac{\partial y_i}{\partial x_j} = %s$", r"$\frac{\partial L}{\partial x_i} = %s$", (
    r"$\frac{\partial L}{\partial x_{ij}} = \frac14 \delta_{y,%s}$")
FLOORS = r"\lfloor i/2 \rfloor, \lfloor j/2 \rfloor"
OPERATOR = r"$\frac{\partial}{\partial w_j} \frac{1}{N} \sum_{i=1}^N (y_i - p_i)^2 %s$"
TOLD = r"As $\tanh'(a) = 1 - \tanh^2(a)$ with $a_t = W x_t + U h_{t-1} + b$ and $\epsilon_t := \frac{\partial L}{\partial a_t}$, "
ROWS = (r"$$\begin{aligned} \frac{\partial L}{\partial W} &= (y - t) x^\top = \begin{pmatrix} 3 & 1 \\ %s & 1 \end{pmatrix} \\"
        r" \frac{\partial L}{\partial x} &= W^\top (y - t) \\ &= \begin{pmatrix} 3 \\ %s \end{pmatrix} \end{aligned}$$")
# for each link: p is proved or tested, x refuted, - not read
SAID = [
    (STEP, TOLD + r"$\epsilon_t = \delta_t \odot (1 - h_t \odot h_t)$ and $\frac{\partial L}{\partial W} = \epsilon_t x_t^\top$.", "ppp"),
    (STEP, TOLD + r"$\epsilon_t = \delta_t \odot (1 - h_t)$ and $\frac{\partial L}{\partial U} = \epsilon_t x_t^\top$.", "pxx"),
    (SKIP, r"Let $z = Wx$ and $u = \tanh(z)$. Then $\frac{\partial L}{\partial z} = \delta \odot (1 - u^2)$.", "p"),
    (SKIP, r"Let $z = Wx$ and $u = \tanh(z)$. Then $\frac{\partial L}{\partial z} = \delta \odot (1 - u)$.", "x"),
    (NORM, OF_N % r"g_i \left(\frac{\delta_{ij}}{r} - \frac{x_i x_j}{n r^3}\right)", "p"),
    (NORM, OF_N % r"g_i \left(\frac{\delta_{ij}}{r} - \frac{x_i x_j}{n r^2}\right)", "x"),
    # windows: floors of the layer's own step, no gradient from beyond the edge whatever stands beside it
    (MEAN, OF_XX % FLOORS, "p"), (MEAN, OF_XX % FLOORS.replace("i/2", "i/3"), "x"),
    (MEAN, OF_XX % FLOORS + " for $i < 12$.", "-"),
    (MAX % ("2", "2k+a"), OF_X % r"\delta_{\lfloor i/2 \rfloor} \mathbb{1}[x_i = y_{\lfloor i/2 \rfloor}]", "p"),
    (MAX % ("2", "2k+a"), OF_X % r"\delta_{\lceil i/2 \rceil} \mathbb{1}[x_i = y_{\lceil i/2 \rceil}]", "x"),
    (MAX % ("3", "k+a"), OF_X % r"\sum_{k=i-2}^{i} \delta_k \mathbb{1}[x_i = y_k]", "p"),
    (MAX % ("3", "k+a"), OF_X % r"\sum_{k=i}^{i+2} \delta_k \mathbb{1}[x_i = y_k]", "x"),
    # how far an operator reaches
    (RIDGE, OPERATOR % r"= -\frac{2}{N} \sum_{i=1}^N (y_i - p_i) x_{ij}", "p"),
    (RIDGE, OPERATOR % r"= -\frac{1}{N} \sum_{i=1}^N (y_i - p_i) x_{ij}", "x"),
    (RIDGE, OPERATOR % r"+ \lambda \sum_i w_i^2 = -\frac{2}{N} \sum_{i=1}^N (y_i - p_i) x_{ij} + 2 \lambda w_j", "p"),
    (RIDGE, OPERATOR % r"+ \lambda \sum_i w_i^2 = -\frac{2}{N} \sum_{i=1}^N (y_i - p_i) x_{ij} + \lambda w_j", "x"),
    # cases
    (HINGE, r"**Case 1: $t s > 1$.** All is flat.\n\n**Case 2: $t s < 1$.** Here $L = 1 - t s$, therefore "
            r"$\frac{\partial L}{\partial s} = -t$.".replace("\\n", "\n"), "pp"),
    (HINGE, r"**Case: $t s > 1$.** Here $L = 1 - t s$, therefore $\frac{\partial L}{\partial s} = -t$.", "xx"),
    (RELU, r"$\frac{\partial y_k}{\partial s_k} = 1$ if $s_k > 0$ and $0$ if $s_k < 0$.", "p"),
    (RELU, r"$\frac{\partial y_k}{\partial s_k} = s_k$ if $s_k > 0$ and $0$ otherwise.", "x"),
    (CLASSES, r"$\frac{\partial L}{\partial s_y} = -\sum_{j \neq y} [s_j - s_y + 1 > 0]$", "p"),
    (CLASSES, r"$\frac{\partial L}{\partial s_y} = -\sum_{j \neq y} [s_j - s_y > 0]$", "x"),
    # a function by itself
    (SIGMOID, r"Use $\sigma' = \sigma(1 - \sigma)$ and $\tanh' = 1 - \tanh^2$.", "pp"),
    (SIGMOID, r"Use $\sigma' = \sigma(1 + \sigma)$ and $\tanh' = 1 - \tanh$.", "xx"),
    (SIGMOID, r"Use $\sigma' = \sigma(s_k) (1 - \sigma(s_k))$ and $\sigma' = \sigma(u) (1 - \sigma)$.", "--"),
    # numbers
    (NEURON, r"$\frac{\partial L}{\partial w_1} = -2$ and $\frac{\partial L}{\partial w_2} = -1$.", "pp"),
    (NEURON, r"$\frac{\partial L}{\partial w_1} = -2$ and $\frac{\partial L}{\partial w_2} = 1$.", "px"),
    (NEURON, r"$\frac{\partial L}{\partial w_0} = -2$ and $\frac{\partial L}{\partial w_1} = -1$.", "pp"),
    (NEURON, r"$\frac{\partial L}{\partial w_1} = -2$.", "-"),  # counted from 1?
    (MATRIX, ROWS % ("3", "-1"), "pppp"), (MATRIX, ROWS % ("2", "1"), "pxpx"),
    (FILTER, r"For the input the kernel must be flipped: $\frac{\partial L}{\partial X_{pq}} = \sum_m \sum_n G_{p+m,q+n} K_{mn}$.", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(question, text, signs, (*RIGHT, "off ties"))


def test_a_counterexample_has_values_that_the_question_allows() -> None:
    card = derive.Card.parse(f"---\nid: a\n---\n\n# Question\n{HINGE}\n")
    found, = derive.check(card, text=r"$\frac{\partial L}{\partial s} = t\,\mathbb{1}[ts < 1]$").checks
    assert found.counterexample is not None
    assert "t = 0" not in found.counterexample
