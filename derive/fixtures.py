"""What a test of one's own may ask pytest for: found where the package is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from derive.solve import Solution


@pytest.fixture(scope="session")
def derived() -> Callable[..., Solution]:
    """``derived("max_pool", kernel_size=2)``: the solution of a layer, a module or a card, derived once for all tests.

    It is what ``derive.testing`` takes for a layer; a layer with an equation that failed fails the test.
    """
    from derive.testing import solution_of

    def of(layer: str, **options: object) -> Solution:
        found = solution_of(layer, options)
        assert found.report.ok, found.report.failures
        return found

    return of
