"""What is asked for that is made of derivatives, or of one layer of several, is not answered by the plain derivative."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card
from derive.errors import DeriveError
from derive.expr import Entry
from derive.module import Module
from derive.question import module_of

LINE = r"Let $y = w x + b$ and $L = (y - t)^2$."
MAP = r"Let $y_k = \tanh(\sum_j W_{kj} x_j)$."
SOFT = r"Let $p_k = \frac{e^{z_k}}{\sum_l e^{z_l}}$ and $L = -\sum_k t_k \ln p_k$."
NET = r"Let $h = \tanh(W_1 x)$, $y = W_2 h$ and $L = \frac12\|y - t\|^2$ with $x \in \mathbb{R}^n$, $h \in \mathbb{R}^m$, $y, t \in \mathbb{R}^K$."
OTHER = {
    LINE: [
        "Derive the negative gradient with respect to $w$.", "Derive minus the gradient with respect to $w$.",
        r"Compute $\Delta w = -\eta \frac{\partial L}{\partial w}$.", r"Derive $\partial L/\partial w$ and set it to zero.",
        r"Derive $\partial L/\partial w$ averaged over $N$ samples.", r"Derive the gradient $\partial L/\partial w$ for a minibatch of size $B$.",
        "Derive the natural gradient with respect to $w$.", "Derive the gradient with respect to $w$ with gradient clipping at $c$.",
        "Derive the derivative of $y$ with respect to $w$ and of $L$ with respect to $y$.",
        "Derive the derivatives of $y$ and $L$ with respect to $w$.", r"Derive $\partial L/\partial w$ and solve for $w$.",
        "Derive the scaled derivative of $L$ with respect to $w$.", "Derive the time derivative of $y$ with respect to $w$.",
        "Derive the sign of the derivative of $L$ with respect to $w$.", "Derive the blorped derivatives of $y$ with respect to $w$.",
        r"Derive $\partial L/\partial w$ divided by the batch size.", r"Derive $\partial L/\partial w$ with the sign reversed.",
        "Derive the gradient of the total loss over the training set with respect to $w$.",
        *(rf"Derive $\partial L/\partial w$ {behind}." for behind in (
            "to first order", "for one window only", "for small weights", "in the linear regime", "approximately",
            "at initialization", "for the first unit only", "near zero", "under weight tying", "to leading order",
            "for the transposed weights", "with probability one half", "per sample", "during inference")),
        "Derive the derivative of $y$ with respect to $w$ in the linear regime.",
    ],
    MAP: [
        r"Compute the determinant of the Jacobian $\partial y/\partial x$.", r"Compute the trace of the Jacobian $\partial y_k/\partial x_j$.",
        r"Compute $(\partial y/\partial x)^{-1}$.", r"Give an upper bound for $|\partial y_k/\partial x_j|$.",
        r"Compute the Jacobian-vector product $\frac{\partial y}{\partial x} v$.", r"Derive $\frac{\partial \sum_k y_k}{\partial x_j}$.",
        "Derive the transposed derivative of $y$ with respect to $x$.", r"Derive the numerical Jacobian $\partial y_k/\partial x_j$.",
        "Derive the rank of the Jacobian of $y$ with respect to $x$.", r"Derive the column sums of the Jacobian $\partial y_k/\partial x_j$.",
        r"Derive $(\partial y/\partial x)^\top$.", r"Derive $\frac{\partial y_k^2}{\partial x_j}$.",
    ],
    SOFT: [
        r"Derive $\frac{\partial \log p_k}{\partial z_j}$.", r"Derive $\nabla_z \log p_k$.",
        "Derive the Jacobian of the softmax and the gradient of the loss with respect to $z$.",
        "Derive the backward message of the softmax.", "Compute the Jacobians of both layers.",
    ],
    NET: [
        r"Derive $\partial L/\partial W_1$ with dropout on $h$.", r"Derive $\partial L/\partial W_1$ with tied weights $W_2 = W_1^\top$.",
        r"Derive $\partial L/\partial W_1$ when a weight decay term is added.", "Derive the gradient of the output with respect to the input.",
        r"Derive $\partial L/\partial x$ as a row vector.", r"Derive $\partial L/\partial x$ in numerator layout.",
        r"Derive $\partial L/\partial W_1$ for linear hidden units.",
    ],
}


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))


@pytest.mark.parametrize(("layer", "asked"), [(layer, asked) for layer, all_ in OTHER.items() for asked in all_])
def test_something_made_of_derivatives_is_open(layer: str, asked: str) -> None:
    with pytest.raises(DeriveError):
        read(f"{layer} {asked}")


@pytest.mark.parametrize("said", ["the", "all partial", "the exact", "the symbolic", "the local", "the entries of the", "both"])
def test_the_plain_derivatives_by_other_words(said: str) -> None:
    assert len(read(f"{LINE} Derive {said} derivatives of $L$ with respect to $w$ and $b$.").wanted) == 2


@pytest.mark.parametrize("behind", [
    "while $b$ is fixed", "given $x$ and $t$", "without $b$", "rather than $b$", ", not to $x$", "($b$ is a constant)",
    "for an input $x$ and a target $t$", "but treat $x$ as constant", "and show that it vanishes for $y = t$",
])
def test_letters_behind_the_list_are_not_asked_for(behind: str) -> None:
    try:
        module = read(f"{LINE} Derive the gradient with respect to $w$ {behind}.")
    except DeriveError:
        return
    assert {d.wrt.tensor for d in module.wanted if isinstance(d.wrt, Entry)} == {"w"}


@pytest.mark.parametrize("said", ["at $w = 0$", "for $t = 1$", "if $b = 0$", "where $b = 0$", "for $w = b = 0$", r"at $w = \pi$"])
def test_numbers_of_a_request_are_told_as_not_answered(said: str) -> None:
    found = read(rf"{LINE} Derive $\partial L/\partial w$ {said}.").readings
    assert any(r.startswith("not answered") and said in r for r in found)


@pytest.mark.parametrize("question", [
    rf"{LINE} In order to obtain a robust estimator, derive $\partial L/\partial w$.",
    rf"{LINE} Derive the gradient $\partial L/\partial w$ that is needed to update the weight.",
    rf"{MAP} Derive $\partial y_k/\partial x_j$ using the derivative of the tanh.",
    rf"{MAP} Determine $\partial L/\partial W_{{kj}}$ from $\delta_k = \partial L/\partial y_k$.",
    rf"{SOFT} Show that the gradient is $\partial L/\partial z_k = p_k - t_k$ for $\sum_k t_k = 1$ and derive $\partial L/\partial z_k$.",
])
def test_other_words_of_a_request_change_nothing(question: str) -> None:
    assert read(question).wanted


@pytest.mark.parametrize("besides", [
    r"Write the update rule of gradient descent with learning rate $\eta$.", "For which $w$ is the gradient zero?", "Is it bounded?",
    "State the number of parameters.",
])
def test_what_is_asked_besides_is_told_as_not_answered(besides: str) -> None:
    found = read(rf"{LINE} Derive the gradient with respect to $w$. {besides}").readings
    assert any(r.startswith("not answered") and besides.rstrip(".?") in r for r in found)


def test_two_derivatives_by_one_letter_with_another_between() -> None:
    asked = r"Derive $\frac{\partial p_i}{\partial z_j}$, then $\frac{\partial L}{\partial p_i}$ and from both $\frac{\partial L}{\partial z_j}$."
    solution = derive.solve(Card.parse(f"---\nid: q\n---\n\n# Question\n{SOFT} {asked}\n"))
    assert solution.report.ok and len(solution.module.wanted) == 3
