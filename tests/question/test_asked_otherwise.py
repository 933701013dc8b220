"""Derivatives that are asked for in other words of the field: by letters of their own, passively, as what goes back."""

from __future__ import annotations

import pytest

import derive
from derive.card import Card
from derive.errors import DeriveError
from derive.expr import Entry

LINE = r"Let $y = w x + b$ and $L = (y - t)^2$."
UNIT = r"Let $z = w x + b$ and $a = \tanh(z)$."
DEEP = r"Let $z = w x + b$, $a = \tanh(z)$ and $L = (a - t)^2$."
MAP = r"Let $y_i = \tanh(\sum_j W_{ij} x_j)$."


def solved(question: str) -> derive.Solution:
    found = derive.solve(Card.parse(f"---\nid: q\n---\n\n# Question\n{question}\n"))
    assert found.report.ok and not found.module.unanswered
    return found


def asked(question: str) -> str:
    pairs = ((d.of.tensor, d.wrt.tensor) for d in solved(question).module.wanted
             if isinstance(d.of, Entry) and isinstance(d.wrt, Entry))
    return " ".join("/".join(pair) for pair in pairs)


@pytest.mark.parametrize(("question", "derivatives"), [
    (rf"{LINE} Compute $dw$ and $db$.", "L/w L/b"),
    (rf"{LINE} This is the squared error with respect to the target $t$. Derive $\partial L/\partial w$.", "L/w"),
    (rf"{DEEP} Derive $\delta_z$.", "L/z"), (rf"{MAP} Derive $\delta_x$ from $\delta_y$.", "loss/x"),
    (rf"{MAP} Derive $\delta_x$ and $\delta_W$ in terms of $\delta_y$.", "loss/x loss/W"),
    (rf"{MAP} The gradient of the loss with respect to $W$ is to be derived.", "loss/W"),
    (rf"{MAP} The derivatives $\partial L/\partial W_{{ij}}$ are to be derived.", "loss/W"),
    (rf"{MAP} What does this layer send back to $x$?", "y/x loss/x"),
    (rf"{MAP} What does this layer send back to $x$, given $\delta_y$?", "y/x loss/x"),
    (rf"{MAP} Which gradient does the layer pass back to $x$?", "y/x loss/x"),
    (rf"{MAP} Show how the error is propagated through this layer back to $x$.", "y/x loss/x"),
    (rf"{MAP} Find the sensitivity of $y$ to $x$.", "y/x"), (rf"{MAP} Find the sensitivity of the loss to $W$.", "loss/W"),
    (rf"{MAP} What is the local gradient of $y$ with respect to $x$?", "y/x"),
    (DEEP + "\nFor a known target:\n(i) [2 P.] $\\nabla_w L$ and $\\nabla_b L$\n(ii) [1 P.] $\\nabla_x L$", "L/w L/b L/x"),
    (DEEP + " Write down, in this order,\n\n(1) $\\partial L/\\partial a$, (2) $\\partial L/\\partial w$.", "L/a L/w"),
    (r"In a GRU cell the state is $h_t = (1 - z_t) h_{t-1} + z_t c_t$. Derive $\partial L/\partial z_t$.", "loss/z_t"),
    (rf"{DEEP} Derive the update directions, i.e. $\partial L/\partial w$ and $\partial L/\partial b$.", "L/w L/b"),
    (rf"{DEEP} Wanted: $\partial L/\partial w$ and $\partial L/\partial x$.", "L/w L/x"),
    (rf"{DEEP} Derive (1p each, the third one 3p) $\partial L/\partial a$, $\partial L/\partial z$ and $\partial L/\partial w$.",
     "L/a L/z L/w"),
    (rf"{DEEP} What does the unit hand back, i.e. what is its $\partial L/\partial x$? Also give $\partial L/\partial w$.",
     "L/x L/w"),
    (r"Swish is an activation with one slope $\beta$: $f_i = x_i \tanh(\beta x_i)$. Derive $\partial f_i/\partial\beta$.",
     "f/beta"),
    (r"Two heads share the input $x$: the mean $m = w^\top x$ and $s = v^\top x$. Derive $\nabla_w \ell$ for "
     r"$\ell = s + (t - m)^2 e^{-s}$.", "ell/w"),
    (r"Regression with labels $t_n$ and $L_2$ regularisation: $E = \sum_n (w^\top x_n - t_n)^2 + \frac{\lambda}{2} "
     r"\|w\|_2^2$. Derive $\nabla_w E$.", "E/w"),
])
def test_what_is_asked_in_other_words_is_derived(question: str, derivatives: str) -> None:
    assert {*asked(question).split()} == {*derivatives.split()}


@pytest.mark.parametrize("question", [
    rf"{DEEP} Derive $\delta_w$ and $\dot w$.", r"Let $h = w x$ and $y = \tanh(h)$. Find the sensitivity of $h$ to $x$.",
    r"Let $y = w x$ where $\bar x$ is the mean. Compute $\bar x$.",
    rf"{LINE} Compute $\bar w$.", rf"{DEEP} Derive $\bar w = \partial L/\partial w$ and $\bar z$.",
    rf"{UNIT} Given $\bar a$, derive $\bar w$ and $\bar x$.", rf"{LINE} Derive the gradients $g_w$ and $g_b$.",
    rf"{MAP} Derive $\partial L/\partial W$ and $g_x$.",
])
def test_what_only_looks_so_is_open(question: str) -> None:
    with pytest.raises(DeriveError):
        solved(question)


def test_g_with_an_index_is_no_gradient_of_the_index() -> None:
    question = r"Let $s_k = \sum_j W_{kj} x_j$. Express $\partial L/\partial W_{kj}$ by the numbers $g_k = \partial L/\partial s_k$."
    assert asked(question) == "loss/W"


def test_the_local_gradient_is_that_of_the_output() -> None:
    assert solved(r"Let $y = \tanh(x)$. What is the local gradient of this unit?").module.asked == ("jacobian",)


@pytest.mark.parametrize(("formulas", "wrt"), [
    (r"$z = w x + b$ and $a = \sigma(z)$", "w"), (r"$a = \sigma(\sigma(w))$", "w"), (r"$a = w \sigma(w)$", "w"),
])
def test_sigma_of_which_nothing_is_said_is_the_logistic_function(formulas: str, wrt: str) -> None:
    found = solved(rf"Let {formulas}. Derive $\partial a/\partial {wrt}$.")
    assert any(r"$\sigma$ is the logistic function" in r for r in found.module.readings)


@pytest.mark.parametrize("question", [
    r"Let $y = \sigma(z)$ where $\sigma$ is an activation function. Derive $\partial y/\partial z$.",
    r"Let $y = \sigma(z)$ with a nonlinearity $\sigma$. Derive $\partial y/\partial z$.",
    r"Let $a = \sigma(z)$. Derive $\partial a/\partial z$ in terms of $\sigma'(z)$.",
    r"Let $p = \sigma(z)$ and $L = -\sum_k t_k \log p_k$. Derive $\partial L/\partial z_k$.",
    r"Let $y = (x - \mu)/\sigma$ and $a = \sigma(y)$. Derive $\partial a/\partial x$.",
])
def test_sigma_that_may_be_something_else_is_open(question: str) -> None:
    with pytest.raises(DeriveError):
        solved(question)
