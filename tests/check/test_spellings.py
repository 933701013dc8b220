"""Spellings of conditions, labels, numbers and the identity matrix in what people write."""

import pytest

import derive
from derive.verify.report import Verdict

RELU = r"A layer computes $y_k = \max(0, s_k)$. Derive $\frac{\partial y_k}{\partial s_i}$."
LARGER = r"A layer computes $y = \max(u, v)$ and $z = y^2$. Derive $\frac{\partial z}{\partial u}$."
LEAKY = (r"Let $y = \begin{cases} s & s \ge 0 \\ \alpha s & s < 0 \end{cases}$ with a constant $\alpha$, $0 < \alpha < 1$."
         r" Derive $\frac{\partial y}{\partial s}$.")
UNIT = (r"A layer computes $y_i = \frac{x_i}{\lVert x \rVert}$ with $\lVert x \rVert = \sqrt{\sum_j x_j^2}$."
        r" Derive $\frac{\partial y_i}{\partial x_j}$.")
SQUARES = (r"Let $\ell = \frac12 \sum_{k=1}^K (y_k - t_k)^2$ with $y_k = \sum_j W_{kj} x_j$, where $W$ is trained. Derive the"
           r" gradients with respect to $W$ and $x$.")
SLOPE, OF_LARGER = r"\frac{\partial y_k}{\partial s_k} = ", r"\frac{\partial z}{\partial u} = "
CASES = r"$$ " + SLOPE + r"\begin{cases} %s & \text{if } s_k \text{ is positive} \\ %s & \text{if } s_k \text{ is negative} \end{cases} $$"
CASE = "- Case $u > v$: $" + OF_LARGER + "%s$.\n- Case $u < v$: $" + OF_LARGER + "0$."
BRACE = "$$ " + OF_LARGER + r"\underbrace{2 y}_{\partial z / \partial y} \cdot \underbrace{\mathbb{1}[%s]}_{\partial y / \partial u} $$"
AT = r"With $\alpha = 0.01$ this is $$ \frac{\partial y}{\partial s} = \begin{cases} 1 & s > 0 \\ %s & s < 0 \end{cases} $$"
IDENTITY = r"$$ \frac{\partial y}{\partial x} = \frac{1}{\lVert x \rVert} (I %s y y^\top) $$"
NUMBERS = (r"For $W = \begin{pmatrix} 1 & 2 \\ 0 & 1 \end{pmatrix}$, $x = (1, 1)^\top$ and $t = [1, 1]^T$ we get"
           r" $y = (3, 1)^\top$ and $\frac{\partial \ell}{\partial x} = (2, %s)^\top$.")


@pytest.mark.parametrize(("question", "text", "right"), [
    (RELU, f"If $s_k$ is negative, ${SLOPE} 0$.", True), (RELU, f"If $s_k$ is negative, ${SLOPE} 1$.", False),
    (RELU, CASES % (1, 0), True), (RELU, CASES % (0, 1), False),
    (LARGER, CASE % "2u", True), (LARGER, CASE % "2v", False),
    (LARGER, BRACE % "u > v", True), (LARGER, BRACE % "u < v", False),
    (LARGER, r"$$ \frac{\partial z}{\partial u} = \underbrace{2 y}_{\partial y / \partial u} \mathbb{1}[u > v] $$", False),
    (LEAKY, AT % "0.01", True), (LEAKY, AT % "0.1", False),
    (UNIT, IDENTITY % "-", True), (UNIT, IDENTITY % "+", False),
    (SQUARES, NUMBERS % 4, True), (SQUARES, NUMBERS % 2, False),
])  # fmt: skip
def test_verdict(question: str, text: str, right: bool) -> None:
    card = derive.Card.parse(f"---\nid: a\n---\n\n# Question\n{question}\n")
    found = [c.verdict for c in derive.check(card, text=text).checks]
    assert found
    assert right is all(v in (Verdict.PROVED, Verdict.TESTED) for v in found)
    assert right is (Verdict.REFUTED not in found)


TABLE = """The gradients are $\\frac{\\partial \\ell}{\\partial w} = (p - t) x$ and $\\frac{\\partial \\ell}{\\partial b} = p - t$.

| quantity | value |
|:--|:--|
| $p$ | 0.5622 |
| $\\ell$ | 0.5759 |
| $\\partial \\ell / \\partial w$ | (−0.8756, %s) |
"""


@pytest.mark.parametrize(("entry", "ok"), [("0.4378", True), ("−0.4378", False)])
def test_a_table_of_numbers_that_a_question_asks_for_is_marked(entry: str, ok: bool) -> None:
    report = derive.check("cards/numbers/one_neuron_step.md", text=TABLE % entry)
    assert report.points is not None
    assert report.ok is ok
    assert (report.points.low == report.points.total) is ok
