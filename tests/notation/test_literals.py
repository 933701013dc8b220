"""Numbers as cards write them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.notation.formulas import Source
from derive.notation.grammar import skeleton
from derive.notation.literals import literal

READ = [
    ("-3", [[-3]], ()),
    (r"-\frac{1}{2}", [[Fraction(-1, 2)]], ()),
    ("0.25", [[Fraction(1, 4)]], ()),
    ("(1, -2)", [[1, -2]], (2,)),
    (r"(1, -2)^\top", [[1, -2]], (2,)),
    ("[1, 2, 3]^T", [[1, 2, 3]], (3,)),
    ("[1, 2; 3, 4]", [[1, 2], [3, 4]], (2, 2)),
    ("((1, 2), (3, 4))", [[1, 2], [3, 4]], (2, 2)),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 1/4 \end{pmatrix}", [[1, 2], [3, Fraction(1, 4)]], (2, 2)),
    (r"\begin{bmatrix} 1 \\ 2 \\ \end{bmatrix}", [[1], [2]], (2,)),
    (r"\begin{pmatrix} 1 & 2 \end{pmatrix}^\top", [[1], [2]], (2,)),
    (r"\left[\begin{array}{cc} 1 & 2 \\ 3 & 4 \end{array}\right]", [[1, 2], [3, 4]], (2, 2)),
]


@pytest.mark.parametrize(("text", "rows", "shape"), READ)
def test_numbers_are_read(text: str, rows: list[list[Fraction]], shape: tuple[int, ...]) -> None:
    found = literal(skeleton(Source(text)))
    assert found is not None and [[*row] for row in found.rows] == rows and found.shape == shape


@pytest.mark.parametrize("text", ["a", "(a, 1)", "(1)", "1/0", r"(1, 2)^2", r"\begin{pmatrix} 1 & 2 \\ 3 \end{pmatrix}",
                                  "2 x", "1 + 2", r"\{1, 2\}"])
def test_anything_else_is_none(text: str) -> None:
    assert literal(skeleton(Source(text))) is None


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(-99, 99), min_size=2, max_size=2), min_size=2, max_size=4))
def test_a_matrix_is_read_as_it_is_written(rows: list[list[int]]) -> None:
    cells = r" \\ ".join(" & ".join(map(str, row)) for row in rows)
    found = literal(skeleton(Source(rf"\begin{{pmatrix}} {cells} \end{{pmatrix}}")))
    assert found is not None and found.of_rank(2) == {(i, j): n for i, row in enumerate(rows) for j, n in enumerate(row)}
