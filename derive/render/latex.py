"""The sheet as a LaTeX document: Jinja fills the body, PyLaTeX makes the document around it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pylatex import Document, Package
from pylatex.utils import NoEscape

from derive.expr import Entry, Partial, Rel
from derive.lines import WIDTH, across
from derive.render import prose, tex
from derive.render.dialect import question
from derive.render.guard import guard
from derive.render.pictures import plain, tikz
from derive.sheet import Block, Bullets, Figure, Heading, Listing, Math, Prose, Table
from derive.words import environment, wording

if TYPE_CHECKING:
    from jinja2 import Environment

    from derive.render.guard import Solved

# Debian: texlive-latex-extra and lmodern hold them all.
PACKAGES = (
    "iftex", "amsmath", "amssymb", "mathtools", "bm", "cancel", "xcolor", "graphicx", "array", "booktabs", "tabularx",
    "enumitem", "titlesec", "framed", "fancyhdr", "tikz", "hyperref",
)  # fmt: skip
_COMMANDS = {2: r"\section", 3: r"\subsection"}


def render(solution: Solved, detail: str = "standard") -> str:
    """A whole LaTeX document, for pdfLaTeX and LuaLaTeX; the same solution gives the same text.

    Raises :class:`CardError` where a formula of the question uses a macro that is
    not allowed, :class:`RenderError` for a letter that the fonts lack.
    """
    body = _pages().get_template("sheet.tex").render(_content(solution, detail))
    head = _pages().get_template("preamble.tex").render(_data(solution))
    document = Document(
        documentclass="article", document_options=["a4paper", "11pt"], fontenc=None, inputenc=None, lmodern=False,
        textcomp=False, microtype=False, indent=False,
        geometry_options={"hmargin": "25mm", "top": "20mm", "bottom": "24mm"},
    )  # fmt: skip
    for name in PACKAGES:
        document.packages.append(Package(name))
    document.preamble.append(NoEscape(head))
    document.append(NoEscape(re.sub(r"\n{3,}", "\n\n", body).strip()))
    text = str(document.dumps()).rstrip("\n") + "\n"
    guard(text, solution.sheet, detail)
    return text


def _pages() -> Environment:
    return layouts("pages")


@cache
def layouts(folder: str) -> Environment:
    """The page layouts in a folder of ``templates/``: what is filled in is escaped unless it is LaTeX already."""

    def finalize(value: Any) -> Any:
        return value if isinstance(value, NoEscape) else tex.text(str(value))

    return environment(
        folder, finalize=finalize, block_start_string=r"\BLOCK{", block_end_string="}", variable_start_string=r"\VAR{",
        variable_end_string="}", comment_start_string=r"\#{", comment_end_string="}",
    )  # fmt: skip


def _data(solution: Solved) -> dict[str, Any]:
    """What the header, the footer and the file's metadata say."""
    front = solution.card.front_matter if solution.card else {}
    tags = front.get("tags") or ()
    return {
        "say": wording(solution.sheet.language, "page"),
        # a PDF's title has no formulas: signs of mathematics by their macros' names, accents where a font has them
        "title": "".join(_set(c) for c in unicodedata.normalize("NFC", "".join(
            tex.MATHS.get(c, c) for c in plain(solution.sheet.title)))),
        "subject": str(front.get("course") or ""),
        "keywords": ", ".join(map(str, tags)) if isinstance(tags, list | tuple) else str(tags),
        "foot": prose.inline(solution.sheet.title),
    }


def _set(char: str) -> str:
    r"""A letter as the fonts have it, y of ỹ; none of ``\\{}`` and of accents by themselves."""
    kept = char if char.isascii() or tex.in_t1(char) else unicodedata.normalize("NFD", char)
    return re.sub(r"[\\{}\u0300-\u036f]", "", kept)


def _content(solution: Solved, detail: str) -> dict[str, Any]:
    card, sheet = solution.card, solution.sheet
    answer, details, closing = sheet.parts(detail)
    return {
        "say": wording(solution.sheet.language, "page"),
        "title": prose.inline(sheet.title),
        "course": str((card.front_matter.get("course") if card else None) or ""),
        "id": card.id if card else solution.module.key,
        "points": card.points if card else None,
        "question": question(card, prose.blocks),
        "answer": _rows(answer),
        "details": _rows(details),
        "closing": _rows(closing),
    }


def _rows(blocks: Iterable[Block]) -> list[dict[str, Any]]:
    """The blocks for the template; short formulas that follow one another stand beside one another.

    Those of the same, in entries and in matrices, begin a line if that holds them and the one before has no room.
    """
    made: list[dict[str, Any]] = []
    for _, alike in groupby(blocks, key=_of):
        row = [*alike]
        widths = [across(b.latex) if isinstance(b, Math) and "aligned" not in b.latex else WIDTH for b in row]
        for n, (one, wide) in enumerate(zip(map(_block, row), widths, strict=True)):
            need = sum(widths) if n == 0 and sum(widths) <= WIDTH else wide
            if made and one["kind"] == "formula" == made[-1]["kind"] and made[-1]["wide"] + need <= WIDTH:
                made[-1]["formulas"].append(one)
                made[-1]["wide"] += wide
            else:
                made.append(one | {"formulas": [one], "wide": wide})
    return made


def _of(block: Block) -> Hashable:
    """Of what a formula is, and by what: the same of ∂y_k/∂x_i and ∂y/∂x; other blocks stand by themselves."""
    left = block.expr.terms[0] if isinstance(block, Math) and isinstance(block.expr, Rel) else None
    ends = (left.of, left.wrt) if isinstance(left, Partial) else (left,)
    names = tuple(end.tensor for end in ends if isinstance(end, Entry))
    return names or id(block)


def _block(block: Block) -> dict[str, Any]:
    match block:
        case Math():
            latex = block.latex.strip()
            tall = r"\frac" in latex and (r"\end{pmatrix}" in latex or r"\end{cases}" in latex)
            return {"kind": "formula", "latex": NoEscape(latex), "breakable": prose.breakable(latex), "tall": tall}
        case Heading():
            command = _COMMANDS.get(max(block.level, 2), r"\subsubsection*")
            return {"kind": "heading", "command": NoEscape(command), "text": prose.inline(block.text)}
        case Bullets():
            return {"kind": "bullets", "entries": list(map(prose.item, block.items))}
        case Prose():
            return {"kind": "prose", "text": prose.blocks(block.text.strip())}
        case Figure():
            # the caption of a display without a number: nothing refers to it
            return {"kind": "figure", "picture": tikz(block.scene), "caption": prose.inline(block.caption)}
        case Listing():
            return {"kind": "listing", "text": prose.listing(block.code)}
        case Table():
            rows, align = prose.abreast([block.header, *block.rows], block.align)
            cells = [list(map(prose.inline, row)) for row in rows]
            return {"kind": "table", "text": NoEscape(prose.table(cells, align, rows))}


def body(blocks: Iterable[Block]) -> NoEscape:
    """Blocks of a sheet as LaTeX, to stand in any document with the macros of ``templates/pages/macros.tex``."""
    template = _pages().get_template("block.tex")
    written = "".join(template.render(block=block) for block in _rows(blocks))
    return NoEscape(re.sub(r"\n{3,}", "\n\n", written).strip())
