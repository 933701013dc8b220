"""Brackets less what the ranges of their letters or the question's facts say already; cases of 0 and 1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce

import derive.expr as ex
from derive.affine import Affine, Ranges
from derive.calculus.algebra import Monomial, monomial, smaller
from derive.calculus.ranges import joint
from derive.module import Module

_OPPOSITE = {"<": "≥", "≥": "<", ">": "≤", "≤": ">", "=": "≠", "≠": "="}


def bracket(cond: ex.Cond, ranges: Ranges) -> ex.Expr:
    """[c], less what holds always; 0 where c never holds."""
    left: list[ex.Cond] = []
    for part in ex.conditions(cond):
        if isinstance(part, ex.Rel):
            found = _relation(part, ranges)
            if found is False:
                return ex.ZERO
            left += [] if found is True else [found]
        elif not isinstance(part, ex.Otherwise):
            left.append(part)
    whole = joint(tuple(left))
    return ex.ONE if whole is None else ex.Bracket(whole)


def decided(node: ex.Expr) -> ex.Expr:
    """The expression with brackets that compare numbers, [1 = 0] of a derivative by w_1, carried out."""
    def number(part: ex.Node) -> ex.Node | None:
        match part:
            case ex.Bracket(ex.Rel(terms) as cond) if all(isinstance(i, ex.Num) for t in terms for i in ex.items(t)):
                return bracket(cond, {})
            case ex.Add(terms) if ex.ZERO in terms:
                return ex.add(*terms)
            case ex.Mul(factors) if ex.ZERO in factors or ex.ONE in factors:
                return ex.mul(*factors)
        return None

    return ex.transform(node, number)


def unclipped(cond: ex.Cond, ranges: Ranges) -> ex.Cond:
    """The condition, where it compares min(c, u) or max(c, u) with a number, said of u."""
    found = bracket(cond, ranges) if any(isinstance(n, ex.Extremum) for n in ex.walk(cond)) else None
    return found.cond if isinstance(found, ex.Bracket) else cond


def _relation(part: ex.Rel, ranges: Ranges) -> ex.Rel | bool:
    """A relation of indices without what the ranges give already; True or False where that decides it."""
    terms = [ex.Tuple(tuple(map(tidy, t.items))) if isinstance(t, ex.Tuple) else tidy(t) for t in part.terms]
    if part.ops == ("=",):
        return _equation(*terms)
    if any(isinstance(n, (ex.Entry, ex.Tuple)) for n in ex.walk(part)):
        return _of_inner(terms[0], part.ops[0], terms[1]) if len(terms) == 2 else ex.Rel(tuple(terms), part.ops)
    links = list(zip(terms, part.ops, terms[1:], strict=False))
    while links and _holds(*links[0], ranges):
        links.pop(0)
    while links and _holds(*links[-1], ranges):
        links.pop()
    if len(links) == 1:
        links = [_shifted(*links[0])]
    return ex.Rel((links[0][0], *(link[2] for link in links)), tuple(link[1] for link in links)) if links else True


def _of_inner(left: ex.Expr, op: str, right: ex.Expr) -> ex.Rel | bool:
    """min(c, u) > k says u > k where c > k, and nothing else; max(c, u) > k is u > k where c ≤ k; u ≠ u never."""
    if left is right:
        return ex.HOLDS[op](Fraction(0), Fraction(0))
    if isinstance(right, ex.Extremum) and isinstance(left, ex.Num) and op in "<≤>≥":
        left, op, right = right, ex.TURNED[op], left
    if not (isinstance(left, ex.Extremum) and isinstance(right, ex.Num) and op in "<≤>≥" and len(left.args) == 2):
        return ex.rel(left, op, right)
    numbers = [a for a in left.args if isinstance(a, ex.Num)]
    others = [a for a in left.args if not isinstance(a, ex.Num)]
    if len(numbers) != 1:
        return ex.rel(left, op, right)
    holds = ex.HOLDS[op](numbers[0].value, right.value)
    both = (op in ">≥") == (left.op == "min")
    return _of_inner(others[0], op, right) if holds == both else holds


def _shifted(left: ex.Expr, op: str, right: ex.Expr) -> tuple[ex.Expr, str, ex.Expr]:
    """1 ≤ j − 1 is 2 ≤ j."""
    for number, other in ((left, right), (right, left)):
        whole = Affine.of(other)
        if isinstance(number, ex.Num) and whole.constant and whole.coefficients:
            moved, rest = ex.Num(number.value - whole.constant), Affine(whole.coefficients, Fraction(0)).expr()
            return (moved, op, rest) if number is left else (rest, op, moved)
    return left, op, right


def _equation(left: ex.Expr, right: ex.Expr) -> ex.Rel | bool:
    """left = right, less the components that agree; False where they differ by a number."""
    pairs = zip(*(ex.items(t) for t in (left, right)), strict=True)
    differing = [(a, b) for a, b in pairs if a is not b]
    for a, b in differing:
        gap = Affine.of(a).minus(Affine.of(b))
        if not gap.coefficients and gap.constant:
            return False
    return ex.eq(*(ex.tuple_of(side) for side in zip(*differing, strict=True))) if differing else True


def tidy(term: ex.Expr) -> ex.Expr:
    """An index term with its sums carried out: (j − 1) + 1 is j."""
    return smaller(term, Affine.of(term).expr()) if isinstance(term, (ex.Add, ex.Mul)) else term


def _holds(left: ex.Expr, op: str, right: ex.Expr, ranges: Ranges) -> bool:
    """left op right follows from the ranges of the letters."""
    low, high = (left, right) if op in "<≤" else (right, left)
    gap = Affine.of(high).minus(Affine.of(low))
    if op in "<>":
        gap = gap.minus(Affine.of(ex.ONE))
    least = gap.end(ranges, top=False)
    return op in "<≤>≥" and least is not None and least.never_negative


def as_bracket(branches: list[tuple[ex.Expr, ex.Cond]]) -> ex.Expr:
    """{ 1 if c, 0 otherwise } = [c], and { 0 if c, 1 otherwise } = [not c]."""
    if len(branches) == 2 and isinstance(branches[1][1], ex.Otherwise):
        (first, cond), (second, _) = branches
        if second is ex.ZERO:
            return ex.Mul((first, ex.Bracket(cond))) if first is not ex.ONE else ex.Bracket(cond)
        if first is ex.ZERO and isinstance(cond, ex.Rel) and len(cond.ops) == 1:
            negated = ex.Bracket(ex.rel(cond.terms[0], _OPPOSITE[cond.ops[0]], cond.terms[1]))
            return ex.Mul((second, negated)) if second is not ex.ONE else negated
    return ex.Cases(tuple(branches))


def deltas_apart(terms: list[Monomial]) -> list[Monomial]:
    """[(k, l) = (i, j)] is [k = i] [l = j] where each term has [l = j]: that is then a common factor."""
    single = set.intersection(*({e for a in m.powers for e in _equations(a)} for m in terms))
    if not single:
        return terms
    return [reduce(Monomial.product, map(monomial, [ex.Num(m.number), *(
        p for a, e in m.powers.items() for p in (_parted(a, single) if e is ex.ONE
                                                 else [ex.Pow(a, e)]))])) for m in terms]


def _equations(atom: ex.Expr) -> list[ex.Rel]:
    """The equations k = i, l = j that [(k, l) = (i, j)] says."""
    if not (isinstance(atom, ex.Bracket) and isinstance(atom.cond, ex.Rel) and atom.cond.ops == ("=",)):
        return []
    left, right = (ex.items(t) for t in atom.cond.terms)
    return [ex.eq(a, b) for a, b in zip(left, right, strict=True)] if len(left) == len(right) else []


def _parted(atom: ex.Expr, single: set[ex.Rel]) -> list[ex.Expr]:
    parts = _equations(atom)
    apart = [p for p in parts if p in single]
    rest = [p for p in parts if p not in single]
    if not apart or not rest:
        return [atom]
    joined = ex.eq(*(ex.tuple_of(side) for side in zip(*(p.terms for p in rest), strict=True)))
    return [ex.Bracket(joined), *map(ex.Bracket, apart)]


Compared = tuple[ex.Expr, str, Fraction]


def possible(claim: ex.Rel, module: Module) -> bool:
    """Whether x op c may hold, given what the facts say of x; True for any other relation."""
    for entry, op, bound in _comparisons(claim):
        facts = [(o, b) for fact in module.facts for e, o, b in _comparisons(fact) if _same(e, entry)]
        if any(_contradict(op, bound, o, b) for o, b in facts):
            return False
    return True


def _same(fact: ex.Expr, entry: ex.Expr) -> bool:
    """A fact about x_i is one about all of x."""
    return isinstance(fact, ex.Entry) and isinstance(entry, ex.Entry) and fact.tensor == entry.tensor


def _comparisons(claim: ex.Cond) -> Iterator[Compared]:
    """x op c for each neighbouring pair of an entry and a number."""
    if not isinstance(claim, ex.Rel):
        return
    for left, op, right in zip(claim.terms, claim.ops, claim.terms[1:], strict=False):
        if isinstance(left, ex.Entry) and isinstance(right, ex.Num):
            yield left, op, right.value
        elif isinstance(left, ex.Num) and isinstance(right, ex.Entry):
            yield right, ex.TURNED[op], left.value


def _contradict(op: str, c: Fraction, known: str, b: Fraction) -> bool:
    """No number x has both x op c and x known b."""
    if known == "≠":
        return op == "=" and c == b
    if op == "≠":
        return known == "=" and c == b
    below, above = _interval(op, c)
    low, high = _interval(known, b)
    bottom, top = max(below, low), min(above, high)
    return bottom > top


def _interval(op: str, c: Fraction) -> tuple[tuple[float, int], tuple[float, int]]:
    """Its ends; the second number tells an end that belongs to it from one that is only approached."""
    value = float(c)
    lower = (value, 1 if op == ">" else 0) if op in ("=", ">", "≥") else (-float("inf"), 0)
    upper = (value, -1 if op == "<" else 0) if op in ("=", "<", "≤") else (float("inf"), 0)
    return lower, upper
