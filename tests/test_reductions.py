"""One record per reduction: what checks it does not come from the formula that the calculus differentiates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import derive
from derive import reductions
from derive.expr import MINUS_ONE, ONE, Num, Pow, mul
from derive.numeric.arithmetic import EXACT, FLOAT, in_full
from derive.numeric.compile import _in_full
from derive.reductions import REDUCTIONS, G, Reduction, total
from tests.test_functions import refuted, rendered, solve

MEAN_SQUARE = Reduction(
    "meansquare", ("meansq",), r"\operatorname{meansq}", "mean of squares", numpy="np.mean(np.square({}), axis=0)",
    loop=lambda terms, kind: kind.quotient(sum(t * t for t in terms), len(terms)),
    definition=mul(Pow(total(ONE), MINUS_ONE), total(Pow(G, Num(2)))))


@pytest.fixture
def planted() -> Iterator[None]:
    """Whatever a test registers goes again."""
    before = dict(REDUCTIONS)
    yield
    REDUCTIONS.clear()
    for record in before.values():
        reductions.register(record)


@pytest.mark.parametrize("name", [n for n, r in REDUCTIONS.items() if r.loop])
def test_the_loop_and_numpy_agree(name: str) -> None:
    terms = [3, -1, 4, 1]
    exact, rounded = in_full(EXACT)(name, terms), in_full(FLOAT)(name, [float(t) for t in terms])
    rows = [np.array([float(t), 7.0]) for t in (*terms, 9)]
    masks = [None, None, None, None, np.array([False, True])]
    assert rounded == pytest.approx(float(exact)) == _in_full(name, rows, masks)[0]
    assert isinstance(exact, (int, Fraction))


def test_a_new_reduction_is_one_record(tmp_path: Path, planted: None) -> None:
    reductions.register(MEAN_SQUARE)
    solution = solve(tmp_path, r"y_t = \operatorname{meansq}_{i} (x_{ti} - \operatorname{mean}_j x_{tj})", "meansq")
    assert solution.report.ok
    assert {c.verdict for c in solution.report.checks if c.name in ("jacobian_x", "message_x")} == {"proved"}
    x = np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 2.0]])
    np.testing.assert_allclose(solution.forward(x=x), x.var(axis=1))
    np.testing.assert_allclose(solution.backward("x", upstream=np.ones(2), x=x),
                               2 * (x - x.mean(axis=1, keepdims=True)) / 3)
    pages = rendered(solution)
    assert all("meansq" in page and "np.square(" in page for page in pages.values())
    reductions.forget("meansquare")
    assert "meansq" not in reductions.SPELLINGS


def test_a_reduction_that_selects_is_one_record(tmp_path: Path, planted: None) -> None:
    """max under another name: it has a place, and is taken of a list, too."""
    reductions.register(replace(REDUCTIONS["max"], name="max", spellings=("max", "peak")))
    solution = solve(tmp_path, r"y = \operatorname{peak}_i x_i", "peak")
    assert solution.report.ok and solution.forward(x=np.array([1.0, 5.0, 2.0])) == 5


def test_a_wrong_definition_in_a_record_is_refuted(tmp_path: Path, planted: None,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    formula = r"y = \operatorname{mean}_i x_i^2"
    reductions.register(replace(REDUCTIONS["mean"], definition=total(G)))
    with pytest.raises(derive.VerificationError, match="a worked example"):
        solve(tmp_path, formula, "sum_for_mean")
    monkeypatch.setattr("derive.exposition.worked._agreeing", lambda derived, *_: derived)
    assert "jacobian_x" in refuted(solve(tmp_path, formula, "sum_for_mean_unchecked"))


def test_a_label_is_no_reduction(tmp_path: Path) -> None:
    solution = solve(tmp_path, r"y_k = x_k - w_{\text{mean}}", "label")
    assert solution.report.ok
