"""Closed forms of the windows that cover a coordinate, against their definition."""

import itertools

import pytest

from derive.calculus.windows import inverse
from derive.expr import Expr, Idx, Num, Size
from derive.numeric.exact import compile_statement, compile_value
from derive.numeric.point import Definitions
from derive.receptive_field import WindowAxis

AXES = [WindowAxis(*a) for a in itertools.product((1, 2, 3, 5), (1, 2, 3, 4), (0, 1, 2))]
I = Idx("i")


class At:
    """A point that knows one size."""

    def __init__(self, outputs: int) -> None:
        self.sizes = {"M": outputs}


def value(expr: Expr, i: int, outputs: int) -> int:
    return int(compile_value((I,), expr, Definitions({}, {}, {}), {})(At(outputs), (i,)))  # type: ignore[arg-type]


def windows(axis: WindowAxis, i: int, n: int) -> list[int]:
    """By definition: the k whose cells s k − p + a include i."""
    return [k for k in range(axis.output_size(n))
            if i in range(axis.stride * k - axis.padding, axis.stride * k - axis.padding + axis.kernel_size)]


@pytest.mark.parametrize("axis", AXES, ids=lambda a: f"{a.kernel_size}/{a.stride}/{a.padding}")
@pytest.mark.parametrize("known", [False, True])
def test_the_closed_form_is_the_inverse_of_the_window(axis: WindowAxis, known: bool) -> None:
    for n in range(1, 12):
        out = axis.output_size(n)
        if out == 0:
            continue
        found = inverse(I, axis, Size("M"), n if known else None)
        for i in range(n):
            if found.only is not None:
                holds = all(compile_statement(c, Definitions({}, {}, {}), {}).evaluate(At(out), (i,), set())[0]  # type: ignore
                            for c in found.conds)
                covering = [value(found.only, i, out)] if holds else []
            else:
                assert found.lower is not None and found.upper is not None
                covering = list(range(value(found.lower, i, out), value(found.upper, i, out) + 1))
            assert covering == windows(axis, i, n) == list(axis.covering(i, n)), (n, i)


def test_a_known_size_drops_a_condition_that_always_holds() -> None:
    axis = WindowAxis(2, 2, 0)
    assert inverse(I, axis, Num(2), 4).conds == ()
    assert len(inverse(I, axis, Num(2), 5).conds) == 1
    assert len(inverse(I, axis, Size("M"), None).conds) == 1
