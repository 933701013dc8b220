"""Where each letter of a card's formulas stands, and what they say outright: what runs, what is in a set, shapes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import field

from derive.notation import tree as tr
from derive.notation import vocabulary
from derive.notation.formulas import NotationError, Source
from derive.notation.pieces import Definition, Pieces, Running, definitions, divided, lines, running
from derive.notation.vocabulary import ALIGNED
from derive.records import dataclass, replace

_NOWHERE = Source("")


@dataclass(frozen=True)
class Place:
    """What items stand in."""

    index: bool = False  # a subscript
    right: bool = False  # behind a relation
    cond: bool = False  # a condition, or below a sum
    limit: bool = False  # a relation of indices below a sum
    extent: bool = False  # n of ℝ^n
    declared: bool = False  # a formula such as x ∈ ℝ
    local: tuple[str, ...] = ()  # the definition of a function: its name and parameters


@dataclass(frozen=True)
class Occurrence:
    """A letter with its subscript, and what follows it; ``opens`` where it opens the formula."""

    name: str
    sub: tr.Items | None
    following: tr.Group | None
    at: Place
    bare: bool  # no sub, no star, no word around it
    opens: bool = False
    above: str | None = None  # a letter alone in the superscript
    round: str = ""  # the bracket in which that letter stands: x^{(i)}
    squared: bool = False
    primes: int = 0
    derived: bool = False  # behind ∂ or d
    raised: bool = False  # to a power
    bold: int = 0

    @property
    def is_value(self) -> bool:
        """Not in a subscript."""
        return not self.at.index


@dataclass
class Occurrences:
    """All occurrences in order, and what the formulas say outright."""

    all: list[Occurrence] = field(default_factory=list)
    bound: list[str] = field(default_factory=list)
    summed: set[str] = field(default_factory=set)  # bound below a sum or a product
    ranged: list[str] = field(default_factory=list)  # k ∈ {1, …, K}
    under: set[str] = field(default_factory=set)  # bound below any sign
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

    def formula(self, items: tr.Items) -> None:
        self.definitions += definitions(items)
        reals = any(str(tr.base_of(i)) == "R_bb" for i in items)
        declared = reals and tr.has(items, "IN") and not tr.has(items, "REL")
        self.run(items, Place(cond=_of_bare_letters(items), declared=declared), top=True)
        for left, right in itertools.pairwise(tr.split(items, "REL")):
            stars = _stars(left)
            if stars and any(tr.is_token(tr.base_of(i), "BIG") for i in right):
                self.maximisers.append((stars, right))

    def run(self, items: tr.Items, at: Place, top: bool = False) -> None:
        """A run of items: what it says of memberships and ranges, then its items one by one."""
        for block in tr.split(items, "TEXT", "COLON", "MID", "AND", "IFF", "CR", "AMP", "SEMI"):
            names: list[tr.Item] = []
            for part in tr.split(block, "COMMA"):
                if tr.has(part, "IN", "NI"):
                    self.membership([*names, *part])
                if len(part) == 1 and tr.label_of(tr.base_of(part[0])) is not None:  # x, y ∈ R^n
                    names += part[0], tr.Token("COMMA", ",", part[0].end, part[0].end)
                else:
                    names = []
        parts = tr.split(items, "REL")
        if len(parts) == 2 and len(parts[1]) == 1 and (element := _element(parts[1][0])) is not None:
            self.sets.append((parts[0], element))  # Ω(k, l) = { (i, j) : … }
        self.each(items, at, self.ranges(items), top)

    def ranges(self, items: tr.Items) -> set[int]:
        """Which of the items say what runs."""
        found = [*running(items)] if tr.has(items, "REL") else []
        self.running += found
        ranged = {id(item) for f in found for item in f.items}
        for n, item in enumerate(items):
            if isinstance(item, tr.Command) and item.type == "RANGE":
                self.bound += tr.variables(item.arguments[0]) or []
                self.ranged += tr.variables(item.arguments[0]) or []
                self.bounds.append(item.arguments[2])
                ranged.add(id(item))
            if vocabulary.kind(item) == "ALL":
                self.bound += tr.variables(tr.split(items[n + 1 :], "REL", "IN", "TEXT")[0]) or []  # for each k
        return ranged

    def each(self, items: tr.Items, at: Place, ranged: set[int], top: bool = False) -> None:
        words, around = _words(items), at.cond
        scopes = {id(i): d.local for d in definitions(items) for i in (*d.left, *d.right)} if top else {}
        for n, raw in enumerate(items):
            before, following = items[max(n - 1, 0) : n], items[n + 1 : n + 2]
            self.beside_each_other(before, raw, following)
            sub = tr.scripted(raw).subs[:1]
            if sub and n > 1 and tr.is_token(items[n - 1], "COMMA") and tr.is_token(items[n - 2], "DOTS"):
                self.bounds += sub  # the n of x_1, …, x_n
                continue
            if top:
                right = tr.is_token(raw, "REL") or (at.right and not tr.is_token(raw, "COMMA", "AND", "CR", "SEMI"))
                at = replace(at, right=right, local=scopes.get(id(raw), ()))
            if vocabulary.kind(raw) == "IF" or tr.is_token(raw, "CR"):
                at = replace(at, cond=around or not tr.is_token(raw, "CR"))
            body = tr.base_of(raw)
            held = id(raw) in ranged or (isinstance(body, tr.Group) and tr.has(body.items, "REL"))
            here = replace(at, cond=True) if held else at
            behind = tr.normal(following[0]) if following else None
            if tr.is_token(body, "NAME"):
                derived = any(tr.is_token(tr.base_of(i), "PARTIAL") for i in before)
                self.letter(tr.scripted(raw), behind, here, n in words, top and n == 0, derived)
            else:
                self.item(tr.scripted(raw), behind, here)

    def beside_each_other(self, before: tr.Items, item: tr.Item, following: tr.Items) -> None:
        """W of W x, x of w^⊤ x, both of a ⊙ b."""
        own, other = tr.base_of(item), tr.base_of(following[0]) if following else None
        if tr.is_transposed(item) and tr.is_token(other, "NAME"):
            self.beside.add(tr.sampled(str(other))[0])
        if tr.label_of(own) and tr.label_of(other):
            self.factors.add(str(own))
        if tr.is_token(item, "ODOT"):
            self.marked |= _letters((*before, *following))

    def item(self, item: tr.Scripted, following: tr.Item | None, at: Place) -> None:
        """What is no letter."""
        base = item.base
        if tr.is_token(base, "BIG") and item.subs:
            self.below(item.subs[0], item, following, at)
            self.bounds += item.sups
        elif isinstance(base, (tr.Group, tr.Env)):
            self.held(base, item, at)
        elif isinstance(base, tr.Command):
            for argument in _without_d(base):
                self.run(argument, at)
        self.bounds += item.subs if tr.is_token(base, "IND") and [*map(len, item.subs)] == [1] else ()  # \mathbf{1}_n
        for sub in () if tr.is_token(base, "BIG") else item.subs:
            self.run(sub, replace(at, index=at.index or isinstance(base, tr.Group)))
        for sup in () if tr.is_transposed(item) and not tr.is_token(base, "BIG") else item.sups:
            self.run(sup, at)

    def held(self, base: tr.Group | tr.Env, item: tr.Scripted, at: Place) -> None:
        """What is in brackets, rows of cases."""
        if tr.is_group(base, "LNORM", "LANGLE"):
            self.marked |= _letters(base.items)
        for sides in (tr.split(sub, "REL") for sub in item.subs if item.sups and tr.has(sub, "REL")):
            self.bound += tr.variables(sides[0]) or []  # (x_i)_{i=1}^n
            self.bounds += item.sups
        self.bound += _element(base) or []
        if isinstance(base, tr.Env) and base.name in ("cases", "dcases"):
            for row in tr.split(base.items, "CR"):
                for n, cell in enumerate(tr.split(row, "AMP")):
                    self.run(cell, replace(at, cond=at.cond or n > 0))
        else:
            self.run(base.items, at, isinstance(base, tr.Env) and base.name in ALIGNED)

    def letter(
        self, item: tr.Scripted, following: tr.Item | None, at: Place, word: bool, opens: bool, derived: bool,
    ) -> None:
        assert isinstance(item.base, tr.Token)
        text, sups = item.base.text, item.sups
        behind = tr.scripted(following) if following is not None else None
        group = behind.base if behind is not None and tr.is_group(behind.base, "LPAREN", "LBRACK") else None
        entry = () if behind is None or group is None or tr.is_positive_part(behind) else behind.subs[:1]  # f(x)_{kl}
        sub = next(iter((*item.subs[:1], *entry)), None)
        alone = [sup[0] if len(sup) == 1 else None for sup in sups]
        starred, transposed = any(tr.is_token(i, "STAR") for i in alone), tr.is_transposed(item)
        self.starred += [text] if starred else []
        self.marked |= {text} if transposed else set()
        exponential = text == "e" and sub is None
        name, above = tr.sampled(text)
        round_ = text[len(name) + 1] if above is not None else ""
        if not exponential and alone and tr.is_group(held := alone[0], "LPAREN", "LBRACK"):
            above = tr.variable(held.items[0]) if len(held.items) == 1 else None
            round_ = "(" if held.bracket == "LPAREN" else "["
        layer = above is not None
        above = above or (tr.label_of(sups[0][0]) if sups and sups[0] else None)
        self.all.append(Occurrence(
            name if layer else text, sub, group, at, sub is None and not starred and not word and not layer, opens,
            above, round_ if layer else "", any(tr.is_token(i, "NUMBER") and i.text == "2" for i in alone),
            item.primes, derived, bool(sups) and not starred and not transposed, item.base.bold))
        if sub is not None:
            self.run(sub, replace(at, index=True))
        for sup, single in zip(sups, alone, strict=True):
            mark = tr.is_token(sup[0] if sup else None, "STAR", "TOP")
            if exponential or not (layer or mark or (single is not None and tr.label_of(single) is not None)):
                # a letter alone above declares nothing: power, layer or sample
                self.run(sup, replace(at, extent=at.extent or text == "R_bb"))

    def below(self, sub: tr.Items, item: tr.Scripted, following: tr.Item | None, at: Place) -> None:
        """What stands below a sum."""
        items = lines(sub)
        parts = divided(items)
        found = Pieces(_NOWHERE)
        try:
            found.sort(parts[0] if parts is not None else items, item)
        except NotationError:
            letters = tr.scripted(following).subs[:1] if following is not None else ()
            if parts is None and letters and tr.variables(letters[0]) is not None:
                self.sets.append((items, tr.variables(letters[0]) or []))  # \max_{\Omega(k,l)} x_{ij}
        self.bound += found.names
        self.under |= {*found.names}
        self.summed |= {*found.names} if str(item.base) in ("sum", "prod") else set()
        for names, is_tuple, right in found.members:
            self.member_of(names, is_tuple, right)
        for part in tr.split(items, "COLON", "MID", "TEXT")[1:]:
            for piece in tr.split(part, "COMMA"):
                if tr.has(piece, "IN", "NI"):
                    self.membership(piece)
        self.bounds += [value for _, values in found.listed for value in values]
        self.bounds += [b for b, _ in (*found.lower.values(), *found.upper.values())]
        self.lowest += [b for b, _ in found.lower.values()]
        limit = tr.has(items, "REL") and not any(tr.scripted(i).subs for i in items)
        self.each(items, replace(at, index=False, cond=True, limit=limit), set())

    def member_of(self, names: list[str], is_tuple: bool, right: tr.Items) -> None:
        """``i, j \\in \\Omega(k, l)``: pairs where the set has two letters of its own, else undecided."""
        head, behind = tr.scripted(right[0]), tr.normal(right[1]) if len(right) > 1 else None
        letters = tr.variables(head.subs[0] if head.subs else behind.items if isinstance(behind, tr.Group) else ())
        pairs = is_tuple or len(names) == 1 or len(letters or ()) == len(names)
        self.sets.append((right, [n.rstrip("'") for n in names] if pairs else []))

    def membership(self, part: tr.Items) -> None:
        """(i, j) ∈ Ω(k, l); x ∈ R^{H×W}; Ω(k, l) ∋ (i, j)."""
        left, right = tr.split(part, "IN", "NI")[:2]
        if tr.has(part, "NI"):
            left, right = right, left
        base = tr.base_of(right[0]) if right else None
        names = tr.variables(left)
        if tr.is_token(base, "NAME") and base.text == "R_bb":
            power = [tr.unwrap(sup) for sup in tr.scripted(right[0]).sups[:1]]
            extents: list[tr.Items] = [tuple(e) for p in power if not all(tr.is_token(i, "PLUS") for i in p)
                                       for e in tr.split(p, "TIMES")]
            self.shapes.append(([tr.normal(p[0]) for p in tr.split(left, "COMMA") if len(p) == 1], extents))
        elif names is None or base is None or tr.is_group(base, "LPAREN", "LBRACK"):
            return  # τ ∈ (0, 1), an interval
        elif tr.is_token(base, "NAME") and not base.text.endswith("_bb"):
            self.sets.append((right, [n.rstrip("'") for n in names]))
        else:
            self.listed += [n.rstrip("'") for n in names]
            self.bounds += [item.items for item in right if isinstance(item, tr.Group)]


def _letters(items: tr.Items) -> set[str]:
    """The letters in a row, with those of their scripts."""
    return {*tr.names_in([i for i in items if tr.is_token(tr.base_of(i), "NAME")])}


def _element(item: tr.Item) -> list[str] | None:
    """i, j of the set of (i, j) under conditions."""
    inner = divided(item.items) if tr.is_group(item, "LSET") else None
    return None if inner is None else tr.variables(tr.split(inner[0], "IN")[0])


def _without_d(command: tr.Command) -> Iterable[tr.Items]:
    """What stands in the command; of df/dx without the d."""
    parts = [tr.unwrap(a) for a in command.arguments]
    d = command.type == "FRAC" and all(p and str(p[0]) == "d" for p in parts)
    return [p[1:] for p in parts] if d and len(parts[1]) > 1 else parts


def _of_bare_letters(items: tr.Items) -> bool:
    """i, i = k, i ≠ k, s < 0, (i, j): letters without scripts that are named, compared or listed."""
    if len(items) == 1 and tr.is_token(items[0], "NAME"):
        return True
    if len(items) > 2 and tr.is_token(items[1], "REL") and items[1].text != "=" and tr.is_token(items[0], "NAME"):
        return all(tr.is_token(i, "NAME", "NUMBER", "MINUS") for i in items[2:]) and len(items) < 6
    plain = all(tr.is_token(i, "NAME", "REL", "COMMA", "TEXT") for i in items)
    pair = items[0].items if len(items) == 1 and tr.is_group(items[0], "LPAREN") else ()
    listed = tr.has(pair, "COMMA") and all(tr.is_token(i, "NAME", "COMMA") for i in pair)
    return (plain and tr.has(items, "REL")) or listed


def _stars(items: tr.Items) -> list[str]:
    """i, j of (i^*, j^*); i of i^*(k, l)."""
    items = tr.unwrap(items)
    if len(items) == 1 and tr.is_group(items[0], "LPAREN"):
        items = items[0].items
    found = [tr.scripted(i) for i in items if not tr.is_token(i, "COMMA")]
    if len(found) > 1 and tr.is_group(found[-1].base, "LPAREN"):
        found.pop()
    starred = all(i.sups and i.sups[0] and tr.is_token(i.sups[0][0], "STAR") for i in found)
    return [name + "'" * i.primes for i in found if (name := tr.variable(i.base)) is not None] if starred else []


def _words(items: tr.Items) -> set[int]:
    """Places of three or more letters written as one word, such as ``grad``: no symbols."""
    single = [n for n, i in enumerate(items) if tr.is_token(i, "NAME") and i.end - i.start == 1]
    runs = itertools.groupby(enumerate(single), lambda pair: items[pair[1]].start - pair[0])
    return {n for _, run in runs if len(word := [n for _, n in run]) > 2 for n in word}
