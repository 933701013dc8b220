"""The Markdown of question banks, as Obsidian and GitHub show it."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

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
    from mdit_py_plugins.dollarmath.index import math_block_dollar

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
        token = state.push("embed" if found[1] else "text", "", 0)
        token.content = found[2] if found[1] else found[3] or found[2]
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
