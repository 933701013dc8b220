"""The sheet in a terminal: words laid out by rich, formulas in Unicode."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from derive.render.dialect import parser
from derive.render.guard import refuse_failures
from derive.render.unicode import display, inline
from derive.sheet import Block, Bullets, Figure, Heading, Listing, Math, Prose, Table

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

    from derive.render.guard import Solved

_JUSTIFY = {"l": "left", "c": "center", "r": "right"}
_STYLES = {"strong": "bold", "em": "italic", "s": "strike", "code_inline": "cyan", "link": "underline"}


def render(solution: Solved, detail: str = "standard") -> RenderableType:
    """The card's question and the sheet, to print on a rich console.

    Raises :class:`VerificationError` if an equation was refuted or not read.
    """
    refuse_failures(solution.report)
    card, sheet = solution.card, solution.sheet
    parts: list[RenderableType] = [Rule(_styled(sheet.title, "bold"), style="dim")]
    if card is not None:
        parts += [Padding(_markdown(card.question), (0, 2)), Text()]
    parts.append(Panel(Group(*_spaced(sheet.answer)), box=box.HEAVY, border_style="dim", padding=(0, 1)))
    parts.append(Text())
    parts += _spaced(sheet.blocks(detail)[len(sheet.answer) :])
    return Group(*parts)


def _spaced(blocks: tuple[Block, ...]) -> Iterator[RenderableType]:
    for n, block in enumerate(blocks):
        if n:
            yield Text()
        yield _block(block)


def _block(block: Block) -> RenderableType:
    match block:
        case Math():
            return Padding(_Formula(block.latex), (0, 0, 0, 4))
        case Heading():
            return _styled(block.text, "bold underline" if block.level <= 2 else "bold")
        case Prose():
            return _markdown(block.text)
        case Bullets():
            return Group(*(_hanging(Text("•"), _line(item)) for item in block.items))
        case Figure():  # what it shows, in words
            return Padding(_markdown(block.scene.description), (0, 0, 0, 4), style="dim")
        case Listing():
            return Padding(Text(block.code.rstrip("\n"), "cyan"), (0, 0, 0, 4))
        case Table():
            return _table([[_line(cell) for cell in row] for row in (block.header, *block.rows)], block.align)


def _styled(words: str, style: str) -> Text:
    line = _line(words)
    line.stylize(style)
    return line


class _Formula:
    """A displayed formula, broken to the width that there is."""

    def __init__(self, latex: str) -> None:
        self.latex = latex

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = display(_clean(self.latex), options.max_width)
        yield Text("\n".join(lines), no_wrap=True, overflow="ignore", end="\n")


def _clean(words: str) -> str:
    """The text without what a terminal would obey: escapes, bells, marks that reverse its direction."""
    return "".join(c for c in words if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def _hanging(mark: Text, *inside: RenderableType) -> RenderableType:
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row(mark, Group(*inside))
    return grid


def _table(rows: list[list[Text]], align: str) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for cell, letter in zip(rows[0], align, strict=False):
        grid.add_column(cell, justify=_JUSTIFY[letter])  # type: ignore[arg-type]
    for row in rows[1:]:
        grid.add_row(*row[: len(grid.columns)])
    return grid


# --- Markdown ------------------------------------------------------------------


def _markdown(source: str) -> RenderableType:
    from markdown_it.tree import SyntaxTreeNode

    return Group(*_nodes(SyntaxTreeNode(parser().parse(_clean(source).strip())), True))


def _line(source: str) -> Text:
    from markdown_it.tree import SyntaxTreeNode

    return _words(SyntaxTreeNode(parser().parseInline(_clean(source))))


def _nodes(node: SyntaxTreeNode, apart: bool) -> Iterator[RenderableType]:
    """The blocks of a document or an item; ``apart`` puts an empty line between them."""
    for n, child in enumerate(node.children):
        if n and apart:
            yield Text()
        yield from _node(child)


def _node(node: SyntaxTreeNode) -> Iterator[RenderableType]:
    match node.type:
        case "bullet_list" | "ordered_list":
            first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
            for n, item in enumerate(node.children):
                mark = "•" if first is None else f"{first + n}{node.markup}"
                yield _hanging(Text(mark), *_nodes(item, False))
        case "blockquote":
            yield Padding(Group(*_nodes(node, True)), (0, 0, 0, 2))
        case "fence" | "code_block":
            yield Padding(Text(node.content.rstrip("\n").expandtabs(4), "cyan"), (0, 0, 0, 4))
        case "heading":
            text = _words(node)
            text.stylize("bold")
            yield text
        case "hr":
            yield Rule(style="dim")
        case "math_block":
            yield Padding(_Formula(node.content), (0, 0, 0, 4))
        case "table":
            rows = [[_words(cell) for cell in row.children] for part in node.children for row in part.children]
            cells = node.children[0].children[0].children
            styles = [str(cell.attrs.get("style", "text-align:left")) for cell in cells]
            yield _table(rows, "".join(style[len("text-align:")] for style in styles))
        case _:
            yield from _paragraph(node)


def _paragraph(node: SyntaxTreeNode) -> Iterator[RenderableType]:
    """Words, and the displays between them."""
    line = Text()
    for child in _inline_children(node):
        if child.type == "math_inline_double":
            if line.plain.strip():
                yield _stripped(line)
            yield Padding(_Formula(child.content), (0, 0, 0, 4))
            line = Text()
        else:
            line.append_text(_words(child))
    if line.plain.strip():
        yield _stripped(line)


def _stripped(line: Text) -> Text:
    line.rstrip()
    return line[len(line.plain) - len(line.plain.lstrip()) :]


def _inline_children(node: SyntaxTreeNode) -> list[SyntaxTreeNode]:
    found = node.children
    return found[0].children if len(found) == 1 and found[0].type == "inline" else found


def _words(node: SyntaxTreeNode) -> Text:
    """A node's words on one line, with their emphasis."""
    match node.type:
        case "text" | "wikilink" | "code_inline":
            text = Text(node.content)
        case "math_inline" | "math_inline_double":
            text = Text(inline(node.content))
        case "softbreak":
            text = Text(" ")
        case "hardbreak":
            text = Text("\n")
        case "image" | "embed":
            text = Text(f"[Figure: {node.content or node.attrs.get('src', '')}]")
        case _:
            text = Text().join(_words(child) for child in node.children)
    if node.type in _STYLES:
        text.stylize(_STYLES[node.type])
    return text
