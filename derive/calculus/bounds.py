"""What the question's facts leave of a comparison with a number: 0 < a < 1 rules out a > 1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from derive.expr import Cond, Entry, Expr, Num, Rel
from derive.module import Module

Compared = tuple[Expr, str, Fraction]
_FLIPPED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "=": "=", "≠": "≠"}


def possible(claim: Rel, module: Module) -> bool:
    """Whether x op c may hold, given what the facts say of x; True for any other relation."""
    for entry, op, bound in _comparisons(claim):
        facts = [(o, b) for fact in module.facts for e, o, b in _comparisons(fact) if _same(e, entry)]
        if any(_contradict(op, bound, o, b) for o, b in facts):
            return False
    return True


def _same(fact: Expr, entry: Expr) -> bool:
    """A fact about x_i is one about all of x."""
    return isinstance(fact, Entry) and isinstance(entry, Entry) and fact.tensor == entry.tensor


def _comparisons(claim: Cond) -> Iterator[Compared]:
    """x op c for each neighbouring pair of an entry and a number."""
    if not isinstance(claim, Rel):
        return
    for left, op, right in zip(claim.terms, claim.ops, claim.terms[1:], strict=False):
        if isinstance(left, Entry) and isinstance(right, Num):
            yield left, op, right.value
        elif isinstance(left, Num) and isinstance(right, Entry):
            yield right, _FLIPPED[op], left.value


def _contradict(op: str, c: Fraction, known: str, b: Fraction) -> bool:
    """No number x has both x op c and x known b."""
    if known == "≠":
        return op == "=" and c == b
    if op == "≠":
        return known == "=" and c == b
    below, above = _interval(op, c)
    low, high = _interval(known, b)
    bottom, top = max(below, low), min(above, high)
    return bottom > top


def _interval(op: str, c: Fraction) -> tuple[tuple[float, int], tuple[float, int]]:
    """Its ends; the second number tells an end that belongs to it from one that is only approached."""
    value = float(c)
    lower = (value, 1 if op == ">" else 0) if op in ("=", ">", "≥") else (-float("inf"), 0)
    upper = (value, -1 if op == "<" else 0) if op in ("=", "<", "≤") else (float("inf"), 0)
    return lower, upper
