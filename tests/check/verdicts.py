"""What `derive.check` says of each equation of a solution, by a sign for each: p proved or tested, x refuted, - not read."""

from __future__ import annotations

import derive

RIGHT = ("proved", "tested")


def card_of(question: str) -> derive.Card:
    return derive.Card.parse(f"---\nid: a\n---\n\n# Question\n{question}\n")


def agree(question: str, text: str, signs: str, right: tuple[str, ...] = RIGHT) -> None:
    """Assert that the verdicts are these, one for each equation."""
    found = derive.check(card_of(question), text=text).checks
    said = {**dict.fromkeys(right, "p"), "refuted": "x", "not read": "-"}
    assert "".join(said.get(c.verdict, "?") for c in found) == signs, found
