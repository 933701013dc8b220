"""What stands below a sum or in a set, sorted by what it says; no symbol is looked up here."""

from __future__ import annotations

from dataclasses import dataclass, field

from derive.notation import phrases
from derive.notation.cursor import normal
from derive.notation.errors import Source
from derive.notation.tree import Group, Item, Items, Scripted, Token, has, is_group, is_token, split, unwrap

DOTS = Token("DOTS", "…", 0, 0)
Bound = tuple[Items, bool]  # the bound's items, and whether it is strict
_UP, _DOWN = ("≤", "<"), ("≥", ">")


def variable(item: Item) -> str | None:
    """The name of a letter, with its primes."""
    item = normal(item)
    if isinstance(item, Scripted) and not item.subs and not item.sups and isinstance(item.base, Token):
        return item.base.text + "'" * item.primes if item.base.type == "NAME" else None
    return item.text if isinstance(item, Token) and item.type == "NAME" else None


def variables(items: Items) -> list[str] | None:
    """The letters of ``k``, ``k,l``, ``(k, l)`` or ``kl``; None where there is anything else."""
    items = unwrap(items)
    if len(items) == 1 and isinstance(items[0], Group) and items[0].bracket == "LPAREN":
        items = items[0].items
    found = [variable(item) for item in items if not is_token(item, "COMMA")]
    if not all(split(items, "COMMA")):
        return None
    names = [name for name in found if name is not None]
    return names if names and len(names) == len(found) else None


def divided(items: Items) -> tuple[list[Item], list[Item]] | None:
    """The items before and after ``:``, ``|`` or «such that»."""
    places = [n for n, item in enumerate(items) if phrases.such_that(item)]
    return (list(items[: places[0]]), list(items[places[0] + 1 :])) if places else None


def lines(items: Items) -> list[Item]:
    r"""``\substack`` rows as one line."""
    out: list[Item] = []
    for item in unwrap(items):
        if not is_token(item, "CR"):
            out.append(item)
        elif out and not is_token(out[-1], "COMMA") and not phrases.such_that(out[-1]):
            out.append(Token("COMMA", ",", item.start, item.end))
    return out


def listed_values(items: Items) -> list[Items] | None:
    r"""The members of ``\{0, 1, 2\}`` or ``\{0, \dots, K-1\}``; None for any other set."""
    items = unwrap(items)
    if len(items) != 1 or not isinstance(items[0], Group) or items[0].bracket != "LSET" or divided(items[0].items):
        return None
    return list(split(items[0].items, "COMMA"))


def interval(items: Items) -> list[Items] | None:
    r"""First and last of the whole numbers in [1, k]; None for any other set."""
    items = unwrap(items)
    if len(items) != 1 or not isinstance(items[0], Group) or items[0].bracket != "LBRACK":
        return None
    ends = split(items[0].items, "COMMA", "SEMI")
    return [ends[0], [DOTS], ends[1]] if len(ends) == 2 and all(ends) else None


def _run_on(first: Items, following: list[list[Item]]) -> list[Items] | None:
    r"""First and last of ``1, \dots, n``, or all of ``2i, 2i+1``, behind ``k =``; their pieces are taken."""
    if len(following) >= 2 and following[1] and len(following[0]) == 1 and is_token(following[0][0], "DOTS"):
        last = following[1]
        del following[:2]
        return [first, [DOTS], last]
    values = [first]
    while following and variables(following[0]) is None and not has(following[0], "REL", "IN", "NI", "DOTS"):
        values.append(following.pop(0))
    return values if len(values) > 1 else None


@dataclass
class Pieces:
    """The bound names in order, their ranges, and the rest."""

    source: Source
    names: list[str] = field(default_factory=list)
    lower: dict[str, Bound] = field(default_factory=dict)
    upper: dict[str, Bound] = field(default_factory=dict)
    members: list[tuple[list[str], bool, Items]] = field(default_factory=list)  # names ∈ set; whether a tuple
    contains: list[tuple[Items, Items]] = field(default_factory=list)  # set ∋ element
    conditions: list[Items] = field(default_factory=list)
    listed: list[tuple[str, list[Items]]] = field(default_factory=list)  # k ∈ {2i, 2i+1}, k = 1, …, n
    starts: list[str] = field(default_factory=list)  # given by k = …: the last value stands above

    def bind(self, names: list[str], at: Item) -> None:
        for name in names:
            if name in self.names:
                raise self.source.error(at.start, f"`{name}` is bound twice here")
            self.names.append(name)

    def sort(self, head: Items, at: Item) -> None:
        """Sort the pieces that commas part."""
        for run in split(head, "SEMI"):
            self.sort_run(run, at)

    def sort_run(self, head: Items, at: Item) -> None:
        pending: list[str] = []
        parts = split(head, "COMMA")
        while parts:
            part = parts.pop(0)
            if not part:
                raise self.source.error(at.start, "an index is missing here")
            names = variables(part)
            if names is not None:
                pending += names
            elif has(part, "IN"):
                pending = self.member(part, pending)
            elif has(part, "NI"):
                self.container(part)
            elif has(part, "REL"):
                pending = self.relation(part, parts, pending)
            else:
                shown = self.source.latex[part[0].start : part[-1].end]
                raise self.source.error(part[0].start, f"`{shown}` does not say which index runs where")
        self.bind(pending, at)

    def member(self, part: Items, pending: list[str]) -> list[str]:
        left, right = split(part, "IN")[0], list(part)[[is_token(i, "IN") for i in part].index(True) + 1 :]
        own = variables(left)
        if own is None or not right:
            raise self.source.error(part[0].start, r"which index runs here? Write `k : condition`, or `(k, l) \in …`")
        names = pending + own
        if not set(own) <= set(self.names):
            self.bind(names, part[0])
        values = listed_values(right) or interval(right)
        if values is not None:
            self.listed += [(name, values) for name in names]
        else:
            self.members.append((names, not pending and is_group(unwrap(left)[0], "LPAREN"), right))
        return []

    def container(self, part: Items) -> None:
        left, right = split(part, "NI")[:2]
        last = left[-1] if left else None
        subs = last.subs[0] if isinstance(last, Scripted) and last.subs else ()
        arguments = last.items if isinstance(last, Group) else subs
        names = variables(arguments)
        if names is None or not right:
            raise self.source.error(part[0].start, r"which index runs here? Write `(k, l) : (i, j) \in …`")
        self.bind(names, part[0])
        self.contains.append((left, right))

    def relation(self, part: Items, following: list[list[Item]], pending: list[str]) -> list[str]:
        """k = a; lo ≤ k ≤ hi; r ≠ q; 0 ≤ a, b < 2 (over several pieces). What is still pending comes back."""
        terms, ops = split(part, "REL"), [i.text for i in part if isinstance(i, Token) and i.type == "REL"]
        first, last = variables(terms[0]), variables(terms[-1])
        if ops == ["="] and first is not None and not set(first) & set(self.names):
            self.bind(pending + first, part[0])
            values = _run_on(terms[1], following)
            if values is not None:
                self.listed += [(name, values) for name in pending + first]
                return []
            for name in pending + first:
                self.lower[name] = (terms[1], False)
                self.starts.append(name)
            return []
        middle = variables(terms[1]) if len(ops) == 2 else None
        if middle is not None and len(middle) == 1 and not set(middle) & set(self.names):
            self.bounded(part, terms, ops, middle)
            return pending
        if len(ops) == 1 and first is None and last is not None and len(last) == 1 and ops[0] in _UP:
            self.opened(part, terms, ops[0], last, following)
            return pending
        if first is not None and len(first) == 1 and first[0] not in self.names and len(ops) == 1 and not pending:
            self.bind(first, part[0])
            side = {"<": self.upper, "≤": self.upper, ">": self.lower, "≥": self.lower}.get(ops[0])
            if side is None:
                self.conditions.append(part)
            else:
                side[first[0]] = (terms[1], ops[0] in ("<", ">"))
            return []
        if not self.names or pending:
            raise self.source.error(part[0].start, "which index runs here? Write `k : condition`")
        self.conditions.append(part)
        return pending

    def bounded(self, part: Items, terms: list[list[Item]], ops: list[str], middle: list[str]) -> None:
        if not (all(op in _UP for op in ops) or all(op in _DOWN for op in ops)):
            raise self.source.error(part[0].start, "this chain does not bound an index from both sides")
        ends = [(terms[0], ops[0] in ("<", ">")), (terms[2], ops[1] in ("<", ">"))]
        if ops[0] in _DOWN:
            ends.reverse()
        self.bind(middle, part[0])
        self.lower[middle[0]], self.upper[middle[0]] = ends

    def opened(
        self, part: Items, terms: list[list[Item]], op: str, last: list[str], following: list[list[Item]]
    ) -> None:
        """``0 \\le a, b < 2``: the bounds hold for all the letters between."""
        between = 0
        while between < len(following) and variables(following[between]) is not None:
            between += 1
        names = [*last, *(n for p in following[:between] for n in variables(p) or ())]
        closing = following[between] if between < len(following) else []
        ends, signs = split(closing, "REL"), [i.text for i in closing if isinstance(i, Token) and i.type == "REL"]
        close = variables(ends[0]) if len(signs) == 1 and signs[0] in _UP else None
        if close is None or len(close) != 1:
            self.bind(last, part[0])
            self.lower[last[0]] = (terms[0], op == "<")
            return
        del following[: between + 1]
        names += close
        self.bind(names, part[0])
        for name in names:
            self.lower[name], self.upper[name] = (terms[0], op == "<"), (ends[1], signs[0] == "<")
