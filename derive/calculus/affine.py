"""Affine index terms: c_0 + Σ c_v v with exact coefficients, and what follows from the ranges of their letters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from derive.expr import ONE, Add, Expr, Idx, Mul, Num, Rel, Size, Star, add, mul, sub


@dataclass(frozen=True)
class Range:
    """lower ≤ v ≤ upper."""

    lower: Expr
    upper: Expr

    @property
    def length(self) -> Expr:
        """upper − lower + 1."""
        return Affine.of(add(sub(self.upper, self.lower), ONE)).expr()


Ranges = Mapping[Idx, Range]


@dataclass(frozen=True)
class Affine:
    """constant + Σ coefficients[v] · v; a part that is not affine is a letter of its own."""

    coefficients: dict[Expr, Fraction]
    constant: Fraction

    @staticmethod
    def of(node: Expr) -> Affine:
        match node:
            case Num(value):
                return Affine({}, value)
            case Add(terms):
                total = Affine({}, Fraction(0))
                for term in terms:
                    total = total.plus(Affine.of(term), Fraction(1))
                return total
            case Mul(factors):
                parts = [Affine.of(f) for f in factors]
                numbers = [p.constant for p in parts if not p.coefficients]
                others = [p for p in parts if p.coefficients]
                if len(others) == 1:
                    scale = Fraction(1)
                    for number in numbers:
                        scale *= number
                    return Affine({}, Fraction(0)).plus(others[0], scale)
        return Affine({node: Fraction(1)}, Fraction(0))

    def plus(self, other: Affine, scale: Fraction) -> Affine:
        found = dict(self.coefficients)
        for letter, c in other.coefficients.items():
            found[letter] = found.get(letter, Fraction(0)) + scale * c
        return Affine({v: c for v, c in found.items() if c}, self.constant + scale * other.constant)

    def expr(self) -> Expr:
        """Positive letters first, the constant last."""
        ordered = sorted(self.coefficients.items(), key=lambda item: item[1] < 0)
        return add(*(mul(Num(c), v) for v, c in ordered), Num(self.constant))

    def end(self, ranges: Ranges, top: bool) -> Affine | None:
        """The largest (smallest) value while the letters run through their ranges; None where one has none."""
        total = Affine({}, self.constant)
        for letter, c in self.coefficients.items():
            if isinstance(letter, Size):
                total = total.plus(Affine({letter: Fraction(1)}, Fraction(0)), c)
            elif isinstance(letter, Idx) and letter in ranges:
                bound = ranges[letter].upper if (c > 0) == top else ranges[letter].lower
                total = total.plus(Affine.of(bound), c)
            else:
                return None
        return total

    @property
    def never_negative(self) -> bool:
        """≥ 0 for all sizes ≥ 1."""
        known = all(isinstance(v, Size) and c >= 0 for v, c in self.coefficients.items())
        return known and self.constant + sum(self.coefficients.values()) >= 0


def solve(left: Expr, right: Expr, letters: tuple[Idx, ...]) -> tuple[Idx, Expr] | None:
    """(v, e) with left = right ⟺ v = e, for one of the letters; None where none has the coefficient ±1."""
    difference = Affine.of(left).plus(Affine.of(right), Fraction(-1))
    whole = all(c.denominator == 1 for c in (*difference.coefficients.values(), difference.constant))
    for v in letters if whole else ():
        c = difference.coefficients.get(v)
        if c in (1, -1):
            rest = Affine({w: d for w, d in difference.coefficients.items() if w is not v}, difference.constant)
            return v, Affine({}, Fraction(0)).plus(rest, -c).expr()
    return None


def within(term: Expr, bounds: Range, ranges: Ranges) -> Rel | None:
    """lower ≤ term ≤ upper, less what the ranges of the term's letters give already; None if nothing is left."""
    if isinstance(term, Star):
        return None  # a maximiser lies in its own domain
    value = Affine.of(term)
    low = value.plus(Affine.of(bounds.lower), Fraction(-1)).end(ranges, top=False)
    high = Affine.of(bounds.upper).plus(value, Fraction(-1)).end(ranges, top=False)
    terms: list[Expr] = [term]
    ops: list[str] = []
    if low is None or not low.never_negative:
        terms, ops = [bounds.lower, term], ["≤"]
    if high is None or not high.never_negative:
        beyond = Affine.of(add(bounds.upper, ONE)).expr()
        short = isinstance(beyond, (Num, Size))
        terms, ops = [*terms, beyond if short and bounds.lower != ONE else bounds.upper], [
            *ops, "<" if short and bounds.lower != ONE else "≤"]
    return Rel(tuple(terms), tuple(ops)) if ops else None
