"""Tables as LaTeX: booktabs rules; a table wider than the page gets columns that break lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MACRO = re.compile(r"\\[a-zA-Z]+\s*")
_GROUPS = re.compile(r"[{}_^]")
_PAGE = 78  # characters of a line of text
_LONG = 24  # a cell longer than this may break


def table(rows: Sequence[Sequence[str]], align: str, plain: Sequence[Sequence[str]]) -> str:
    """A table of LaTeX cells, its header first; ``plain`` holds the cells' text to measure.

    ``align`` has a letter l, c or r per column; short rows are filled up.
    """
    width = len(align)
    longest = [max((_letters(row[n]) for row in plain if n < len(row)), default=0) for n in range(width)]
    wide = sum(longest) + 2 * width > _PAGE
    columns = [r">{\raggedright\arraybackslash}X" if wide and longest[n] > _LONG else align[n] for n in range(width)]
    environment, argument = ("tabularx", r"{\linewidth}") if any(len(c) > 1 for c in columns) else ("tabular", "")
    lines = [_row([*row[:width], *[""] * (width - len(row))]) for row in rows]
    body = "\n".join([r"  \toprule", *lines[:1], r"  \midrule", *lines[1:], r"  \bottomrule"])
    inner = f"\\begin{{{environment}}}{argument}{{{''.join(columns)}}}\n{body}\n\\end{{{environment}}}"
    if wide and environment == "tabular":  # many narrow columns: set smaller
        inner = f"\\fitbox{{%\n{inner}}}"
    return f"\\begin{{tablebox}}\n{inner}\n\\end{{tablebox}}"


def _letters(cell: str) -> int:
    """How long a cell is: a macro of a formula is one sign, its braces none."""
    return sum(len(_GROUPS.sub("", _MACRO.sub("m", part)) if n % 2 else part) for n, part in enumerate(cell.split("$")))


def _row(cells: Sequence[str]) -> str:
    # The end of the line above would take a bracket or star for its option.
    first = "{}" if cells and cells[0].startswith(("[", "*")) else ""
    return "  " + first + " & ".join(cells) + r" \\"
