"""Z3 terms over reals without z3's coercion of every operand, which takes longer than most proofs here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import z3


def _terms(items: Sequence[Any]) -> Any:
    return (z3.Ast * len(items))(*[item.as_ast() for item in items])


@cache
def number(value: int | Fraction) -> Any:
    """A rational number."""
    return z3.RealVal(str(value))


def _truth(cond: Any) -> Any:
    return z3.BoolVal(cond) if isinstance(cond, bool) else cond


def every(conds: Sequence[Any]) -> Any:
    """c_1 ∧ … ∧ c_n, each a Z3 term or a Python bool."""
    conds, ctx = [_truth(c) for c in conds], z3.main_ctx()
    return conds[0] if len(conds) == 1 else z3.BoolRef(z3.Z3_mk_and(ctx.ref(), len(conds), _terms(conds)), ctx)


def some(conds: Sequence[Any]) -> Any:
    """c_1 ∨ … ∨ c_n, each a Z3 term or a Python bool."""
    conds, ctx = [_truth(c) for c in conds], z3.main_ctx()
    return conds[0] if len(conds) == 1 else z3.BoolRef(z3.Z3_mk_or(ctx.ref(), len(conds), _terms(conds)), ctx)


def when(cond: Any, then: Any, other: Any) -> Any:
    """``then`` where the condition holds, else ``other``, both real."""
    ctx = z3.main_ctx()
    return z3.ArithRef(z3.Z3_mk_ite(ctx.ref(), cond.as_ast(), then.as_ast(), other.as_ast()), ctx)


def total(terms: Sequence[Any]) -> Any:
    """t_1 + … + t_n of reals."""
    ctx = z3.main_ctx()
    return terms[0] if len(terms) == 1 else z3.ArithRef(z3.Z3_mk_add(ctx.ref(), len(terms), _terms(terms)), ctx)


def product(factors: Sequence[Any]) -> Any:
    """f_1 · … · f_n of reals."""
    ctx = z3.main_ctx()
    return factors[0] if len(factors) == 1 else z3.ArithRef(z3.Z3_mk_mul(ctx.ref(), len(factors), _terms(factors)), ctx)


_RELATIONS: dict[str, Callable[..., Any]] = {
    "=": z3.Z3_mk_eq, "<": z3.Z3_mk_lt, "≤": z3.Z3_mk_le, ">": z3.Z3_mk_gt, "≥": z3.Z3_mk_ge,
}


def related(left: Any, op: str, right: Any) -> Any:
    """left op right, of two reals."""
    if op == "≠":
        return z3.Not(related(left, "=", right))
    ctx = z3.main_ctx()
    return z3.BoolRef(_RELATIONS[op](ctx.ref(), left.as_ast(), right.as_ast()), ctx)
