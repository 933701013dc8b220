"""One expression as an instance of another: y_k's definition found at other indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

from derive.calculus.algebra import Monomial
from derive.expr import MINUS_ONE, ONE, Add, Expr, Idx, Mul, Node, Num, free_indices

Binding = dict[Idx, Expr]
_MOST = 4  # terms whose orders are all tried


def match(pattern: Any, node: Any, letters: frozenset[Idx], binding: Binding) -> Iterator[Binding]:
    """The ways to replace the letters so that the pattern becomes the node."""
    if isinstance(pattern, Idx) and pattern in letters:
        known = binding.get(pattern)
        if known is None and isinstance(node, Expr) and not any(i.name.startswith("§") for i in free_indices(node)):
            yield {**binding, pattern: node}
        elif known is node:
            yield binding
    elif isinstance(pattern, Node) and pattern is node and not free_indices(pattern) & letters:
        yield binding
    elif isinstance(pattern, tuple):
        if isinstance(node, tuple) and len(pattern) == len(node):
            yield from _in_order(pattern, node, letters, binding)
    elif isinstance(pattern, Node):
        if type(pattern) is type(node):
            yield from _in_parts(pattern, node, letters, binding)
    elif pattern == node:
        yield binding


def _in_order(pattern: tuple[Any, ...], node: tuple[Any, ...], letters: frozenset[Idx],
              binding: Binding) -> Iterator[Binding]:
    if not pattern:
        yield binding
        return
    for found in match(pattern[0], node[0], letters, binding):
        yield from _in_order(pattern[1:], node[1:], letters, found)


def _in_parts(pattern: Node, node: Node, letters: frozenset[Idx], binding: Binding) -> Iterator[Binding]:
    if isinstance(pattern, (Add, Mul)):
        own, other = tuple(pattern.children()), tuple(node.children())
        if len(own) == len(other):
            for order in permutations(other) if len(own) <= _MOST else (other,):
                yield from _in_order(own, order, letters, binding)
    else:
        yield from _in_order(pattern.parts(), node.parts(), letters, binding)


def dividing(pattern: Sequence[tuple[Expr, Fraction]], whole: Monomial, letters: frozenset[Idx],
             binding: Binding, used: tuple[Expr, ...] = ()) -> Iterator[tuple[Binding, tuple[Expr, ...], int]]:
    """The ways in which pattern^r divides a monomial: letters, the atoms used, and r, as far from 0 as can be."""
    if len(used) == len(pattern):
        r = _ratio([whole.powers[a] for a in used], [e for _, e in pattern])
        if r:
            yield binding, used, r
        return
    atom, _ = pattern[len(used)]
    for other in whole.powers:
        if other not in used and type(other) is type(atom):
            for found in match(atom, other, letters, binding):
                yield from dividing(pattern, whole, letters, found, (*used, other))


def _ratio(exponents: list[Expr], wanted: list[Fraction]) -> int:
    """The whole r with r·wanted within the exponents; alone, an exponent must be a multiple, and no root be undone."""
    ratios = [e.value / w if isinstance(e, Num) else Fraction(0) for e, w in zip(exponents, wanted, strict=True)]
    if len(ratios) == 1:
        undone = wanted[0].denominator > 1 and exponents[0] in (ONE, MINUS_ONE)
        return int(ratios[0]) if ratios[0].denominator == 1 and not undone else 0
    least = int(min(map(abs, ratios)))
    return least if all(r > 0 for r in ratios) else -least if all(r < 0 for r in ratios) else 0
