"""A question's formulas: what is let through, what is put right, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.errors import CardError, DeriveError
from derive.render.mathematics import allowed, formula

UNCHANGED = [
    r"f_{kl}(\boldsymbol{x}) = \max_{(i, j) \in \Omega(k, l)} x_{ij}, \quad (2)",
    r"\frac{\partial f_{kl}}{\partial x_{ij}} = \begin{cases} 1 & \text{if } i = i^* \\ 0 & \text{otherwise} \end{cases}",
    r"\left( \sum_{k=1}^n x_k \right)^{\top}",
    r"\mathbb{1}[a > b] \cdot \left\{ x \;\middle|\; x' \ge 0 \right.",
    r"\begin{array}{c|c} 1 & 2 \\ \hline 3 & 4 \end{array}",
    r"\begin{array}[t]{@{}lr@{}} 1 & 2 \end{array}",
    r"\text{the window $\Omega$ of \textbf{one} output}",
    r"{\delta_i}^l = \theta^{'}({z_i}^l)",
    r"100\,\% \text{ of } \#S",
]
PUT_RIGHT = [
    ("x² → αβ", r"x^{2} \rightarrow  \alpha \beta"),
    ("x₁₂ ≤ 3×y", r"x_{12} \leq  3\times y"),
    (r"\text{max_pool 5% & é}", r"\text{max{\_}pool 5{\%} {\&} {é}}"),
    ("é", r"\text{é}"),
    ("a\n\nb", "a\nb"),
    (r"\begin{align} a &= b \label{eq:a} \end{align}", r"\begin{aligned} a &= b   \end{aligned}"),
    (r"\begin{equation*}a\end{equation*}", "a"),
    (r"a \tag{2}", r"a  \qquad (2)"),
    (r"a = b \\ c = d", "\\begin{gathered}\na = b \\\\ c = d\n\\end{gathered}"),
    (r"a &= b \\ &= c", "\\begin{aligned}\na &= b \\\\ &= c\n\\end{aligned}"),
]
REFUSED = [
    (r"\input{/etc/passwd}", "`\\input`"),
    (r"\include{a}", "`\\include`"),
    (r"\write18{ls}", "`\\write`"),
    (r"\immediate\write18{ls}", "`\\immediate`"),
    (r"\openin1=a", "`\\openin`"),
    (r"\openout1=a", "`\\openout`"),
    (r"\read1 to \x", "`\\read`"),
    (r"\def\x{\x\x}\x", "`\\def`"),
    (r"\let\a=\b", "`\\let`"),
    (r"\csname input\endcsname", "`\\csname`"),
    (r"\catcode`\%=12", "`\\catcode`"),
    (r"\special{a}", "`\\special`"),
    (r"\loop a \repeat", "`\\loop`"),
    (r"\newcommand{\a}{b}", "`\\newcommand`"),
    (r"\usepackage{a}", "`\\usepackage`"),
    (r"\includegraphics{a}", "`\\includegraphics`"),
    (r"\expandafter a", "`\\expandafter`"),
    (r"\text{\input{a}}", "`\\input`"),
    (r"\verb|a|", "`\\verb`"),
    (r"\char65", "`\\char`"),
    (r"\directlua{os.exit()}", "`\\directlua`"),
    (r"^^5cinput{a}", "`^^`"),
    (r"x^^41", "`^^`"),
    (r"x^²", "`^^`"),
    (r"\begin{document}", "`document`"),
    (r"\end{document}", "`document`"),
    (r"\begin{verbatim}", "`verbatim`"),
    (r"\begin", "`\\begin`"),
    (r"\begin{array}{*{99999999}{c}} a \end{array}", "columns"),
    (r"\begin{array}{>{\input{a}}c} a \end{array}", "columns"),
    (r"\begin{cases} a", "`\\end{cases}` is missing"),
    (r"\begin{cases} a \end{matrix}", "closes nothing"),
    ("{a", "`}` is missing"),
    ("a}", "closes nothing"),
    (r"\left( {a \right) }", "closes nothing"),
    (r"\left( a", "`\\right` is missing"),
    (r"a \]", "`\\]`"),
    (r"a \)", "`\\)`"),
    ("a $ b", "`$`"),
    (r"\text{$a}", "closes nothing"),
    ("a % b", "`%`"),
    ("a # b", "`#`"),
    ("a \\", "lone"),
    ("{" * 100 + "}" * 100, "nests"),
    (r"\tag{\input{a}}", "lacks a plain"),
]


@pytest.mark.parametrize("latex", UNCHANGED)
def test_usual_mathematics_passes_unchanged(latex: str) -> None:
    assert formula(latex, display=True) == latex


@pytest.mark.parametrize(("latex", "expected"), PUT_RIGHT)
def test_what_note_takers_write_is_put_right(latex: str, expected: str) -> None:
    assert formula(latex, display=True) == expected


@pytest.mark.parametrize(("latex", "named"), REFUSED)
def test_what_tex_would_execute_is_refused(latex: str, named: str) -> None:
    with pytest.raises(CardError) as caught:
        formula(latex, display=True)
    assert named in str(caught.value)


def test_a_column_mark_needs_a_display() -> None:
    with pytest.raises(CardError, match="outside an aligned environment"):
        formula("a & b")


def test_the_line_of_a_problem_is_counted_in_the_formula() -> None:
    with pytest.raises(CardError) as caught:
        formula("\na\n\\foo")
    assert caught.value.problems[0].line == 2


def test_the_allow_list_holds_no_programming() -> None:
    everything = allowed()["macros"] | allowed()["text"]
    assert not everything & {"input", "include", "def", "edef", "gdef", "let", "futurelet", "csname", "endcsname", "write",
                             "read", "openin", "openout", "catcode", "special", "immediate", "loop", "newcommand", "usepackage",
                             "expandafter", "begin", "end", "left", "verb", "href", "url", "the", "number", "romannumeral",
                             "DeclareMathOperator", "require", "par", "penalty", "shipout"}  # fmt: skip


JOINED = [
    r"\in\label{a}put{/etc/passwd}",
    r"\in\begin{equation}put\end{equation}{/etc/passwd}",
    "\\text{\\in\N{ZERO WIDTH SPACE}put{/etc/passwd}}",
    "\\text{\\in\N{FULLWIDTH LATIN SMALL LETTER P}ut{/etc/passwd}}",
    r"^\label{a}^5cinput{/etc/passwd}",
    "\\text{^\N{ZERO WIDTH SPACE}^5cinput{/etc/passwd}}",
]


@pytest.mark.parametrize("latex", JOINED)
def test_nothing_joins_into_a_command(latex: str) -> None:
    try:
        written = formula(latex, display=True)
    except CardError:
        return
    assert r"\input" not in written
    assert "^^" not in written


@settings(max_examples=400)
@given(st.text(alphabet=r"\{}$%#&^_ab α²[]()" + "\n", max_size=40), st.booleans())
def test_whatever_passes_is_closed(latex: str, display: bool) -> None:
    try:
        written = formula(latex, display)
    except DeriveError:
        return
    bare = written.replace(r"\\", "").replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    assert "^^" not in written
    assert written.replace(r"\\", "").replace(r"\%", "").count("%") == 0
