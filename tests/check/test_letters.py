r"""Letters with two meanings, letters told in some cases only, chains that end in numbers, sums beyond the edge."""

import pytest

from tests.check.verdicts import agree

POOL = (r"A max pooling layer with $3 \times 3$ windows and stride 2 computes $f_{kl} = \max_{(i, j) \in \Omega(k, l)}"
        r" x_{ij}$. Derive the backward message.")
STRIDE = (r"A max pooling layer has $2 \times 2$ windows, stride $S = 2$ and no padding: $f_{kl}$ is the maximum of its window"
          r" of $x_{ij}$. Derive the backward message.")
CHANNELS = (r"A depthwise convolution computes $y_{ct} = \sum_{k=0}^{2} w_{ck} x_{c,2t+k}$. For $\delta_{ct} = \partial"
            r" L/\partial y_{ct}$ derive $\frac{\partial L}{\partial w_{ck}}$.")
ROWS = (r"A linear layer computes $Y_{nk} = \sum_j X_{nj} W_{jk}$. For $\delta_{nk} = \partial L/\partial Y_{nk}$ derive"
        r" $\partial L/\partial W_{ij}$.")
SQUARE = (r"A linear layer computes $Y_{nk} = \sum_j X_{nj} W_{jk}$ with $W \in \mathbb{R}^{m \times m}$. Derive $\partial"
          r" Y_{nk}/\partial X_{pi}$.")
PRELU = r"A unit computes $y_k = \max(s_k, a s_k)$ with a constant $0 < a < 1$. Derive the backward message."
MEAN = (r"Average pooling computes $y_k = \frac{1}{3} \sum_{a=0}^{2} x_{k+a}$ for $k = 0, \dots, n-3$. Derive the backward"
        r" message for $\delta_k = \partial L/\partial y_k$.")
ELU = (r"Let $y_k = \begin{cases} s_k & \text{if } s_k > 0 \\ a (e^{s_k} - 1) & \text{otherwise} \end{cases}$ with a trained"
       r" $a > 0$. Derive $\frac{\partial y_k}{\partial a}$.")
NUMBERS = (r"A linear layer $y = Wx + b$ is followed by $L = \frac12 \sum_k (y_k - t_k)^2$. Compute $\frac{\partial L}{\partial"
           r" W}$ and $\frac{\partial L}{\partial x}$ for $W = \begin{pmatrix} 1 & 2 \\ 0 & -1 \end{pmatrix}$, $b = (1, 0)^\top$,"
           r" $x = (2, 1)^\top$, $t = (3, 1)^\top$.")
CHOICE = (r"$S_{klij} = \mathbb{1}[(i,j) = (i^*,j^*)]$ with $(i^*, j^*) = \arg\max_{(i,j)\in\Omega(k,l)} x_{ij}$."
          r" $$\frac{\partial f_{kl}}{\partial x_{ij}} = %s$$")
OF_F, OF_S = r"$$\frac{\partial f_{kl}}{\partial x_{ij}} = D_{klij}$$", r"$\frac{\partial y_k}{\partial s_k} = g_k$"
OF_K, OF_W = r"\frac{\partial y_k}{\partial x_i} = ", r"$$\frac{\partial L}{\partial w_{dk}} = %s$$"
SUM, OF_A = r"$$\frac{\partial L}{\partial x_i} = \frac13 \sum_{k = %s}^{%s} \delta_k$$", r"$$\frac{\partial y_k}{\partial a} = %s$$"
NO_SUM = r"$$\frac{\partial y_{ct}}{\partial w_{dk}} = %s \delta_{cd}\, x_{c,2t+k}$$"
# for each link: p is proved or tested, x refuted, - not read
SAID = [
    # S is a stride in the question or the solution, and a matrix, too
    (STRIDE, CHOICE % "S_{klij}", "p"), (STRIDE, CHOICE % "2 S_{klij}", "x"),
    (POOL, "Here $K = 3$ and $S = 2$. " + CHOICE % "S_{klij}", "p"),
    (STRIDE, r"$S_{klij} = 1$ if $x_{ij}$ is the winner, $S_{klij} = 0$ otherwise. " + OF_F.replace("D", "S"), "--"),
    # a letter told in some cases only, by words of every kind
    (POOL, "Let $D_{klij} = 1$ for the winner and $D_{klij} = 0$ for the others. " + OF_F, "--"),
    (POOL, "Let $D_{klij} = 1$ mark the chosen entry, all others being nought. " + OF_F, "-"),
    (PRELU, f"Let $g_k = 1$ for the busy units. The lazy ones have $g_k = a$. So {OF_S}.", "--"),
    (PRELU, f"Let $g_k = 2 [s_k > 0]$. Then {OF_S}.", "x"), (PRELU, f"Let $g_k = a + (1 - a) [s_k > 0]$. Then {OF_S}.", "p"),
    # δ is the gradient that comes in and Kronecker's
    (CHANNELS, NO_SUM % "", "p"), (CHANNELS, NO_SUM % "2", "x"),
    (CHANNELS, OF_W % r"\sum_{c,t} \delta_{ct} \delta_{cd}\, x_{c,2t+k} = \sum_t \delta_{dt}\, x_{d,2t+k}", "pp"),
    (CHANNELS, OF_W % r"2 \sum_{c,t} \delta_{ct} \delta_{cd}\, x_{c,2t+k}", "x"),
    (ROWS, r"$\frac{\partial Y_{nk}}{\partial W_{ij}} = X_{ni} \delta_{jk}$, not $X_{nj} \delta_{ik}$.", "p"),
    (ROWS, r"$\frac{\partial Y_{nk}}{\partial W_{ij}} = X_{nj} \delta_{ik}$.", "x"),
    (ROWS, r"$\frac{\partial L}{\partial W_{ij}} = \sum_n X_{ni} \delta_{nj}$.", "p"),
    (SQUARE, r"$\frac{\partial Y_{nk}}{\partial X_{mi}} = [n = m] W_{ik}$.", "-"),  # m is an extent
    # numbers at the end of a chain
    (NUMBERS, r"$$y = Wx + b = \begin{pmatrix} 5 \\ -1 \end{pmatrix}$$ $$\frac{\partial L}{\partial x} = W^\top (y - t) ="
              r" \begin{pmatrix} 2 \\ 6 \end{pmatrix}$$", "pppp"),
    (NUMBERS, r"$$\frac{\partial L}{\partial x} = W^\top (y - t) = \begin{pmatrix} -2 \\ 2 \end{pmatrix}$$", "px"),
    (NUMBERS, r"$$\frac{\partial L}{\partial x} = W (y - t) = (2, 6)^\top.$$", "xp"),
    (NUMBERS, r"$$\frac{\partial L}{\partial W} = (y - t) x^\top = \begin{pmatrix} 4 & 2 \\ -4 & -2 \end{pmatrix}$$", "pp"),
    # no gradient comes from where no output is
    (MEAN, SUM % ("i-2", "i"), "p"), (MEAN, SUM % ("i-1", "i"), "x"), (MEAN, SUM % ("i-2", "i+1"), "x"),
    (MEAN, SUM % (r"\max(0, i-2)", r"\min(i, n-3)"), "p"), (MEAN, SUM % ("i-50", "i"), "x"),
    # cases in one line, and in one sentence
    (ELU, OF_A % r"e^{s_k} - 1 \text{ for } s_k \le 0 \text{ and } 0 \text{ otherwise.}", "p"),
    (ELU, OF_A % r"e^{s_k} - 1 \text{ if } s_k \le 0, \text{ else } 0", "p"),
    (ELU, OF_A % r"e^{s_k} - 1 \text{ if } s_k > 0, \quad 0 \text{ otherwise}", "x"),
    (MEAN, f"If $k \\le i \\le k + 2$, then ${OF_K} \\frac13$, otherwise ${OF_K} 0$.", "pp"),
    (MEAN, f"If $x_i$ lies in the window, i.e. $k \\le i \\le k + 2$, then ${OF_K} \\frac13$, else ${OF_K} \\frac13$.", "p-"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(question, text, signs)
