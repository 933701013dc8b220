"""Markdown as LaTeX: the question's own text, and the sheet's paragraphs, items and cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from pylatex.utils import NoEscape

from derive.render import tex
from derive.render.dialect import TreeWriter, plain
from derive.render.tex import formula, masked

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_DEEPEST = 4  # LaTeX nests four lists of a kind
_BLOCK_NAME = re.compile(r"\s*\\\^\{\}[A-Za-z0-9-]+\s*$")  # Obsidian's ^block-id, escaped
_UNBREAKABLE = re.compile(r"\\over(?:brace)?\b|\\underbrace\b")
_SIGNS = re.compile(r"[-+=<>,]|\\(?:cdot|times|leq?|geq?|neq?|in|to|approx|iff|implies)\b")
_PART, _HEAD = 36, 4  # lines of code that stay together; of more than those, the first
_LINE = 100  # characters of LaTeX that fit a line, at least
_EMPTY_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")  # between displays; they would end the paragraph
_BREAKS = re.compile(r"([/_.,()=-]|\\_)(?=\w)")


@lru_cache(4096)
def inline(markdown: str) -> NoEscape:
    """One paragraph's worth of Markdown, without a paragraph around it."""
    return NoEscape(_Writer().paragraph(markdown))


def item(markdown: str) -> NoEscape:
    """A list item's text, to stand behind ``\\item``."""
    return NoEscape(_guarded(inline(markdown)))


@lru_cache(4096)
def blocks(markdown: str, first_line: int = 0) -> NoEscape:
    """Whole Markdown as LaTeX.

    Raises :class:`CardError` where a formula uses what is not allowed, and :class:`RenderError`
    for a letter that the fonts lack, with the line counted from ``first_line``.
    """
    return NoEscape(_Writer(first_line).document(markdown))


def listing(code: str) -> NoEscape:
    """A program's text, line by line."""
    lines = code.rstrip("\n").expandtabs(4).split("\n")
    body = "\n".join(rf"\codeline{{{_leading(line)}{_breakable(line.lstrip(' '), 80)}}}{after}"
                     for line, after in zip(lines, _kept(lines), strict=True))
    return NoEscape(f"\\begin{{listing}}\n{body}\n\\end{{listing}}")


def _kept(lines: list[str]) -> list[str]:
    """What follows each line: no page ends inside a part between blank lines, of a long one behind its first lines."""
    found = [""] * len(lines)
    starts = [n for n, line in enumerate(lines) if line and not (n and lines[n - 1])]
    for start in starts:
        end = next((n for n in range(start, len(lines)) if not lines[n]), len(lines))
        for n in range(start, end - 1 if end - start <= _PART else start + _HEAD):
            found[n] = r"\samepart"
    return found


class _Writer(TreeWriter):
    marks: ClassVar[Mapping[str, str]] = {"em": r"\emph{%s}", "strong": r"\textbf{%s}", "s": r"\struck{%s}",
                                          "heading": r"\subsubsection*{%s}"}
    newline = "\\newline\n"

    def __init__(self, first_line: int = 0) -> None:
        super().__init__(first_line)
        self.depth = 0

    def blocks(self, node: SyntaxTreeNode) -> NoEscape:
        """Blocks apart by a blank line; a display belongs to the paragraph that leads to it and may go on after it."""
        written, last = "", None
        for child in node.children:
            latex = self.write(child)
            if latex and written:
                written += "\n" if child.type == "math_block" or _goes_on(last, child) else "\n\n"
            written, last = written + latex, child if latex else last
        return NoEscape(written)

    def inline(self, node: SyntaxTreeNode) -> NoEscape:
        if node.type in ("root", "inline") and len(node.children) == 1 and node.children[0].type == "inline":
            node = node.children[0]
        return NoEscape(_EMPTY_LINES.sub("\n", super().inline(node)))

    def text(self, text: str) -> str:
        return tex.text(text)

    def code(self, text: str) -> str:
        return rf"\texttt{{{_breakable(text)}}}"

    def note(self, caption: str) -> str:
        return rf"\figurenote{{{tex.text(caption)}}}"

    def _math(self, latex: str, display: bool) -> NoEscape:
        return NoEscape(self.formula(formula, latex, display))

    # --- blocks ------------------------------------------------------------

    def _paragraph(self, node: SyntaxTreeNode) -> str:
        return _BLOCK_NAME.sub("", self.inline(node)).strip()

    def _bullet_list(self, node: SyntaxTreeNode, environment: str = "itemize", options: str = "") -> str:
        self.depth += 1
        items = [self.blocks(item) for item in node.children]
        self.depth -= 1
        if self.depth >= _DEEPEST:
            return "\n\n".join(items)
        body = "\n".join(rf"  \item {_guarded(item)}" for item in items)
        return f"\\begin{{{environment}}}{options}\n{body}\n\\end{{{environment}}}"

    def _ordered_list(self, node: SyntaxTreeNode) -> str:
        start = int(node.attrs.get("start", 1))
        bracket = ")" if node.markup == ")" else "."
        options = "" if (start, bracket) == (1, ".") else rf"[start={start}, label=\arabic*{bracket}]"
        return self._bullet_list(node, "enumerate", options)

    def _blockquote(self, node: SyntaxTreeNode) -> str:
        self.depth += 1
        body = self.blocks(node)
        self.depth -= 1
        return body if self.depth >= _DEEPEST else f"\\begin{{quote}}\n{body}\n\\end{{quote}}"

    def _fence(self, node: SyntaxTreeNode) -> str:
        return listing(node.content)

    _code_block = _fence

    def _hr(self, node: SyntaxTreeNode) -> str:
        return r"\par\medskip\hrule\medskip"

    def _math_block(self, node: SyntaxTreeNode) -> str:
        return _display(self._math(node.content, True))

    def _table(self, node: SyntaxTreeNode) -> str:
        rows = [[self.inline(cell) for cell in row.children] for part in node.children for row in part.children]
        texts = [[plain(cell) for cell in row.children] for part in node.children for row in part.children]
        header = node.children[0].children[0].children
        align = "".join(str(cell.attrs.get("style", "text-align:left"))[len("text-align:")] for cell in header)
        return table(rows, align, texts)

    # --- inline ------------------------------------------------------------

    def _math_inline(self, node: SyntaxTreeNode) -> str:
        return f"${self._math(node.content, False)}$"

    def _math_inline_double(self, node: SyntaxTreeNode) -> str:
        return f"\n{_display(self._math(node.content, True))}\n"



def _guarded(item: str) -> str:
    r"""A text that ``\item`` does not take for its option."""
    return "{}" + item if item.startswith("[") else item


def _goes_on(display: SyntaxTreeNode | None, after: SyntaxTreeNode) -> bool:
    """A paragraph on the line after a display."""
    if display is None or display.type != "math_block" or after.type != "paragraph":
        return False
    return bool(display.map and after.map and display.map[1] == after.map[0])


def breakable(latex: str) -> bool:
    """TeX can break the formula, should it be too wide: at signs and commas outside boxes, not too far apart."""
    if len(latex) <= _LINE or _UNBREAKABLE.search(latex):
        return False
    return max(map(len, _SIGNS.split(masked(latex)))) < _LINE


def _display(latex: str) -> str:
    return f"\\[\n  \\{'fitlines' if breakable(latex) else 'fit'}{{{latex}}}\n\\]"


def _breakable(text: str, longest: int = 20) -> str:
    """Code; a longer one can break after punctuation."""
    latex = tex.code(text)
    return _BREAKS.sub(r"\1\\allowbreak{}", latex) if len(text) > longest else latex


def _leading(line: str) -> str:
    return "~" * (len(line) - len(line.lstrip(" ")))


_MACRO = re.compile(r"\\[a-zA-Z]+\s*")
_GROUPS = re.compile(r"[{}_^]")
_PAGE = 78  # characters of a line of text
_NUMBERS = 86  # digits of a line, which are narrower
_LONG = 24  # a cell longer than this may break
_TALL = 8  # rows of a table that are set closer
_BELOW = 4  # that stand below one another


def table(rows: Sequence[Sequence[str]], align: str, plain: Sequence[Sequence[str]]) -> str:
    """A table of LaTeX cells, its header first; ``plain`` holds the cells' text to measure.

    ``align`` has a letter l, c or r per column; short rows are filled up.
    """
    width = len(align)
    longest = _longest(plain, width)
    wide = sum(longest) + 2 * width > _PAGE
    columns = [r">{\raggedright\arraybackslash}X" if wide and longest[n] > _LONG else align[n] for n in range(width)]
    environment, argument = ("tabularx", r"{\linewidth}") if any(len(c) > 1 for c in columns) else ("tabular", "")
    lines = [_row([*row[:width], *[""] * (width - len(row))]) for row in rows]
    body = "\n".join([r"  \toprule", *lines[:1], r"  \midrule", *lines[1:], r"  \bottomrule"])
    inner = f"\\begin{{{environment}}}{argument}{{{''.join(columns)}}}\n{body}\n\\end{{{environment}}}"
    if wide and environment == "tabular":  # many narrow columns: set smaller
        inner = f"\\fitbox{{%\n{inner}}}"
    close = "[1.05]" if len(lines) > _TALL else ""  # a long one
    return f"\\begin{{tablebox}}{close}\n{inner}\n\\end{{tablebox}}"


def abreast(rows: Sequence[Sequence[str]], align: str) -> tuple[list[list[str]], str]:
    """The rows of a table, its header first, in two halves beside one another where a line holds both."""
    (header, *rest), width = map(list, rows), 2 * len(align) + 1
    half = (len(rest) + 1) // 2
    again = [header, *rest[half:], [""] * len(align)]
    beside = [[*left, "", *right] for left, right in zip([header, *rest[:half]], again, strict=False)]
    if len(rest) <= _BELOW or sum(_longest(beside, width)) + 2 * width > _NUMBERS:
        return [header, *rest], align
    return beside, f"{align}l{align}"


def _longest(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    return [max((_letters(row[n]) for row in rows if n < len(row)), default=0) for n in range(width)]


def _letters(cell: str) -> int:
    """How long a cell is: a macro of a formula is one sign, its braces none."""
    return sum(len(_GROUPS.sub("", _MACRO.sub("m", part)) if n % 2 else part) for n, part in enumerate(cell.split("$")))


def _row(cells: Sequence[str]) -> str:
    # The end of the line above would take a bracket or star for its option.
    first = "{}" if cells and cells[0].startswith(("[", "*")) else ""
    return "  " + first + " & ".join(cells) + r" \\"
