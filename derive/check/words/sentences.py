"""The sentences of a solution: its text without formulas, where these stand in it, and the words around them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from derive.check.letters import numeric
from derive.check.reading.claims import KRONECKER, Item, Kind_
from derive.check.reading.worded import rows
from derive.expr import Entry
from derive.module import Module
from derive.question.sentences.grammar import words_of
from derive.records import dataclass

WORD = re.compile(r"[^\W\d_]+")
_END = re.compile(r"[.!?](?:\*\*?|__?)?(?=\s|$|\))|;(?=\s)|\n(?:[^\S\n]*+\n)++(?=\s*(?:[A-Z*_|#>-]|\d+[.)]))"  # ends
                  r"|\n(?=\s*(?:[-*+]|\d+[.)]|\|)\s)|\n\s*#[^\n]*\n")  # items of lists, rows of tables, headings
_SHORT = re.compile(r"\b(i\.\s?e|e\.\s?g|w\.\s?r\.\s?t|cf|resp)\.", re.IGNORECASE)  # no sentence ends there
_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|^[^\S\n]*+(?:[-*+]|\d+[.)]|\(?[ivx]{1,4}[.)])\s", re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$|\\\[(?:(?!\\\[).)*?\\\]|\\\((?:(?!\\\().)*?\\\)"  # none in another
                      r"|\\begin\{(\w+\*?)\}(?:(?!\\begin\{\1\}).)*?\\end\{\1\}", re.DOTALL)
_LAST = re.compile(r"([.!?])[\s}$\\\])]*$")
_NEXT = re.compile(r"\n(?=[A-Z][a-z]*\b)")
QUANTIFIED = frozenset("all every each any some the that of and case".split())
LEADS = frozenset("for let with at on where".split())  # words that open a condition, and much else
_CONDITION = re.compile(r"(?:\b(?:if|when|whenever|unless)|(?:\A\s*|[a-z]\s+)where|\A\s*at)[\s$]+"
                        r"(?:\0+\s+or\s+)?\0*\Z", re.IGNORECASE)
_ENDS_IN_NUMBER = re.compile(r"=[^=]+=\s*-?\d+\s*[.,;]?\s*$")
_AND = re.compile(r"[\s$\0]*(?:,|,?\s*and)[\s$\0]*")
_THEN = re.compile(r"[\s$\0]*(?:,?\s*then\b|,\s*(?:we|it|this|the)\b|:|\))", re.IGNORECASE)
_BREAK = 100  # blanks between two paragraphs
_IN_MIND = 12
_SHUT = re.compile(r"[\s$\0]*(?:[.;]|\Z)")
_SOME_OF = frozenset("all any each every some only except without most many other others which that where we get"
                     .split())
_OPEN_WITH_THAT = frozenset("provided case assume suppose assuming supposing".split())
_PART = re.compile(r"\n\s*(?:\*\*)?\(?[a-h]\)")  # (b) …, **c)** …
_TELLS = re.compile(r"[a-z]?\s*where\b", re.IGNORECASE)  # where p_k = …: what the letter is


def listed(name: str) -> frozenset[str]:
    """The words of a list of claims."""
    return words_of("en", f"CLAIM_{name}")


@cache
def phrases(name: str) -> re.Pattern[str]:
    """The phrases of a name: off ties."""
    return re.compile(rows(name), re.IGNORECASE)


def words_in(text: str) -> list[str]:
    return [w.lower() for w in WORD.findall(phrases("CLAIM_PHRASE").sub(" ", text)) if len(w) > 1]


@dataclass(frozen=True)
class Place:
    """Where a formula stands in the text."""

    item: Item
    start: int
    stop: int


@cache
def gloss() -> re.Pattern[str]:
    """«For unit vectors (», «at the starting point »: words at the beginning of a sentence that a formula tells."""
    others = "|".join(sorted(words_of("en", "CLAIM_ELSE") | words_of("en", "CLAIM_DENIES") | _SOME_OF))
    return re.compile(r"[\s$]*(?:(?:then|so|now|hence|thus|and|but|in\s+particular|for\s+(?:example|instance)),?\s+)?"
                      rf"(?P<words>(?:at|in|for|with|if|when|on)\s+(?:(?!(?:{others})\b)[a-z-]++[\s,]*+){{1,6}})"
                      r"(?P<bracket>\()?[\s$]*", re.IGNORECASE)


class Sentences:
    """The text of a solution around its formulas; lines are counted from ``first``."""

    def __init__(self, text: str, first: int, items: Iterable[Item], module: Module) -> None:
        self.first, self.text, self.module = first, text, module
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        said = [m.span() for m in KRONECKER.finditer(text)]
        self.plain = KRONECKER.sub(_blank, _MARKUP.sub(_blank, text))
        self.blank = _SHORT.sub(r"\1 ", _FORMULA.sub(_hidden, self.plain))
        listed = _SHORT.sub(r"\1 ", _FORMULA.sub(_hidden, KRONECKER.sub(_blank, text)))
        self.ends = [m.end() for m in _END.finditer(listed)]
        places = list[Place]()
        for item in items:
            places.append(self._meant(self._place(item), places[-1] if places else None))
        self.places = [p for p in places if not any(a <= p.start < b for a, b in said)]

    def behind(self) -> Iterator[tuple[Item, bool, str]]:
        """Each formula, whether the word before it defines, and the words of its sentence behind it."""
        for p in self.places:
            behind = self.blank[p.stop:self.sentence(p.start)[1]].lstrip("$ \0").split("\0")[0]
            yield p.item, self.last(p) in listed("DEFINES"), behind

    def _place(self, item: Item) -> Place:
        formula = item.formula
        line = min(max(formula.line - self.first, 0), len(self._starts) - 1)
        start = self._starts[line] + formula.column
        return Place(item, start, start + len(formula.latex))

    def _meant(self, place: Place, earlier: Place | None) -> Place:
        """«where 1 - t s = 0»: an equation of a number or a letter that such a word introduces is a condition.

        «If y_n = t_n», «unless a = 1», «meet where y_n = t_n»: of anything but a derivative, too.  «If y = 1 and z = 0,
        then», «let u = v = 1»: what goes on in one.
        """
        item = place.item
        if item.kind is Kind_.CLAIM and item.cond is None and not item.slope:
            before = self.blank[self.sentence(place.start)[0]:place.start]
            found = _CONDITION.search(before)
            told = found and _TELLS.match(found[0]) and not item.supposes and not isinstance(item.link.terms[1], Entry)
            if found and not told:
                return replace(place, item=replace(item, kind=Kind_.CONDITION))
        if item.kind is not Kind_.CLAIM or item.cond is not None or not item.supposes or not (
                numeric(item.link.terms[1]) or isinstance(item.link.terms[1], Entry)
                or _ENDS_IN_NUMBER.search(item.formula.latex)):
            return place
        ahead = self.blank[self.sentence(place.start)[0]:place.start].rstrip("\0 ")
        behind = re.search(r"[^\W\d_][^\0]*\0[^\w.]*\Z", ahead)
        told = not behind and self.last(place) in listed("WHERE") - {"with"}  # «for t y > 1, L = 0»
        glossed = gloss().fullmatch(ahead)
        told = told or glossed is not None and glossed["bracket"] is not None
        if earlier is not None and earlier.item.kind is Kind_.CONDITION:
            chain = earlier.item.formula is item.formula
            goes_on = _THEN.match(self.blank, place.stop) or "and" in self.blank[earlier.stop:place.start] and (
                _SHUT.match(self.blank, place.stop))
            told = told or chain or _AND.fullmatch(self.blank, earlier.stop, place.start) is not None and bool(goes_on)
        return replace(place, item=replace(item, kind=Kind_.CONDITION)) if told else place

    def last(self, place: Place) -> str:
        """The word in front of a formula."""
        words = [w.lower() for w in WORD.findall(self.blank[self.sentence(place.start)[0]:place.start])]
        if words[-1:] in (["that"], ["of"]) and words[-2:-1] and words[-2] in _OPEN_WITH_THAT:
            words.pop()
        return words[-1] if words else ""

    def sentence(self, at: int) -> tuple[int, int]:
        place = bisect_right(self.ends, at)
        return self.ends[place - 1] if place else 0, self.ends[place] if place < len(self.ends) else len(self.text)

    def before(self, start: int) -> Iterator[tuple[int, int]]:
        """The sentences in front of one in its paragraph, the last first; no more than a reader has in mind."""
        for _ in range(_IN_MIND):
            low, high = self.sentence(start - 1) if start > 0 else (0, 0)
            around = self.blank[max(low, high - _BREAK):high], self.blank[high:high + _BREAK]
            blank = around[0][len(around[0].rstrip()):] + around[1][:len(around[1]) - len(around[1].lstrip())]
            if start == 0 or blank.count("\n") > 1:
                return
            yield low, high
            start = low

    def parted(self, low: int, high: int) -> bool:
        """Whether another part of the solution begins between."""
        return _PART.search(self.text, max(low, 0), high) is not None

    def clause(self, own: Place, start: int) -> str:
        """The words in front of it, behind the equation before it and the last full stop."""
        return self.blank[slice(*self.clause_of(own, start))]

    def clause_of(self, own: Place, start: int) -> tuple[int, int]:
        last = max((p.stop for p in self.places if start <= p.stop <= own.start and p.item.kind is Kind_.CLAIM
                    and p.item.formula is not own.item.formula), default=start)
        return last, own.start


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _hidden(formula: re.Match[str]) -> str:
    """Nothing of a formula but its lines, and the full stop that ends it; a new sentence may follow a display, too."""
    found = re.sub(r"[^\n]", "\0", formula[0])
    ends = formula[0].startswith(("$$", "\\[", "\\b")) and _NEXT.match(formula.string, formula.end()) is not None
    return found[:-1] + "." if ends or _LAST.search(formula[0].rstrip("$ \n")) else found
