"""Where entries exist: what lies beyond the ranges of an equation is 0, and a sum runs where its entries are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from derive.axes import Axes, axes
from derive.expr import (
    ONE,
    ZERO,
    Binder,
    Bracket,
    Cond,
    Entry,
    Expr,
    Idx,
    Mul,
    Node,
    Num,
    Partial,
    Reduce,
    Rel,
    Size,
    add,
    free_indices,
    joined,
    sub,
    subst,
    transform,
    walk,
)
from derive.module import Module
from derive.verify.points.point import LOSS


def bounded(link: Rel) -> bool:
    """Its cases say up to which sizes their indices go: then nothing beyond is meant to be 0."""
    return any(isinstance(n, Rel) and any(isinstance(t, Size) for t in n.terms) for n in walk(link.terms[1]))


def padded(link: Rel, module: Module) -> Rel:
    """δ_{j-k} is 0 where there is no such entry; a sum without limits runs where all its entries exist.

    So is δ_k of a sum from i - 2 to i, whose limits go with an index of the left side.
    """
    found, left = axes(module), free_indices(link.terms[0])

    def guarded(node: Node) -> Node | None:
        if isinstance(node, Reduce):
            node = _shifted(node, left, found)
            open_ = node.op == "sum" and node.binder.cond is None and not any((*node.binder.lower, *node.binder.upper))
            inside = dict.fromkeys(n for n in walk(node.body) if isinstance(n, Entry)) if open_ else {}
            conds = [c for n in inside for c in exists(n, found) if free_indices(c) <= free_indices(node.body)]
            body = transform(node.body, guarded, Entry, Partial, Mul)
            return Reduce(node.op, node.binder, Mul((Bracket(joined(conds)), body)) if conds else body)
        if isinstance(node, Partial) and node.of is Entry(LOSS, ()) and isinstance(node.wrt, Entry):
            return guarded(Entry(f"delta_{node.wrt.tensor}", node.wrt.indices)) or node
        if isinstance(node, Mul):  # beside such a 0 no other factor is looked at
            flat = [g for f in node.factors for g in (f.factors if isinstance(f, Mul) else (f,))]
            return Mul(tuple(sorted(flat, key=lambda f: not isinstance(f, Bracket) or f in node.factors)))
        conds = [*exists(node, found, left)] if isinstance(node, Entry) and node.tensor.startswith("delta_") else []
        return Mul((Bracket(joined(conds)), cast(Expr, node))) if conds else None

    return Rel((link.terms[0], transform(link.terms[1], guarded, Entry, Partial, Reduce, Mul)), link.ops)


def _shifted(node: Reduce, left: frozenset[Idx], found: Axes) -> Reduce:
    """Σ_{k=i-2}^{i} δ_k as Σ_{k: 0 ≤ i-k ≤ 2} δ_k, Σ_{k=i-2}^{i} δ_{2k} as Σ_{k=0}^{2} δ_{2(i-2+k)}."""
    (k, *more), low, high = node.binder.variables, node.binder.lower[0], node.binder.upper[0]
    if node.op != "sum" or more or node.binder.cond is not None or low is None or high is None or (
            left.isdisjoint(free_indices(low))):
        return node
    runs = [(n.tensor, d) for n in walk(node.body) if isinstance(n, Entry) for d, i in enumerate(n.indices) if i is k]
    if any(t.startswith("delta_") for t, _ in runs) and len({found.size(t, d) for t, d in runs}) == 1:
        there = Rel((ZERO, sub(high, k), sub(high, low)), ("≤", "≤"))
        return Reduce("sum", Binder((k,), (None,), (None,), there), node.body)
    return Reduce("sum", Binder((k,), (ZERO,), (sub(high, low),), None), subst(node.body, {k: add(low, k)}))


def exists(entry: Entry, found: Axes, left: frozenset[Idx] = frozenset()) -> Iterator[Cond]:
    """That the indices of an entry that are no letters, or are those of the left side, are in range."""
    for d, index in enumerate(entry.indices):
        size, low = found.size(entry.tensor, d), Num(found.origin(entry.tensor, d))
        if size is not None and (not isinstance(index, (Idx, Num)) or index in left):
            yield Rel((low, index, sub(add(low, size), ONE)), ("≤", "≤"))
