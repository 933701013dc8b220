"""A sheet as HTML for pages that are not ours: formulas in MathJax's delimiters, and text that stays text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape, unescape
from typing import TYPE_CHECKING

from derive.render import hypertext
from derive.render.guard import normal
from derive.render.hypertext import signs
from derive.render.pictures import plain
from derive.render.tex import formula
from derive.sheet import Block, Bullets, Figure, Heading, Listing, Math, Prose, Scene, Table

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_ALIGN = {"l": "left", "c": "center", "r": "right"}
_DELIMITERS = re.compile(r"\\(?=[()\[\]b])|\$(?=\$)")
_MARKS = re.compile(r"[\[\]{}]")  # of programs: [sound:…], {1:SHORTANSWER:…}, [[…]]
_APART = "\N{WORD JOINER}"  # which nobody sees
_INSIDE = re.compile(r"\\\((.*?)\\\)", re.S)
_DISPLAYED = re.compile(r'<div class="formula">\\\[(.*?)\\\]</div>', re.S)


def shown(text: str) -> str:
    """Plain text of which no browser, MathJax or filter makes anything else."""
    return inert(_DELIMITERS.sub(rf"\g<0>{_APART}", text))


def inert(code: str) -> str:
    """Text, code or LaTeX in HTML; brackets and braces by their numbers."""
    return _MARKS.sub(lambda m: f"&#{ord(m[0])};", escape(code))


def displayed(html: str) -> list[str]:
    """The displayed formulas of a sheet in finished HTML, in order."""
    return [normal(unescape(f)) for f in _DISPLAYED.findall(html)]


def inside(html: str) -> list[str]:
    """The formulas inside the sentences of finished HTML."""
    return [unescape(f) for f in _INSIDE.findall(html)]


class Writer(hypertext.Writer):
    """The question's own words, and a sheet's paragraphs."""

    def text(self, text: str) -> str:
        return shown(text)

    def code(self, text: str) -> str:
        return f"<code>{inert(text)}</code>"

    def note(self, caption: str) -> str:
        return f"<em>{shown(caption)}</em>"

    def _fence(self, node: SyntaxTreeNode) -> str:
        return listing(node.content)

    _code_block = _fence

    def _math_inline(self, node: SyntaxTreeNode) -> str:
        return rf"\({self._latex(node.content, False)}\)"

    def _display(self, latex: str, tag: str = "div") -> str:
        return rf"<{tag}>\[{self._latex(latex, True)}\]</{tag}>"

    def _latex(self, latex: str, display: bool) -> str:
        return inert(" ".join(signs(self.formula(formula, latex, display)).split()))


def listing(code: str) -> str:
    """A program's text as it stands."""
    return "<pre><code>" + inert(code.rstrip("\n")) + "</code></pre>"


def inline(markdown: str) -> str:
    """One paragraph's worth of Markdown, without a paragraph around it."""
    return Writer().paragraph(markdown)


def blocks(found: Iterable[Block], picture: Callable[[Scene], str]) -> str:
    """Blocks of a sheet; ``picture`` gives the address of a figure."""
    return "\n".join(_block(block, picture) for block in found)


def _block(block: Block, picture: Callable[[Scene], str]) -> str:
    match block:
        case Math():
            return rf'<div class="formula">\[{inert(" ".join(block.latex.split()))}\]</div>'
        case Heading():
            return f"<h4>{inline(block.text)}</h4>"
        case Prose():
            return Writer().document(block.text.strip())
        case Bullets():
            return "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in block.items) + "</ul>"
        case Listing():
            return listing(block.code)
        case Figure():
            told = inert(plain(block.scene.description))
            return (f'<p><img src="{picture(block.scene)}" alt="{told}"><br>\n'
                    f"<small>{inline(block.caption)}</small></p>")
        case Table():
            head = _row("th", block.header, block.align)
            return f"<table><thead>{head}</thead><tbody>{''.join(_row('td', r, block.align) for r in block.rows)}" \
                   "</tbody></table>"


def _row(tag: str, cells: Iterable[str], align: str) -> str:
    return "<tr>" + "".join(f'<{tag} style="text-align: {_ALIGN[letter]}; padding: 0 .6em">{inline(cell)}</{tag}>'
                            for cell, letter in zip(cells, align, strict=True)) + "</tr>"  # fmt: skip
