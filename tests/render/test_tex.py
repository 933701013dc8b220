"""Text and formulas as LaTeX: what is let through, put right, refused; long lists in lines; every macro is known to the packages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.errors import CardError, DeriveError
from derive.render.pdf import compile_latex, engine
from derive.render.tex import allowed, formula, in_lines, masked
from tests.render.example import Solution

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


LISTED = ", \\quad ".join(rf"z_{n} = x_{{2k+{n},2l+{n}}}" for n in range(1, 6))
CASES = [
    ("a = 1, \\quad b = 2", 1),
    (LISTED, 2),
    (LISTED.replace("=", "&="), 1),
    (r"f = \begin{cases} a_{bcdefgh}, \quad b_{cdefghi} \\ c_{defghij}, \quad d_{efghijk}, \quad e_{fghijkl} \end{cases}", 1),
    (r"a_{bcdefghi} \le \max(b_{cdefghi}, c_{defghijk}, d_{efghijkl}), \quad e_{fghijklm} \le \left(f, \quad g\right)", 2),
]


@pytest.mark.parametrize(("latex", "lines"), CASES)
def test_lines(latex: str, lines: int) -> None:
    found = in_lines(latex)
    assert (found == latex) == (lines == 1)
    assert lines == 1 or found.count(r" \\ ") == lines - 1
    inner = found.removeprefix(r"\begin{gathered} ").removesuffix(r" \end{gathered}")
    assert lines == 1 or inner.replace(r" \\ ", r" \quad ") == latex


def test_masked_keeps_the_places() -> None:
    assert masked(r"a_{b{c}} + \left(d, \frac{e}{f}\right), g") == "a_" + "x" * 6 + " + " + "x" * 27 + ", g"


def test_lowercase_spoils_no_number() -> None:
    """TeX reads hexadecimal digits in capitals only: \\lowercase would turn "613B into 613 and a letter b."""
    for file in (Path(__file__).parents[2] / "templates").rglob("*.tex"):
        for line in file.read_text("utf-8").splitlines():
            assert not re.search(r'^[^%]*\\lowercase.*"[0-9]*[A-F]', line), f"{file}: {line}"


_SPECIAL = {  # macros that need more than two arguments of letters
    "middle": r"\left( a \middle| b \right)",
    "hline": r"\begin{array}{c} \hline a \end{array}",
    "hdotsfor": r"\begin{matrix}\hdotsfor{1}\end{matrix}",
    "root": r"\root 3 \of x",
    "of": r"\root 3 \of x",
    "not": r"\not=",
    "over": r"{a \over b}",
    "atop": r"{a \atop b}",
    "choose": r"{a \choose b}",
    "limits": r"\sum\limits_a",
    "nolimits": r"\sum\nolimits_a",
    "displaylimits": r"\sum\displaylimits_a",
    "genfrac": r"\genfrac{(}{)}{0pt}{}{a}{b}",
    "prescript": r"\prescript{a}{b}{c}",
    "sideset": r"\sideset{_a}{^b}\sum",
    "hspace": r"\hspace{1em}",
    "mspace": r"\mspace{1mu}",
    "mkern": r"\mkern1mu",
    "mskip": r"\mskip1mu",
    "kern": r"\kern1em",
    "hskip": r"\hskip1em",
    "rule": r"\rule{1em}{1em}",
    "color": r"\color{red}",
    "textcolor": r"\textcolor{red}{a}",
}


def sample(macro: str) -> str:
    """A formula that uses the macro."""
    if re.fullmatch(r"[bB]igg?[lrm]?", macro):
        return rf"\{macro}|"
    return _SPECIAL.get(macro, rf"\{macro}{{a}}{{b}}")


ENVIRONMENTS = [
    r"\begin{%s} a & b \\ c & d \end{%s}" % (name, name)  # noqa: UP031
    for name in sorted(allowed()["environments"] - {"array", "subarray", "alignedat", "alignat", "alignat*"})
    if not name.startswith(("gather", "multline", "multlined", "equation", "displaymath"))
]
ENVIRONMENTS += [
    r"\begin{array}{c|c} a & b \\ \hline c & d \end{array}",
    r"\sum_{\begin{subarray}{l} a \\ b \end{subarray}}",
    r"\begin{alignat*}{2} a &= b &\quad c &= d \end{alignat*}",
    r"\begin{gather} a \\ b \end{gather}",
    r"\begin{multline*} a \\ b \end{multline*}",
    r"\begin{equation} a \tag{2} \label{x} \end{equation}",
    r"a &= b \\ &= c",
    r"a = b \\ c = d",
]


@pytest.mark.skipif(engine() is None, reason="no TeX")
def test_every_macro_and_environment_compiles() -> None:
    from derive.render import render

    document = str(render(Solution(), "tex"))
    macros = sorted(allowed()["macros"] | allowed()["text"])
    lines = "\n\n".join(rf"$ {sample(m)} $" for m in macros)
    start = document.index(r"\begin{document}")
    displays = "\n".join(rf"\[\fit{{{formula(e, display=True)}}}\]" for e in ENVIRONMENTS)
    made = compile_latex(f"{document[:start]}\\begin{{document}}\n{lines}\n\n{displays}\n\\end{{document}}\n")
    assert made.pdf.startswith(b"%PDF")
