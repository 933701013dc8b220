"""The card with its Solution filled, for Obsidian and GitHub."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from derive.render.guard import guard
from derive.render.pictures import figure_name, plain, svg
from derive.sheet import Block, Bullets, Figure, Heading, Listing, Math, Prose, Table
from derive.tabular import unbarred
from derive.words import words

if TYPE_CHECKING:
    from derive.render.guard import Solved

_RULES = {"l": ":--", "c": ":-:", "r": "--:"}
_FORMULA = re.compile(r"\$[^$]+\$")
_NAMES = re.compile(r"\\operatorname\*?(?![a-zA-Z])")
_MARKED = re.compile(r"\n\s*(?=[-+=>#*|]|\d+[.)])")  # a line of LaTeX that Markdown would take for a list or heading


def render(solution: Solved, detail: str = "standard") -> str:
    """The card's whole text with the sheet as its solution; without a card, the sheet under its title."""
    sheet = solution.sheet
    body = "\n\n".join(_figure(b, solution) if isinstance(b, Figure) else _block(b) for b in sheet.blocks(detail))
    text = f"# {sheet.title}\n\n{body}\n" if solution.card is None else solution.card.with_solution(
        body, words(solution.sheet.language, "page", "solution"))
    guard(text, sheet, detail)
    return text


def files(solution: Solved, detail: str = "standard") -> dict[str, str]:
    """The figures that the Markdown shows: SVG by the name of the file."""
    return {figure_name(solution, f.scene): svg(f.scene) for f in solution.sheet.figures(detail)}


def _figure(block: Figure, solution: Solved) -> str:
    """A reference to the file beside the card, and the caption below it."""
    told = re.sub(r"([\\\[\]*_`<>])", r"\\\1", plain(block.scene.description))
    return f"![{told}]({figure_name(solution, block.scene)})\n\n{block.caption.strip()}"


def _inline(text: str) -> str:
    r"""The formulas in a text with what GitHub lets through: of ``\\`` in a line Markdown makes one backslash."""
    return _FORMULA.sub(lambda m: _NAMES.sub(r"\\mathrm", re.sub(r"\\\\\s*", r"\\cr ", m[0])), text)


def display(block: Math) -> str:
    """A formula on lines of its own, none of them blank or taken for Markdown."""
    return "$$\n" + _MARKED.sub(" ", re.sub(r"\n\s*\n", "\n", block.latex.strip())) + "\n$$"


def _block(block: Block) -> str:
    match block:
        case Figure():
            raise AssertionError("a figure needs the name of its file")
        case Math():
            return display(block)
        case Heading():
            return "#" * min(6, max(2, block.level)) + " " + block.text
        case Prose():
            return _inline(block.text.strip())
        case Bullets():
            return _inline("\n".join("- " + "\n  ".join(item.strip().splitlines()) for item in block.items))
        case Listing():
            return f"```{block.language}\n{block.code.rstrip()}\n```"
        case Table():
            rule = "|" + "|".join(_RULES[letter] for letter in block.align) + "|"
            return "\n".join([_row(block.header), rule, *map(_row, block.rows)])


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """A cell in which no bar ends the cell."""
    plain = _FORMULA.sub(lambda m: unbarred(m[0]), _inline(text))
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(plain.split()))
