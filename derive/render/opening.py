"""A question without the mark that says what it is worth; its points stand in its heading instead."""

from __future__ import annotations

import re

from derive.card import Card

_MARK = r"[(\[]\s*\d{1,4}\s*(?:p|pts?|points?|b|body|bodů|bod)\.?\s*[)\]]"
_OPENING = re.compile(rf"\s*{_MARK}\s*", re.IGNORECASE)
_INSIDE = re.compile(rf"(?:(?<=\s)|^)(\*\*|[*_]|){_MARK}\1(?=\s|[.,;:]|$)", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", re.DOTALL)


def question_of(card: Card) -> tuple[str, int]:
    """The question's own words, and the line at which they begin."""
    opening = _OPENING.match(card.question) if card.points else None
    text = card.question[opening.end() :] if opening else _without_mark(card)
    line = card.question_line + (card.question.count("\n", 0, opening.end()) if opening else 0)
    return text.replace("\r\n", "\n"), line


def _without_mark(card: Card) -> str:
    """The mark of the whole question left out, wherever it stands; those of its parts stay."""
    words = _FORMULA.sub(lambda f: "x" * len(f[0]), card.question)
    found = list(_INSIDE.finditer(words))
    worth = [int(_NUMBER.search(f[0])[0]) for f in found]  # type: ignore[index]
    if not found or worth[0] != card.points or worth[1:] and sum(worth[1:]) != worth[0]:
        return card.question
    before, after = card.question[: found[0].start()], card.question[found[0].end() :]
    return before.rstrip(" \t") + after
