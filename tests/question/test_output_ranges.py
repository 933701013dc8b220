"""Where a question says that an output's index runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import derive
from derive.errors import UnsupportedError

FORMULA = r"""---
id: filter
---

# Question
From the samples $x_0, \dots, x_{N-1}$ a filter $w$ computes
$$ y_n = \sum_{m=0}^{M-1} w_m x_{n+m}, \qquad %s. $$
Derive the backward message.
"""


def solved(tmp_path: Path, said: str) -> derive.Solution:
    path = tmp_path / "filter.md"
    path.write_text(FORMULA % said)
    return derive.solve(path)


@pytest.mark.parametrize(("said", "entries"), [
    (r"n = 0, \dots, N - M", 6), (r"n = 0, \dots, N - M - 1", 5), (r"0 \le n < 3", 3), (r"0 \le n < T", 6),
])  # fmt: skip
def test_the_stated_range_is_the_outputs_extent(tmp_path: Path, said: str, entries: int) -> None:
    solution = solved(tmp_path, said)
    assert solution.report.ok
    assert solution.forward(w=np.ones(3), x=np.arange(8.0)).shape == (entries,)
    assert solution.jacobian("x", w=np.ones(3), x=np.arange(8.0)).shape == (entries, 8)


def test_a_range_beyond_the_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="takes 8 values, and only 6 keep all indices in range|takes"):
        solved(tmp_path, r"n = 0, \dots, N - 1")


def test_outputs_that_begin_later_are_counted_from_the_first(tmp_path: Path) -> None:
    solution = solved(tmp_path, r"n = 2, \dots, N - M")
    assert solution.module.recounted is not None
    x = np.arange(8.0) ** 2
    assert np.allclose(solution.forward(w=np.ones(3), x=x), [x[n:n + 3].sum() for n in range(2, 6)])
