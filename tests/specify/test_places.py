"""A formula as a reading quotes it: without its number and the columns of its display, with those of its cases."""

import pytest

from derive.notation.formulas import Formula
from derive.specify.places import place

CASES = [
    (r"f_k &= x_k. \tag{2}", "f_k = x_k"),
    (r"f_k = x_k \quad (2)", "f_k = x_k"),
    (r"f &= \begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}, \label{f}",
     r"f = \begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}"),
    (r"f = \left\{ \begin{array}{l} x \\ 0 \end{array} \right.", r"f = \left\{ \begin{array}{l} x \\ 0 \end{array} \right."),
    (r"f = \left\{ x \right .\, .", r"f = \left\{ x \right ."),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "quoted"), CASES)
def test_place(latex: str, quoted: str) -> None:
    assert place(Formula(latex, 3, 0, True)) == f"line 3: ${quoted}$"
