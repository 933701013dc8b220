"""What formulas say before any letter is looked up: what runs where, indices, definitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import field

from derive.notation import tree as tr
from derive.notation import vocabulary
from derive.notation.formulas import Source
from derive.notation.vocabulary import ALIGNED
from derive.records import dataclass

_RISING, _FALLING, _STRICT = {"≤", "<"}, {"≥", ">"}, {"<", ">"}
Bound = tuple[tr.Items, bool]  # the bound's items, and whether it is strict


def divided(items: tr.Items) -> tuple[list[tr.Item], list[tr.Item]] | None:
    """The items before and after ``:``, ``|`` or «such that»."""
    places = [n for n, item in enumerate(items) if vocabulary.such_that(item)]
    return (list(items[: places[0]]), list(items[places[0] + 1 :])) if places else None


def lines(items: tr.Items) -> list[tr.Item]:
    r"""``\substack`` rows as one line."""
    out: list[tr.Item] = []
    for item in tr.unwrap(items):
        if not tr.is_token(item, "CR"):
            out.append(item)
        elif out and not tr.is_token(out[-1], "COMMA") and not vocabulary.such_that(out[-1]):
            out.append(tr.Token("COMMA", ",", item.start, item.end))
    return out


_MOST_NAMES = 20  # of one range
_PARTING = ("COMMA", "SEMI", "TEXT", "QUAD", "AND", "CR", "AMP", "COLON", "MID", "IFF")


def with_ranges(items: tr.Items) -> tuple[tr.Item, ...]:
    r"""The items, with k = 1, \dots, K, k \in \{0, 1, \dots, n - 1\}, k \in [K] and i, j = 1:n as one item each."""
    found: list[tr.Item] = []
    at = 0
    while at < len(items):
        opens = not found or tr.is_token(found[-1], *_PARTING, "FORALL")
        range_, end = _range(items, at) if opens else (None, at)
        found.append(items[at] if range_ is None else range_)
        at = max(end, at + 1)
    return tuple(found)


def _range(items: tr.Items, at: int) -> tuple[tr.Command | None, int]:
    """The range that begins here, and where it ends."""
    names = [items[at]]
    while len(names) < _MOST_NAMES and tr.variable(names[-1]) is not None and at + 2 < len(items) and (
            tr.is_token(items[at + 1], "COMMA")):
        names, at = [*names, items[at + 2]], at + 2
    sign, rest = items[at + 1 : at + 2], items[at + 2 :]
    if not rest or None in map(tr.variable, names):
        return None, 0
    ends, length = (_members(rest[0]), 1) if tr.is_token(sign[0], "IN") else (
        _in_a_row(rest) if tr.is_token(sign[0], "REL") and str(sign[0]) == "=" else (None, 0))
    if ends is None:
        return None, 0
    at += 2 + length
    return tr.Command("RANGE", (tuple(names), *map(tuple, ends)), names[0].start, items[at - 1].end), at


def _members(of: tr.Item) -> tuple[tr.Items, tr.Items] | None:
    r"""First and last of \{0, 1, \dots, n - 1\} and [K]."""
    if tr.is_group(of, "LBRACK") and len(of.items) == 1 and tr.variable(of.items[0]) is not None:
        return (tr.Token("NUMBER", "1", of.start, of.start),), of.items
    inside = of.items if tr.is_group(of, "LSET") else ()
    ends, length = _in_a_row(inside)
    return ends if length == len(inside) else None


def _in_a_row(items: tr.Items) -> tuple[tuple[tr.Items, tr.Items] | None, int]:
    r"""First and last of 1, 2, \dots, n - 1, of 1:n and of 1..n, and where they end."""
    kinds = [i.type if isinstance(i, tr.Token) else "" for i in items]
    cuts = [n for n, kind in enumerate(kinds) if kind in (*_PARTING, "REL", "IN", "DOTS")]
    first, end = items[: next(iter(cuts), None)], next(iter(cuts), 0)
    number = int(str(first[0])) if kinds[:end] == ["NUMBER"] and str(first[0]).isdigit() else None
    while kinds[end : end + 3] == ["COMMA", "NUMBER", "COMMA"] and number is not None and (
            number := number + 1) == int(str(items[end + 1])):
        end += 2
    colon = kinds[end : end + 1] in (["COLON"], ["DOTS"]) and number is not None
    if not first or not (colon or kinds[end : end + 3] == ["COMMA", "DOTS", "COMMA"]):
        return None, 0
    start = end + (1 if colon else 3)
    last = next((n for n in cuts if n >= start), len(items))
    return ((first, items[start:last]), last) if last > start else (None, 0)


def _enclosed(items: tr.Items, bracket: str, count: int = 0) -> list[list[tr.Item]]:
    r"""The members of \{0, 1, 2\}, first and last of [1, k]; nothing of any other set."""
    items = tr.unwrap(items)
    group = items[0] if len(items) == 1 else None
    if not tr.is_group(group, bracket) or divided(group.items):
        return []
    parts = tr.split(group.items, "COMMA")
    return parts if all(parts) and count in (0, len(parts)) else []


def _run_on(first: tr.Items, following: list[list[tr.Item]]) -> list[tr.Items] | None:
    r"""All of 2i, 2i+1 behind k =; their pieces are taken."""
    values = [first]
    while following and tr.variables(following[0]) is None and not tr.has(
            following[0], "REL", "IN", "NI", "DOTS", "RANGE"):
        values.append(following.pop(0))
    return values if len(values) > 1 else None


@dataclass
class Pieces:
    """The bound names in order, their ranges, and the rest."""

    source: Source
    names: list[str] = field(default_factory=list)
    lower: dict[str, Bound] = field(default_factory=dict)
    upper: dict[str, Bound] = field(default_factory=dict)
    members: list[tuple[list[str], bool, tr.Items]] = field(default_factory=list)  # names ∈ set; whether a tuple
    conditions: list[tr.Items] = field(default_factory=list)
    listed: list[tuple[str, list[tr.Items]]] = field(default_factory=list)  # k ∈ {2i, 2i+1}
    starts: list[str] = field(default_factory=list)  # given by k = …: the last value stands above

    def bind(self, names: list[str], at: tr.Item) -> None:
        for name in names:
            if name in self.names:
                raise self.source.error(at.start, f"`{name}` is bound twice here")
            self.names.append(name)

    def sort(self, head: tr.Items, at: tr.Item) -> None:
        """Sort the pieces that commas part."""
        for run in tr.split(head, "SEMI"):
            self.sort_run(run, at)

    def sort_run(self, head: tr.Items, at: tr.Item) -> None:
        pending: list[str] = []
        parts = tr.split(head, "COMMA")
        while parts:
            part = parts.pop(0)
            if not part:
                raise self.source.error(at.start, "an index is missing here")
            names = tr.variables(part)
            if names is not None:
                pending += names
            elif len(part) == 1 and isinstance(part[0], tr.Command) and part[0].type == "RANGE":
                pending = self.ranged(part[0], pending)
            elif tr.has(part, "IN"):
                pending = self.member(part, pending)
            elif tr.has(part, "NI"):
                self.container(part)
            elif tr.has(part, "REL"):
                pending = self.relation(part, parts, pending)
            else:
                shown = self.source.latex[part[0].start : part[-1].end]
                raise self.source.error(part[0].start, f"`{shown}` does not say which index runs where")
        self.bind(pending, at)

    def ranged(self, item: tr.Command, pending: list[str]) -> list[str]:
        names = [*pending, *(tr.variables(item.arguments[0]) or ())]
        if not set(names) <= set(self.names):
            self.bind(names, item)
        self.run_between(names, (item.arguments[1], False), (item.arguments[2], False))
        return []

    def run_between(self, names: list[str], low: Bound, high: Bound) -> None:
        self.lower |= dict.fromkeys(names, low)
        self.upper |= dict.fromkeys(names, high)

    def member(self, part: tr.Items, pending: list[str]) -> list[str]:
        left = tr.split(part, "IN")[0]
        own, right = tr.variables(left), list(part)[len(left) + 1 :]
        if own is None or not right:
            raise self.source.error(part[0].start, r"which index runs here? Write `k : condition`, or `(k, l) \in …`")
        names = pending + own
        if not set(own) <= set(self.names):
            self.bind(names, part[0])
        values, ends = _enclosed(right, "LSET"), _enclosed(right, "LBRACK", 2)
        if ends:
            self.run_between(names, (ends[0], False), (ends[1], False))
        elif values:
            self.listed += [(name, [*values]) for name in names]
        else:
            self.members.append((names, not pending and tr.is_group(tr.unwrap(left)[0], "LPAREN"), right))
        return []

    def container(self, part: tr.Items) -> None:
        left, right = tr.split(part, "NI")[:2]
        last = left[-1] if left else None
        runs = tr.below(last)[-1:] if isinstance(last, (tr.Group, tr.Scripted)) else ()
        names = tr.variables(runs[0]) if runs else None
        if names is None or not right:
            raise self.source.error(part[0].start, r"which index runs here? Write `(k, l) : (i, j) \in …`")
        self.bind(names, part[0])
        self.conditions.append([*right, tr.Token("IN", "in", left[-1].end, left[-1].end), *left])

    def relation(self, part: tr.Items, following: list[list[tr.Item]], pending: list[str]) -> list[str]:
        """k = a; lo ≤ k ≤ hi; r ≠ q; 0 ≤ a, b < 2 (over several pieces). What is still pending comes back."""
        terms, ops = _chain(part)
        first, last = tr.variables(terms[0]), tr.variables(terms[-1])
        new = first is not None and not {*first} & {*self.names}
        if ops == ["="] and new and first is not None:
            self.bind(pending + first, part[0])
            values = _run_on(terms[1], following)
            if values is not None:
                self.listed += [(name, values) for name in pending + first]
            else:
                self.lower |= dict.fromkeys(pending + first, (terms[1], False))
                self.starts += pending + first
            return []
        middle = tr.variables(terms[1]) if len(ops) == 2 else None
        if middle is not None and len(middle) == 1 and not {*middle} & {*self.names}:
            if not ({*ops} <= _RISING or {*ops} <= _FALLING):
                raise self.source.error(part[0].start, "this chain does not bound an index from both sides")
            ends = [(terms[0], ops[0] in _STRICT), (terms[2], ops[1] in _STRICT)]
            low, high = ends if ops[0] in _RISING else ends[::-1]
            self.bounded(middle, low, high, part[0])
            return pending
        if len(ops) == 1 and first is None and last is not None and len(last) == 1 and ops[0] in _RISING:
            self.opened(part, terms, ops[0], last, following)
            return pending
        if new and first is not None and len(first) == len(ops) == 1 and not pending:
            self.bind(first, part[0])
            if ops[0] in ("≠", "="):
                self.conditions.append(part)
            else:
                (self.upper if ops[0] in _RISING else self.lower)[first[0]] = (terms[1], ops[0] in _STRICT)
            return []
        if not self.names or pending:
            raise self.source.error(part[0].start, "which index runs here? Write `k : condition`")
        self.conditions.append(part)
        return pending

    def bounded(self, names: list[str], low: Bound, high: Bound | None, at: tr.Item) -> None:
        self.bind(names, at)
        self.lower |= dict.fromkeys(names, low)
        self.upper |= dict.fromkeys(names, high) if high is not None else {}

    def opened(
        self, part: tr.Items, terms: list[list[tr.Item]], op: str, last: list[str], following: list[list[tr.Item]]
    ) -> None:
        """``0 \\le a, b < 2``: the bounds hold for all the letters between."""
        between = [*itertools.takewhile(lambda p: tr.variables(p) is not None, following)]
        ends, signs = _chain(following[len(between)]) if len(between) < len(following) else ([], [])
        close = tr.variables(ends[0]) if len(signs) == 1 and signs[0] in _RISING else None
        low = (terms[0], op in _STRICT)
        if close is None or len(close) != 1:
            self.bounded(last, low, None, part[0])
            return
        del following[: len(between) + 1]
        names = [*last, *(n for p in between for n in tr.variables(p) or ()), *close]
        self.bounded(names, low, (ends[1], signs[0] in _STRICT), part[0])


def _chain(items: tr.Items) -> tuple[list[list[tr.Item]], list[str]]:
    """The terms of a chain, and its signs."""
    return tr.split(items, "REL"), [i.text for i in items if tr.is_token(i, "REL")]


_PARTED = ("TEXT", "COLON", "AND", "IFF", "CR", "AMP", "SEMI")


@dataclass(frozen=True)
class Running:
    """Letters that run (none in 0 ≤ i − k < n), the items that say so, and the ends."""

    names: tuple[str, ...]
    items: tr.Items
    ends: tuple[tr.Items, ...]
    beside: str = ""  # s of s > T - 1, which says one end of s if that runs elsewhere


def running(items: tr.Items) -> Iterator[Running]:
    """The letters that a formula says to run, in chains between two ends."""
    for block in tr.split(items, *_PARTED):
        for chain in _chains(tr.split(block, "COMMA")):
            yield from _bounded(chain)


def _chains(pieces: list[list[tr.Item]]) -> Iterator[tr.Items]:
    """1 ≤ i ≤ n by itself; the pieces 1 ≤ i and j ≤ n as one chain."""
    open_: list[tr.Item] = []
    for piece in pieces:
        if tr.has(piece, "REL"):
            yield piece
            if open_:
                yield [*open_, *piece]
            open_ = piece
        elif len(piece) == 1 and tr.variable(piece[0]) is not None and open_:
            open_ = [*open_, *piece]  # the j of 1 ≤ i, j, k ≤ n
        else:
            open_ = []


def _bounded(chain: tr.Items) -> Iterator[Running]:
    (first, *middle, last), signs = _chain(chain)
    rising = {*signs} <= _RISING or {*signs} <= _FALLING
    own = tr.variable(first[0]) if len(first) == len(last) == 1 and not middle else None
    between = [item for term in middle for item in term]
    names = [name for item in between if (name := tr.variable(item)) is not None]
    if own is not None and {*signs} <= _FALLING and tr.is_token(last[0], "NUMBER") and last[0].text.isdigit():
        yield Running((own,), chain, (last,))  # q ≥ 0
    elif len(first) == 1 and not middle and len(signs) == 1 and rising and tr.variable(first[0]) is not None and all(
            tr.variable(i) is not None or tr.is_token(i, "PLUS", "MINUS", "NUMBER") for i in last):
        yield Running((), chain, (last,), str(tr.variable(first[0])))
    elif first and last and between and rising and all(
            tr.variable(i) is not None or tr.is_token(i, "PLUS", "MINUS", "NUMBER") for i in between):
        yield Running(tuple(names) if len(names) == len(between) else (), chain, (first, last))


@dataclass(frozen=True)
class Definition:
    """left = right; ``local`` is a function and its parameters, where it defines one."""

    left: tr.Items
    right: tr.Items
    local: tuple[str, ...]

    @property
    def name(self) -> str | None:
        """y of y_k = …"""
        return tr.label_of(tr.base_of(self.left[0]))

    @property
    def head(self) -> tr.Scripted | None:
        """What is defined, where it is a letter that stands alone."""
        item = tr.scripted(self.left[0])
        return item if len(self.left) == 1 and tr.is_token(item.base, "NAME") else None

    @property
    def is_square(self) -> bool:
        """σ^2 = …"""
        sups = self.head.sups if self.head is not None else ()
        return [list(map(str, s)) for s in sups] == [["2"]]


def definitions(items: tr.Items) -> list[Definition]:
    """The equations of a formula."""
    found = []
    if len(items) == 1 and isinstance(items[0], tr.Env) and items[0].name in ALIGNED:
        return [d for row in tr.split(items[0].items, "CR") for d in definitions(row)]
    for part in tr.split([i for i in items if not tr.is_token(i, "AMP")], "COMMA", "SEMI", "TEXT", "AND", "IFF", "CR"):
        sides = tr.split(part, "REL")
        if len(sides) < 2 or not sides[0] or not sides[1] or all(i.text != "=" for i in part if tr.is_token(i, "REL")):
            continue
        local: tuple[str, ...] = ()
        head = tr.normal(sides[0][0])
        name = head.base if isinstance(head, tr.Scripted) and not head.sups else head
        label = tr.labels_of(head)
        group = sides[0][1] if len(sides[0]) == 2 else None
        if tr.is_token(name, "NAME") and tr.is_group(group, "LPAREN") and label is not None:
            parameters = [tr.parameter(p) for p in tr.arguments_of(group)]
            if None not in parameters and len(set(parameters)) == len(parameters):
                local = (name.text + label, *(p for p in parameters if p is not None))
        found.append(Definition(sides[0], [i for side in sides[1:] for i in side], local))
    return found


def _simple(item: tr.Item) -> bool:
    """A letter (with primes or a star), y_i, a number, a floor or a ceiling: one index by itself."""
    item = tr.normal(item)
    if isinstance(item, tr.Scripted):
        stars = all(len(s) == 1 and tr.is_token(s[0], "STAR") for s in item.sups)
        return tr.is_token(item.base, "NAME") and (not item.subs or not item.sups) and stars
    return tr.is_token(item, "NAME", "NUMBER") or (isinstance(item, tr.Group) and item.bracket in ("LFLOOR", "LCEIL"))


def _units(part: tr.Items) -> list[tr.Items]:
    """The items of a subscript; a star and its arguments are one."""
    found: list[tr.Items] = []
    for item in part:
        before = found[-1] if found else ()
        starred = len(before) == 1 and isinstance(before[0], tr.Scripted) and bool(before[0].sups)
        if isinstance(item, tr.Group) and item.bracket == "LPAREN" and starred:
            found[-1] = [*before, item]
        else:
            found.append([item])
    return found


def _juxtaposed(part: tr.Items) -> bool:
    units = _units(part)
    return len(units) > 1 and all(_simple(unit[0]) for unit in units)


def split_runs(sub: tr.Items, rank: int | None) -> list[tr.Items]:
    """The items of each index; a leading number makes one index of what follows, unless the rank says two."""
    sub = tr.unwrap(sub)
    parts = tr.split(sub, "COMMA", "SEMI")
    if len(parts) == 1 and _juxtaposed(parts[0]) and len(_units(parts[0])) == rank:
        return _units(parts[0])
    found: list[tr.Items] = []
    for part in parts:
        if _juxtaposed(part) and not tr.is_token(tr.normal(part[0]), "NUMBER"):
            found += _units(part)
        else:
            found.append(part)
    return found


def leading(sub: tr.Items) -> tr.Items:
    """hh of W_{hh} and of W_{hh,kj}: where it is a label, it is one whole."""
    return tr.split(tr.unwrap(sub), "COMMA", "SEMI")[0]


def behind(sub: tr.Items, label: tr.Items) -> tr.Items | None:
    """The subscript behind its label: k, j of W_{hh,kj}."""
    rest = tuple(tr.unwrap(sub)[len(label) :])
    return (rest[1:] if rest and tr.is_token(rest[0], "COMMA", "SEMI") else rest) or None


def is_word(items: tr.Items) -> bool:
    """out of y_{\\text{out}}."""
    return len(items := tr.unwrap(items)) == 1 and tr.is_token(items[0], "TEXT")


def label_text(items: tr.Items) -> str:
    """o, hh, t-1, and out of \\text{out}."""
    return (tr.label_of(tr.unwrap(items)[0]) or "") if is_word(items) else "".join(map(str, items))


def labelled_name(name: str, sub: tr.Items) -> str:
    """The letter W_o of W_o and of W_{o,kj}."""
    return f"{name}_{label_text(leading(sub))}"
