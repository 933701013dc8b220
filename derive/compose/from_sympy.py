"""SymPy's window cases in the printed language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from derive.calculus.one_window import OneWindow
from derive.expr import And, Cond, Expr, Num, Rel

if TYPE_CHECKING:
    from derive.symbolic.window import Case

_OPS = {"StrictGreaterThan": ">", "StrictLessThan": "<", "GreaterThan": "≥", "LessThan": "≤"}


def value(expr: Any, w: OneWindow) -> Expr:
    """A number, or the symbol z_q, as an expression."""
    return Num(int(expr)) if expr.is_Integer else w.z(int(str(expr).rsplit("_", 1)[1]))


def region(case: Case, w: OneWindow) -> Cond:
    """z_q > z_1, z_q > z_2, …"""
    rels = tuple(Rel((value(r.lhs, w), value(r.rhs, w)), (_OPS[type(r).__name__],)) for r in case.region)
    return rels[0] if len(rels) == 1 else And(rels)
