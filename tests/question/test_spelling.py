"""Textbooks' spellings as the notation has them."""

import pytest

from derive.notation.formulas import Formula
from derive.question.spelling import in_notation

CASES = [
    ([r"a[z] = \max(0, z)", r"h_i = a[f_i]"], [r"a(z) = \max(0, z)", r"h_i = a(f_i)"]),
    ([r"h_i = a[f_i]"], [r"h_i = a[f_i]"]),  # no signature says that a is a function
    ([r"\mu \leftarrow \frac{1}{m} \sum_i x_i"], [r"\mu =          \frac{1}{m} \sum_i x_i"]),
    ([r"w \leftarrow w - \eta g"], [r"w \leftarrow w - \eta g"]),  # an update
    ([r"\text{softmax}(z)_i = p_i"], [r"\mathrm{softmax}(z)_i = p_i"]),
    ([r"[z]_+ = \max(0, z)", r"y = [x]_+"], [r"y = [x]_+"]),
    ([r"x^i = (x^i_1, \dots, x^i_n)^T", r"s = w^T x^i"], [r"s = w^T x^i"]),
]


@pytest.mark.parametrize(("written", "expected"), CASES)
def test_spelling(written: list[str], expected: list[str]) -> None:
    assert [f.latex for f in in_notation(Formula(latex, 1, 0, True) for latex in written)] == expected
