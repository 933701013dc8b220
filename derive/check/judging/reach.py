"""Numbers of a claim that its indices may not reach at the sizes tried: nothing was seen of what lies beyond."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from derive.affine import Affine
from derive.check.judging.equalities import PASSED, both, of_values
from derive.check.judging.kinks import ROUNDED, compared
from derive.expr import (
    HOLDS,
    ZERO,
    Add,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Given,
    Idx,
    Mul,
    Node,
    Num,
    Reduce,
    Size,
    transform,
    walk,
)
from derive.verify.scope import Scope

_INDICES_UP_TO = 2  # numbers with which an index is compared, below all sizes that are tried


def far(node: Cond, known: set[Fraction], scope: Scope) -> bool:
    """An index is compared with a number, not a known one, and at the sizes tried it never lies on one of its sides.

    In a condition, max(0, k − 5), ⌊k/5⌋, Σ_{j=6}^k, or as a factor k − 5. The 2 of 2i + k < m and ⌊i/2⌋ is none where
    the layer counts by it, too.
    """
    steps = {m for e in scope.module.equations for n in walk(e) if isinstance(n, Mul) for m in _steps(n)}
    steps |= {Num(1 / m.value) for m in steps if m.value}

    def plain(part: Expr) -> Expr:
        return transform(part, lambda n: Mul(tuple(f for f in n.factors if f not in steps)) if isinstance(
            n, Mul) and steps.intersection(_steps(n)) else None, Mul)

    def named(*parts: Expr) -> bool:
        inside = [n for part in parts for n in walk(plain(part))]
        return any(isinstance(n, (Idx, Size)) for n in inside) and any(
            isinstance(n, Num) and max(abs(n.value), Fraction(n.value.denominator)) >= _INDICES_UP_TO
            and known.isdisjoint((abs(n.value), Fraction(n.value.denominator))) for n in inside)

    gaps = {_gap(*limits) for e in scope.module.equations for limits in _limits(e)} - {None}
    return any(named(*terms) and len(_seen(terms, told, node, scope)) == 1 for terms, told in _turns(node, gaps))


def _limits(node: Node) -> Iterator[tuple[Expr, Expr]]:
    for part in walk(node):
        if isinstance(part, Reduce):
            yield from ((low, high) for low, high in zip(part.binder.lower, part.binder.upper, strict=True)
                        if low is not None and high is not None)


def _gap(low: Expr, high: Expr) -> Fraction | None:
    """How many more terms than one a sum has that has always as many."""
    found = Affine.of(high).minus(Affine.of(low))
    return None if found.coefficients else found.constant


def _turns(node: Node, gaps: Collection[Fraction | None]) -> Iterator[
        tuple[tuple[Expr, Expr], Callable[[Any, Any], Any]]]:
    """Two terms of indices in a claim, and what of them it depends on.

    Not the limits of a sum of as many terms as one of the layer has, nor those that are larger and smaller ones
    themselves.
    """
    for rel in compared(node):
        if not of_values(rel):
            for a, op, b in zip(rel.terms, rel.ops, rel.terms[1:], strict=False):
                if any(isinstance(n, Num) for n in (*walk(a), *walk(b))) and op in HOLDS:
                    yield (a, b), HOLDS[op]
    for part in walk(node):
        if isinstance(part, Reduce):
            yield from (((low, high), HOLDS["≤"]) for low, high in _limits(part) if _gap(low, high) not in gaps
                        and not (isinstance(low, Extremum) and isinstance(high, Extremum)))
        elif isinstance(part, Expr) and _of_indices(part):
            if isinstance(part, Extremum):
                yield from ((pair, HOLDS["<"]) for pair in itertools.pairwise(part.args))
            elif isinstance(part, Fn) and part.name in ROUNDED:
                yield (part, ZERO), lambda a, b: a
    sides = (node.claim if isinstance(node, Given) else node).children()
    yield from (((part, ZERO), HOLDS["<"]) for side in sides for part in _factors(side) if _of_indices(part))


def _factors(node: Node) -> Iterator[Add]:
    """The sums that stand in a claim as a value: in no index, condition or bound, nor compared or rounded."""
    if isinstance(node, Add):
        yield node
    rounds = isinstance(node, Extremum) or isinstance(node, Fn) and node.name in ROUNDED
    if isinstance(node, (Entry, Cond)) or rounds and _of_indices(node):
        return
    inner = (node.body,) if isinstance(node, Reduce) else node.children()
    yield from (n for part in inner for n in _factors(part))


def _of_indices(part: Node) -> bool:
    return not any(isinstance(n, Entry) for n in walk(part))


def _steps(product: Mul) -> Iterator[Num]:
    """The numbers by which indices are multiplied."""
    if all(isinstance(f, (Num, Idx)) for f in product.factors):
        yield from (f for f in product.factors if isinstance(f, Num))


def _seen(terms: tuple[Expr, Expr], told: Callable[[Any, Any], Any], node: Cond, scope: Scope) -> set[Any]:
    """What two terms tell at the points tried, two of it at most."""
    seen: set[Any] = set()
    for point, at, (first, second) in both(*terms, node, scope.points(), scope):
        with suppress(*PASSED):
            seen.add(told(first(point, at), second(point, at)))
            if len(seen) > 1:
                break
    return seen
