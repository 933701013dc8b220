"""Where the branches of max(u, v), of |u| and of cases meet, and boundaries written as x = e."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations

import derive.expr as ex
from derive.calculus.algebra import Monomial, monomial
from derive.functions import known
from derive.records import dataclass


@dataclass(frozen=True)
class Border:
    """Where gap = 0 two branches meet: ``above`` holds where gap > 0, ``below`` where gap < 0.

    ``chosen`` has the slope that the formulas take there: of a named function its value plus slope times argument,
    as sign(0) = 0; None of a pair, where that depends on the letter.
    """

    gap: ex.Expr
    above: ex.Expr
    below: ex.Expr
    chosen: ex.Expr | None
    stated: ex.Rel | None = None
    told: bool = True  # which branch holds beyond it


def borders(node: ex.Expr, simple: Callable[[ex.Expr], ex.Expr]) -> Iterator[Border]:
    """Where the branches of a node meet; ``simple`` brings an expression to its lecturer's form."""
    match node:
        case ex.Fn(name, (inner,)):
            for corner in named.corners if (named := known(name)) is not None else ():
                gap = ex.sub(inner, corner.at)
                yield Border(gap, *corner.sides(inner), ex.add(ex.Fn(name, (corner.at,)), ex.mul(corner.chosen, gap)))
        case ex.Extremum(op, args):
            for u, v in combinations(args, 2):
                stated = ex.eq(v, u) if u is ex.ZERO else ex.eq(u, v) if v is ex.ZERO else None
                yield Border(ex.sub(u, v), *((u, v) if op == "max" else (v, u)), None, stated)
        case ex.Cases(branches):
            yield from _Branches(branches, simple).borders()
        case ex.Bracket(cond):
            yield from _Branches(((ex.ONE, cond), (ex.ZERO, ex.OTHERWISE)), simple).borders()


@dataclass(frozen=True)
class _Branches:
    """Cases of which the first that holds counts."""

    branches: tuple[tuple[ex.Expr, ex.Cond], ...]
    simple: Callable[[ex.Expr], ex.Expr]

    def borders(self) -> Iterator[Border]:
        """For each comparison l < r of a branch, the branch that holds where it just fails.

        A branch that holds on the boundary alone, l = r, has no slope of its own: nothing is told there.
        """
        seen: set[tuple[frozenset[int], frozenset[ex.Expr]]] = set()
        for place, (value, cond) in enumerate(self.branches):
            for n, left, op, right in _comparisons(cond):
                gap = ex.sub(left, right)
                if op in "=≠":
                    point, side = self.where(gap, 0), self.where(gap, 1)
                    if point is None or side is None or point == side or self.where(gap, -1) != side:
                        continue
                    key = frozenset((point, side)), frozenset((self.simple(gap), self.simple(ex.sub(right, left))))
                    if key not in seen:
                        seen.add(key)
                        beside = self.branches[side][0]
                        yield Border(gap, beside, beside, self.branches[point][0], ex.eq(left, right), told=False)
                    continue
                near = self.where(gap, -1 if op in "<≤" else 1)
                far = self.where(gap, 1 if op in "<≤" else -1)
                if near not in (place, None) or far == place or (far is None and place + 1 == len(self.branches)):
                    continue
                other = place + 1 if far is None else far
                key = frozenset((place, other)), frozenset((self.simple(gap), self.simple(ex.sub(right, left))))
                if key not in seen:
                    seen.add(key)
                    on = self.where(gap, 0)
                    inside = op in "≤≥" if on not in (place, other) else on == place
                    here, beyond = value, self.branches[other][0]
                    above, below = (beyond, here) if op in "<≤" else (here, beyond)
                    yield Border(gap, above, below, here if inside else beyond,
                                 ex.eq(right, left) if n else ex.eq(left, right),
                                 on in (place, other) and (far is not None or len(self.branches) == 2))

    def where(self, gap: ex.Expr, sign: int) -> int | None:
        """The branch that holds just where the gap, 0 on a boundary, has this sign; None where that cannot be told."""
        for place, (_, cond) in enumerate(self.branches):
            holds = self.holds(cond, gap, sign)
            if holds is not False:
                return None if holds is None else place
        return None

    def holds(self, cond: ex.Cond, gap: ex.Expr, sign: int) -> bool | None:
        if isinstance(cond, ex.Otherwise):
            return True
        told = [self.compared(left, op, right, gap, sign) for _, left, op, right in _comparisons(cond)]
        if False in told:
            return False
        return None if None in told or not told else True

    def compared(self, left: ex.Expr, op: str, right: ex.Expr, gap: ex.Expr, sign: int) -> bool | None:
        """Whether left op right near the boundary: left − right is ±gap and a number."""
        for turn in (1, -1):
            rest = self.simple(ex.add(ex.sub(left, right), ex.mul(ex.Num(-turn), gap)))
            if isinstance(rest, ex.Num):
                difference = rest.value or turn * sign
                return ex.HOLDS[op](difference, 0)
        return None


def unclipped(gap: ex.Expr) -> tuple[ex.Expr, int] | None:
    """What is 0 where min(c, u) − k is: u − k for k < c; None where that is never so.  Likewise for max.

    With it ±1, the sign that the gap has beside 0 where that is positive.
    """
    whole = monomial(gap)
    (bare, power), = whole.powers.items() if len(whole.powers) == 1 else ((gap, ex.ONE),)
    bare, front = (bare, whole.number) if power is ex.ONE and bare is not gap else (gap, Fraction(1))
    terms = bare.terms if isinstance(bare, ex.Add) else (bare,)
    inner = [t for t in terms if not isinstance(t, ex.Num)]
    signed = monomial(inner[0]) if len(inner) == 1 else None
    if signed is None or abs(signed.number) != 1 or len(signed.powers) != 1:
        return gap, 1
    (extremum, exponent), = signed.powers.items()
    if not isinstance(extremum, ex.Extremum) or len(extremum.args) != 2 or exponent is not ex.ONE:
        return gap, 1
    numbers = [a for a in extremum.args if isinstance(a, ex.Num)]
    others = [a for a in extremum.args if not isinstance(a, ex.Num)]
    if len(numbers) != 1:
        return gap, 1
    level = -sum(t.value for t in terms if isinstance(t, ex.Num)) / signed.number
    if numbers[0].value == level:
        return gap, 1  # wherever u lies beyond
    reached = numbers[0].value > level if extremum.op == "min" else numbers[0].value < level
    return (ex.sub(others[0], ex.Num(level)), 1 if front * signed.number > 0 else -1) if reached else None


def crossed(gap: ex.Expr, simple: Callable[[ex.Expr], ex.Expr]) -> tuple[int, dict[ex.Expr, ex.Expr]]:
    """The gap's sign and factors, as ± Π u^e: e^u − 1 counts as u, which has its sign."""
    whole = monomial(simple(gap))
    found, sign = Monomial(), 1 if whole.number > 0 else -1
    for atom, exponent in whole.powers.items():
        inner = _exponent(atom)
        if inner is None:
            found.times(atom, exponent)
            continue
        turn, factors = crossed(inner[1], simple)
        odd = isinstance(exponent, ex.Num) and exponent.value % 2 == 1
        sign *= turn * inner[0] if odd else 1
        for factor, power in factors.items():
            found.times(factor, ex.mul(power, exponent))
    return sign, found.powers


def _exponent(atom: ex.Expr) -> tuple[int, ex.Expr] | None:
    """(±1, u) where the atom is a multiple of ±(e^u − 1)."""
    if not (isinstance(atom, ex.Add) and len(atom.terms) == 2):
        return None
    for mine, other in (atom.terms, atom.terms[::-1]):
        m = monomial(mine)
        (power, exponent), = m.powers.items() if len(m.powers) == 1 else ((ex.ONE, ex.ZERO),)
        if isinstance(power, ex.Fn) and power.name == "exp" and exponent is ex.ONE and other == ex.Num(-m.number):
            return (1 if m.number > 0 else -1), power.args[0]
    return None


def _comparisons(cond: ex.Cond) -> Iterator[tuple[int, ex.Expr, str, ex.Expr]]:
    """l op r of each comparison of values that a condition says; and 1 where l begins a chain l < s < r."""
    if isinstance(cond, ex.And):
        for part in cond.conds:
            yield from _comparisons(part)
    elif isinstance(cond, ex.Rel):
        for place, (left, op, right) in enumerate(zip(cond.terms, cond.ops, cond.terms[1:], strict=False)):
            if op in "<≤>≥" or any(isinstance(n, ex.Entry) for side in (left, right) for n in ex.walk(side)):
                yield int(place == 0 and len(cond.ops) > 1), left, op, right


def solve(part: ex.Expr) -> tuple[ex.Entry, ex.Expr] | None:
    """(x, e) where part = 0 says x = e, for an entry x that stands in one term, times a number."""
    terms = part.terms if isinstance(part, ex.Add) else (part,)
    for n, term in enumerate(terms):
        m = monomial(term)
        if len(m.powers) != 1:
            continue
        (atom, exponent), = m.powers.items()
        rest = [t for k, t in enumerate(terms) if k != n]
        if isinstance(atom, ex.Entry) and exponent is ex.ONE and not any(atom in ex.walk(t) for t in rest):
            return atom, ex.mul(ex.Num(-1 / m.number), ex.add(*rest)) if rest else ex.ZERO
    return None


def zero(part: ex.Expr) -> ex.Rel:
    """part = 0, as x = e where it is that simple."""
    return compared(part, "=")


def compared(part: ex.Expr, op: str) -> ex.Rel:
    """part op 0, as x op e where part is x − e or e − x."""
    terms = part.terms if isinstance(part, ex.Add) else (part,)
    if len(terms) == 2:
        for mine, other in (terms, terms[::-1]):
            m = monomial(mine)
            atom = next(iter(m.powers), None)
            simple = abs(m.number) in (1, abs(monomial(other).number)) or isinstance(other, ex.Num)
            if isinstance(atom, ex.Entry) and list(m.powers.values()) == [ex.ONE] and simple:
                return ex.rel(atom, op if m.number > 0 else ex.TURNED[op],
                              monomial(ex.mul(ex.Num(-1 / m.number), other)).expr())
    return ex.rel(part, op, ex.ZERO)
