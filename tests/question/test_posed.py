"""Words beside formulas that pose a question: they describe, or they say that more is done, and then it is open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError, DeriveError, OpenError
from derive.expr import Entry
from derive.module import Module
from derive.question import module_of

NORM = (r"Let $\mu = \frac1n \sum_{i=1}^n x_i$, $v = \frac1n \sum_{i=1}^n (x_i - \mu)^2$ and "
        r"$y_i = \gamma_i \frac{x_i - \mu}{\sqrt{v + \epsilon}} + \beta_i$.")
GATE = r"An experiment has $g_k = \sigma(\sum_j U_{kj} x_j)$ with $\sigma(s) = 1/(1 + e^{-s})$ and $y_k = g_k \sum_j V_{kj} x_j$."
ASKED = {NORM: r"Given $\partial L/\partial y_i$, derive $\partial L/\partial x_i$ and $\partial L/\partial \gamma_i$.",
         GATE: r"With $\delta_k = \partial L/\partial y_k$, derive $\partial L/\partial x_j$, $\partial L/\partial U_{kj}$ and $\partial L/\partial V_{kj}$."}


def read(layer: str, said: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{layer} {said} {ASKED[layer]}\n"))


def test_what_stands_in_front_of_a_display_says_what_it_shows() -> None:
    """«… are standardised and then squashed: $$…$$»"""
    shown = (r"The units are standardised over the batch and then squashed%s $$u_n = \tanh(h_n - \frac1N \sum_{m=1}^N h_m)$$ "
             r"Given $\partial L/\partial u_n$, derive $\partial L/\partial h_n$.")
    card = "---\nid: q\n---\n\n# Question\n%s\n"
    assert module_of(Card.parse(card % shown % ":")).output == "u"
    with pytest.raises(OpenError):
        module_of(Card.parse(card % shown % ". Then"))


@pytest.mark.parametrize("layer", ASKED)
@pytest.mark.parametrize("said", [
    "Be explicit about which output times contribute.",
    "The gain is learned and shared among tokens.", "A constant that we picked by hand stands there.",
    "(exactly one component is equal to 1, the others are 0)", "The vectors are not normalised.",
    "The additive constant has been dropped, since it plays no role.", "The masked entries of a sequence play no role here.",
    "Do not forget the second path.", "Such a unit is popular in image retrieval, where activations are positive.",
    "Recall that this activation was the first that was used in deep networks.",
    "Note that the units compete.", r"Write $\eta_i = \partial L/\partial y_i$.", "With a mini-batch the same would be done for each sample.",
])
def test_words_that_describe_change_nothing(layer: str, said: str) -> None:
    assert read(layer, said).equations == read(layer, "").equations


@pytest.mark.parametrize("layer", ASKED)
@pytest.mark.parametrize("said", [
    "The output is then masked.", "Replace the sum by a maximum.", "We then transpose the result.", "Two such layers follow.",
    "Treat the first of them as a constant.", "No gradient flows through the first of them.", "It is applied twice.",
    "Values below minus one are lifted to minus one.", "The first entry counts five times as much.", "The layer negates $x$.",
    "The output is forced to be positive.", "If its norm exceeds one, the output is replaced by its direction.", "In such networks the result is masked.", "Every second output is discarded.", "Gaussian noise is added to the input.",
    "It is restricted to the first entry.", "The input passes a ReLU before it arrives.", "The outputs are scaled by a learned gain.",
    "The same weights serve a second layer behind it.", "Its loss is the sum of its outputs.", "What leaves the layer is its square.",
    "It computes the smoothed modulus of a signal.", "The layer is used twice in a row.", "The target undergoes smoothing.",
    "The gain is pinned to one and not trainable.", "No signal is let through to the second unit.",
])
def test_words_that_say_that_more_is_done_are_open(layer: str, said: str) -> None:
    with pytest.raises(OpenError):
        read(layer, said)


@pytest.mark.parametrize(("said", "is_open"), [
    (r"Treat $\mu$ as a constant.", True), (r"Here $\mu$ and $v$ are held fixed.", True), (r"The constant $\epsilon$ is fixed.", False),
    (r"Remember that $\mu$ is not a constant.", False), (r"No gradient flows through $v$.", True), ("Without the mean it is simpler.", False),
])
def test_what_is_computed_and_held_is_open(said: str, is_open: bool) -> None:
    if is_open:
        with pytest.raises(OpenError, match="not understood beside the layer"):
            read(NORM, said)
    else:
        assert read(NORM, said).equations == read(NORM, "").equations


@pytest.mark.parametrize("said", ["A dense layer with sigmoid activation has $s = Wx + b$.",
                                  "A neuron computes $s = w^\\top x + b$ and outputs its sigmoid.",
                                  "A linear layer $s = Wx + b$ has a sigmoid output and the cross-entropy as loss $L$."])
def test_words_count_where_the_loss_is_no_formula(said: str) -> None:
    with pytest.raises(OpenError):
        module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{said} Derive $\\partial L/\\partial b$.\n"))
    assert module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{said} Given $\\partial L/\\partial s$, find $\\partial L/\\partial b$.\n"))


@pytest.mark.parametrize("said", [
    r"Let $z = Wx + b$; softmax and cross-entropy give the loss $L$. Derive $\partial L/\partial z$ and $\partial L/\partial W$.",
    r"Let $s = w^\top x$ with a logistic output. Find $\partial L/\partial s$ and hence $\partial L/\partial w$ for the binary cross-entropy.",
])
def test_a_gradient_that_is_asked_for_is_not_given(said: str) -> None:
    with pytest.raises(OpenError):
        wanted(said)


@pytest.mark.parametrize("said", ["that is,", "i.e.", "that is, find", "namely"])
def test_words_that_letters_say_again_are_asked_for_by_letters(said: str) -> None:
    text = r"Let $L = \sum_n (t_n - w x_n)^2$. Derive the score equations, %s $\partial L/\partial w$."
    assert module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{text % said}\n")).output == "L"


def test_a_number_of_each_index_is_no_size() -> None:
    text = (r"The number of hires $n_s$ at station $s = 1, \dots, S$ has the rate $\mu_s = e^{x_s}$. Let "
            r"$$E = \sum_{s=1}^S (\mu_s - n_s \log \mu_s).$$ Derive $\partial E/\partial x_s$.")
    assert {*module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{text}\n")).given} == {"n", "x"}


def test_a_loss_that_words_alone_compute_is_open() -> None:
    question = (r"A regressor $\hat y_n = w^\top x_n + b$ is fitted to pairs $(x_n, y_n)$ by minimising the mean of half the squared "
                r"residual. Denote this mean by $J$. Determine the gradient of $J$ with respect to $w$ and to $b$.")
    with pytest.raises(OpenError):
        wanted(question)


def test_messages_in_words_are_no_letters() -> None:
    question = f"{NORM} The gain is shared by hand only. Derive the backward message."
    with pytest.raises(OpenError):
        module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))


def wanted(question: str) -> set[tuple[str, str]]:
    module = module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    return {(w.of.tensor, w.wrt.tensor) for w in module.wanted if isinstance(w.of, Entry) and isinstance(w.wrt, Entry)}


ATTENTION = (r"Let $e_t = \sum_i q_i k_{ti}$, $\alpha_t = e^{e_t} / \sum_r e^{e_r}$ and $o_i = \sum_t \alpha_t v_{ti}$, and let "
             r"$g_i = \partial L/\partial o_i$ be given. ")


@pytest.mark.parametrize(("asked", "found"), [
    ("Obtain the derivatives of $L$ with respect to\n\n(a) the values $v_{ti}$ and the weights $\\alpha_t$;\n\n(b) the query $q$.",
     {("loss", "v"), ("loss", "alpha"), ("loss", "q")}),
    (r"Derive $\partial L/\partial q_i$. Write it using only $\partial L/\partial e_t$ and $k_{ti}$.", {("loss", "q")}),
    (r"Derive $\partial L/\partial q_i$, with no leftover $\partial L/\partial \alpha_t$ or $\partial L/\partial e_t$.", {("loss", "q")}),
    ("Derive the gradients of $L$ with respect to $q$ and $k$ and read them as those of a smoother.", {("loss", "q"), ("loss", "k")}),
    (r"Derive the gradient with respect to the values, $\partial L/\partial v_{ti}$, and to the intercepts, $\partial L/\partial q_i$.",
     {("loss", "v"), ("loss", "q")}),
    (r"Derive $\partial L/\partial q_i$ (maximum attained by one of them only), for a generic index $i \in \{1, \dots, n\}$.", {("loss", "q")}),
    (r"Give $\partial L/\partial q_i$ and what is transmitted to $k_{ti}$.", {("loss", "q"), ("loss", "k")}),
])
def test_what_is_asked_for_in_letters(asked: str, found: set[tuple[str, str]]) -> None:
    assert wanted(ATTENTION + asked) == found


STEP = (r"One step is $\mathbf h_t = \tanh(U \mathbf h_{t-1} + W \mathbf x_t + \mathbf b)$ with $\mathbf h_t, \mathbf h_{t-1} \in "
        r"\mathbb{R}^m$ and $\mathbf x_t \in \mathbb{R}^n$. Let $\delta = \partial L/\partial \mathbf h_t$. Find ")


def test_letters_with_labels_are_asked_for_or_open() -> None:
    asked = wanted(STEP + r"the message passed to $\mathbf h_{t-1}$ and the one passed to $\mathbf x_t$, and $\partial L/\partial U$.")
    assert asked == {("loss", "h_t_1"), ("loss", "x_t"), ("loss", "U")}
    with pytest.raises(OpenError, match="`x_t` stands in what is asked"):
        wanted(STEP + r"$\partial L/\partial U$ and what is blorped over to $\mathbf x_t$.")


@pytest.mark.parametrize("asked", [
    r"Give $\partial L/\partial q_i$ and what is blorped to $k_{ti}$.", r"Derive $\partial L/\partial q_i$ (not $\partial L/\partial v_{ti}$).",
    r"Derive $\partial L/\partial q_i$ and the intercepts.", r"Give $\partial L/\partial q_i$ and what is blorped to $e_t$.",
])
def test_half_of_a_request_in_letters_is_not_answered(asked: str) -> None:
    with pytest.raises(OpenError):
        wanted(ATTENTION + asked)


SCORES = r"with $L = \sum_k \max(0, \mathbf{w}_k^\top \mathbf{x}) + \|\mathbf{W}\|_F^2$. Derive $\nabla_{\mathbf{W}} L$."


@pytest.mark.parametrize("question", [
    r"Let $y_k = \sum_d a_d B_{kd} / \|\mathbf{b}_k\|$ with $\mathbf{B} \in \mathbb{R}^{K \times D}$, where $\mathbf{b}_k$ is row $k$ of "
    r"$\mathbf{B}$. Compute $\partial y_k/\partial B_{kd}$.",
    rf"The vectors $\mathbf{{w}}_k^\top$ are the rows of the matrix $\mathbf{{W}}$, {SCORES}",
    rf"A layer has the columns $\mathbf{{w}}_k$ of $\mathbf{{W}}$ as weights, {SCORES}",
])
def test_a_letter_that_is_a_row_of_another_is_open(question: str) -> None:
    with pytest.raises(OpenError, match="takes both as given"):
        wanted(question)


def test_a_matrix_that_acts_on_a_letter_without_a_shape_is_open() -> None:
    with pytest.raises(CardError, match="numbers, or a matrix and a vector"):
        wanted(r"With $W \in \mathbb{R}^{k \times d}$ and images $a$, $p$ the loss is $L = \|Wa - Wp\|^2$. Derive $\partial L/\partial W$.")


def test_an_abbreviation_beside_a_loss_is_no_output() -> None:
    question = (r"The loss is $L = -\log \frac{e^{s_1}}{\sum_j e^{s_j}}$. Abbreviate $P_j = e^{s_j} / \sum_k e^{s_k}$. "
                "Find the gradient with respect to $s$.")
    assert wanted(question) == {("L", "s")}


@pytest.mark.parametrize(("written", "meant"), [
    (r"$y_i = d_i \{x_i + b\}$", r"$y_i = d_i (x_i + b)$"), (r"$J = \lambda\left\{\alpha\sum_j |x_j| + \sum_j x_j^2\right\}$", r"$J = \lambda (\alpha \sum_j |x_j| + \sum_j x_j^2)$"),
    (r"$f(u) = u^2$ and $y_i = f\{x_i + b\}$", r"$f(u) = u^2$ and $y_i = f(x_i + b)$"),
    (r"unit $i$ outputs $y_i = \tanh(x_i)$", r"$y_i = \tanh(x_i)$"),
    (r"$y_k = \|v_k\| x_k$ with $v_k = (v_{k1}, \dots, v_{kd})$", r"$y_k = \|v_k\| x_k$ with $v_{ki}$"),
    (r"$E = \sum_{i \in S} x_i^2$ with $S = \{1, \dots, N\}$", r"$E = \sum_{i=1}^N x_i^2$"),
    (r"$E = \sum_{i \in S} x_i^2$ over $i \in S = \{1, 2, \dots, N\}$", r"$E = \sum_{i=1}^N x_i^2$"),
    (r"$y_k = \sum_q w_q x_{k+q}$, $q = 1, 2$", r"$y_k = \sum_q w_q x_{k+q}$, $q = 1, \dots, 2$"),
    (r"\begin{align} s_c &= \sum_i x_{ci} && \text{(squeeze)} \\ y_c &= \tanh s_c && \text{(output gate)} \end{align}",
     r"\begin{align} s_c &= \sum_i x_{ci} \\ y_c &= \tanh s_c \end{align}"),
])
def test_what_textbooks_write(written: str, meant: str) -> None:
    one, other = (module_of(Card.parse(f"---\nid: q\n---\n\n# Question\nHere {latex}. Derive the gradient with respect to $x$.\n"))
                  for latex in (written, meant))
    assert one.equations == other.equations and one.functions == other.functions


def test_signs_below_are_labels() -> None:
    module = module_of(Card.parse("---\nid: q\n---\n\n# Question\n" r"Let $d_{+} = \sum_k (a_k - p_k)^2$, "
                                  r"$d_{-} = \sum_k (a_k - q_k)^2$ and $L = \max(0, d_+ - d_- + m)$. Derive $\partial L/\partial a_k$." "\n"))
    assert module.defined == ("d_plus", "d_minus", "L") and {*module.given} == {"a", "p", "q", "m"}


@pytest.mark.parametrize("remark", ["(rounded)", "(if positive)", "(no gate)", "(elementwise square)", "(mod 2)"])
def test_other_remarks_in_a_display_are_refused(remark: str) -> None:
    with pytest.raises(CardError, match="outside the notation"):
        wanted(rf"\begin{{align}} y_c &= \tanh x_c && \text{{{remark}}} \end{{align}} Derive $\partial y_c/\partial x_c$.")


def test_cases_over_the_values_of_a_label_are_all_cases() -> None:
    cases = r"$L = \begin{cases} -\log p & y = 1 \\ -\log(1 - p) & y = 0 \end{cases}$. Derive $\partial L/\partial p$."
    assert wanted(r"For a label $y \in \{0, 1\}$ let " + cases) == {("L", "p")}
    with pytest.raises(CardError, match="no value at"):
        wanted("For a label $y$ let " + cases)


LINE = r"Let $y_k = a x_k$ for $k = 1, \dots, K$."
SOFT = r"$$p_k = \frac{e^{x_k}}{\sum_l e^{x_l}}.$$ Derive $\partial p_k/\partial x_j$."
BATCH = r"The layer computes $$y_{ni} = \gamma_i \frac{x_{ni} - \mu_i}{\sigma_i} + \beta_i.$$"
OF_BATCH = r"Derive $\partial L/\partial x_{ni}$ and $\partial L/\partial \gamma_i$ for a given $\partial L/\partial y_{ni}$."


@pytest.mark.parametrize("question", [
    r"Outliers count less if the squared loss is replaced by another. $$L = \sum_n \log(1 + (y_n - t_n)^2)$$ with targets $t_n$. Derive "
    r"$\partial L/\partial y_n$.",
    rf"{BATCH} {OF_BATCH} Check your result: for $\gamma_i = 1$ it must become one half of the known one.",
    f"The softmax layer transforms the scores $x_1, \\dots, x_K$ to probabilities {SOFT}",
    f"The scores are shifted and scaled to a distribution, {SOFT}",
    rf"{BATCH} Suppose we fine-tune with $\mu_i$ and $\sigma_i$ frozen. {OF_BATCH}",
    rf"{BATCH} We take $\mu_i$ and $\sigma_i$ as independent inputs. {OF_BATCH}",
    rf"A gate decides how much of the unit is transformed and how much is only copied. {BATCH} {OF_BATCH}",
    rf"{BATCH} Derive the gradient that is passed down, $\partial L/\partial x_{{ni}}$, for a given $\partial L/\partial y_{{ni}}$.",
    rf"{BATCH} {OF_BATCH} Say which of the two is a scaled sum. Cancel what can be cancelled.",
    r"Layer normalisation standardises the vector $x \in \mathbb{R}^D$, $$y_i = \frac{x_i - m}{\sqrt{v + \epsilon}}, "
    r"m = \frac1D \sum_k x_k, v = \frac1D \sum_k (x_k - m)^2.$$ Derive $\partial y_i/\partial x_j$.",
    r"Two vectors $u \in \mathbb{R}^p$ and $v \in \mathbb{R}^q$ are fused by a bilinear layer with $r$ outputs, "
    r"$$y_k = \sum_{i,j} W_{kij} u_i v_j.$$ Derive $\partial y_k/\partial u_i$.",
    r"A unit passes on $$y_j = \max_{k = 1, \dots, K} \sum_i w_{jki} x_i.$$ Ties do not occur. Derive $\partial y_j/\partial x_i$.",
    r"A dropout layer with the probability $p$ first makes a random mask $m_1, \dots, m_n$, where $m_i = 0$ with the probability $p$ and "
    r"$m_i = 1$ otherwise. Then it makes $$y_i = \frac{m_i x_i}{1 - p}.$$ The mask is stored for the backward pass; it is a known "
    r"constant. Derive $\partial y_i/\partial x_j$.",
    r"The activation $$y_i = \max(x_i, a x_i)$$ has a slope $0 < a < 1$ that is learned; it is shared by all units. "
    r"Given $\partial L/\partial y_i$, find $\partial L/\partial x_i$ and $\partial L/\partial a$.",
    r"A normalisation (here without gain and bias) computes $$y_i = \frac{x_i - m}{\sqrt{v + \epsilon}}, \qquad m = \frac1n \sum_k x_k, "
    r"\qquad v = \frac1n \sum_k (x_k - m)^2.$$ Derive $\partial y_i/\partial x_j$.",
    r"Before residual networks there were highway networks. They have $$y_i = g_i h_i + (1 - g_i) x_i.$$ Derive $\partial y_i/\partial g_j$.",
    r"*Scale:* $y_i = s x_i$ with $s = \tanh(z)$. Derive $\partial y_i/\partial z$.",
    r"Let $y_i = f_i c_i + g_i$. You can treat the three vectors as independent variables. Derive $\partial y_i/\partial f_j$, "
    r"$\partial y_i/\partial c_j$ and $\partial y_i/\partial g_j$.",
    r"Let $y_i = a_i/(1 + e^{-\beta a_i})$. All units share the same scalar $\beta$. Derive $\partial L/\partial\beta$ for given "
    r"$\partial L/\partial y_i$.",
    r"With targets $t_n \in \{0, 1\}$ and $q_n = \tanh(z_n)$ the loss over a batch of $N$ samples is $$L = \frac1N \sum_{n=1}^N "
    r"(q_n - t_n)^2.$$ Derive $\partial L/\partial z_n$.",
    rf"{BATCH} {OF_BATCH} Simplify until no derivative of $\mu_i$ remains.",
])
def test_what_describes_what_the_formulas_compute(question: str) -> None:
    assert wanted(question)


@pytest.mark.parametrize("question", [
    r"A layer with $y_i = m_i x_i$ has $z_i = 0$ with the probability $p$ and $z_i = 1$ otherwise. Derive $\partial y_i/\partial x_j$.",
    r"The layer has $y_i = m_i x_i$ with a mask $m_i$. We halve vector $x$ first. Derive $\partial y_i/\partial x_j$.",
    rf"{BATCH} The output is doubled if the input is negative. {OF_BATCH}",
    f"Dropout is applied to the output of the layer {SOFT}", f"The scores are masked and we get {SOFT}",
    f"The output is then masked and the loss is {SOFT}", f"The scores are squashed to unit length before the layer {SOFT}",
    rf"{BATCH} Suppose we train with $\mu_i$ clipped. {OF_BATCH}", rf"{BATCH} The gradient is passed through $\mu_i$ unchanged. {OF_BATCH}",
    rf"{BATCH} The outputs are passed on to a threshold. {OF_BATCH}",
    r"The vector $x \in \mathbb{R}^n$ is doubled. $$y_k = \sum_i W_{ki} x_i.$$ Derive $\partial y_k/\partial x_i$.",
    r"The vectors $u \in \mathbb{R}^p$ and $v \in \mathbb{R}^q$ are normalised by a layer and then fused by a bilinear layer, "
    r"$$y_k = \sum_{i,j} W_{kij} u_i v_j.$$ Derive $\partial y_k/\partial u_i$.",
    r"A unit passes on $$y_j = \max_{k = 1, \dots, K} \sum_i w_{jki} x_i.$$ The unique maximum is doubled. Derive $\partial y_j/\partial x_i$.",
    r"A layer without bias computes $$y_i = \tanh(x_i + b_i).$$ Derive $\partial y_i/\partial x_j$.",
    r"Let $m = \frac1n \sum_k x_k$ and $y_i = x_i - m$. Take $m$ as an independent input. Derive $\partial y_i/\partial x_j$.",
    r"Before residual networks came up, the input is doubled: so here. $$y_i = g_i x_i.$$ Then $y$ is doubled. Derive $\partial y_i/\partial g_j$.",
    r"Scale the result by two. $$y_i = s x_i.$$ Derive $\partial y_i/\partial s$.",
    r"Let $y_i = f_i c_i + g_i$. You can treat the two vectors as constant. Derive $\partial y_i/\partial f_j$.",
    r"Let $y_i = a_i/(1 + e^{-\beta_i a_i})$. All units share the same scalar $\beta$. Derive $\partial L/\partial\beta_i$ for given "
    r"$\partial L/\partial y_i$.",
])
def test_what_does_more_than_the_formulas(question: str) -> None:
    with pytest.raises(OpenError):
        wanted(question)


@pytest.mark.parametrize(("asked", "found"), [
    (r"Derive $\partial y_k/\partial x_j$ and the parameter message for the gain, $\partial y_k/\partial a$.", {("y", "x"), ("y", "a")}),
    (r"Differentiate the output with respect to the gain: $\partial y_k/\partial a = \,?$", {("y", "a")}),
    (r"(1) $\partial y_k/\partial a = ?$ (2) $\partial y_k/\partial x_j = ?$", {("y", "a"), ("y", "x")}),
    (r"What is the sensitivity $\partial y_k/\partial a$ of the score of the class $k$?", {("y", "a")}),
    (r"For training we need $\partial L/\partial a$. Express it by the numbers $g_k = \partial L/\partial y_k$.", {("loss", "a")}),
    (r"Find $\partial y_k/\partial x_j$ and express it by $y_k$ and $a$ only.", {("y", "x")}),
    (r"Derive $\partial y_k/\partial a$. Write the messages finally such that they are valid in both cases.", {("y", "a")}),
    (r"The derivatives $\partial L/\partial y_k$ come from the next layer. Find $\partial L/\partial a$.", {("loss", "a")}),
    (r"There is no backward message to $x_k$, because it is an integer. Derive $\partial y_k/\partial a$.", {("y", "a")}),
    (r"List all messages, that is $\partial y_k/\partial x_j$ and $\partial y_k/\partial a$.", {("y", "a"), ("y", "x")}),
    (r"Derive $\partial L/\partial x_j$, if $\partial L/\partial y_1, \dots, \partial L/\partial y_{K-1}$ are given.", {("loss", "x")}),
    (r"Derive $\partial y_k/\partial a$. Is it true that the columns sum to zero, $\sum_k \partial y_k/\partial x_j = 0$?", {("y", "a")}),
])
def test_what_is_asked_for_beside_a_derivative(asked: str, found: set[tuple[str, str]]) -> None:
    assert wanted(f"{LINE} {asked}") == found


@pytest.mark.parametrize("asked", [
    r"Derive $\partial y_k/\partial x_j$ and the gradient with respect to the widths.",
    r"Derive $\partial y_k/\partial x_j$ and the message for the widths.",
    r"Derive the inverse of the message for the gain, $\partial y_k/\partial a$.",
])
def test_nouns_beside_other_derivatives_are_open(asked: str) -> None:
    with pytest.raises(OpenError):
        wanted(f"{LINE} {asked}")


NET = (r"Let $z_k = \sum_j U_{kj} x_j$, $h_k = \tanh(z_k)$ and $y_i = \sum_k V_{ik} h_k$. The gradient $\partial L/\partial y_i$ is "
       r"given. %s")


@pytest.mark.parametrize("asked", [
    r"Backpropagate: (1) to the output weights: $\partial L/\partial V_{ik}$, (2) through the tanh to $U$, (3) to the input: "
    r"$\partial L/\partial x_j$.",
    r"Derive (1) $\partial L/\partial V_{ik}$, (2) through the tanh that of $U$, (3) $\partial L/\partial x_j$.",
    r"Derive $\partial L/\partial V_{ik}$. Then go on to $U$ and $x$.", r"(1) Derive $\partial L/\partial V_{ik}$. (2) Through the tanh to $U$.",
    r"(1) Derive $\partial L/\partial V_{ik}$. (2) Proceed with $U$.",
])
def test_an_item_that_only_goes_on_is_open(asked: str) -> None:
    with pytest.raises(OpenError):
        wanted(NET % asked)


@pytest.mark.parametrize("asked", [
    "derive $\\partial L/\\partial a$ and then the same for $b$.", "derive $\\partial L/\\partial a$. What does $b$ receive?",
    "derive $\\partial L/\\partial a$. And for $b$?", "compute all gradients, e.g. $\\partial L/\\partial a$.",
    "derive $\\partial L/\\partial a$; $b$ is treated in the same way.", "compute $\\sum_i \\partial y_i/\\partial x_j$.",
])
def test_what_is_asked_for_by_the_way_is_not_left_out(asked: str) -> None:
    with pytest.raises(DeriveError):
        wanted(rf"Let $y_i = a x_i + b$. Given $\partial L/\partial y_i$, {asked}")


def test_a_noun_in_a_list_is_asked_for() -> None:
    asked = r"Given $\partial L/\partial y_i$, obtain the gradient by $a$ and that by the offset."
    assert {"a", "b"} <= {wrt for _, wrt in wanted(rf"Let $y_i = a x_i + b$. {asked}")}


HIDDEN = r"Let $h = \tanh(W x)$ and $y = v^\top h$ with $x \in \mathbb{R}^n$. %s"


@pytest.mark.parametrize("asked", [
    r"Now replace the tanh by a ReLU and derive $\partial y/\partial W$.", r"Derive $\partial y/\partial W$ for a ReLU instead of the tanh.",
    r"Derive $\partial y/\partial W$ when the tanh is exchanged for a ReLU.", r"Derive $\partial y/\partial W$ for a ReLU.",
    r"Derive the derivative of $y^2$ with respect to $x$.", r"Derive the gradients of both layers, first $\partial y/\partial v$.",
    r"Derive $\partial y/\partial W$. The output layer's gradient is needed as well.", r"Derive $\partial y/\partial W$. Do not forget $v$.",
    r"Derive $\partial y/\partial W$; the output weights work the same.",
])
def test_another_layer_or_more_of_it_is_not_answered(asked: str) -> None:
    with pytest.raises(OpenError):
        wanted(HIDDEN % asked)


@pytest.mark.parametrize("asked", [
    r"Derive $\partial y/\partial W$ and compare it with that of a ReLU.", r"Derive $\partial y/\partial W$. What would change with a ReLU?",
    r"Derive $\partial y/\partial W$ using the derivative of the tanh.",
])
def test_other_layers_are_compared(asked: str) -> None:
    assert wanted(HIDDEN % asked) == {("y", "W")}


@pytest.mark.parametrize("question", [
    r"Let $L = \sum_k y_k^2$ plus an L2 penalty. Derive $\partial L/\partial y_k$.",
    r"Let $y_t = \sum_{k=0}^{2} w_k x_{t+k}$ with periodic boundary. Derive $\partial L/\partial x_t$ for given $\partial L/\partial y_t$.",
    r"A layer computes $y_k = \tanh(\sum_j W_{kj} x_j)$, to which $x_k$ is added. Derive $\partial y_k/\partial x_j$.",
    r"Max pooling with 2×2 windows and stride 2 has $f_{kl} = \max_{(i,j)\in\Omega(k,l)} x_{ij}$, but every window also contains its right "
    r"neighbour. Derive $\partial f_{kl}/\partial x_{ij}$.",
    r"Let $f = \max(x_1, x_2)$. If both are equal, the gradient goes to both. Derive $\partial f/\partial x_1$.",
])
def test_what_stands_behind_a_formula_in_its_sentence(question: str) -> None:
    with pytest.raises(OpenError):
        wanted(question)


@pytest.mark.parametrize("rule", ["first", "last"])
def test_the_maximum_that_takes_the_gradient(rule: str) -> None:
    question = (r"Let $y_{kl} = \max_{(i,j) \in \Omega(k,l)} x_{ij}$ with $2 \times 2$ windows and stride 2. The gradient goes to the "
                f"{rule} maximum of each window. Derive the backward message.")
    assert module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n")).tie_rule == rule


def test_a_gradient_that_arrives_at_a_letter_is_asked_for() -> None:
    question = r"Let $y_i = a x_i + b$. Given $\partial L/\partial y_i$, derive $\partial L/\partial a$. Which gradient arrives at $b$?"
    assert {"a", "b"} <= {wrt for _, wrt in wanted(question)}


def test_how_answers_are_to_be_written_is_not_left_unanswered() -> None:
    question = rf"{LINE} Derive $\partial y_k/\partial a$ and $\partial y_k/\partial x_j$. Express them by $a$ and $x_k$."
    module = module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    assert not [r for r in module.readings if r.startswith("not answered")]


def test_words_beside_a_zero_count() -> None:
    with pytest.raises(OpenError):
        wanted(r"Let $y_t = w_0 x_t + w_1 x_{t-1}$ for $t = 1, \dots, T$. Here $x_s$ is defined for $s = 1, \dots, T$ and taken to be $0$ "
               r"for any other $s$ and the output is doubled. Given $\partial L/\partial y_t$, find $\partial L/\partial x_s$.")


PARTS = {"in brackets": "the backward message (with respect to $x_{ci}$) and the parameter message (with respect to $a_c$)",
         "without": "the backward message with respect to $x_{ci}$ and the parameter message with respect to $a_c$"}


@pytest.mark.parametrize("asked", PARTS)
def test_brackets_around_what_is_asked_for_by(asked: str) -> None:
    module = module_of(Card.parse("---\nid: q\n---\n\n# Question\nLet $y_{ci} = \\max(0, x_{ci}) + a_c \\min(0, x_{ci})$. "
                                  f"Derive {PARTS[asked]}.\n"))
    assert module.parameters == ("a",) and module.inputs == ("x",) and {*module.asked} == {"jacobian", "vjp", "parameters"} - (
        {"jacobian"} - {*module.asked})


@pytest.mark.parametrize("asked", ["(a) Write the forward message for $M = 1$. (b) Find $\\partial L/\\partial a_k$.",
                                   "(a) Find $\\partial L/\\partial a_k$. (b) Find $\\partial L/\\partial x_n$ for $M = 3$."])
def test_a_size_in_one_of_several_requests_is_not_that_of_the_layer(asked: str) -> None:
    module = module_of(Card.parse("---\nid: q\n---\n\n# Question\nLet $y_n = \\sum_{k=0}^{M-1} a_k x_{n-k}$ for $n = 0, \\dots, N-1$ "
                                  f"with $x_n = 0$ for $n < 0$. {asked}\n"))
    assert not [r for r in module.readings if "put in" in r]


LIST = r"Let $f_i = \ln(1 + e^{x_i})$, $g_i = \tanh x_i$ and $h_i = x_i^2$."


def test_each_of_several_functions_is_differentiated() -> None:
    asked = r"$\partial f_i/\partial x_j$, $\partial g_i/\partial x_j$ and $\partial h_i/\partial x_j$"
    assert {of for of, _ in wanted(f"{LIST} Derive {asked}.")} == {"f", "g", "h"}


@pytest.mark.parametrize("asked", [
    r"$\partial f_i/\partial x_j$ and $\partial g_i/\partial x_j$", "the gradient with respect to $x$",
    r"$\partial f_i/\partial x_j$, $\partial g_i/\partial x_j$ and $\partial h_i/\partial x_j$ and the backward message",
    r"$\partial f_i/\partial x_j$, $\partial g_i/\partial x_j$, $\partial h_i/\partial x_j$ and $\partial L/\partial x_j$",
])
def test_more_of_several_functions_than_their_derivatives_is_open(asked: str) -> None:
    with pytest.raises(CardError):
        wanted(f"{LIST} Derive {asked}.")


def test_an_error_e_is_a_number() -> None:
    for begin in ("Let", "Consider", "With the error"):
        assert wanted(rf"{begin} $e = \sum_j w_j x_j - y$ and $L = e^2$. Derive $\partial L/\partial w_j$.") == {("L", "w")}
