"""Ω and its inverse, against brute force and against what the frameworks do."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import CardError, UnsupportedError
from derive.receptive_field import (
    AdaptiveAxis,
    Axis,
    WindowAxis,
    adaptive_field,
    receptive_field,
    same_padding,
    window_facts,
)

windows = st.builds(WindowAxis, st.integers(1, 6), st.integers(1, 5), st.integers(0, 7), st.integers(1, 4),
                    st.integers(0, 7), st.booleans())
axes: st.SearchStrategy[Axis] = st.one_of(windows, st.builds(AdaptiveAxis, st.integers(1, 9)))


def cells(axis: WindowAxis, k: int, n: int) -> list[int]:
    """{s k − p + d a : 0 ≤ a < K} ∩ [0, n), as it stands."""
    found = (axis.stride * k - axis.padding + axis.dilation * a for a in range(axis.kernel_size))
    return [i for i in found if 0 <= i < n]


@given(axes, st.integers(1, 14))
def test_covering_is_the_inverse_of_covered(axis: Axis, n: int) -> None:
    for i in range(n):
        assert list(axis.covering(i, n)) == [k for k in range(axis.output_size(n)) if i in axis.covered(k, n)]


def test_the_closed_form_holds_for_every_small_window() -> None:
    small = itertools.product((1, 2, 3, 4), (1, 2, 3, 4), (0, 1, 2, 4), (1, 2, 3), (0, 1, 3), (False, True))
    for axis in itertools.starmap(WindowAxis, small):
        for n in range(1, 8):
            owners: list[list[int]] = [[] for _ in range(n)]
            for k in range(axis.output_size(n)):
                assert list(axis.covered(k, n)) == cells(axis, k, n)
                for i in cells(axis, k, n):
                    owners[i].append(k)
            assert [list(axis.covering(i, n)) for i in range(n)] == owners, (axis, n)


def test_what_windows_do_far_from_the_edge() -> None:
    for sizes in itertools.product((1, 2, 3, 4, 6), (1, 2, 3, 4, 6), (0, 2), (1, 2, 3, 4)):
        axis, n = WindowAxis(*sizes), 80
        inside = [len(axis.covering(i, n)) for i in range(30, 50)]
        assert axis.overlaps == (max(inside) > 1), axis


@given(windows, st.integers(1, 14))
def test_the_last_window_fits_and_one_more_would_not(axis: WindowAxis, n: int) -> None:
    out, end = axis.output_size(n), n + axis.padding + axis.padding_after
    last = (out - 1) * axis.stride + axis.span
    if axis.ceil_mode:
        assert out == 0 or last - axis.stride < end
        assert last >= end or out * axis.stride >= n + axis.padding
    else:
        assert (out == 0 or last <= end) and last + axis.stride > end


@given(axes, st.integers(1, 10))
def test_windows_clipped_or_wholly_in_padding_are_found(axis: Axis, n: int) -> None:
    if isinstance(axis, WindowAxis):
        found = [len(cells(axis, k, n)) for k in range(axis.output_size(n))]
        assert (axis.clips(n), axis.misses(n)) == (any(c < axis.kernel_size for c in found), 0 in found)
    else:
        assert not axis.clips(n) and not axis.misses(n)


def test_output_sizes_are_pytorch_s() -> None:
    """Every geometry that PyTorch accepts, and none of ours where PyTorch says that the output is too small."""
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    compared = 0
    for n, k, s, d, ceil in itertools.product(range(1, 11), (1, 2, 3, 5), (1, 2, 3, 4), (1, 2, 3), (False, True)):
        for p in range(k // 2 + 1):
            ours = WindowAxis(k, s, p, d, p, ceil).output_size(n)
            try:
                theirs = torch.nn.functional.max_pool1d(torch.zeros(1, 1, n), k, s, p, d, ceil).shape[-1]
            except RuntimeError:
                theirs = 0
            assert ours == theirs, (n, k, s, p, d, ceil)
            compared += 1
    assert compared > 1900


def test_adaptive_windows_are_pytorch_s() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    for n, m in itertools.product(range(1, 12), range(1, 9)):
        _, where = torch.nn.functional.adaptive_max_pool1d(torch.arange(float(n)).reshape(1, 1, n), m, True)
        _, first = torch.nn.functional.adaptive_max_pool1d(-torch.arange(float(n)).reshape(1, 1, n), m, True)
        axis = AdaptiveAxis(m)
        assert [axis.covered(k, n)[0] for k in range(m)] == first.flatten().tolist()
        assert [axis.covered(k, n)[-1] for k in range(m)] == where.flatten().tolist()


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 3), st.integers(1, 20))
def test_same_padding_gives_an_output_per_step(kernel: int, stride: int, dilation: int, n: int) -> None:
    low, high = same_padding(WindowAxis(kernel, stride, 0, dilation), n)
    assert 0 <= high - low <= 1
    assert WindowAxis(kernel, stride, low, dilation, high).output_size(n) == -(-n // stride)


@pytest.mark.parametrize(
    ("sizes", "facts"),
    [
        (((2, 2), (2, 2), (0, 0)), (True, False, False)),
        (((3, 3), (2, 2), (1, 1)), (False, True, False)),
        (((2, 2), (3, 3), (0, 0)), (False, False, True)),
        (((2, 2), (2, 2), (1, 1)), (False, False, False)),
        (((2, 2), (2, 2), ((0, 1), (0, 0))), (False, False, False)),
        (((1, 4), (1, 2), (0, 0)), (False, True, False)),
        (((2,), (2,), (0,), (3,)), (False, False, True)),  # beside the edge
        (((3,), (3,), (0,), (3,)), (False, True, True)),
    ],
)
def test_what_the_windows_do(sizes: Any, facts: tuple[bool, bool, bool]) -> None:
    field = receptive_field(*sizes)
    found = window_facts(field, None)
    assert (found.tiles, field.overlaps, found.gaps) == facts


def test_stride_is_the_kernel_size_unless_stated() -> None:
    assert receptive_field((3, 2)).stride == (3, 2)


def test_padding_differs_by_end_if_it_is_a_pair() -> None:
    field = receptive_field((2, 2), None, ((0, 1), 2))
    assert field.padding == (0, 2) and [a.output_size(3) for a in field.axes] == [2, 3]
    assert field.misses((4, 4))
    assert not receptive_field((2,), None, ((0, 1),)).misses((4,))


def test_all_wrong_sizes_are_named_at_once() -> None:
    with pytest.raises(CardError) as error:
        receptive_field((0, 2), (1, 0), (-1, (0, -2)), (1, 0))
    assert len(error.value.problems) == 5


def test_adaptive_windows_have_no_one_kernel() -> None:
    with pytest.raises(UnsupportedError, match="no one kernel size"):
        print(adaptive_field((2, 3)).kernel_size)
    with pytest.raises(CardError, match="`output_size: 0`"):
        adaptive_field((0,))
