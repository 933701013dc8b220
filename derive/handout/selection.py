"""Which cards of a bank a handout takes, and in which order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from derive.card import Card
from derive.errors import CardError

_KEYS: dict[str, Callable[[Card], Any]] = {
    "course": lambda card: course(card).casefold(),
    "difficulty": lambda card: (difficulty(card) is None, difficulty(card)),
    "points": lambda card: (card.points is None, card.points),
    "id": lambda card: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", card.id.casefold())],
    "given": lambda card: 0,
}
ORDERS = tuple(_KEYS)


@dataclass(frozen=True)
class Selection:
    """``tags`` must all be there, ``difficulty`` lies between two bounds, ``courses`` is any of some."""

    courses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    difficulty: tuple[int, int] | None = None
    order: str = "course"

    def of(self, cards: Iterable[Card]) -> list[Card]:
        """The cards that match, in order; those that are alike keep theirs."""
        return sorted(filter(self._matches, cards), key=_KEYS[self.order])

    def _matches(self, card: Card) -> bool:
        own = {tag.casefold() for tag in tags(card)}
        level = difficulty(card)
        return (
            all(tag.casefold().lstrip("#") in own for tag in self.tags)
            and (not self.courses or course(card).casefold() in {c.casefold() for c in self.courses})
            and (self.difficulty is None or (level is not None and self.difficulty[0] <= level <= self.difficulty[1]))
        )


def course(card: Card) -> str:
    return str(card.front_matter.get("course") or "")


def tags(card: Card) -> tuple[str, ...]:
    """The card's tags, from a list or from a text with commas."""
    given = card.front_matter.get("tags") or ()
    found = given if isinstance(given, list | tuple) else str(given).split(",")
    return tuple(str(tag).strip().lstrip("#") for tag in found)


def difficulty(card: Card) -> int | None:
    given = card.front_matter.get("difficulty")
    return int(given) if isinstance(given, int | str) and re.fullmatch(r"\d{1,3}", str(given)) else None


def bounds(written: str) -> tuple[int, int]:
    """``2-3`` ↦ (2, 3), ``2`` ↦ (2, 2); raises :class:`CardError` for anything else."""
    found = re.fullmatch(r"\s*(\d{1,3})\s*(?:[-–]\s*(\d{1,3})\s*)?", written)
    if found is None or int(found[1]) > int(found[2] or found[1]):
        raise CardError(f"`{written}` is no range of difficulty; write `2` or `2-3`")
    return int(found[1]), int(found[2] or found[1])
