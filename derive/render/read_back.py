"""What a finished file shows beside its displays, read back: the cells of its tables, the letters of its pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from unicodedata import normalize

from derive.errors import Problem, VerificationError
from derive.render.unicode import inline
from derive.sheet import Block, Bullets, Cell, Figure, Heading, Label, Prose, Scene, Table

HTML = ("<!DOCTYPE html>", '<div class="derive-sheet">')  # what a page and a notebook's output begin with
Marks = tuple[str, ...]  # of a cell: its formulas, and the numbers beside them
_FORMULA = re.compile(r"\$([^$]+)\$")
_NUMBER, _TAG = re.compile(r"-?\d+(?:[./]\d+)?"), re.compile(r"<[^>]*>")
_TEX = re.compile(r"\\begin\{tablebox\}.*?\\end\{tablebox\}", re.S), re.compile(r"^  (?!\\\w+rule$)(.*) \\\\$", re.M)
_MARKDOWN = re.compile(r"^\|.*\|\n\|(?::?-+:?\|)+\n(?:\|.*\|(?:\n|$))+", re.M), re.compile(r"^\| (.*) \|$", re.M)
_HTML = re.compile(r"<table>.*?</table>", re.S), re.compile(r"<tr>(.*?)</tr>", re.S)
_MATH = re.compile(r'<math alttext="([^"]*)".*?</math>', re.S)
_QUOTED = re.compile("“[^“”]*”")
_DOLLARS = re.compile(r"(?<![\\$])\$(?!\$)[^$]+\$(?!\$)")
_DISPLAY = re.compile(r"^\$\$[ \t]*\r?\n.*?\n\$\$[ \t]*\r?$", re.M | re.S)
_BESIDE_HTML = re.compile(r"<(math|svg|script|style)\b.*?</\1>", re.S)
_BESIDE_TEX = re.compile(r"\\begin\{(formula|tikzpicture)\}.*?\\end\{\1\}|(?<!\\)\$[^$]*\$", re.S)
_COMMAND = re.compile(r"\\(?:begin|end)\{[^}]*\}|\\[A-Za-z]+\*?")
_TEXT = re.compile(r"<text [^>]*>(.*?)</text>", re.S)


def guard_tables(text: str, blocks: Sequence[Block]) -> None:
    """Raise :class:`VerificationError` unless the rows of a sheet's tables stand in the finished text, in order."""
    rows = [[_marks(cell) for cell in row] for b in blocks if isinstance(b, Table) for row in (b.header, *b.rows)]
    found = iter([*_rows(text.replace("\r\n", "\n"))])
    for row in rows:
        if all(other != row for other in found):
            said = " | ".join(" ".join(cell) for cell in row)
            raise VerificationError(Problem(f"the finished file's tables have no row `{said}`, which was checked"))


def _rows(text: str) -> Iterator[list[Marks]]:
    """The rows of all tables; of one in two halves those on the left, then those on the right."""
    tex, html = "\\documentclass" in text, text.startswith(HTML)
    table, row = _TEX if tex else _HTML if html else _MARKDOWN
    for found in table.findall(text):
        rows = [[*map(_marks, _cells(line, tex, html))] for line in row.findall(found)]
        width = len(rows[0]) if rows else 0
        middle = width // 2
        halved = tex and width % 2 == 1 and width > 1 and all(len(r) == width and not r[middle] for r in rows) and (
            rows[0][:middle] == rows[0][middle + 1:])
        yield from [r[:middle] for r in rows] + [r[middle + 1:] for r in rows[1:]] if halved else rows


def _cells(row: str, tex: bool, html: bool) -> list[str]:
    if html:
        return re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)
    formulas = _FORMULA.findall(row)
    parts = re.split(r"(?<!\\)&" if tex else r"(?<!\\)\|", _FORMULA.sub("\x00", row))
    rest = iter(formulas)
    return [re.sub("\x00", lambda _: f"${next(rest)}$", part) for part in parts]


def _marks(cell: str) -> Marks:
    cell = _MATH.sub(lambda m: f"${unescape(m[1])}$", cell.replace("$-$", "-").replace("−", "-"))
    formulas = [" ".join(f.replace(r"\vert ", "|").replace(r"\Vert ", r"\|").split()) for f in _FORMULA.findall(cell)]
    return (*formulas, *_NUMBER.findall(_TAG.sub("", _FORMULA.sub("", cell))))


def guard_picture(svg: str, scene: Scene) -> None:
    """Raise :class:`VerificationError` unless an SVG's texts have the letters and numbers of its scene's."""
    texts = [t for i in scene.items for t in ([i.text] if isinstance(i, Label) else ())]
    texts += [t for i in scene.items if isinstance(i, Cell) for t in (i.text, i.note) if t]
    found = [_letters(unescape(_TAG.sub("", t))) for t in _TEXT.findall(svg)]
    wanted = [_letters(_FORMULA.sub(lambda m: inline(m[1]), t)) for t in texts]
    for one, other in zip(wanted, found, strict=False):
        if one != other:
            raise VerificationError(Problem(f"the picture `{scene.name}` shows “{other}” where “{one}” was checked"))
    if len(found) != len(wanted):
        raise VerificationError(Problem(f"the picture `{scene.name}` has {len(found)} texts, and not {len(wanted)}"))


def _letters(text: str) -> str:
    """Letters and digits, whether raised, accented or not."""
    return "".join(c for c in normalize("NFKD", text.replace("℘", "P")) if c.isalnum())


def guard_words(text: str, blocks: Sequence[Block]) -> None:
    """Raise :class:`VerificationError` unless the words of a sheet stand in the finished text, in order.

    Our own: what is quoted of a card each format spells in its way.
    """
    there, place = _plain(text), 0
    for said in (words for block in blocks for words in sentences(block)):
        for wanted in map(_latin, _unquoted(_DOLLARS.sub("", said))):
            found = there.find(wanted, place)
            if found < 0:
                raise VerificationError(Problem(f"the finished file's sentences have no “{said}”, which was checked"))
            place = found + len(wanted)


def _unquoted(said: str) -> list[str]:
    """The pieces around “…”, quotations in quotations among them."""
    while (less := _QUOTED.sub("\0", said)) != said:
        said = less
    return said.split("\0")


def sentences(block: Block) -> tuple[str, ...]:
    """What a block says in words."""
    match block:
        case Prose(words) | Heading(words) | Figure(_, words):
            return (words,)
        case Bullets(items):
            return items
    return ()


def _plain(text: str) -> str:
    """The letters of a finished file, of its formulas, pictures and commands none."""
    if text.startswith(HTML):
        text = unescape(_TAG.sub("", _BESIDE_HTML.sub("", text)))
    elif "\\documentclass" in text:
        text = _COMMAND.sub("", _BESIDE_TEX.sub("", text.partition("\\begin{document}")[2]))
    else:
        text = _DOLLARS.sub("", _DISPLAY.sub("", text))
    return _latin(text)


def _latin(text: str) -> str:
    """The letters and digits without accents, not those that a format may have by a formula: δ, ᵀ."""
    return "".join(c for c in normalize("NFD", text) if c.isascii() and c.isalnum())
