"""The matrix that holds samples as its rows is named beside formulas of the samples."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.expr import Entry, Partial
from derive.module import Module
from derive.question import module_of


def read(question: str) -> Module:
    return module_of(Card.parse(f"---\nid: a\n---\n# Question\n{question}\n"))


LOSS = r"$E = \frac{1}{2} \sum_{n=1}^{N} (\mathbf{w}^\top \mathbf{x}_n - t_n)^2$"


@pytest.mark.parametrize("said", [
    r"where $\mathbf{x}_n^\top$ is the $n$-th row of the design matrix $\mathbf{X}$",
    r"where the $\mathbf{x}_n$ are the rows of $\mathbf{X} \in \mathbb{R}^{N \times D}$",
])
def test_a_matrix_of_the_samples(said: str) -> None:
    asked = r"Derive $\partial E/\partial \mathbf{w}$"
    module = read(f"Let {LOSS}, {said}. {asked}, also in terms of $\\mathbf{{X}}$ and $\\mathbf{{t}}$.")
    assert (module.equations, module.wanted) == ((plain := read(f"Let {LOSS}. {asked}.")).equations, plain.wanted)


def test_the_gradient_by_the_matrix_is_by_each_of_its_rows() -> None:
    module = read(rf"Let {LOSS}, where $\mathbf{{x}}_n$ is row $n$ of $\mathbf{{X}}$. Derive $\partial E/\partial \mathbf{{X}}$.")
    (wanted,) = module.wanted
    assert isinstance(wanted, Partial) and isinstance(wanted.wrt, Entry) and wanted.wrt.tensor == "x"


def test_columns_are_no_rows() -> None:
    with pytest.raises(CardError, match="`X`"):
        read(rf"Let {LOSS}, where $\mathbf{{x}}_n$ is column $n$ of the data matrix $\mathbf{{X}}$, with the rows of "
             r"$\mathbf{X}$ centred. Derive $\partial E/\partial \mathbf{X}$.")


def test_a_row_that_is_looked_up_is_no_sample_of_its_table() -> None:
    text = (r"An embedding layer has a table $E \in \mathbb{R}^{V \times d}$; for the word at place $t$ it looks up the row of $E$ "
            r"that belongs to it, which gives $e_t \in \mathbb{R}^d$. Then $y = \tanh(m)$ of $$m = \frac{1}{T} \sum_{t=1}^T e_t.$$ "
            "Derive the gradient with respect to the ")
    with pytest.raises(CardError, match="embedding table"):
        module_of(Card.parse(f"---\nid: a\n---\n# Question\n{text}embedding table.\n"))
    assert module_of(Card.parse(f"---\nid: a\n---\n# Question\n{text}vectors $e_t$.\n")).inputs == ("e",)
