"""Whether an expression is 0 at random values of its entries: to decide what is worth saying, not to prove it."""

from __future__ import annotations

import random

from derive.expr import Entry, Expr, Idx, Reduce, Size, walk
from derive.functions import value

_POINTS, _NEAR = 12, 1e-9


def vanishes(node: Expr) -> bool | None:
    """Whether it is 0 at all random points where it has a value; None where it cannot be evaluated."""
    found = _values(node)
    return all(abs(v) < _NEAR for v, in found) if found else None


def between(value: Expr, low: Expr, high: Expr) -> bool | None:
    """Whether it lies between the two others, either of which may be the larger; as :func:`vanishes`."""
    found = _values(value, low, high)
    return all(min(a, b) - _NEAR <= v <= max(a, b) + _NEAR for v, a, b in found) if found else None


def unbounded(node: Expr) -> bool:
    """Whether it has no value at any random point, as 1/√0 has none."""
    try:
        return not _values(node, strict=True)
    except KeyError:
        return False


def _values(*nodes: Expr, strict: bool = False) -> list[tuple[float, ...]]:
    """The values of the expressions at random points; none where they cannot be evaluated (``strict``: KeyError).

    A sum over an index is a letter of its own.
    """
    source = random.Random(0)
    letters = [n for node in nodes for n in walk(node) if isinstance(n, (Entry, Size, Idx, Reduce))]
    found = []
    for _ in range(_POINTS):
        at: dict[Expr, float] = {n: source.uniform(-2, 2) for n in letters}
        try:
            found.append(tuple(value(node, at) for node in nodes))
        except (ArithmeticError, ValueError):
            continue
        except KeyError:
            if strict:
                raise
            return []
    return found
