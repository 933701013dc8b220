"""Tensors of numbers as printed matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from derive.expr import Expr, Infinity, Matrix, Num
from derive.numeric.point import Index


def matrix(tensor: Mapping[Index, Any]) -> Matrix:
    """A tensor of rank 1 (as one row) or 2."""
    if len(next(iter(tensor))) == 1:
        return Matrix((tuple(_number(tensor[at]) for at in sorted(tensor)),))
    rows = sorted({at[0] for at in tensor})
    return Matrix(tuple(tuple(_number(tensor[at]) for at in sorted(tensor) if at[0] == row) for row in rows))


def _number(value: Any) -> Expr:
    """A number; a maximum or minimum over nothing is infinite."""
    return Infinity(1 if value > 0 else -1) if value in (math.inf, -math.inf) else Num(value)


def plain(value: Any) -> str:
    """A number as it is written; −∞ for a maximum over nothing."""
    return str(value).replace("-", "−").replace("inf", "∞")


def in_rows(tensor: Mapping[Index, Any], number: Callable[[Any], str] = plain) -> str:
    """(1, 2), (3, 4) for a matrix, its rows; of three axes a matrix for each value of the first index, after ``;``."""
    if () in tensor:
        return number(tensor[()])
    rank, places = len(next(iter(tensor))), sorted(tensor)
    if rank == 1:
        return "(" + ", ".join(number(tensor[at]) for at in places) + ")"
    parts = (in_rows({at[1:]: tensor[at] for at in places if at[0] == first}, number)
             for first in sorted({at[0] for at in places}))
    return (", " if rank == 2 else "; ").join(parts)
