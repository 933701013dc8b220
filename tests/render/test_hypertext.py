"""Formulas as MathML and as the small text of a figure's labels."""

from __future__ import annotations

import importlib.util
import re
from html import unescape
from io import BytesIO
from xml.etree import ElementTree

import pytest

from derive.errors import CardError
from derive.render import hypertext, tex
from derive.render.hypertext import mathml, runs
from derive.render.tex import allowed
from derive.words import templates

SHAPES = (r"\%s", r"\%s x", r"\%s{x}", r"\%s{x}{y}", r"{x \%s y}", r"\left\%s x\right.", r"\sum\%s_i", r"x\%s1em y", r"x\%s18mu y", r"x\%s{18mu}y", r"x\%s{1em}y",
          r"\text{\%s}", r"\text{\%s{x}}", r"\%s{red}x", r"\%s{red}{x}", r"\%s(x", r"\left( x \%s| y \right)", r"\begin{array}{c}\%s x\end{array}",
          r"\%s(){0pt}{1}{x}{y}")
REFUSED = {"root", "of", "rule", "sideset"}  # TeX that MathML has no like of


def shown(macro: str) -> str | None:
    for shape in SHAPES:
        try:
            return mathml(shape % macro, True)
        except CardError:
            continue
    return None


def test_every_macro_of_the_allow_list_can_be_shown() -> None:
    for macro in sorted(allowed()["macros"] | allowed()["text"] - {"left", "right"}):
        made = shown(macro)
        assert (made is None) == (macro in REFUSED), macro
        if made is not None:
            ElementTree.fromstring(made)
            assert "merror" not in made, macro


@pytest.mark.parametrize("environment", sorted(allowed()["environments"]))
def test_every_environment_can_be_shown(environment: str) -> None:
    columns = {"array": "{c}", "subarray": "{c}"}.get(environment, "{1}" if "alignat" in environment or environment == "alignedat" else "")
    made = mathml(rf"\begin{{{environment}}}{columns} a \\ b \end{{{environment}}}", True)
    assert "<mi>a</mi>" in made and "<mi>b</mi>" in made


@pytest.mark.parametrize(("latex", "piece"), [
    (r"\text{a $x_1$ b}", "<mtext>a\xa0</mtext><msub><mi>x</mi><mn>1</mn></msub><mtext>\xa0b</mtext>"),
    (r"\text{<b>}", "<mtext>&lt;b&gt;</mtext>"),
    (r"a < b", "<mo>&lt;</mo>"),
    (r"\mathbb{I}[a]", "𝕀"),
    (r"\sum_{\substack{i \\ j}} x", "<mtable"),
    (r"x \text{ když } y", "<mtext>\xa0když\xa0</mtext>"),
    (r"a \tag{2}", "<mn>2</mn>"),
    ("α → β²", "<msup><mi>β</mi><mn>2</mn></msup>"),
])
def test_pieces(latex: str, piece: str) -> None:
    assert piece in mathml(latex)


@pytest.mark.parametrize("latex", [r"\href{javascript:alert(1)}{x}", r"\input{a}", r"\def\a{b}\a", r"\newcommand{\x}{y}", r"\html{<b>}", r"a_b_c", r"\frac{1}", "a & b", r"\color{url(x)}{x}"])
def test_what_does_not_belong_is_an_error(latex: str) -> None:
    with pytest.raises(CardError):
        mathml(latex)


def test_the_latex_stands_beside_it_escaped() -> None:
    assert mathml(r"a < b") .startswith('<math alttext="a &lt; b">')
    assert mathml(r'\text{"}', True).startswith('<math alttext="\\text{&quot;}" display="block">')


@pytest.mark.parametrize(("latex", "pieces"), [
    ("f_{00}", [("f", True, 0), ("00", False, -1)]),
    (r"\delta_{\hat{y}}", [("δ", True, 0), ("y\u0302", True, -1)]),
    (r"\hat{y}'", [("y\u0302", True, 0), ("′", False, 1)]),
    (r"\Omega(0, 1)", [("Ω(0, 1)", False, 0)]),
    ("-3", [("−3", False, 0)]),
    ("a = 1/4", [("a", True, 0), (" = 1/4", False, 0)]),
    (r"\tfrac{1}{2}", [("1/2", False, 0)]),
])
def test_small_formulas_as_text(latex: str, pieces: list[tuple[str, bool, int]]) -> None:
    assert list(runs(latex)) == pieces


@pytest.mark.skipif(importlib.util.find_spec("brotli") is None or importlib.util.find_spec("fontTools") is None, reason="no fonttools with brotli")
def test_the_embedded_font_has_every_sign_and_the_constants_of_mathematics() -> None:
    from fontTools.ttLib import TTFont

    font = TTFont(BytesIO((templates() / "pages" / "font" / "stix-two-math.woff2").read_bytes()))
    made = "".join(filter(None, map(shown, allowed()["macros"] | allowed()["text"]))) + "".join(
        mathml(rf"\{alphabet}{{{letter}}}") for alphabet in ("mathbb", "mathcal", "mathbf", "mathfrak", "boldsymbol")
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    signs = set(unescape(re.sub("<[^>]*>", "", made))) | {c for c in map(chr, range(0x21, 0x17F)) if tex.in_t1(c)}
    invisible = {"\ufe00", "\ufe01", "\u2061", "\u2062", "\u2063", "\u2064", "\u200b"}
    missing = sorted(c for c in signs - invisible if ord(c) not in font.getBestCmap() and c.isprintable())
    assert missing == []
    assert "MATH" in font


def test_on_a_phone_parts_of_a_question_s_formula_stand_in_lines_of_their_own() -> None:
    long = r"h_k = \max\left(0, W_{kj} x_j + b_k\right),\quad y_k = x_k + h_k,\quad k = 1, \dots, n"
    shown = hypertext.blocks(f"$$\n{long}\n$$")
    assert shown.count("<math") == 2 and shown.count('class="narrow"') == 1 and shown.count("<mtr>") == 2
    assert hypertext.blocks("$$\ny = x\n$$").count("<math") == 1
    assert hypertext.inline(f"${long}$".replace("quad", "qquad")).count("<math") == 3
    wide = r"y = t_i\, g_i + (1 - t_i)\, x_i + \operatorname{ReLU}\Big(\sum_{j=1}^n H_{ij} x_j + b_i\Big) + \lVert a - b \rVert"
    assert hypertext.blocks(f"$$\n{wide}\n$$").count("<mtr>") > 1
    assert hypertext.inline(f"with ${long}$").count("<math") == 3 and hypertext.inline(r"$a,\quad b$").count("<math") == 1
