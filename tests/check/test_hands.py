r"""Spellings of solutions by many hands: each of them is read, and a mistake in it is found."""

import pytest

from tests.check.verdicts import agree

HARD = r"Hard tanh: $$f(x) = \begin{cases} -1 & x < -1 \\ x & -1 \le x \le 1 \\ 1 & x > 1\end{cases}$$ Derive $f'$."
SWISH = r"Let $h(x) = x\,\frac{r(x + 3)}{6}$ with $r(z) = \min(\max(z, 0), 6)$. What is $h'(x)$?"
UNITS = (r"Units compute $a_j = \sum_{i=1}^{D} w_{ji} x_i + w_{j0}$, $z_j = \tanh(a_j)$ with weights $w_{ji}$ and biases $w_{j0}$."
         r" Find $\frac{\partial z_j}{\partial x_i}$, $\frac{\partial z_j}{\partial w_{ji}}$, $\frac{\partial z_j}{\partial w_{j0}}$.")
FORM = (r"A triple has the score $s = e^\top R\, o$ with $e \in \mathbb{R}^m$, $R \in \mathbb{R}^{m\times n}$, $o \in \mathbb{R}^n$."
        r" Give $\frac{\partial s}{\partial e}$.")
CONV = r"A convolution computes $y_k = \sum_{a=0}^{A-1} w_a x_{k+a} + b$ with trainable $w$, $b$. Derive the messages."
NET = (r"A network computes $z_m = \sum_d W_{md} x_d$, $h_m = \tanh(z_m)$, $y = \sum_m v_m h_m$, $E = \frac12 (y - t)^2$ with target"
       r" $t$. Compute $\frac{\partial E}{\partial W_{md}}$.")
NEURON = (r"A neuron computes $s = \sum_{i=1}^n w_i x_i + b$, $y = \frac{1}{1 + e^{-s}}$, $\ell = -t \log y - (1 - t) \log(1 - y)$,"
          r" $t \in \{0, 1\}$. Derive $\frac{\partial \ell}{\partial w_i}$.")
ELU = r"ELU: $f(x) = x$ if $x > 0$ and $f(x) = \alpha(e^x - 1)$ otherwise, with a fixed $\alpha > 0$. Derive $f'(x)$."
RELU = r"A layer computes $s_k = \sum_j w_{kj} x_j$, $y_k = \max(0, s_k)$. Derive $\frac{\partial y_k}{\partial x_i}$."
SLOPES = (r"For $x < -1$ we have $f'(x) = 0$, for $-1 < x < 1$ we have $f'(x) = 1$ and for $x > 1$, $f'(x) = {}$.")
CASES = r"""- If $s_k > 0$, then $\frac{\partial y_k}{\partial x_i} = w_{ki}$.
- If $s_k = 0$, there is no derivative.

Altogether $\frac{\partial y_k}{\partial x_i} = \mathbb{1}[s_k OP 0]\, w_{ki}$."""
SAID = [  # p: proved or tested, x: refuted, -: not read
    (HARD, SLOPES.replace("{}", "0"), "ppp"), (HARD, SLOPES.replace("{}", "1"), "ppx"),  # x of f'(x) is no index
    (SWISH, r"Away from $x = -3$ and $x = 3$ it is smooth. For $x < -3$ we have $h(x) = 0$, for $x > 3$, $h(x) = x$.", "pp"),
    (UNITS, r"$\frac{\partial z_j}{\partial w_{j0}} = 1 - z_j^2$, $\frac{\partial a_j}{\partial w_{j0}} = 0$", "px"),
    (FORM, r"$s = \sum_{i=1}^m \sum_{j=1}^n e_i R_{ij} o_j$, $s = \sum_{i=1}^m \sum_{j=1}^n e_i R_{ij} e_i$", "px"),
    (CONV, r"With $\delta_k = \frac{\partial L}{\partial y_k}$, $\delta_{i-a} = 0$ beyond." "\n\n" r"We get $\frac{\partial L}{"
           r"\partial w_a} = \sum_k \delta_k x_{k+a}$ and $\frac{\partial L}{\partial b} = 2 \sum_k \delta_k$.", "px"),
    (NET, r"$$\frac{\partial E}{\partial y} = y - t, \quad \frac{\partial E}{\partial z_m} = (y - t)\, v_m (1 - h_m^2) =: \delta_m$$"
          r" $\frac{\partial E}{\partial W_{md}} = \delta_m x_d$, $\frac{\partial E}{\partial W_{md}} = \delta_d x_m$", "pppx"),
    (NEURON, r"$w = (1, -1)$, $x = (2, 1)$, $b = 0$, $t = 1$ give $s = 1$ and $\frac{\partial \ell}{\partial w} \approx (-0.538,"
             r" -0.269)$, not $\frac{\partial \ell}{\partial b} \approx (-0.269)$; $\frac{\partial \ell}{\partial w} \approx (-0.269,"
             r" -0.269)$.", "pp-x"),
    (ELU, r"For $x < 0$, $f'(x) = \alpha e^x = f(x) - \alpha$. At $x = 0$ there is a kink.", "px"),
    (HARD, r"Equivalently, $f'(x) = \mathbb{1}[|x| > 1]$ away from the kinks. It has none at $x = \pm 1$.", "x"),
    (HARD, r"Equivalently, $f'(x) = \mathbb{1}[|x| < 1]$ away from the kinks. It has none at $x = \pm 1$.", "p"),
    (RELU, "At $s_k = 0$ we pick $0$.\n\nb) " + CASES.rpartition("\n")[2].replace("OP", "<") + "\n\n(c) If $s_k = 0$, no.", "x"),
    (RELU, r"Only the term of $x_i$ survives, hence $\frac{\partial s_k}{\partial x_i} = w_{ik}$.", "x"),
    (RELU, r"The first term is therefore $\frac{\partial s_k}{\partial x_i} = w_{ik}$.", "-"),
    (NET, r"$h = \tanh(z)$, $\frac{\partial E}{\partial z} = (y - t)\, \mathrm{diag}(1 - h^2)\, v$, $\frac{\partial E}{\partial z}"
          r" = (y - t)\, \mathrm{diag}(1 + h^2)\, v$", "ppx"),
    (FORM, r"$\frac{\partial s}{\partial e_i} = \sum_j R_{ij} o_j = (R o)_i$, $\frac{\partial s}{\partial o_j} = (R^\top e)_j$,"
           r" $\frac{\partial s}{\partial e_i} = (R^\top o)_i$.", "pppx"),
    (NEURON, r"$w_i \leftarrow w_i - \eta (y - t) x_i$, $w_i \leftarrow w_i - \eta (y - t) w_i$, $b \gets b - \eta \frac{\partial"
             r" \ell}{\partial b}$.", "p-"),
    (NEURON, r"Let $u = t s$. Then $\frac{\partial \ell}{\partial b} = y$. With $t = 0$ we have $\frac{\partial \ell}{\partial b}"
             r" = y$.", "xp"),
    (RELU, CASES.replace("OP", ">"), "pp"), (RELU, CASES.replace("OP", "<"), "px"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(question, text, signs, ("proved", "tested", "off ties"))
