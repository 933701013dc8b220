"""The text beside the equations of a solution: where they are said to hold, what may restrict or deny them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from derive.check.judging.equalities import every, of_values
from derive.check.judging.kinks import compared
from derive.check.judging.supposed import compatible, fixes
from derive.check.judging.verdict import Judge
from derive.check.letters import numeric
from derive.check.reading.claims import Item, Kind_
from derive.check.reading.worded import condition, named, rows
from derive.check.report import RIGHT
from derive.check.words.apart import SUM, done_with, of_another, of_delta, of_part, of_rest, of_terms, over
from derive.check.words.attached import Attached, opposite, renames, restricts
from derive.check.words.cases import cases
from derive.check.words.properties import properties
from derive.check.words.sentences import LEADS, QUANTIFIED, WORD, Place, listed, phrases, words_in
from derive.check.words.singled import Named
from derive.expr import Cond, Entry, Fn, Rel, Size, conditions, free_indices, joined, walk
from derive.module import Module
from derive.notation.symbols import Kind, name_of
from derive.records import dataclass

_CLAUSE = re.compile(r"[,:;()]")
_CLAUSE_END = re.compile(r"[,;.]|\0\s*(?:and|or|but)\b")
_LACKS = re.compile(r"\bwhere\s+\0+,\s+\0+\s+has\s+no\s+derivative\s+with\s+respect\s+to\s+\0+"
                    r"(?:\s+unless\s+\0+)?", re.IGNORECASE)  # what it says is said of that place alone
_WRONG = re.compile(r"(?:\A[\s*_#>-]*(?:error|wrong|false|mistake)[\s*_]*:|[✗✘❌])[\s$\0*_]*\Z", re.IGNORECASE)
_CALLED_WRONG = re.compile(r"\s*(?:this|that|it)\s+(?:is|was|would\s+be)\s+(?:false|wrong|incorrect)\b", re.IGNORECASE)
_TOLD = re.compile(r"[\s$\0]*(?:is|are|holds?|fails?|does|do|being|gets?|becomes?)\s+[a-z]")  # s > 0 is inactive
_PLACES = frozenset("zero nonzero kink kinks".split())  # no regions
_DELTA = re.compile(r"\\delta(?:_(?:(\w)|\{(\w)\}))?(?![A-Za-z_])")  # δ, δ_k
_HEAD = re.compile(rf"\s*{_DELTA.pattern}\s*&?\s*:?=")
_OWN_REST = re.compile(r"\A[\s$\0,]*(?:otherwise|else|elsewhere)\b", re.IGNORECASE)
_OPENS_REST = re.compile(rf"[\s$]*(?:and\s+|but\s+)?(?:{rows('CLAIM_ELSE')}|{rows('CLAIM_REST')})", re.IGNORECASE)
_PLAIN_RELATION = re.compile(r"(?<![\w\0])(?:-?\w{1,8}\s*(?:<=|>=|<|>|≤|≥|≠)\s*-?\w+|\w\s+in\s+[\[(]\s*-?\d"
                             r"|between\s+-?\d)", re.IGNORECASE)
_DIAGONAL = re.compile(r"\bdiagonal\s+(?:\0|matri)")  # «for diagonal $A$», not «on the diagonal»
_LET_BE = re.compile(r"\s*(?:now\s+)?let\b[^.;:]*?\b(?P<verb>be|have|sum|solve|lie|satisfy|contain)\b"
                     r"(?P<article>\s+(?:the|an?)\b)?", re.IGNORECASE)
_EACH = frozenset("all each every".split())
_FOR_EACH = re.compile(r"[\s$\0,]*for\s+(?:all|each|every)\b", re.IGNORECASE)
_CLAUSES = frozenset("if when whenever unless otherwise".split())  # they belong to their own sentence
_ITEM = re.compile(r"\s*^[ \t]*(?:[-*+]|\d+[.)])\s", re.MULTILINE)


@cache
def _usual() -> frozenset[str]:
    return LEADS | QUANTIFIED | frozenset().union(*map(listed, (
        "PLAIN", "NEUTRAL", "WHERE", "ELSE", "REGION", "PLACE")))


@cache
def _side() -> re.Pattern[str]:
    """Above $y$, below the target: in front of an equation."""
    return re.compile(r"\b(above|below|beyond|beneath|(?:left|right)\s+of)\s+"
                      rf"(?:\0+|(?:the\s+)?{rows('CLAIM_THRESHOLD')})[^.;:\0]*\0*\Z", re.IGNORECASE)


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
    general: bool = False  # whatever numbers an example gives
    over: Rel | None = None  # the equation with the ranges of its sums that stand behind it


class Beside(Attached):
    """What the words around each equation say of it."""

    def __init__(self, text: str, first: int, items: Iterable[Item], module: Module, question: str = "",
                 stated: Sequence[Cond] = ()) -> None:
        super().__init__(text, first, items, module)
        self.question, self.stated = question, stated
        self.properties, self.cases = properties(self.plain, module, question), cases(self.blank)
        self.places = [replace(p, item=replace(p.item, kind=Kind_.CONDITION)) if p.item.kind is Kind_.CLAIM and any(
            t.start <= p.start < t.stop for t in self.properties) else p for p in self.places]
        self.names, self._told_delta = named(question, module), of_delta(text)
        self.fixed = frozenset((*module.parameters, *module.constants))
        self._lacking = [m.span() for m in _LACKS.finditer(self.blank)]
        self.letters = Named.of(self.plain, _usual() | self.names)

    def supposes(self, number: int, judge: Judge) -> str:
        """An equation of its paragraph that does not hold everywhere, and is no entry: «since $\\sum_j t_j = 1$»."""
        own = self.places[number]
        for p in self.places:
            if p.item.kind is not Kind_.CLAIM or p.item.formula is own.item.formula or not p.item.supposes:
                continue
            if isinstance(p.item.link.terms[0], Entry) or not numeric(p.item.link.terms[1]):
                continue
            between = self.blank[min(p.stop, own.stop):max(p.start, own.start)].strip("\0 ")
            if not re.search(r"\n\s*\n", between) and judge(p.item.link, p.item.cond).verdict not in RIGHT:
                return f"`{p.item.formula.latex}` may be supposed"
        return ""

    def updates(self, number: int) -> bool:
        """Whether words in front of what a letter is given say that it is computed: «the new weights are $w = …$»."""
        own = self.places[number]
        return phrases("CLAIM_UPDATED").search(self.blank, self.sentence(own.start)[0], own.start) is not None

    def readings(self, number: int) -> Readings:
        """What the text says of the equation with this number."""
        own = self.places[number]
        start, stop = self.sentence(own.start)
        here = [p for p in self.places if start <= p.start < stop]
        attached = self.attached(own, here, start, stop)
        worded, spans = self.worded(own, here) if attached is None and own.item.cond is None else (None, ())
        spans = (*(spans if worded is not None else ()), *self.taken(own, here))
        glossed, gloss_ = self.glossed(own, here, start) if attached is None and worded is None and (
            own.item.cond is None) else (None, ())
        of_letters, said = self.said(own, start, stop)
        spans = (*spans, *gloss_, *said)
        words = words_in(self._without(spans, start, stop))
        if attached is None and own.item.cond is None and worded is None:
            attached = glossed or self.apposed(own, here, start)
        attached = attached or worded
        known = listed("PLAIN") | listed("NEUTRAL") | LEADS | self.names
        if attached is not None:
            known |= listed("WHERE") | listed("ELSE") | QUANTIFIED | {"unless", "except"}
        if isinstance(own.item.node, Rel) and numeric(own.item.node.terms[-1]):
            known |= {"numbers", "example", "instance"}
        if self._has_cases(own):
            known |= listed("REGION") | listed("PLACE")
        strange = [w for w in words if w not in known]
        unsure = f"“{strange[0]}” beside it may say where it holds" if strange else ""
        doubt, regional = self._doubt(own, start, stop, spans)
        of_matrix = _DIAGONAL.search(self.blank, start, own.start) is not None
        parts = (not doubt or regional) and {*strange} <= listed("PART") and not of_matrix and not any(
            p.item.kind is Kind_.CONDITION and _TOLD.match(self.blank, p.stop) for p in here)
        doubt = unsure or doubt
        others = self._elsewhere(own, stop, attached is None and not of_letters)
        told = [*dict.fromkeys((*conditions(own.item.cond), *self._meant_of(attached, here, said),
                                *self.supposed(own, start), *of_letters))]
        letters = free_indices(own.item.node) if own.item.node is not None else frozenset()
        fixed = [c for c in told if not free_indices(c) or isinstance(own.item.node, Rel) and fixes(
            c, own.item.node, self.module)]
        sure = [c for c in told if c in fixed or letters.issuperset(free_indices(c)) or renames(c) or (
            isinstance(own.item.node, Rel) and isinstance(own.item.node.terms[0], Fn))]
        if len(sure) < len(told):
            doubt = doubt or "its condition names an index that it does not have"
        doubt = doubt or self.letters.doubt(own.item, self.blank[start:stop]) or self._defined_behind(own, stop)
        before = "" if attached is not None else self._without(spans, start, own.start)
        if part := of_part(before, self._without(spans, *self.clause_of(own, start)), self.names, self.module):
            doubt, parts = doubt or f"“{part}” before it may say of what alone it is so", False
        doubt = doubt or self._because(start, stop)
        doubt = doubt or self._set(own, start, fixed, said)
        if not doubt and attached is None and (side := _side().search(self.clause(own, start))) is not None:
            doubt = f"“{side[1]}” before it may say where it holds"
        doubt = doubt or self._in_plain_text(start, stop, spans)
        if not doubt and (supposed := phrases("CLAIM_SUPPOSED").search(self._without(spans, start, stop))) is not None:
            doubt = f"“{supposed[0]}” beside it may be supposed"
        return Readings(joined(sure) if sure else None, tuple(
            joined([*sure, c]) for c in others if compatible([*sure, *conditions(c)])), doubt,
                        self._denied(own, start, stop), unsure, self.last(own) in listed("DEFINES"),
                        bool(strange or regional) and parts,
                        self._apart(own, start, stop, bool(told), (*gloss_, *said)) or (
                            "" if compatible(sure) else "its conditions contradict each other"),
                        phrases("CLAIM_ANY").search(self.blank, start, stop) is not None, self._over(own, here))

    def _apart(self, own: Place, start: int, stop: int, conditional: bool, told: Iterable[tuple[int, int]] = ()) -> str:
        """Why words say more of it, or of another layer: it is neither right nor wrong then."""
        after = next((p.start for p in self.places if p.start > own.start and p.item.kind is Kind_.CLAIM and (
            p.item.formula is not own.item.formula)), len(self.blank))
        behind = self.blank[own.stop:min(after, stop)]
        begin = self.sentence(start - 1)[0] if start and self.blank[:start].rstrip().endswith(";") else start
        clause = self.clause(own, start)
        ahead = self._without(told, begin, own.start)
        if another := of_another(ahead, f"{clause} ∎ {_CLAUSE_END.split(behind)[0]}",
                                 self.text[begin:own.start], self.question, self.module):
            return f"“{another}” may tell of another layer than that of the question"
        if done := done_with(behind):
            return f"“{done}” behind it says that it is not all"
        if isinstance(own.item.node, Rel) and (terms := of_terms(own.item.node, behind)):
            return f"“{terms}” may say over what its sum runs"
        if self._told_delta and self._has_delta(own):
            return f"“{self._told_delta}” says in words what it is"
        latex = own.item.formula.latex
        for p in (p for p in self.places if p.item.kind is Kind_.UNREAD and p.item.formula is not own.item.formula):
            other = p.item.formula.latex
            if self._has_delta(own) and self._of_delta(_HEAD.match(other)):
                return f"`{other}` is not read"
            if own.stop <= p.start < min(after, stop) and any(
                    re.match(rf"\s*{m[1]}\s*(?:=|\\in)", other) for m in SUM.finditer(latex)):
                return f"`{other}` may say over what its sum runs"
        next_ = self.sentence(stop)[1] if stop < len(self.blank) else stop
        opens = self.blank[stop:next_] if conditional and after >= next_ and _OPENS_REST.match(self.blank, stop) else ""
        rest = of_rest(_OWN_REST.sub("", behind), after < stop) or of_rest(opens)
        return f"“{rest}” says in words what it is elsewhere" if rest else ""

    def _of_delta(self, found: re.Match[str] | None) -> bool:
        """δ or δ_k, of no letter of the layer."""
        letter = (found[1] or found[2] or "") if found is not None else ""
        symbol = self.module.table.named(letter)
        return found is not None and (symbol is None or symbol.kind is not Kind.TENSOR)

    def _has_delta(self, own: Place) -> bool:
        return any(map(self._of_delta, _DELTA.finditer(own.item.formula.latex)))

    def _over(self, own: Place, here: Sequence[Place]) -> Rel | None:
        """The equation with what stands behind it about the index of a sum below that sum."""
        after = next((p.start for p in here if p.start > own.start and p.item.kind is Kind_.CLAIM), len(self.blank))
        node: Rel | None = None
        for p in here:
            if own.stop <= p.start < after and p.item.kind is Kind_.CONDITION and p.item.node is not None and (
                    isinstance(own.item.node, Rel) and _of_indices(p.item.node)):
                node = over(node or own.item.node, own.item.formula.latex, p.item.node) or node
        return node

    def _meant_of(self, attached: Cond | None, here: Sequence[Place],
                  said: Sequence[tuple[int, int]]) -> Iterator[Cond]:
        """Of «all $g_i = 1$», «$g_i = 1$ for every $i$» and «$w = 0$» each entry is meant; not what words say."""
        for part in conditions(attached):
            place = next((p for p in here if p.item.node is not None and part in conditions(p.item.node)), None)
            if place is not None and any(a <= place.start < b for a, b in said):
                continue
            all_ = place is not None and isinstance(part, Rel) and isinstance(part.terms[0], Entry) and (
                self.last(place) in _EACH or _FOR_EACH.match(self.blank, place.stop) is not None
                or self._is_whole(place.item.formula.latex))
            yield every(part) if all_ else part

    def _in_plain_text(self, start: int, stop: int, taken: Sequence[tuple[int, int]] = ()) -> str:
        """A condition without dollars, x > 0 or «between 0 and 1»; what a letter is let be before: «let it be one»."""
        plain = _PLAIN_RELATION.search(self.blank, start, stop)
        if plain is not None:
            return f"“{' '.join(plain[0].split())}” beside it may say where it holds"
        for low, high in self.before(start):
            let = _LET_BE.match(self._without(taken, 0, high), low, high)
            if let is not None and (not let["article"] or let["verb"] != "be" or phrases("CLAIM_KIND").search(
                    self.blank, low, high)):
                return "what a letter is let be before it may say where it holds"
        return ""

    def _is_whole(self, latex: str) -> bool:
        """A letter of several entries stands without an index on the left."""
        letter = self.module.table.named(name_of(latex.partition("=")[0]))
        return letter is not None and bool(letter.axes)

    def _set(self, own: Place, start: int, fixed: Sequence[Cond], said: Sequence[tuple[int, int]]) -> str:
        """A whole letter, a length or an extent set in its sentence or the one before: «at w = 0», «for K = 2».

        Not what fixes numbers of the layer where the equation is looked at.
        """
        low = start if self.parted(start - 2, own.start) else self.sentence(max(start - 1, 0))[0]
        high = self.sentence(own.start)[1]
        for p in self.places:
            node = p.item.node
            if not low <= p.start < high or p.item.formula is own.item.formula or "=" not in p.item.formula.latex:
                continue
            if any(a <= p.start < b for a, b in said) or node is not None and (self._tells(own, node) or all(
                    c in fixed or every(c) in fixed for c in conditions(node))):
                continue
            whole = p.item.kind is Kind_.CONDITION and isinstance(node, Rel) and node.ops == ("=",) and (any(
                isinstance(n, Entry) and n.indices for n in walk(node)) or isinstance(node.terms[0], Size))
            if whole or p.item.kind is Kind_.UNREAD and self.last(p) in listed("WHERE"):
                return f"`{p.item.formula.latex}` beside it may say where it holds"
        return ""

    def _because(self, start: int, stop: int) -> str:
        """What is said to be known of a letter, and the question does not say."""
        told = next((p for p in self.properties if p.known and start <= p.start < stop and not (
            {*conditions(p.cond)} <= {*self.stated})), None)
        return f"“{' '.join(self.plain[told.start:told.stop].split())}” beside it may be supposed" if told else ""

    def _defined_behind(self, own: Place, stop: int) -> str:
        """A δ that a later sentence defines may be another one here."""
        later = [p for p in self.places if p.item.kind is Kind_.DEFINITION and self._of_delta(
            _HEAD.match(p.item.formula.latex))]
        told = bool(later) and self._has_delta(own) and not any(p.start < stop for p in later)
        return "`\\delta` is defined behind it" if told else ""

    def _denied(self, own: Place, start: int, stop: int) -> str:
        """A word in its clause that says that it does not hold."""
        before, after = self.blank[start:own.start], self.blank[own.stop:stop]
        others = phrases("CLAIM_OTHERS_WRITE").search(self.clause(own, start))
        if (found := others or _WRONG.search(before)) is not None:
            return found[0].strip("$\0 ")
        if re.match(r"[\s$\0]*\?", after) or _CALLED_WRONG.match(self.blank, stop):
            return "?" if "?" in after else "this is wrong"
        before = before[max([0, *(m.end() for m in re.finditer(r"[,;:()\0]", before.rstrip("$ \0\n")))]):]
        clause = before + _CLAUSE.split(after.lstrip("$\0"), maxsplit=1)[0].split("\0")[0]
        return next((w for w in WORD.findall(clause) if w.lower() in listed("DENIES")), "")

    def _without(self, spans: Iterable[tuple[int, int]], start: int, stop: int) -> str:
        text = self.blank
        for a, b in spans:
            text = text[:a] + " " * (b - a) + text[b:]
        return text[start:stop]

    def _doubt(self, own: Place, start: int, stop: int, spans: Iterable[tuple[int, int]] = ()) -> tuple[str, bool]:
        """What stands in its sentence unread, or a supposition in words before it; whether it is of a region alone."""
        for p in self.places:
            if start <= p.start < stop and p.item.kind is Kind_.UNREAD and p.item.formula is not own.item.formula and (
                    restricts(p.item.formula.latex)):
                return f"`{p.item.formula.latex}` beside it may say where it holds", False
        at = 0
        opens = listed("SUPPOSES")
        if not self._has_cases(own):
            opens |= listed("REGION")
        for end in (*self.ends, len(self.blank)):
            if at < start:
                taken = (*spans, *self._worded_before(own, at, end))
                before = phrases("CLAIM_PHRASE").sub(" ", self._without(taken, at, end))
                word = next((w for w in WORD.findall(before) if w.lower() in opens), "")
                told = self.blank[at:end].lstrip().startswith("|") or any(  # the head of a table
                    at <= p.start < end and p.item.kind is Kind_.CONDITION for p in self.places)
                if word and not told and not (word in _CLAUSES and self._in_item(at, end, own)):
                    return f"“{word}” before it may say where it holds", word in listed("REGION") - _PLACES
            at = end
        return "", False

    def _in_item(self, start: int, stop: int, own: Place) -> bool:
        """Whether a sentence with equations is of an item of a list before that in which its own stands.

        «If» there says where the equations of that item hold.
        """
        claims = any(start <= p.start < stop and p.item.kind is Kind_.CLAIM for p in self.places)
        return claims and _ITEM.match(self.text, start) is not None and _ITEM.search(
            self.text, stop - 1, own.start) is not None

    def _worded_before(self, own: Place, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Where a sentence before it says in words when its own equations hold: as conditions they are looked at."""
        inside = [p for p in self.places if start <= p.start < stop and p.item.kind is Kind_.CLAIM]
        if inside and self.said(own, *self.sentence(own.start))[0]:  # a case of its own
            yield from (span for p in inside for span in self.said(p, start, stop)[1])
        for p in inside:
            found = self.phrase_of(p)
            if found is not None and own.item.kind is Kind_.CLAIM and condition(found, own.item.link, self.module):
                yield found.span()

    def _has_cases(self, own: Place) -> bool:
        """Whether the equation, or one in its chain, tells cases of its own: it is about all of them."""
        return any(True for p in self.places if p.item.formula is own.item.formula and p.item.node is not None
                   for _ in compared(p.item.node))

    def _elsewhere(self, own: Place, stop: int, open_: bool) -> tuple[Cond, ...]:
        """Conditions that stand before it, or in the sentence behind it: they may be meant for it, too.

        Not those of the letters that the equation tells cases of: it is about all of them.
        """
        until = self.sentence(min(stop + 1, len(self.text)))[1]
        own_sentence = self.parted(own.stop, until) or any(  # the condition behind it is of an equation there
            stop <= p.start < until and p.item.kind is Kind_.CLAIM for p in self.places)
        until = stop if own_sentence else until
        found = [p.item.node for p in self.places if p.item.kind is Kind_.CONDITION and p.item.node is not None
                 and p.start < until and not any(a <= p.start < b for a, b in (*self._lacking, *(
                     (t.start, t.stop) for t in self.properties)))]
        found += [p.item.cond for p in self.places if p.item.cond is not None and p.start < until and p is not own
                  and p.item.formula is not own.item.formula]
        if own.item.kind is Kind_.CLAIM and open_:
            worded = [condition(m, own.item.link, self.module) for p in self.places if p.start < own.start
                      and p.item.kind is Kind_.CLAIM and (m := self.phrase_of(p)) is not None and p is not own]
            worded += [c for p in self.places if p.start < own.start and p.item.kind is Kind_.CLAIM and p is not own
                       for c in self.said(p, *self.sentence(p.start))[0]]
            found += [c for w in worded if w is not None for c in (w, opposite(w)) if c is not None]
        if phrases("CLAIM_CLOSES").search(self.blank, *self.sentence(own.start)):
            found = [c for c in found if self.fixed.intersection(n.tensor for n in walk(c) if isinstance(n, Entry))]
        cases = {i for rel in compared(own.item.node) if not of_values(rel) for i in free_indices(rel)} if (
            own.item.node is not None) else set()
        return tuple(c for c in dict.fromkeys(found) if not self._tells(own, c) and not (
            _of_indices(c) and cases >= free_indices(c)))

    def _tells(self, own: Place, cond: Cond) -> bool:
        """Whether an equation tells cases of the letters of a condition: it is about all of them."""
        told = {n.tensor for rel in compared(own.item.node) for n in walk(rel) if isinstance(n, Entry)} if (
            own.item.node is not None) else set()
        return bool(told) and told.issuperset(n.tensor for n in walk(cond) if isinstance(n, Entry))


def _of_indices(cond: Cond) -> bool:
    return not any(isinstance(n, Entry) for n in walk(cond))
