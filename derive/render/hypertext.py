"""Formulas as MathML and Markdown as HTML; tags are shown, no script typesets and nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING, Any, ClassVar
from xml.etree import ElementTree

from markupsafe import Markup

from derive.errors import CardError, Problem
from derive.lines import narrowed
from derive.render.dialect import TreeWriter
from derive.render.tex import PHONE, formula, gathered, in_lines, in_rows, is_wide, parts, rows

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown_it.tree import SyntaxTreeNode

# Macros of the allow-list that the converter lacks, by what it knows.
_MACROS = {
    "substack": r"\begin{subarray}{c}#1\end{subarray}",
    "allowbreak": "", "nobreak": "", "strut": "", "mathstrut": "", "smash": "#1",
    "centerdot": r"\cdot", "dotsb": r"\cdots", "dotsc": r"\ldots", "dotsi": r"\cdots", "dotsm": r"\cdots",
    "dotso": r"\ldots", "mathellipsis": r"\ldots", "hdotsfor": r"\cdots", "enskip": r"\enspace",
    "hbox": r"\text{#1}", "mbox": r"\text{#1}", "textmd": r"\text{#1}", "textnormal": r"\text{#1}",
    "textsl": r"\textit{#1}", "textup": r"\text{#1}", "mathnormal": "#1", "pmb": r"\boldsymbol{#1}",
    "mathclap": "#1", "mathllap": "#1", "mathrlap": "#1",
    "Arrowvert": r"\Vert", "arrowvert": r"\vert", "bracevert": r"\vert", "shortmid": r"\mid",
    "smallfrown": r"\frown", "smallsmile": r"\smile", "smallsetminus": r"\setminus", "thicksim": r"\sim",
    "thickapprox": r"\approx", "varpropto": r"\propto", "widetilde": r"\tilde{#1}",
    "varliminf": r"\underline{\lim}", "varlimsup": r"\overline{\lim}",
}  # fmt: skip
_SIGNS = {"textbullet": "•", "texteuro": "€", "textperiodcentered": "·", "textquotedbl": '"', "textquotesingle": "′",
          "textasciigrave": "`"}  # fmt: skip
_SIGN = re.compile(r"\\(" + "|".join(_SIGNS) + r")(?![a-zA-Z])(\{\})?")
_INNER = {"alignedat": "aligned", "multlined": "gathered", "smallmatrix": "matrix", "split": "aligned"}
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(alignedat|multlined|smallmatrix|split)\}((?<=alignedat\})\{\d+\})?")
_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|#\d+|#x[0-9a-fA-F]+);)([A-Za-z]+);")
_PRIMED = re.compile(r"<msup>(<mi[^>]*>[^<]*</mi>)<mo>(′+)</mo></msup>")
_POSITION = re.compile(r"^\d+: ")
_ACCENTS = {"ˆ": "\u0302", "^": "\u0302", "˜": "\u0303", "~": "\u0303", "‾": "\u0304", "¯": "\u0304", "˙": "\u0307",
            "→": "\u20d7"}  # fmt: skip


@cache
def _converter() -> Any:
    from math_core import LatexToMathML

    return LatexToMathML(macros=_MACROS, fancy_error=False)


@lru_cache(4096)
def mathml(latex: str, display: bool = False) -> str:
    """A formula as a ``<math>`` element, its LaTeX beside it.

    Raises :class:`CardError` for what has no place in a formula, or in MathML.
    """
    from math_core import LatexError

    written = _known(formula(in_lines(latex) if display else latex, display))
    try:
        made = str(_converter().convert_with_local_state(written, displaystyle=display))
    except LatexError as error:
        reason = _POSITION.sub("", str(error)).rstrip(".")
        raise CardError(Problem(f"`{' '.join(latex.split())}` cannot be shown on a page: {reason}", line=0)) from None
    made = _ENTITY.sub(lambda m: unescape(m[0]), made)
    # the font's prime is raised and small as it is; as a superscript it would be so twice
    made = _PRIMED.sub(r'<mrow>\1<mo form="postfix" lspace="0" rspace="0">\2</mo></mrow>', made)
    return made.replace("<math", f'<math alttext="{escape(" ".join(latex.split()))}"', 1)


def narrow(latex: str) -> str:
    """A display as it is shown on a phone, in place of the wider one before it."""
    return mathml(latex, True).replace("<math", '<math class="narrow"', 1)


def phone(latex: str) -> str:
    """A display of the author's in lines for a phone."""
    if in_rows(latex):
        return latex
    first, *others = (narrowed(" ".join(line.split())) if is_wide(line) else line for line in rows(latex, PHONE))
    return gathered((first, *others)) if others else first


def _known(latex: str) -> str:
    """The formula in macros that the converter knows; formulas inside text stand beside it."""
    latex = _ENVIRONMENT.sub(lambda m: rf"\{m[1]}{{{_INNER[m[2]]}}}", latex)
    return signs(latex)


def signs(latex: str) -> str:
    r"""The formula with the signs that macros of TeX's fonts stand for, ``\textbullet``; no formula inside its text."""
    latex = _SIGN.sub(lambda m: _SIGNS[m[1]], latex)
    return _outside_text(latex) if "$" in latex else latex


def _outside_text(latex: str) -> str:
    r"""``\text{a $x$ b}`` as ``\text{a }x\text{ b}``."""
    parts = re.split(r"(?<!\\)\$", latex)
    return "".join(part + ("}{" if n % 2 == 0 else r"}\text{") for n, part in enumerate(parts[:-1])) + parts[-1]


@lru_cache(1024)
def runs(latex: str) -> tuple[tuple[str, bool, int], ...]:
    """A small formula as pieces of text: (characters, whether italic, level: 1 above, 0, −1 below the line)."""
    root = ElementTree.fromstring(mathml(latex))
    return tuple(_joined(_flat(root, 0)))


def _flat(node: Element, level: int) -> list[tuple[str, bool, int]]:
    tag, children = node.tag, list(node)
    if tag in ("msub", "msup", "msubsup"):
        levels = {"msub": (level, -1), "msup": (level, 1), "msubsup": (level, -1, 1)}[tag]
        return [run for child, at in zip(children, levels, strict=False) for run in _flat(child, at)]
    if tag == "mover" and len(children) == 2 and children[1].text in _ACCENTS:
        base = _flat(children[0], level)
        return [*base[:-1], (base[-1][0] + _ACCENTS[children[1].text or ""], *base[-1][1:])]
    if tag == "mfrac":
        over, under = (_flat(child, level) for child in children)
        return [*over, ("/", False, level), *under]
    if children:
        return [run for child in children for run in _flat(child, level)]
    text = node.text or ""
    italic = tag == "mi" and len(text) == 1 and node.get("mathvariant") != "normal" and text.isalpha()
    if tag == "mo" and text in "=+−<>" and node.get("lspace") != "0" and level == 0:
        text = f" {text} "
    return [(text.replace(",", ", ") if tag == "mo" and level == 0 else text, italic, level)] if text else []


def _joined(pieces: list[tuple[str, bool, int]]) -> list[tuple[str, bool, int]]:
    made: list[tuple[str, bool, int]] = []
    for text, italic, level in pieces:
        if made and made[-1][1:] == (italic, level):
            made[-1] = (made[-1][0] + text, italic, level)
        else:
            made.append((text, italic, level))
    return made


_LOWEST = 6
# A formula with the brackets and stops that touch it, or M × N: browsers break a line beside any formula.
_MATH = r"<math(?:(?!</math>).)*</math>"
_UNBROKEN = re.compile(
    rf"[(“]+{_MATH}[,.;:)!?”’]*|{_MATH}[,.;:)!?”’]+|{_MATH}(?:\u00a0×\u00a0{_MATH})+[,.;:)!?”’]*", re.DOTALL
)


@lru_cache(4096)
def inline(markdown: str) -> Markup:
    """One paragraph's worth of Markdown, without a paragraph around it."""
    return Markup(Writer().paragraph(markdown))


@lru_cache(4096)
def blocks(markdown: str, first_line: int = 0) -> Markup:
    """Whole Markdown as HTML, headings from the third level down, none more than one below that before it.

    Raises :class:`CardError` where a formula uses what is not allowed, with the line
    counted from ``first_line``.
    """
    return Markup(Writer(first_line).document(markdown))


def listing(code: str) -> Markup:
    """A program's text as it stands."""
    return Markup("<pre><code>") + code.rstrip("\n") + Markup("</code></pre>")


class Writer(TreeWriter):
    marks: ClassVar[Mapping[str, str]] = {"em": "<em>%s</em>", "strong": "<strong>%s</strong>", "s": "<s>%s</s>"}
    newline = "<br>\n"
    _level = 2  # of the heading before

    def blocks(self, node: SyntaxTreeNode) -> str:
        return "\n".join(self.write(child) for child in node.children)

    def inline(self, node: SyntaxTreeNode) -> str:
        written = super().inline(node)
        return _UNBROKEN.sub(r'<span class="whole">\g<0></span>', written) if node.type == "inline" else written

    def _tag(self, name: str, content: str, attributes: str = "") -> str:
        return f"<{name}{attributes}>{content}</{name}>"

    # --- blocks ------------------------------------------------------------

    def _paragraph(self, node: SyntaxTreeNode) -> str:
        content = self.inline(node)
        return content if node.hidden else self._tag("p", content)

    def _heading(self, node: SyntaxTreeNode) -> str:
        self._level = min(_LOWEST, int(node.tag[1]) + 2, self._level + 1)
        return self._tag(f"h{self._level}", self.inline(node))

    def _list_item(self, node: SyntaxTreeNode) -> str:
        return self._tag("li", self.blocks(node))

    def _bullet_list(self, node: SyntaxTreeNode) -> str:
        return self._tag("ul", self.blocks(node))

    def _ordered_list(self, node: SyntaxTreeNode) -> str:
        start = int(node.attrs.get("start", 1))
        return self._tag("ol", self.blocks(node), f' start="{start}"' if start != 1 else "")

    def _blockquote(self, node: SyntaxTreeNode) -> str:
        return self._tag("blockquote", self.blocks(node))

    def _fence(self, node: SyntaxTreeNode) -> str:
        return str(listing(node.content))

    _code_block = _fence

    def _hr(self, node: SyntaxTreeNode) -> str:
        return "<hr>"

    def _math_block(self, node: SyntaxTreeNode) -> str:
        return self._display(node.content)

    def _table(self, node: SyntaxTreeNode) -> str:
        parts = "".join(self._tag(part.type, "".join(map(self._row, part.children))) for part in node.children)
        return self._tag("div", self._tag("table", parts), ' class="wide"')

    def _row(self, node: SyntaxTreeNode) -> str:
        cells = []
        for cell in node.children:
            align = str(cell.attrs.get("style", "")).removeprefix("text-align:")
            cells.append(self._tag(cell.type, self.inline(cell), f' class="{align}"' if align in _ALIGNED else ""))
        return self._tag("tr", "".join(cells))

    # --- inline ------------------------------------------------------------

    def _math_inline(self, node: SyntaxTreeNode) -> str:
        found = parts(node.content) if is_wide(node.content) else [node.content]
        return " ".join(self.formula(mathml, part, False) for part in found)

    def _math_inline_double(self, node: SyntaxTreeNode) -> str:
        return self._display(node.content, "span")

    def _display(self, latex: str, tag: str = "div") -> str:
        written, slim = self.formula(mathml, latex, True), phone(latex)
        if slim in (in_lines(latex), " ".join(latex.split())):
            return self._tag(tag, written, ' class="display"')
        return self._tag(tag, written + narrow(slim), ' class="display broken"')

    def text(self, text: str) -> str:
        return escape(text)

    def code(self, text: str) -> str:
        return self._tag("code", escape(text))

    def note(self, caption: str) -> str:
        return self._tag("span", escape(caption), ' class="missing"')


_ALIGNED = frozenset(("left", "center", "right"))
