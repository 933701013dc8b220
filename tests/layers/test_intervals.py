"""Windows that a formula spells out, and those that are none."""

from __future__ import annotations

from fractions import Fraction

import pytest

from derive.errors import DeriveError
from derive.expr import And, Binder, Entry, Expr, Idx, Num, Reduce, Rel, add, mul
from derive.layers.intervals import Interval, box, intervals

K, L, A, B = map(Idx, "klab")  # type: ignore[call-arg]


def term(stride: int, k: Idx, *more: Expr) -> Expr:
    return add(mul(Num(stride), k), *more)


def ranged(low: int, high: int, *indices: Expr) -> Reduce:
    return Reduce("max", Binder((A, B), (Num(low),) * 2, (Num(high),) * 2, None), Entry("x", indices))


def compared(*relations: Rel) -> Reduce:
    binder = Binder((A, B), (None, None), (None, None), And(relations))
    return Reduce("max", binder, Entry("x", (term(2, K, A), term(3, L, B))))


def test_ranges() -> None:
    node = ranged(0, 1, term(2, K, A), term(1, L, B, Num(-1)))
    assert intervals(node, (K, L)) == ("x", (Interval(2, 2, 0, 0), Interval(2, 1, -1, 0)))


@pytest.mark.parametrize(
    "relations",
    [
        (Rel((Num(0), A, Num(2)), ("≤", "<")), Rel((Num(0), B, Num(2)), ("≤", "≤"))),
        (Rel((A, Num(-1)), (">",)), Rel((Num(1), A), ("≥",)), Rel((Num(3), B, Num(-1)), (">", ">"))),
    ],
)
def test_comparisons(relations: tuple[Rel, ...]) -> None:
    _, (first, second) = intervals(compared(*relations), (K, L))
    assert (first, second) == (Interval(2, 2, 0, 0), Interval(3, 3, 0, 0))


def test_dilated() -> None:
    node = ranged(0, 2, term(1, K, mul(Num(2), A)), term(2, L, mul(Num(-3), B)))
    assert intervals(node, (K, L)) == ("x", (Interval(3, 1, 0, 0, 2), Interval(3, 2, -6, 0, 3)))


def test_nested_and_reflected() -> None:
    inner = Reduce(
        "max", Binder((B,), (Num(0),), (Num(1),), None), Entry("x", (term(2, K, A), term(2, L, mul(Num(-1), B))))
    )
    node = Reduce("max", Binder((A,), (Num(1),), (Num(2),), None), inner)
    assert intervals(node, (K, L)) == ("x", (Interval(2, 2, 1, 1), Interval(2, 2, -1, 0)))


def test_bounds_that_move_with_the_output() -> None:
    binder = Binder((A, B), (term(2, K), term(2, L)), (term(2, K, Num(1)), term(2, L, Num(2))), None)
    node = Reduce("max", binder, Entry("x", (A, B)))
    assert intervals(node, (K, L)) == ("x", (Interval(2, 2, 0), Interval(3, 2, 0)))


@pytest.mark.parametrize(
    "node",
    [
        ranged(0, 1, term(2, K, A), term(2, L)),  # an axis without a window
        ranged(0, 1, term(2, L, A), term(2, K, B)),  # axes exchanged
        ranged(0, 1, term(2, K, mul(Num(Fraction(1, 2)), A)), term(2, L, B)),  # between the cells
        ranged(0, 1, A, B),  # the whole input
        ranged(1, 0, term(2, K, A), term(2, L, B)),  # empty
        ranged(0, 1, term(2, K, A)),  # too few coordinates
        ranged(0, 1, term(2, K, A), term(2, L, A)),  # one variable twice
        compared(Rel((Num(0), A), ("≤",)), Rel((Num(0), B, Num(2)), ("≤", "<"))),  # no upper end
        compared(Rel((A, B), ("≠",))),
    ],
)
def test_no_window(node: Reduce) -> None:
    with pytest.raises(DeriveError):
        intervals(node, (K, L))


def test_box() -> None:
    cells = [Entry("x", (term(2, K, Num(a)), term(1, L, Num(b)))) for b in (0, 1) for a in (-1, 0, 1)]
    assert box(tuple(cells), (K, L)) == ("x", (Interval(3, 2, -1), Interval(2, 1, 0)))
    for wrong in (cells[:-1], [*cells, cells[0]], [*cells[:-1], Entry("y", cells[-1].indices)], [*cells, Num(0)]):
        with pytest.raises(DeriveError):
            box(tuple(wrong), (K, L))
