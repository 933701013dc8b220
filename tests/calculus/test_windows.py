"""Closed forms of the windows that cover a coordinate, against their definition."""

import itertools

import pytest

from derive.calculus.windows import inverse
from derive.expr import Cond, Expr, Idx, Num, Size
from derive.numeric.statements import index_value
from derive.receptive_field import AdaptiveAxis, WindowAxis

AXES = [WindowAxis(*a) for a in (
    *itertools.product((1, 2, 3, 5), (1, 2, 3, 4), (0, 1, 2)),
    *itertools.product((1, 2, 3), (1, 2, 3, 4, 6), (0, 2), (2, 3, 4), (1,)), (2, 2, 3, 1, 5), (2, 3, 0, 1, 1, True),
)]
I = Idx("i")


def value(expr: Expr, i: int, outputs: int) -> int:
    return int(index_value(expr, {I: i}, {"M": outputs}))


def holds(cond: Cond, i: int, outputs: int) -> bool:
    return bool(index_value(cond, {I: i}, {"M": outputs}))


def windows(axis: WindowAxis, i: int, n: int) -> list[int]:
    """By definition: the k whose cells s k − p + d a include i."""
    return [k for k in range(axis.output_size(n))
            if any(i == axis.stride * k - axis.padding + axis.dilation * a for a in range(axis.kernel_size))]


@pytest.mark.parametrize("axis", AXES, ids=lambda a: f"{a.kernel_size}/{a.stride}/{a.padding}/{a.dilation}")
@pytest.mark.parametrize("known", [False, True])
def test_the_closed_form_is_the_inverse_of_the_window(axis: WindowAxis, known: bool) -> None:
    for n in range(1, 12):
        out = axis.output_size(n)
        if out == 0:
            continue
        found = inverse(I, axis, Size("M"), n if known else None)
        for i in range(n):
            if not all(holds(c, i, out) for c in found.conds):
                covering = []
            elif found.only is not None:
                covering = [value(found.only, i, out)]
            else:
                assert found.lower is not None and found.upper is not None
                every = range(value(found.lower, i, out), value(found.upper, i, out) + 1)
                covering = [k for k in every if all(holds(c, i, out) for c in found.within(Num(k)))]
            assert covering == windows(axis, i, n) == list(axis.covering(i, n)), (n, i)


@pytest.mark.parametrize("m", range(1, 8))
def test_the_closed_form_of_adaptive_windows(m: int) -> None:
    for n in range(1, 12):
        for size in (Num(n), Size("M")):  # the extent in the place of the one size that a point knows
            found = inverse(I, AdaptiveAxis(m), Num(m), None, size)
            assert found.lower is not None and found.upper is not None
            for i in range(n):
                every = range(value(found.lower, i, n), value(found.upper, i, n) + 1)
                assert list(every) == [k for k in range(m) if k * n < (i + 1) * m and i * m < (k + 1) * n]


def test_a_known_size_drops_a_condition_that_always_holds() -> None:
    axis = WindowAxis(2, 2, 0)
    assert inverse(I, axis, Num(2), 4).conds == ()
    assert len(inverse(I, axis, Num(2), 5).conds) == 1
    assert len(inverse(I, axis, Size("M"), None).conds) == 1
