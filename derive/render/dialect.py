"""The Markdown of question banks, as Obsidian and GitHub show it, and what writers of its tree have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar, TypeVar

from derive.errors import DeriveError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.tree import SyntaxTreeNode

    from derive.card import Card

_T = TypeVar("_T")
_HIDDEN = re.compile(r"<!--.*?-->", re.S)
_BRACKETS = re.compile(
    r"\\\((?P<inline>.+?)\\\)|\\\[(?P<display>.+?)\\\]"
    r"|(?P<environment>\\begin\{(?P<name>equation\*?|align\*?|gather\*?|eqnarray\*?)\}.+?\\end\{(?P=name)\})",
    re.S,
)
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]+)(?:\|([^\[\]\n]*))?\]\]")


@cache
def parser() -> MarkdownIt:
    """Markdown → tokens: CommonMark, tables, formulas, wikilinks; comments are dropped."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.dollarmath.index import math_block_dollar, math_inline_dollar

    # Tags are shown, so HTML is text to the parser.
    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    made.use(dollarmath_plugin, double_inline=True, allow_labels=False, allow_digits=False)
    # A line of $$ ends a paragraph, as in Obsidian and on GitHub; else a line "= x" below it would make a heading.
    block = math_block_dollar(allow_labels=False, allow_blank_lines=True)

    def display(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        before = len(state.tokens), state.line
        found = block(state, start, end, silent)
        if found and "$$" in state.tokens[-1].content:  # several displays: the paragraph tells them apart
            found, silent = False, True
        if silent:  # only asked whether a display begins here
            del state.tokens[before[0] :]
            state.line = before[1]
        return found

    inline = math_inline_dollar(allow_digits=False, allow_double=True)

    def formula(state: StateInline, silent: bool) -> bool:
        source = state.src
        state.src += " "  # the plug-in takes the last sign of the text for the one in front of the first
        try:
            return inline(state, silent)
        finally:
            state.src = source

    made.inline.ruler.at("math_inline", formula)
    made.block.ruler.at("math_block", display, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    made.inline.ruler.before("escape", "brackets", _brackets)
    made.inline.ruler.before("link", "wikilink", _wikilink)
    made.inline.ruler.before("autolink", "hidden", _hidden)
    return made


def _brackets(state: StateInline, silent: bool) -> bool:
    r"""Formulas in ``\\(…\\)``, ``\\[…\\]`` and bare environments."""
    found = _BRACKETS.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("math_inline" if found["inline"] else "math_inline_double", "math", 0)
        token.content = found["inline"] or found["display"] or found["environment"]
    state.pos = found.end()
    return True


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("embed" if found[1] else "wikilink", "", 0)
        token.content = found[2] if found[1] else found[3] or found[2]
        token.meta = {"link": found[2]}
    state.pos = found.end()
    return True


@lru_cache(8)
def _last_end(source: str) -> int:
    """Where the last comment can end: no other ``<!--`` need be followed to the end of the text in vain."""
    return source.rfind("-->")


def _hidden(state: StateInline, silent: bool) -> bool:
    found = _HIDDEN.match(state.src, state.pos) if state.pos < _last_end(state.src) else None
    if found is None:
        return False
    state.pos = found.end()
    return True


_PART = re.compile(r"\s*(\*\*)?\(?([A-Za-z]|\d{1,2}|[ivx]{1,4})[.)]")  # A) … (1) … **a)** …
_SEEN = 12  # characters that tell whether a part begins


class TreeWriter:
    """Writes a node by the method of its type, else by ``inline``; ``line`` follows the source for messages.

    ``marks`` have a place for what stands inside them, ``newline`` breaks a line.
    """

    marks: ClassVar[Mapping[str, str]] = {}
    newline = "\n"

    def __init__(self, first_line: int = 0) -> None:
        self.first_line = self.line = first_line

    def document(self, markdown: str) -> str:
        """Whole Markdown; an error has the line at which it is."""
        from markdown_it.tree import SyntaxTreeNode

        try:
            return self.blocks(SyntaxTreeNode(parser().parse(markdown)))
        except DeriveError as error:
            raise error.located(None, self.line) from None

    def paragraph(self, markdown: str) -> str:
        """One paragraph's worth of Markdown, without a paragraph around it."""
        from markdown_it.tree import SyntaxTreeNode

        return self.inline(SyntaxTreeNode(parser().parseInline(markdown)))

    def blocks(self, node: SyntaxTreeNode) -> str:
        raise NotImplementedError

    def inline(self, node: SyntaxTreeNode) -> str:
        """The children in a row; a part of the question begins on a line of its own."""
        children = node.children
        return "".join(self._break(children, n) if c.type == "softbreak" else self.write(c)
                       for n, c in enumerate(children))

    def text(self, text: str) -> str:
        raise NotImplementedError

    def code(self, text: str) -> str:
        raise NotImplementedError

    def note(self, caption: str) -> str:
        """What stands in the place of a picture."""
        raise NotImplementedError

    def write(self, node: SyntaxTreeNode) -> str:
        if node.map:
            self.line = self.first_line + node.map[0]
        if node.type in self.marks:
            return self.marks[node.type] % self.inline(node)
        written: str = getattr(self, f"_{node.type}", self.inline)(node)
        return written

    def _break(self, siblings: list[SyntaxTreeNode], at: int) -> str:
        self.line += 1
        return self.newline if opens_part(siblings, at + 1) else "\n"

    def _hardbreak(self, node: SyntaxTreeNode) -> str:
        self.line += 1
        return self.newline

    def _code_inline(self, node: SyntaxTreeNode) -> str:
        return self.code(node.content)

    def _link(self, node: SyntaxTreeNode) -> str:
        """The label and the address in writing: a page leads nowhere."""
        label, address = self.inline(node), str(node.attrs.get("href", ""))
        shown = self.code(address)
        return shown if address in (plain(node), "mailto:" + plain(node)) else f"{label} ({shown})"

    def _image(self, node: SyntaxTreeNode) -> str:
        return self.note("".join(map(plain, node.children)) or str(node.attrs.get("src", "")))

    def _wikilink(self, node: SyntaxTreeNode) -> str:
        """Its words: there is no vault here."""
        return self.text(node.content)

    def _text(self, node: SyntaxTreeNode) -> str:
        return self.text(node.content)

    def _embed(self, node: SyntaxTreeNode) -> str:
        return self.note(node.content)

    def formula(self, write: Callable[[str, bool], str], latex: str, display: bool) -> str:
        """A formula as ``write`` has it; an error names the line in the card."""
        try:
            written = write(latex, display)
        except DeriveError as error:
            first = self.line + (error.problems[0].line or 0)
            raise type(error)(error.problems[0].message).located(None, first) from None
        self.line += latex.count("\n")
        return written


def opens_part(siblings: list[SyntaxTreeNode], at: int) -> bool:
    """The text from a sibling on begins like ``A)``, ``(1)`` or ``**a)**``: it stands on a line of its own."""
    following = "**" if at < len(siblings) and siblings[at].type == "strong" else ""
    for n in range(at, len(siblings)):
        following += plain(siblings[n])[:_SEEN]
        if len(following) >= _SEEN:
            break
    return bool(_PART.match(following))


def plain(node: SyntaxTreeNode) -> str:
    """The text of a node without its marks, to measure and to compare."""
    return "".join(map(plain, node.children)) if node.children else node.content if not node.is_root else ""


def question(card: Card | None, blocks: Callable[[str, int], _T]) -> _T | None:
    """The question's own words; the points that open it stand in its heading instead."""
    if card is None:
        return None
    try:
        return blocks(*card.asked)
    except DeriveError as error:
        raise error.located(card.path) from None
