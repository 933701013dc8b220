"""Where each letter of a card's formulas stands: what the gathering of declarations looks at."""

from __future__ import annotations

import itertools
from dataclasses import field

from derive.notation import tree as tr
from derive.notation import vocabulary
from derive.notation.formulas import NotationError, Source
from derive.notation.pieces import Definition, Pieces, Running, definitions, divided, lines, running
from derive.notation.vocabulary import ALIGNED
from derive.records import dataclass


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

    def formula(self, source: Source, items: tr.Items) -> None:
        self.definitions += definitions(items)
        self._cond = _of_bare_letters(items)  # i = k says nothing of what i is
        reals = any(str(tr.base_of(i)) == "R_bb" for i in items)
        self._declared = reals and tr.has(items, "IN") and not tr.has(items, "REL")
        self.run(source, items, False, True)
        self._cond = self._declared = False
        parts = tr.split(items, "REL")
        for left, right in itertools.pairwise(parts):
            stars = _stars(left)
            if stars and right and any(tr.is_token(i, "BIG") or _big(i) for i in right):
                self.maximisers.append((stars, right))

    def run(self, source: Source, items: tr.Items, in_index: bool, top: bool = False, sums: bool = False) -> None:
        """A run of items: its memberships (those below ``sums`` are known already), then its items one by one."""
        for block in [] if sums else tr.split(items, "TEXT", "COLON", "MID", "AND", "IFF", "CR", "AMP", "SEMI"):
            names: list[tr.Item] = []
            for part in tr.split(block, "COMMA"):
                self.membership([*names, *part])
                alone = len(part) == 1 and tr.label_of(tr.base_of(part[0])) is not None
                names = [*names, *part, tr.Token("COMMA", ",", part[0].end, part[0].end)] if alone else []  # x, y ∈ R^n
        for found in running(items) if tr.has(items, "REL") and not sums else ():
            if found.listed:
                self.bound += found.names
                self.bounds += found.ends
            self.running.append(found)
            self._ranged |= {id(item) for item in found.items}
        parts = tr.split(items, "REL")
        if len(parts) == 2 and len(parts[1]) == 1 and tr.is_group(own := parts[1][0], "LSET"):
            inner = divided(own.items)  # Ω(k, l) = { (i, j) : … }
            if inner is not None and (element := tr.variables(tr.split(inner[0], "IN")[0])) is not None:
                self.sets.append((parts[0], element))
        words = _words(items)
        known = self._right, self._cond, self._local
        scopes = {id(i): d.local for d in definitions(items) for i in (*d.left, *d.right)} if top else {}
        for n, raw in enumerate(items):
            following = tr.normal(items[n + 1]) if n + 1 < len(items) else None
            if tr.is_transposed(raw) and following is not None and tr.is_token(tr.base_of(following), "NAME"):
                self.beside.add(tr.sampled(str(tr.base_of(following)))[0])
            if tr.label_of(tr.base_of(raw)) and following is not None and tr.label_of(tr.base_of(following)):
                self.factors.add(str(tr.base_of(raw)))
            if tr.is_token(raw, "ODOT"):
                self.marked |= _letters(items[max(n - 1, 0) : n + 2])
            if n > 1 and tr.is_token(items[n - 1], "COMMA") and tr.is_token(items[n - 2], "DOTS") and _subscript(raw):
                self.bounds.append(_subscript(raw))  # the n of x_1, …, x_n
                continue
            if vocabulary.kind(raw) == "ALL":
                self.bound += tr.variables(tr.split(items[n + 1 :], "REL", "IN", "TEXT")[0]) or []  # for each k
            if top:
                ends = tr.is_token(raw, "COMMA", "AND", "CR", "SEMI")
                self._right = tr.is_token(raw, "REL") or (self._right and not ends)
                self._local = scopes.get(id(raw), ())
            behind_if = self._cond or vocabulary.kind(raw) == "IF"
            self._cond = behind_if or _holds_condition(tr.normal(raw)) or id(raw) in self._ranged
            derived = n > 0 and tr.is_token(tr.base_of(items[n - 1]), "PARTIAL")
            self.item(source, tr.normal(raw), following, in_index, n in words, top and n == 0, derived)
            self._cond = known[1] if tr.is_token(raw, "CR") else behind_if
        self._right, self._cond, self._local = known

    def item(
        self, source: Source, item: tr.Item, following: tr.Item | None, in_index: bool, word: bool, opens: bool,
        derived: bool
    ) -> None:
        base = item.base if isinstance(item, tr.Scripted) else item
        if isinstance(base, tr.Token) and base.type == "NAME":
            self.letter(source, item, base, following, in_index, word, opens, derived)
            return
        big = _big(item)
        if big is not None:
            self.below(source, big[0], big[1], following)
            for sup in item.sups if isinstance(item, tr.Scripted) else ():
                self.bounds.append(sup)
                self.run(source, sup, in_index)
            return
        if isinstance(base, tr.Group) and base.bracket in ("LNORM", "LANGLE"):
            self.marked |= _letters(base.items)
        if isinstance(base, tr.Group) and isinstance(item, tr.Scripted) and item.sups:
            for sides in (tr.split(sub, "REL") for sub in item.subs if tr.has(sub, "REL")):  # (x_i)_{i=1}^n
                self.bound += tr.variables(sides[0]) or []
                self.bounds += item.sups
        if isinstance(base, (tr.Group, tr.Env)):
            inner = divided(base.items) if isinstance(base, tr.Group) and base.bracket == "LSET" else None
            if inner is not None and (element := tr.variables(tr.split(inner[0], "IN")[0])) is not None:
                self.bound += element
            if isinstance(base, tr.Env) and base.name in ("cases", "dcases"):
                self.cases(source, base)
            else:
                self.run(source, base.items, in_index, isinstance(base, tr.Env) and base.name in ALIGNED)
        if isinstance(base, tr.Command) and base.type == "FRAC":
            base = _without_d(base)
        scripts = (*item.subs, *(() if tr.is_transposed(item) else item.sups)) if isinstance(item, tr.Scripted) else ()
        for argument in (*(base.arguments if isinstance(base, tr.Command) else ()), *scripts):
            self.run(source, argument, in_index or (isinstance(item, tr.Scripted) and argument in item.subs
                                                    and isinstance(base, tr.Group)))

    def cases(self, source: Source, env: tr.Env) -> None:
        known = self._cond
        for row in tr.split(env.items, "CR"):
            for n, cell in enumerate(tr.split(row, "AMP")):
                self._cond = known or n > 0
                self.run(source, cell, False)
        self._cond = known

    def letter(
        self, source: Source, item: tr.Item, base: tr.Token, following: tr.Item | None, in_index: bool, word: bool,
        opens: bool, derived: bool,
    ) -> None:
        sub = item.subs[0] if isinstance(item, tr.Scripted) and item.subs else None
        starred = isinstance(item, tr.Scripted) and any(tr.is_token(s[0], "STAR") for s in item.sups if len(s) == 1)
        if starred:
            self.starred.append(base.text)
        behind = following.base if isinstance(following, tr.Scripted) else following
        group = behind if isinstance(behind, tr.Group) and behind.bracket in ("LPAREN", "LBRACK") else None
        if isinstance(following, tr.Scripted) and group is not None and following.subs and sub is None:
            sub = following.subs[0]  # f(x)_{kl}
        above = tr.label_of(item.sups[0][0]) if isinstance(item, tr.Scripted) and item.sups and item.sups[0] else None
        bare = sub is None and not starred and not word
        if tr.is_transposed(item):
            self.marked.add(base.text)
        name, layer = tr.sampled(base.text)
        round_ = base.text[len(name) + 1] if layer is not None else ""
        sups = item.sups if isinstance(item, tr.Scripted) else ()
        exponential = base.text == "e" and sub is None
        if (above is None and not exponential and sups and len(sups[0]) == 1
                and tr.is_group(sups[0][0], "LPAREN", "LBRACK")):
            layer = tr.variable(sups[0][0].items[0]) if len(sups[0][0].items) == 1 else None
            round_ = "(" if sups[0][0].bracket == "LPAREN" else "["
        squared = any(len(s) == 1 and tr.is_token(s[0], "NUMBER") and s[0].text == "2" for s in sups)
        primes = item.primes if isinstance(item, tr.Scripted) else 0
        if layer is None:
            name, round_ = base.text, ""
        self.all.append(Occurrence(
            name, sub, group, in_index, bare and layer is None, opens, layer or above, round_, squared, primes,
            self._right, derived, bool(sups) and not starred and not tr.is_transposed(item), self._cond, self._limit,
            self._declared, self._local))
        if sub is not None:
            self.run(source, sub, True)
        for sup in item.sups if isinstance(item, tr.Scripted) else ():
            alone = tr.label_of(sup[0]) if len(sup) == 1 else None
            mark = tr.is_token(sup[0] if sup else None, "STAR", "TOP")
            if (base.text == "e" and sub is None) or (layer is None and alone is None and not mark):
                self.run(source, sup, in_index)  # a letter alone above declares nothing: power, layer or sample

    def below(self, source: Source, sub: tr.Items, base: tr.Token, following: tr.Item | None) -> None:
        """What stands below a sum."""
        items = lines(sub)
        parts = divided(items)
        found = Pieces(source)
        try:
            found.sort(parts[0] if parts is not None else items, base)
        except NotationError:
            letters = following.subs[0] if isinstance(following, tr.Scripted) and following.subs else ()
            if parts is None and tr.variables(letters) is not None:
                self.sets.append((items, tr.variables(letters) or []))  # \max_{\Omega(k,l)} x_{ij}
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
        self._limit = tr.has(items, "REL") and not any(isinstance(i, tr.Scripted) and i.subs for i in items)
        self.run(source, items, False, sums=True)
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
            runs = any(isinstance(i, tr.Group) and tr.has(i.items, "DOTS") for i in right)
            (self.bound if runs else self.listed).extend(n.rstrip("'") for n in names)
            for item in right:
                if isinstance(item, tr.Group):
                    self.bounds.append(item.items)


def _letters(items: tr.Items) -> set[str]:
    """The letters in a row, with those of their scripts."""
    return {*tr.names_in([i for i in items if tr.is_token(tr.base_of(i), "NAME")])}


def _subscript(item: tr.Item) -> tr.Items:
    item = tr.normal(item)
    return item.subs[0] if isinstance(item, tr.Scripted) and item.subs else ()


def _holds_condition(item: tr.Item) -> bool:
    """Whether there is a condition in these brackets."""
    body = item.base if isinstance(item, tr.Scripted) else item
    return isinstance(body, tr.Group) and tr.has(body.items, "REL")


def _big(item: tr.Item) -> tuple[tr.Items, tr.Token] | None:
    """What stands below a \\max, \\sum …, and the command."""
    if isinstance(item, tr.Scripted) and isinstance(item.base, tr.Token) and item.base.type == "BIG" and item.subs:
        return item.subs[0], item.base
    return None


def _without_d(fraction: tr.Command) -> tr.Command:
    """The fraction without the d of df/dx."""
    above, below = (tuple(tr.unwrap(a)) for a in fraction.arguments)
    if all(a and isinstance(a[0], tr.Token) and a[0].text == "d" for a in (above, below)) and len(below) > 1:
        return tr.Command("FRAC", (above[1:], below[1:]), fraction.start, fraction.end)
    return fraction


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
