"""Numbers of a piecewise statement: Σ g · p, polynomials p that count where their guards g hold.

A guard says of polynomials which signs they have.  What is known to be equal is equal as it stands;
the rest is a Z3 term, in which each monomial is a number of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import z3

from derive.errors import UnsupportedError
from derive.expr import HOLDS
from derive.functions import elementary
from derive.numeric.arithmetic import EXACT, Arithmetic, Calculating
from derive.ring import Poly
from derive.verify.provers.algebra import Algebra, TooLarge
from derive.verify.provers.smt import Terms, context, every, number, opposite, related, some, total, when

MOST_PARTS = 400  # of one number
_CASES = 8  # of a number that is taken apart; where an argument has more, a letter stands for it
Signs = frozenset[int]
Atom = tuple[Any, Signs]  # the sign of a polynomial is one of these; of a Z3 condition's number, 1 where it holds
Guard = frozenset[Atom]
Truth = bool | Guard
Cases = list[tuple[Guard, Poly]]
SIGNS = {">": frozenset((1,)), "≥": frozenset((0, 1)), "=": frozenset((0,)), "≠": frozenset((-1, 1)),
         "<": frozenset((-1,)), "≤": frozenset((-1, 0))}
_OPS = {signs: op for op, signs in SIGNS.items()}
_ALL = frozenset((-1, 0, 1))
ALWAYS: Guard = frozenset()


def both(a: Guard, b: Guard) -> Guard | None:
    """a ∧ b; None where a sign contradicts another."""
    if not a or not b or a == b:
        return a or b
    found = dict(a)
    for what, signs in b:
        found[what] = found.get(what, _ALL) & signs
        if not found[what]:
            return None
    return frozenset(found.items())


def conjunction(truths: Iterable[Truth]) -> Truth:
    found: dict[Any, Signs] = {}
    for truth in truths:
        if truth is False:
            return False
        for what, signs in () if truth is True else truth:
            found[what] = signs = found[what] & signs if what in found else signs
            if not signs:
                return False
    return frozenset(found.items()) or True


class Guarded(Calculating):
    """Σ over its parts: a polynomial where its guard holds."""

    __slots__ = ("parts", "within")

    def __init__(self, parts: Mapping[Guard, Poly], within: Space) -> None:
        if len(parts) > MOST_PARTS:
            raise TooLarge("too many cases for a proof")
        self.parts, self.within = parts, within

    @property
    def alone(self) -> Poly | None:
        """The one polynomial that it is everywhere, as most are; None of 0 too."""
        return self.parts.get(ALWAYS) if len(self.parts) == 1 else None

    def __add__(self, other: Any) -> Guarded:
        right = self.within.lift(other)
        if not right.parts or not self.parts:
            return self if self.parts else right
        if (p := self.alone) is not None and (q := right.alone) is not None:
            return self.within.of(p + q)
        return self.within.gathered((*self.parts.items(), *right.parts.items()))

    def __neg__(self) -> Guarded:
        return Guarded({g: -p for g, p in self.parts.items()}, self.within)

    def __mul__(self, other: Any) -> Guarded:
        right, times = self.within.lift(other), self.within.algebra.times
        if (a := self.alone) is not None and (b := right.alone) is not None:
            return self.within.of(times(a, b))
        return self.within.gathered((guard, times(p, q)) for g, p in self.parts.items()
                                    for h, q in right.parts.items() if (guard := both(g, h)) is not None)

    def where(self, guard: Guard) -> Guarded:
        """The number where the guard holds, else 0."""
        found = ((both(g, guard), p) for g, p in self.parts.items())
        return self.within.gathered((g, p) for g, p in found if g is not None)


class Choice:
    """One of the indices of a place that depends on the values: of its alternatives exactly one holds."""

    def __init__(self, alternatives: Mapping[tuple[int, ...], Guard], component: int) -> None:
        self.alternatives, self.component = alternatives, component

    def __eq__(self, other: object) -> bool:
        raise unsupported("an index that depends on the values, as a number")

    __hash__ = object.__hash__


class Space:
    """Where such numbers live: the algebra, Z3's terms, and what holds of the letters made on the way."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra, self.terms = algebra, Terms(algebra)
        self.axioms: list[Any] = []
        self.narrowed = False  # an axiom says something of the inputs, not of letters alone
        self._conditions: dict[int, Any] = {}  # Z3's number of a condition → the condition
        self._truths: dict[Guard, Any] = {}
        self._signed: dict[Poly, Poly] = {}
        self._made = 0
        self._extrema: dict[Any, Guarded] = {}
        self._numbers: dict[Any, Guarded] = {}
        self._plain: dict[Any, Poly] = {}  # the letters of numbers with cases
        self.kind = Arithmetic(lambda v: v, lambda a, b: a * self.power(b, -1), self.power, {
            **{f.name: self._applied(partial(algebra.function, f.name)) for f in elementary()},
            "exp": self._applied(algebra.exp), "log": self._applied(algebra.log),
            "sqrt": self._applied(lambda p: algebra.root(p, 2)), "abs": lambda x: self.extremum("max", [x, -x]),
            "sign": self.sign, "pi": lambda: self.of(algebra.function("pi", algebra.number(0)))})

    def of(self, poly: Poly) -> Guarded:
        return Guarded({ALWAYS: poly} if len(poly) else {}, self)

    def gathered(self, parts: Iterable[tuple[Guard, Poly]]) -> Guarded:
        """The sum of parts; those of one guard are one."""
        found: dict[Guard, Poly] = {}
        for guard, poly in parts:
            found[guard] = found[guard] + poly if guard in found else poly
        return Guarded({g: p for g, p in found.items() if len(p)}, self)

    def lift(self, value: Any) -> Guarded:
        if isinstance(value, Guarded):
            return value
        if value not in self._numbers:
            self._numbers[value] = self.of(self.algebra.number(Fraction(value)))
        return self._numbers[value]

    def plain(self, value: Any) -> Poly:
        """A number as one polynomial, by a letter that stands for it where it has cases."""
        value = self.lift(value)
        if not value.parts.keys() - {ALWAYS}:
            return value.parts.get(ALWAYS, self.algebra.number(0))
        key = frozenset(value.parts.items())
        if key not in self._plain:
            self._plain[key] = self.fresh()
            self.axioms.append(related(self.terms.of(self._plain[key]), "=", self.real(value)))
        return self._plain[key]

    def fresh(self) -> Poly:
        """A letter that nothing else is said of yet."""
        self._made += 1
        return self.algebra.entry(("made", self._made))

    # operations

    def power(self, base: Any, exponent: Any) -> Any:
        if not isinstance(base, Guarded) and not isinstance(exponent, Guarded) and Fraction(exponent).denominator == 1:
            return EXACT.power(base, exponent)
        power = self.plain(exponent)
        found = self._applied(lambda p: self.algebra.power(p, power))(base)
        if exponent == -1 and found.parts.keys() == {ALWAYS} != base.parts.keys():  # of a letter: Σ g p w = 1
            self.take(related(self.real(base * found), "=", number(1)))
        return found

    def take(self, condition: Any) -> None:
        """From here on it is taken that the inputs fulfil a condition."""
        self.axioms.append(condition)
        self.narrowed = True

    def _applied(self, function: Callable[[Poly], Poly]) -> Callable[[Any], Guarded]:
        """A function in each case of its argument."""
        def apply(x: Any) -> Guarded:
            value = self.lift(x)
            if (alone := value.alone) is not None:
                return self.of(function(alone))
            return self.gathered((guard, function(poly)) for guard, poly in
                                 self.cases(value) or [(ALWAYS, self.plain(value))])

        return apply

    def cases(self, value: Guarded) -> Cases | None:
        """A number as one polynomial in each of its cases; None where they are many."""
        apart: dict[Any, list[Signs]] = {}  # of each thing compared, the signs that no guard tells apart
        for what, signs in (atom for guard in value.parts for atom in guard):
            apart[what] = [part for known in apart.get(what, [_ALL]) for part in (known & signs, known - signs) if part]
        if math.prod(map(len, apart.values())) > _CASES:
            return None
        zero = self.algebra.number(0)
        return [(case, sum((p for g, p in value.parts.items() if both(g, case) == case), zero))
                for case in map(frozenset, itertools.product(*([(what, signs) for signs in parts]
                                                               for what, parts in apart.items())))]

    def sign(self, value: Any) -> Guarded:
        above, below = self.compare(value, ">", 0), self.compare(value, "<", 0)
        return self.choose(above, 1, self.choose(below, -1, 0))

    def choose(self, truth: Truth, then: Any, other: Any) -> Any:
        if isinstance(truth, bool):
            return then if truth else other
        no = self.negated(truth)
        return self.lift(then).where(truth) + (0 if isinstance(no, bool) else self.lift(other).where(no))

    def extremum(self, op: str, values: Sequence[Any]) -> Any:
        """Of two their cases; of more a letter, one of them and none beyond it."""
        if all(isinstance(v, (int, Fraction)) for v in values):
            return max(values) if op == "max" else min(values)
        polys = list(dict.fromkeys(map(self.plain, values)))
        key = op, frozenset(polys)
        if key not in self._extrema:
            beyond = "≥" if op == "max" else "≤"
            if len(polys) == 1:
                self._extrema[key] = self.of(polys[0])
            elif len(polys) == 2:
                a, b = map(self.of, polys)
                self._extrema[key] = self.choose(self.compare(a, beyond, b), a, b)
            else:
                found = self.fresh()
                best, terms = self.terms.of(found), [self.terms.of(p) for p in polys]
                self.axioms += [related(best, beyond, t) for t in terms]
                self.axioms.append(some([related(best, "=", t) for t in terms]))
                self._extrema[key] = self.of(found)
        return self._extrema[key]

    # places

    def best(self, candidates: Sequence[tuple[Any, Any]], sign: int) -> Any:
        """The place of the largest value, or of the smallest: a strict winner, as it is taken to be unique here."""
        op = ">" if sign > 0 else "<"
        wins = {at: conjunction(self.compare(v, op, w) for w, other in candidates if other != at)
                for v, at in candidates}
        self.take(self.truth(self.some(list(wins.values()))))
        found = {at if isinstance(at, tuple) else (at,): ALWAYS if holds is True else holds
                 for at, holds in wins.items() if holds is not False}
        each = [Choice(found, n) for n in range(len(next(iter(found))))]
        return tuple(each) if isinstance(candidates[0][1], tuple) else each[0]

    def places(self, at: tuple[Any, ...]) -> list[tuple[Guard, tuple[int, ...]]]:
        """Where indices may be, each time with the guard under which they are there."""
        found = [(ALWAYS, at)]
        for of in {id(i.alternatives): i.alternatives for i in at if isinstance(i, Choice)}.values():
            picked = [i.component if isinstance(i, Choice) and i.alternatives is of else None for i in at]
            pairs = itertools.product(found, of.items())
            found = [(joint, tuple([i if n is None else best[n] for i, n in zip(known, picked, strict=True)]))
                     for (guard, known), (best, holds) in pairs if (joint := both(guard, holds)) is not None]
        return found

    # truths

    def where(self, value: Callable[[], Any], truth: Truth) -> Any:
        """A number where the truth holds, else 0."""
        if isinstance(truth, bool):
            return value() if truth else 0
        return self.lift(value()).where(truth)

    def same(self, left: Truth, right: Truth) -> Truth:
        """Both or neither."""
        if isinstance(left, bool) or isinstance(right, bool):
            known, other = (left, right) if isinstance(left, bool) else (right, left)
            return other if known else self.negated(other)
        return left == right or self.condition(self.truth(left) == self.truth(right))

    def compare(self, left: Any, op: str, right: Any) -> Truth:
        if isinstance(left, (tuple, Choice)) or isinstance(right, (tuple, Choice)):
            here, there = (side if isinstance(side, tuple) else (side,) for side in (left, right))
            same = self.some([guard or True for guard, at in self.places((*here, *there))
                              if at[:len(here)] == at[len(here):]])
            return same if op == "=" else self.negated(same)
        if not isinstance(left, Guarded) and not isinstance(right, Guarded):
            return bool(HOLDS[op](left, right))
        difference = self.lift(left) - right
        difference = Guarded({g: r for g, p in difference.parts.items() if len(r := _where(g, p))}, self)
        if op in ("=", "≠"):
            difference = self._nonzero(difference.parts.items())
            if len(difference.parts) > 1 and (apart := self.cases(difference)):  # parts may be 0 together
                difference = self._nonzero(apart)
        if not difference.parts.keys() - {ALWAYS}:
            return self.signed(difference.parts.get(ALWAYS, self.algebra.number(0)), SIGNS[op])
        return self.condition(related(self.real(difference), op, number(0)))

    def _nonzero(self, parts: Iterable[tuple[Guard, Poly]]) -> Guarded:
        return Guarded({g: p for g, p in parts if not self.algebra.is_zero(p)}, self)

    def signed(self, poly: Poly, signs: Signs) -> Truth:
        """The sign of a polynomial is one of these."""
        if poly.is_number:
            return ((poly.lead > 0) - (poly.lead < 0)) in signs
        sign, monic = poly.monic()
        if sign > 0 and self.algebra.is_positive(poly):
            return 1 in signs
        signs, poly = signs if sign > 0 else _turned(signs), monic
        return frozenset(((self._signed.setdefault(poly, poly), signs),))  # guards are compared often: by identity

    def condition(self, term: Any) -> Truth:
        """A Z3 condition as a guard."""
        self._conditions[term.get_id()] = term
        return frozenset(((term.get_id(), SIGNS[">"]),))

    def negated(self, truth: Truth) -> Truth:
        if isinstance(truth, bool):
            return not truth
        if len(truth) == 1:
            (what, signs), = truth
            return frozenset(((what, _ALL - signs),))
        return self.condition(opposite(self.truth(truth)))

    def some(self, truths: Sequence[Truth]) -> Truth:
        if any(t is True for t in truths):
            return True
        left = [t for t in truths if t is not False]
        if len(left) < 2:
            return left[0] if left else False
        return self.condition(some([self.truth(t) for t in left]))

    # Z3

    def truth(self, truth: Truth) -> Any:
        """A truth as a Z3 term."""
        if isinstance(truth, bool):
            return z3.BoolVal(truth, context())
        if truth not in self._truths:
            atoms = sorted(truth, key=lambda atom: (isinstance(atom[0], int), str(atom)))
            self._truths[truth] = every([self._atom(what, signs) for what, signs in atoms])
        return self._truths[truth]

    def _atom(self, what: Any, signs: Signs) -> Any:
        if isinstance(what, Poly):
            return related(self.terms.of(what), _OPS[signs], number(0))
        return self._conditions[what] if 1 in signs else opposite(self._conditions[what])

    def real(self, value: Any) -> Any:
        """A number as a Z3 term."""
        parts = [self.terms.of(p) if not g else when(self.truth(g), self.terms.of(p), number(0))
                 for g, p in self.lift(value).parts.items()]
        return total(parts or [number(0)])


@lru_cache(maxsize=16)
def _turned(signs: Signs) -> Signs:
    """The signs of −p."""
    return frozenset(-s for s in signs)


def _where(guard: Guard, poly: Poly) -> Poly:
    """The polynomial where the guard holds: what is 0 there divides it."""
    for what, signs in guard:
        if signs == SIGNS["="] and isinstance(what, Poly):
            poly, _ = poly.remainder(what)
    return poly


def unsupported(what: str) -> UnsupportedError:
    return UnsupportedError(f"no proof over {what}")
