"""The text beside the equations of a solution: where they are said to hold, what may restrict or deny them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from derive.check.apart import SUM, done_with, of_another, of_delta, of_part, of_rest, of_terms, over
from derive.check.claims import KRONECKER, Item, Kind_
from derive.check.kinks import compared, of_values
from derive.check.letters import numeric
from derive.check.parts import ARROW
from derive.check.singled import Named
from derive.check.worded import condition, named, phrase, rows
from derive.expr import ZERO, And, Bracket, Cond, Entry, Fn, Idx, Rel, conditions, eq, free_indices, joined, walk
from derive.module import Module
from derive.notation.symbols import Kind
from derive.question.sentences.grammar import words_of
from derive.records import dataclass

_WORD = re.compile(r"[^\W\d_]+")
_END = re.compile(r"[.!?](?:\*\*?|__?)?(?=\s|$|\))|;(?=\s)|\n(?:[^\S\n]*+\n)++(?=\s*(?:[A-Z*_|#>-]|\d+[.)]))"  # ends
                  r"|\n(?=\s*(?:[-*+]|\d+[.)]|\|)\s)|\n\s*#[^\n]*\n")  # items of lists, rows of tables, headings
_SHORT = re.compile(r"\b(i\.\s?e|e\.\s?g|w\.\s?r\.\s?t|cf|resp)\.", re.IGNORECASE)  # no sentence ends there
_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|^[^\S\n]*+(?:[-*+]|\d+[.)]|\(?[ivx]{1,4}[.)])\s", re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$|\\\[.*?\\\]|\\\(.*?\\\)|\\begin\{(\w+\*?)\}.*?\\end\{\1\}", re.DOTALL)
_SPACES = re.compile(r"\\q?quad(?![A-Za-z])|\\[;,:! ]|[\s&$]")
_LAST = re.compile(r"([.!?])[\s}$\\\])]*$")
_QUANTIFIED = frozenset("all every each any some the that of and case".split())
_LEADS = frozenset("for let with at on where".split())  # words that open a condition, and much else
_NEGATED = {"=": "≠", "≠": "=", "<": "≥", "≥": "<", ">": "≤", "≤": ">"}
_CLAUSE = re.compile(r"[,:;()]")
_CLAUSE_END = re.compile(r"[,;.]|\0\s*(?:and|or|but)\b")
_REST = re.compile(r"[\s$\0,]*\band\s+\0+\s+(?:otherwise|else)\b")
_CONDITION = re.compile(r"(?:\b(?:if|when|whenever|unless)|(?:\A\s*|[a-z]\s+)where|\A\s*at)[\s$]+"
                        r"(?:\0+\s+or\s+)?\0*\Z", re.IGNORECASE)
_TELLS = re.compile(r"[a-z]?\s*where\b", re.IGNORECASE)  # where p_k = …: what the letter is
_LACKS = re.compile(r"\bwhere\s+\0+,\s+\0+\s+has\s+no\s+derivative\s+with\s+respect\s+to\s+\0+"
                    r"(?:\s+unless\s+\0+)?", re.IGNORECASE)  # what it says is said of that place alone
_APPOSED = re.compile(r"[a-z]\s*,\s*(?:(?:that\s+is|i\.\s?e|meaning|so|or)\b,?\s*)?\0*\Z", re.IGNORECASE)
_THAT_IS = re.compile(r",?\s*\(?(?:that\s+is|i\.\s?e)\s*,?\s*(?:if|when)?[\s$\0]*\Z", re.IGNORECASE)
_GAP = re.compile(r"[\s$\0,]*")
_BEHIND = re.compile(r"\0*\s*[,:]")
_WRONG = re.compile(r"(?:\b(?:error|wrong|false|mistake)\s*:|[✗✘❌])[\s$\0]*\Z", re.IGNORECASE)
_CALLED_WRONG = re.compile(r"\s*(?:this|that|it)\s+(?:is|was|would\s+be)\s+(?:false|wrong|incorrect)\b", re.IGNORECASE)
_GOES_ON = re.compile(r"[\s$\0]*[,:]?[\s$]*(?!(?:and|or|but|otherwise|else|respectively)\b)(?:[a-z]|\0)", re.IGNORECASE)
_TOLD = re.compile(r"[\s$\0]*(?:is|are|holds?|fails?|does|do|being|gets?|becomes?)\s+[a-z]")  # s > 0 is inactive
_PLACES = frozenset("zero nonzero kink kinks".split())  # no regions
_DELTA = re.compile(r"\\delta(?:_(?:(\w)|\{(\w)\}))?(?![A-Za-z_])")  # δ, δ_k
_HEAD = re.compile(rf"\s*{_DELTA.pattern}\s*&?\s*:?=")
_OWN_REST = re.compile(r"\A[\s$,]*(?:otherwise|else|elsewhere)\b", re.IGNORECASE)
_OPENS_REST = re.compile(rf"[\s$]*(?:and\s+|but\s+)?(?:{rows('CLAIM_ELSE')}|{rows('CLAIM_REST')})", re.IGNORECASE)
_CLAUSES = frozenset("if when whenever unless otherwise".split())  # they belong to their own sentence
_ITEM = re.compile(r"\s*^[ \t]*(?:[-*+]|\d+[.)])\s", re.MULTILINE)
_NEXT = re.compile(r"\n(?=[A-Z][a-z]*\b)")


def _words(name: str) -> frozenset[str]:
    return words_of("en", name)


@cache
def _usual() -> frozenset[str]:
    return _LEADS | _QUANTIFIED | frozenset().union(*map(_words, (
        "CLAIM_PLAIN", "CLAIM_NEUTRAL", "CLAIM_WHERE", "CLAIM_ELSE", "CLAIM_REGION", "CLAIM_PLACE")))


@cache
def _rows(name: str) -> re.Pattern[str]:
    """The phrases of a name: off ties."""
    return re.compile(rows(name), re.IGNORECASE)


def _words_in(text: str) -> list[str]:
    return [w.lower() for w in _WORD.findall(_rows("CLAIM_PHRASE").sub(" ", text)) if len(w) > 1]


@dataclass(frozen=True)
class Readings:
    """Where an equation is meant to hold, None for everywhere, or may be; ``doubt``: words that may restrict it."""

    first: Cond | None
    others: tuple[Cond, ...] = ()
    doubt: str = ""
    denied: str = ""
    here: str = ""  # the doubt of its own sentence
    defines: bool = False  # a word in front of it says so
    parts: bool = False  # the doubt is of words for regions alone: what holds nowhere is wrong whatever they say
    more: str = ""  # why it says more than its formula does
    over: Rel | None = None  # the equation with the ranges of its sums that stand behind it


@dataclass(frozen=True)
class _Place:
    item: Item
    start: int
    stop: int


class Beside:
    """The text of a solution around its formulas; lines are counted from ``first``.

    """

    def __init__(self, text: str, first: int, items: Iterable[Item], module: Module, question: str = "") -> None:
        self.first, self.text, self.module, self.question = first, text, module, question
        self.names, self._told = named(question, module), of_delta(text)
        self.fixed = frozenset((*module.parameters, *module.constants))
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        said = [m.span() for m in KRONECKER.finditer(text)]
        plain = KRONECKER.sub(_blank, _MARKUP.sub(_blank, text))
        self.blank = _SHORT.sub(r"\1 ", _FORMULA.sub(_hidden, plain))
        listed = _SHORT.sub(r"\1 ", _FORMULA.sub(_hidden, KRONECKER.sub(_blank, text)))
        self.ends = [m.end() for m in _END.finditer(listed)]
        places = [self._meant(self._place(item)) for item in items]
        self.places = [p for p in places if not any(a <= p.start < b for a, b in said)]
        self._lacking = [m.span() for m in _LACKS.finditer(self.blank)]
        self.letters = Named.of(plain, _usual() | self.names)

    def behind(self) -> Iterator[tuple[Item, bool, str]]:
        """Each formula, whether the word before it defines, and the words of its sentence behind it."""
        for p in self.places:
            behind = self.blank[p.stop:self._sentence(p.start)[1]].lstrip("$ \0").split("\0")[0]
            yield p.item, self._last(p) in _words("CLAIM_DEFINES"), behind

    def _place(self, item: Item) -> _Place:
        formula = item.formula
        line = min(max(formula.line - self.first, 0), len(self._starts) - 1)
        start = self._starts[line] + formula.column
        return _Place(item, start, start + len(formula.latex))

    def _meant(self, place: _Place) -> _Place:
        """«where 1 - t s = 0»: an equation of a number or a letter that such a word introduces is a condition.

        «If y_n = t_n», «unless a = 1», «meet where y_n = t_n»: of anything but a derivative, too.
        """
        item = place.item
        if item.kind is Kind_.CLAIM and item.cond is None and not item.slope:
            before = self.blank[self._sentence(place.start)[0]:place.start]
            found = _CONDITION.search(before)
            told = found and _TELLS.match(found[0]) and not item.supposes and not isinstance(item.link.terms[1], Entry)
            if found and not told:
                return replace(place, item=replace(item, kind=Kind_.CONDITION))
        if item.kind is not Kind_.CLAIM or item.cond is not None or not item.supposes or not (
                numeric(item.link.terms[1]) or isinstance(item.link.terms[1], Entry)):
            return place
        behind = re.search(r"[^\W\d_][^\0]*\0[^\w.]*\Z", self.blank[self._sentence(place.start)[0]:place.start])
        told = not behind and self._last(place) in _words("CLAIM_WHERE") - {"with", "let"}  # «for t y > 1, L = 0»
        return replace(place, item=replace(item, kind=Kind_.CONDITION)) if told else place

    def _last(self, place: _Place) -> str:
        """The word in front of a formula."""
        words = _WORD.findall(self.blank[self._sentence(place.start)[0]:place.start])
        return words[-1].lower() if words else ""

    def _sentence(self, at: int) -> tuple[int, int]:
        place = bisect_right(self.ends, at)
        return self.ends[place - 1] if place else 0, self.ends[place] if place < len(self.ends) else len(self.text)

    def readings(self, number: int) -> Readings:
        """What the text says of the equation with this number."""
        own = self.places[number]
        start, stop = self._sentence(own.start)
        here = [p for p in self.places if start <= p.start < stop]
        attached = self._attached(own, here, start, stop)
        worded, spans = self._worded(own, here) if attached is None and own.item.cond is None else (None, ())
        spans = (*(spans if worded is not None else ()), *self._taken(own, here))
        words = _words_in(self._without(spans, start, stop))
        if attached is None and own.item.cond is None and worded is None:
            attached = self._apposed(own, here, start)
        attached = attached or worded
        known = _words("CLAIM_PLAIN") | _words("CLAIM_NEUTRAL") | _LEADS | self.names
        if attached is not None:
            known |= _words("CLAIM_WHERE") | _words("CLAIM_ELSE") | _QUANTIFIED
        if isinstance(own.item.node, Rel) and numeric(own.item.node.terms[-1]):
            known |= {"numbers"}
        if self._has_cases(own):
            known |= _words("CLAIM_REGION") | _words("CLAIM_PLACE")
        strange = [w for w in words if w not in known]
        unsure = f"“{strange[0]}” beside it may say where it holds" if strange else ""
        doubt, regional = self._doubt(own, start, stop, spans)
        parts = (not doubt or regional) and {*strange} <= _words("CLAIM_PART") and not any(
            p.item.kind is Kind_.CONDITION and _TOLD.match(self.blank, p.stop) for p in here)
        doubt = unsure or doubt
        others = self._elsewhere(own, stop, attached is None)
        told = [c for c in (own.item.cond, attached) if c is not None]
        letters = free_indices(own.item.node) if own.item.node is not None else frozenset()
        sure = [c for c in told if letters.issuperset(free_indices(c)) or _renames(c) or (
            isinstance(own.item.node, Rel) and isinstance(own.item.node.terms[0], Fn))]
        if len(sure) < len(told):
            doubt = doubt or "its condition names an index that it does not have"
        doubt = doubt or self.letters.doubt(own.item, self.blank[start:stop]) or self._defined_behind(own, stop)
        before = "" if attached is not None else self.blank[start:own.start]
        if part := of_part(before, self._clause(own, start), self.names, self.module):
            doubt, parts = doubt or f"“{part}” before it may say of what alone it is so", False
        if not doubt and (supposed := _rows("CLAIM_SUPPOSED").search(self.blank, start, stop)) is not None:
            doubt = f"“{supposed[0]}” beside it may be supposed"
        return Readings(joined(sure) if sure else None, tuple(joined([*sure, c]) for c in others), doubt,
                        self._denied(own, start, stop), unsure, self._last(own) in _words("CLAIM_DEFINES"),
                        bool(strange or regional) and parts,
                        self._apart(own, start, stop, bool(told)), self._over(own, here))

    def _apart(self, own: _Place, start: int, stop: int, conditional: bool) -> str:
        """Why words say more of it, or of another layer: it is neither right nor wrong then."""
        after = next((p.start for p in self.places if p.start > own.start and p.item.kind is Kind_.CLAIM and (
            p.item.formula is not own.item.formula)), len(self.blank))
        behind = self.blank[own.stop:min(after, stop)]
        begin = self._sentence(start - 1)[0] if start and self.blank[:start].rstrip().endswith(";") else start
        clause = self._clause(own, start)
        if another := of_another(self.blank[begin:own.start], f"{clause} ∎ {_CLAUSE_END.split(behind)[0]}",
                                 self.text[begin:own.start], self.question, self.module):
            return f"“{another}” may tell of another layer than that of the question"
        if done := done_with(behind):
            return f"“{done}” behind it says that it is not all"
        if isinstance(own.item.node, Rel) and (terms := of_terms(own.item.node, behind)):
            return f"“{terms}” may say over what its sum runs"
        if self._told and self._has_delta(own):
            return f"“{self._told}” says in words what it is"
        latex = own.item.formula.latex
        for p in (p for p in self.places if p.item.kind is Kind_.UNREAD and p.item.formula is not own.item.formula):
            other = p.item.formula.latex
            if self._has_delta(own) and self._of_delta(_HEAD.match(other)):
                return f"`{other}` is not read"
            if own.stop <= p.start < min(after, stop) and any(
                    re.match(rf"\s*{m[1]}\s*(?:=|\\in)", other) for m in SUM.finditer(latex)):
                return f"`{other}` may say over what its sum runs"
        next_ = self._sentence(stop)[1] if stop < len(self.blank) else stop
        opens = self.blank[stop:next_] if conditional and after >= next_ and _OPENS_REST.match(self.blank, stop) else ""
        rest = of_rest(_OWN_REST.sub("", behind), after < stop) or of_rest(opens)
        return f"“{rest}” says in words what it is elsewhere" if rest else ""

    def _clause(self, own: _Place, start: int) -> str:
        """The words in front of it, behind the equation before it and the last full stop."""
        last = max((p.stop for p in self.places if start <= p.stop <= own.start and p.item.kind is Kind_.CLAIM
                    and p.item.formula is not own.item.formula), default=start)
        return self.blank[last:own.start]

    def _of_delta(self, found: re.Match[str] | None) -> bool:
        """δ or δ_k, of no letter of the layer."""
        letter = (found[1] or found[2] or "") if found is not None else ""
        symbol = self.module.table.named(letter)
        return found is not None and (symbol is None or symbol.kind is not Kind.TENSOR)

    def _has_delta(self, own: _Place) -> bool:
        return any(map(self._of_delta, _DELTA.finditer(own.item.formula.latex)))

    def _over(self, own: _Place, here: Sequence[_Place]) -> Rel | None:
        """The equation with what stands behind it about the index of a sum below that sum."""
        after = next((p.start for p in here if p.start > own.start and p.item.kind is Kind_.CLAIM), len(self.blank))
        node: Rel | None = None
        for p in here:
            if own.stop <= p.start < after and p.item.kind is Kind_.CONDITION and p.item.node is not None and (
                    isinstance(own.item.node, Rel) and _of_indices(p.item.node)):
                node = over(node or own.item.node, own.item.formula.latex, p.item.node) or node
        return node

    def _defined_behind(self, own: _Place, stop: int) -> str:
        """A δ that a later sentence defines may be another one here."""
        later = [p for p in self.places if p.item.kind is Kind_.DEFINITION and self._of_delta(
            _HEAD.match(p.item.formula.latex))]
        told = bool(later) and self._has_delta(own) and not any(p.start < stop for p in later)
        return "`\\delta` is defined behind it" if told else ""

    def _denied(self, own: _Place, start: int, stop: int) -> str:
        """A word in its clause that says that it does not hold."""
        before, after = self.blank[start:own.start], self.blank[own.stop:stop]
        if (found := _rows("CLAIM_OTHERS_WRITE").search(self._clause(own, start)) or _WRONG.search(before)) is not None:
            return found[0].strip("$\0 ")
        if re.match(r"[\s$\0]*\?", after) or _CALLED_WRONG.match(self.blank, stop):
            return "?" if "?" in after else "this is wrong"
        before = before[max([0, *(m.end() for m in re.finditer(r"[,;:()\0]", before.rstrip("$ \0\n")))]):]
        clause = before + _CLAUSE.split(after.lstrip("$\0"), maxsplit=1)[0].split("\0")[0]
        return next((w for w in _WORD.findall(clause) if w.lower() in _words("CLAIM_DENIES")), "")

    def _worded(self, own: _Place, here: Sequence[_Place]) -> tuple[Cond | None, tuple[tuple[int, int], ...]]:
        """The condition that words give it, and where the words of this kind stand; «it» needs an input before it."""
        spans, mine = list[tuple[int, int]](), None
        for p in self.places:
            if p.item.kind is Kind_.CLAIM and isinstance(p.item.node, Rel) and p.item.cond is None:
                found = self._phrase(p)
                if found is not None and (not found["it"] or spans):
                    spans.append(found.span())
                    mine = found if p is own else mine
        cond = condition(mine, own.item.link, self.module) if mine is not None else None
        if mine is None and own.item.kind is Kind_.CLAIM:
            cond = self._other(own, here, spans)
        return (cond, tuple(spans)) if cond is not None else (None, ())

    def _other(self, own: _Place, here: Sequence[_Place], spans: Sequence[tuple[int, int]]) -> Cond | None:
        """What is left where the condition in words of the equation before it does not hold: «…, otherwise EQ»."""
        before = [p for p in here if p.stop <= own.start and p.item.kind is Kind_.CLAIM and p.item.node is not None]
        found = self._phrase(before[-1]) if before else None
        between = self.blank[before[-1].stop:own.start] if before else ""
        if found is None or found.span() not in spans or not _words("CLAIM_ELSE").intersection(_words_in(between)):
            return None
        return _opposite(condition(found, own.item.link, self.module))

    def _phrase(self, own: _Place) -> re.Match[str] | None:
        """Behind it, else before it and behind what stands before: «If …, EQ», «EQ if …»."""
        start, stop = self._sentence(own.start)
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

    def _taken(self, own: _Place, here: Sequence[_Place]) -> Iterator[tuple[int, int]]:
        """The words by which other equations before it have their conditions: «Since EQ if s > 0 and 0 otherwise»."""
        for p in here:
            cond = self._behind(p, here) if p.item.kind is Kind_.CLAIM and p.stop < own.start else None
            place = next((q for q in here if q.item.node is cond and q.start >= p.stop), None) if cond else None
            if place is not None and place.stop < own.start:
                rest = _REST.match(self.blank, place.stop)
                yield p.stop, rest.end() if rest is not None and rest.end() <= own.start else place.stop

    def _without(self, spans: Iterable[tuple[int, int]], start: int, stop: int) -> str:
        text = self.blank
        for a, b in spans:
            text = text[:a] + " " * (b - a) + text[b:]
        return text[start:stop]

    def _doubt(self, own: _Place, start: int, stop: int, spans: Iterable[tuple[int, int]] = ()) -> tuple[str, bool]:
        """What stands in its sentence unread, or a supposition in words before it; whether it is of a region alone."""
        for p in self.places:
            if start <= p.start < stop and p.item.kind is Kind_.UNREAD and p.item.formula is not own.item.formula and (
                    restricts(p.item.formula.latex)):
                return f"`{p.item.formula.latex}` beside it may say where it holds", False
        at = 0
        opens = _words("CLAIM_SUPPOSES")
        if not self._has_cases(own):
            opens |= _words("CLAIM_REGION")
        for end in (*self.ends, len(self.blank)):
            if at < start:
                taken = (*spans, *self._worded_before(own, at, end))
                before = _rows("CLAIM_PHRASE").sub(" ", self._without(taken, at, end))
                word = next((w for w in _WORD.findall(before) if w.lower() in opens), "")
                told = self.blank[at:end].lstrip().startswith("|") or any(  # the head of a table
                    at <= p.start < end and p.item.kind is Kind_.CONDITION for p in self.places)
                if word and not told and not (word in _CLAUSES and self._in_item(at, end, own)):
                    return f"“{word}” before it may say where it holds", word in _words("CLAIM_REGION") - _PLACES
            at = end
        return "", False

    def _in_item(self, start: int, stop: int, own: _Place) -> bool:
        """Whether a sentence with equations is of an item of a list before that in which its own stands.

        «If» there says where the equations of that item hold.
        """
        claims = any(start <= p.start < stop and p.item.kind is Kind_.CLAIM for p in self.places)
        return claims and _ITEM.match(self.text, start) is not None and _ITEM.search(
            self.text, stop - 1, own.start) is not None

    def _worded_before(self, own: _Place, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Where a sentence before it says in words when its own equations hold: as conditions they are looked at."""
        for p in self.places:
            found = self._phrase(p) if start <= p.start < stop and p.item.kind is Kind_.CLAIM else None
            if found is not None and own.item.kind is Kind_.CLAIM and condition(found, own.item.link, self.module):
                yield found.span()

    def _has_cases(self, own: _Place) -> bool:
        """Whether the equation, or one in its chain, tells cases of its own: it is about all of them."""
        return any(True for p in self.places if p.item.formula is own.item.formula and p.item.node is not None
                   for _ in compared(p.item.node))

    def _elsewhere(self, own: _Place, stop: int, open_: bool) -> tuple[Cond, ...]:
        """Conditions that stand before it, or in the sentence behind it: they may be meant for it, too.

        Not those of the letters that the equation tells cases of: it is about all of them.
        """
        until = self._sentence(min(stop + 1, len(self.text)))[1]
        found = [p.item.node for p in self.places if p.item.kind is Kind_.CONDITION and p.item.node is not None
                 and p.start < until and not any(a <= p.start < b for a, b in self._lacking)]
        found += [p.item.cond for p in self.places if p.item.cond is not None and p.start < until and p is not own
                  and p.item.formula is not own.item.formula]
        if own.item.kind is Kind_.CLAIM and open_:
            worded = [condition(m, own.item.link, self.module) for p in self.places if p.start < own.start
                      and p.item.kind is Kind_.CLAIM and (m := self._phrase(p)) is not None and p is not own]
            found += [c for w in worded if w is not None for c in (w, _opposite(w)) if c is not None]
        if _rows("CLAIM_CLOSES").search(self.blank, *self._sentence(own.start)):
            found = [c for c in found if self.fixed.intersection(n.tensor for n in walk(c) if isinstance(n, Entry))]
        own_ = {n.tensor for rel in compared(own.item.node) for n in walk(rel) if isinstance(n, Entry)} if (
            own.item.node is not None) else set()
        cases = {i for rel in compared(own.item.node) if not of_values(rel) for i in free_indices(rel)} if (
            own.item.node is not None) else set()
        return tuple(c for c in dict.fromkeys(found) if not (own_ and own_.issuperset(
            n.tensor for n in walk(c) if isinstance(n, Entry))) and not (_of_indices(c) and cases >= free_indices(c)))

    def _attached(self, own: _Place, here: Sequence[_Place], start: int, stop: int) -> Cond | None:
        """The condition that its sentence gives it: behind it («for s > 0»), else before it («If i = j, …»)."""
        behind = self._behind(own, here)
        if behind is not None:
            return behind
        taken = {id(c) for p in here if p.item.kind is Kind_.CLAIM and p.start < own.start
                 if (c := self._behind(p, here)) is not None and p.stop < own.start}
        before = [p for p in here if p.start < own.start and p.item.kind is Kind_.CONDITION
                  and id(p.item.node) not in taken]
        between = self.blank[before[-1].stop if before else start : own.start]
        if {w.lower() for w in _WORD.findall(between)} & _words("CLAIM_ELSE"):
            return _opposite(before[-1].item.node) if before else self._rest(own, here) or self._else(own, start)
        if (rest := self._rest(own, here)) is not None:
            return rest
        if not before:
            return self._headed(own, start)
        if ARROW.fullmatch(_SPACES.sub("", self.text[before[-1].stop : own.start])):
            return before[-1].item.node
        run = [before[-1]]
        for p in reversed(before[:-1]):
            if re.fullmatch(r"[\s$\0]*(?:,|and)?[\s$\0]*", self.blank[p.stop:run[0].start]):
                run.insert(0, p)
        if self._opens(run[0].start, start) or self._labels(run, own, start):
            return joined([p.item.node for p in run if p.item.node is not None])
        return None

    def _rest(self, own: _Place, here: Sequence[_Place]) -> Cond | None:
        """Of «EQ if s > 0, otherwise EQ» and «EQ if s > 0 and EQ otherwise»."""
        earlier = [p for p in here if p.stop <= own.start]
        claims = [p for p in earlier if p.item.kind is Kind_.CLAIM]
        if not claims:
            return None
        behind = _WORD.match(self.blank, _GAP.match(self.blank, own.stop).end())  # type: ignore[union-attr]
        words = {*_words_in(self.blank[earlier[-1].stop:own.start]), behind[0].lower() if behind else ""}
        return _opposite(self._behind(claims[-1], here)) if words & _words("CLAIM_ELSE") else None

    def _else(self, own: _Place, start: int) -> Cond | None:
        """Of «Otherwise EQ», where the sentence before it gives its last equation a condition."""
        words = _WORD.findall(self.blank[start:own.start])
        earlier = [p for p in self.places if p.stop <= start and p.item.kind is Kind_.CLAIM]
        low, high = self._sentence(start - 1) if start else (0, 0)
        if not words or words[0].lower() not in _words("CLAIM_ELSE") or not earlier or earlier[-1].start < low or (
                re.search(r"\n\s*\n", self.blank[earlier[-1].stop:own.start].strip("\0 "))):
            return None
        last = earlier[-1]
        here = [p for p in self.places if low <= p.start < high]
        return _opposite(last.item.cond or self._attached(last, here, low, high) or self._apposed(last, here, low))

    def _apposed(self, own: _Place, here: Sequence[_Place], start: int) -> Cond | None:
        """«If the margin is met, t s ≥ 1, EQ»: a relation between commas says in a formula what words say before it.

        The words remain: what they may say beside it leaves the equation in doubt.
        """
        before = [p for p in here if p.start < own.start and p.item.kind is not Kind_.DEFINITION]
        cond = before[-1] if before else None
        if cond is None or cond.item.kind is not Kind_.CONDITION or not restricts(cond.item.formula.latex) and not (
                isinstance(cond.item.node, Rel) and numeric(cond.item.node.terms[-1])):
            return None
        ahead, behind = self.blank[start:cond.start], self.blank[cond.stop:own.start]
        return cond.item.node if _APPOSED.search(ahead) and _BEHIND.match(behind) else None

    def _headed(self, own: _Place, start: int) -> Cond | None:
        """The condition that a sentence of a case before it in its paragraph consists of: «Case 1: s > 0. Then EQ»."""
        at = start
        while at > 0:
            low, high = self._sentence(at - 1)
            if high != at or re.search(r"\n\s*\n", self.blank[high - 1:own.start].strip("\0 ")):
                return None
            inside = [p for p in self.places if low <= p.start < high]
            if inside and all(p.item.kind is Kind_.CONDITION for p in inside):
                conds = [c for p in inside for c in conditions(p.item.node)]
                words = {w.lower() for w in _WORD.findall(self.blank[low:high]) if len(w) > 1}
                plain = all(isinstance(c, Rel) and ("=" not in c.ops or _renames(c)) for c in conds)
                return joined(conds) if conds and plain and words and words <= _words("CLAIM_CASE") else None
            at = low
        return None

    def _behind(self, own: _Place, here: Sequence[_Place]) -> Cond | None:
        after = next((p for p in here if p.start >= own.stop), None)
        if after is None or after.item.kind is not Kind_.CONDITION or self._next(own, here):
            return None
        words = [w.lower() for w in _WORD.findall(self.blank[own.stop:after.start])]
        rest = [w for w in words if w not in _QUANTIFIED or w == "and"]
        because = {"since", "because"} if restricts(after.item.formula.latex) else set()
        opens = len(rest) == 1 and rest[0] in (_words("CLAIM_WHERE") - {"let", "suppose", "assume"}) | because
        parted = re.search(r"[.;]", self.blank[own.stop:after.start].strip("$\0 ."))
        return after.item.node if opens and not parted else None

    def _next(self, own: _Place, here: Sequence[_Place]) -> bool:
        """«If p > t it is EQ, if p < t it is EQ», «For s > 0, EQ, for s < 0 it is 0»: it opens what follows."""
        after = [p for p in here if p.start >= own.stop][:1]
        before = [p for p in here if p.start < own.start and p.item.kind is not Kind_.CLAIM]  # «…, EQ and EQ, for …»
        if not after or not before or before[-1].item.kind is not Kind_.CONDITION or not (
                self._opens(before[-1].start, self._sentence(own.start)[0])):
            return False
        parted = own.item.formula.latex.rstrip().endswith((",", ";")) or re.match(
            r"[\s$\0]*?[,;:\n]", self.blank[own.stop:after[0].start]) is not None
        behind = self.blank[after[0].stop:self._sentence(own.start)[1]]
        return parted and _GOES_ON.match(behind) is not None

    def _labels(self, run: Sequence[_Place], own: _Place, start: int) -> bool:
        """«1. i = j: EQ», «Case i = j: EQ», | i = j | EQ |: nothing but a condition stands in front of an equation."""
        between = self.blank[run[-1].stop:own.start]
        first = _words("CLAIM_CASE").issuperset(_words_in(self.blank[start:run[0].start]))
        return first and re.match(r"[\s$\0)*_]*[:|]", between) is not None and (
            _words("CLAIM_PLAIN").issuperset(_words_in(between)))

    def _opens(self, at: int, start: int) -> bool:
        """Whether the words in front of a condition say that it is one."""
        before = _THAT_IS.sub("", self.blank[start:at])
        words = [w.lower() for w in _WORD.findall(before)]
        if before != self.blank[start:at]:  # if x_i lies in the window, i.e. k ≤ i ≤ k + 2
            words = words[:1]
        while words and words[-1] in _QUANTIFIED:
            words.pop()
        return bool(words) and words[-1] in _words("CLAIM_WHERE")


_RESTRICTS = re.compile(r"<|>|\\(?:le|ge|leq|geq|lt|gt|ne|neq|in|notin|to|forall|approx|leqslant|geqslant)(?![A-Za-z])")
_INSIDE = re.compile(r"\\begin\{cases\}.*?\\end\{cases\}|\[[^\[\]]*\]|_\{(?:[^{}]|\{[^{}]*\})*\}", re.DOTALL)


def restricts(latex: str) -> bool:
    """A relation other than an equation, outside of cases, brackets and subscripts."""
    return _RESTRICTS.search(_INSIDE.sub(" ", latex)) is not None


def _renames(cond: Cond) -> bool:
    """i = j"""
    return isinstance(cond, Rel) and cond.ops == ("=",) and all(isinstance(t, Idx) for t in cond.terms)


def _of_indices(cond: Cond) -> bool:
    return not any(isinstance(n, Entry) for n in walk(cond))


def _opposite(cond: Cond | None) -> Cond | None:
    if isinstance(cond, Rel) and len(cond.ops) == 1:
        return Rel(cond.terms, (_NEGATED[cond.ops[0]],))
    return eq(Bracket(cond), ZERO) if isinstance(cond, (And, Rel)) else None


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _hidden(formula: re.Match[str]) -> str:
    """Nothing of a formula but its lines, and the full stop that ends it; a new sentence may follow a display, too."""
    found = re.sub(r"[^\n]", "\0", formula[0])
    ends = formula[0].startswith(("$$", "\\[", "\\b")) and _NEXT.match(formula.string, formula.end()) is not None
    return found[:-1] + "." if ends or _LAST.search(formula[0].rstrip("$ \n")) else found
