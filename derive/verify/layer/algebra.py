"""Exact algebra for proofs: polynomials over ℚ in entries, exponentials, logarithms, roots and inverses.

Each function value is a generator of its own, with the relations that make identities
provable: e^{a+b} = e^a e^b, r^n = u for a root r, q·w = 1 for an inverse w, log e^u = u.
A difference that these relations reduce to 0 is 0 wherever both sides have a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from operator import add, ge, sub
from typing import Any

import sympy
from sympy.polys.domains import QQ
from sympy.polys.rings import PolyElement, ring

from derive.errors import UnsupportedError

MOST_TERMS = 4000  # of one polynomial: what is larger is tested, not proved
MOST_WORK = 60_000  # products of terms for one statement at one size
_SPARE = 40  # generators for functions, besides the entries


class TooLarge(UnsupportedError):
    """The statement is out of the reach of a proof here."""


@dataclass(frozen=True)
class Generator:
    """A generator: an entry or function value ("free"), an inverse of ``of``, or a root with r^degree = ``of``."""

    kind: str
    of: PolyElement | None = None
    degree: int = 1


class Algebra:
    """The ring of one instance; its elements are SymPy's polynomials."""

    def __init__(self, entries: int) -> None:
        self.ring, *self._symbols = ring([f"g{n}" for n in range(entries + _SPARE)], QQ)
        self.generators: list[Generator] = []
        self.positive: set[int] = set()
        self.work = 0
        self._named: dict[Any, int] = {}
        self._exponents: dict[Any, tuple[int, int]] = {}  # monomial → (generator, denominator): e^{m/d}
        self._logs: dict[int, PolyElement] = {}  # generator of an exponential → its exponent

    def number(self, value: Fraction | int) -> PolyElement:
        fraction = Fraction(value)
        return self.ring(QQ(fraction.numerator, fraction.denominator))

    def entry(self, name: Any, positive: bool = False) -> PolyElement:
        """The generator of a tensor's entry."""
        return self._symbols[self._generator(("entry", name), Generator("free"), positive)]

    def entries(self) -> Iterator[tuple[Any, int]]:
        """The entries that have a generator, each with its number."""
        yield from ((key[1], g) for key, g in self._named.items() if key[0] == "entry")

    def known(self, name: Any) -> int | None:
        """The number of an entry's generator, if it has one."""
        return self._named.get(("entry", name))

    def _generator(self, key: Any, kind: Generator, positive: bool = False) -> int:
        if key not in self._named:
            if len(self.generators) == len(self._symbols):
                raise TooLarge("too many functions for a proof")
            self._named[key] = len(self.generators)
            self.generators.append(kind)
            if positive:
                self.positive.add(self._named[key])
        return self._named[key]

    # operations beyond those of the ring

    def times(self, a: PolyElement, b: PolyElement) -> PolyElement:
        self._spend(len(a) * len(b))
        return self._bounded(a * b)

    def _spend(self, products: int) -> None:
        self.work += products
        if self.work > MOST_WORK:
            raise TooLarge("the polynomials are too large for a proof")

    def _bounded(self, a: PolyElement) -> PolyElement:
        if len(a) > MOST_TERMS:
            raise TooLarge("the polynomials are too large for a proof")
        return a

    def raised(self, a: PolyElement, n: int) -> PolyElement:
        found = self.number(1)
        for _ in range(abs(n)):
            found = self.times(found, a)
        return self.inverse(found) if n < 0 else found

    def inverse(self, a: PolyElement) -> PolyElement:
        """1/a: of a monomial factor by factor, else a generator w with a·w = 1."""
        if not a:
            raise ZeroDivisionError
        if len(a) == 1:
            (monomial, coefficient), = a.terms()
            found = self.ring(1 / coefficient)
            for g, power in enumerate(monomial):
                for _ in range(power):
                    found = self.times(found, self._inverse_of(g))
            return found
        lead = a.LC
        w = self._generator(("inverse", a / lead), Generator("inverse", a / lead), self.is_positive(a / lead))
        return self._symbols[w] * (1 / lead)

    def _inverse_of(self, g: int) -> PolyElement:
        generator = self.generators[g]
        if generator.kind == "inverse":
            assert generator.of is not None
            return generator.of
        if generator.kind == "root":
            assert generator.of is not None
            return self.times(self._symbols[g] ** (generator.degree - 1), self.inverse(generator.of))
        positive = g in self.positive
        return self._symbols[self._generator(("inverse", g), Generator("inverse", self._symbols[g]), positive)]

    def root(self, a: PolyElement, degree: int) -> PolyElement:
        """The positive root of a: a generator r with r^degree = a; numeric factors apart."""
        if degree != 2:
            return self._root(a, degree)
        lead = a.LC if a.LC > 0 else -a.LC
        p, q = int(lead.numerator), int(lead.denominator)
        whole, rest = sympy.sqrt(p * q).as_coeff_Mul()  # √(p/q) = √(pq)/q
        found = self.times(self._root(self.number(int(rest**2)), 2), self._root(a / lead, 2))
        return found * QQ(int(whole), q)

    def _root(self, a: PolyElement, degree: int) -> PolyElement:
        if a == 1:
            return a
        return self._symbols[self._generator(("root", a, degree), Generator("root", a, degree), True)]

    def power(self, a: PolyElement, exponent: PolyElement) -> PolyElement:
        """a^e: by roots where e is a number, else e^{e log a}."""
        if exponent.is_ground:
            e = Fraction(int(exponent.LC.numerator), int(exponent.LC.denominator)) if exponent else Fraction(0)
            base = a if e.denominator == 1 else self.root(a, e.denominator)
            return self.raised(base, e.numerator)
        return self.exp(self.times(exponent, self.log(a)))

    def exp(self, u: PolyElement) -> PolyElement:
        """e^u = Π e^{c m} over the terms c·m of u."""
        found = self.number(1)
        for monomial, coefficient in u.terms():
            c = Fraction(int(coefficient.numerator), int(coefficient.denominator))
            logged = self._logarithm(monomial)
            if logged is not None and c.denominator == 1:
                found = self.times(found, self.raised(logged, c.numerator))
                continue
            g, d = self._exponents.setdefault(monomial, (-1, c.denominator))
            if g < 0:
                g = self._generator(("exp", monomial), Generator("free"), True)
                self._exponents[monomial] = (g, d)
                self._logs[g] = self.ring({monomial: QQ(1, d)})
            if (c * d).denominator != 1:
                raise TooLarge("exponents with different denominators")
            found = self.times(found, self.raised(self._symbols[g], (c * d).numerator))
        return found

    def _logarithm(self, monomial: tuple[int, ...]) -> PolyElement | None:
        """u where the monomial is the generator log u alone."""
        used = [g for g, power in enumerate(monomial) if power]
        if len(used) != 1 or monomial[used[0]] != 1 or self.generators[used[0]].kind != "log":
            return None
        return self.generators[used[0]].of

    def log(self, u: PolyElement) -> PolyElement:
        """log u: of a product of positive factors their sum, of e^v it is v; else a generator."""
        if u == 1:
            return self.number(0)
        if len(u) == 1:
            (monomial, coefficient), = u.terms()
            used = [(g, power) for g, power in enumerate(monomial) if power]
            if coefficient > 0 and all(g in self.positive for g, _ in used):
                total = self._log_number(coefficient)
                for g, power in used:
                    total += self._log_of(g) * power
                return total
        return self._symbols[self._generator(("log", u), Generator("log", u))]

    def _log_number(self, c: Any) -> PolyElement:
        total = self.number(0)
        for n, sign in ((int(c.numerator), 1), (int(c.denominator), -1)):
            if n != 1:
                total += sign * self._symbols[self._generator(("log", n), Generator("log", self.number(n)))]
        return total

    def _log_of(self, g: int) -> PolyElement:
        if g in self._logs:
            return self._logs[g]
        generator = self.generators[g]
        if generator.kind == "inverse" and generator.of is not None and self.is_positive(generator.of):
            return -self.log(generator.of)
        symbol = self._symbols[g]
        return self._symbols[self._generator(("log", symbol), Generator("log", symbol))]

    def function(self, name: str, u: PolyElement) -> PolyElement:
        """Any other function: a generator for each argument."""
        return self._symbols[self._generator((name, u), Generator("free"))]

    def is_positive(self, a: PolyElement) -> bool:
        """Positive as far as the coefficients show: all of them positive, in positive generators."""
        return all(c > 0 and all(g in self.positive for g, power in enumerate(m) if power) for m, c in a.terms())

    # the test for zero

    def is_zero(self, a: PolyElement) -> bool:
        """Whether the relations reduce a to 0: first by rewriting products, then by clearing denominators."""
        related = [g for g in range(len(self.generators) - 1, -1, -1) if self.generators[g].kind in ("inverse", "root")]
        for step in (self._rewritten, self._without):
            for g in related:
                if not a:
                    return True
                a = step(a, g, self.generators[g])
        return not a

    def _rewritten(self, a: PolyElement, g: int, generator: Generator) -> PolyElement:
        """a with q w = 1 used for the leading term of q wherever that divides; it may be all that is needed."""
        if generator.kind == "root":
            return self._without(a, g, generator)
        assert generator.of is not None
        if not any(monomial[g] for monomial in a):
            return a
        lead, tail = generator.of.LM, [(m, -c) for m, c in generator.of.terms()[1:]]
        unit, found, waiting = generator.of.LC, self.ring.zero, dict(a)
        while waiting:
            monomial, c = waiting.popitem()
            if not monomial[g] or not all(map(ge, monomial, lead)):
                _add(found, monomial, c)
                continue
            self._spend(len(tail) + 1)
            rest = tuple(map(sub, monomial, lead))
            for m, t in tail:
                _add(waiting, tuple(map(add, rest, m)), c * t / unit)
            _add(waiting, (*rest[:g], rest[g] - 1, *rest[g + 1:]), c / unit)
        return found

    def _without(self, a: PolyElement, g: int, generator: Generator) -> PolyElement:
        """a times the power of q that clears the inverse of q; a with powers of a root reduced."""
        if not any(monomial[g] for monomial in a):
            return a
        parts: dict[int, Any] = {}
        for monomial, coefficient in a.terms():
            power = monomial[g]
            parts.setdefault(power, self.ring.zero)[(*monomial[:g], 0, *monomial[g + 1:])] = coefficient
        top = max(parts)
        if not top or (generator.kind == "root" and top < generator.degree):
            return a
        of, found = generator.of, self.ring.zero
        powers = [self.number(1)]
        for _ in range(top):
            powers.append(self.times(powers[-1], of))
        for power, part in parts.items():
            if generator.kind == "inverse":
                found += self.times(part, powers[top - power])
            else:
                left = self.times(part, powers[power // generator.degree])
                found += left * self._symbols[g] ** (power % generator.degree)
        return self._bounded(found)



def _add(terms: dict[Any, Any], monomial: tuple[int, ...], coefficient: Any) -> None:
    """Add a term; what cancels is no longer there."""
    total = terms.pop(monomial, 0) + coefficient
    if total:
        terms[monomial] = total
