"""What a formula is, before any word is looked at."""

import pytest

from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.rules.trees import with_trees

CASES = {
    "W, b": Said.LETTERS, r"\theta = (W, b)": Said.NAMES, r"D = \{(x_n, t_n)\}_{n=1}^N": Said.SET,
    r"x \in \mathbb{R}^n": Said.DECLARATION, r"0 \le k, l < n": Said.RANGE, r"k = 1, \dots, K": Said.RANGE,
    r"w \leftarrow w - \eta g": Said.UPDATE, r"\frac{\partial y}{\partial x}": Said.DERIVATIVE,
    r"y = \lim_{n \to \infty} x_n": Said.DEFINITION, r"\nabla_w L = x": Said.GRADIENT, r"\frac{d s}{d a} = s (1 - s)": Said.GRADIENT,
    r"\sigma(s) = \frac{1}{1 + e^{-s}}": Said.FUNCTION, "y_k = a x_k": Said.DEFINITION, "y = W x + b": Said.DEFINITION,
    "k = 3": Said.RANGE,
    r"\|x\| > 1": Said.FACT, "(y - t)^2": Said.VALUE, "x_{": Said.UNREADABLE,
}


@pytest.mark.parametrize("latex", CASES)
def test_kinds(latex: str) -> None:
    assert kind_of(with_trees([Formula(latex, 1, 0, True)])[0]) is CASES[latex]
