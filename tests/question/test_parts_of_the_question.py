"""The parts of a question, (a), (b), by the marks before a place of it."""

from __future__ import annotations

import pytest

from derive.question.words.prose import prose_of

MARKS = [
    ("(a) Derive one. (b) Derive two. (c) Why?", ["(a)", "(b)", "(c)"]),
    ("Let it be.\n\n1. Derive one.\n2. Derive two.", ["1.", "2."]),
    ("a) Derive one; b) Derive two.", ["a)", "b)"]),
    ("As in (2), derive one. (2) Derive two.", ["", ""]),  # no part without the one before it
    ("Derive (1) one, (2) two.", ["(1)", "(2)"]),
    ("Derive (a) one and (b) two.", ["(a)", "(b)"]),
    ("Derive by (1) one and two.", ["", ""]),  # an equation
    ("Derive one and two.", ["", ""]),
]


@pytest.mark.parametrize(("question", "marks"), MARKS)
def test_a_part_is_the_last_mark_of_a_sequence(question: str, marks: list[str]) -> None:
    plain = prose_of(question, 1, ()).plain
    found = [plain.part(question.index(word)) for word in ("one", "two", "Why") if word in question]
    assert found == marks
