"""Whether two values are one, written otherwise: Σ_i u_i Σ_j A_{ij} v_j and Σ_{i,j} A_{ij} u_i v_j."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

import derive.expr as ex

_MOST = 4  # indices of a term that are tried in every order

Term = tuple[tuple[ex.Idx, ...], tuple[ex.Expr, ...]]  # what is summed over, and the factors


def same(one: ex.Expr, other: ex.Expr) -> bool:
    """Equal up to the order of terms, factors and sums, and the letters that sums run over."""
    if one is other:
        return True
    left, right = [*_terms(one)], [*_terms(other)]
    for term in left:
        at = next((n for n, candidate in enumerate(right) if _match(term, candidate)), None)
        if at is None:
            return False
        del right[at]
    return not right


def _terms(value: ex.Expr) -> Iterator[Term]:
    for term in value.terms if isinstance(value, ex.Add) else (value,):
        yield _flat(term)


def _flat(value: ex.Expr) -> Term:
    """A product of sums of products as one sum, over whole axes."""
    if isinstance(value, ex.Mul):
        parts = [_flat(factor) for factor in value.factors]
        return tuple(v for own, _ in parts for v in own), tuple(f for _, own in parts for f in own)
    if isinstance(value, ex.Reduce) and value.op == "sum" and _is_whole(value.binder):
        binder, body = ex.open_binder(value)
        variables, factors = _flat(body)
        return (*binder.variables, *variables), factors
    return (), (value,)


def _is_whole(binder: ex.Binder) -> bool:
    """No range is written, or one up to a size."""
    return binder.cond is None and all(upper is None or isinstance(upper, ex.Size) for upper in binder.upper)


def _match(one: Term, other: Term) -> bool:
    (variables, factors), (others, candidates) = one, other
    if len(variables) != len(others) or len(factors) != len(candidates) or len(variables) > _MOST:
        return False
    wanted = Counter(factors)
    return any(Counter(ex.subst(f, dict(zip(others, order, strict=True))) for f in candidates) == wanted
               for order in permutations(variables))
