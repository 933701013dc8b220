"""Sums and products of simplified parts: like terms, common factors, definitions folded back, multiplying out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

import derive.expr as ex
from derive.affine import Range
from derive.calculus.algebra import Monomial, dividing, has_value, key, monomial, size, smaller
from derive.calculus.brackets import deltas_apart
from derive.module import Module
from derive.records import dataclass


@dataclass(frozen=True)
class Fold:
    """Π pattern = replacement, for all values of the letters; ``once``: not for powers of it."""

    pattern: tuple[tuple[ex.Expr, Fraction], ...]
    letters: frozenset[ex.Idx]
    replacement: ex.Expr
    once: bool = False

    def apply(self, whole: Monomial) -> list[ex.Expr] | None:
        """The factors of the monomial with the pattern replaced; None where it does not occur."""
        for binding, used, r in dividing(self.pattern, whole, self.letters, {}):
            if len(binding) < len(self.letters):
                continue
            times = 1 if self.once and r > 0 else r
            if self.once and r < 0:
                continue
            mapping: dict[ex.Node, ex.Node] = dict[ex.Node, ex.Node](binding.items())
            rest = Monomial(whole.number, dict(whole.powers))
            for atom, (_, e) in zip(used, self.pattern, strict=True):
                rest.times(atom, ex.Num(-e * times))
            new = ex.subst(self.replacement, mapping)
            first = rest.split(used)  # what is left of the pattern stays where it was: y(1 − y) w
            return [first.expr(), ex.Pow(new, ex.Num(times)) if times != 1 else new, rest.without(used).expr()]
        return None


def folds_of(module: Module, simplify: Callable[[ex.Expr], ex.Expr]) -> Iterable[Fold]:
    """y's definition F_k read as F_k = y_k; of y = 1/(c + u) also u y = 1 − c y; and what the card states."""
    for equation in module.equations:
        entry, value = equation.terms
        if isinstance(entry, ex.Entry):
            yield from definition_folds(entry, simplify(value))
    for fact in module.facts:
        if isinstance(fact, ex.Rel) and fact.ops == ("=",):
            yield from fact_folds(fact, simplify)


def definition_folds(entry: ex.Entry, value: ex.Expr) -> Iterable[Fold]:
    letters = frozenset(i for i in entry.indices if isinstance(i, ex.Idx))
    whole = monomial(value)
    if size(value) <= size(entry) or any(isinstance(a, (ex.Cases, ex.Extremum)) for a in whole.powers):
        return
    pattern, scale = _pattern(whole)
    if pattern:
        yield Fold(pattern, letters, ex.mul(scale, entry))
    (atom, exponent), *others = whole.powers.items()
    if isinstance(atom, ex.Add) and exponent is ex.MINUS_ONE and not others and whole.number == 1:
        yield from _inverted(atom, entry, letters)


def _pattern(whole: Monomial) -> tuple[tuple[tuple[ex.Expr, Fraction], ...], ex.Expr]:
    """The atoms of a definition c·Π a^e that must be found, and what the rest divides y by."""
    sizes: dict[ex.Expr, ex.Expr] = {a: e for a, e in whole.powers.items() if isinstance(a, ex.Size)}
    atoms = [(a, e) for a, e in whole.powers.items() if a not in sizes]
    if not all(isinstance(e, ex.Num) for _, e in atoms):
        return (), ex.ONE
    scale = ex.Pow(Monomial(whole.number, sizes).expr(), ex.MINUS_ONE)
    plain = ex.ONE if whole.number == 1 and not sizes else monomial(scale).expr()
    return tuple((a, e.value) for a, e in atoms if isinstance(e, ex.Num)), plain


def _inverted(total: ex.Add, entry: ex.Entry, letters: frozenset[ex.Idx]) -> Iterable[Fold]:
    """y (c + u) = 1, so u y = 1 − c y."""
    numbers = [t for t in total.terms if isinstance(t, ex.Num)]
    rest = [t for t in total.terms if not isinstance(t, ex.Num)]
    if len(numbers) != 1 or len(rest) != 1:
        return
    u = monomial(rest[0])
    if not all(isinstance(e, ex.Num) for e in u.powers.values()):
        return
    pattern = ((entry, Fraction(1)), *((a, e.value) for a, e in u.powers.items() if isinstance(e, ex.Num)))
    value = ex.add(ex.ONE, ex.mul(ex.MINUS_ONE, numbers[0], entry))
    yield Fold(pattern, letters, ex.mul(ex.Num(1 / u.number), value), once=True)


def fact_folds(fact: ex.Rel, simplify: Callable[[ex.Expr], ex.Expr]) -> Iterable[Fold]:
    left, right = map(simplify, fact.terms)
    pattern, scale = _pattern(monomial(left))
    if pattern and size(right) < size(left):
        yield Fold(pattern, ex.free_indices(left), ex.mul(scale, right))


_MOST_TERMS = 64
_MOST_FACTORS = 8  # that are sums of a product which is tried multiplied out, or of a definition that is read back


class Arithmetic:
    """Where each index runs, which definitions may be folded back, and which sums were seen."""

    def __init__(self, module: Module, ranges: dict[ex.Idx, Range], folds: tuple[Fold, ...],
                 known: dict[object, ex.Expr]) -> None:
        self.module, self.ranges, self.known = module, ranges, known
        self.folds = tuple(f for f in folds if len(f.pattern) <= _MOST_FACTORS)
        self.done: dict[ex.Expr, ex.Expr] = {}

    # --- sums of terms ------------------------------------------------------

    def sum_of(self, terms: Iterable[ex.Expr]) -> ex.Expr:
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
            return self.product([found[0].expr()]) if found else ex.ZERO
        found = deltas_apart(sorted(found, key=lambda m: m.number < 0))
        whole = self.as_known(found)
        common = self.common(found)
        if common is None:
            best = self.product([whole]) if isinstance(whole, ex.Add) else whole
            expanded = self.multiplied_out(found)
            return best if expanded is None else smaller(best, expanded)
        inner = self.sum_of([over(m, common).expr() for m in found])
        return smaller(whole, self.folded(common.product(monomial(inner))).expr())

    def multiplied_out(self, terms: list[Monomial]) -> ex.Expr | None:
        """The sum with all products of sums multiplied out, if that makes terms cancel."""
        if not any(self.meets(a, [b for other in terms for b in other.powers if b is not a])
                   for m in terms for a in _sums(m)):
            return None
        parts = [self.multiplied(m, tuple(_sums(m))) for m in terms]
        if any(p is None for p in parts) or sum(len(p or ()) for p in parts) > _MOST_TERMS:
            return None
        return self.sum_of([self.folded(m).expr() for p in parts for m in p or ()])

    def flat(self, terms: Iterable[ex.Expr]) -> Iterable[Monomial]:
        for term in terms:
            m = monomial(term)
            inner = next(iter(m.powers), None)
            if len(m.powers) == 1 and isinstance(inner, ex.Add) and m.powers[inner] is ex.ONE:
                for part in self.flat(inner.terms):
                    yield Monomial(part.number * m.number, part.powers)
            elif m.number:
                yield m

    def as_known(self, terms: list[Monomial]) -> ex.Expr:
        """The sum, with order and sign as where it was met first."""
        node = ex.Add(tuple(m.expr() for m in terms))
        if key(node) in self.known:
            return self.known[key(node)]
        negated = ex.Add(tuple(Monomial(-m.number, m.powers).expr() for m in terms))
        if key(negated) in self.known:
            return ex.Mul((ex.MINUS_ONE, self.known[key(negated)]))
        if all(m.number < 0 for m in terms):
            self.known[key(negated)] = negated
            return ex.Mul((ex.MINUS_ONE, negated))
        self.known[key(node)] = node
        return node

    def common(self, terms: list[Monomial], guarded: bool = False) -> Monomial | None:
        """The factors that all terms share.

        Where brackets guard every term, only those that have a value everywhere: what a
        false bracket removes may not exist.
        """
        found = Monomial(_content([m.number for m in terms]))
        guarded = guarded or all(any(isinstance(a, (ex.Bracket, ex.Cases)) for a in m.powers) for m in terms)
        for atom, exponent in terms[0].powers.items():
            if guarded and not isinstance(atom, (ex.Bracket, ex.Cases)) and not has_value(atom, exponent):
                continue
            others = [m.powers.get(atom) for m in terms]
            values = [e.value for e in others if isinstance(e, ex.Num)]
            if len(values) == len(terms) and (min(values) > 0 or max(values) < 0):
                below = isinstance(atom, ex.Entry) and max(values) < 0  # a letter's whole powers: one denominator
                found.powers[atom] = ex.Num((max if below else min)(values, key=abs))
            elif all(e is exponent for e in others):
                found.powers[atom] = exponent
        return found if found.powers or found.number != 1 else None

    # --- products -----------------------------------------------------------

    def product(self, factors: Iterable[ex.Expr]) -> ex.Expr:
        """Powers gathered, definitions folded back, multiplied out where that is shorter."""
        whole = Monomial()
        for factor in factors:
            whole = whole.product(monomial(factor))
        if whole.number == 0:
            return ex.ZERO
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

    def expansions(self, whole: Monomial) -> Iterable[ex.Expr]:
        sums = _sums(whole)
        if len(whole.powers) == 1 or len(sums) > _MOST_FACTORS:
            return
        sums = [a for a in sums if self.meets(a, [b for b in whole.powers if b is not a])]
        choices = [(s,) for s in sums] + ([tuple(sums)] if len(sums) > 1 else [])
        for chosen in choices:
            terms = self.multiplied(whole, chosen)
            if terms is not None:
                yield self.sum_of([self.folded(m).expr() for m in terms])

    def meets(self, inner: ex.Add, others: list[ex.Expr]) -> bool:
        """A term of the sum has something in common with the other factors, that may cancel or fold."""
        own = {a for t in inner.terms for a in monomial(t).powers}
        rest = set(others).union(*(monomial(t).powers for o in others if isinstance(o, ex.Add) for t in o.terms))
        if own & rest:
            return True
        types, other_types = set(map(type, own)), set(map(type, rest))
        return any(len(f.pattern) > 1 and {type(a) for a, _ in f.pattern} & types
                   and {type(a) for a, _ in f.pattern} & other_types for f in self.folds)

    def multiplied(self, whole: Monomial, sums: tuple[ex.Add, ...]) -> list[Monomial] | None:
        """The terms of a product with some of its sums multiplied out; None if there are too many."""
        found = [whole.without(sums)]
        for inner in sums:
            found = [m.product(monomial(t)) for m in found for t in inner.terms]
            if len(found) > _MOST_TERMS:
                return None
        return found


def _sums(m: Monomial) -> list[ex.Add]:
    """The factors that are sums."""
    return [a for a, e in m.powers.items() if isinstance(a, ex.Add) and e is ex.ONE]


_FINE = 1000  # a denominator that nobody writes


def _content(numbers: list[Fraction]) -> Fraction:
    """The largest number that divides all, negative if all are; of decimals such as 0.044715 none is taken out."""
    top = reduce(gcd, (n.numerator for n in numbers))
    bottom = reduce(lcm, (n.denominator for n in numbers))
    if bottom > _FINE:
        return Fraction(-1 if all(n < 0 for n in numbers) else 1)
    return Fraction(-top if all(n < 0 for n in numbers) else top, bottom)


def over(m: Monomial, common: Monomial) -> Monomial:
    """m / common, a common bracket dropped."""
    found = Monomial(m.number / common.number, dict(m.powers))
    for atom, exponent in common.powers.items():
        if isinstance(atom, ex.Bracket):
            found.powers.pop(atom)
        else:
            found.times(atom, ex.Num(-exponent.value) if isinstance(exponent, ex.Num)
                        else ex.Mul((ex.MINUS_ONE, exponent)))
            if not isinstance(exponent, ex.Num):
                found.powers.pop(atom, None)
    return found
