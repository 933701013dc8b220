"""Words and conditions beside equations: none that is right in its sentence is refuted, none that is wrong accepted."""

import pytest

import derive

QUESTIONS = {
    "relu": r"A layer computes $y_k = \max(0, s_k)$. Derive the backward message.",
    "prelu": r"A layer computes $y_k = \max(s_k, a s_k)$ with trainable $a$. Derive the backward and "
            r"parameter messages.",
    "lin": r"A layer computes $y_k = \sum_{j=1}^{n} W_{kj} x_j + b_k$ with trainable $W$, $b$. Derive "
            r"the backward and parameter messages.",
    "loss": r"Let $\ell = \sum_{k=1}^{n} (y_k - t_k)^2$ with target $t$. Derive $\frac{\partial \ell}{\partial y_k}$.",
    "soft": r"A layer computes $p_i = \frac{e^{z_i}}{\sum_{j=1}^n e^{z_j}}$. Derive the backward message.",
    "mse": r"A model predicts $\hat{y} = \sum_j w_j x_j$. The loss is $\ell = \frac{1}{2} (\hat{y} - "
            r"y)^2$ with target $y$. Derive the gradient with respect to $w_j$.",
    "pool": r"A max pooling layer with $2 \times 2$ windows and stride 2 computes $f_{kl} = "
            r"\max_{(i,j) \in \Omega(k,l)} x_{ij}$. Derive the backward message.",
    "mse_n": r"The loss is $\ell = \frac{1}{N} \sum_{n=1}^{N} (p_n - t_n)^2$ with targets $t_n$. Derive "
            r"$\frac{\partial \ell}{\partial p_n}$.",
    "sig": r"A layer computes $y = \sigma(w x + b)$ with $\sigma(u) = \frac{1}{1 + e^{-u}}$ and "
            r"trainable $w$, $b$. Derive $\frac{\partial y}{\partial w}$.",
}
# for each equation: r is not refuted, w is not accepted, - is either
SAID = [
    ("relu", r"On the positive side the function is the identity, so $\frac{\partial y_k}{\partial s_k} = "
     r"1$ there.", "r"),
    ("relu", r"Active units have $\frac{\partial y_k}{\partial s_k} = 1$; inactive ones have "
     r"$\frac{\partial y_k}{\partial s_k} = 0$.", "rr"),
    ("relu", r"If the input is positive, $\frac{\partial y_k}{\partial s_k} = 1$, otherwise $\frac{\partial "
     r"y_k}{\partial s_k} = 0$.", "rr"),
    ("relu", r"We have $\frac{\partial y_k}{\partial s_k} = 1$ whenever the unit fires and $\frac{\partial "
     r"y_k}{\partial s_k} = 0$ when it does not.", "rr"),
    ("relu", r"For $s_k < 0$ we get $\frac{\partial y_k}{\partial s_k} = 1$ and for $s_k > 0$ we get "
     r"$\frac{\partial y_k}{\partial s_k} = 0$.", "ww"),
    ("relu", r"We get $\frac{\partial y_k}{\partial s_k} = 1$ for $s_k < 0$ and $\frac{\partial "
     r"y_k}{\partial s_k} = 0$ for $s_k > 0$.", "ww"),
    ("relu", r"We get $\frac{\partial y_k}{\partial s_k} = 1$ for $s_k > 0$ and $\frac{\partial "
     r"y_k}{\partial s_k} = 0$ for $s_k < 0$.", "rr"),
    ("relu", r"$\frac{\partial y_k}{\partial s_k} = 1$ if $s_k > 0$, else $\frac{\partial y_k}{\partial "
     r"s_k} = 0$.", "rr"),
    ("relu", r"$\frac{\partial y_k}{\partial s_k} = 1$ unless $s_k \le 0$.", "r"),
    ("relu", r"$\frac{\partial y_k}{\partial s_k} = 1$ unless $s_k > 0$.", "w"),
    ("relu", r"Where $s_k$ is positive: $\frac{\partial y_k}{\partial s_k} = 1$.", "r"),
    ("relu", r"At $s_k = 2$ the slope is $\frac{\partial y_k}{\partial s_k} = 1$.", "r"),
    ("relu", r"At $s_k = 0$ we choose $\frac{\partial y_k}{\partial s_k} = 0$.", "r"),
    ("relu", r"At $s_k = 0$ we choose $\frac{\partial y_k}{\partial s_k} = \frac{1}{2}$.", "r"),
    ("relu", r"The derivative is $\frac{\partial y_k}{\partial s_k} = [s_k > 0]$, except that we set it to "
     r"5 at zero.", "-"),
    ("relu", r"It is tempting to write $\frac{\partial y_k}{\partial s_k} = 1$, but this is wrong.", "-"),
    ("relu", r"A common error is $\frac{\partial y_k}{\partial s_k} = s_k$.", "r"),
    ("relu", r"Students often write $\frac{\partial y_k}{\partial s_k} = s_k$.", "r"),
    ("relu", r"$$ \frac{\partial y_k}{\partial s_k} = \begin{cases} 1 & s_k > 0 \\ 5 & s_k = 0 \\ 0 & s_k < "
     r"0 \end{cases} $$", "w"),
    ("relu", r"$$ \frac{\partial y_k}{\partial s_k} = \begin{cases} 1 & s_k > 0 \\ 0 & s_k < 0 \end{cases} $$", "r"),
    ("relu", r"$$ \frac{\partial y_k}{\partial s_k} = \begin{cases} 1 & s_k > 0.001 \\ 0 & \text{otherwise} "
     r"\end{cases} $$", "w"),
    ("relu", r"$$ \frac{\partial y_k}{\partial s_k} = \begin{cases} 1 & 0 < s_k < 10^6 \\ 0 & "
     r"\text{otherwise} \end{cases} $$", "w"),
    ("prelu", r"For $0 < a < 1$ the slope is $\frac{\partial y_k}{\partial s_k} = \begin{cases} 1 & s_k > 0 "
     r"\\ a & s_k \le 0 \end{cases}$.", "r"),
    ("prelu", r"Assume $a < 1$. Then $$\frac{\partial y_k}{\partial s_k} = \begin{cases} 1 & s_k > 0 \\ a & "
     r"s_k \le 0 \end{cases}$$", "r"),
    ("prelu", r"As usual $a$ is small and positive. $$\frac{\partial y_k}{\partial s_k} = \begin{cases} 1 & "
     r"s_k > 0 \\ a & s_k \le 0 \end{cases}$$", "-"),
    ("prelu", r"$$\frac{\partial y_k}{\partial s_k} = \begin{cases} 1 & s_k > 0 \\ a & s_k \le 0 \end{cases}$$", "w"),
    ("lin", r"With a single output, $\frac{\partial y_1}{\partial x_j} = W_{1j}$.", "r"),
    ("lin", r"In vector form $\frac{\partial y}{\partial x} = W$ and $\frac{\partial L}{\partial x} = "
     r"W^\top \frac{\partial L}{\partial y}$.", "rr"),
    ("lin", r"In vector form $\frac{\partial L}{\partial x} = W \frac{\partial L}{\partial y}$.", "w"),
    ("lin", r"We have $\frac{\partial y_k}{\partial W_{ij}} = x_j$ if $i = k$ and $\frac{\partial "
     r"y_k}{\partial W_{ij}} = 0$ otherwise.", "rr"),
    ("lin", r"If the bias is dropped, $y_k = \sum_j W_{kj} x_j$.", "r"),
    ("lin", r"Ignoring the bias, $y_k = \sum_j W_{kj} x_j$ and so $\frac{\partial y_k}{\partial x_j} = "
     r"W_{kj}$.", "rr"),
    ("lin", r"For $x = 0$ the output is $y_k = b_k$.", "r"),
    ("lin", r"Without loss of generality let $b_k = 0$. Then $y_k = \sum_j W_{kj} x_j$.", "r"),
    ("lin", r"For tied weights $W_{kj} = w_j$ we have $\frac{\partial y_k}{\partial x_j} = w_j$.", "r"),
    ("lin", r"Let $n = 1$. Then $\frac{\partial y_k}{\partial x_1} = W_{k1}$.", "r"),
    ("lin", r"We count from 1: $\frac{\partial L}{\partial x_j} = \sum_{k=1}^{m} \frac{\partial "
     r"L}{\partial y_k} W_{kj}$.", "r"),
    ("lin", r"The gradient is $\frac{\partial L}{\partial x_j} = \sum_{k=2}^{m} \frac{\partial L}{\partial "
     r"y_k} W_{kj}$.", "w"),
    ("loss", r"Up to a factor, $\frac{\partial \ell}{\partial y_k} = y_k - t_k$.", "r"),
    ("loss", r"If we define the loss with a factor $\frac{1}{2}$, we get $\frac{\partial \ell}{\partial "
     r"y_k} = y_k - t_k$.", "r"),
    ("loss", r"For a perfect prediction $\frac{\partial \ell}{\partial y_k} = 0$.", "r"),
    ("loss", r"The minimum is where $\frac{\partial \ell}{\partial y_k} = 0$.", "r"),
    ("loss", r"We want to solve $\frac{\partial \ell}{\partial y_k} = 0$.", "r"),
    ("loss", r"The gradient vanishes, $\frac{\partial \ell}{\partial y_k} = 0$, if the prediction is exact.", "r"),
    ("loss", r"Let $e_k = t_k - y_k$. Then $\frac{\partial \ell}{\partial y_k} = -2 e_k$ and "
     r"$\frac{\partial \ell}{\partial e_k} = 2 e_k$.", "rr"),
    ("loss", r"Let $e_k = t_k - y_k$. Then $\frac{\partial \ell}{\partial y_k} = 2 e_k$.", "w"),
    ("soft", r"For two classes, $\frac{\partial p_1}{\partial z_1} = p_1 p_2$.", "r"),
    ("soft", r"For binary problems $\frac{\partial p_1}{\partial z_1} = p_1 p_2$ because $p_2 = 1 - p_1$.", "r-"),
    ("soft", r"On the diagonal $\frac{\partial p_i}{\partial z_j} = p_i (1 - p_i)$ and off the diagonal "
     r"$\frac{\partial p_i}{\partial z_j} = -p_i p_j$.", "rr"),
    ("soft", r"Diagonal entries: $\frac{\partial p_i}{\partial z_j} = p_i (1 - p_j)$. Other entries: "
     r"$\frac{\partial p_i}{\partial z_j} = -p_i p_j$.", "rr"),
    ("mse", r"The gradient is $\frac{\partial \ell}{\partial w_j} = (\hat{y} - y) x_j$.", "r"),
    ("mse", r"At the optimum $\frac{\partial \ell}{\partial w_j} = 0$.", "r"),
    ("mse", r"For $x_j = 1$ this is $\frac{\partial \ell}{\partial w_j} = \hat{y} - y$.", "r"),
    ("mse", r"With normalised inputs this becomes $\frac{\partial \ell}{\partial w_j} = \hat{y} - y$.", "r"),
    ("mse", r"Consider the bias weight, whose input is constant. Its derivative is $\frac{\partial "
     r"\ell}{\partial w_0} = \hat{y} - y$.", "r"),
    ("pool", r"If $x_{ij}$ is the maximum of its window, $\frac{\partial f_{kl}}{\partial x_{ij}} = 1$, "
     r"otherwise $\frac{\partial f_{kl}}{\partial x_{ij}} = 0$.", "rr"),
    ("pool", r"We have $\frac{\partial f_{kl}}{\partial x_{ij}} = 1$ for the winner and $\frac{\partial "
     r"f_{kl}}{\partial x_{ij}} = 0$ for all others.", "rr"),
    ("pool", r"For all $(i,j) \in \Omega(k,l)$, $\frac{\partial f_{kl}}{\partial x_{ij}} = 1$.", "w"),
    ("mse_n", r"Per sample the derivative is $\frac{\partial \ell}{\partial p_n} = 2 (p_n - t_n)$.", "r"),
    ("mse_n", r"For a batch of size one $\frac{\partial \ell}{\partial p_n} = 2 (p_n - t_n)$.", "r"),
    ("mse_n", r"With $N = 1$ we get $\frac{\partial \ell}{\partial p_n} = 2 (p_n - t_n)$.", "r"),
    ("mse_n", r"Therefore $\frac{\partial \ell}{\partial p_n} = 2 (p_n - t_n)$.", "w"),
    ("sig", r"Let $s = w x + b$. Then $\frac{\partial y}{\partial s} = \sigma'(s) = y (1 - y)$ and "
     r"$\frac{\partial y}{\partial w} = y (1 - y) x$.", "rrr"),
    ("sig", r"For large $s$ the derivative vanishes: $\frac{\partial y}{\partial w} = 0$.", "r"),
    ("sig", r"At the origin $\sigma'(0) = \frac{1}{4}$.", "r"),
    ("sig", r"At the origin $\sigma'(0) = \frac{1}{2}$.", "w"),
    ("sig", r"The maximum slope is $\frac{\partial y}{\partial w} = \frac{1}{4} x$.", "r"),
    ("sig", r"Near zero $\frac{\partial y}{\partial w} = \frac{x}{4}$.", "r"),
    ("sig", r"Since $\sigma(0) = \frac{1}{2}$, we get $\frac{\partial y}{\partial w} = \frac{x}{4}$ there.", "-r"),
]  # fmt: skip


D, P = r"\frac{\partial y_k}{\partial s_k}", r"\frac{\partial p_i}{\partial z_j}"
LISTS = [
    ("relu", f"1. $s_k > 0$: ${D} = 1$.\n2. $s_k < 0$: ${D} = 0$.", "rr"),
    ("relu", f"**Case $s_k > 0$.** Then ${D} = 1$.\n\n**Case $s_k < 0$.** Then ${D} = 0$.", "rr"),
    ("soft", f"| entry | value |\n|---|---|\n| $i = j$ | ${P} = p_i (1 - p_i)$ |\n| $i \\ne j$ | ${P} = -p_i p_j$ |", "rr"),
    ("soft", f"| $i = j$ | ${P} = -p_i p_j$ |\n|---|---|", "w"),
]


@pytest.mark.parametrize(("name", "text", "wanted"), (*SAID, *LISTS))
def test_what_stands_beside_an_equation_is_heeded(name: str, text: str, wanted: str) -> None:
    card = derive.Card.parse(f"---\nid: {name}\n---\n\n# Question\n{QUESTIONS[name]}\n")
    found = [str(c.verdict) for c in derive.check(card, text=text).checks]
    assert len(found) == len(wanted)
    for verdict, want in zip(found, wanted, strict=True):
        assert verdict not in {"r": ("refuted",), "w": ("proved", "tested")}.get(want, ())


ABSOLUTE = r"The loss is $\ell = |y - t|$ with target $t$. Derive $\frac{\partial \ell}{\partial y}$."


@pytest.mark.parametrize("text", [
    "Where $y = t$, it has no derivative.", "The branches meet where $y = t$.", "It has a slope unless $y = t$.",
    "At $y = t$ the slope jumps.", "If $y = t$, there is a kink.", "The branches meet where $y = t$ or $t = 0$.",
])
def test_what_words_suppose_is_no_claim(text: str) -> None:
    card = derive.Card.parse(f"---\nid: absolute\n---\n\n# Question\n{ABSOLUTE}\n")
    assert not derive.check(card, text=text).checks


HINGE = (r"The hinge loss is $\ell = \max(0, 1 - t s)$ with $s = \sum_i w_i x_i$, a label $t \in \{-1, 1\}$ and trainable $w$. "
         r"Derive $\frac{\partial \ell}{\partial w_i}$.")
LOGISTIC = (r"A logistic unit computes $p = \frac{1}{1 + e^{-s}}$ and has the loss $\ell = -t \log p - (1 - t) \log(1 - p)$ "
            r"with target $t \in \{0, 1\}$. Derive $\frac{\partial \ell}{\partial s}$.")
CROSS = (r"Let $p_k = \frac{e^{s_k}}{\sum_j e^{s_j}}$ and $\ell = -\sum_k t_k \log p_k$ with a target $t$, $\sum_k t_k = 1$. "
         r"Derive $\frac{\partial \ell}{\partial s_k}$.")
DW, DS, DK, DY = (rf"\frac{{\partial \ell}}{{\partial {x}}}" for x in ("w_i", "s", "s_k", "y"))
OTHERWISE = f"Otherwise ${DW} = -t x_i$."
APART = [
    (HINGE, f"If the margin is met, that is $t s \\ge 1$, then ${DW} = 0$. {OTHERWISE}", ["proved"] * 2),
    (HINGE, f"If the margin is met, that is $t s \\ge 1$, then ${DW} = -t x_i$. Otherwise ${DW} = 0$.", ["refuted"] * 2),
    (HINGE, f"If $t s < 1$ is violated, ${DW} = 0$.", ["not read"]),  # it is right
    (HINGE, f"If the margin is violated, $t s < 1$, then ${DW} = t x_i$.", ["refuted"]),
    (HINGE, f"If the sample is noisy, $t s < 1$, then ${DW} = t x_i$.", ["not read"]),  # who knows what noisy ones are
    (LOGISTIC, f"For a positive example, $t = 1$, we obtain ${DS} = p - 1$.", ["tested"]),
    (LOGISTIC, f"For a negative example, $t = 0$, we obtain ${DS} = 1 - p$.", ["refuted"]),
    (CROSS, f"For the true class, $t_k = 1$, it is ${DK} = p_k - 1$ and for all other classes, $t_k = 0$, it is "
            f"${DK} = p_k$.", ["tested"] * 2),
    (ABSOLUTE, f"If $y > t$ it is ${DY} = 1$, if $y < t$ it is ${DY} = -1$.", ["proved"] * 2),
    (ABSOLUTE, f"If $y > t$ it is ${DY} = -1$, if $y < t$ it is ${DY} = 1$.", ["refuted"] * 2),
    (ABSOLUTE, f"We set ${DY} = 0$ if $y = t$.", ["tested"]), (ABSOLUTE, f"We set ${DY} = 2$ if $y = t$.", ["refuted"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "verdicts"), APART)
def test_a_relation_between_commas_says_what_the_words_say(question: str, text: str, verdicts: list[str]) -> None:
    card = derive.Card.parse(f"---\nid: apart\n---\n\n# Question\n{question}\n")
    assert [str(c.verdict) for c in derive.check(card, text=text).checks] == verdicts


LEAKY = r"Leaky ReLU: $y_i = \max(0, x_i) + 0.1 \min(0, x_i)$. Derive the backward message."
ONE, TENTH = r"$\frac{\partial y_i}{\partial x_i} = 1$", r"$\frac{\partial y_i}{\partial x_i} = 0.1$"
WORDED = [
    (f"If the input is positive, the derivative is {ONE}; if it is negative, it is {TENTH}.", ["proved", "proved"]),
    (f"If the input is positive, the derivative is {TENTH}; if it is negative, it is {ONE}.", ["refuted", "refuted"]),
    (f"We get {ONE} for positive inputs and {TENTH} for negative inputs.", ["proved", "proved"]),
    (f"We get {TENTH} for positive inputs and {ONE} for negative inputs.", ["refuted", "refuted"]),
    (f"For positive inputs the layer is the identity. Hence {ONE}.", ["not read"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "verdicts"), WORDED)
def test_signs_in_words_are_conditions(text: str, verdicts: list[str]) -> None:
    card = derive.Card.parse(f"---\nid: leaky\n---\n\n# Question\n{LEAKY}\n")
    assert [c.verdict for c in derive.check(card, text=text).checks] == verdicts


@pytest.mark.parametrize(("text", "verdict"), [
    ("The sum is $s = w x + b$. Below, $s = w x$.", "refuted"), ("Let $s = w x + b$. Now let $s = w x$.", "not read")])
def test_a_letter_defined_twice_differently_is_said(text: str, verdict: str) -> None:
    card = derive.Card.parse("---\nid: twice\n---\n\n# Question\nA layer computes $y = \\tanh(w x + b)$. Derive the "
                             "backward message.\n")
    found, = derive.check(card, text=text).checks
    assert found.verdict == verdict
    assert "defined otherwise in line 1" in f"{found.reason} {found.mistake}"


SLOPE = r"\frac{\partial y_k}{\partial x_i}"
POOLED = r"A layer computes $y_k = \max_{p \in \{0, 1\}} x_{2k+p}$. Derive the backward message."
LINEAR = QUESTIONS["lin"] + r" The upstream gradient is $\delta_{y,k}$."
READ = [
    (POOLED, f"If $x_i$ is the maximum of its window, ${SLOPE} = 1$, otherwise ${SLOPE} = 0$.", ["proved", "proved"]),
    (POOLED, f"If $x_i$ is the maximum of its window, ${SLOPE} = 0$, otherwise ${SLOPE} = 1$.", ["refuted", "refuted"]),
    (POOLED, f"If $x_i$ is the maximum of its row, ${SLOPE} = 1$.", ["not read"]),
    (POOLED, f"If $x_j$ is the maximum of its window, ${SLOPE} = 1$.", ["not read"]),
    (POOLED, rf"$${SLOPE} = \begin{{cases}} 1 & \text{{if }} x_i \text{{ is the maximum of window }} (k) \\ "
     r"0 & \text{otherwise} \end{cases}$$", ["proved"]),
    (POOLED, rf"$${SLOPE} = \begin{{cases}} x_i & \text{{if }} x_i \text{{ is the maximum of window }} (k) \\ "
     r"0 & \text{otherwise} \end{cases}$$", ["refuted"]),
    (QUESTIONS["relu"], f"Case 1: $s_k > 0$. Then ${D} = 1$.\n\nCase 2: $s_k < 0$. Then ${D} = 0$.", ["proved"] * 2),
    (QUESTIONS["relu"], f"Case 1: $s_k > 0$. Then ${D} = 0$.\n\nCase 2: $s_k < 0$. Then ${D} = 1$.", ["refuted"] * 2),
    (QUESTIONS["soft"], f"| entry | value |\n|---|---|\n| $i = j$ | ${P} = p_i (1 + p_i)$ |\n| $i \\ne j$ | ${P} = p_i p_j$ |",
     ["refuted"] * 2),
    (r"Let $p_k = \frac{e^{a_k}}{\sum_j e^{a_j}}$. The loss for the correct class $c$ is $L = -\log p_c$. Derive "
     r"$\frac{\partial L}{\partial a_k}$.", "1. $k = c$: $\\frac{\\partial L}{\\partial a_k} = p_c - 1$\n"
     "2. $k \\ne c$: $\\frac{\\partial L}{\\partial a_k} = -p_k$", ["tested", "refuted"]),
    (LINEAR, r"$\frac{\partial y_k}{\partial W_{ij}} = \delta_{ik} x_j$, where $\delta_{ik}$ is $1$ if $i = k$ and "
     r"$0$ otherwise. $\delta_{x,j} = \sum_k \delta_{y,k} W_{kj}$", ["proved", "proved"]),
    (LINEAR, r"$\frac{\partial y_k}{\partial W_{ij}} = \delta_{ik} x_i$, where $\delta_{ik}$ is $1$ if $i = k$ and "
     r"$0$ otherwise. $\delta_{x,j} = \sum_k \delta_{y,k} W_{jk}$", ["refuted", "refuted"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "text", "verdicts"), READ)
def test_conditions_in_words_are_read(question: str, text: str, verdicts: list[str]) -> None:
    card = derive.Card.parse(f"---\nid: words\n---\n\n# Question\n{question}\n")
    assert [str(c.verdict) for c in derive.check(card, text=text).checks] == verdicts


def test_a_star_of_the_solution_means_what_it_says_there() -> None:
    card = derive.Card.parse("---\nid: star\n---\n\n# Question\nA layer computes $y_k = "
                             r"\max_{0 \le p \le 2} x_{2k+p}$. Derive the backward message." "\n")
    told = r"$p^*_k = \operatorname{argmax}_{0 \le p \le 2} x_{2k+p}$. Hence $" + SLOPE
    for value, verdict in (("[i = 2k + p^*_k]", "tested"), ("[i = k + p^*_k]", "refuted")):
        found, = derive.check(card, text=f"{told} = {value}$.").checks
        assert found.verdict == verdict
