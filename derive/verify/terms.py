"""Values and conditions over Z3: what is known stays Python, so that a false guard hides what it guards."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import z3

from derive.verify.smt import every, number, related, some, total, when


class Choice:
    """An index tuple that depends on the values: alternatives, exactly one of which holds."""

    def __init__(self, alternatives: dict[Any, z3.BoolRef]) -> None:
        self.alternatives = alternatives

    def equals(self, other: Any) -> Any:
        if isinstance(other, Choice):
            pairs = [every([mine, other.alternatives[at]]) for at, mine in self.alternatives.items()
                     if at in other.alternatives]
            return some(pairs)
        return self.alternatives.get(other, False)

    def component(self, place: int) -> Choice:
        merged: dict[Any, list[z3.BoolRef]] = {}
        for at, holds in self.alternatives.items():
            merged.setdefault(at[place], []).append(holds)
        return Choice({at: some(holds) for at, holds in merged.items()})


def conjunction(conds: list[Any]) -> Any:
    if any(c is False for c in conds):
        return False
    open_ = [c for c in conds if c is not True]
    return every(open_) if open_ else True


def choose(cond: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """Lazy in Python where the condition is known, so that a false guard hides an index out of range."""
    if cond is True or cond is False:
        return then() if cond else other()
    return when(cond, real(then()), real(other()))


def real(value: Any) -> Any:
    if isinstance(value, Guarded):
        return value.value
    return number(value) if isinstance(value, (int, Fraction)) else value


class Guarded:
    """Σ g where its condition holds: a sum of guarded terms, kept apart so that equal sums are seen to be."""

    def __init__(self, terms: list[tuple[Any, Any]]) -> None:
        self.terms = terms

    def same(self, other: Guarded) -> bool:
        return self._key() == other._key()

    def _key(self) -> set[tuple[int, Any]]:
        return {(c.get_id(), g.get_id() if isinstance(g, z3.ExprRef) else g) for c, g in self.terms}

    @property
    def value(self) -> Any:
        return total([when(cond, real(g), number(0)) for cond, g in self.terms] or [number(0)])


def times(a: Any, b: Any) -> Any:
    if isinstance(a, Guarded) and isinstance(b, Guarded):
        return Guarded([(every([c, d]), times(g, h)) for c, g in a.terms for d, h in b.terms])
    if isinstance(a, Guarded):
        return Guarded([(cond, times(g, b)) for cond, g in a.terms])
    if isinstance(b, Guarded):
        return times(b, a)
    if isinstance(a, (int, Fraction)) and a == 1:
        return b
    return a if isinstance(b, (int, Fraction)) and b == 1 else a * b


def plus(a: Any, b: Any) -> Any:
    if isinstance(a, Guarded) and isinstance(b, Guarded):
        return Guarded(a.terms + b.terms)
    if isinstance(a, Guarded) or isinstance(b, Guarded):
        known, other = (a, b) if isinstance(a, Guarded) else (b, a)
        return known if isinstance(other, int) and other == 0 else known.value + other
    return a + b


def compare(left: Any, op: str, right: Any) -> Any:
    if isinstance(left, Choice) or isinstance(right, Choice):
        choice, other = (left, right) if isinstance(left, Choice) else (right, left)
        same = choice.equals(other)
        return same if op == "=" else (not same if isinstance(same, bool) else z3.Not(same))
    if isinstance(left, Guarded) and isinstance(right, Guarded) and op == "=" and left.same(right):
        return True
    if isinstance(left, Guarded) or isinstance(right, Guarded):
        left, right = real(left), real(right)
    if isinstance(left, z3.ExprRef) or isinstance(right, z3.ExprRef):
        return related(real(left), op, real(right))
    table: dict[str, Callable[[Any, Any], Any]] = {
        "=": lambda a, b: a == b, "≠": lambda a, b: a != b, "<": lambda a, b: a < b, "≤": lambda a, b: a <= b,
        ">": lambda a, b: a > b, "≥": lambda a, b: a >= b,
    }
    return table[op](left, right)
