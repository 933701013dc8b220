"""A derived formula as it is printed: conditions as cases, ranges of sums as the card writes them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from derive.axes import axes, stands
from derive.calculus.algebra import has_sum
from derive.calculus.ranges import conditions, joint, natural
from derive.expr import (
    MINUS_ONE,
    OTHERWISE,
    ZERO,
    Add,
    Binder,
    Bracket,
    Cases,
    Cond,
    Expr,
    Mul,
    Node,
    Num,
    Pow,
    Reduce,
    Rel,
    Size,
    eq,
    free_indices,
    mul,
    open_binder,
    transform,
    walk,
)
from derive.module import Module

_N = TypeVar("_N", bound=Node)


def equation(*terms: Expr | None) -> Rel:
    """t_0 = t_1 = …, each side that says something new."""
    kept: list[Expr] = []
    for term in terms:
        if term is not None and (not kept or term is not kept[-1]):
            kept.append(term)
    return eq(*kept)


def printed(value: Expr, of: Node, module: Module) -> Expr:
    """The value of ``of`` with its conditions as cases, else as :func:`presented`."""
    return presented(as_cases(value, of), of, module)


def presented(value: _N, of: Node, module: Module) -> _N:
    """One fraction for several, one bracket for several conditions, limits of sums as the card writes them."""
    return with_limits(transform(transform(value, _one_fraction, Mul), lambda n: _one_bracket(n, of), Mul), module)


def _one_fraction(node: Node) -> Node | None:
    """1/2 · a · 1/b · 1/c is a/(2 b c)."""
    assert isinstance(node, Mul)
    number = node.factors[0].value if isinstance(node.factors[0], Num) else Fraction(1)
    below = [f.base for f in node.factors if isinstance(f, Pow) and f.exponent is MINUS_ONE]
    if not below or (len(below) == 1 and number.denominator == 1):
        return None
    rest = [f for f in node.factors if not isinstance(f, Num) and not (isinstance(f, Pow) and f.exponent is MINUS_ONE)]
    plain = [f for f in rest if not _behind(f)]
    below.sort(key=lambda f: not isinstance(f, Size))
    bar = Pow(mul(Num(number.denominator), *below), MINUS_ONE)
    return mul(Num(number.numerator), *plain, bar, *(f for f in rest if _behind(f)))


def _behind(factor: Expr) -> bool:
    """It stands behind a fraction: a sum, cases, a bracket."""
    return isinstance(factor, (Reduce, Cases, Bracket)) or (isinstance(factor, Add) and has_sum(factor))


def _one_bracket(node: Node, of: Node) -> Node | None:
    """[c] [d] is [c, d] for conditions that are no deltas."""
    assert isinstance(node, Mul)
    guards = [f for f in node.factors if isinstance(f, Bracket) and not _is_delta(f.cond)]
    if len(guards) < 2:
        return None
    parts = [c for g in guards for c in conditions(g.cond)]
    cond = joint(tuple(sorted(parts, key=lambda c: _first(c, of))))
    assert cond is not None
    return mul(*(f for f in node.factors if f not in guards), Bracket(cond))


def as_cases(value: Expr, of: Node) -> Expr:
    """u [c] is { u if c, 0 otherwise }; a delta [i = k] stays a factor."""
    factors = value.factors if isinstance(value, Mul) else (value,)
    guards = [f for f in factors if isinstance(f, Bracket) and not _is_delta(f.cond)]
    if not guards or any(isinstance(f, Cases) for f in factors):
        return value
    deltas = [f for f in factors if isinstance(f, Bracket) and _is_delta(f.cond)]
    rest = [f for f in factors if not isinstance(f, Bracket)]
    parts = [c for g in guards for c in conditions(g.cond)]
    cond = joint(tuple(sorted(parts, key=lambda c: _first(c, of))))
    assert cond is not None
    return mul(*deltas, Cases(((mul(*rest), cond), (ZERO, OTHERWISE))))


def _is_delta(cond: Cond) -> bool:
    return isinstance(cond, Rel) and cond.ops == ("=",)


def _first(cond: Cond, of: Node) -> int:
    """Where the first letter of a condition stands in what the formula is of: conditions on i before those on j."""
    indices = [i for node in walk(of) for i in getattr(node, "indices", ())]
    return min((indices.index(i) for i in free_indices(cond) if i in indices), default=len(indices))


def with_limits(value: _N, module: Module) -> _N:
    """Σ_j is Σ_{j=1}^n where the card's own sums along that axis have limits."""
    written = _limited(module)

    def limits(node: Node) -> Node | None:
        if not isinstance(node, Reduce) or node.op not in ("sum", "prod") or len(node.binder.variables) > 1:
            return None
        binder, body = open_binder(node)
        (v,) = binder.variables
        if binder.lower != (None,) or binder.upper != (None,) or binder.cond is not None:
            return None
        run = natural(v, body, module)
        if run is None or not written & {axes(module).of(*slot) for slot in stands(v, body)}:
            return None
        return Reduce(node.op, Binder((v,), (run.lower,), (run.upper,), None), body)

    return transform(value, limits, Reduce) if written else value


@lru_cache(maxsize=16)
def _limited(module: Module) -> set[tuple[str, int]]:
    """The axes along which the card writes a sum from first to last."""
    found: set[tuple[str, int]] = set()
    for node in _reductions(module):
        binder, body = open_binder(node)
        for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
            run = natural(v, body, module)
            if run is not None and (run.lower, run.upper) == (low, high):
                found |= {axes(module).of(*slot) for slot in stands(v, body)}
    return found


def _reductions(module: Module) -> Iterable[Reduce]:
    return (n for e in module.equations for n in walk(e.terms[1]) if isinstance(n, Reduce) and n.op in ("sum", "prod"))
