"""Every macro of the allow-list is known to the sheet's packages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from derive.render.mathematics import allowed, formula
from derive.render.pdf import compile_latex, engine
from tests.render.example import Solution


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
