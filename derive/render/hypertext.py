"""Markdown as HTML: the question's own text and the sheet's paragraphs; tags are shown, and nothing is fetched."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from markupsafe import Markup

from derive.errors import DeriveError
from derive.render.dialect import parser
from derive.render.mathml import mathml
from derive.render.tree import TreeWriter, opens_part, plain

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_LOWEST = 6
# A formula with the brackets and stops that touch it, or M × N: browsers break a line beside any formula.
_MATH = r"<math(?:(?!</math>).)*</math>"
_UNBROKEN = re.compile(
    rf"[(“]+{_MATH}[,.;:)!?”’]*|{_MATH}[,.;:)!?”’]+|{_MATH}(?:\u00a0×\u00a0{_MATH})+[,.;:)!?”’]*", re.DOTALL
)


@lru_cache(4096)
def inline(markdown: str) -> Markup:
    """One paragraph's worth of Markdown, without a paragraph around it."""
    from markdown_it.tree import SyntaxTreeNode

    return Markup(_Writer().inline(SyntaxTreeNode(parser().parseInline(markdown))))


@lru_cache(4096)
def blocks(markdown: str, first_line: int = 0) -> Markup:
    """Whole Markdown as HTML, headings from the third level down.

    Raises :class:`CardError` where a formula uses what is not allowed, with the line
    counted from ``first_line``.
    """
    from markdown_it.tree import SyntaxTreeNode

    writer = _Writer(first_line)
    try:
        return Markup(writer.blocks(SyntaxTreeNode(parser().parse(markdown))))
    except DeriveError as error:
        raise error.located(None, writer.line) from None


def listing(code: str) -> Markup:
    """A program's text as it stands."""
    return Markup("<pre><code>") + code.rstrip("\n") + Markup("</code></pre>")


class _Writer(TreeWriter):
    def blocks(self, node: SyntaxTreeNode) -> str:
        return "\n".join(self.write(child) for child in node.children)

    def inline(self, node: SyntaxTreeNode) -> str:
        children = node.children
        written = "".join(self._break(children, n) if c.type == "softbreak" else self.write(c)
                          for n, c in enumerate(children))  # fmt: skip
        return _UNBROKEN.sub(r'<span class="whole">\g<0></span>', written) if node.type == "inline" else written

    def _tag(self, name: str, content: str, attributes: str = "") -> str:
        return f"<{name}{attributes}>{content}</{name}>"

    # --- blocks ------------------------------------------------------------

    def _paragraph(self, node: SyntaxTreeNode) -> str:
        content = self.inline(node)
        return content if node.hidden else self._tag("p", content)

    def _heading(self, node: SyntaxTreeNode) -> str:
        return self._tag(f"h{min(_LOWEST, int(node.tag[1]) + 2)}", self.inline(node))

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

    def _text(self, node: SyntaxTreeNode) -> str:
        return escape(node.content)

    def _break(self, siblings: list[SyntaxTreeNode], at: int) -> str:
        self.line += 1
        return "<br>\n" if opens_part(siblings, at + 1) else "\n"

    def _hardbreak(self, node: SyntaxTreeNode) -> str:
        self.line += 1
        return "<br>\n"

    def _math_inline(self, node: SyntaxTreeNode) -> str:
        return self.formula(mathml, node.content, False)

    def _math_inline_double(self, node: SyntaxTreeNode) -> str:
        return self._display(node.content, "span")

    def _display(self, latex: str, tag: str = "div") -> str:
        return self._tag(tag, self.formula(mathml, latex, True), ' class="display"')

    def _em(self, node: SyntaxTreeNode) -> str:
        return self._tag("em", self.inline(node))

    def _strong(self, node: SyntaxTreeNode) -> str:
        return self._tag("strong", self.inline(node))

    def _s(self, node: SyntaxTreeNode) -> str:
        return self._tag("s", self.inline(node))

    def _code_inline(self, node: SyntaxTreeNode) -> str:
        return self._tag("code", escape(node.content))

    def _link(self, node: SyntaxTreeNode) -> str:
        """The label and the address in writing: a page leads nowhere."""
        label, address = self.inline(node), str(node.attrs.get("href", ""))
        shown = self._tag("code", escape(address))
        return shown if address in (plain(node), "mailto:" + plain(node)) else f"{label} ({shown})"

    def _image(self, node: SyntaxTreeNode) -> str:
        caption = "".join(plain(c) for c in node.children)
        return self._note(caption or str(node.attrs.get("src", "")))

    def _embed(self, node: SyntaxTreeNode) -> str:
        return self._note(node.content)

    def _note(self, caption: str) -> str:
        return self._tag("span", escape(caption), ' class="missing"')


_ALIGNED = frozenset(("left", "center", "right"))
