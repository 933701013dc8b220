"""Points in proportion to the work: whole numbers of a unit that sum to all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from operator import mul

_MOST = 12  # different weights of which all ways to round are tried


def apportioned(weights: Sequence[int], units: int) -> list[int]:
    """Whole numbers that sum to ``units``, in proportion to the weights; each at least 1 if there are enough.

    Equal weights have equal ones where these are as near to their proportion as a whole number.
    """
    if units < len(weights):
        return [1] * units + [0] * (len(weights) - units)
    exact = [Fraction(units * weight, sum(weights)) for weight in weights]
    if even := _evenly(Counter(weights), units):
        return [even[weight] for weight in weights]
    shares = [max(1, int(share)) for share in exact]
    while sum(shares) != units:
        step = 1 if sum(shares) < units else -1
        n = max((n for n in range(len(shares)) if shares[n] + step), key=lambda n: (step * (exact[n] - shares[n]), -n))
        shares[n] += step
    return shares


def _evenly(counts: Mapping[int, int], units: int) -> dict[int, int]:
    """Weight → its share, no less for a greater one, the nearest to the proportion; nothing where none fits."""
    whole, weights = sum(weight * count for weight, count in counts.items()), sorted(counts)
    exact = [Fraction(units * weight, whole) for weight in weights]
    near = ([*{max(1, math.floor(own)), max(1, math.ceil(own))}] for own in exact)
    found = [shares for shares in product(*near) if sum(map(mul, shares, map(counts.__getitem__, weights))) == units
             and [*shares] == sorted(shares)] if len(weights) <= _MOST else []
    best = min(found, key=lambda shares: sum(abs(s - e) for s, e in zip(shares, exact, strict=True)), default=())
    return dict(zip(weights, best, strict=False))
