"""One formula → one expression."""

from __future__ import annotations

from functools import lru_cache

from derive.expr import Node
from derive.notation import conditions
from derive.notation.errors import Source
from derive.notation.parse import parse
from derive.notation.reader import Reader
from derive.notation.shapes import ShapeError
from derive.notation.symbols import SymbolTable
from derive.notation.vectors import lowered


def read(latex: str, table: SymbolTable, *, line: int | None = None, column: int = 0) -> Node:
    """The statement or value that one formula says under the symbol table.

    ``line`` and ``column`` (from 0) are its place in the card.  Raises
    :class:`NotationError` where it is outside the notation or has two readings.
    """
    return _kept(latex, table) if line is None else _read(Source(latex, line, column), table)


@lru_cache(maxsize=4096)
def _kept(latex: str, table: SymbolTable) -> Node:
    """A printed formula read back: sheets of one bank print many of the same."""
    return _read(Source(latex), table)


def _read(source: Source, table: SymbolTable) -> Node:
    items = parse(source)
    if not items:
        raise source.error(0, "the formula is empty")
    try:
        return lowered(conditions.statement(Reader.of(table, source), items), table)
    except ShapeError as error:
        raise source.error(0, str(error)) from None
    except RecursionError:
        raise source.error(0, "the formula is nested too deeply") from None
