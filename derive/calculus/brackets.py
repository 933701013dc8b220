"""Brackets less what the ranges of their letters say already; cases of 0 and 1 as brackets."""

from __future__ import annotations

from fractions import Fraction

from derive.calculus.affine import Affine, Ranges
from derive.calculus.algebra import smaller
from derive.calculus.ranges import conditions, joint
from derive.expr import (
    ONE,
    ZERO,
    Add,
    Bracket,
    Cases,
    Cond,
    Entry,
    Expr,
    Mul,
    Num,
    Otherwise,
    Rel,
    Tuple,
    eq,
    rel,
    tuple_of,
    walk,
)

_OPPOSITE = {"<": "≥", "≥": "<", ">": "≤", "≤": ">", "=": "≠", "≠": "="}


def bracket(cond: Cond, ranges: Ranges) -> Expr:
    """[c], less what holds always; 0 where c never holds."""
    left: list[Cond] = []
    for part in conditions(cond):
        if isinstance(part, Rel):
            found = _relation(part, ranges)
            if found is False:
                return ZERO
            left += [] if found is True else [found]
        elif not isinstance(part, Otherwise):
            left.append(part)
    whole = joint(tuple(left))
    return ONE if whole is None else Bracket(whole)


def _relation(part: Rel, ranges: Ranges) -> Rel | bool:
    """A relation of indices without what the ranges give already; True or False where that decides it."""
    terms = [Tuple(tuple(map(tidy, t.items))) if isinstance(t, Tuple) else tidy(t) for t in part.terms]
    if part.ops == ("=",):
        return _equation(*terms)
    if any(isinstance(n, (Entry, Tuple)) for n in walk(part)):
        return Rel(tuple(terms), part.ops)
    links = list(zip(terms, part.ops, terms[1:], strict=False))
    while links and _holds(*links[0], ranges):
        links.pop(0)
    while links and _holds(*links[-1], ranges):
        links.pop()
    if len(links) == 1:
        links = [_shifted(*links[0])]
    return Rel((links[0][0], *(link[2] for link in links)), tuple(link[1] for link in links)) if links else True


def _shifted(left: Expr, op: str, right: Expr) -> tuple[Expr, str, Expr]:
    """1 ≤ j − 1 is 2 ≤ j."""
    for number, other in ((left, right), (right, left)):
        whole = Affine.of(other)
        if isinstance(number, Num) and whole.constant and whole.coefficients:
            moved, rest = Num(number.value - whole.constant), Affine(whole.coefficients, Fraction(0)).expr()
            return (moved, op, rest) if number is left else (rest, op, moved)
    return left, op, right


def _equation(left: Expr, right: Expr) -> Rel | bool:
    """left = right, less the components that agree; False where they differ by a number."""
    pairs = zip(*(t.items if isinstance(t, Tuple) else (t,) for t in (left, right)), strict=True)
    differing = [(a, b) for a, b in pairs if a is not b]
    for a, b in differing:
        gap = Affine.of(a).plus(Affine.of(b), Fraction(-1))
        if not gap.coefficients and gap.constant:
            return False
    return eq(*(tuple_of(side) for side in zip(*differing, strict=True))) if differing else True


def tidy(term: Expr) -> Expr:
    """An index term with its sums carried out: (j − 1) + 1 is j."""
    return smaller(term, Affine.of(term).expr()) if isinstance(term, (Add, Mul)) else term


def _holds(left: Expr, op: str, right: Expr, ranges: Ranges) -> bool:
    """left op right follows from the ranges of the letters."""
    low, high = (left, right) if op in "<≤" else (right, left)
    gap = Affine.of(high).plus(Affine.of(low), Fraction(-1))
    if op in "<>":
        gap = gap.plus(Affine.of(ONE), Fraction(-1))
    least = gap.end(ranges, top=False)
    return op in "<≤>≥" and least is not None and least.never_negative


def as_bracket(branches: list[tuple[Expr, Cond]]) -> Expr:
    """{ 1 if c, 0 otherwise } = [c], and { 0 if c, 1 otherwise } = [not c]."""
    if len(branches) == 2 and isinstance(branches[1][1], Otherwise):
        (first, cond), (second, _) = branches
        if second is ZERO:
            return Mul((first, Bracket(cond))) if first is not ONE else Bracket(cond)
        if first is ZERO and isinstance(cond, Rel) and len(cond.ops) == 1:
            negated = Bracket(rel(cond.terms[0], _OPPOSITE[cond.ops[0]], cond.terms[1]))
            return Mul((second, negated)) if second is not ONE else negated
    return Cases(tuple(branches))
