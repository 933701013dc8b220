"""Which cards a handout takes, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from derive.card import Card
from derive.errors import CardError
from derive.handout import Selection, bounds


def card(id: str, course: str = "", tags: str = "[]", difficulty: str = "", points: int = 0) -> Card:
    opening = f"({points}p) " if points else ""
    level = f"difficulty: {difficulty}\n" if difficulty else ""
    return Card.parse(f"---\nid: {id}\ncourse: {course}\ntags: {tags}\n{level}---\n# Question\n{opening}Q\n")


BANK = [
    card("q10", "Vision", "[cnn, max-pooling]", "3", 5),
    card("q9", "Learning", "[cnn, '#exam']", "2", 2),
    card("q2", "vision", "cnn, exam", "1"),
    card("q1", "Learning", "[]", "hard", 8),
]
CHOSEN = [
    ({"order": "given"}, "q10 q9 q2 q1"),
    ({}, "q9 q1 q10 q2"),  # by course, whatever its capitals; within one as given
    ({"order": "id"}, "q1 q2 q9 q10"),
    ({"order": "difficulty"}, "q2 q9 q10 q1"),  # those without one come last
    ({"order": "points"}, "q9 q10 q1 q2"),
    ({"tags": ("cnn",), "order": "given"}, "q10 q9 q2"),
    ({"tags": ("CNN", "#exam"), "order": "given"}, "q9 q2"),
    ({"tags": ("none",)}, ""),
    ({"courses": ("VISION",), "order": "given"}, "q10 q2"),
    ({"courses": ("Vision", "Learning"), "order": "given"}, "q10 q9 q2 q1"),
    ({"difficulty": (2, 3), "order": "given"}, "q10 q9"),
    ({"difficulty": (1, 2), "tags": ("exam",), "order": "given"}, "q9 q2"),
]


@pytest.mark.parametrize(("options", "ids"), CHOSEN)
def test_selection(options: dict[str, Any], ids: str) -> None:
    assert " ".join(c.id for c in Selection(**options).of(BANK)) == ids


@pytest.mark.parametrize(("written", "found"), [("2", (2, 2)), ("2-3", (2, 3)), (" 1 – 12 ", (1, 12))])
def test_bounds(written: str, found: tuple[int, int]) -> None:
    assert bounds(written) == found


@pytest.mark.parametrize("written", ["", "3-2", "a", "1-2-3", "-1", "1.5"])
def test_what_is_no_range_of_difficulty(written: str) -> None:
    with pytest.raises(CardError, match="write `2` or `2-3`"):
        bounds(written)
