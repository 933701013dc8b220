"""Worked examples: what is computed at the numbers that a solution gives; conditions that are equations."""

import pytest

import derive

LINEAR = (r"A layer computes $y = W x + b$ with $W \in \mathbb{R}^{K \times n}$, $x \in \mathbb{R}^n$. "
          "Derive the backward message and the parameter messages.")
NEURON = r"A neuron computes $s = w x + b$ and $y = \tanh(s)$. Derive the backward message."
HINGE = (r"The loss is $\ell = \max(0, m - D)$ with $D = \sum_i (u_i - v_i)^2$ and the constant $m > 0$. "
         r"Derive $\frac{\partial \ell}{\partial u_i}$.")
NUMBERS = (r"Let $x = \begin{pmatrix} 2 & 3 \end{pmatrix}$, $W = \begin{pmatrix} 1 & 0 \\ 2 & -1 \end{pmatrix}$, "
           r"$b = \begin{pmatrix} 1 & 1 \end{pmatrix}$ and $\delta_y = \begin{pmatrix} 1 & 2 \end{pmatrix}$." "\n\n")
ASKED = NEURON + " What is it for $w = 1$, $x = 2$ and $b = -2$?"
SAID = [
    (ASKED, r"$\frac{\partial y}{\partial x} = 1$", "proved"),
    (ASKED, r"$\frac{\partial y}{\partial x} = 2$", "refuted"),
    (LINEAR, NUMBERS + r"$y = \begin{pmatrix} 3 & 2 \end{pmatrix}$", "proved"),
    (LINEAR, NUMBERS + r"$y = \begin{pmatrix} 3 & 3 \end{pmatrix}$", "refuted"),
    (LINEAR, NUMBERS + r"$\delta_x = \begin{pmatrix} 5 & -2 \end{pmatrix}$", "proved"),
    (LINEAR, NUMBERS + r"$\delta_x = \begin{pmatrix} 5 & 2 \end{pmatrix}$", "refuted"),
    (LINEAR, NUMBERS.replace(r"\delta_y", r"\frac{\partial L}{\partial y}") +
     r"$\frac{\partial L}{\partial b} = \begin{pmatrix} 1 & 2 \end{pmatrix}$", "proved"),
    (LINEAR, NUMBERS.partition(" and ")[0] + ".\n\n" + r"$\delta_b = \begin{pmatrix} 1 & 2 \end{pmatrix}$", "not read"),
    (LINEAR, NUMBERS + r"$\frac{\partial y}{\partial x} = \begin{pmatrix} 1 & 0 \\ 2 & -1 \end{pmatrix}$", "proved"),
    (LINEAR, NUMBERS + r"$\frac{\partial y}{\partial x} = \begin{pmatrix} 1 & 2 \\ 0 & -1 \end{pmatrix}$", "refuted"),
    (LINEAR, NUMBERS + r"$\frac{\partial y}{\partial x} = \begin{pmatrix} 1 & 0 \end{pmatrix}$", "not read"),
    (LINEAR, NUMBERS + r"$\frac{\partial y_0}{\partial x} = \begin{pmatrix} 1 & 0 \end{pmatrix}$", "proved"),
    (LINEAR, NUMBERS + r"$\frac{\partial y_2}{\partial x_1} = 2$", "proved"),  # no range says where it begins
    (NEURON, "Let $w = 1$, $x = 2$ and $b = -1$.\n\n$y = 0.7616$", "tested"),
    (NEURON, "Let $w = 1$, $x = 2$ and $b = -1$.\n\n$y = 0.7617$", "not read"),  # rounded on the way?
    (NEURON, "Let $w = 1$, $x = 2$ and $b = -1$.\n\n$y = 0.85$", "refuted"),
    (NEURON, "Let $w = 1$, $x = 2$ and $b = -2$.\n\n$y = 0$", "proved"),
    (NEURON, "Let $w = 1$, $x = 2$ and $b = -2$. Let $x = 3$.\n\n$y = 0$", "refuted"),
    (HINGE, r"$\frac{\partial \ell}{\partial D} = -[D < m]$. The slope jumps where $m - D = 0$.", "proved"),
    (HINGE, r"$\frac{\partial \ell}{\partial D} = [D < m]$. The slope jumps where $m - D = 0$.", "refuted"),
    (HINGE, r"$\frac{\partial \ell}{\partial D} = -[D < m] + 5 [D = m]$", "off ties"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "verdict"), SAID)
def test_numbers_and_boundaries(question: str, text: str, verdict: str) -> None:
    card = derive.Card.parse(f"---\nid: example\n---\n\n# Question\n{question}\n")
    found, = derive.check(card, text=text).checks
    assert found.verdict == verdict, found


def test_one_number_is_no_answer() -> None:
    """What holds at the numbers of an example does not give the derivative that is asked for."""
    card = derive.Card.parse(f"---\nid: example\n---\n\n# Question\n{NEURON}\n")
    report = derive.check(card, text=r"Let $w = 1$, $x = 2$, $b = -2$. Then $\frac{\partial y}{\partial x} = 1$.")
    assert report.ok
    assert report.missing


GATES = (r"A gated unit computes $f_k = \sigma(\sum_j W_{f,kj} x_j)$, $g_k = \tanh(\sum_j W_{g,kj} x_j)$ and $y_k = f_k g_k$ "
         r"with $\sigma(u) = \frac{1}{1 + e^{-u}}$ and trainable $W_f$, $W_g$. Derive the parameter messages.")
POOL = (r"A max pooling layer with $2 \times 2$ windows and stride 2 computes "
        r"$f_{kl} = \max_{(i,j) \in \Omega(k,l)} x_{ij}$. Derive the backward message.")
WINDOW = (r"Let $z_1 = x_{2k,2l}$, $z_2 = x_{2k,2l+1}$, $z_3 = x_{2k+1,2l}$, $z_4 = x_{2k+1,2l+1}$. Then "
          r"$f = \max(z_1, z_2, z_3, z_4)$ and $\frac{\partial f}{\partial z_q} = ")
OTHERS = [
    (GATES, r"$\delta_{W_f,kj} = \delta_{f,k} f_k (1 - f_k) x_j$", ["proved"]),
    (GATES, r"$\delta_{W_f,kj} = \delta_{f,k} g_k (1 - g_k) x_j$", ["refuted"]),
    (POOL, WINDOW + r"[z_q > \max_{r \ne q} z_r]$.", ["proved", "proved"]),
    (POOL, WINDOW + r"[z_q < \max_{r \ne q} z_r]$.", ["proved", "not read"]),
    (POOL, WINDOW.replace("2k+1,2l}", "2k+2,2l}") + r"[z_q > \max_{r \ne q} z_r]$.", ["not read", "not read"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "verdicts"), OTHERS)
def test_letters_of_letters_and_of_one_window(question: str, text: str, verdicts: list[str]) -> None:
    card = derive.Card.parse(f"---\nid: example\n---\n\n# Question\n{question}\n")
    assert [c.verdict for c in derive.check(card, text=text).checks] == verdicts


CHAIN = r"Let $p = \sigma(a) = \frac{1}{1 + e^{-a}}$. Derive $\frac{\partial p}{\partial a}$."
OWN = r"The activation is $f(x) = x$ for $x > 0$ and $f(x) = e^x - 1$ for $x \le 0$. Derive $f'(x)$."
SCORES = r"A layer computes $a_i = \frac{\exp(e_i)}{\sum_j \exp(e_j)}$. Derive $\frac{\partial a_i}{\partial e_j}$."
CELL = r"The cell computes $c = f c' + i g$ and $h = o \tanh(c)$. Derive $\frac{\partial h}{\partial c'}$."
CALLED = [
    (CHAIN, r"$\sigma'(a) = \sigma(a) (1 - \sigma(a))$", "proved"), (CHAIN, r"$\sigma'(a) = \sigma(a)$", "refuted"),
    (OWN, r"For $x \le 0$: $f'(x) = f(x) + 1$.", "proved"), (OWN, r"For $x \le 0$: $f'(x) = f(x)$.", "refuted"),
    (SCORES, r"$\frac{\partial a_i}{\partial e_j} = a_i ([i = j] - a_j)$", "proved"),
    (SCORES, r"$\frac{\partial a_i}{\partial e_j} = a_i ([i = j] - e_j)$", "refuted"),
    (CELL, r"$\frac{\partial h}{\partial c'} = o f (1 - \tanh^2(c))$", "proved"),
    (CELL, r"$\frac{\partial h}{\partial c'} = o f (1 - \tanh^2(c'))$", "refuted"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "verdict"), CALLED)
def test_letters_that_are_written_as_functions_numbers_and_derivatives(question: str, text: str, verdict: str) -> None:
    card = derive.Card.parse(f"---\nid: example\n---\n\n# Question\n{question}\n")
    found, = derive.check(card, text=text).checks
    assert found.verdict == verdict, found


POOLING = (r"Average pooling computes $f_{kl} = \frac{1}{|\Omega(k,l)|} \sum_{(i,j) \in \Omega(k,l)} x_{ij}$. "
           "Derive the backward message.")
OPEN = [
    (r"$\frac{\partial f_{kl}}{\partial x_{ij}} = \frac{1}{|\Omega(k,l)|} [(i,j) \in \Omega(k,l)]$", "proved"),
    (r"$\frac{\partial f_{kl}}{\partial x_{ij}} = \frac{1}{4} [(i,j) \in \Omega(k,l)]$", "refuted"),
    (r"For $2 \times 2$ windows: $\frac{\partial f_{kl}}{\partial x_{ij}} = \frac{1}{4} [(i,j) \in \Omega(k,l)]$",
     "not read"),
    (r"$\frac{\partial f_{kl}}{\partial x_{ij}} = x_{ij} [(i,j) \in \Omega(k,l)]$", "refuted"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "verdict"), OPEN)
def test_a_pooling_without_a_geometry_is_judged_over_several(text: str, verdict: str) -> None:
    card = derive.Card.parse(f"---\nid: example\n---\n\n# Question\n{POOLING}\n")
    found, = derive.check(card, text=text).checks
    assert found.verdict == verdict, found


def test_counterexamples_are_small() -> None:
    card = derive.Card.parse("---\nid: example\n---\n\n# Question\nLet $y_k = \\max(s_k, a s_k)$ with trainable $a$. "
                             "Derive the backward message.\n")
    found, = derive.check(card, text=r"$\frac{\partial y_k}{\partial s_k} = [s_k > 0] + a [s_k \le 0]$").checks
    assert str(found.counterexample).endswith("s = [1, 1], a = 2: 2 and 1 differ")


def test_targets_of_a_counterexample_are_one_hot() -> None:
    question = (r"Let $p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}$ and $L = -\sum_i t_i \log p_i$ with $\sum_i t_i = 1$. "
                r"Derive $\partial L/\partial z_i$.")
    card = derive.Card.parse(f"---\nid: example\n---\n\n# Question\n{question}\n")
    found, = derive.check(card, text=r"$\frac{\partial L}{\partial z_i} = t_i - p_i$").checks
    assert "t = [0, 1]" in str(found.counterexample) or "t = [1, 0]" in str(found.counterexample)


def test_numbers_that_the_question_gives_hold_for_the_solution() -> None:
    question = (r"Consider the softmax $p_k = \frac{e^{z_k}}{\sum_{j=1}^{3} e^{z_j}}$ with $\ell = -\sum_{k=1}^3 t_k \log p_k$, "
                r"where $\sum_k t_k = 1$. For $z = (0, 0, 0)$ and $t = (1, 0, 0)$ compute $p$ and "
                r"$\frac{\partial \ell}{\partial z}$.")
    right = r"$\frac{\partial \ell}{\partial z_2} = \frac{\partial \ell}{\partial z_3} = \frac{1}{3}$"
    card = derive.Card.parse(f"---\nid: a\n---\n\n# Question\n{question}\n\n---\n# Solution\n{right}\n", "a.md")
    assert [str(c.verdict) for c in derive.check(card).checks] == ["not read", "proved"]
    wrong = derive.check(card, text=right.replace(r"\frac{1}{3}$", r"-\frac{1}{3}$"))
    assert "refuted" in [str(c.verdict) for c in wrong.checks]
