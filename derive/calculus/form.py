"""Towards the lecturer's form: like terms, common factors, definitions folded back, sums contracted.

Every rewriting is an identity; of two forms the one that is less to read is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from math import gcd, lcm

from derive.calculus.affine import Affine, Range
from derive.calculus.algebra import Monomial, key, monomial, size, smaller
from derive.calculus.contract import total
from derive.calculus.folding import Fold, folds_of
from derive.calculus.ranges import binder_of, conditions, joint, ranges_of
from derive.expr import (
    MINUS_ONE,
    ONE,
    ZERO,
    Add,
    Bracket,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Mul,
    Num,
    Otherwise,
    Pow,
    Reduce,
    Rel,
    Tuple,
    eq,
    open_binder,
    rel,
    tuple_of,
    walk,
)
from derive.module import Module

_MOST_TERMS = 64
_OPPOSITE = {"<": "≥", "≥": "<", ">": "≤", "≤": ">", "=": "≠", "≠": "="}


def simplified(node: Expr, ranges: Mapping[Idx, Range], module: Module) -> Expr:
    """The node in the lecturer's form; ``ranges`` of its free indices."""
    folds, known = _definitions(module)
    return Form(module, dict(ranges), folds, dict(known))(node)


@lru_cache(maxsize=64)
def _definitions(module: Module) -> tuple[tuple[Fold, ...], dict[object, Expr]]:
    """The module's definitions as folds, and the sums that they contain."""
    form = Form(module, {}, (), {})
    found: list[Fold] = []
    for fold in folds_of(module, form):
        found.append(fold)
    return tuple(found), form.known


class Form:
    """One simplification: where each index runs, which definitions may be folded back, which sums were seen."""

    def __init__(self, module: Module, ranges: dict[Idx, Range], folds: tuple[Fold, ...],
                 known: dict[object, Expr]) -> None:
        self.module, self.ranges, self.folds, self.known = module, ranges, folds, known
        self.done: dict[Expr, Expr] = {}

    def __call__(self, node: Expr) -> Expr:
        found = self.done.get(node)
        if found is None:
            found = self.done[node] = self.simplify(node)
        return found

    def simplify(self, node: Expr) -> Expr:
        match node:
            case Add(terms):
                return self.sum_of(map(self, terms))
            case Mul(factors):
                return self.product(map(self, factors))
            case Pow(base, exponent):
                return self.product([Pow(self(base), self(exponent))])
            case Fn(name, args):
                return self.function(name, tuple(map(self, args)))
            case Extremum(op, args):
                return Extremum(op, tuple(map(self, args)))
            case Cases(branches):
                return self.cases([(self(value), cond) for value, cond in branches])
            case Bracket(cond):
                return self.bracket(cond)
            case Entry(tensor, indices):
                return Entry(tensor, tuple(map(tidy, indices)))
            case Reduce():
                return self.reduction(node)
        return node

    def function(self, name: str, args: tuple[Expr, ...]) -> Expr:
        if name == "sqrt":
            return self.product([Pow(args[0], Num(Fraction(1, 2)))])
        if name == "exp" and args[0] is ZERO:
            return ONE
        if name == "log" and (args[0] is ONE or (isinstance(args[0], Fn) and args[0].name == "exp")):
            return ZERO if args[0] is ONE else args[0].args[0]  # type: ignore[attr-defined]
        return self.product([Fn(name, args)])

    # --- sums of terms ------------------------------------------------------

    def sum_of(self, terms: Iterable[Expr]) -> Expr:
        """Like terms collected, and a common factor in front where that is shorter."""
        gathered: dict[object, Monomial] = {}
        for m in self.flat(terms):
            same = frozenset((key(a), key(e)) for a, e in m.powers.items())
            if same in gathered:
                gathered[same].number += m.number
            else:
                gathered[same] = m
        found = [m for m in gathered.values() if m.number]
        if len(found) < 2:
            return self.product([found[0].expr()]) if found else ZERO
        found.sort(key=lambda m: m.number < 0)
        whole = self.as_known(found)
        common = self.common(found)
        if common is None:
            best = self.product([whole]) if isinstance(whole, Add) else whole
            expanded = self.multiplied_out(found)
            return best if expanded is None else smaller(best, expanded)
        inner = self.sum_of([_over(m, common).expr() for m in found])
        return smaller(whole, self.folded(common.product(monomial(inner))).expr())

    def multiplied_out(self, terms: list[Monomial]) -> Expr | None:
        """The sum with all products of sums multiplied out, if that makes terms cancel."""
        if not any(self.meets(a, [b for other in terms for b in other.powers if b is not a])
                   for m in terms for a in _sums(m)):
            return None
        parts = [self.multiplied(m, tuple(_sums(m))) for m in terms]
        if any(p is None for p in parts) or sum(len(p or ()) for p in parts) > _MOST_TERMS:
            return None
        return self.sum_of([self.folded(m).expr() for p in parts for m in p or ()])

    def flat(self, terms: Iterable[Expr]) -> Iterable[Monomial]:
        for term in terms:
            m = monomial(term)
            inner = next(iter(m.powers), None)
            if len(m.powers) == 1 and isinstance(inner, Add) and m.powers[inner] is ONE:
                for part in self.flat(inner.terms):
                    yield Monomial(part.number * m.number, part.powers)
            elif m.number:
                yield m

    def as_known(self, terms: list[Monomial]) -> Expr:
        """The sum, with order and sign as where it was met first."""
        node = Add(tuple(m.expr() for m in terms))
        if key(node) in self.known:
            return self.known[key(node)]
        negated = Add(tuple(Monomial(-m.number, m.powers).expr() for m in terms))
        if key(negated) in self.known:
            return Mul((MINUS_ONE, self.known[key(negated)]))
        if all(m.number < 0 for m in terms):
            self.known[key(negated)] = negated
            return Mul((MINUS_ONE, negated))
        self.known[key(node)] = node
        return node

    def common(self, terms: list[Monomial]) -> Monomial | None:
        """The factors that all terms share."""
        found = Monomial(_content([m.number for m in terms]))
        for atom, exponent in terms[0].powers.items():
            others = [m.powers.get(atom) for m in terms]
            values = [e.value for e in others if isinstance(e, Num)]
            if len(values) == len(terms) and (min(values) > 0 or max(values) < 0):
                found.powers[atom] = Num(min(values))
            elif all(e is exponent for e in others):
                found.powers[atom] = exponent
        return found if found.powers or found.number != 1 else None

    # --- products -----------------------------------------------------------

    def product(self, factors: Iterable[Expr]) -> Expr:
        """Powers gathered, definitions folded back, multiplied out where that is shorter."""
        whole = Monomial()
        for factor in factors:
            whole = whole.product(monomial(factor))
        if whole.number == 0:
            return ZERO
        whole = self.folded(whole)
        best = whole.expr()
        for candidate in self.expansions(whole):
            best = smaller(best, candidate)
        return best

    def folded(self, whole: Monomial) -> Monomial:
        """Definitions read from right to left, as long as that is shorter."""
        again = bool(whole.powers)
        while again:
            again = False
            for fold in self.folds:
                factors = fold.apply(whole)
                if factors is None:
                    continue
                new = reduce(Monomial.product, map(monomial, factors))
                if size(new.expr()) < size(whole.expr()):
                    whole, again = new, bool(new.powers)
        return whole

    def expansions(self, whole: Monomial) -> Iterable[Expr]:
        sums = [a for a in _sums(whole) if self.meets(a, [b for b in whole.powers if b is not a])]
        if len(whole.powers) == 1:
            return
        choices = [(s,) for s in sums] + ([tuple(sums)] if len(sums) > 1 else [])
        for chosen in choices:
            terms = self.multiplied(whole, chosen)
            if terms is not None:
                yield self.sum_of([self.folded(m).expr() for m in terms])

    def meets(self, inner: Add, others: list[Expr]) -> bool:
        """A term of the sum has something in common with the other factors, that may cancel or fold."""
        own = {a for t in inner.terms for a in monomial(t).powers}
        rest = set(others).union(*(monomial(t).powers for o in others if isinstance(o, Add) for t in o.terms))
        if own & rest:
            return True
        types, other_types = set(map(type, own)), set(map(type, rest))
        return any(len(f.pattern) > 1 and {type(a) for a, _ in f.pattern} & types
                   and {type(a) for a, _ in f.pattern} & other_types for f in self.folds)

    def multiplied(self, whole: Monomial, sums: tuple[Add, ...]) -> list[Monomial] | None:
        """The terms of a product with some of its sums multiplied out; None if there are too many."""
        found = [whole.without(sums)]
        for inner in sums:
            found = [m.product(monomial(t)) for m in found for t in inner.terms]
            if len(found) > _MOST_TERMS:
                return None
        return found

    # --- cases --------------------------------------------------------------

    def cases(self, branches: list[tuple[Expr, Cond]]) -> Expr:
        """Equal branches joined, common factors in front; { v if c, 0 otherwise } is v [c]."""
        while len(branches) > 1 and isinstance(branches[-1][1], Otherwise) and branches[-2][0] is branches[-1][0]:
            branches = [*branches[:-2], branches[-1]]
        values = [v for v, _ in branches]
        complete = isinstance(branches[-1][1], Otherwise)
        if complete and len(values) == 1:
            return values[0]
        if all(v is ZERO for v in values):
            return ZERO
        front = self.common([monomial(v) for v in values if v is not ZERO]) or Monomial()
        front.number = Fraction(-1 if front.number < 0 else 1)
        rests = [ZERO if v is ZERO else _over(monomial(v), front).expr() for v in values]
        rest = _as_bracket([(r, c) for r, (_, c) in zip(rests, branches, strict=True)])
        return self.product([front.expr(), rest])

    def bracket(self, cond: Cond) -> Expr:
        """[c], less what holds always; 0 where c never holds."""
        left: list[Cond] = []
        for part in conditions(cond):
            if isinstance(part, Rel):
                found = self.relation(part)
                if found is False:
                    return ZERO
                left += [] if found is True else [found]
            elif not isinstance(part, Otherwise):
                left.append(part)
        whole = joint(tuple(left))
        return ONE if whole is None else Bracket(whole)

    def relation(self, part: Rel) -> Rel | bool:
        """A relation of indices without what the ranges give already; True or False where that decides it."""
        terms = [Tuple(tuple(map(tidy, t.items))) if isinstance(t, Tuple) else tidy(t) for t in part.terms]
        if part.ops == ("=",):
            return _equation(*terms)
        if any(isinstance(n, (Entry, Tuple)) for n in walk(part)):
            return Rel(tuple(terms), part.ops)
        links = list(zip(terms, part.ops, terms[1:], strict=False))
        while links and _holds(*links[0], self.ranges):
            links.pop(0)
        while links and _holds(*links[-1], self.ranges):
            links.pop()
        return Rel((links[0][0], *(link[2] for link in links)), tuple(link[1] for link in links)) if links else True

    # --- reductions ---------------------------------------------------------

    def reduction(self, node: Reduce) -> Expr:
        binder, body = open_binder(node)
        if not all(isinstance(v, Idx) for v in binder.variables):
            return node
        self.ranges |= ranges_of(binder, body, self.module)
        body = self(body)
        if node.op == "sum":
            return total(self, binder.variables, conditions(binder.cond), body)
        return self.closed(node.op, binder.variables, conditions(binder.cond), body)

    def closed(self, op: str, variables: tuple[Idx, ...], conds: tuple[Cond, ...], body: Expr) -> Expr:
        binder = binder_of(variables, self.ranges, conds, body, self.module)
        node = Reduce(op, binder, body)
        return self.folded(monomial(self.known.setdefault(key(node), node))).expr()


def _sums(m: Monomial) -> list[Add]:
    """The factors that are sums."""
    return [a for a, e in m.powers.items() if isinstance(a, Add) and e is ONE]


def _content(numbers: list[Fraction]) -> Fraction:
    """The largest number that divides all, negative if all are."""
    top = reduce(gcd, (n.numerator for n in numbers))
    bottom = reduce(lcm, (n.denominator for n in numbers))
    return Fraction(-top if all(n < 0 for n in numbers) else top, bottom)


def _over(m: Monomial, common: Monomial) -> Monomial:
    found = Monomial(m.number / common.number, dict(m.powers))
    for atom, exponent in common.powers.items():
        if isinstance(atom, Bracket):
            found.powers.pop(atom)
        else:
            found.times(atom, Num(-exponent.value) if isinstance(exponent, Num) else Mul((MINUS_ONE, exponent)))
            if not isinstance(exponent, Num):
                found.powers.pop(atom, None)
    return found


def _as_bracket(branches: list[tuple[Expr, Cond]]) -> Expr:
    """{ 1 if c, 0 otherwise } = [c], and { 0 if c, 1 otherwise } = [not c]."""
    if len(branches) == 2 and isinstance(branches[1][1], Otherwise):
        (first, cond), (second, _) = branches
        if second is ZERO:
            return Mul((first, Bracket(cond))) if first is not ONE else Bracket(cond)
        if first is ZERO and isinstance(cond, Rel) and len(cond.ops) == 1:
            negated = Bracket(rel(cond.terms[0], _OPPOSITE[cond.ops[0]], cond.terms[1]))
            return Mul((second, negated)) if second is not ONE else negated
    return Cases(tuple(branches))


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


def _holds(left: Expr, op: str, right: Expr, ranges: dict[Idx, Range]) -> bool:
    """left op right follows from the ranges of the letters."""
    low, high = (left, right) if op in "<≤" else (right, left)
    gap = Affine.of(high).plus(Affine.of(low), Fraction(-1))
    if op in "<>":
        gap = gap.plus(Affine.of(ONE), Fraction(-1))
    least = gap.end(ranges, top=False)
    return op in "<≤>≥" and least is not None and least.never_negative
