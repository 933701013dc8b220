"""The mask of a maximum: which entries it passes, as a matrix of zeros and ones, shared at ties by the rule."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from derive import solve
from derive.card import Card
from derive.errors import CardError
from derive.expr import Entry, Matrix, Num, Rel, conditions
from derive.question import module_of
from derive.sheet import Math
from derive.solve import Solution
from derive.specify.writing import statement_of
from derive.verify.sheet import verify

POOLING = (r"Consider max pooling with 2×2 windows and stride 2 on "
           r"$$X = \begin{pmatrix} 1 & 3 & 2 & 0 \\ 4 & 2 & 1 & 5 \end{pmatrix}.$$ ")
TIED = r"Consider max pooling with windows of length 2 and stride 2 on $x = (1, 1, 2, 3)$. "
RELU = (r"Let $y = Wx + b$ and $z_k = \max(0, y_k)$ with $W = \begin{bmatrix} 1 & -2 \\ 0 & 3 \end{bmatrix}$, "
        r"$b = (1, -2)^\top$, $x = (2, 3)^\top$. ")
DELTA = r" for the upstream gradient $\delta = \begin{pmatrix} 1 & 2 \end{pmatrix}$."
MASKS = {  # the question, and the mask
    POOLING + "Compute the output, the mask and the gradient with respect to the input" + DELTA: [0, 0, 0, 0, 1, 0, 0, 1],
    POOLING + "Compute the output and the mask.": [0, 0, 0, 0, 1, 0, 0, 1],
    POOLING + "Compute the output. Which entries of the input receive gradient?": [0, 0, 0, 0, 1, 0, 0, 1],
    TIED + "Compute the mask and the backward message for the upstream gradient $g = [5, 7]$.": [1, 0, 0, 1],
    TIED + "The gradient is split at ties. Compute the mask and the backward message for the upstream gradient $g = [5, 7]$.": [
        Fraction(1, 2), Fraction(1, 2), 0, 1],
    TIED.replace("stride 2", "stride 1").replace("1, 1, 2", "1, 7, 2")
    + "Compute the mask and the backward message for the upstream gradient $g = [5, 7, 1]$.": [0, 2, 0, 1],
    RELU + r"Compute the output, the mask of the ReLU and $\partial z/\partial x$.": [0, 1],
}


def card(question: str, front: str = "") -> Card:
    return Card.parse(f"---\nid: masks\n{front}---\n\n# Question\n{question}\n", "card.md")


def printed(solution: Solution) -> list[Fraction]:
    (mask,) = solution.module.masks
    (value,) = (c.terms[1] for m in solution.sheet.answer if isinstance(m, Math) and m.name == "numbers"
                for c in conditions(m.expr) if isinstance(c, Rel) and c.terms[0] is Entry(mask.name, ()))
    assert isinstance(value, Matrix)
    return [e.value for row in value.rows for e in row if isinstance(e, Num)]


@pytest.mark.parametrize("question", MASKS)
def test_the_mask_at_the_numbers_of_a_question(question: str) -> None:
    solution = solve(card(question))
    assert solution.report.ok, solution.report.failures
    assert printed(solution) == MASKS[question]


def test_the_mask_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([[1.0, 3, 2, 0], [4, 2, 1, 5]], requires_grad=True)
    torch.nn.functional.max_pool2d(x[None, None], 2).sum().backward()
    assert printed(solve(card(POOLING + "Give the mask."))) == x.grad.flatten().tolist()


def test_the_mask_in_letters() -> None:
    solution = solve(card(r"Let $z_k = \max(0, y_k)$ and $y = W x$. Derive the mask and $\partial z/\partial x$."))
    assert any(r"= \mathbb{I}[y_{k} > 0]" in m.latex for m in solution.sheet.answer if isinstance(m, Math) and m.name == "mask")
    assert solution.report.ok


@pytest.mark.parametrize("words", ["Let $y = W x$. Derive the mask and $\\partial y/\\partial x$.",
                                   r"Let $y_k = \max(x_k, a x_k)$. Derive the mask and $\partial y/\partial x$."])
def test_without_such_a_maximum_it_is_refused(words: str) -> None:
    with pytest.raises(CardError, match="no maximum of letters"):
        module_of(card(words))


def test_the_statement_of_a_card_has_its_mask() -> None:
    module = module_of(card(POOLING + "Compute the output and the mask."))
    assert module_of(card("Derive.", statement_of(module).text)).masks == module.masks


def test_another_mask_is_refuted() -> None:
    solution = solve(card(POOLING + "Compute the output and the mask."))
    blocks = tuple(replace(b, latex=b.latex.replace(r"B = \begin{pmatrix} 0 & 0 & 0 & 0 \\ 1 & 0 & 0 & 1",
                                                    r"B = \begin{pmatrix} 0 & 0 & 0 & 0 \\ 1 & 0 & 1 & 0"))
                   if isinstance(b, Math) else b for b in solution.sheet.answer)
    assert blocks != solution.sheet.answer
    assert not verify(replace(solution.sheet, answer=blocks), solution.messages).ok
