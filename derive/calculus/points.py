"""Whether an expression is 0 at random values of its entries: to decide what is worth saying, not to prove it."""

from __future__ import annotations

import random

from derive.expr import Entry, Expr, Idx, Size, walk
from derive.functions import value

_POINTS, _NEAR = 12, 1e-9


def vanishes(node: Expr) -> bool | None:
    """Whether it is 0 at all random points where it has a value; None where it cannot be evaluated."""
    source = random.Random(0)
    found = []
    for _ in range(_POINTS):
        at: dict[Expr, float] = {n: source.uniform(-2, 2) for n in walk(node) if isinstance(n, (Entry, Size, Idx))}
        try:
            found.append(value(node, at))
        except (ArithmeticError, ValueError):
            continue
        except KeyError:
            return None
    return all(abs(v) < _NEAR for v in found) if found else None
