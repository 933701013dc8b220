"""Cases and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.expr import OTHERWISE, Cases, Cond, Expr, Matrix
from derive.notation import conditions, phrases
from derive.notation.tree import Env, Item, Items, is_token, split

if TYPE_CHECKING:
    from derive.notation.reader import Reader


def rows(items: Items) -> list[list[Item]]:
    found = split(items, "CR")
    return found[:-1] if found and not found[-1] else found


def environment(r: Reader, env: Env) -> Expr:
    """cases, or a matrix of numbers."""
    if env.name in ("cases", "dcases"):
        return Cases(tuple(_branch(r, row, env, n) for n, row in enumerate(rows(env.items))))
    if env.name in ("pmatrix", "bmatrix", "matrix", "array", "smallmatrix"):
        found = tuple(tuple(r.value(cell, env.end) for cell in split(row, "AMP")) for row in rows(env.items))
        if len({len(row) for row in found}) != 1:
            raise r.error(env, "the rows of this matrix are not equally long")
        return Matrix(found)
    raise r.error(env, rf"`\begin{{{env.name}}}` is not a value")


def _branch(r: Reader, row: list[Item], env: Env, number: int) -> tuple[Expr, Cond]:
    """value & if condition."""
    cells = split(row, "AMP")
    if len(cells) == 1:
        start = next((n for n, i in enumerate(row) if phrases.kind(i) in ("IF", "ELSE", "ALL")), len(row))
        cells = [row[:start], row[start:]]
    if len(cells) == 3 and len(cells[1]) <= 1:
        cells = [cells[0], cells[1] + cells[2]]
    if len(cells) != 2 or not cells[0]:
        raise r.error(row[0] if row else env, r"a row of cases is `value & \text{if } condition`")
    value, cond = (_trimmed(cell) for cell in cells)
    found = r.value(value, env.end)
    if cond and phrases.kind(cond[0]) == "ELSE":
        if len(cond) > 1 or number != len(rows(env.items)) - 1:
            raise r.error(cond[0], f"`{r.shown(cond[0])}` ends the cases; nothing follows it")
        return found, OTHERWISE
    if not cond:
        raise r.error(row[0], r"this row has no condition; write `\text{if } …` or `\text{otherwise}`")
    return found, conditions.condition(r, cond, env.end)


def _trimmed(cell: list[Item]) -> list[Item]:
    while cell and is_token(cell[-1], "COMMA", "DOT", "SEMI"):
        cell = cell[:-1]
    return cell


