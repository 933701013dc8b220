"""Labels and word numbers: whose entries are indices of what, and what is computed with them."""

from __future__ import annotations

import numpy as np
import pytest

import derive
from derive.errors import CardError
from derive.pointers import pointers

LABELS = r"""---
id: labels
---

# Question
Let $p_{ik} = e^{s_{ik}} / \sum_{j=1}^{K} e^{s_{ij}}$ and $y_i \in \{1, \dots, K\}$ for $i = 1, \dots, N$. The loss is
$\ell = -\sum_{i=1}^{N} %s$. Derive %s.
"""


def of(value: str, asked: str = r"$\partial \ell / \partial s_{ik}$") -> derive.Solution:
    return derive.solve(derive.Card.parse(LABELS % (value, asked)))


def test_an_entry_at_a_label_and_the_sum_with_the_labels_indicator_are_one_loss() -> None:
    entry, total = of(r"\log p_{i,y_i}"), of(r"\sum_{k=1}^{K} \mathbb{1}[k = y_i] \log p_{ik}")
    assert pointers(entry.module) == {"y": ("p", 1)} and set(pointers(total.module)) == {"y"}
    assert entry.report.ok and total.report.ok
    arrays = {"s": np.random.default_rng(1).normal(size=(4, 3)), "y": [1, 3, 2, 3]}
    assert entry.forward(**arrays) == pytest.approx(total.forward(**arrays))
    np.testing.assert_allclose(entry.backward("s", **arrays), total.backward("s", **arrays))


def test_nothing_is_differentiated_by_a_label_but_by_the_entry_there() -> None:
    assert of(r"\log p_{i,y_i}").module.constants == ("y",)
    with pytest.raises(CardError, match="`y`"):
        of(r"\log p_{i,y_i}", r"$\partial \ell / \partial y_i$")
    at_label = of(r"\log p_{i,y_i}", r"$\partial \ell / \partial s_{i,y_i}$")
    assert at_label.derived == "∂ℓ/∂s_{i,y_i}" and at_label.report.ok


def test_a_letter_with_subscripts_behind_a_delta_is_a_label_and_no_index() -> None:
    card = derive.Card.parse("---\nid: d\n---\n\n# Question\nLet $f_k = \\tanh(x_k)$. Derive $\\partial L / \\partial x_k$ "
                             "for the gradient $\\delta_{f_k} = \\partial L / \\partial f_k$.\n")
    assert not pointers(derive.solve(card).module)


@pytest.mark.parametrize("noun", ["true class", "label", "correct class"])
def test_words_that_call_a_letter_a_class_make_it_a_label(noun: str) -> None:
    card = derive.Card.parse(f"---\nid: c\n---\n\n# Question\nLet $p = \\mathrm{{softmax}}(s)$ and $\\ell = -\\log p_c$ with the "
                             f"{noun} $c$. Derive $\\partial \\ell / \\partial s_k$.\n")
    found = derive.solve(card)
    assert found.module.constants == ("c",) and found.report.ok
    np.testing.assert_allclose(found.backward("s", s=[0.0, 0.0], c=1), [0.5, -0.5])
