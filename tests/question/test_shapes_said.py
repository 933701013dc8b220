"""Shapes that words say, in the ways that courses and programs spell them, count as declarations do."""

from __future__ import annotations

from itertools import pairwise

import pytest

from derive.axes import with_axes
from derive.card import Card
from derive.errors import CardError
from derive.expr import Entry, walk
from derive.module import Module
from derive.question import module_of

ASKED = r"Derive $\partial L/\partial X$, $\partial L/\partial W$ and $\partial L/\partial b$."
DECLARED = r"$X \in \mathbb{R}^{N \times D}$, $W \in \mathbb{R}^{D \times M}$ and $b \in \mathbb{R}^M$"


def read(said: str) -> Module:
    text = rf"A layer computes $H = \max(0, XW + b)$ with {said}. {ASKED}"
    return module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n"))


@pytest.mark.parametrize("said", [
    r"$X$ of shape $(N, D)$, $W$ of shape $(D, M)$ and a vector $b$ of shape $(M,)$",
    r"an $N \times D$ matrix $X$, a $D \times M$ matrix $W$; the shape of all is as in NumPy: $b$ has shape $(M,)$",
    r"shapes as in a program: `X` is `(N, D)`, `W` is `(D, M)` and `b` is `(M,)`",
])
def test_shapes_in_words_are_declarations(said: str) -> None:
    assert read(said).equations == read(DECLARED).equations


def test_several_letters_have_one_shape_and_a_label_is_a_subscript() -> None:
    text = (r"A step computes $h_{\text{next}} = \tanh(x W_x + h_{\text{prev}} W_h)$; `x` is `(N, D)`, `h_prev` and `h_next` "
            r"are `(N, H)`, `W_x` is `(D, H)`, `W_h` is `(H, H)`. Derive $\partial L/\partial h_{\text{prev}}$.")
    module = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n"))
    ranks = {n.tensor: len(n.indices) for n in walk(module.equations[0]) if isinstance(n, Entry)}
    assert ranks == {"h_next": 2, "x": 2, "W_x": 2, "h_prev": 2, "W_h": 2}


def test_a_shape_of_nothing_is_open() -> None:
    with pytest.raises(CardError, match="of what is this the shape"):
        read(f"{DECLARED}, which gives something of `(N, M)` entries")


def test_other_code_is_passed_over() -> None:
    assert read(f"{DECLARED} in `numpy`, in a function `forward_pass(x)`").equations == read(DECLARED).equations


def test_an_entry_s_size_is_no_shape_of_the_letter() -> None:
    r"""“$C$ feature maps $a_{cij}$ of size $H \times W$”: a has three axes."""
    text = (r"Feature maps $a_{cij}$ of size $H \times W$ are averaged: $g_c = \frac{1}{HW} \sum_{i=1}^{H} \sum_{j=1}^{W} a_{cij}$. "
            r"Derive $\partial L/\partial a_{cij}$.")
    module = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n"))
    assert module.table.named("a").axes == ("c", "i", "j")


def test_the_shape_of_a_matrix_is_that_of_its_entries() -> None:
    mean = r"$y_d = \frac{1}{N} \sum_n x_{nd}$"
    text = rf"For $X \in \mathbb{{R}}^{{N \times D}}$ a layer computes {mean}. Derive the backward message."
    found = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n")).table.named("x")
    assert found is not None and found.sizes == ("N", "D")


@pytest.mark.parametrize(("again", "same"), [
    (r"$p_i = \frac{e^{z_i / \tau}}{\sum_j e^{z_j / \tau}}$", True),
    (r"$p_i = \frac{e^{z_i}}{\sum_j e^{z_j / \tau}}$", False),
])
def test_two_definitions_are_compared_in_terms_of_what_is_given(again: str, same: bool) -> None:
    text = rf"Let $p = \operatorname{{softmax}}(z / \tau)$, that is {again}. Derive the Jacobian $\partial p / \partial z$."
    card = Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n")
    if same:
        assert module_of(card).output == "p"
    else:
        with pytest.raises(CardError, match="two definitions of `p`"):
            module_of(card)


@pytest.mark.parametrize(("written", "entries"), [
    (r"Y = X \operatorname{diag}(g)", r"Y_{ij} = X_{ij} g_j"), (r"Y = \operatorname{diag}(g) X", r"Y_{ij} = g_i X_{ij}"),
])
def test_a_diagonal_matrix_scales_columns_or_rows(written: str, entries: str) -> None:
    def equations(formula: str) -> object:
        text = rf"For $X \in \mathbb{{R}}^{{N \times D}}$ derive the backward message of ${formula}$ with a vector $g$."
        (found,) = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n")).equations
        return found.terms[1]

    assert equations(written) == equations(entries)


def test_dimensions_of_what_a_formula_computes_make_it_no_size() -> None:
    text = (r"Let $S = Q K^\top$ and $A = \operatorname{softmax}(S)$, a softmax of each row, with $Q \in \mathbb{R}^{n \times d}$ and "
            r"$K \in \mathbb{R}^{m \times d}$. State the dimensions of $S$ and $A$. Derive $\partial L/\partial Q$.")
    assert module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n")).output == "A"


def test_two_definitions_in_terms_of_a_long_chain_are_not_spelt_out_for_ever() -> None:
    letters = "abcdfghmnopqrsuvw"
    chain = " ".join(rf"Let ${a}_k = {b}_k \tanh({b}_k)$." for a, b in pairwise(letters))
    text = rf"{chain} Also $a_k = b_k \tanh(c_k \tanh(c_k))$. Derive $\partial a / \partial w$."
    with pytest.raises(CardError, match="two definitions of `a`"):
        module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n"))


def test_declarations_on_display_are_no_cases_of_the_equations_before() -> None:
    module = module_of(Card.parse(
        "---\nid: display\n---\n\n# Question\nWith the sigmoid $\\sigma$, $$h = \\sigma(W x + b), \\qquad z = w^\\top h + c$$ with "
        "$$W \\in \\mathbb{R}^{3 \\times 2},\\; b \\in \\mathbb{R}^3,\\; w \\in \\mathbb{R}^3.$$ Derive $\\partial z/\\partial x$.\n"))
    assert (module.given, module.output) == (("W", "x", "b", "w", "c"), "z")


@pytest.mark.parametrize("said", [
    r"For $x \in \mathbb{R}^{C}$ and $y \in \mathbb{R}^{C'}$ a layer computes $y_c = \tanh(\sum_{d=1}^{C} W_{cd} x_d)$",
    r"For $x \in \mathbb{R}^{C}$ a layer computes $y = \tanh(W x)$ with $W \in \mathbb{R}^{C^{\prime} \times C}$",
    r"A layer computes $y_c = \tanh(\sum_{d=1}^{C} W_{cd} x_d)$, $c = 1, \dots, C'$",
])
def test_a_primed_size_is_another_size(said: str) -> None:
    module = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{said}. Derive the backward message and the parameter message.\n"))
    y, w = axes_sizes(module, "y"), axes_sizes(module, "W")
    assert w[0] == y[0] == "C_prime" and w[1] == "C"


def test_numbered_sizes_are_the_card_s_own() -> None:
    text = (r"$x \in \mathbb{R}^{n_0}$, $h = \tanh(W_1 x + b_1)$, $y = W_2 h$, $W_1 \in \mathbb{R}^{n_1 \times n_0}$, "
            r"$W_2 \in \mathbb{R}^{n_2 \times n_1}$.")
    module = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text} Derive the backward message.\n"))
    assert [axes_sizes(module, n) for n in ("W_1", "W_2", "h")] == [("n_1", "n_0"), ("n_2", "n_1"), ("n_1",)]


def axes_sizes(module: Module, name: str) -> tuple[int | str, ...]:
    symbol = with_axes(module).table.named(name)
    assert symbol is not None
    return symbol.sizes


@pytest.mark.parametrize("loss", [r"\|\tanh(W u) - \tanh(W v)\|^2", r"\|\tanh(W x_1) - \tanh(W x_2)\|^2", r"\|\tanh(W u)\|^2"])
def test_a_capital_acts_on_a_vector(loss: str) -> None:
    """W u of a norm is no matrix times a number."""
    module = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\nLet $L = {loss}$. Derive $\\partial L/\\partial W$.\n"))
    assert {len(axes_sizes(module, name)) for name in module.given if name != "W"} == {1}


@pytest.mark.parametrize("question", [r"the perceptron loss $L = \max(0, -y\, w^\top x)$", r"$L = \max(0, -y\, w^\top x)$ with $y \in \{-1, 1\}$"])
def test_a_loss_and_a_label_are_numbers(question: str) -> None:
    module = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\nConsider {question}. Derive $\\nabla_w L$.\n"))
    assert axes_sizes(module, "L") == axes_sizes(module, "y") == ()


SPACES = [
    (r"Let $x$ and $w$ be vectors in $\mathbb{R}^4$ and $y = w^\top x + b$. Derive $\partial y / \partial x$.",
     {"x": 1, "w": 1, "y": 0, "b": 0}),
    (r"Values $v_1, v_2, v_3$ in $\mathbb{R}^4$ give $o = \sum_j a_j v_j$. Derive $\partial o / \partial a_j$.",
     {"v": 2, "a": 1, "o": 1}),
    (r"For keys $k_j$ and values $v_j$ in $\mathbb{R}^4$ let $o = \sum_j a_j v_j$. Derive $\partial o / \partial a_j$.",
     {"v": 2, "a": 1, "o": 1}),
]


@pytest.mark.parametrize(("text", "ranks"), SPACES)
def test_a_space_in_words_is_that_of_the_letters_in_front(text: str, ranks: dict[str, int]) -> None:
    table = module_of(Card.parse(f"---\nid: shapes\n---\n\n# Question\n{text}\n")).table
    assert {name: len(table.named(name).axes) for name in ranks} == ranks
