"""Which parts of a Markdown text are formulas, and where they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import CardError
from derive.formulas import formulas
from derive.notation.formulas import Formula

CASES = [
    ("inline", "Let $x$ be $ y $.", ["x", "y"]),
    ("inline, one space", "$ P_i = 0$, and", ["P_i = 0"]),
    ("display", "a\n$$\nx = 1\n$$\nb", ["x = 1"]),
    ("display inside a sentence", "so $$ x $$ and $y$", ["x", "y"]),
    ("display in a list", "- a\n  $$ x $$\n- b", ["x"]),
    ("brackets", r"\( x \) and \[ y \]", ["x", "y"]),
    ("equation", "\\begin{equation}\\label{eq:a} x = 1 \\end{equation}", [r"\label{eq:a} x = 1"]),
    ("align", "\\begin{align*} a &= 1 \\\\ b &= 2 \\\\ &= 3 \\end{align*}", ["a &= 1", r"b &= 2 \\ &= 3"]),
    ("cases inside align", r"\begin{align} a &= \begin{cases} 1 & x \\ 0 & y \end{cases} \end{align}",
     [r"a &= \begin{cases} 1 & x \\ 0 & y \end{cases}"]),
    ("code", "`$x$` and ``$`$`` and $y$", ["y"]),
    ("fence", "```\n$x$\n```\n$y$", ["y"]),
    ("tilde fence", "~~~latex\n$$x$$\n~~~\n$y$", ["y"]),
    ("unclosed fence", "$y$\n```\n$x", ["y"]),
    ("comment", "<!-- $x$ --> $y$", ["y"]),
    ("escaped", r"costs \$5, $y$, and \$6", ["y"]),
    ("money", "costs $5 and $6 today", []),
    ("money and a formula", "costs $5 and $x$ too", ["x"]),
    ("money alone", "costs $5.", []),
    ("a number is a formula", "a $2\\times 2$ window, stride $2$", [r"2\times 2", "2"]),
    ("a dollar sign inside", r"$a \$ b$", [r"a \$ b"]),
    ("over two lines", "$a +\nb$", ["a +\nb"]),
    ("a line break in Markdown", r"a \\ $x$", ["x"]),
    ("empty", "$$ $$ and $x$", ["x"]),
    ("words with dollars in a display", r"$$ a \text{ if $b$} $$", [r"a \text{ if $b$}"]),
]


@pytest.mark.parametrize(("text", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_finds(text, expected):
    assert [f.latex for f in formulas(text)] == expected


def test_places():
    found = formulas("a $x$\n\n$$\n  y\n$$\n", first_line=10)
    assert found == [Formula("x", 10, 3, False), Formula("y", 13, 2, True)]


@pytest.mark.parametrize(("text", "lines"), [
    ("one\n$x + 1\n\nmore", [2]),
    ("$$ x\n\n# Next\n", [1]),
    ("a $$ x\n\nb $$ y $$", [1]),
    (r"\[ x", [1]),
    ("\\begin{equation} x", [1]),
    ("$a\n\n$b\n", [1, 3]),
])
def test_unclosed(text, lines):
    with pytest.raises(CardError) as caught:
        formulas(text)
    assert [p.line for p in caught.value.problems] == lines
    assert all("is not closed" in p.message for p in caught.value.problems)


@given(st.text(alphabet="$x\\[]() \n`1", max_size=40))
def test_every_text_is_scanned(text):
    try:
        found = formulas(text)
    except CardError:
        return
    lines = text.split("\n")
    for formula in found:
        assert lines[formula.line - 1][formula.column :].startswith(formula.latex.split("\n")[0])
