"""An operation that the words say is done, and that no formula does, leaves a question open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError, DeriveError, OpenError
from derive.module import Module
from derive.question import module_of

FORMULAS = r"A layer computes $s = w^\top x + b$ with weights $w$ and $p = 1 / (1 + e^{-s})$."
WINDOW = r"Max pooling with $2 \times 2$ windows and stride 2 is applied to an image $x_{ij}$, the output is $f_{kl}$."
ASKED = r"Derive the backward message."

# what none of the layers above does
SAID = ("The result is then cubed.", "The output is multiplied by two.", "Noise is added to the input.",
        "The output is rounded to the nearest integer.", "Two such layers are stacked.", "The input is first flipped.",
        "The features are concatenated with their squares.", "The output is fed back into the input.",
        "The unit has a lateral inhibition term.", "The sum is replaced by a maximum.", "The labels are smoothed.",
        "Stop-gradient is applied to the second term.", "The loss is averaged over the batch.",
        "The input is centred.", "Výstup se vynásobí dvěma a zaokrouhlí se.")
# what is no operation of the layer, or is done
SILENT = ("If the result were squared, it would be no loss.", "Unlike other layers, nothing is squared.",
          "You may assume that the data have been centred.", "No noise is added.",
          "Usually the input is normalised beforehand.")


def read(*sentences: str) -> object:
    return module_of(Card.parse("---\nid: said\n---\n\n# Question\n" + " ".join(sentences) + "\n"))


@pytest.mark.parametrize("layer", [FORMULAS, WINDOW])
@pytest.mark.parametrize("said", SAID)
def test_what_is_said_to_be_done_and_is_not_is_open(layer: str, said: str) -> None:
    with pytest.raises(OpenError, match="is said, and no formula of the layer does it|is not understood beside the layer"):
        read(layer, said, ASKED)


@pytest.mark.parametrize("said", SILENT)
def test_conditions_asides_and_negations_say_nothing_of_the_layer(said: str) -> None:
    assert read(FORMULAS, said, ASKED)


@pytest.mark.parametrize(("formulas", "done"), [("$h = W x + b$", False), (r"$h = \tanh(W x + b)$, $y = V h + x$", True)])
def test_a_residual_connection_adds_what_is_used_twice(formulas: str, done: bool) -> None:
    """A bias is added, too; the input of the block goes two ways."""
    asked = rf"A residual block computes {formulas}. Derive $\partial L/\partial x$."
    if done:
        assert read(asked)
        return
    with pytest.raises(OpenError, match="residual block"):
        read(asked)


def test_a_loss_that_words_alone_compute_is_open() -> None:
    with pytest.raises(OpenError, match="is computed, the sum, and no formula says how|is not understood beside"):
        read(r"A classifier computes $s = W x + b$. Each score adds a violation; the loss $L$ is the sum of these violations.",
             r"Derive $\partial L/\partial W$ and $\partial L/\partial b$.")


def test_what_a_formula_does_may_be_said() -> None:
    assert read(r"A layer computes $r = w^\top x - t$.", r"The difference is squared, $\ell = r^2$.",
                ASKED)
    assert read(r"The logits $z$ are scaled by two, $a_k = 2 z_k$.", ASKED)
    assert read(r"The square is replaced by the Huber loss $$\rho(r) = \begin{cases} \frac12 r^2 & |r| \le 1 \\ |r| - \frac12 & |r| > 1"
                r" \end{cases}$$ With $r_n = t_n - w^\top x_n$ the loss is $\ell = \sum_n \rho(r_n)$.", ASKED)
    with pytest.raises(OpenError, match="by three"):
        read(r"The logits $z$ are scaled by three: $a_k = 2 z_k$.", ASKED)


# what gives a sign, a letter or a sum another meaning than the formulas have
OTHERWISE = (
    r"$y = A x$ with $A$ diagonal.",
    r"$\ell = -\sum_k t_k \log p_k$ with $p_k = e^{x_k} / \sum_j e^{x_j}$, the logarithm to base 2.",
    r"$\ell = \|x - t\|$ with $x, t \in \mathbb{R}^n$, where $\|\cdot\|$ denotes the 1-norm.",
    r"$y = w * x$ where $*$ denotes convolution, $x \in \mathbb{R}^n$.",
    r"$y_k = \sum_j W_{kj} x_j$, where the sum runs over the neighbours of $k$ only.",
    r"$y_k = x_k^2 / \sum_j x_j$, where the sum leaves out $j = k$.",
    r"$y_k = \frac{x_k - \mu}{\sigma}$ with $\mu$ the mean and $\sigma$ the standard deviation of the entries of $x$.",
    r"$y_k = x_k - \bar x$, the distance to the mean.",
    r"$y_k = x_k - m$. From each entry the mean over its neighbours is taken.",
    r"$y_k = \max(x_{2k}, x_{2k+1})$. With probability one half each input is dropped before.",
    r"$s_k = \sum_j W_{kj} x_j$. It is applied to a batch of $N$ samples.",
    r"$\ell_n = (y_n - t_n)^2$ with $y_n = w^\top x_n$. The training loss is the sum over all samples.",
)
# the same meaning in words
LIKEWISE = (
    r"$y = A x$ with a constant diagonal $A$.",
    r"$\ell = \|x - t\|$ with $x, t \in \mathbb{R}^n$, where $\|\cdot\|$ denotes the Euclidean norm.",
    r"$y = w \odot x$ with $w, x \in \mathbb{R}^n$, where $\odot$ is the elementwise product.",
    r"$\mu = \frac{1}{n} \sum_i x_i$, $y_k = x_k - \mu$, with $\mu$ the mean of the entries of $x$.",
    r"$y_k = \gamma x_k + \mu$ with the trainable mean $\mu$.",
)


@pytest.mark.parametrize("said", OTHERWISE)
def test_words_that_change_the_meaning_of_a_formula_are_open(said: str) -> None:
    with pytest.raises(CardError):
        read("A layer computes", said, ASKED)


@pytest.mark.parametrize("said", LIKEWISE)
def test_words_that_say_what_a_formula_says_are_not(said: str) -> None:
    assert read("A layer computes", said, r"Derive $\partial L / \partial x_i$.")


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("In case of ties, the gradient is split evenly.", "split"),
        ("If several entries are maximal, the last one receives the gradient.", "last"),
        ("Ties are broken in favour of the smallest index.", "first"),
        ("You may assume that there are no ties.", "first"),
    ],
)
def test_what_the_words_say_of_ties_is_the_tie_rule(said: str, rule: str) -> None:
    module = read(WINDOW, said, ASKED)
    assert isinstance(module, Module) and module.tie_rule == rule


@pytest.mark.parametrize("said", [
    "At ties a random maximal entry is chosen.",
    "Before pooling a ReLU is applied.",
    "The maximum is taken over the absolute values.",
    "Dropout is applied to the hidden units.",
    "The windows are circular.",
])
def test_beside_windows_nothing_is_left_out(said: str) -> None:
    with pytest.raises(CardError):
        read(WINDOW, said, ASKED)


@pytest.mark.parametrize("question", [
    r"A layer averages a map over non-overlapping $2 \times 2$ windows. Different from pooling of today, the average is then "
    r"multiplied by a trainable gain $g$, and the result goes through a tanh. The input is $x_{ij}$, the output $y_{pq}$.",
    r"The state is the hyperbolic tangent of an affine function of the input $x$ and of the previous state $h$; the output is "
    r"$o = W h + b$.",
    r"A layer with the weights $W$ and the bias $c$ computes $y = W x$ with $x \in \mathbb{R}^n$.",
])
def test_an_aside_ends_at_its_comma_and_what_is_named_is_somewhere(question: str) -> None:
    with pytest.raises(DeriveError):
        read(question, ASKED)


def test_a_penalty_may_be_a_product_of_a_vector_with_itself() -> None:
    error = r"$E = \frac12 \sum_{n=1}^{N} (w^\top x_n - t_n)^2"
    asked = r"Derive $\nabla_w E$."
    assert read("A unit with weight decay has the error", rf"{error} + \frac{{\lambda}}{{2}} w^\top w$.", asked)
    with pytest.raises(CardError, match="“weight decay” is named"):
        read("A unit with weight decay has the error", f"{error}$.", asked)


PLAIN = "Let $z = W x$ be the weighted input of a layer."


@pytest.mark.parametrize("said", [
    "$h$ is the tanh of $z$, and $y$ is the sum of $h$ and $x$.", "$y$ is the tanh of $z$ plus $x$.",
    "$y$ is larger than the tanh of $z$.", "Twice $z$ is passed through a tanh, which gives $h$.",
    "The output is $z + x$.", "The layer returns $z^2$.", "The loss is $(z - t)^2$.", "The cost equals $(z - t)^2$.",
    r"$L$ is half of $\|z - t\|^2$.", "Let $L = (z - t)^2$ averaged over a batch.", "Here $V = W^T$ and $q = V z$.",
])
def test_what_no_formula_of_the_layer_has_is_open(said: str) -> None:
    with pytest.raises(CardError):
        read(PLAIN, said, r"Derive $\partial L/\partial x$.")


def test_two_functions_in_a_sentence_are_each_their_own() -> None:
    module = read(r"Let $y = f(g(x))$, where $f$ is the tanh and $g$ is the sigmoid. Derive $\partial y/\partial x$.")
    assert isinstance(module, Module)
    assert {f.name: "tanh" in repr(f.body) for f in module.functions} == {"f": True, "g": False}


@pytest.mark.parametrize("asked", [
    r"$\partial \log L/\partial W$", r"$\partial L^2/\partial x$", r"$\partial z^2/\partial W$", r"$(\partial L/\partial x)^2$",
    r"$\partial L/\partial W + \lambda W$", r"$\partial (z - t)^2/\partial W$",
])
def test_a_derivative_of_something_else_is_not_taken_for_the_plain_one(asked: str) -> None:
    with pytest.raises(CardError):
        read(PLAIN, f"Derive {asked}.")


@pytest.mark.parametrize("question", [
    r"$y = a x$ and $a = \frac{1}{1 + x^2}$. Derive $\partial y/\partial x$ treating $a$ as a constant.",
    r"$y = a x$, $a = x^2$. Derive $\partial y/\partial x$ with $a$ held fixed.", "$y = W x$ with a diagonal matrix $W$. Derive $\\partial y/\\partial W$.",
    r"$y = \mathrm{sign}(x)$ with the straight-through estimator. Derive the backward message.",
])
def test_what_a_derivative_holds_or_replaces_is_open(question: str) -> None:
    with pytest.raises(OpenError, match="is said, and no formula of the layer does it"):
        read("Let", question)


@pytest.mark.parametrize(("said", "another"), [
    ("Use $0$ as the derivative at $0$.", False), ("Take the subgradient $1$ at $x_k = 0$.", True),
    (r"Assume the derivative at $x_k = 0$ is $\frac12$.", True), ("By convention the slope at zero is one.", True),
    ("At $0$ the derivative is defined to be $0$.", False),
])
def test_a_slope_at_a_kink_that_is_not_taken_is_said_on_the_sheet(said: str, another: bool) -> None:
    module = read(r"Let $y_k = \max(0, x_k)$.", said, r"Derive $\partial y_k/\partial x_i$.")
    assert isinstance(module, Module)
    assert any(r.startswith("not answered, since the slope at a kink") for r in module.readings) is another
