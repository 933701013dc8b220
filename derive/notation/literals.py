"""Numbers as a card writes them: 2, -1/2, 0.1, (1, 2)^T, [1, 2], a matrix in brackets."""

from __future__ import annotations

import re
from fractions import Fraction

from derive.notation import tree as tr
from derive.records import dataclass

_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_MATRICES = frozenset("matrix pmatrix bmatrix Bmatrix smallmatrix array".split())
_BRACKETS = ("LPAREN", "LBRACK")
Rows = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Literal:
    """The numbers by rows; ``axes`` are 0 of a number, 1 of a list, 2 of a matrix."""

    rows: Rows
    axes: int

    def of_rank(self, rank: int) -> dict[tuple[int, ...], Fraction] | None:
        """Entry by entry, counted from 0, where the numbers can be those of ``rank`` axes; None where they cannot.

        A row and a column are vectors, a matrix of one entry is a number, and a number the only entry of a tensor.
        """
        height, width = len(self.rows), len(self.rows[0])
        if rank == 2 and self.axes == 2:
            return {(i, j): self.rows[i][j] for i in range(height) for j in range(width)}
        flat = [n for row in self.rows for n in row]
        if not self.axes:
            return {(0,) * rank: flat[0]}
        if rank == 1 and self.axes and 1 in (height, width):
            return {(i,): n for i, n in enumerate(flat)}
        return {(): flat[0]} if rank == 0 and len(flat) == 1 else None

    @property
    def shape(self) -> tuple[int, ...]:
        """() of a number, one extent of a list or a column, two of a matrix, also of one row."""
        height, width = len(self.rows), len(self.rows[0])
        return () if not self.axes else (width,) if self.axes == 1 else (height,) if width == 1 else (height, width)


def literal(items: tr.Items) -> Literal | None:
    """The numbers that are written, None where something else stands there."""
    items = tr.unwrap(items)
    number = _number(items)
    if number is not None:
        return Literal(((number,),), 0)
    item = tr.normal(items[0]) if len(items) == 1 else None
    turned = item is not None and tr.is_transposed(item)
    if isinstance(item, tr.Scripted):
        if not turned or item.subs or item.primes:
            return None
        item = item.base
    found = _matrix(item)
    if found is None or not turned or found.axes < 2:
        return found
    return Literal(tuple(zip(*found.rows, strict=True)), 2)


def _number(items: tr.Items) -> Fraction | None:
    """-1/2 and the like."""
    signs = [i for i in items if tr.is_token(i, "PLUS", "MINUS")]
    if len(signs) > 1 or (signs and items[0] is not signs[0]):
        return None
    sign = -1 if signs and tr.is_token(signs[0], "MINUS") else 1
    rest = tr.unwrap(items[len(signs) :])
    over = next((n for n, i in enumerate(rest) if tr.is_token(i, "SLASH")), None)
    if over is not None:
        return _quotient(rest[:over], rest[over + 1 :], sign)
    if len(rest) != 1:
        return None
    item = rest[0]
    if isinstance(item, tr.Command) and item.type == "FRAC":
        return _quotient(item.arguments[0], item.arguments[1], sign)
    return sign * Fraction(item.text) if tr.is_token(item, "NUMBER") and _DECIMAL.fullmatch(item.text) else None


def _quotient(above: tr.Items, below: tr.Items, sign: int) -> Fraction | None:
    first, second = _number(tr.unwrap(above)), _number(tr.unwrap(below))
    return sign * first / second if first is not None and second else None


def _matrix(item: tr.Item | None) -> Literal | None:
    """The numbers in an environment or in brackets, which may hold rows in brackets."""
    if isinstance(item, tr.Env) and item.name in _MATRICES:
        return _rows([tr.split(row, "AMP") for row in tr.rows(item.items)], 2)
    if not tr.is_group(item, *_BRACKETS):
        return None
    if len(item.items) == 1 and isinstance(item.items[0], tr.Env):
        return _matrix(item.items[0])
    lines = tr.split(item.items, "SEMI")
    if len(lines) > 1:
        return _rows([tr.split(line, "COMMA") for line in lines], 2)
    cells = tr.split(item.items, "COMMA")
    inner = [_matrix(cell[0]) if len(cell) == 1 else None for cell in cells]
    if all(row is not None and row.axes == 1 for row in inner):
        return _even(tuple(row.rows[0] for row in inner if row is not None), 2)
    return _rows([cells], 1) if len(cells) > 1 else None


def _rows(cells: list[list[list[tr.Item]]], axes: int) -> Literal | None:
    found = [[_number(cell) for cell in row] for row in cells]
    rows = tuple(tuple(n for n in row if n is not None) for row in found)
    complete = all(len(row) == len(known) for row, known in zip(found, rows, strict=True))
    return _even(rows, axes) if complete else None


def _even(rows: Rows, axes: int) -> Literal | None:
    """All rows are of one length."""
    return Literal(rows, axes) if rows and rows[0] and len({*map(len, rows)}) == 1 else None
