"""A place in a run of items."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from derive.notation.tree import Group, Item, Items, Scripted, Token, is_token

_STARTS = frozenset("NAME NUMBER BIG FN IND INFTY CONV PARTIAL NABLA".split())


def starts_factor(item: Item | None) -> bool:
    return item is not None and (not isinstance(item, Token) or item.type in _STARTS)


def normal(item: Item) -> Item:
    """The item without invisible braces around a lone item: ``{z_i}^l`` is ``z_i^l``."""
    while isinstance(item, Group) and item.bracket == "LBRACE" and len(item.items) == 1:
        item = item.items[0]
    if isinstance(item, Scripted) and isinstance(item.base, Group) and item.base.bracket == "LBRACE":
        base = normal(item.base)
        if isinstance(base, Scripted):
            return Scripted(base.base, base.subs + item.subs, base.sups + item.sups, base.primes + item.primes,
                            item.start, item.end)
        if base is not item.base:
            return replace(item, base=base)
    return item


@dataclass
class Cursor:
    """A place in a run of items."""

    items: Items
    end: int  # where the run ends in the source
    at: int = 0
    opened: list[tuple[str, str]] = field(default_factory=list)  # what sums and maxima bind, with their sign

    def peek(self, ahead: int = 0) -> Item | None:
        place = self.at + ahead
        return normal(self.items[place]) if place < len(self.items) else None

    def take(self) -> Item:
        self.at += 1
        return normal(self.items[self.at - 1])

    def taken(self, *types: str) -> bool:
        """Take the next item if it is such a token."""
        if is_token(self.peek(), *types):
            self.at += 1
            return True
        return False

    @property
    def place(self) -> int:
        return self.items[self.at].start if self.at < len(self.items) else self.end
