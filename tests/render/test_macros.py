"""Every macro of the allow-list is known to the sheet's packages."""

from __future__ import annotations

import re

import pytest

from derive.render.mathematics import allowed
from derive.render.pdf import compile_latex, engine
from tests.render.example import Solution

_PREFIXED = {"middle", "limits", "nolimits", "displaylimits", "over", "atop", "choose", "hline", "not", "root", "of"}
_BARE = {  # macros that need more than letters after them
    "genfrac": r"\genfrac{(}{)}{0pt}{}{a}{b}", "prescript": r"\prescript{a}{b}{c}", "sideset": r"\sideset{_a}{^b}\sum",
    "hspace": r"\hspace{1em}", "mspace": r"\mspace{1mu}", "mkern": r"\mkern1mu", "mskip": r"\mskip1mu", "kern": r"\kern1em",
    "hskip": r"\hskip1em", "rule": r"\rule{1em}{1em}", "color": r"\color{red}", "textcolor": r"\textcolor{red}{a}",
    "xrightarrow": r"\xrightarrow{a}", "hdotsfor": r"\begin{matrix}\hdotsfor{1}\end{matrix}",
}  # fmt: skip


def sample(macro: str) -> str:
    """A formula that uses the macro."""
    if macro in _PREFIXED:
        return {
            "middle": r"\left( a \middle| b \right)", "hline": r"\begin{array}{c} \hline a \end{array}", "root": r"\root 3 \of x",
            "of": "x", "not": r"\not=", "over": r"{a \over b}", "atop": r"{a \atop b}", "choose": r"{a \choose b}",
        }.get(macro, rf"\sum\{macro}_a^b")  # fmt: skip
    if re.fullmatch(r"[bB]igg?[lrm]?|[bB]igg?", macro):
        return rf"\{macro}|"
    return _BARE.get(macro, rf"\{macro}{{a}}{{b}}")


@pytest.mark.skipif(engine() is None, reason="no TeX")
def test_every_macro_compiles() -> None:
    from derive.render import render

    document = str(render(Solution(), "tex"))
    macros = sorted(allowed()["macros"] | allowed()["text"])
    lines = "\n\n".join(rf"\typeout{{MACRO {m}}}$ {sample(m)} $" for m in macros)
    start = document.index(r"\begin{document}")
    compile_latex(document[:start] + "\\begin{document}\n" + lines + "\n\\end{document}\n")
