"""Tables that show themselves in notebooks: texts in which ``$…$`` is a formula."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from html import escape

from derive.records import dataclass

_FORMULA = re.compile(r"\$[^$]+\$")
_SPECIAL = re.compile(r"([#$%&_{}])|(\\)|([~^])")
_REPLACED = {"\\": r"\backslash ", "~": r"\sim ", "^": r"\wedge "}


@dataclass(frozen=True)
class Table:
    """The heads of the columns, and rows of as many texts."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Tabular:
    """What shows itself in a notebook as a table."""

    def _table(self) -> Table:
        raise NotImplementedError

    def _repr_markdown_(self) -> str:
        table = self._table()
        return "\n".join(["| " + " | ".join(map(_barred, row)) + " |" for row in
                          (table.header, (":--",) * len(table.header), *table.rows)]) + "\n"

    def _repr_html_(self) -> str:
        """A notebook typesets what stands between dollars."""
        table = self._table()
        head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
        body = "".join("<tr>" + "".join(f'<td style="text-align: left">{escape(cell)}</td>' for cell in row) + "</tr>\n"
                       for row in table.rows)
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"

    def _repr_latex_(self) -> str:
        table = self._table()
        rows = " \\\\\n".join(" & ".join(map(_in_math, row)) for row in (table.header, *table.rows))
        return f"$$\n\\begin{{array}}{{{'l' * len(table.header)}}}\n{rows}\n\\end{{array}}\n$$\n"


def formula(latex: str) -> str:
    """A formula in a cell, in one line."""
    return f"${' '.join(latex.split())}$"


def counted(verdicts: Iterable[str]) -> str:
    """``29 proved, 4 tested``."""
    return ", ".join(f"{n} {name}" for name, n in Counter(map(str, verdicts)).items()) or "nothing checked"


def _parted(text: str, formulas: Callable[[str], str], words: Callable[[str], str]) -> Iterable[str]:
    at = 0
    for match in _FORMULA.finditer(text):
        yield words(text[at : match.start()])
        yield formulas(match[0][1:-1])
        at = match.end()
    yield words(text[at:])


def unbarred(latex: str) -> str:
    """A formula with its bars by their names: none of them ends a cell of Markdown."""
    return latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")


def _barred(text: str) -> str:
    """A cell of Markdown, in which no bar ends it."""
    return "".join(_parted(text, lambda latex: f"${unbarred(latex)}$", lambda words: words.replace("|", r"\|")))


def _in_math(text: str) -> str:
    """A cell of an array: words as text between the formulas."""
    def words(text: str) -> str:
        found = _SPECIAL.sub(lambda m: f"\\{m[1]}" if m[1] else f"${_REPLACED[m[0]]}$", text)
        return rf"\text{{{found}}}" if text else ""

    return " ".join(filter(None, _parted(text, lambda latex: latex, words)))
