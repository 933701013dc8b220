"""Where a question says that an output's index runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import derive
from derive.axes import axes
from derive.card import Card
from derive.errors import CardError, UnsupportedError
from derive.question import module_of
from derive.specify.writing import statement_of

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


COUNTED = "---\nid: counted\n---\n\n# Question\nA layer computes\n$$ %s $$\nDerive the backward message.\n"


@pytest.mark.parametrize(("formula", "expected"), [
    (r"y_j = u_{2j-1} u_{2j}, \qquad j = 1, \dots, m.", [2, 12, 30]),
    (r"y_j = u_{2j}, \qquad j = 1, \dots, m.", [2, 4, 6]),  # from 0 it would be 1, 3, 5
    (r"y_j = u_{2j-1} - u_{2j}.", [-1, -1, -1]),
    (r"y_t = u_t + 10 u_{t-2}, \qquad t = 3, \dots, n.", [13, 24, 35, 46]),
])  # fmt: skip
def test_what_begins_at_1_is_counted_from_1(tmp_path: Path, formula: str, expected: list[int]) -> None:
    path = tmp_path / "counted.md"
    path.write_text(COUNTED % formula)
    solution = derive.solve(path)
    assert solution.report.ok
    assert np.allclose(solution.forward(u=np.arange(1.0, 7.0)), expected)
    again = module_of(Card.parse(f"---\nid: q\n{statement_of(solution.module).text}---\n# Question\nDerive.\n", "q.md"))
    assert again.equations == solution.module.equations
    assert again.first == solution.module.first


LISTED = r"""---
id: listed
---

# Question
For the values %s of a batch let $\mu = \frac{1}{m} \sum_i x_i$ and $y_i = x_i - \mu$. Derive $\frac{\partial L}{\partial x_i}$.
"""


@pytest.mark.parametrize(("values", "first"), [
    (r"$x_1, \dots, x_m$", 1), (r"$x_1, x_2, \ldots, x_m$", 1), (r"$x_0, \dots, x_{m-1}$", 0), (r"$x \in \mathbb{R}^m$", 0),
])  # fmt: skip
def test_a_list_of_entries_says_where_counting_begins(tmp_path: Path, values: str, first: int) -> None:
    path = tmp_path / "listed.md"
    path.write_text(LISTED % values)
    solution = derive.solve(path)
    assert solution.report.ok
    assert axes(solution.module).origin("x", 0) == axes(solution.module).origin("y", 0) == first
    again = module_of(Card.parse(f"---\nid: q\n{statement_of(solution.module).text}---\n# Question\nDerive.\n", "q.md"))
    assert axes(again).origin("x", 0) == first


def test_an_entry_in_front_of_the_first_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "counted.md"
    path.write_text(COUNTED % r"y_j = u_{2j-1} u_{2j}, \qquad j = 0, \dots, m.")
    with pytest.raises(CardError, match="start at 0, where an entry of index -1 is used"):
        derive.solve(path)


POOLED = r"""---
id: pooled%s
---

# Question
A pooling with windows of $m$ samples, placed every $s$ samples, computes
$$ y_t = \frac1m \sum_{k=0}^{m-1} x_{ts+k}, $$
where $s < m$ is allowed. Derive the backward message.
"""


@pytest.mark.parametrize(("facts", "steps"), [
    ("", ["m", "s"]), ("\nfacts: ['m = 3']", ["s"]), ("\nfacts: ['m = 3', 's = 2']", [])])
def test_letters_of_strides_and_windows_stay_letters_where_they_have_no_numbers(facts: str, steps: list[str]) -> None:
    module = module_of(Card.parse(POOLED % facts))
    assert module.given == ("x",)
    assert [name for name, _ in module.steps] == steps


def test_consecutive_blocks_begin_with_their_first_entry(tmp_path: Path) -> None:
    path = tmp_path / "blocks.md"
    path.write_text("---\nid: blocks\n---\n\n# Question\nA layer sums blocks, $$y_k = \\sum_{j=1}^{3} x_{3(k-1)+j}^2, \\qquad k = 1, "
                    "\\dots, K.$$ Derive the backward message.\n")
    assert derive.solve(path).forward(x=np.arange(6.0)).tolist() == [5, 50]


@pytest.mark.parametrize("divided", [r"\frac{1}{\tau} u_i^\top v_j", r"u_i^\top v_j / \tau", r"\frac{1}{\tau} \sum_k u_{ik} v_{jk}"])
def test_a_greek_divisor_is_no_number_of_terms(divided: str) -> None:
    module = module_of(Card.parse("---\nid: q\n---\n\n# Question\n" rf"Let $S_{{ij}} = {divided}$ for $i, j = 1, \dots, N$. "
                                  r"Derive $\partial S_{ij} / \partial v_{jk}$." "\n"))
    assert "tau" in module.passed


@pytest.mark.parametrize("first", [0, 1])
def test_a_table_is_counted_as_what_points_into_it(first: int) -> None:
    last = ("N - 1", "N")[first]
    solution = derive.solve(Card.parse("---\nid: q\n---\n\n# Question\n" rf"Word numbers $c_t \in \{{{first}, \dots, {last}\}}$ point into a "
                                       r"table $E \in \mathbb{R}^{N \times d}$. The layer is $y_{tj} = E_{c_t, j}$. Given "
                                       r"$\partial L/\partial y_{tj}$, find $\partial L/\partial E_{kj}$." "\n"))
    table, words = np.arange(12.0).reshape(4, 3), np.array([2, 1, 2])
    assert np.asarray(solution.forward(E=table, c=words)) == pytest.approx(table[words - first])
