"""An error quotes the formula around its place."""

from derive.notation.formulas import Source


def test_a_long_formula_is_quoted_around_the_place() -> None:
    source = Source("x + " * 200 + r"\foo" + " + x" * 200, 7)
    _, quoted, caret = str(source.error(800, "no")).split("\n")
    assert len(quoted) < 100 and quoted[caret.index("^") :].startswith(r"\foo")
    assert str(Source("a b", 7).error(2, "no")) == "line 7: column 3: no\n    a b\n      ^"
