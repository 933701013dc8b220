"""Windows that no sheet is made of are refused at once."""

from __future__ import annotations

from typing import Any

import pytest

from derive import solve
from derive.errors import UnsupportedError
from derive.layers import layer
from derive.layers.refused import refuse_large_windows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel_size": 100_000}, "a window of 10,000,000,000 entries"),
        ({"kernel_size": 17}, "a window of 289 entries"),
        ({"kernel_size": 2, "stride": 100_000}, "spans 100,000 cells"),
        ({"kernel_size": 2, "dilation": 300}, "spans 301 cells"),
        ({"kernel_size": 2, "padding": 100_000}, "spans 100,000 cells"),
    ],
)
@pytest.mark.parametrize("name", ["max_pool", "lse_pool"])
def test_a_window_that_is_too_large(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        solve(layer(name, **arguments))
    assert message in str(raised.value)


@pytest.mark.parametrize(("name", "kernel_size"), [("max_pool", 2), ("max_pool", 11), ("avg_pool", 16)])
def test_a_usual_window(name: str, kernel_size: int) -> None:
    refuse_large_windows(layer(name, kernel_size=kernel_size))


def test_entries_that_are_compared_are_fewer() -> None:
    with pytest.raises(UnsupportedError, match="144 entries that are compared: a sheet has at most 128"):
        refuse_large_windows(layer("max_pool", kernel_size=12))
