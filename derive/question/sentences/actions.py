"""What rows make of what they read: an action's name and what it was given, or a value of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from derive.question.sentences import request_atoms
from derive.question.sentences.tokens import Token
from derive.records import dataclass


@dataclass(frozen=True)
class Say:
    """What a row makes: its action's name, and what it was given."""

    kind: str
    of: tuple[Any, ...] = ()

    def __getitem__(self, n: int) -> Any:
        return self.of[n] if n < len(self.of) else None


class Actions(dict[str, Callable[..., Any]]):
    """The few that make something of their own; every other action is what it says."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        return lambda *of: Say(name, of)


def flat(*values: Any) -> tuple[Any, ...]:
    found: list[Any] = []
    for value in values:
        if value is not None:
            found += flat(*value) if isinstance(value, tuple) else [value]
    return tuple(found)


def _case(one: Token, other: Token) -> Say | None:
    return Say("case", (one, other)) if request_atoms.complementary(one, other) else None


ACTIONS = Actions(asks=lambda *of: Say("asks", (flat(*of),)), case=_case, one=lambda value: value, many=flat, both=flat,
                  say=lambda name: Say(name))
