"""Points of steps sum to the card's; what is listed as a mistake is one."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.calculus.messages import Messages
from derive.exposition.sheet import compose
from derive.handout.marking import HALF, UNSTATED, apportioned, marking
from derive.solve import Solution
from derive.verify.report import Report
from tests.bank import solved
from tests.calculus.zoo import ZOO


@cache
def solution(name: str) -> Solution:
    """A card's solution, or a layer's sheet as it is composed."""
    if name not in ZOO:
        return solved(name)
    messages = Messages(ZOO[name].module())
    return Solution(None, messages.given, compose(messages), Report(()), messages)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(0, 60))
def test_shares_sum_to_the_whole(weights: list[int], units: int) -> None:
    shares = apportioned(weights, units)
    assert sum(shares) == units and len(shares) == len(weights)
    assert min(shares) >= (1 if units >= len(weights) else 0)


@pytest.mark.parametrize("name", ["czech", "overlapping", "question_maxima", *ZOO])
def test_the_points_of_the_steps_sum_to_those_of_the_card(name: str) -> None:
    for points in (*range(1, 13), 40):
        found = marking(solution(name), points)
        assert sum(step.points for step in found.steps) == points == found.points
        assert all(step.points >= HALF for step in found.steps)
        assert all(0 < mistake.cost <= points for mistake in found.mistakes)
        shown = [f for step in found.steps for f in step.formulas]
        assert len(shown) == len([b for b in solution(name).sheet.answer if getattr(b, "definition", True) is False])


def test_whole_points_where_they_suffice_and_halves_where_they_do_not() -> None:
    assert [step.points for step in marking(solution("overlapping"), 8).steps] == [2, 2, 2, 1, 1]
    assert [step.points for step in marking(solution("overlapping"), 4).steps] == [1, 1, 1, HALF, HALF]
    assert [step.kinds for step in marking(solution("overlapping"), 1).steps] == [
        ("forward", "jacobian"), ("message", "again", "reasons")]  # fmt: skip


def test_a_card_without_points_is_marked_out_of_a_usual_number() -> None:
    assert marking(solution("overlapping"), None).points == UNSTATED


def words(name: str) -> set[str]:
    return {mistake.words.split(":")[0] for mistake in marking(solution(name), 6).mistakes}


def test_an_overlap_can_only_be_lost_where_windows_overlap() -> None:
    lost = "where windows overlap only one contribution is kept"
    assert lost in words("overlapping") and lost not in words("czech")


def test_mistakes_of_a_message_need_a_message() -> None:
    assert "the upstream gradient is left out" in words("czech")
    assert "the upstream gradient is left out" not in words("question_maxima")


def test_mistakes_are_listed_once_and_slips_cost_half() -> None:
    found = {m.words: m.cost for m in marking(solution("czech"), 10).mistakes}
    assert len(found) == len(marking(solution("czech"), 10).mistakes)
    assert found["the sign is wrong"] == Fraction(found["no gradient is passed back at all"], 2)


def test_mistakes_follow_from_the_formulas() -> None:
    assert "a sum is lost" in words("linear")
    assert "the cases are not told apart, or their boundary is at the wrong place" in words("prelu")
    assert "the cases are not told apart, or their boundary is at the wrong place" not in words("softmax")
