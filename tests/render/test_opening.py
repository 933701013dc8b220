"""The mark of a question's points: shown once, beside the question."""

import pytest

from derive.card import Card
from derive.render.opening import question_of

CASES = {
    "(5p) Consider $f(x) = x$.": "Consider $f(x) = x$.",
    "Consider $f(x) = x$. (5p)": "Consider $f(x) = x$.",
    "Consider $f(x) = x$ **(5p)**.": "Consider $f(x) = x$.",
    "**Pooling.** [8 points]\n(a) [3 points] One.\n(b) [5 points] Two.":
        "**Pooling.**\n(a) [3 points] One.\n(b) [5 points] Two.",
    "(a) One. (3p)\n(b) Two. (5p)": "(a) One. (3p)\n(b) Two. (5p)",
    "Consider $f(3p)$.": "Consider $f(3p)$.",
}


@pytest.mark.parametrize(("text", "shown"), CASES.items())
def test_the_whole_question_s_mark_is_left_out(text: str, shown: str) -> None:
    card = Card.parse(f"---\nid: a\n---\n# Question\n{text}\n\n# Solution\n")
    assert question_of(card)[0].strip() == shown
