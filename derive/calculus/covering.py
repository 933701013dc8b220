"""Sums over the windows that cover an entry, Σ_{(k, l) : (i, j) ∈ Ω(k, l)}, with the windows in closed form."""

from __future__ import annotations

from derive.calculus.windows import Inverse, inverses
from derive.expr import (
    OTHERWISE,
    ZERO,
    And,
    Binder,
    Bracket,
    Cases,
    Cond,
    Expr,
    Idx,
    In,
    Mul,
    Node,
    Reduce,
    SetApp,
    Tuple,
    mul,
    open_binder,
    ranging,
    subst,
    transform,
    walk,
)
from derive.module import Module


def in_closed_form(value: Expr, module: Module) -> Expr | None:
    """The message with each sum over covering windows written with limits; None where it has none.

    A sum over one window at most becomes its term, and the conditions for there to be one cases of the whole.
    """
    found = [n for n in walk(value) if _is_covering(n, module)]
    if not found:
        return None
    conds: dict[Cond, None] = {}

    def written(node: Node) -> Node | None:
        if not isinstance(node, Reduce) or not _is_covering(node, module):
            return None
        inner, guards = _written(node, module)
        if len(found) == 1 and _is_factor(node, value):
            conds.update(dict.fromkeys(guards))
            return inner
        return mul(inner, *map(Bracket, guards)) if guards else inner

    after = transform(value, written)
    if isinstance(after, Mul):
        after = mul(*(part for f in after.factors for part in (f.factors if isinstance(f, Mul) else (f,))))
    if not conds:
        return after
    if isinstance(after, Mul):
        conds.update({f.cond: None for f in after.factors if isinstance(f, Bracket)})
        after = mul(*(f for f in after.factors if not isinstance(f, Bracket)))
    return Cases(((after, next(iter(conds)) if len(conds) == 1 else And(tuple(conds))), (ZERO, OTHERWISE)))


def _is_covering(node: Node, module: Module) -> bool:
    """Σ over (k, l) with (i, j) ∈ Ω(k, l), where i and j are given."""
    if not isinstance(node, Reduce) or node.op != "sum" or not isinstance(node.binder.cond, In):
        return False
    windows = node.binder.cond.set
    return (isinstance(windows, SetApp) and windows.name in dict(module.fields)
            and windows.args == node.binder.variables and not set(_items(node.binder.cond)) & set(windows.args))


def _items(cond: In) -> tuple[Expr, ...]:
    return cond.element.items if isinstance(cond.element, Tuple) else (cond.element,)


def _is_factor(node: Reduce, value: Expr) -> bool:
    return node is value or isinstance(value, Mul) and node in value.factors


def _written(node: Reduce, module: Module) -> tuple[Expr, tuple[Cond, ...]]:
    binder, body = open_binder(node)
    assert isinstance(binder.cond, In)
    outputs = binder.variables
    found = inverses(_items(binder.cond), module)
    exact: dict[Node, Node] = {k: inv.only for k, inv in zip(outputs, found, strict=True) if inv.only is not None}
    value = subst(body, exact)
    for k, inv in reversed(list(zip(outputs, found, strict=True))):
        value = _summed(k, inv, value)
    return value, tuple(c for inv in found for c in inv.conds)


def _summed(k: Idx, inv: Inverse, value: Expr) -> Expr:
    """Σ over the windows of one axis."""
    if inv.lower is None or inv.upper is None:
        return value
    inside = inv.within(k)
    binder = Binder((k,), (inv.lower,), (inv.upper,), inside[0]) if inside else ranging(k, inv.lower, inv.upper)
    return Reduce("sum", binder, value)
