"""Ω and its inverse, against brute force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import CardError
from derive.receptive_field import WindowAxis, receptive_field

axes = st.builds(WindowAxis, st.integers(1, 6), st.integers(1, 5), st.integers(0, 4))


@given(axes, st.integers(1, 14))
def test_covering_is_the_inverse_of_covered(axis: WindowAxis, n: int) -> None:
    for i in range(n):
        assert list(axis.covering(i, n)) == [k for k in range(axis.output_size(n)) if i in axis.covered(k, n)]


@given(axes, st.integers(1, 14))
def test_the_last_window_fits_and_one_more_would_not(axis: WindowAxis, n: int) -> None:
    out = axis.output_size(n)
    if out:
        assert (out - 1) * axis.stride + axis.kernel_size <= n + 2 * axis.padding
    assert out * axis.stride + axis.kernel_size > n + 2 * axis.padding


@pytest.mark.parametrize(
    ("sizes", "facts"),
    [
        (((2, 2), (2, 2), (0, 0)), (True, False, False)),
        (((3, 3), (2, 2), (1, 1)), (False, True, False)),
        (((2, 2), (3, 3), (0, 0)), (False, False, True)),
        (((2, 2), (2, 2), (1, 1)), (False, False, False)),
        (((1, 4), (1, 2), (0, 0)), (False, True, False)),
    ],
)
def test_what_the_windows_do(sizes: tuple[tuple[int, int], ...], facts: tuple[bool, bool, bool]) -> None:
    field = receptive_field(*sizes)
    assert (field.tiles, field.overlaps, field.gaps) == facts


def test_stride_is_the_kernel_size_unless_stated() -> None:
    assert receptive_field((3, 2)).stride == (3, 2)


def test_all_wrong_sizes_are_named_at_once() -> None:
    with pytest.raises(CardError) as error:
        receptive_field((0, 2), (1, 0), (-1, 0))
    assert len(error.value.problems) == 3
