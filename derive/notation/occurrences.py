"""Where each letter of a card's formulas stands: what the gathering of declarations looks at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from derive.notation.cursor import normal
from derive.notation.errors import NotationError, Source
from derive.notation.pieces import Pieces, divided, lines, variable, variables
from derive.notation.tree import Command, Env, Group, Item, Items, Scripted, Token, has, inside, is_token, split, unwrap


@dataclass(frozen=True)
class Occurrence:
    """A letter with its subscript, and what follows it; ``opens`` where it opens the formula."""

    name: str
    sub: Items | None
    following: Group | None
    in_index: bool
    bare: bool  # no sub, no star, no word around it
    opens: bool = False
    above: str | None = None  # a letter alone in the superscript


@dataclass
class Occurrences:
    """All occurrences in order, and what the formulas say outright."""

    all: list[Occurrence] = field(default_factory=list)
    bound: list[str] = field(default_factory=list)
    bounds: list[Items] = field(default_factory=list)  # limits of sums and ranges
    sets: list[tuple[Items, list[str]]] = field(default_factory=list)  # a set's items and its members' letters
    starred: list[str] = field(default_factory=list)
    maximisers: list[tuple[list[str], Items]] = field(default_factory=list)  # (i^*, j^*) = items
    shapes: list[tuple[list[str], list[Items]]] = field(default_factory=list)  # x ∈ R^{H×W}

    def formula(self, source: Source, items: Items) -> None:
        self.run(source, items, False, True)
        parts = split(items, "REL")
        for left, right in itertools.pairwise(parts):
            stars = _stars(left)
            if stars and right and any(is_token(i, "BIG") or _big(i) for i in right):
                self.maximisers.append((stars, right))

    def run(self, source: Source, items: Items, in_index: bool, top: bool = False, sums: bool = False) -> None:
        """A run of items: its memberships (those below ``sums`` are known already), then its items one by one."""
        for part in [] if sums else split(items, "COMMA", "TEXT", "COLON", "MID", "AND", "IFF", "CR", "AMP", "SEMI"):
            self.membership(part)
        for n in range(len(items) - 4):
            if is_token(items[n + 1], "REL") and is_token(items[n + 3], "COMMA") and is_token(items[n + 4], "DOTS"):
                self.bound += variables(items[n : n + 1]) or []  # k = 1, \dots, K
                self.bounds.append(items[n + 6 :])
        parts = split(items, "REL")
        if len(parts) == 2 and len(parts[1]) == 1 and isinstance(parts[1][0], Group) and parts[1][0].bracket == "LSET":
            inner = divided(parts[1][0].items)  # Ω(k, l) = { (i, j) : … }
            if inner is not None and (element := variables(split(inner[0], "IN")[0])) is not None:
                self.sets.append((parts[0], element))
        words = _words(items)
        for n, raw in enumerate(items):
            following = normal(items[n + 1]) if n + 1 < len(items) else None
            self.item(source, normal(raw), following, in_index, n in words, top and n == 0)

    def item(
        self, source: Source, item: Item, following: Item | None, in_index: bool, word: bool, opens: bool
    ) -> None:
        base = item.base if isinstance(item, Scripted) else item
        if isinstance(base, Token) and base.type == "NAME":
            self.letter(source, item, base, following, in_index, word, opens)
            return
        big = _big(item)
        if big is not None:
            self.below(source, big[0], big[1], following)
            for sup in item.sups if isinstance(item, Scripted) else ():
                self.bounds.append(sup)
                self.run(source, sup, in_index)
            return
        if isinstance(base, (Group, Env)):
            inner = divided(base.items) if isinstance(base, Group) and base.bracket == "LSET" else None
            if inner is not None and (element := variables(split(inner[0], "IN")[0])) is not None:
                self.bound += element
            self.run(source, base.items, in_index)
        if isinstance(base, Command) and base.type == "FRAC":
            base = _without_d(base)
        for argument in (*(base.arguments if isinstance(base, Command) else ()),
                         *((*item.subs, *item.sups) if isinstance(item, Scripted) else ())):
            self.run(source, argument, in_index or (isinstance(item, Scripted) and argument in item.subs
                                                    and isinstance(base, Group)))

    def letter(
        self, source: Source, item: Item, base: Token, following: Item | None, in_index: bool, word: bool, opens: bool
    ) -> None:
        sub = item.subs[0] if isinstance(item, Scripted) and item.subs else None
        starred = isinstance(item, Scripted) and any(is_token(s[0], "STAR") for s in item.sups if len(s) == 1)
        if starred:
            self.starred.append(base.text)
        behind = following.base if isinstance(following, Scripted) else following
        group = behind if isinstance(behind, Group) and behind.bracket in ("LPAREN", "LBRACK") else None
        if isinstance(following, Scripted) and group is not None and following.subs and sub is None:
            sub = following.subs[0]  # f(x)_{kl}
        above = label_of(item.sups[0][0]) if isinstance(item, Scripted) and item.sups and item.sups[0] else None
        bare = sub is None and not starred and not word
        self.all.append(Occurrence(base.text, sub, group, in_index, bare, opens, above))
        if sub is not None:
            self.run(source, sub, True)
        for sup in item.sups if isinstance(item, Scripted) else ():
            alone = label_of(sup[0]) if len(sup) == 1 else None
            if base.text == "e" or (alone is None and not is_token(sup[0] if sup else None, "STAR", "TOP")):
                self.run(source, sup, in_index)  # a letter alone above declares nothing: power, layer or sample

    def below(self, source: Source, sub: Items, base: Token, following: Item | None) -> None:
        """What stands below a sum."""
        items = lines(sub)
        parts = divided(items)
        found = Pieces(source)
        try:
            found.sort(parts[0] if parts is not None else items, base)
        except NotationError:
            letters = following.subs[0] if isinstance(following, Scripted) and following.subs else ()
            if parts is None and variables(letters) is not None:
                self.sets.append((items, variables(letters) or []))  # \max_{\Omega(k,l)} x_{ij}
        self.bound += found.names
        for names, is_tuple, right in found.members:
            self.member_of(names, is_tuple, right)
        for part in split(items, "COLON", "MID", "TEXT")[1:]:
            for piece in split(part, "COMMA"):
                self.membership(piece)
        self.bounds += [b for b, _ in (*found.lower.values(), *found.upper.values())]
        self.run(source, items, False, sums=True)

    def member_of(self, names: list[str], is_tuple: bool, right: Items) -> None:
        """``i, j \\in \\Omega(k, l)``: pairs where the set has two letters of its own, else undecided."""
        head = normal(right[0])
        subs = head.subs[0] if isinstance(head, Scripted) and head.subs else None
        behind = normal(right[1]) if len(right) > 1 else None
        arguments = subs if subs is not None else behind.items if isinstance(behind, Group) else ()
        letters = variables(arguments) or []
        if is_tuple or len(names) == 1 or len(letters) == len(names):
            self.sets.append((right, [n.rstrip("'") for n in names]))
        else:
            self.sets.append((right, []))

    def membership(self, part: Items) -> None:
        """(i, j) ∈ Ω(k, l); x ∈ R^{H×W}; Ω(k, l) ∋ (i, j)."""
        if not has(part, "IN", "NI"):
            return
        left, right = split(part, "IN", "NI")[:2]
        if has(part, "NI"):
            left, right = right, left
        names = variables(left)
        if names is None or not right:
            return
        head = normal(right[0])
        base = head.base if isinstance(head, Scripted) else head
        if isinstance(base, Token) and base.text == "R_bb":
            power = unwrap(head.sups[0]) if isinstance(head, Scripted) and head.sups else ()
            self.shapes.append((names, [*map(tuple, split(power, "TIMES"))] if power else []))
        elif isinstance(base, Token) and base.type == "NAME" and not base.text.endswith("_bb"):
            self.sets.append((right, [n.rstrip("'") for n in names]))
        else:
            self.bound += [n.rstrip("'") for n in names]
            for item in right:
                if isinstance(item, Group):
                    self.bounds.append(item.items)


def label_of(item: Item | None) -> str | None:
    """The letter or word that labels a symbol: f of ``δ_{f,kl}``."""
    item = normal(item) if item is not None else None
    if isinstance(item, Token) and item.type in ("NAME", "TEXT"):
        return item.text.strip().replace(" ", "_")
    return None


def _big(item: Item) -> tuple[Items, Token] | None:
    """What stands below a \\max, \\sum …, and the command."""
    if isinstance(item, Scripted) and isinstance(item.base, Token) and item.base.type == "BIG" and item.subs:
        return item.subs[0], item.base
    if isinstance(item, Command) and item.type == "UNDER":
        base = unwrap(item.arguments[1])
        if len(base) == 1 and isinstance(base[0], Token) and base[0].type == "BIG":
            return item.arguments[0], base[0]
    return None


def _without_d(fraction: Command) -> Command:
    """The fraction without the d of df/dx."""
    above, below = (tuple(unwrap(a)) for a in fraction.arguments)
    if all(a and isinstance(a[0], Token) and a[0].text == "d" for a in (above, below)) and len(below) > 1:
        return Command("FRAC", (above[1:], below[1:]), fraction.start, fraction.end)
    return fraction


def _stars(items: Items) -> list[str] | None:
    """i, j of (i^*, j^*)."""
    items = unwrap(items)
    if len(items) == 1 and isinstance(items[0], Group) and items[0].bracket == "LPAREN":
        items = items[0].items
    elif len(items) == 1 and isinstance(items[0], Scripted) and isinstance(items[0].base, Group):
        starred = bool(items[0].sups) and is_token(items[0].sups[0][0], "STAR")
        return variables(items[0].base.items) if starred else None
    found: list[str | None] = []
    for item in (normal(i) for i in items if not is_token(i, "COMMA")):
        if found and isinstance(item, Group) and item.bracket == "LPAREN":
            continue  # the arguments in i^*(k, l)
        if not isinstance(item, Scripted) or not item.sups or not is_token(item.sups[0][0], "STAR"):
            return None
        found.append(variable(item.base))
    return [f for f in found if f is not None] or None


def _words(items: Items) -> set[int]:
    """Places of three or more letters written as one word, such as ``grad``: no symbols."""
    found: set[int] = set()
    run: list[int] = []
    for n, item in enumerate([*items, None]):
        joined = (isinstance(item, Token) and item.type == "NAME" and item.end - item.start == 1
                  and (not run or items[run[-1]].end == item.start))
        if not joined:
            if len(run) >= 3:
                found |= set(run)
            run = []
        if isinstance(item, Token) and item.type == "NAME" and item.end - item.start == 1:
            run.append(n)
    return found


def names_in(items: Items) -> Iterator[str]:
    """All letters of the items, in order."""
    for top in items:
        for below in inside(top):
            if isinstance(below, Token) and below.type == "NAME":
                yield below.text
