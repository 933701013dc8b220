"""Letters whose sign a question leaves out, as everybody knows it: the threshold c of |r| ≤ c is positive."""

from __future__ import annotations

from collections.abc import Iterator

from derive.check.judging.equalities import of_values
from derive.expr import ZERO, Entry, Expr, Extremum, Fn, Mul, Node, Num, Rel, walk
from derive.module import Module


def positive(module: Module) -> tuple[Rel, ...]:
    """c > 0 of each given number c with which an absolute value is compared, or ±c another.

    |r| ≤ c, max(-c, min(c, x)), x > c beside x < -c: a negative c would leave no such case.
    """
    pairs = [pair for e in module.equations for pair in _bounds(e.terms[-1])]
    above = {c for c, sign, _ in pairs if sign > 0}
    both = {c for c, sign, _ in pairs if sign < 0} & above | {c for c, sign, even in pairs if even and sign > 0}
    numbers = {n for n in module.given if (s := module.table.named(n)) is not None and not s.axes}
    told = {n.tensor for f in module.facts for n in walk(f) if isinstance(n, Entry)}
    return tuple(Rel((Entry(c, ()), ZERO), (">",)) for c in sorted(both & numbers - told))


def _bounds(value: Node) -> Iterator[tuple[str, int, bool]]:
    """The letters with which values are compared, with their sign, and whether it is an absolute value."""
    for node in walk(value):
        sides = node.terms if isinstance(node, Rel) and of_values(node) else node.args if isinstance(
            node, Extremum) else ()
        for side in sides:
            sign, letter = _signed(side)
            if letter:
                others = [s for s in sides if s is not side]
                yield letter, sign, any(isinstance(s, Fn) and s.name == "abs" for s in others)


def _signed(side: Expr) -> tuple[int, str]:
    if isinstance(side, Entry) and not side.indices:
        return 1, side.tensor
    factors = side.factors if isinstance(side, Mul) else ()
    if len(factors) == 2 and isinstance(factors[0], Num) and factors[0].value == -1 and isinstance(factors[1], Entry):
        return (-1, factors[1].tensor) if not factors[1].indices else (0, "")
    return 0, ""
