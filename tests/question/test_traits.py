"""What words say once more of a layer that they name changes nothing; what its formula has not is open."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import DeriveError
from derive.module import Module
from derive.question import module_of

NORM = "has a gain $g$, a shift $b$ and a small $\\epsilon$"
ASKED = r" Derive $\partial L/\partial x$."
ALIKE = {
    rf"Layer normalisation of $x \in \mathbb{{R}}^n$ {NORM}; its output is $y$.{ASKED}": [
        r"Layer normalisation of $x \in \mathbb{R}^n$ has a gain $g$ and a shift $b$; $\epsilon$ is added to the variance. "
        rf"Call the output $y$.{ASKED}",
    ],
    rf"Batch normalisation of $x \in \mathbb{{R}}^{{N \times D}}$ {NORM}; its output is $y$.{ASKED}": [
        r"Batch normalisation in training mode is applied to a mini-batch $x \in \mathbb{R}^{N \times D}$ (samples in the rows). "
        r"For every feature the batch mean and the biased batch variance (division by $N$) are used, a constant $\epsilon$ is "
        r"added to the variance under the square root, and the result is scaled by $g$ and shifted by $b$. Call the output "
        r"$y$. Derive $\partial L/\partial x$ when $\partial L/\partial y$ comes in.",
    ],
    r"A PReLU layer with slope $a$ has the input $x$ and the output $y$. Derive the backward message.": [
        r"A PReLU layer with one learnable slope $a$, shared by all $n$ components, maps $x$ to $y$. Derive the backward message. "
        r"All $x_i \neq 0$.",
        "A PReLU layer with slope $a$ receives $x$ and returns $y$. Derive the backward message.",
    ],
    r"Average pooling with a 2×2 window, stride 2 and no padding has the input $X$ and the output $Y$. "
    r"Derive $\partial L/\partial X_{ij}$ from $\partial L/\partial Y$.": [
        r"Average pooling with a 2×2 window, stride 2 and no padding reduces $X \in \mathbb{R}^{4 \times 6}$ to "
        r"$Y \in \mathbb{R}^{2 \times 3}$. Derive $\partial L/\partial X_{ij}$ from $\partial L/\partial Y$.",
    ],
    r"The logits $z$ go through a softmax, and the loss $L$ is the cross-entropy with a one-hot target $t$. "
    r"Derive $\partial L/\partial z_j$.": [
        r"A classifier with $K$ classes puts its logits $z$ through a softmax; the loss $L$ is the cross-entropy between the "
        r"resulting probabilities and a one-hot target $t$. Derive $\partial L/\partial z_j$.",
    ],
    r"Let $J$ be the binary cross-entropy between the label $y \in \{0, 1\}$ and the sigmoid of the logit $z \in \mathbb{R}$. "
    r"Derive $\partial J/\partial z$.": [
        r"The logit $z \in \mathbb{R}$ goes through a sigmoid, and $J$ is the binary cross-entropy with the label "
        r"$y \in \{0, 1\}$. Derive $\partial J/\partial z$.",
    ],
}
OTHER = [
    "Batch normalisation is applied to $x$; for each feature the unbiased batch variance is used. It has gain $g$, shift $b$ and "
    r"a small $\epsilon$. Derive $\partial L/\partial x$.",
    "Batch normalisation of $x$ (division by $N - 1$) has gain $g$, shift $b$ and a small $\\epsilon$; its output is $y$. "
    r"Derive $\partial L/\partial x$.",
    "Layer normalisation of $x$ has gain $g$, shift $b$ and a small $\\epsilon$; no mean is subtracted. The output is $y$. "
    r"Derive $\partial L/\partial x$.",
    r"Let $J$ be the squared error between the prediction $p$ and the running mean of the targets $t$. Derive $\partial J/\partial p$.",
    "A PReLU layer with slope $a$ maps $x$ to the negative of $y$. Derive the backward message.",
    "A PReLU layer with slope $a$, not shared by all units, maps $x$ to $y$. Derive the backward message.",
    r"Max pooling with 2×2 windows, stride 2 and no padding maps $X$ to $Y$. The windows overlap! Derive $\partial L/\partial X$.",
    r"Max pooling over time with 2×2 windows, stride 2 and no padding maps $X$ to $Y$. Derive $\partial L/\partial X$.",
]


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n\n{question}\n\n# Solution\n"))


@pytest.mark.parametrize(("plain", "question"), [(plain, q) for plain, alike in ALIKE.items() for q in alike])
def test_a_layer_that_words_describe_is_the_one_that_they_name(plain: str, question: str) -> None:
    one, other = read(plain), read(question)
    assert one.equations[-1] == other.equations[-1] and one.output == other.output
    assert (one.inputs, one.parameters, one.constants) == (other.inputs, other.parameters, other.constants)


@pytest.mark.parametrize("question", OTHER)
def test_a_layer_that_words_describe_otherwise_is_open(question: str) -> None:
    with pytest.raises(DeriveError):
        read(question)


@pytest.mark.parametrize(("letter", "rank"), [(r"p \in \mathbb{R}", 0), (r"p \in \mathbb{R}^n", 1), ("p", 1)])
def test_a_loss_of_numbers_sums_over_nothing(letter: str, rank: int) -> None:
    found = read(rf"Let $J$ be the squared error between the prediction ${letter}$ and the target $t$. Derive $\partial J/\partial p$.")
    assert [len(s.axes) for s in found.table.symbols if s.name == "p"] == [rank]


def test_i_e_what_is_asks() -> None:
    found = read(r"Let $R = \sum_i |w_i|$. What does $R$ contribute to the gradient, i.e. what is $\partial R/\partial w_i$?")
    assert [d.wrt.tensor for d in found.wanted] == ["w"]
