"""Index terms c_0 + Σ c_v v with exact coefficients, and the ends between which they lie."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
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
    """constant + Σ coefficients[v] · v; a part that is not affine is a letter of its own."""

    coefficients: dict[ex.Expr, Fraction]
    constant: Fraction

    @staticmethod
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
        return Affine({node: Fraction(1)}, Fraction(0))

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
            if isinstance(letter, ex.Size):
                total = total.plus(Affine({letter: Fraction(1)}, Fraction(0)), c)
            elif isinstance(letter, ex.Idx) and letter in ranges:
                bound = ranges[letter].upper if (c > 0) == top else ranges[letter].lower
                total = total.plus(Affine.of(bound), c)
            else:
                return None
        return total

    @property
    def never_negative(self) -> bool:
        """≥ 0 for all sizes ≥ 1."""
        known = all(isinstance(v, ex.Size) and c >= 0 for v, c in self.coefficients.items())
        return known and self.constant + sum(self.coefficients.values()) >= 0
