"""Tokens become a flat tree, or an error at the first token that does not fit."""

import pytest

from derive.notation import NotationError
from derive.notation.formulas import Source
from derive.notation.grammar import parse
from derive.notation.rules.trees import spelt


@pytest.mark.parametrize(("latex", "spelling"), [
    ("x_i'^2", "x'_[i]^[2]"),
    ("x'^{'}", "x''"),
    ("{x_i}^2", "x_[i]^[2]"),
    (r"\frac12", "FRAC[1][2]"),
    (r"\frac{a}b_c", "FRAC[a][b]_[c]"),
    (r"\sqrt\frac{a}{b}", "SQRT[FRAC[a][b]]"),
    ("w^+ + w^*", "w^+ + w^[*]"),
    ("(a_{b_c})_d", "LPAREN[a_[b_[c]]]_[d]"),
    ("|a| - [b]", "LBAR[a] - LBRACK[b]"),
])  # fmt: skip
def test_trees(latex: str, spelling: str) -> None:
    assert spelt(parse(Source(latex))) == spelling


@pytest.mark.parametrize(("latex", "column", "message"), [
    ("x_", 3, "ends too early"), (r"\frac{a}", 9, "ends too early"), ("x_(i)", 3, "does not belong here"),
    ("+_i", 2, "has nothing to stand on"), ("'x", 1, "has nothing to stand on"), (r"\frac+=", 7, "does not belong here"),
    ("x^{'a}", 5, "does not belong here"), ("x_{}", 2, "an index is missing"),
])  # fmt: skip
def test_the_first_token_that_does_not_fit(latex: str, column: int, message: str) -> None:
    with pytest.raises(NotationError, match=message) as caught:
        parse(Source(latex))
    assert str(caught.value).startswith(f"column {column}:")


def test_what_is_nested_deeply_is_refused() -> None:
    assert len(parse(Source("{" * 40 + "x" + "}" * 40))) == 1
    with pytest.raises(NotationError, match="nested too deeply"):
        parse(Source(r"\sqrt" * 3000 + "x"))
