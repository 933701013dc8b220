"""Sums, maxima and sets on paper: what stands below, and brackets around a body that needs them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from derive.expr import (
    MINUS_ONE,
    ONE,
    Add,
    Arg,
    Binder,
    Expr,
    Fn,
    Idx,
    In,
    Mul,
    Reduce,
    Rel,
    SetOf,
    add,
    free_indices,
    tuple_of,
)
from derive.notation.bound_names import choose
from derive.notation.product_writer import is_negative

if TYPE_CHECKING:
    from derive.notation.writer import Writer

WIDE = 24  # characters below a sum from which on its condition has a line of its own


def named(w: Writer, node: Reduce | Arg | SetOf) -> Writer:
    """The writer inside the node's binder."""
    chosen = choose(node, w.table, w.names, w.taken)
    return replace(w, names={**w.names, **chosen}, taken=w.taken | set(chosen.values()), in_index=False)


def reduction(w: Writer, node: Reduce | Arg) -> str:
    """sum, product, max, min, argmax with what runs below it."""
    inner = named(w, node)
    binder = node.binder
    if isinstance(node, Reduce) and node.op in ("max", "min") and binder.variables == (node.body,) and (
        binder.cond is not None and _plain(binder) and not _membership(binder)
    ):
        condition = replace(inner, tight=True).write(binder.cond)
        return rf"\{node.op} \lbrace {inner.write(node.body)} : {condition} \rbrace"
    sign = r"\operatorname{median}" if node.op == "median" else rf"\{node.op}"
    command = rf"\arg{sign}" if isinstance(node, Arg) else sign
    if isinstance(node, Reduce) and node.op in ("sum", "prod") and _one_range(binder):
        variable, (low,), (high,) = binder.variables[0], binder.lower, binder.upper
        assert low is not None and high is not None
        below = rf"_{{{inner.write(variable)}={bound(inner, low)}}}^{{{bound(inner, high)}}}"
    else:
        below = f"_{{{below_sign(inner, binder)}}}"
    return f"{command}{below} {_body(inner, node)}"


def bound(w: Writer, limit: Expr) -> str:
    return w.index_term(limit).replace(" + ", "+").replace(" - ", "-")


def _plain(binder: Binder) -> bool:
    return all(b is None for b in (*binder.lower, *binder.upper))


def _one_range(binder: Binder) -> bool:
    return len(binder.variables) == 1 and binder.cond is None and None not in (*binder.lower, *binder.upper)


def _membership(binder: Binder) -> bool:
    return isinstance(binder.cond, In) and binder.cond.element is tuple_of(binder.variables)


def below_sign(w: Writer, binder: Binder) -> str:
    """(i, j) ∈ Ω(k, l);  0 ≤ a ≤ 1, 0 ≤ b < K;  r ≠ q;  (k, l) : condition;  k, l."""
    cond, variables = binder.cond, binder.variables
    w = replace(w, tight=True)
    if _plain(binder) and cond is not None:
        if _membership(binder):
            return w.write(cond)
        unequal = isinstance(cond, Rel) and cond.ops == ("≠",) and cond.terms[0] is variables[0]
        if unequal and len(variables) == 1:
            return w.write(cond)
        return f"{_variables(w, variables)} : {w.write(cond)}"
    if _plain(binder):
        return ", ".join(map(w.write, variables))
    pieces = [_range(w, v, low, high) for v, low, high in zip(variables, binder.lower, binder.upper, strict=True)]
    head = r",\ ".join(pieces)
    if cond is None:
        return head
    return rf"\substack{{{head} : \\ {w.write(cond)}}}" if len(head) > WIDE else f"{head} : {w.write(cond)}"


def _variables(w: Writer, variables: tuple[Idx, ...]) -> str:
    shown = ", ".join(map(w.write, variables))
    return shown if len(variables) == 1 else f"({shown})"


def _range(w: Writer, variable: Idx, low: Expr | None, high: Expr | None) -> str:
    name = w.write(variable)
    upper = "" if high is None else _upper(w, high)
    if low is None:
        return f"{name}{upper}"
    return rf"{w.write(low)} \le {name}{upper}" if high is not None else rf"{name} \ge {w.write(low)}"


def _upper(w: Writer, high: Expr) -> str:
    """``< K`` for K − 1, which a reader takes back to K − 1."""
    if isinstance(high, Add) and high.terms[-1] == MINUS_ONE:
        beyond = add(high, ONE)
        if add(beyond, MINUS_ONE) is high:
            return f" < {w.write(beyond)}"
    return rf" \le {w.write(high)}"


def _body(w: Writer, node: Reduce | Arg) -> str:
    body = node.body
    shown = w.write(body)
    if isinstance(body, Add) or is_negative(body) or (isinstance(body, Fn) and body.name == "mod"):
        return w.round(shown)
    loose = isinstance(body, Mul) and not free_indices(body.factors[-1]) & set(node.binder.variables)
    if loose and not (isinstance(node, Reduce) and node.op == "sum"):
        return w.round(shown)
    return shown


def set_of(w: Writer, node: SetOf) -> str:
    r"""\lbrace element : conditions \rbrace."""
    inner = replace(named(w, node), tight=True)
    binder = node.binder
    pieces = [
        rf"{inner.write(v)} \in \lbrace {inner.write(low)}, \dots, {inner.write(high)} \rbrace"
        for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True)
        if low is not None and high is not None
    ]
    if binder.cond is not None:
        pieces.append(inner.write(binder.cond))
    conditions = r",\ ".join(pieces)
    return rf"\lbrace {inner.write(node.element)} : {conditions} \rbrace"
