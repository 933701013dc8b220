"""A question without the points that open it; they stand in its heading instead."""

from __future__ import annotations

import re

from derive.card import Card

_POINTS = re.compile(r"\s*[(\[]\s*\d{1,4}\s*[a-zů]+\.?\s*[)\]]\s*", re.I)


def question_of(card: Card) -> tuple[str, int]:
    """The question's own words, and the line at which they begin."""
    opening = _POINTS.match(card.question) if card.points else None
    text = card.question[opening.end() :] if opening else card.question
    line = card.question_line + (card.question.count("\n", 0, opening.end()) if opening else 0)
    return text.replace("\r\n", "\n"), line
