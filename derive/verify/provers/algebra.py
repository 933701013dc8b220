"""Exact algebra for proofs: polynomials over ℚ in entries, exponentials, logarithms, roots and inverses.

Each function value is a generator of its own, with the relations that make identities
provable: e^{a+b} = e^a e^b, r^n = u for a root r, q·w = 1 for an inverse w, log e^u = u.
A difference that these relations reduce to 0 is 0 wherever both sides have a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

from derive.errors import UnsupportedError
from derive.records import dataclass
from derive.ring import Monomial, Poly, Ring

MOST_TERMS = 4000  # of one polynomial: what is larger is tested, not proved
MOST_WORK = 60_000  # products of terms for one statement at one size
_SPARE = 40  # generators for functions, besides the entries


class TooLarge(UnsupportedError):
    """The statement is out of the reach of a proof here."""


class TooMany(TooLarge):
    """It may be within reach of a larger ring."""


@dataclass(frozen=True)
class Generator:
    """A generator: an entry or function value ("free"), an inverse of ``of``, or a root with r^degree = ``of``."""

    kind: str
    of: Poly | None = None
    degree: int = 1


class Algebra:
    """The ring of one instance, with a letter for each entry and each function value."""

    def __init__(self, entries: int, spare: int = _SPARE) -> None:
        self.ring = Ring(entries + spare)
        self._symbols = self.ring.letters
        self.generators: list[Generator] = []
        self.positive: set[int] = set()
        self.work = 0
        self._named: dict[Any, int] = {}
        self._exponents: dict[Any, tuple[int, int]] = {}  # monomial → (generator, denominator): e^{m/d}
        self._relations: dict[int, Poly] = {}  # of each inverse w of q, q w − 1
        self._logs: dict[int, Poly] = {}  # generator of an exponential → its exponent

    def number(self, value: Fraction | int) -> Poly:
        return self.ring.number(value)

    def entry(self, name: Any, positive: bool = False) -> Poly:
        """The generator of a tensor's entry."""
        return self._symbols[self._generator(("entry", name), Generator("free"), positive)]

    def generator(self, g: int) -> Poly:
        """The generator of that number."""
        return self._symbols[g]

    def entries(self) -> Iterator[tuple[Any, int]]:
        """The entries that have a generator, each with its number."""
        yield from ((key[1], g) for key, g in self._named.items() if key[0] == "entry")

    def _generator(self, key: Any, kind: Generator, positive: bool = False) -> int:
        if key not in self._named:
            if len(self.generators) == len(self._symbols):
                raise TooMany("too many functions for a proof")
            self._named[key] = len(self.generators)
            self.generators.append(kind)
            if positive:
                self.positive.add(self._named[key])
        return self._named[key]

    # operations beyond those of the ring

    def times(self, a: Poly, b: Poly) -> Poly:
        self._spend(len(a) * len(b))
        return self._bounded(a * b)

    def _spend(self, products: int) -> None:
        self.work += products
        if self.work > MOST_WORK:
            raise TooLarge("the polynomials are too large for a proof")

    def _bounded(self, a: Poly) -> Poly:
        if len(a) > MOST_TERMS:
            raise TooLarge("the polynomials are too large for a proof")
        return a

    def raised(self, a: Poly, n: int) -> Poly:
        found = self.number(1)
        for _ in range(abs(n)):
            found = self.times(found, a)
        return self.inverse(found) if n < 0 else found

    def inverse(self, a: Poly) -> Poly:
        """1/a: of a monomial factor by factor, else a generator w with a·w = 1."""
        if not a:
            raise ZeroDivisionError
        if len(a) == 1:
            (monomial, coefficient), = a.terms()
            found = self.number(1 / coefficient)
            for g, power in monomial:
                for _ in range(power):
                    found = self.times(found, self._inverse_of(g))
            return found
        lead = a.lead
        w = self._generator(("inverse", a / lead), Generator("inverse", a / lead), self.is_positive(a / lead))
        return self._symbols[w] * (1 / lead)

    def _inverse_of(self, g: int) -> Poly:
        generator = self.generators[g]
        if generator.kind == "inverse":
            assert generator.of is not None
            return generator.of
        if generator.kind == "root":
            assert generator.of is not None
            return self.times(self._symbols[g] ** (generator.degree - 1), self.inverse(generator.of))
        positive = g in self.positive
        return self._symbols[self._generator(("inverse", g), Generator("inverse", self._symbols[g]), positive)]

    def root(self, a: Poly, degree: int) -> Poly:
        """The positive root of a: a generator r with r^degree = a; numeric factors apart."""
        if degree != 2:
            return self._root(a, degree)
        lead = abs(a.lead)
        whole, rest = _square_part(lead.numerator * lead.denominator)  # √(p/q) = √(pq)/q
        found = self.times(self._root(self.number(rest), 2), self._root(a / lead, 2))
        return found * Fraction(whole, lead.denominator)

    def _root(self, a: Poly, degree: int) -> Poly:
        if a == 1:
            return a
        return self._symbols[self._generator(("root", a, degree), Generator("root", a, degree), True)]

    def power(self, a: Poly, exponent: Poly) -> Poly:
        """a^e: by roots where e is a number, else e^{e log a}."""
        if exponent.is_number:
            e = exponent.lead
            base = a if e.denominator == 1 else self.root(a, e.denominator)
            return self.raised(base, e.numerator)
        return self.exp(self.times(exponent, self.log(a)))

    def exp(self, u: Poly) -> Poly:
        """e^u = Π e^{c m} over the terms c·m of u."""
        found = self.number(1)
        for monomial, c in u.terms():
            logged = self._logarithm(monomial)
            if logged is not None and c.denominator == 1:
                found = self.times(found, self.raised(logged, c.numerator))
                continue
            g, d = self._exponents.setdefault(monomial, (-1, c.denominator))
            if g < 0:
                g = self._generator(("exp", monomial), Generator("free"), True)
                self._exponents[monomial] = (g, d)
                self._logs[g] = self.ring.term(monomial, Fraction(1, d))
            finer = (c * d).denominator
            if finer > 1:  # e^{m/2} beside e^m: its root
                whole = self._symbols[g]
                g = self._generator(("root", whole, finer), Generator("root", whole, finer), True)
                self._logs[g] = self.ring.term(monomial, Fraction(1, d * finer))
            found = self.times(found, self.raised(self._symbols[g], (c * d).numerator))
        return found

    def _logarithm(self, monomial: Monomial) -> Poly | None:
        """u where the monomial is the generator log u alone."""
        (g, power), *others = monomial or ((-1, 0),)
        return self.generators[g].of if power == 1 and not others and self.generators[g].kind == "log" else None

    def log(self, u: Poly) -> Poly:
        """log u: of a product of positive factors their sum, of e^v it is v; else a generator."""
        if u == 1:
            return self.number(0)
        if len(u) == 1:
            (monomial, coefficient), = u.terms()
            if coefficient > 0 and all(g in self.positive for g, _ in monomial):
                total = self._log_number(coefficient)
                for g, power in monomial:
                    total += self._log_of(g) * power
                return total
        return self._symbols[self._generator(("log", u), Generator("log", u))]

    def _log_number(self, c: Fraction) -> Poly:
        total = self.number(0)
        for n, sign in ((c.numerator, 1), (c.denominator, -1)):
            if n != 1:
                total += sign * self._symbols[self._generator(("log", n), Generator("log", self.number(n)))]
        return total

    def _log_of(self, g: int) -> Poly:
        if g in self._logs:
            return self._logs[g]
        generator = self.generators[g]
        if generator.kind == "inverse" and generator.of is not None and self.is_positive(generator.of):
            return -self.log(generator.of)
        symbol = self._symbols[g]
        return self._symbols[self._generator(("log", symbol), Generator("log", symbol))]

    def function(self, name: str, u: Poly) -> Poly:
        """Any other function: a generator for each argument."""
        return self._symbols[self._generator((name, u), Generator("free"))]

    def is_positive(self, a: Poly) -> bool:
        """Positive as far as the coefficients show: all of them positive, in positive generators."""
        return a.has_positive_terms(self.positive)

    # the test for zero

    def is_zero(self, a: Poly) -> bool:
        """Whether the relations reduce a to 0: first by rewriting products, then by clearing denominators."""
        related = [g for g in range(len(self.generators) - 1, -1, -1) if self.generators[g].kind in ("inverse", "root")]
        for step in (self._rewritten, self._without):
            for g in related:
                if not a:
                    return True
                a = step(a, g, self.generators[g])
        return not a

    def _rewritten(self, a: Poly, g: int, generator: Generator) -> Poly:
        """a with q w = 1 used for the leading term of q wherever that divides; it may be all that is needed."""
        if generator.kind == "root":
            return self._without(a, g, generator)
        assert generator.of is not None
        if not a.degree(g):
            return a
        if g not in self._relations:
            self._relations[g] = self._symbols[g] * generator.of - 1
        found, steps = a.remainder(self._relations[g])
        self._spend(steps * len(generator.of))
        return self._bounded(found)

    def _without(self, a: Poly, g: int, generator: Generator) -> Poly:
        """a times the power of q that clears the inverse of q; a with powers of a root reduced."""
        if a.degree(g) < (generator.degree if generator.kind == "root" else 1):
            return a
        assert generator.of is not None
        parts = a.digits(self._symbols[g] ** generator.degree)
        if generator.kind == "root":
            parts.reverse()
        found = parts[0]  # Horner's rule: Σ a_k q^{d−k}, or Σ a_k u^k of r^{nk} = u^k
        for part in parts[1:]:
            found = self.times(found, generator.of) + part
        return self._bounded(found)


def _square_part(n: int) -> tuple[int, int]:
    """(a, b) with n = a² b, for the squares of factors up to 1,000."""
    whole, factor = 1, 2
    if isqrt(n) ** 2 == n:
        return isqrt(n), 1
    while factor <= 1000 and factor * factor <= n:
        while n % (factor * factor) == 0:
            n, whole = n // (factor * factor), whole * factor
        factor += 1
    return whole, n
