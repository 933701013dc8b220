"""What sheets state of windows, and that a wrong statement is found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.receptive_field import ReceptiveField, WindowFacts, adaptive_field, receptive_field, window_facts
from derive.verify import windows as checking
from derive.verify.report import Verdict
from derive.verify.windows import geometry
from derive.window_axis import WindowAxis

FACTS = [
    (receptive_field((2, 2)), None, WindowFacts(1, True, False, False, False)),
    (receptive_field((3, 3), (1, 1)), None, WindowFacts(9, False, False, False, False)),
    (receptive_field((3, 3), (2, 2), (1, 1)), None, WindowFacts(4, False, False, True, False)),
    (receptive_field((2,), (3,)), None, WindowFacts(1, False, True, False, False)),
    (receptive_field((3,), (2,), None, (2,)), None, WindowFacts(3, False, True, False, False)),
    (receptive_field((2,), (2,), (2,)), None, WindowFacts(1, False, False, True, True)),
    (receptive_field((2,), (2,), ((0, 1),)), (4,), WindowFacts(1, True, False, False, False)),
    (receptive_field((2,), (2,), ceil_mode=True), (5,), WindowFacts(1, False, False, True, False)),
    (adaptive_field((3,)), None, WindowFacts(2, False, False, False, False)),
    (adaptive_field((3,)), (6,), WindowFacts(1, True, False, False, False)),
]


@pytest.mark.parametrize(("field", "size", "facts"), FACTS, ids=lambda v: str(v))
def test_facts(field: ReceptiveField, size: tuple[int, ...] | None, facts: WindowFacts) -> None:
    assert window_facts(field, size) == facts
    assert geometry(field, size).verdict == (Verdict.PROVED if size else Verdict.TESTED)


small = st.integers(1, 4)
paddings = st.integers(0, 4)


@settings(max_examples=60, deadline=None)
@given(small, small, paddings, paddings, st.integers(1, 3), st.booleans(), st.one_of(st.none(), st.integers(4, 12)))
def test_closed_forms_and_definitions_count_alike(
    kernel: int, stride: int, before: int, behind: int, dilation: int, ceil_mode: bool, n: int | None
) -> None:
    axis = WindowAxis(kernel, stride, before, dilation, behind, ceil_mode)
    if n is None or axis.output_size(n):
        assert geometry(ReceptiveField((axis,)), None if n is None else (n,)).counterexample is None


def test_a_wrong_fact_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "window_facts", lambda field, size: WindowFacts(1, True, False, False, False))
    assert geometry(receptive_field((3,), (1,)), None).verdict == Verdict.REFUTED
