"""Facts that are stated of the letters given, in a form from which samples can be drawn: Σ_i t_i = 1, ε > 0."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import prod

from derive.expr import Entry, In, Listed, Mul, Node, Num, Reduce, Rel, transform, walk


def facts_given(claims: Iterable[Rel | In], given: Collection[str]) -> Iterator[Rel | In]:
    """The claims about letters that are given from which samples can be drawn."""
    for claim in (transform(c, _number) for c in claims):
        letters = [n.tensor for n in walk(claim) if isinstance(n, Entry)]
        if letters and set(letters) <= set(given) and _drawable(claim):
            yield claim


def _drawable(claim: Rel | In) -> bool:
    """t ∈ {0, 1}; Σ t = 1; 0 < a < 1, a ≠ 1, ε > 0."""
    if isinstance(claim, In):
        return isinstance(claim.element, Entry) and isinstance(claim.set, Listed) and all(
            isinstance(v, Num) for v in claim.set.items)
    if set(claim.ops) == {"="}:
        left, right = claim.terms[0], claim.terms[-1]
        return len(claim.terms) == 2 and isinstance(left, Reduce) and left.op == "sum" and isinstance(
            left.body, Entry) and isinstance(right, Num)
    return all(isinstance(t, (Num, Entry)) for t in claim.terms) and sum(
        isinstance(t, Entry) for t in claim.terms) == 1


def _number(node: Node) -> Node | None:
    """−1 of −1·1: a product of numbers as one number."""
    if isinstance(node, Mul) and all(isinstance(f, Num) for f in node.factors):
        return Num(prod(f.value for f in node.factors if isinstance(f, Num)))
    return None
