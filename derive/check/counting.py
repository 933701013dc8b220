"""From where a solution counts its indices: as the question does, which the layer need not, from 0 or from 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar, cast

from derive.affine import Affine
from derive.expr import (
    ZERO,
    Arg,
    Binder,
    Entry,
    Expr,
    Idx,
    Node,
    Reduce,
    SetApp,
    Star,
    add,
    subst,
    transform,
    walk,
)
from derive.module import Module

_N = TypeVar("_N", bound=Node)
_COUNTS = re.compile(r"\bcounted\s+from\s+(?:\$?0\b|zero\b|the\s+first\b)"  # so do our own sheets, in both languages
                     r"|\bčíslují\s+od\s+(?:0\b|prvního\b)", re.IGNORECASE)
Shifts = Mapping[tuple[str, int], Expr]  # of an axis of a tensor, what is added to the layer's number


def counts_as_the_layer(text: str) -> bool:
    """Whether a solution says that it counts from 0."""
    return _COUNTS.search(text) is not None


def shifts(module: Module) -> Shifts:
    """By how much the question numbers entries higher than the layer does: y_{i+1} there is y_i here."""
    found = {(here.tensor, d): _less(b, a) for here, there in module.renumbered
             for d, (a, b) in enumerate(zip(here.indices, there.indices, strict=True))}
    return {slot: by for slot, by in found.items() if by is not ZERO}


def running(nodes: Iterable[Node], by: Shifts) -> dict[Idx, Expr]:
    """The letters that run along an axis that is numbered otherwise, and by how much."""
    return {i: c for node in nodes for n in walk(node) if isinstance(n, Entry) for d, i in enumerate(n.indices)
            if isinstance(i, Idx) and (c := by.get((n.tensor.removeprefix("delta_"), d))) is not None}


def in_layer(node: _N, by: Shifts, elsewhere: Mapping[Idx, Expr]) -> _N:
    """A statement with the numbers of the question as one with those of the layer.

    What names windows and maximisers says the same in both. ``elsewhere``: the letters that run along such an axis in
    other statements, as i of y_i does where a condition x_{2i} > x_{2i-1} is meant.
    """
    if any(isinstance(n, (SetApp, Star, Arg)) for n in walk(node)):
        return node
    node = transform(node, lambda n: _bound(n, by) if isinstance(n, Reduce) else None, Reduce)
    plain = {i for n in walk(node) if isinstance(n, Entry) for i in n.indices}
    free = {v: c for v, c in elsewhere.items() if v not in plain} | running((node,), by)
    return _lowered(subst(node, {v: add(v, c) for v, c in free.items()}), by)


def _bound(node: Reduce, by: Shifts) -> Node | None:
    """Σ_k y_k with k + 1 for k, and its limits."""
    own = {v: c for v, c in running((node.body,), by).items() if v in node.binder.variables}
    if not own:
        return None
    binder = node.binder
    moved_ = cast(Mapping[Node, Node], {v: add(v, c) for v, c in own.items()})
    limits = ([None if end is None else _less(end, own[v]) if v in own else end for v, end in zip(
        binder.variables, ends, strict=True)] for ends in (binder.lower, binder.upper))
    lower, upper = (tuple(ends) for ends in limits)
    cond = None if binder.cond is None else subst(binder.cond, moved_)
    return Reduce(node.op, Binder(binder.variables, lower, upper, cond), subst(node.body, moved_))


def _less(index: Expr, by: Expr) -> Expr:
    return Affine.of(index).plus(Affine.of(by), -1).expr()


def _lowered(node: _N, by: Shifts) -> _N:
    def one(part: Node) -> Node | None:
        if not isinstance(part, Entry):
            return None
        name = part.tensor.removeprefix("delta_")
        return Entry(part.tensor, tuple(_less(i, by.get((name, d), ZERO)) for d, i in enumerate(part.indices)))

    return transform(node, one, Entry)


def counted_here(module: Module, by: Shifts) -> str:
    """What a counterexample counts from 0, where the question does not."""
    return "" if not by else ", outputs counted from 0" if module.recounted is not None else ", indices counted from 0"


def of_other_letters(node: Node, module: Module) -> bool:
    """Whether it names entries of letters that are none of the layer, whose numbers are not told."""
    known = {*module.given, *module.defined}
    return any(isinstance(n, Entry) and n.indices and n.tensor.removeprefix("delta_") not in known for n in walk(node))
