"""Steps of derivations as people write them: chains, displays that go on, facts about functions, sums that are missing."""

import pytest

import derive
from tests.check.verdicts import agree

QUESTIONS = {
    "dense": r"A layer computes $s_k = \sum_{j=1}^n W_{kj} x_j + b_k$ and $y_k = \sigma(s_k)$ with"
             r" $\sigma(z) = 1/(1+e^{-z})$. Derive $\partial L/\partial x_j$ given $\delta_k = \partial L/\partial y_k$.",
    "soft": r"A layer computes $z_k = \sum_{j=1}^n W_{kj} x_j + b_k$ and $y_k = \ln(1+e^{z_k})$. Derive"
            r" $\partial L/\partial x_j$ given $\delta_k = \partial L/\partial y_k$.",
    "conv": r"A convolution: $y_k = \sum_{a=0}^{2} w_a x_{k+a}$, $\delta_k=\partial L/\partial y_k$. Derive the messages.",
    "class": r"A classifier computes $p_k = \frac{e^{z_k}}{\sum_m e^{z_m}}$ and the loss $L = -\sum_k t_k \log p_k$ with a"
             r" one-hot target $t$. Derive $\partial L/\partial z_k$.",
    "pool": r"Max pooling with a $2\times 2$ kernel and stride 2: $y_{kl} = \max_{(i,j)\in\Omega(k,l)} x_{ij}$. Derive the"
            r" backward message for an upstream gradient $\delta_{kl} = \partial L/\partial y_{kl}$.",
    "numbers": r"A layer computes $y_i = \max(0, x_i) + a \min(0, x_i)$ with one learnable slope $a$. Given $g_i = \partial L/\partial"
               r" y_i$, derive $\partial L/\partial x_i$ and $\partial L/\partial a$. Evaluate both for $x = (2,-1,-3)$, $a = 0.25$,"
               r" $g = (1,2,-1)$.",
    "prelu": r"A layer computes $y_k = \max(s_k, a s_k)$ with trained slope $a$, $0<a<1$. Derive $\partial y_k/\partial s_k$.",
    "swish": r"A unit computes $y = x\,\sigma(\beta x)$ with $\sigma(z)=\frac{1}{1+e^{-z}}$ and a trainable $\beta$. Derive"
             r" $\partial y/\partial x$.",
    "hinge": r"Hinge loss $L = \max(0, 1 - t y)$ with $y = \sum_i w_i x_i + b$ and $t \in \{-1, 1\}$. Find"
             r" $\partial L/\partial w_i$.",
    "leaky": r"A linear layer $s = \sum_i w_i x_i$ is followed by $y = s$ for $s \ge 0$, $y = 0.1 s$ for $s < 0$, and the loss"
             r" $\ell = (y-t)^2$. Derive $\frac{\partial\ell}{\partial w_i}$.",
    "ce": r"Softmax with cross-entropy: $p_k = e^{z_k} / \sum_j e^{z_j}$, $L = -\sum_k t_k \ln p_k$, where $\sum_k t_k = 1$."
          r" Compute the gradient of $L$ with respect to $z$.",
    "hot": r"A network computes $a = W x + b$, $p = \mathrm{softmax}(a)$ and the loss $\ell = -\log p_c$ for the correct class"
           r" $c$, with $W \in \mathbb{R}^{K\times n}$ and $x\in\mathbb{R}^n$. Derive the gradients of $\ell$ with respect to"
           r" $a$, $W$, $b$ and $x$.",
    "deep": r"Let $h = \tanh(W_1 x + b_1)$, $\hat y = w_2^\top h + b_2$ and $L = \frac12(\hat y - y)^2$ where $W_1 \in"
            r" \mathbb{R}^{m \times n}$, $x \in \mathbb{R}^n$, $w_2 \in \mathbb{R}^m$. Compute the gradient with respect to all"
            r" parameters.",
    "elu": r"An ELU layer computes $y_k = \begin{cases} x_k & x_k > 0 \\ e^{x_k} - 1 & x_k \le 0\end{cases}$. Derive"
           r" $\partial y_k / \partial x_k$.",
}
ERROR = (r"Let $e = \hat y - y$ and $z = W_1 x + b_1$. $$\delta = \frac{\partial L}{\partial z} = e\, w_2 \odot (1 - h \odot h)$$"
         r" $$\frac{\partial L}{\partial W_1} = \delta x^\top, \quad \frac{\partial L}{\partial x} = W_1 \delta$$")
OF_S, OF_X = r"\frac{\partial y_k}{\partial s_k} = a %s (1-a) [s_k > 0]", r"\frac{\partial y}{\partial x} = "
SLOPE, DX = r"\frac{\partial y_k}{\partial s_k} = ", r"\frac{\partial L}{\partial x_j} = "
IN_CLASS = r"\frac{\partial L}{\partial z_j} = p_j - [j = c]"
# for each link: p is proved or tested, x refuted, - not read, d a definition
SAID = [
    ("dense", f"${SLOPE} y_k (1 + y_k) = y_k + y_k^2$", "x-"),  # right as a step, wrong of the left side
    ("dense", f"${SLOPE} y_k (1 + y_k) = 3 y_k$", "xx"),
    ("dense", f"${SLOPE} y_k (1 - y_k) = y_k - y_k^2$", "pp"),
    ("dense", f"$$ {SLOPE} y_k (1 - y_k) $$\n$$ = y_k - y_k^2 $$", "pp"),
    ("dense", f"$$ {SLOPE} y_k (1 - y_k) $$\n$$ = y_k + y_k^2. $$", "px"),
    ("dense", rf"$$ \boxed{{{SLOPE} y_k (1 - y_k)}}, \qquad \boxed{{\frac{{\partial L}}{{\partial s_k}} = \delta_k y_k}} $$",
     "px"),
    ("dense", r"$\frac{d\sigma}{dz} = \frac{e^{-z}}{(1+e^{-z})^2} = \sigma(z)(1-\sigma(z))$", "pp"),
    ("dense", r"$\frac{d}{dz} \sigma(z) = \sigma(z)(1 + \sigma(z))$ and $\frac{d}{dq} \sqrt{q} = \frac1q$", "xx"),
    ("dense", r"$\tanh'(s) = 1 - \tanh^2(s)$, but not $\tanh'(u) = 1 - \tanh(u)$; $\cos'(x) = \sin(x)$", "p-x"),
    ("dense", r"$\frac{d}{dv} \max(0, v) = v$, $\frac{d}{dv} \max(0, v) = [v > 0]$", "xp"),
    ("soft", r"With the logistic sigmoid, $\frac{\partial y_k}{\partial z_k} = \frac{1}{1 + e^{-z_k}} = \sigma(z_k)$.", "pp"),
    ("soft", r"With the logistic sigmoid, $\frac{\partial y_k}{\partial z_k} = 1 - \sigma(z_k)$.", "x"),
    ("soft", r"We have $\frac{\partial y_k}{\partial z_k} = \sigma(z_k)$.", "-"),  # nothing says what σ is
    ("dense", f"${DX} \\delta_k y_k (1 - y_k) W_{{kj}}$", "x"),
    ("dense", f"For each neuron $k$: ${DX} y_k W_{{kj}}$", "x"),
    ("dense", f"Summed over repeated indices, ${DX} \\delta_k y_k (1 - y_k) W_{{kj}}$", "-"),
    ("dense", f"With Einstein's convention.\n\nThus ${DX} \\delta_k y_k (1 - y_k) W_{{kj}}$", "-"),
    ("dense", f"For one term, ${DX} \\delta_k y_k (1 - y_k) W_{{kj}}$", "-"),
    ("dense", r"Let $y_k = \sigma(s_k)$. The gradient $\frac{\partial L}{\partial b_k}$ is $$ = \delta_k y_k (1 - y_k) $$", "pp"),
    ("conv", r"$\frac{\partial L}{\partial w_a} = \delta_k x_{k+a}$", "x"),
    ("class", f"Let $c$ be the correct class. ${IN_CLASS}$.\n\nWe conclude that ${IN_CLASS}$.", "--"),
    ("class", r"Here $L = -\log p_c$, where $c$ is the label. So $\frac{\partial L}{\partial p_c} = -1/p_c$.", "--"),
    ("pool", r"$\frac{\partial L}{\partial x_{ij}} = \begin{cases} \delta_{kl} & x_{ij} = y_{kl} \\"
             r" 0 & \text{otherwise} \end{cases}$", "-"),  # which window (k, l) is, it does not say
    ("prelu", f"For all $k = 1, \\dots, K$, ${OF_S % '+'}$.", "p"), ("prelu", f"${OF_S % '+'}$ for $0 \\le k < K$.", "p"),
    ("prelu", f"For all $k = 1, \\dots, K$, ${OF_S % '-'}$.", "x"),
    ("swish", rf"Special case $\beta = 0$: ${OF_X} \frac12$.", "p"), ("swish", rf"At $x = 0$, ${OF_X} \frac13$.", "x"),
    ("hinge", r"For $t y > 1$, $L = 0$ and $\frac{\partial L}{\partial y} = 0$; for $t y < 1$, $\frac{\partial L}{\partial y}"
              r" = t$.", "ppx"),
    ("leaky", "- $\\frac{\\partial y}{\\partial s} = 1$ when $s$ is positive,\n- $\\frac{\\partial s}{\\partial w_i} = w_i$.",
     "px"),
    ("hot", r"With the one-hot vector $e_c$, $\ell = -a_c + \log \sum_k e^{a_k}$, $\nabla_b \ell = p - e_c$ and"
            r" $\nabla_x \ell = W (p - e_c)$.", "pp-"),
    ("hot", r"Since $\ell = -a_c + \log \sum_k e^{a_k}$, $\nabla_b \ell = e_c - p$.", "px"),
    ("deep", ERROR, "pppx"),  # a wrong equation says nothing of the shapes of letters
    ("deep", r"Let $z = W_1 x + b_1$. $\frac{\partial L}{\partial z} = (\hat y - y)\, w_2 \odot \tanh'(z)$, not"
             r" $\frac{\partial h}{\partial z} = 1$.", "p-"),
    ("deep", r"Let $z = W_1 x + b_1$. $\frac{\partial L}{\partial z} = (\hat y - y)\, w_2 \odot \tanh'(h)$.", "x"),
    ("deep", r"$\frac{\partial L}{\partial b_1} = (\hat y - y)\, w_2 \odot \tanh^{\prime}(W_1 x + b_1)$.", "p"),
    ("elu", r"* **Case 1** ($x_k > 0$): $\frac{\partial y_k}{\partial x_k} = 1$."
            "\n" r"* **Case 2** ($x_k \le 0$): $\frac{\partial y_k}{\partial x_k} = y_k$.", "px"),
    ("numbers", r"$\frac{\partial L}{\partial a} = 2\cdot(-1) + (-1)\cdot(-3) = 1$, $\frac{\partial L}{\partial x} = (1,\; 0.5,\;"
                r" -0.25)$; $\frac{\partial L}{\partial x} = (1,\; 0.5,\; 0.25)$.", "pppx"),
    ("ce", r"After simplification, $\frac{\partial L}{\partial z_i} = t_i - p_i$.", "x"),
    ("ce", r"Let $z = (0, 0)$, $t = (1, 0)$. Then $p = (\tfrac12, \tfrac12)$ and $\nabla_z L = (-\tfrac12, \tfrac{1}{2})$.", "pp"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "signs"), SAID)
def test_verdicts(question: str, text: str, signs: str) -> None:
    agree(QUESTIONS[question], text, signs)


def test_a_missing_sum_is_named_and_what_follows_in_a_chain_is_told() -> None:
    card = derive.Card.parse(f"---\nid: a\n---\n\n# Question\n{QUESTIONS['dense']}\n")
    text = f"${DX} \\delta_k y_k (1 - y_k) W_{{kj}}$.\n\n${SLOPE} y_k (1 + y_k) = y_k + y_k^2$"
    lost, wrong, behind = derive.check(card, text=text).checks
    assert lost.mistake == "the sum is missing"
    assert (wrong.follows, behind.follows) == (None, 3)


@pytest.mark.parametrize(("text", "status"), [
    (r"For $s_k > 0$, $\frac{\partial y_k}{\partial s_k} = 1$.", "missing"),
    (r"If $s_k > 0$, $\frac{\partial y_k}{\partial s_k} = 1$, otherwise $\frac{\partial y_k}{\partial s_k} = a$.", "given"),
    (f"For $k = 1, \\dots, K$, ${OF_S % '+'}$.", "given"),
])  # fmt: skip
def test_one_case_of_a_derivative_does_not_give_it(text: str, status: str) -> None:
    card = derive.Card.parse(f"---\nid: a\n---\n\n# Question\n{QUESTIONS['prelu']}\n")
    assert [a.status for a in derive.check(card, text=text).asked] == [status]
