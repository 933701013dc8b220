"""Two ways to write one value."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.module import Module
from derive.question import module_of

FIRST = r"$$y_k = \mathbf{u}^\top \mathbf{A}_k \mathbf{v} + b_k, \qquad k = 1, \dots, m$$"
ASKED = r"Given $\partial L/\partial y_k$, derive $\partial L/\partial A_{kij}$."


def read(first: str, second: str = "") -> Module:
    said = f"In other words, {second} " if second else ""
    return module_of(Card.parse(f"---\nid: q\n---\n\n# Question\nLet {first} {said}{ASKED}\n"))


@pytest.mark.parametrize("second", [
    r"$y_k = \sum_{i,j} A_{kij} u_i v_j + b_k$.", r"$y_k = b_k + \sum_j v_j \sum_i A_{kij} u_i$.",
    r"$y_k = \sum_{p=1}^n \sum_{q=1}^l u_p A_{kpq} v_q + b_k$.",
])
def test_sums_of_products_are_the_same_in_any_order(second: str) -> None:
    assert read(FIRST, second).equations == read(FIRST).equations


@pytest.mark.parametrize("second", [
    r"$y_k = \sum_{i,j} A_{kji} u_i v_j + b_k$.", r"$y_k = \sum_{i,j} A_{kij} u_i v_j$.", r"$y_k = \sum_{i,j} A_{kij} u_i v_j - b_k$.",
    r"$y_k = 2 \sum_{i,j} A_{kij} u_i v_j + b_k$.",
])
def test_others_differ(second: str) -> None:
    with pytest.raises(CardError, match="two definitions"):
        read(FIRST, second)
