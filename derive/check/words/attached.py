"""The condition that a sentence gives an equation: in front of it, behind it, in words, as the other case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.check.judging.equalities import every, of_all
from derive.check.letters import numeric
from derive.check.reading.claims import Kind_
from derive.check.reading.parts import ARROW
from derive.check.reading.worded import condition, phrase
from derive.check.words.cases import Case, condition_of
from derive.check.words.properties import Property
from derive.check.words.sentences import LEADS, QUANTIFIED, WORD, Place, Sentences, gloss, listed, phrases, words_in
from derive.expr import ZERO, And, Bracket, Cond, Entry, Idx, Rel, Size, conditions, eq, joined, walk

_SPACES = re.compile(r"\\q?quad(?![A-Za-z])|\\[;,:! ]|[\s&$]")
_NEGATED = {"=": "≠", "≠": "=", "<": "≥", "≥": "<", ">": "≤", "≤": ">"}
_REST = re.compile(r"[\s$\0,]*\band\s+\0+\s+(?:otherwise|else)\b")
_APPOSED = re.compile(r"[a-z]\s*,\s*(?:(?:that\s+is|i\.\s?e|meaning|so|or)\b,?\s*)?\0*\Z", re.IGNORECASE)
_THAT_IS = re.compile(r",?\s*\(?(?:that\s+is|i\.\s?e)\s*,?\s*(?:if|when)?[\s$\0]*\Z", re.IGNORECASE)
_AND = re.compile(r"[\s$\0]*,?\s*and[\s$\0]*")
_LISTS = re.compile(r"[\s$\0]*(?:,|,?\s*and)[\s$\0]*")
_GAP = re.compile(r"[\s$\0,]*")
_BEHIND = re.compile(r"\0*\s*[,:]")
_GOES_ON = re.compile(r"[\s$\0]*[,:]?[\s$]*(?!(?:and|or|but|otherwise|else|respectively)\b)(?:[a-z]|\0)", re.IGNORECASE)
_RESTRICTS = re.compile(r"<|>|\\(?:le|ge|leq|geq|lt|gt|ne|neq|in|notin|to|forall|approx|leqslant|geqslant)(?![A-Za-z])")
_INSIDE = re.compile(r"\\begin\{cases\}.*?\\end\{cases\}|\[[^\[\]]*\]|_\{(?:[^{}]|\{[^{}]*\})*\}", re.DOTALL)

_UNLESS = (["unless"], ["except", "for"], ["except", "if"], ["except", "when"], ["except", "where"])
_GENERAL = frozenset("general generally otherwise always".split())
_OPENS_WORDS = frozenset("for if when whenever at above below outside inside".split())


class Attached(Sentences):
    """Which condition of the text belongs to which equation."""

    properties: Sequence[Property] = ()  # what its words say of letters
    cases: Sequence[Case] = ()  # which cases they name
    stated: Sequence[Cond] = ()  # and those of the question

    def attached(self, own: Place, here: Sequence[Place], start: int, stop: int) -> Cond | None:
        """The condition that its sentence gives it: behind it («for s > 0»), else before it («If i = j, …»)."""
        behind = self.behind_it(own, here)
        if behind is not None:
            return behind
        taken = {id(c) for p in here if p.item.kind is Kind_.CLAIM and p.start < own.start
                 if (c := self.behind_it(p, here)) is not None and p.stop < own.start}
        before = [p for p in here if p.start < own.start and p.item.kind is Kind_.CONDITION
                  and id(p.item.node) not in taken]
        between = self.blank[before[-1].stop if before else start : own.start]
        if {w.lower() for w in WORD.findall(between)} & listed("ELSE"):
            rest = opposite(before[-1].item.node) if before else self._rest(own, here) or self._else(own, start)
            return self._in_none(own, rest)
        if (rest := self._rest(own, here)) is not None:
            return self._in_none(own, rest)
        if not before:
            return self._headed(own, start)
        told = max((p.stop for p in here if before[-1].stop <= p.stop <= own.start and p.item.kind is Kind_.CLAIM
                    and p.item.formula is not own.item.formula), default=0)
        if told and not _OPENS_WORDS.isdisjoint(w.lower() for w in WORD.findall(self.blank[told:own.start])):
            return None  # «for x > 0, EQ, for negative x EQ»
        starts = (*(p.start for p in self.properties), *(c.start for c in self.cases))
        if told and any(told <= at < own.start for at in starts):
            return None  # «for x > 0 EQ and on the negative side EQ»
        if ARROW.fullmatch(_SPACES.sub("", self.text[before[-1].stop : own.start])):
            return before[-1].item.node
        run = [before[-1]]
        for p in reversed(before[:-1]):
            if re.fullmatch(r"[\s$\0]*(?:,|and)?[\s$\0]*", self.blank[p.stop:run[0].start]):
                run.insert(0, p)
        if self._opens(run[0].start, start) or self._labels(run, own, start):
            return joined([p.item.node for p in run if p.item.node is not None])
        return None

    def behind_it(self, own: Place, here: Sequence[Place]) -> Cond | None:
        after = next((p for p in here if p.start >= own.stop), None)
        if after is None or after.item.kind is not Kind_.CONDITION or self._next(own, here):
            return None
        words = [w.lower() for w in WORD.findall(self.blank[own.stop:after.start])]
        rest = [w for w in words if w not in QUANTIFIED or w == "and"]
        because = {"since", "because"} if restricts(after.item.formula.latex) else set()
        other = rest in _UNLESS
        opens = other or len(rest) == 1 and rest[0] in (listed("WHERE") - {"let", "suppose", "assume"}) | because
        if not opens or re.search(r"[.;]", self.blank[own.stop:after.start].strip("$\0 .")):
            return None
        run = [after]
        for p in here:  # «if A and B»
            if p.start > run[-1].start and p.item.kind is Kind_.CONDITION and _AND.fullmatch(
                    self.blank, run[-1].stop, p.start):
                run.append(p)
        cond = joined(p.item.node for p in run if p.item.node is not None)
        return opposite(cond) if other else cond

    def _next(self, own: Place, here: Sequence[Place]) -> bool:
        """«If p > t it is EQ, if p < t it is EQ», «For s > 0, EQ, for s < 0 it is 0»: it opens what follows."""
        after = [p for p in here if p.start >= own.stop][:1]
        before = [p for p in here if p.start < own.start and p.item.kind is not Kind_.CLAIM]  # «…, EQ and EQ, for …»
        if not after or not before or before[-1].item.kind is not Kind_.CONDITION or not (
                self._opens(before[-1].start, self.sentence(own.start)[0])):
            return False
        parted = own.item.formula.latex.rstrip().endswith((",", ";")) or re.match(
            r"[\s$\0]*?[,;:\n]", self.blank[own.stop:after[0].start]) is not None
        behind = self.blank[after[0].stop:self.sentence(own.start)[1]]
        return parted and _GOES_ON.match(behind) is not None

    def _rest(self, own: Place, here: Sequence[Place]) -> Cond | None:
        """Of «EQ if s > 0, otherwise EQ» and «EQ if s > 0 and EQ otherwise»."""
        earlier = [p for p in here if p.stop <= own.start]
        claims = [p for p in earlier if p.item.kind is Kind_.CLAIM]
        if not claims:
            return None
        behind = WORD.match(self.blank, _GAP.match(self.blank, own.stop).end())  # type: ignore[union-attr]
        words = {*words_in(self.blank[earlier[-1].stop:own.start]), behind[0].lower() if behind else ""}
        return opposite(self.behind_it(claims[-1], here) or self._named(claims[-1])) if words & listed("ELSE") else None

    def _named(self, own: Place) -> Cond | None:
        """The one condition that words in its sentence name."""
        told = self.said(own, *self.sentence(own.start))[0]
        return told[0] if len(told) == 1 and isinstance(told[0], Rel) and not of_all(told[0]) else None

    def _else(self, own: Place, start: int) -> Cond | None:
        """Of «Otherwise EQ», where the sentence before it gives its last equation a condition."""
        words = WORD.findall(self.blank[start:own.start])
        earlier = [p for p in self.places if p.stop <= start and p.item.kind is Kind_.CLAIM]
        low, high = self.sentence(start - 1) if start else (0, 0)
        if not words or words[0].lower() not in listed("ELSE") or not earlier or earlier[-1].start < low or (
                re.search(r"\n\s*\n", self.blank[earlier[-1].stop:own.start].strip("\0 "))):
            return None
        last = earlier[-1]
        here = [p for p in self.places if low <= p.start < high]
        return opposite(last.item.cond or self.attached(last, here, low, high) or self.apposed(last, here, low)
                        or self._named(last))

    def _in_none(self, own: Place, rest: Cond | None) -> Cond | None:
        """Of «If x < 0, EQ; if x > 1, EQ; else EQ»: what is left of the cases of all equations of its left side."""
        found = dict.fromkeys(conditions(rest))
        for p in reversed([p for p in self.places if p.stop <= own.start and p.item.kind is Kind_.CLAIM]):
            if rest is None or p.item.link.terms[0] is not own.item.link.terms[0] or re.search(
                    r"\n\s*\n", self.blank[p.stop:own.start].strip("\0 ")):
                break
            low, high = self.sentence(p.start)
            cond = p.item.cond or self.attached(p, [q for q in self.places if low <= q.start < high], low, high)
            if (other := opposite(cond)) is None:
                break
            found |= dict.fromkeys(conditions(other))
        return joined(found) if found else rest

    def apposed(self, own: Place, here: Sequence[Place], start: int) -> Cond | None:
        """«If the margin is met, t s ≥ 1, EQ»: a relation between commas says in a formula what words say before it.

        The words remain: what they may say beside it leaves the equation in doubt.
        """
        before = [p for p in here if p.start < own.start and p.item.kind is Kind_.CONDITION]
        cond = before[-1] if before else None
        if cond is None or not _OPENS_WORDS.union(listed("ELSE"), _GENERAL).isdisjoint(
                w.lower() for w in WORD.findall(self.blank[cond.stop:own.start])):
            return None
        told = isinstance(cond.item.node, Rel) and numeric(cond.item.node.terms[-1])
        if not told and not restricts(cond.item.formula.latex):
            return None
        ahead, behind = self.blank[start:cond.start], self.blank[cond.stop:own.start]
        return cond.item.node if _APPOSED.search(ahead) and _BEHIND.match(behind) else None

    def _headed(self, own: Place, start: int) -> Cond | None:
        """The condition that a sentence of a case before it in its paragraph consists of: «Case 1: s > 0. Then EQ»."""
        at = start
        while at > 0:
            low, high = self.sentence(at - 1)
            if high != at or re.search(r"\n\s*\n", self.blank[high - 1:own.start].strip("\0 ")):
                return None
            inside = [p for p in self.places if low <= p.start < high]
            if inside and all(p.item.kind is Kind_.CONDITION for p in inside):
                conds = [c for p in inside for c in conditions(p.item.node)]
                words = {w.lower() for w in WORD.findall(self.blank[low:high]) if len(w) > 1}
                plain = all(isinstance(c, Rel) and ("=" not in c.ops or renames(c)) for c in conds)
                return joined(conds) if conds and plain and words and words <= listed("CASE") else None
            at = low
        return None

    def glossed(self, own: Place, here: Sequence[Place], start: int) -> tuple[Cond | None, tuple[tuple[int, int], ...]]:
        """«For unit vectors ($\\|u\\| = 1$) EQ», «at the starting point $w = 0$ EQ»: a formula says what words say.

        And where these words stand.
        """
        first = next((p for p in here if p.item.kind is not Kind_.DEFINITION), None)
        found = gloss().fullmatch(self.blank[start:first.start].rstrip("\0 ")) if first is not None else None
        if first is None or found is None or first.start >= own.start or first.item.kind is not Kind_.CONDITION:
            return None, ()
        run = [first]
        for p in here:
            if run[-1].stop <= p.start < own.start and p.item.kind is Kind_.CONDITION and _LISTS.fullmatch(
                    self.blank, run[-1].stop, p.start):
                run.append(p)
        if any(p.item.kind is Kind_.CONDITION and run[-1].stop <= p.start < own.start for p in here):
            return None, ()  # another one opens
        ends = self.blank[run[-1].stop:]
        if found["bracket"] and not re.match(r"[\s$\0]*\)", ends) or not found["bracket"] and (
                not isinstance(first.item.node, Rel) or first.item.node.ops != ("=",)):
            return None, ()
        return joined(p.item.node for p in run if p.item.node is not None), ((start, first.start),)

    def supposed(self, own: Place, start: int) -> tuple[Cond, ...]:
        """What sentences before it in its paragraph suppose, and say nothing else: «Let $T = 1$. Then EQ»."""
        found = list[Cond]()
        if self._of_all(*self.sentence(own.start)) or not _goes_on(self.blank[start:own.start]):
            return ()
        for low, high in self.before(start):
            if self._of_all(low, high):
                break
            inside = [p for p in self.places if low <= p.start < high and not any(
                t.start <= p.start < t.stop for t in self.properties)]
            words = {w.lower() for w in WORD.findall(self.blank[low:high])}
            if inside and all(p.item.kind is Kind_.CONDITION for p in inside) and words & listed("SUPPOSE") and (
                    words <= listed("SUPPOSE") | listed("CASE") | QUANTIFIED | LEADS):
                conds = [c for p in inside for c in conditions(p.item.node)]
                later = [p.item.node for p in self.places if high <= p.start < own.start and p.item.node is not None
                         and p.item.kind is Kind_.CONDITION]
                letters = {_letter(n) for c in (*found, *later) for n in walk(c)} - {""}
                if any(letters & {*map(_letter, walk(c))} for c in conds) or not all(
                        isinstance(c, Rel) and {*c.ops} == {"="} for c in conds):
                    break
                found += map(every, conds)
        return tuple(found)

    def said(self, own: Place, start: int, stop: int) -> tuple[tuple[Cond, ...], tuple[tuple[int, int], ...]]:
        """What words say of letters, or which case they name, where it holds: «for symmetric $A$», «on the diagonal».

        In front of it, where no other words open a case, or right behind it; in sentences before it, which say no more.
        And where they say it.
        """
        told = [*self._told_of(own)]
        found = self._of_sentence(own, told, start, stop)
        spans = [(t.start, t.stop) for t in (*(t for t in told if t.known and start <= t.start < stop), *found)]
        if found:  # what is said of others beside it is not meant for it
            spans += [(t.start, t.stop) for p in self.places if start <= p.start < stop and p is not own
                      for t in self._of_sentence(p, [*self._told_of(p)], start, stop)]
        before = [*self._let_be(own, start, told)]
        before += (Property(q.start, q.start, q.item.node) for t in found for q in self.places  # dead units ($s < 0$)
                   if q.item.kind is Kind_.CONDITION and q.item.node is not None and q.start >= t.stop
                   and self.blank[t.stop:q.start].strip("$\0 \n") == "(")
        conds = (c for t in (*found, *before) for c in conditions(t.cond) if not (
            isinstance(c, Rel) and renames(c) and c.terms[0] is c.terms[1]))
        return tuple(conds), (*spans, *((t.start, t.stop) for t in before))

    def _of_sentence(self, own: Place, told: Sequence[Property], start: int, stop: int) -> list[Property]:
        """In front of it, else behind it."""
        earlier = [p for p in self.places if start <= p.start and p.stop <= own.start and p.item.kind is Kind_.CLAIM
                   and p.item.formula is not own.item.formula]
        found = [t for t in told if not t.known and self._is_ahead(t, own, start) and not (
            earlier and self._is_behind(t, earlier[-1], stop)
            and not self.blank[earlier[-1].stop:t.start].strip("$\0 \n"))]
        return found or [t for t in told if not t.known and self._is_behind(t, own, stop)]

    def _told_of(self, own: Place) -> Iterator[Property]:
        """What words say of letters, and the cases that they name beside this equation."""
        if own.item.kind is not Kind_.CLAIM or not isinstance(own.item.node, Rel):
            return
        for p in self.properties:
            stated = {*conditions(p.cond)} <= {*self.stated}
            if stated or not p.known:
                yield replace(p, known=stated)
        for c in self.cases:
            cond = condition_of(c.name, own.item.node, self.module)
            if cond is not None and not any(p.start <= c.start < p.stop for p in self.properties):
                yield Property(c.start, c.stop, cond)

    def _is_behind(self, told: Property, own: Place, stop: int) -> bool:
        between = self.blank[own.stop:told.start].strip("$\0 \n")
        follows = any(told.stop <= p.start < stop and p.item.kind is Kind_.CLAIM for p in self.places)
        if re.match(r"(?:and|or|but)\b", self.blank[told.start:told.stop], re.IGNORECASE):
            return False  # «EQ and on the negative side EQ»
        return own.stop <= told.start < stop and between in ({"", "("} if follows else {"", "(", ","})

    def _is_ahead(self, told: Property, own: Place, start: int) -> bool:
        claims = any(p.item.kind is Kind_.CLAIM and p.item.formula is not own.item.formula
                     and told.stop <= p.start < own.start for p in self.places)
        opens = not self.blank[start:told.start].strip("$\0 \n*-") and _OPENS_WORDS.union(
            listed("ELSE"), _GENERAL).isdisjoint(w.lower() for w in WORD.findall(self.blank[told.stop:own.start])) and (
            not any(told.stop <= c.start < own.start for c in self.cases))
        return start <= told.start and told.stop <= own.start and (not claims or opens)

    def _let_be(self, own: Place, start: int, told: Sequence[Property]) -> Iterator[Property]:
        """What sentences before it in its paragraph suppose of letters, and say no more: «Let $A$ be symmetric.»"""
        if self._of_all(*self.sentence(own.start)) or not _goes_on(self.blank[start:own.start]):
            return
        for low, high in self.before(start):
            inside = [t for t in told if low <= t.start and t.stop <= high and not t.known]
            if self._of_all(low, high):
                return
            words, at = list[str](), low
            for t in inside:
                words, at = [*words, *WORD.findall(self.blank[at:t.start])], t.stop
            words += WORD.findall(self.blank[at:high])
            plain = listed("SUPPOSE") | listed("CASE") | QUANTIFIED | LEADS
            if plain.issuperset(w.lower() for w in words) and all(any(
                    t.start <= q.start < t.stop for t in inside) for q in self.places if low <= q.start < high):
                yield from inside

    def _of_all(self, low: int, high: int) -> bool:
        return phrases("CLAIM_ANY").search(self.blank, low, high) is not None

    def _labels(self, run: Sequence[Place], own: Place, start: int) -> bool:
        """«1. i = j: EQ», «Case i = j: EQ», | i = j | EQ |: nothing but a condition stands in front of an equation."""
        between = self.blank[run[-1].stop:own.start]
        first = listed("CASE").issuperset(words_in(self.blank[start:run[0].start]))
        return first and re.match(r"[\s$\0)*_]*[:|]", between) is not None and (
            listed("PLAIN").issuperset(words_in(between)))

    def _opens(self, at: int, start: int) -> bool:
        """Whether the words in front of a condition say that it is one."""
        before = _THAT_IS.sub("", self.blank[start:at])
        words = [w.lower() for w in WORD.findall(before)]
        if before != self.blank[start:at]:  # if x_i lies in the window, i.e. k ≤ i ≤ k + 2
            words = words[:1]
        if words[-2:-1] == ["case"]:  # in case of, in case that
            return True
        while words and words[-1] in QUANTIFIED:
            words.pop()
        return bool(words) and words[-1] in listed("WHERE")

    def worded(self, own: Place, here: Sequence[Place]) -> tuple[Cond | None, tuple[tuple[int, int], ...]]:
        """The condition that words give it, and where the words of this kind stand; «it» needs an input before it."""
        spans, mine = list[tuple[int, int]](), None
        for p in self.places:
            if p.item.kind is Kind_.CLAIM and isinstance(p.item.node, Rel) and p.item.cond is None:
                found = self.phrase_of(p)
                if found is not None and (not found["it"] or spans):
                    spans.append(found.span())
                    mine = found if p is own else mine
        cond = condition(mine, own.item.link, self.module) if mine is not None else None
        if mine is None and own.item.kind is Kind_.CLAIM:
            cond = self._other(own, here, spans)
        return (cond, tuple(spans)) if cond is not None else (None, ())

    def _other(self, own: Place, here: Sequence[Place], spans: Sequence[tuple[int, int]]) -> Cond | None:
        """What is left where the condition in words of the equation before it does not hold: «…, otherwise EQ»."""
        before = [p for p in here if p.stop <= own.start and p.item.kind is Kind_.CLAIM and p.item.node is not None]
        found = self.phrase_of(before[-1]) if before else None
        between = self.blank[before[-1].stop:own.start] if before else ""
        if found is None or found.span() not in spans or not listed("ELSE").intersection(words_in(between)):
            return None
        return opposite(condition(found, own.item.link, self.module))

    def phrase_of(self, own: Place) -> re.Match[str] | None:
        """Behind it, else before it and behind what stands before: «If …, EQ», «EQ if …»."""
        start, stop = self.sentence(own.start)
        around = [p for p in self.places if start <= p.start < stop]
        after = min((p.start for p in around if p.start >= own.stop), default=stop)
        before = max((p.stop for p in around if p.stop <= own.start), default=start)
        behind = re.compile(r"[\s$\0,]*").match(self.blank, own.stop, after)
        found = phrase().match(self.blank, behind.end() if behind else own.stop, after)
        if found is None:
            found = next(phrase().finditer(self.blank, before, own.start), None)
            if found is not None and before > start and not self.blank[before:found.start()].strip("$\0 \n"):
                return None  # it belongs to the equation before
        letter = "letter" if found is not None and found["letter"] else "own"
        if found is not None and found[letter]:
            about = re.sub(r"[\s$]", "", self.text[slice(*found.span(letter))])
            return found if rf"\partial{about}" in re.sub(r"\s", "", own.item.formula.latex) else None
        return found

    def taken(self, own: Place, here: Sequence[Place]) -> Iterator[tuple[int, int]]:
        """The words by which other equations before it have their conditions: «Since EQ if s > 0 and 0 otherwise»."""
        for p in here:
            cond = self.behind_it(p, here) if p.item.kind is Kind_.CLAIM and p.stop < own.start else None
            place = next((q for q in here if q.item.node is cond and q.start >= p.stop), None) if cond else None
            if place is not None and place.stop < own.start:
                rest = _REST.match(self.blank, place.stop)
                yield p.stop, rest.end() if rest is not None and rest.end() <= own.start else place.stop


def _goes_on(before: str) -> bool:
    """A sentence begins with its formula, or with words that go on with what the one before it supposes."""
    words = WORD.search(before)
    return words is None or re.match(rf"[\s$\0]*{phrases('CLAIM_GOES_ON').pattern}", before, re.IGNORECASE) is not None


def _letter(node: object) -> str:
    return node.tensor if isinstance(node, Entry) else node.name if isinstance(node, Size) else ""


def restricts(latex: str) -> bool:
    """A relation other than an equation, outside of cases, brackets and subscripts."""
    return _RESTRICTS.search(_INSIDE.sub(" ", latex)) is not None


def renames(cond: Cond) -> bool:
    """i = j"""
    return isinstance(cond, Rel) and cond.ops == ("=",) and all(isinstance(t, Idx) for t in cond.terms)


def opposite(cond: Cond | None) -> Cond | None:
    if isinstance(cond, Rel) and len(cond.ops) == 1:
        return Rel(cond.terms, (_NEGATED[cond.ops[0]],))
    return eq(Bracket(cond), ZERO) if isinstance(cond, (And, Rel)) else None
