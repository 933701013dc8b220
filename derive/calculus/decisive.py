"""The step between a raw derivative and the lecturer's form that is not obvious: a cancellation, a fact put in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import derive.expr as ex
from derive.calculus.algebra import Monomial, monomial
from derive.calculus.form import polished, simplified
from derive.calculus.ranges import entry_ranges
from derive.module import Module
from derive.records import dataclass


@dataclass(frozen=True)
class Decisive:
    """``form`` stands between raw and result; ``by``: the factor that cancels, or the facts that are used."""

    rule: str
    form: ex.Expr
    by: tuple[ex.Node, ...]


def decisive(before: ex.Node, raw: ex.Expr, after: ex.Expr, module: Module) -> Decisive | None:
    """raw = form = after; None where the step from raw to after is plain."""
    used = _facts(before, raw, after, module)
    if used is not None:
        return used
    form, factor = next(_cancelled(raw), (raw, ex.ONE))
    return Decisive("cancel", polished(form), (factor,)) if form not in (raw, after) else None


def _facts(before: ex.Node, raw: ex.Expr, after: ex.Expr, module: Module) -> Decisive | None:
    """The form without what the card states of its letters: p_k Σ t_j − t_k."""
    stated = [f for f in module.facts if isinstance(f, ex.Rel) and f.ops == ("=",)]
    ranges = {i: r for e in ex.walk(before) if isinstance(e, ex.Entry) for i, r in entry_ranges(e, module).items()}
    plain = simplified(raw, ranges, replace(module, facts=())) if stated else after
    if plain is after:
        return None
    return Decisive("fact", plain, tuple(f for f in stated if simplified(raw, ranges, replace(
        module, facts=tuple(g for g in module.facts if g is not f))) is not after))


def _cancelled(node: ex.Expr) -> Iterator[tuple[ex.Expr, ex.Expr]]:
    r"""(a/p + b/q) p q as a q + b p, also below a sum, and p q."""
    if isinstance(node, ex.Reduce) and node.op == "sum":
        binder, body = ex.open_binder(node)
        for form, factor in _cancelled(body):
            if not ex.free_indices(factor) & {*binder.variables}:
                yield ex.Reduce("sum", binder, form), factor
    if not isinstance(node, ex.Mul):
        return
    whole = monomial(node)
    for total in (a for a, e in whole.powers.items() if isinstance(a, ex.Add) and e is ex.ONE):
        terms = [monomial(t) for t in total.terms]
        below = {a for t in terms for a, e in t.powers.items() if _is_below(e)}
        shared = whole.split(a for a in below if a in whole.powers and not _is_below(whole.powers[a]))
        if len(shared.powers) > 1 or (shared.powers and len(terms) > 1):
            inside = ex.Add(tuple(t.product(shared).expr() for t in terms))
            rest = whole.without([total, *shared.powers])
            yield rest.product(Monomial(powers={inside: ex.ONE})).expr(), shared.expr()


def _is_below(exponent: ex.Expr) -> bool:
    return isinstance(exponent, ex.Num) and exponent.value < 0
