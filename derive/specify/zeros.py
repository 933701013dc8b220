"""Zeros around a tensor: x_s = 0 for s < 0; then x_{t−k} is read where 0 ≤ t − k only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import cast

import derive.expr as ex
from derive.affine import Affine
from derive.axes import Slot
from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.records import dataclass

Nodes = Sequence[tuple[Formula, ex.Node]]


@dataclass(frozen=True)
class Inside:
    """lower ≤ s ≤ upper along an axis: outside the entries are 0; None where nothing says it."""

    lower: ex.Expr | None = None
    upper: ex.Expr | None = None

    def cond(self, term: ex.Expr) -> ex.Cond | None:
        """lower ≤ term ≤ upper."""
        known = [(t, op) for t, op in ((self.lower, "≤"), (term, "≤"), (self.upper, "")) if t is not None]
        return ex.Rel(tuple(t for t, _ in known), tuple(op for _, op in known[:-1])) if len(known) > 1 else None

    def and_(self, other: Inside) -> Inside:
        """What both say, of several numbers the innermost."""
        return Inside(_innermost((self.lower, other.lower), max), _innermost((self.upper, other.upper), min))


def with_zeros_outside(nodes: Nodes, told: Mapping[Slot, Inside] = MappingProxyType({})) -> tuple[
        tuple[tuple[Formula, ex.Node], ...], tuple[Formula, ...]]:
    """The formulas with a condition at each entry that may lie outside, and those that say that it is 0 there.

    ``told`` are axes of which words say it.

    Raises :class:`CardError` where a condition besides says that only some are.
    """
    found: dict[Slot, Inside] = {**told}
    said: list[Formula] = []
    rest: list[tuple[Formula, ex.Node]] = []
    n = 0
    while n < len(nodes):
        zeros, taken = _zeros(nodes, n)
        for slot, inside in zeros:
            found[slot] = found.get(slot, Inside()).and_(inside)
        said += [formula for formula, _ in nodes[n : n + taken]]
        rest += nodes[n : n + 1] if not taken else []
        n += taken or 1
    return tuple((formula, _guarded(node, found)) for formula, node in rest), tuple(said)


def _zeros(nodes: Nodes, n: int) -> tuple[list[tuple[Slot, Inside]], int]:
    """Where the n-th formula says that entries are 0, and how many formulas it takes to say so."""
    node = nodes[n][1]
    conds: list[ex.Cond] = []
    if isinstance(node, ex.And | ex.Given):
        node, *conds = node.conds if isinstance(node, ex.And) else (node.claim, *ex.conditions(node.cond))
    if isinstance(node, ex.Rel) and isinstance(cases := node.terms[-1], ex.Cases) and all(
            value is ex.ZERO for value, _ in cases.branches):  # one below the other
        conds += [cond for _, cond in cases.branches]
        node = ex.Rel((*node.terms[:-1], ex.ZERO), node.ops)
    if not isinstance(node, ex.Rel) or {*node.ops} != {"="} or node.terms[-1] is not ex.ZERO or not all(
            isinstance(e, ex.Entry) and e.indices for e in node.terms[:-1]):
        return [], 0
    entries = [e for e in node.terms if isinstance(e, ex.Entry)]
    running = {v for e in entries for v in e.indices if isinstance(v, ex.Idx)}
    behind = 0
    while n + 1 + behind < len(nodes) and isinstance(next_ := nodes[n + 1 + behind][1], ex.Rel) and len(
            next_.terms) == 2 and not running.isdisjoint(next_.terms):
        conds.append(next_)
        behind += 1
    known = [any(outside(v, (c,)) for v in running) for c in conds]
    if any(known) and not all(one or _is_range(c) for one, c in zip(known, conds, strict=True)):
        raise CardError(Problem("where are these entries 0? Write one inequality for each end, as in `x_s = 0` for "
                                "`s < 0` and for `s > n`", line=nodes[n][0].line))  # «… and s ≠ 3»
    found = [((e.tensor, d), inside) for e in entries for d, v in enumerate(e.indices)
             if (inside := outside(v, conds)) is not None]
    return (found, 1 + behind) if found and _all_outside(entries, found) else ([], 0)


def _is_range(cond: ex.Cond) -> bool:
    """1 ≤ c ≤ C"""
    return isinstance(cond, ex.Rel) and len(cond.terms) == 3


def _all_outside(entries: Iterable[ex.Entry], found: Sequence[tuple[Slot, Inside]]) -> bool:
    """Each of the entries lies outside along some axis."""
    slots = {slot for slot, _ in found}
    return all(any((e.tensor, d) in slots for d in range(len(e.indices))) for e in entries)


def outside(term: ex.Expr, conds: Iterable[ex.Cond]) -> Inside | None:
    """What lies inside where s < c, s > c or s ∉ {…} is outside; and where the numbers 0 or n + 1 are."""
    if not isinstance(term, ex.Idx):
        form = Affine.of(term)
        if not form.coefficients:
            return Inside(lower=ex.Num(form.constant + 1)) if form.constant <= 0 else None
        plain = all(isinstance(v, ex.Size) for v in form.coefficients)
        return Inside(upper=_plus(term, -1)) if plain and form.constant >= 0 else None
    found = Inside()
    for cond in conds:
        if isinstance(cond, ex.Rel) and len(cond.terms) == 2 and term in cond.terms:
            other, op = (cond.terms[1], cond.ops[0]) if cond.terms[0] is term else (
                cond.terms[0], ex.TURNED[cond.ops[0]])
            if isinstance(other, ex.Expr) and not ex.free_indices(other):
                found = found.and_({"<": Inside(lower=other), "≤": Inside(lower=_plus(other, 1)),
                                    ">": Inside(upper=other), "≥": Inside(upper=_plus(other, -1))}.get(op, found))
    return found if found != Inside() else None


def _guarded(node: ex.Node, found: Mapping[Slot, Inside]) -> ex.Node:
    """A formula whose entries are read inside only: [0 ≤ t − k] x_{t−k}."""
    if isinstance(node, ex.Rel) and node.ops[:1] == ("=",) and isinstance(node.terms[0], ex.Entry):
        return ex.Rel((node.terms[0], *(cast(ex.Expr, _guarded_value(t, found)) for t in node.terms[1:])), node.ops)
    if isinstance(node, ex.And):
        return ex.And(tuple(cast(ex.Cond, _guarded(c, found)) for c in node.conds))
    return node


def _guarded_value(value: ex.Node, found: Mapping[Slot, Inside]) -> ex.Node:
    def rule(node: ex.Node) -> ex.Node | None:
        if isinstance(node, ex.Entry):
            conds = [c for d, t in enumerate(node.indices) if not isinstance(t, ex.Idx)
                     and (inside := found.get((node.tensor, d))) is not None and (c := inside.cond(t)) is not None]
            return ex.mul(*map(ex.Bracket, conds), node) if conds else None
        if isinstance(node, ex.Mul) and any(isinstance(f, ex.Mul) for f in node.factors):
            return ex.mul(*node.factors)
        return _conditioned(node) if isinstance(node, ex.Reduce) and node.op == "sum" else None

    return ex.transform(value, rule)


def _conditioned(node: ex.Reduce) -> ex.Expr | None:
    """Σ_{k : 0 ≤ t − k} x_{t−k} of Σ_k [0 ≤ t − k] x_{t−k}; what does not move with k stands in front."""
    binder, body = ex.open_binder(node)
    factors = body.factors if isinstance(body, ex.Mul) else ()
    guards = [f for f in factors if isinstance(f, ex.Bracket) and _guards(f.cond, factors)]
    own = [f.cond for f in guards if not ex.free_indices(f.cond).isdisjoint(binder.variables)]
    if not guards:
        return None
    cond = ex.joined((*ex.conditions(binder.cond), *map(_ascending, own))) if own else binder.cond
    rest = ex.mul(*(f for f in factors if f not in guards))
    inner = ex.Reduce("sum", ex.Binder(binder.variables, binder.lower, binder.upper, cond), rest)
    return ex.mul(*(f for f in guards if f.cond not in own), inner)


def _guards(cond: ex.Cond, factors: Iterable[ex.Expr]) -> bool:
    """0 ≤ t − k beside x_{t−k}."""
    read = {t for f in factors for e in ex.walk(f) if isinstance(e, ex.Entry) for t in e.indices}
    return all(isinstance(c, ex.Rel) and "=" not in c.ops and "≠" not in c.ops and not read.isdisjoint(c.terms)
               for c in ex.conditions(cond))


def _ascending(cond: ex.Cond) -> ex.Cond:
    """0 ≤ t − k of t − k ≥ 0."""
    if isinstance(cond, ex.Rel) and {*cond.ops} <= {">", "≥"}:
        return ex.Rel(cond.terms[::-1], tuple(ex.TURNED[op] for op in cond.ops[::-1]))
    return cond


def _innermost(of: tuple[ex.Expr | None, ex.Expr | None], choose: Callable[..., Fraction]) -> ex.Expr | None:
    """Of two numbers that which ``choose`` gives; else the one that is there."""
    one, other = of
    if isinstance(one, ex.Num) and isinstance(other, ex.Num):
        return ex.Num(choose(one.value, other.value))
    return other if one is None else one


def _plus(term: ex.Expr, number: int) -> ex.Expr:
    return Affine.of(ex.add(term, ex.Num(number))).expr()
