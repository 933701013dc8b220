"""ℚ[g_0, g_1, …] in exact arithmetic: the one place that knows of python-flint, whose traps end here.

An ``fmpq`` never equals a :class:`~fractions.Fraction` (silently) nor adds to one: numbers go in
and come out as fractions.  Its polynomials have no hash, ``/`` raises where it is not exact, there
are no rational functions and no pickles.  Dictionaries of terms are slow where letters are many
(90 ms against 1.6 for 8,855 terms in 100 letters): what is long is taken apart by division.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any
from zlib import crc32

from flint import Ordering, fmpq, fmpq_mpoly_ctx

Monomial = tuple[tuple[int, int], ...]  # (letter, power) of each letter in it


_SHORT = 3  # terms


def exact(value: Fraction | int) -> Any:
    """The number as flint has it."""
    return fmpq(value.numerator, value.denominator)


def fraction(value: Any) -> Fraction:
    """A number of flint's as a fraction."""
    return Fraction(int(value.p), int(value.q))


class Ring:
    """Polynomials in a number of letters, ordered lexicographically, the first letter highest."""

    def __init__(self, letters: int) -> None:
        self._context = fmpq_mpoly_ctx.get([f"g{n}" for n in range(letters)], Ordering.lex)
        self.letters = tuple(Poly(p, self) for p in self._context.gens())

    def number(self, value: Fraction | int) -> Poly:
        return Poly(self._context.constant(exact(value)), self)

    def term(self, monomial: Monomial, coefficient: Fraction | int) -> Poly:
        """c · Π g^k."""
        powers = [0] * len(self.letters)
        for g, power in monomial:
            powers[g] = power
        return Poly(self._context.term(exact(coefficient), powers), self)


class Poly:
    """A polynomial; it equals those of its own ring and numbers, and can be the key of a dictionary."""

    __slots__ = ("_hash", "_kept", "of", "ring")

    def __init__(self, of: Any, ring: Ring) -> None:
        self.of, self.ring = of, ring
        self._hash: int | None = None
        self._kept: dict[str, Any] | None = None  # its terms, its degrees: most are never asked for

    def _once(self, name: str, compute: Callable[[], Any]) -> Any:
        if self._kept is None:
            self._kept = {}
        elif name in self._kept:
            return self._kept[name]
        found = self._kept[name] = compute()
        return found

    def __add__(self, other: Poly | Fraction | int) -> Poly:
        return Poly(self.of + (other.of if isinstance(other, Poly) else exact(other)), self.ring)

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly(-self.of, self.ring)

    def __sub__(self, other: Poly | Fraction | int) -> Poly:
        return Poly(self.of - (other.of if isinstance(other, Poly) else exact(other)), self.ring)

    def __rsub__(self, other: Fraction | int) -> Poly:
        return -self + other

    def __mul__(self, other: Poly | Fraction | int) -> Poly:
        return Poly(self.of * (other.of if isinstance(other, Poly) else exact(other)), self.ring)

    __rmul__ = __mul__

    def __truediv__(self, other: Fraction | int) -> Poly:
        return Poly(self.of * exact(1 / Fraction(other)), self.ring)

    def __pow__(self, power: int) -> Poly:
        return Poly(self.of**power, self.ring)

    def __eq__(self, other: object) -> bool:
        return bool(self.of == (other.of if isinstance(other, Poly) else exact(other)))  # type: ignore[arg-type]

    def __hash__(self) -> int:
        if self._hash is None:
            n = len(self.of)
            if n <= _SHORT:  # its text is made faster than the powers of all letters; a text's own hash differs by run
                self._hash = crc32(str(self.of).encode())
            else:  # of an fmpq the hash takes longer than all else here
                first, last = self.of.coefficient(0), self.of.coefficient(n - 1)
                self._hash = hash((n, self.of.monomial(0), first.p, first.q, last.p, last.q))
        return self._hash

    def __len__(self) -> int:
        """How many terms it has."""
        return len(self.of)

    def __repr__(self) -> str:
        return str(self.of)

    @property
    def is_number(self) -> bool:
        return bool(self.of.is_constant())

    @property
    def lead(self) -> Fraction:
        """The coefficient of the highest term; 0 of nothing."""
        return fraction(self.of.coefficient(0)) if len(self.of) else Fraction(0)

    def monic(self) -> tuple[int, Poly]:
        """The sign of the highest term's coefficient, and the polynomial by it, of what is not 0."""
        lead = self.of.coefficient(0)
        if lead == 1:
            return 1, self
        return (1, Poly(self.of * (1 / lead), self.ring)) if lead > 0 else (
            -1, -self if lead == -1 else Poly(self.of * (1 / lead), self.ring))

    def terms(self) -> tuple[tuple[Monomial, Fraction], ...]:
        """Each monomial with its coefficient, highest first."""
        found: tuple[tuple[Monomial, Fraction], ...] = self._once("terms", lambda: tuple(
            (tuple((g, int(m[g])) for g in sorted(self.used()) if m[g]), fraction(c)) for m, c in self.of.terms()))
        return found

    def degree(self, letter: int) -> int:
        """The highest power of a letter."""
        return int(self._once("degrees", self.of.degrees)[letter]) if len(self.of) else 0

    def used(self) -> set[int]:
        """The letters that occur."""
        return {g for g, k in enumerate(self._once("degrees", self.of.degrees)) if k} if len(self.of) else set()

    def has_positive_terms(self, letters: set[int]) -> bool:
        """Every coefficient is above 0, and every letter one of these."""
        return self.used() <= letters and all(c > 0 for c in self.of.coeffs())

    def remainder(self, divisor: Poly) -> tuple[Poly, int]:
        """What is left by division, in which no term is divisible by the divisor's highest; terms of the quotient."""
        quotient, rest = divmod(self.of, divisor.of)
        return Poly(rest, self.ring), len(quotient)

    def digits(self, base: Poly) -> list[Poly]:
        """a_0, a_1, … with Σ_k a_k base^k = this one, for a power of a letter: its coefficients, lowest first."""
        found, rest = [], self.of
        while rest:
            rest, digit = divmod(rest, base.of)
            found.append(Poly(digit, self.ring))
        return found
