"""The flat tree of a formula: tokens, groups, scripts. It knows brackets, not meanings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class Token:
    """``type`` is its class in vocabulary.py; ``text`` the canonical text (a NAME's ASCII name)."""

    type: str
    text: str
    start: int
    end: int

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Group:
    """``bracket`` is the opening terminal: LBRACE (invisible), LPAREN, LBRACK, LSET, LFLOOR, LCEIL or LBAR."""

    bracket: str
    items: tuple[Item, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scripted:
    """base_{sub}^{sup}′; more than one sub or sup is an error for the elaboration to report."""

    base: Item
    subs: tuple[tuple[Item, ...], ...]
    sups: tuple[tuple[Item, ...], ...]
    primes: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command with arguments: FRAC (two), SQRT (one), UNDER (what stands below, base)."""

    type: str
    arguments: tuple[tuple[Item, ...], ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Env:
    """``\\begin{name} … \\end{name}``; AMP and CR stand among the items."""

    name: str
    items: tuple[Item, ...]
    start: int
    end: int


Item = Token | Group | Scripted | Command | Env
Items = Sequence[Item]


def is_token(item: Item | None, *types: str) -> TypeGuard[Token]:
    return isinstance(item, Token) and item.type in types


def is_group(item: Item | None, *brackets: str) -> TypeGuard[Group]:
    return isinstance(item, Group) and item.bracket in brackets


def split(items: Items, *types: str) -> list[list[Item]]:
    """The runs of items between tokens of the given types."""
    runs: list[list[Item]] = [[]]
    for item in items:
        if is_token(item, *types):
            runs.append([])
        else:
            runs[-1].append(item)
    return runs


def has(items: Items, *types: str) -> bool:
    """Whether a token of these types stands among the items themselves (not inside their groups)."""
    return any(is_token(item, *types) for item in items)


def unwrap(items: Items) -> Items:
    """The items inside a lone pair of braces."""
    while len(items) == 1 and isinstance(items[0], Group) and items[0].bracket == "LBRACE":
        items = items[0].items
    return items


def inside(item: Item) -> Iterator[Item]:
    """The item and all below it, from left to right."""
    yield item
    if isinstance(item, (Group, Env)):
        below: tuple[tuple[Item, ...], ...] = (item.items,)
    elif isinstance(item, Scripted):
        below = ((item.base,), *item.subs, *item.sups)
    else:
        below = item.arguments if isinstance(item, Command) else ()
    for run in below:
        for child in run:
            yield from inside(child)
