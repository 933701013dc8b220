"""Points of regions: found, shown not to exist, and the same whatever was asked before."""

from __future__ import annotations

import itertools

import pytest
import z3

from derive.verify.provers.algebra import Algebra, TooLarge
from derive.verify.provers.regions import Searcher


def algebra(entries: int) -> Algebra:
    found = Algebra(entries)
    for n in range(entries):
        found.entry(("x", (n,)))
    return found


def bilinear(found: Algebra, units: int, width: int) -> list:  # type: ignore[type-arg]
    """s_r = Σ_j W_rj x_j + b_r, over entries 0 …: x, then W, then b."""
    g = [found.entry(("x", (n,))) for n in range(width * (1 + units) + units)]
    return [sum((g[j] * g[width * (1 + r) + j] for j in range(width)), g[width * (1 + units) + r]) for r in range(units)]


@pytest.mark.parametrize("asked_before", range(8))
def test_a_maximum_of_linear_units_is_decided(asked_before: int) -> None:
    for n in range(asked_before * 7):  # the numbers of Z3's own terms move on
        z3.Real(f"earlier{asked_before}_{n}")
    found = algebra(34)
    s = bilinear(found, 6, 4)
    path = tuple((s[r] - s[r + 1], False) for r in range(5))
    others = [s[r] - s[q] for r in range(6) for q in range(r)]
    values = Searcher(found).values(path, others[asked_before:] + others[:asked_before])
    assert values is not None and values == Searcher(found).values(path, others)
    at = [p.at(values) for p in s]
    assert all(a < b for a, b in itertools.pairwise(at))


def test_decisions_in_a_circle_have_no_point() -> None:
    found = algebra(19)
    a, b, c = bilinear(found, 3, 4)
    assert Searcher(found).values(((a - b, True), (b - c, True), (c - a, True)), ()) is None


def test_a_square_is_not_negative() -> None:
    found = algebra(2)
    x, y = (found.entry(("x", (n,))) for n in range(2))
    assert Searcher(found).values(((x**2 + y**2 + 1, False),), ()) is None
    with pytest.raises(TooLarge, match="boundary"):
        Searcher(found).values(((x - y, True),), [found.number(0)])
