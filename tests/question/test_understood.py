r"""An open question's statement: what is understood of it, ``?`` where it is open; completed, it is solved."""

from __future__ import annotations

import pytest

from derive.card import Card
from derive.errors import CardError, OpenError, UnsupportedError
from derive.module import Module
from derive.question import module_of
from derive.reading import statement_read
from derive.statement import Statement


def opened(question: str) -> Statement:
    statement, error = statement_read(Card.parse(f"---\nid: q\n---\n# Question\n{question}\n"))
    assert isinstance(error, CardError)
    return statement


def completed(question: str, text: str) -> Module:
    return module_of(Card.parse(f"---\nid: q\n{text}---\n# Question\n{question}\n"))


@pytest.mark.parametrize(("question", "text", "old", "new", "equations"), [
    pytest.param(r"A layer computes $y = \frac1n \sum_{j=1}^n e^{x_j}$. A maxout is used. Derive the backward message.", r"""forward:
  - 'y = \frac{1}{n} \sum_{j=1}^{n} e^{x_{j}}'
  - '?'
shapes:
  - 'x \in \mathbb{R}^{n}'
derive: [backward]
""", "  - '?'\n", "", 1, id="a name without a formula"),
    pytest.param("A linear layer with weights $W$ is followed by a ReLU and a skip connection adds the input. Derive the backward message.", r"""forward:
  - 's_{k} = \sum_{j} W_{kj} x_{j} + b_{k}'
  - 'y_{k} = \max(0, s_{k})'
  - '?'
parameters: [W, b]
shapes:
  - 'x \in \mathbb{R}^{m}'
  - 'W \in \mathbb{R}^{n \times m}'
  - 'b \in \mathbb{R}^{n}'
derive: [backward]
""", "'?'", "'z_k = y_k + x_k'", 3, id="words that are not understood"),
    pytest.param(r"A layer computes $y_k = \max(0, x_k)$. Derive the backward and the blorp message.", r"""forward:
  - 'y_{k} = \max(0, x_{k})'
shapes:
  - 'x \in \mathbb{R}^{n}'
derive:
  - 'backward'
  - '?'
""", "'?'", "'forward'", 1, id="a request"),
    pytest.param(r"The layer is $y = \sum_k c_k x_k$ with the prototypes $c$. Derive the backward message.", r"""forward:
  - 'y = \sum_{k} c_{k} x_{k}'
inputs:
  - 'c?'
shapes:
  - 'c \in \mathbb{R}^{n}'
  - 'x \in \mathbb{R}^{n}'
derive: [backward]
""", "c?", "c", 1, id="a role"),
    pytest.param("Derive the backward message of average pooling with stride 2.", "layers: avg_pool\nkernel_size:\n  - '?'\n", "kernel_size:\n  - '?'\n",
                 "kernel_size: 3\n", 1, id="a window's size"),
    pytest.param(r"A layer computes $y_k = \max(0, x_k)$ and $z_k = x_k^2$. Derive the backward message.", r"""forward:
  - 'y_k = \max(0, x_k)'
  - 'z_k = x_k^2'
output: '?'
""", "'?'", "z", 1, id="which is the output"),
    pytest.param(r"A neuron computes $z = w^T u + b$ with the weights $w$, and $y = q(z)$. Derive the backward message.", r"""forward:
  - 'z = w^T u + b'
  - 'y = q(z)'
""", r"q(z)", "z^2", 2, id="a formula with two readings"),
    pytest.param("A linear layer is followed by layer normalisation and a ReLU. Derive the backward message.",
                 "layers: 'linear -> layer_norm -> relu ?'\n", " ?", "", 6, id="names that are chained"),
])  # fmt: skip
def test_completed_by_a_line_it_is_solved(question: str, text: str, old: str, new: str, equations: int) -> None:
    statement = opened(question)
    assert statement.text == text
    with pytest.raises(CardError):
        completed(question, statement.text)
    assert len(completed(question, text.replace(old, new, 1)).equations) == equations


def test_what_is_out_of_scope_has_no_statement() -> None:
    statement, error = statement_read(Card.parse("---\nid: q\n---\n# Question\nWhy is Naive Bayes $p(x) = y$ called so?\n"))
    assert isinstance(error, UnsupportedError)
    assert statement.text == ""


def test_all_that_is_open_is_told_at_once() -> None:
    question = r"A smooth ReLU layer with the prototypes $c$ computes $y = \sum_k c_k x_k$. Its output goes through a tanh. Derive the blorp message."
    with pytest.raises(OpenError) as error:
        completed(question, "")
    assert [p.key for p in error.value.problems] == ["derive", "forward", "inputs"]
    assert isinstance(error.value.found, Module)


def test_an_index_is_no_letter_with_a_label() -> None:
    r"""Of $i_t$ no index is i, so that what is written can be read again."""
    question = r"A cell with vectors computes $$ c_t = f_t \odot c_{t-1} + i_t \odot \tanh(W_c x_t). $$ Derive the backward and the blorp message."
    text = opened(question).text
    assert "i_{t,j}" in text
    assert completed(question, text.replace("'?'", "'forward'")).table.named("i_t").axes == ("j",)  # type: ignore[union-attr]
