"""Index terms c_0 + Σ c_v v with exact coefficients, and the ends between which they lie."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from math import prod

import derive.expr as ex
from derive.records import dataclass


@dataclass(frozen=True)
class Range:
    """lower ≤ v ≤ upper."""

    lower: ex.Expr
    upper: ex.Expr

    @property
    def length(self) -> ex.Expr:
        """upper − lower + 1."""
        return Affine.of(ex.add(ex.sub(self.upper, self.lower), ex.ONE)).expr()


Ranges = Mapping[ex.Idx, Range]


@dataclass(frozen=True)
class Affine:
    """constant + Σ coefficients[v] · v; a product of letters, and a part that is not affine, is a letter of its own."""

    coefficients: dict[ex.Expr, Fraction]
    constant: Fraction

    @staticmethod
    @lru_cache(maxsize=4096)
    def of(node: ex.Expr) -> Affine:
        match node:
            case ex.Num(value):
                return Affine({}, value)
            case ex.Add(terms):
                return reduce(Affine.plus, map(Affine.of, terms))
            case ex.Mul(factors):
                parts = [Affine.of(f) for f in factors]
                numbers = [p.constant for p in parts if not p.coefficients]
                others = [p for p in parts if p.coefficients]
                if len(others) == 1:
                    return others[0].times(prod(numbers))
                if all(isinstance(v, (ex.Size, ex.Idx, ex.Mul)) for p in others for v in p.coefficients):
                    return reduce(Affine._multiplied, others, Affine({}, prod(numbers, start=Fraction(1))))
        return Affine({node: Fraction(1)}, Fraction(0))

    def _multiplied(self, other: Affine) -> Affine:
        """s (k − 1) is s k − s: each product of letters is one of its own."""
        found = Affine({}, -self.constant * other.constant).plus(self, other.constant).plus(other, self.constant)
        for (a, c), (b, d) in product(self.coefficients.items(), other.coefficients.items()):
            found = found.plus(Affine({_letters(a, b): c * d}, Fraction(0)))
        return found

    def times(self, scale: Fraction | int) -> Affine:
        return Affine({}, Fraction(0)).plus(self, scale)

    def without(self, letter: ex.Expr) -> Affine:
        """The rest, beside the letter's term."""
        return Affine({v: c for v, c in self.coefficients.items() if v is not letter}, self.constant)

    def minus(self, other: Affine) -> Affine:
        return self.plus(other, -1)

    def plus(self, other: Affine, scale: Fraction | int = 1) -> Affine:
        found = dict(self.coefficients)
        for letter, c in other.coefficients.items():
            found[letter] = found.get(letter, Fraction(0)) + scale * c
        return Affine({v: c for v, c in found.items() if c}, self.constant + scale * other.constant)

    def expr(self) -> ex.Expr:
        """Positive letters first, the constant last."""
        ordered = sorted(self.coefficients.items(), key=lambda item: item[1] < 0)
        return ex.add(*(ex.mul(ex.Num(c), v) for v, c in ordered), ex.Num(self.constant))

    def end(self, ranges: Ranges, top: bool) -> Affine | None:
        """The largest (smallest) value while the letters run through their ranges; None where one has none."""
        total = Affine({}, self.constant)
        for letter, c in self.coefficients.items():
            sizes, others = _parted(letter)
            if len(others) > 1 or others and others[0] not in ranges:
                return None
            here = [ranges[v].upper if (c > 0) == top else ranges[v].lower for v in others if isinstance(v, ex.Idx)]
            if len(here) < len(others):
                return None
            total = total.plus(Affine.of(ex.mul(*sizes, *here)), c)
        return total

    @property
    def never_negative(self) -> bool:
        """≥ 0 for all sizes ≥ 1."""
        known = all(c >= 0 and not _parted(v)[1] for v, c in self.coefficients.items())
        return known and self.constant + sum(self.coefficients.values()) >= 0


def _parted(letter: ex.Expr) -> tuple[list[ex.Expr], list[ex.Expr]]:
    """The sizes, all 1 or more, of a letter or of a product of letters, and its other letters."""
    factors = letter.factors if isinstance(letter, ex.Mul) else (letter,)
    return [f for f in factors if isinstance(f, ex.Size)], [f for f in factors if not isinstance(f, ex.Size)]


def _letters(*parts: ex.Expr) -> ex.Expr:
    """A product of letters: sizes first, each kind by its names."""
    factors = [f for part in parts for f in (part.factors if isinstance(part, ex.Mul) else (part,))]
    return ex.mul(*sorted(factors, key=lambda f: (not isinstance(f, ex.Size), repr(f))))
