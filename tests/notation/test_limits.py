"""Formulas made to exhaust the reader are refused like any other, in one line with a place."""

import pytest

from derive.formulas import formulas
from derive.notation import NotationError, gather, inference, read

TABLE = gather(["x_{ij}"])
CASES = [
    ("brackets", "(" * 5000 + "x_{ij}" + ")" * 5000),
    ("length", "x_{ij} + " * 4000 + "x_{ij}"),
    ("sums", r"\sum_{k}" * 1500 + "x_{kk}"),
    ("fractions", r"\frac" * 3000),
    ("nested fractions", r"\frac1" * 1500 + "x"),
    ("signs", "-" * 5000),
    ("digits", "9" * 5000 + "x_{ij}"),
    ("exponent", "x_{ij}^{999999999999}"),
    ("tower", "9^{9^{9^9}} x_{ij}"),
    ("negative tower", "x_{ij}^{-2^{2^{2^{2^2}}}}"),
]


@pytest.mark.parametrize("latex", [c[1] for c in CASES], ids=[c[0] for c in CASES])
def test_is_refused(latex):
    gather([latex])
    with pytest.raises(NotationError):
        read(latex, TABLE)


@pytest.mark.parametrize(("text", "count"), [
    ("$" * 100_000, 0), ("$x$ " * 30_000, 30_000), ("`` ` " * 30_000, 0), ("<!--" * 30_000, 0),
])  # fmt: skip
def test_long_texts_are_scanned(text, count):
    assert len(formulas(text)) == count


@pytest.mark.parametrize("formula", [
    "y = A B C D E F G H K M N P x", "y = A x + B z + C u + D v + E w + F s + G t + H h + K p + M q + N r + P d",
])
def test_the_shapes_of_many_matrices_follow(formula: str) -> None:
    table = gather([formula])  # trying all shapes of so many letters would take days
    assert [len(s.axes) for s in table.symbols if s.name in "ABCDEFGHKMNP"] == [2] * 12


def test_letters_whose_shapes_would_take_too_long_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "_MOST", 3)
    with pytest.raises(NotationError, match="is a number or a vector or a matrix"):
        read("y = A x + b", gather(["y = A x + b"]))


@pytest.mark.parametrize(("formula", "place"), [
    (r"\mathbf{y} = \mathbf{x} + \mathbf{X} \mathbf{x} + \mathbf{X}", 14), (r"y = a + \mathbf{x} \mathbf{x}", 9),
])
def test_a_shape_that_does_not_fit_is_shown_where_it_stands(formula: str, place: int) -> None:
    with pytest.raises(NotationError, match=f"column {place}:"):
        read(formula, gather([formula]))
