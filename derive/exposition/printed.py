"""A derived formula as it is printed: conditions as cases, ranges of sums as the card writes them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import derive.expr as ex
from derive.axes import axes, stands
from derive.calculus.algebra import has_sum
from derive.calculus.ranges import joint, natural
from derive.module import Module

_N = TypeVar("_N", bound=ex.Node)


def equation(*terms: ex.Expr | None) -> ex.Rel:
    """t_0 = t_1 = …, each side that says something new."""
    kept: list[ex.Expr] = []
    for term in terms:
        if term is not None and (not kept or term is not kept[-1]):
            kept.append(term)
    return ex.eq(*kept)


@lru_cache(maxsize=256)  # of a message it is asked how wide it is before it is printed
def printed(value: ex.Expr, of: ex.Node, module: Module) -> ex.Expr:
    """The value of ``of`` with its conditions as cases, else as :func:`presented`."""
    return presented(as_cases(value, of), of, module)


def presented(value: _N, of: ex.Node, module: Module) -> _N:
    """One fraction for several, one bracket for several conditions, limits of sums as the card writes them."""
    return with_limits(ex.transform(ex.transform(value, _one_fraction, ex.Mul), lambda n: _one_bracket(n, of), ex.Mul),
                       module)


def _one_fraction(node: ex.Node) -> ex.Node | None:
    """1/2 · a · 1/b · 1/c is a/(2 b c)."""
    assert isinstance(node, ex.Mul)
    number = node.factors[0].value if isinstance(node.factors[0], ex.Num) else Fraction(1)
    below = [f.base for f in node.factors if isinstance(f, ex.Pow) and f.exponent is ex.MINUS_ONE]
    if not below or (len(below) == 1 and number.denominator == 1):
        return None
    rest = [f for f in node.factors if not isinstance(f, ex.Num)
            and not (isinstance(f, ex.Pow) and f.exponent is ex.MINUS_ONE)]
    plain = [f for f in rest if not _behind(f)]
    below.sort(key=lambda f: not isinstance(f, ex.Size))
    bar = ex.Pow(ex.mul(ex.Num(number.denominator), *below), ex.MINUS_ONE)
    return ex.mul(ex.Num(number.numerator), *plain, bar, *(f for f in rest if _behind(f)))


def _behind(factor: ex.Expr) -> bool:
    """It stands behind a fraction: a sum, cases, a bracket."""
    return isinstance(factor, (ex.Reduce, ex.Cases, ex.Bracket)) or (isinstance(factor, ex.Add) and has_sum(factor))


def _one_bracket(node: ex.Node, of: ex.Node) -> ex.Node | None:
    """[c] [d] is [c, d] for conditions that are no deltas."""
    assert isinstance(node, ex.Mul)
    guards = [f for f in node.factors if isinstance(f, ex.Bracket) and not _is_delta(f.cond)]
    if len(guards) < 2:
        return None
    parts = [c for g in guards for c in ex.conditions(g.cond)]
    cond = joint(tuple(sorted(parts, key=lambda c: _first(c, of))))
    assert cond is not None
    return ex.mul(*(f for f in node.factors if f not in guards), ex.Bracket(cond))


def as_cases(value: ex.Expr, of: ex.Node) -> ex.Expr:
    """u [c] is { u if c, 0 otherwise }; a delta [i = k] stays a factor."""
    factors = value.factors if isinstance(value, ex.Mul) else (value,)
    guards = [f for f in factors if isinstance(f, ex.Bracket) and not _is_delta(f.cond)]
    if not guards or any(isinstance(f, ex.Cases) for f in factors):
        return value
    deltas = [f for f in factors if isinstance(f, ex.Bracket) and _is_delta(f.cond)]
    rest = [f for f in factors if not isinstance(f, ex.Bracket)]
    parts = [c for g in guards for c in ex.conditions(g.cond)]
    cond = joint(tuple(sorted(parts, key=lambda c: _first(c, of))))
    assert cond is not None
    return ex.mul(*deltas, ex.Cases(((ex.mul(*rest), cond), (ex.ZERO, ex.OTHERWISE))))


def _is_delta(cond: ex.Cond) -> bool:
    return isinstance(cond, ex.Rel) and cond.ops == ("=",)


def _first(cond: ex.Cond, of: ex.Node) -> int:
    """Where the first letter of a condition stands in what the formula is of: conditions on i before those on j."""
    indices = [i for node in ex.walk(of) for i in getattr(node, "indices", ())]
    return min((indices.index(i) for i in ex.free_indices(cond) if i in indices), default=len(indices))


def with_limits(value: _N, module: Module) -> _N:
    """Σ_j is Σ_{j=1}^n where the card's own sums along that axis have limits."""
    written = _limited(module)

    def limits(node: ex.Node) -> ex.Node | None:
        if not isinstance(node, ex.Reduce) or node.op not in ("sum", "prod") or len(node.binder.variables) > 1:
            return None
        binder, body = ex.open_binder(node)
        (v,) = binder.variables
        if binder.lower != (None,) or binder.upper != (None,) or binder.cond is not None:
            return None
        run = natural(v, body, module)
        if run is None or not written & {axes(module).of(*slot) for slot in stands(v, body)}:
            return None
        return ex.Reduce(node.op, ex.Binder((v,), (run.lower,), (run.upper,), None), body)

    return ex.transform(value, limits, ex.Reduce) if written else value


@lru_cache(maxsize=16)
def _limited(module: Module) -> set[tuple[str, int]]:
    """The axes along which the card writes a sum from first to last."""
    found: set[tuple[str, int]] = set()
    for node in _reductions(module):
        binder, body = ex.open_binder(node)
        for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
            run = natural(v, body, module)
            if run is not None and (run.lower, run.upper) == (low, high):
                found |= {axes(module).of(*slot) for slot in stands(v, body)}
    return found


def _reductions(module: Module) -> Iterable[ex.Reduce]:
    return (n for e in module.equations for n in ex.walk(e.terms[1]) if isinstance(n, ex.Reduce)
            and n.op in ("sum", "prod"))
