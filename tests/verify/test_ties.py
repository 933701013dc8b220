"""Messages at ties: in the Clarke subdifferential under each rule; independent choices are not."""

from __future__ import annotations

from typing import Any

import pytest

import derive
from derive.verify import ties
from derive.verify.report import Verdict
from derive.verify.ties import Message, apart, clarke

LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("max_pool", {"kernel_size": 3, "stride": 1}), ("min_pool", {"kernel_size": (3,), "stride": 2, "padding": 1}),
    ("max_abs_pool", {"kernel_size": (2,), "stride": 1}), ("adaptive_max_pool", {"output_size": (2,)}),
    ("global_max_pool", {"dims": 1}),
]


@pytest.mark.parametrize("rule", ["first", "last", "split"])
@pytest.mark.parametrize(("name", "arguments"), LAYERS, ids=lambda v: str(v))
def test_each_rule_stays_inside(name: str, arguments: dict[str, Any], rule: str) -> None:
    (found,) = clarke(derive.layer(name, tie_rule=rule, **arguments))
    assert (found.verdict, found.points) == (Verdict.TESTED, 20)


def test_a_median_splits() -> None:
    (found,) = clarke(derive.layer("median_pool", kernel_size=(3,), stride=1))
    assert found.verdict == Verdict.TESTED


def test_nothing_is_selected_by_an_average() -> None:
    assert clarke(derive.layer("avg_pool", kernel_size=2)) == ()


def test_a_message_outside_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    module = derive.layer("max_pool", kernel_size=(4,), stride=1)
    right = Message.at
    monkeypatch.setattr(Message, "at", lambda self, point: {at: 2 * n for at, n in right(self, point).items()})
    ties._clarke.cache_clear()
    (found,) = clarke(module)
    ties._clarke.cache_clear()
    assert found.verdict == Verdict.REFUTED


def test_independent_choices_can_leave_it() -> None:
    assert apart().verdict == Verdict.PROVED
