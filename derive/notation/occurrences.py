"""Where each letter of a card's formulas stands: what the gathering of declarations looks at."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import field

from derive.notation import tree as tr
from derive.notation import vocabulary
from derive.notation.formulas import NotationError, Source
from derive.notation.pieces import Definition, Pieces, Running, definitions, divided, lines, running
from derive.notation.vocabulary import ALIGNED
from derive.records import dataclass

_NOWHERE = Source("")


@dataclass(frozen=True)
class Occurrence:
    """A letter with its subscript, and what follows it; ``opens`` where it opens the formula."""

    name: str
    sub: tr.Items | None
    following: tr.Group | None
    in_index: bool
    bare: bool  # no sub, no star, no word around it
    opens: bool = False
    above: str | None = None  # a letter alone in the superscript
    round: str = ""  # the bracket in which that letter stands: x^{(i)}
    squared: bool = False
    primes: int = 0
    right: bool = False  # behind a relation
    derived: bool = False  # behind ∂ or d
    raised: bool = False  # to a power
    cond: bool = False  # in a condition, or below a sum
    limit: bool = False  # in a relation of indices below a sum
    declared: bool = False  # in front of ∈ ℝ
    local: tuple[str, ...] = ()  # a function and its parameters, where this stands in their definition


@dataclass
class Occurrences:
    """All occurrences in order, and what the formulas say outright."""

    all: list[Occurrence] = field(default_factory=list)
    bound: list[str] = field(default_factory=list)
    bounds: list[tr.Items] = field(default_factory=list)  # limits of sums and ranges
    sets: list[tuple[tr.Items, list[str]]] = field(default_factory=list)  # a set's items and its members' letters
    starred: list[str] = field(default_factory=list)
    maximisers: list[tuple[list[str], tr.Items]] = field(default_factory=list)  # (i^*, j^*) = items
    shapes: list[tuple[list[tr.Item], list[tr.Items]]] = field(default_factory=list)  # x, w_k ∈ R^{H×W}
    marked: set[str] = field(default_factory=set)  # letters under ^T, in ‖ ‖ or ⟨ ⟩
    lowest: list[tr.Items] = field(default_factory=list)  # where ranges begin
    listed: list[str] = field(default_factory=list)  # y ∈ {−1, 1}
    beside: set[str] = field(default_factory=set)  # letters behind such a ^T
    factors: set[str] = field(default_factory=set)  # W of W x
    definitions: list[Definition] = field(default_factory=list)
    running: list[Running] = field(default_factory=list)  # where letters run beside the equations
    _ranged: set[int] = field(default_factory=set)
    _right: bool = False
    _declared: bool = False
    _cond: bool = False
    _limit: bool = False
    _local: tuple[str, ...] = ()

    def formula(self, items: tr.Items) -> None:
        self.definitions += definitions(items)
        self._cond = _of_bare_letters(items)  # i = k says nothing of what i is
        reals = any(str(tr.base_of(i)) == "R_bb" for i in items)
        self._declared = reals and tr.has(items, "IN") and not tr.has(items, "REL")
        self.run(items, top=True)
        self._cond = self._declared = False
        parts = tr.split(items, "REL")
        for left, right in itertools.pairwise(parts):
            stars = _stars(left)
            if stars and right and any(tr.is_token(i, "BIG") or _is_big(i) for i in right):
                self.maximisers.append((stars, right))

    def run(self, items: tr.Items, in_index: bool = False, top: bool = False) -> None:
        """A run of items: what it says of memberships and ranges, then its items one by one."""
        self.memberships(items)
        self.ranges(items)
        self.each(items, in_index, top)

    def memberships(self, items: tr.Items) -> None:
        for block in tr.split(items, "TEXT", "COLON", "MID", "AND", "IFF", "CR", "AMP", "SEMI"):
            names: list[tr.Item] = []
            for part in tr.split(block, "COMMA"):
                self.membership([*names, *part])
                alone = len(part) == 1 and tr.label_of(tr.base_of(part[0])) is not None
                names = [*names, *part, tr.Token("COMMA", ",", part[0].end, part[0].end)] if alone else []  # x, y ∈ R^n
        parts = tr.split(items, "REL")
        if len(parts) == 2 and len(parts[1]) == 1 and (element := _element(parts[1][0])) is not None:
            self.sets.append((parts[0], element))  # Ω(k, l) = { (i, j) : … }

    def ranges(self, items: tr.Items) -> None:
        for found in running(items) if tr.has(items, "REL") else ():
            self.running.append(found)
            self._ranged |= {id(item) for item in found.items}
        for n, item in enumerate(items):
            if isinstance(item, tr.Command) and item.type == "RANGE":
                self.bound += tr.variables(item.arguments[0]) or []
                self.bounds.append(item.arguments[2])
                self._ranged.add(id(item))
            if vocabulary.kind(item) == "ALL":
                self.bound += tr.variables(tr.split(items[n + 1 :], "REL", "IN", "TEXT")[0]) or []  # for each k

    def each(self, items: tr.Items, in_index: bool, top: bool = False) -> None:
        words = _words(items)
        known = self._right, self._cond, self._local
        scopes = {id(i): d.local for d in definitions(items) for i in (*d.left, *d.right)} if top else {}
        for n, raw in enumerate(items):
            before, following = items[max(n - 1, 0) : n], items[n + 1 : n + 2]
            self.beside_each_other(raw, following)
            if tr.is_token(raw, "ODOT"):
                self.marked |= _letters((*before, *following))
            sub = tr.scripted(raw).subs[:1]
            if sub and n > 1 and tr.is_token(items[n - 1], "COMMA") and tr.is_token(items[n - 2], "DOTS"):
                self.bounds += sub  # the n of x_1, …, x_n
                continue
            if top:
                ends = tr.is_token(raw, "COMMA", "AND", "CR", "SEMI")
                self._right = tr.is_token(raw, "REL") or (self._right and not ends)
                self._local = scopes.get(id(raw), ())
            behind_if = self._cond or vocabulary.kind(raw) == "IF"
            self._cond = behind_if or _holds_condition(raw) or id(raw) in self._ranged
            behind = tr.normal(following[0]) if following else None
            if tr.is_token(tr.base_of(raw), "NAME"):
                derived = any(tr.is_token(tr.base_of(i), "PARTIAL") for i in before)
                self.letter(tr.scripted(raw), behind, in_index, n in words, top and n == 0, derived)
            elif _is_big(raw):
                self.big(tr.scripted(raw), behind, in_index)
            else:
                self.item(tr.scripted(raw), in_index)
            self._cond = known[1] if tr.is_token(raw, "CR") else behind_if
        self._right, self._cond, self._local = known

    def beside_each_other(self, item: tr.Item, following: tr.Items) -> None:
        """W of W x, x of w^⊤ x."""
        own, other = tr.base_of(item), tr.base_of(following[0]) if following else None
        if tr.is_transposed(item) and tr.is_token(other, "NAME"):
            self.beside.add(tr.sampled(str(other))[0])
        if tr.label_of(own) and tr.label_of(other):
            self.factors.add(str(own))

    def big(self, item: tr.Scripted, following: tr.Item | None, in_index: bool) -> None:
        self.below(item.subs[0], item, following)
        for sup in item.sups:
            self.bounds.append(sup)
            self.run(sup, in_index)

    def item(self, item: tr.Scripted, in_index: bool) -> None:
        base = item.base
        sups = () if tr.is_transposed(item) else item.sups
        if tr.is_group(base, "LNORM", "LANGLE"):
            self.marked |= _letters(base.items)
        if isinstance(base, tr.Group):
            for sides in (tr.split(sub, "REL") for sub in item.subs if item.sups and tr.has(sub, "REL")):
                self.bound += tr.variables(sides[0]) or []  # (x_i)_{i=1}^n
                self.bounds += item.sups
            self.bound += _element(base) or []
        if isinstance(base, tr.Env) and base.name in ("cases", "dcases"):
            self.cases(base)
        elif isinstance(base, (tr.Group, tr.Env)):
            self.run(base.items, in_index, isinstance(base, tr.Env) and base.name in ALIGNED)
        elif isinstance(base, tr.Command):
            for argument in _without_d(base):
                self.run(argument, in_index)
        for sub in item.subs:
            self.run(sub, in_index or isinstance(base, tr.Group))
        for sup in sups:
            self.run(sup, in_index)

    def cases(self, env: tr.Env) -> None:
        known = self._cond
        for row in tr.split(env.items, "CR"):
            for n, cell in enumerate(tr.split(row, "AMP")):
                self._cond = known or n > 0
                self.run(cell)
        self._cond = known

    def letter(
        self, item: tr.Scripted, following: tr.Item | None, in_index: bool, word: bool, opens: bool, derived: bool,
    ) -> None:
        text, sups = str(item.base), item.sups
        behind = tr.scripted(following) if following is not None else None
        group = behind.base if behind is not None and tr.is_group(behind.base, "LPAREN", "LBRACK") else None
        entry = behind.subs[:1] if behind is not None and group is not None else ()  # f(x)_{kl}
        sub = next(iter((*item.subs[:1], *entry)), None)
        starred, transposed = any(len(s) == 1 and tr.is_token(s[0], "STAR") for s in sups), tr.is_transposed(item)
        if starred:
            self.starred.append(text)
        if transposed:
            self.marked.add(text)
        exponential = text == "e" and sub is None
        name, layer = tr.sampled(text)
        round_ = text[len(name) + 1] if layer is not None else ""
        above = tr.label_of(sups[0][0]) if sups and sups[0] else None
        if not exponential and sups and len(sups[0]) == 1 and tr.is_group(held := sups[0][0], "LPAREN", "LBRACK"):
            layer = tr.variable(held.items[0]) if len(held.items) == 1 else None
            round_ = "(" if held.bracket == "LPAREN" else "["
        squared = any(len(s) == 1 and tr.is_token(s[0], "NUMBER") and s[0].text == "2" for s in sups)
        if layer is None:
            name, round_ = text, ""
        bare = sub is None and not starred and not word and layer is None
        self.all.append(Occurrence(
            name, sub, group, in_index, bare, opens, layer or above, round_, squared, item.primes, self._right,
            derived, bool(sups) and not starred and not transposed, self._cond, self._limit, self._declared,
            self._local))
        if sub is not None:
            self.run(sub, True)
        for sup in sups:
            alone = tr.label_of(sup[0]) if len(sup) == 1 else None
            mark = tr.is_token(sup[0] if sup else None, "STAR", "TOP")
            if exponential or (layer is None and alone is None and not mark):
                self.run(sup, in_index)  # a letter alone above declares nothing: power, layer or sample

    def below(self, sub: tr.Items, at: tr.Item, following: tr.Item | None) -> None:
        """What stands below a sum."""
        items = lines(sub)
        parts = divided(items)
        found = Pieces(_NOWHERE)
        try:
            found.sort(parts[0] if parts is not None else items, at)
        except NotationError:
            letters = tr.scripted(following).subs[:1] if following is not None else ()
            if parts is None and letters and tr.variables(letters[0]) is not None:
                self.sets.append((items, tr.variables(letters[0]) or []))  # \max_{\Omega(k,l)} x_{ij}
        self.bound += found.names
        for names, is_tuple, right in found.members:
            self.member_of(names, is_tuple, right)
        for part in tr.split(items, "COLON", "MID", "TEXT")[1:]:
            for piece in tr.split(part, "COMMA"):
                self.membership(piece)
        self.bounds += [value for _, values in found.listed for value in values]
        self.bounds += [b for b, _ in (*found.lower.values(), *found.upper.values())]
        self.lowest += [b for b, _ in found.lower.values()]
        cond, self._cond = self._cond, True
        self._limit = tr.has(items, "REL") and not any(tr.scripted(i).subs for i in items)
        self.each(items, False)
        self._cond, self._limit = cond, False

    def member_of(self, names: list[str], is_tuple: bool, right: tr.Items) -> None:
        """``i, j \\in \\Omega(k, l)``: pairs where the set has two letters of its own, else undecided."""
        head = tr.normal(right[0])
        subs = head.subs[0] if isinstance(head, tr.Scripted) and head.subs else None
        behind = tr.normal(right[1]) if len(right) > 1 else None
        arguments = subs if subs is not None else behind.items if isinstance(behind, tr.Group) else ()
        letters = tr.variables(arguments) or []
        if is_tuple or len(names) == 1 or len(letters) == len(names):
            self.sets.append((right, [n.rstrip("'") for n in names]))
        else:
            self.sets.append((right, []))

    def membership(self, part: tr.Items) -> None:
        """(i, j) ∈ Ω(k, l); x ∈ R^{H×W}; Ω(k, l) ∋ (i, j)."""
        if not tr.has(part, "IN", "NI"):
            return
        left, right = tr.split(part, "IN", "NI")[:2]
        if tr.has(part, "NI"):
            left, right = right, left
        if not right:
            return
        head = tr.normal(right[0])
        base = head.base if isinstance(head, tr.Scripted) else head
        if isinstance(base, tr.Token) and base.text == "R_bb":
            power = tr.unwrap(head.sups[0]) if isinstance(head, tr.Scripted) and head.sups else ()
            power = () if len(power) == 1 and tr.is_token(power[0], "PLUS") else power
            self.shapes.append(([tr.normal(p[0]) for p in tr.split(left, "COMMA") if len(p) == 1],
                                [*map(tuple, tr.split(power, "TIMES"))] if power else []))
            return
        names = tr.variables(left)
        if names is None:
            return
        elif isinstance(base, tr.Token) and base.type == "NAME" and not base.text.endswith("_bb"):
            self.sets.append((right, [n.rstrip("'") for n in names]))
        else:
            if isinstance(base, tr.Group) and base.bracket in ("LPAREN", "LBRACK"):
                return  # τ ∈ (0, 1), an interval
            self.listed += [n.rstrip("'") for n in names]
            for item in right:
                if isinstance(item, tr.Group):
                    self.bounds.append(item.items)


def _letters(items: tr.Items) -> set[str]:
    """The letters in a row, with those of their scripts."""
    return {*tr.names_in([i for i in items if tr.is_token(tr.base_of(i), "NAME")])}


def _element(item: tr.Item) -> list[str] | None:
    """i, j of the set of (i, j) under conditions."""
    inner = divided(item.items) if tr.is_group(item, "LSET") else None
    return None if inner is None else tr.variables(tr.split(inner[0], "IN")[0])


def _holds_condition(item: tr.Item) -> bool:
    """Whether there is a condition in these brackets."""
    body = tr.base_of(item)
    return isinstance(body, tr.Group) and tr.has(body.items, "REL")


def _is_big(item: tr.Item) -> bool:
    """A \\max, \\sum … with something below it."""
    return tr.is_token(tr.base_of(item), "BIG") and bool(tr.scripted(item).subs)


def _without_d(command: tr.Command) -> Iterable[tr.Items]:
    """What stands in the command; of df/dx without the d."""
    parts = [tr.unwrap(a) for a in command.arguments]
    d = command.type == "FRAC" and all(p and str(p[0]) == "d" for p in parts)
    return [p[1:] for p in parts] if d and len(parts[1]) > 1 else parts


def _of_bare_letters(items: tr.Items) -> bool:
    """i, i = k, i ≠ k, (i, j): letters without scripts that are named, compared or listed."""
    if len(items) == 1 and tr.is_token(items[0], "NAME"):
        return True
    plain = all(tr.is_token(i, "NAME", "REL", "COMMA", "TEXT") for i in items)
    pair = items[0].items if len(items) == 1 and tr.is_group(items[0], "LPAREN") else ()
    listed = tr.has(pair, "COMMA") and all(tr.is_token(i, "NAME", "COMMA") for i in pair)
    return (plain and tr.has(items, "REL")) or listed


def _stars(items: tr.Items) -> list[str] | None:
    """i, j of (i^*, j^*)."""
    items = tr.unwrap(items)
    if len(items) == 1 and isinstance(items[0], tr.Group) and items[0].bracket == "LPAREN":
        items = items[0].items
    found: list[str | None] = []
    for item in (tr.normal(i) for i in items if not tr.is_token(i, "COMMA")):
        if found and isinstance(item, tr.Group) and item.bracket == "LPAREN":
            continue  # the arguments in i^*(k, l)
        if not isinstance(item, tr.Scripted) or not item.sups or not tr.is_token(item.sups[0][0], "STAR"):
            return None
        found.append(tr.variable(item.base))
    return [f for f in found if f is not None] or None


def _words(items: tr.Items) -> set[int]:
    """Places of three or more letters written as one word, such as ``grad``: no symbols."""
    found: set[int] = set()
    run: list[int] = []
    for n, item in enumerate([*items, None]):
        joined = (isinstance(item, tr.Token) and item.type == "NAME" and item.end - item.start == 1
                  and (not run or items[run[-1]].end == item.start))
        if not joined:
            if len(run) >= 3:
                found |= set(run)
            run = []
        if isinstance(item, tr.Token) and item.type == "NAME" and item.end - item.start == 1:
            run.append(n)
    return found
