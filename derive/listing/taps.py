"""Sums over k under 0 ≤ i − s k < A: what each a = i − s k adds, and where."""

from __future__ import annotations

from typing import cast

from derive.calculus.affine import Affine
from derive.expr import (
    ONE,
    ZERO,
    And,
    Binder,
    Cond,
    Entry,
    Expr,
    Idx,
    Node,
    Num,
    Reduce,
    Rel,
    add,
    free_indices,
    mul,
    sub,
    subst,
    walk,
)
from derive.listing.scope import Definition, Scope

Taps = dict[Idx, tuple[Idx, int, Expr]]  # i -> a, s and how many a there are


def taps(definition: Definition, scope: Scope) -> tuple[Taps, Definition] | None:
    """The a that take the place of each i − s k, and what is added for them at (…, k, …)."""
    node = definition.value
    if not isinstance(node, Reduce) or node.op != "sum" or node.binder.cond is None:
        return None
    loop = scope.opened(node, definition.indices)
    assert loop.cond is not None
    counts = dict(zip(loop.variables, loop.counts, strict=True))
    steps: Taps = {}
    along: dict[Idx, Idx] = {}
    shifted: dict[Node, Node] = {}
    for cond in loop.cond.conds if isinstance(loop.cond, And) else (loop.cond,):
        bounds = between(cond)
        if bounds is None:
            return None
        term, below = bounds
        own = [v for v in definition.indices if term.coefficients.get(v) == 1]
        others = [v for v in term.coefficients if v not in own]
        if len(own) != 1 or len(others) != 1 or term.constant or others[0] not in counts:
            return None
        (i,), (k,) = own, cast("list[Idx]", others)
        step = -term.coefficients[k]
        if step < 1 or step.denominator != 1 or i in steps or k in along.values():
            return None
        taken = {*loop.variables, *definition.indices, *(t for t, _, _ in steps.values())}
        tap = _tap(term, loop.body, {v.name for v in taken}, scope)
        steps[i], along[i] = (tap, int(step), below), k
        shifted[i] = add(mul(Num(step), k), tap)
    rest = tuple(v for v in loop.variables if v not in along.values())
    body = subst(loop.body, shifted)
    if any(v not in steps and v in free_indices(loop.cond) for v in definition.indices):
        return None
    if rest:
        ends = tuple(sub(counts[v], ONE) for v in rest)
        body = Reduce("sum", Binder(rest, (ZERO,) * len(rest), ends, None), body)
    indices = tuple(along.get(v, v) for v in definition.indices)
    known = dict(zip(definition.indices, definition.counts, strict=True)) | counts
    return steps, Definition(definition.name, indices, tuple(known[v] for v in indices), body)


def between(cond: Cond) -> tuple[Affine, Expr] | None:
    """(t, A) of 0 ≤ t < A."""
    if not isinstance(cond, Rel) or cond.ops != ("≤", "<") or cond.terms[0] != ZERO:
        return None
    return Affine.of(cond.terms[1]), cond.terms[2]


def _tap(term: Affine, body: Expr, taken: set[str], scope: Scope) -> Idx:
    """The letter of the axis along which i − s k stands; another where that is taken."""
    for entry in walk(body):
        if isinstance(entry, Entry):
            symbol = scope.module.table.named(entry.tensor)
            for d, place in enumerate(scope.place(entry)):
                letter = symbol.axes[d] if symbol is not None else ""
                if Affine.of(place) == term and letter.isidentifier() and letter not in taken:
                    return Idx(letter)
    return Idx(next(n for n in "abcdpquv" if n not in taken and scope.module.table.named(n) is None))
