"""An evaluation for the terminal, and as JSON, Markdown and HTML."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from derive.evaluation import Evaluation
from derive.evaluation.data import data
from derive.evaluation.tables import Table, sections
from derive.render import hypertext
from derive.render.html import font
from derive.render.unicode import inline
from derive.words import environment

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

_MATHS = re.compile(r"(?<!\\)\$(.+?)\$")
_ESCAPES = str.maketrans({"|": "\\|", "*": "\\*", "_": "\\_", "[": "\\[", "<": "\\<"})


def as_json(found: Evaluation) -> str:
    """All numbers, whole; indices are counted from 0."""
    lines = (f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
             for key, value in data(found).items())  # fmt: skip
    return "{\n" + ",\n".join(lines) + "\n}\n"


def as_markdown(found: Evaluation) -> str:
    template = environment("values").get_template("values.md")
    return template.render(title=_title(found), sections=sections(found), cell=_cell) + "\n"


def _cell(text: str) -> str:
    """A cell's words escaped, its formulas left as they are."""
    parts = _MATHS.split(text)  # words and formulas in turn
    return "".join(f"${part}$" if n % 2 else part.translate(_ESCAPES) for n, part in enumerate(parts))


def as_html(found: Evaluation) -> str:
    """A page that stands alone."""
    made = environment("values", autoescape=True)
    made.filters["inline"] = lambda text: hypertext.inline(_cell(text))
    return made.get_template("values.html").render(title=_title(found), sections=sections(found), font=font()) + "\n"


FORMATS: dict[str, Callable[[Evaluation], str]] = {"json": as_json, "md": as_markdown, "html": as_html}


def _title(found: Evaluation) -> str:
    title: str = environment("en").get_template("values.j2").module.title(found.solution.module.key)  # type: ignore[attr-defined]
    return title


def for_terminal(found: Evaluation) -> RenderableType:
    """Tables to print on a rich console."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for section in sections(found):
        parts.append(Text(section.title, "bold underline"))
        for table in section.tables:
            parts += [_Grid(table), Text()]
    return Group(*parts[:-1])


def _plain(text: str) -> str:
    """Formulas in Unicode."""
    return _MATHS.sub(lambda found: inline(found[1]), text)


class _Grid:
    """A table with as many columns as the terminal is wide: a number is shown whole or not at all."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        table = self.table
        if table.headline:
            yield Text(_plain(table.headline))
        if not table.header:
            return
        grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="dim")
        rows = _fitting([tuple(map(_plain, row)) for row in (table.header, *table.rows)], options.max_width)
        for n, name in enumerate(rows[0]):
            grid.add_column(Text(name), justify="right", style="dim" if n == 0 else "", no_wrap=True)
        for row in rows[1:]:
            grid.add_row(*map(Text, row))
        yield grid


def _fitting(rows: list[tuple[str, ...]], width: int) -> list[tuple[str, ...]]:
    """The rows, or their first columns and an ellipsis."""
    wide = [max(map(len, column)) + 3 for column in zip(*rows, strict=True)]
    if sum(wide) <= width:
        return rows
    kept = max(1, sum(total <= width - 4 for total in itertools.accumulate(wide)))
    return [(*row[:kept], "…") for row in rows]
