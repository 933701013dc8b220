"""m e^c as a pair: sums, products and quotients of exponentials that neither overflow nor vanish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from derive.records import dataclass


@dataclass(frozen=True)
class Scaled:
    """mantissa · e^exponent; the exponent may be infinite."""

    mantissa: Any
    exponent: Any

    def value(self) -> Any:
        """The number itself."""
        return _times(self.mantissa, np.exp(self.exponent))

    def log(self) -> Any:
        return np.log(self.mantissa) + self.exponent

    def times(self, other: Scaled) -> Scaled:
        """The product; e^∞ e^{−∞} is 1: they come from one and the same infinite entry."""
        with np.errstate(invalid="ignore"):
            exponent = np.add(self.exponent, other.exponent)
        if np.isnan(exponent).any():
            opposite = np.isinf(self.exponent) & (self.exponent == -np.asarray(other.exponent))
            exponent = np.where(opposite, 0.0, exponent)
        return Scaled(self.mantissa * other.mantissa, exponent)

    def power(self, exponent: float) -> Scaled:
        return Scaled(np.power(self.mantissa, exponent), np.multiply(self.exponent, exponent))

    def where(self, mask: Any) -> Scaled:
        """0 where the mask is false."""
        return Scaled(np.where(mask, self.mantissa, 0.0), np.where(mask, self.exponent, -np.inf))


ONE = Scaled(np.float64(1), np.float64(0))


def scaled(value: Any) -> Scaled:
    """A number as it stands."""
    return value if isinstance(value, Scaled) else Scaled(value, np.float64(0))


def total(terms: Sequence[Scaled]) -> Scaled:
    """The sum, over the largest of the exponents; 0 if there are no terms."""
    top: Any = np.float64(-np.inf)
    for term in terms:
        top = np.maximum(top, term.exponent)
    found: Any = np.float64(0)
    for term in terms:
        found = found + _times(term.mantissa, np.exp(_below(term.exponent, top)))
    return Scaled(found, top)


def _below(exponent: Any, top: Any) -> Any:
    """exponent − top; 0 where both are the same infinity."""
    with np.errstate(invalid="ignore"):
        gap = np.subtract(exponent, top)
    return np.where(exponent == top, 0.0, gap) if np.isnan(gap).any() else gap


def _times(mantissa: Any, weight: Any) -> Any:
    """mantissa · weight, 0 where the weight is: x e^x is 0 at −∞."""
    with np.errstate(invalid="ignore"):
        product = np.multiply(mantissa, weight)
    return np.where(weight == 0, 0.0, product) if np.isnan(product).any() else product
