"""Markdown that other programs read: what is text stays text, formulas stand in dollars, no tag, path or code acts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from derive.render.dialect import TreeWriter
from derive.render.hypertext import signs
from derive.render.markdown import display
from derive.render.pictures import figure_name, plain
from derive.render.tex import formula
from derive.sheet import Block, Bullets, Figure, Heading, Listing, Math, Prose, Table
from derive.tabular import unbarred

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

    from derive.render.guard import Solved

_SPECIAL = re.compile(r"[\\`*_{}\[<>#|~$^@&]|=(?==)|(?<==)=|%(?=%)|(?<=%)%")
_LEADS = re.compile(r"^([-+:?=])|^(\(?(?:[A-Za-z]|\d{1,9}|[ivxlcdm]{1,6}))([.)])(?=\s|$)", re.M)  # a list, a definition
_HIGHLIGHTED = ("python", "text")  # of other names one may be a program's own, whose code is run
_RUN = re.compile(r"`+")
_ALIGN = {"left": ":--", "center": ":-:", "right": "--:", "": "---", "l": ":--", "c": ":-:", "r": "--:"}


class Writer(TreeWriter):
    """Markdown as Pandoc and Obsidian read it, of Markdown as question banks have it."""

    marks: ClassVar[Mapping[str, str]] = {"em": "*%s*", "strong": "**%s**", "s": "~~%s~~"}
    newline = "  \n"

    def blocks(self, node: SyntaxTreeNode) -> str:
        return "\n\n".join(filter(None, map(self.write, node.children)))

    # --- blocks ------------------------------------------------------------

    def _paragraph(self, node: SyntaxTreeNode) -> str:
        return _LEADS.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", self.inline(node).strip(" "))

    def _heading(self, node: SyntaxTreeNode) -> str:
        return "#" * min(6, int(node.tag[1]) + 2) + " " + " ".join(self.inline(node).split())

    def _bullet_list(self, node: SyntaxTreeNode) -> str:
        return self._items(node, ["- "] * len(node.children))

    def _ordered_list(self, node: SyntaxTreeNode) -> str:
        start = int(node.attrs.get("start", 1))
        return self._items(node, [f"{start + n}. " for n in range(len(node.children))])

    def _items(self, node: SyntaxTreeNode, marks: list[str]) -> str:
        tight = all(p.hidden for item in node.children for p in item.children if p.type == "paragraph")
        items = [indented(("\n" if tight else "\n\n").join(map(self.write, item.children)), mark)
                 for mark, item in zip(marks, node.children, strict=True)]  # fmt: skip
        return ("\n" if tight else "\n\n").join(items)

    def _blockquote(self, node: SyntaxTreeNode) -> str:
        return quoted(self.blocks(node))

    def _fence(self, node: SyntaxTreeNode) -> str:
        return fence(node.content, (node.info.split() or [""])[0])

    _code_block = _fence

    def _hr(self, node: SyntaxTreeNode) -> str:
        return "* * *"

    def _math_block(self, node: SyntaxTreeNode) -> str:
        return f"$$\n{self._math(node.content, True)}\n$$"

    def _table(self, node: SyntaxTreeNode) -> str:
        header, *rows = [row.children for part in node.children for row in part.children]
        align = [_ALIGN.get(str(cell.attrs.get("style", "")).removeprefix("text-align:"), "---") for cell in header]
        return table(([self.inline(cell) for cell in row] for row in (header, *rows)), align)

    # --- inline ------------------------------------------------------------

    def _text(self, node: SyntaxTreeNode) -> str:
        before = node.previous_sibling if not node.is_root and node.parent is not None else None
        if before is not None and before.type == "math_inline" and node.content[:1].isdigit():
            return f"&#{ord(node.content[0])};" + escaped(node.content[1:])  # a dollar before a digit closes nothing
        return escaped(node.content)

    def text(self, text: str) -> str:
        return escaped(text)

    def code(self, text: str) -> str:
        return _code(text)

    def note(self, caption: str) -> str:
        return f"*{escaped(caption)}*"

    def _math(self, latex: str, display: bool) -> str:
        return _inactive(" ".join(signs(self.formula(formula, latex, display)).split()))

    def _math_inline(self, node: SyntaxTreeNode) -> str:
        before = node.previous_sibling if node.parent is not None else None
        apart = " " if before is not None and before.type == "math_inline" else ""
        return f"{apart}${self._math(node.content, False)}$"

    def _math_inline_double(self, node: SyntaxTreeNode) -> str:
        return f"$${self._math(node.content, True)}$$"


def escaped(text: str) -> str:
    """Plain text as Markdown that shows the same characters."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _inactive(code: str) -> str:
    """Without the mark of Quarto's own commands, which would act in code, too."""
    while "{{<" in code:
        code = code.replace("{{<", "{ {<")
    return code


def _code(text: str) -> str:
    """Code in a line; as text where a program would take its beginning for a command to be run."""
    if not text.strip() or text.lstrip()[0] in "={$`" or text.rstrip().endswith("`"):
        return escaped(text)
    mark = "`" * (max(map(len, _RUN.findall(text)), default=0) + 1)
    return mark + _inactive(text) + mark


def fence(code: str, language: str) -> str:
    """A program's text, its marks longer than any in it."""
    mark = "`" * max(3, 1 + max(map(len, _RUN.findall(code)), default=0))
    return f"{mark}{language if language in _HIGHLIGHTED else ''}\n{_inactive(code).rstrip()}\n{mark}"


def table(rows: Iterable[Iterable[str]], align: Iterable[str]) -> str:
    """Rows of cells, the header first, in which no bar ends a cell."""
    header, *rest = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join((header, "|" + "|".join(align) + "|", *rest))


def _cell(text: str) -> str:
    """A formula's bars by their names; those of the text are escaped already."""
    parts = " ".join(text.split()).split("$")
    return "$".join(unbarred(part) if n % 2 else part for n, part in enumerate(parts))


def quoted(text: str) -> str:
    """The lines of a quotation, of which none is blank."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def indented(text: str, mark: str) -> str:
    """A list's item."""
    return mark + "\n".join(" " * len(mark) * bool(line) + line for line in text.split("\n"))[len(mark):]


def sheet(blocks: Iterable[Block], solution: Solved, writer: type[Writer], place: str = "") -> str:
    """Blocks of a sheet, apart by blank lines; figures by the names of their files in a ``place``."""
    return "\n\n".join(_block(block, solution, writer, place) for block in blocks)


def _block(block: Block, solution: Solved, writer: type[Writer], place: str) -> str:
    def line(text: str) -> str:
        return " ".join(writer().paragraph(text).split())

    match block:
        case Math():
            return display(block)
        case Heading():
            return "#" * min(6, max(2, block.level)) + " " + line(block.text)
        case Prose():
            return writer().document(block.text.strip())
        case Bullets():
            return "\n".join("- " + line(item) for item in block.items)
        case Listing():
            return fence(block.code, block.language)
        case Table():
            rows = ([writer().paragraph(cell) for cell in row] for row in (block.header, *block.rows))
            return table(rows, map(_ALIGN.__getitem__, block.align))
        case Figure():
            told = escaped(plain(block.scene.description)).replace("]", r"\]")
            return f"![{told}]({place}{figure_name(solution, block.scene)})\n\n{line(block.caption)}"
