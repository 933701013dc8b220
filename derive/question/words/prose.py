"""A question's prose without its markup: each character knows where it stood, each inline formula is a gap."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property, lru_cache
from typing import Any

from derive.formulas import SPELT
from derive.notation.formulas import Formula
from derive.notation.rules.trees import with_trees
from derive.question.words.lexicon import begins, ends, named
from derive.records import dataclass


def one_of(*phrases: str) -> re.Pattern[str]:
    """Any of the phrases, each a pattern over text in lower case."""
    return re.compile("|".join(phrases))


GAP = "∎"  # stands for a formula that is no plain number
BREAK = "¶"  # stands for a blank line or a displayed formula
_TOKEN = re.compile(
    r"""(?P<code>```.*?```|~~~.*?~~~|<!--(?:(?!<!--).)*?-->)
      | (?P<display>\$\$.*?\$\$|\\\[(?:(?!\\\[).)*?\\\]
          |\\begin\{(?P<env>equation|align|gather)\*?\}(?:(?!\\begin\{(?P=env)).)*?\\end\{(?P=env)\*?\})
      | (?P<inline>\$(?!\s*\$)[^$]+\$|\\\((?:(?!\\\().)*?\\\))
      | (?P<spelt>""" + re.sub(r"\(\?P<\w+>", "(?:", SPELT.pattern) + r""")
      | (?P<blank>[ \t]*\r?\n[ \t]*\r?\n\s*)
      | (?P<space>\s+)
      | (?P<mark>\*\*|__|`|(?<!\d)\*|\*(?!\s*\d)|!?\[\[[^\[\]]*\]\])
      | (?P<letters>[a-z0-9]+)
      | (?P<char>.)""",
    re.VERBOSE | re.DOTALL,
)
_NUMERIC = re.compile(r"(?!.*\\(?:max|min|frac|sum|partial|in\b))[^_^&]*\d[^_^&]*", re.DOTALL)
_SIZES = re.compile(r"(?:\$|\\\()\s*\(?\w+(?:\s*(?:\\times|,|\\cdot)\s*\w+)*\s*\)?\s*(?:\$|\\\))")  # K, K \times K
_ARROW = re.compile(r"(?:\$|\\\()\s*\\(?:to|[Ll]?(?:ong)?[Rr]ightarrow)\s*(?:\$|\\\))")  # linear layer $\to$ ELU
_MATH = re.compile(
    r"(?P<times>\\times|\\cdot)|(?P<drop>\\text|\\mathrm|[{}$]|\\[()!])|(?P<space>\\[,;: ]|~|\s+)|(?P<char>.)",
    re.DOTALL,
)
_PLAIN = {"‐": "-", "‑": "-", "–": "-", "—": "-", "’": "'", "∗": "*", "✕": "×", "╳": "×",
          "|": ":"}  # fmt: skip

_MARKS = "abcdefghi123456789"  # of the parts of a question
_MARK = re.compile(r"(?:^|[.?!;:,¶\n∎])\s*[*-]*(\([a-i1-9]\)|[a-i1-9]\)|[1-9]\.)(?=[*\s])"
                   r"|(?<=[^\W\d_])\s(\([a-i1-9]\))(?=\s)")  # «derive (a) … and (b) …», not «by (2)»


@dataclass(frozen=True)
class PlainText:
    """``text`` in lower case; ``origin[n]`` is where its character n stands in ``source``."""

    source: str
    first_line: int
    text: str
    origin: tuple[int, ...]

    def quote(self, start: int, stop: int) -> str:
        """The source behind text[start:stop], on one line."""
        first, last = self.origin[start], self.origin[stop - 1] + 1
        if self.text[stop - 1] == GAP and (whole := _TOKEN.match(self.source, last - 1)):
            last = whole.end()
        if self.source.count("$", first, last) % 2:  # a formula is quoted with both its signs
            before = self.source[first - 1 : first] == "$"
            first, last = (first - 1, last) if before else (first, last + (self.source[last : last + 1] == "$"))
        return " ".join(self.source[first:last].replace("**", " ").replace("`", " ").replace("|", " ").split())

    def line(self, start: int) -> int:
        """The line of text[start] in the file."""
        return self.first_line + self.source.count("\n", 0, self.origin[start])

    def place(self, formula: Formula) -> int:
        """Where the formula begins in the source."""
        return self._starts[formula.line - self.first_line] + formula.column

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(n for n, char in enumerate(self.source, 1) if char == "\n")]

    def part(self, place: int) -> str:
        """(a), 2.: the mark of the part of the question in which a place of the source lies; one follows the other."""
        found, before = "", 0
        for mark in _MARK.finditer(self.text, 0, bisect_left(self.origin, place)):
            own = mark[1] or mark[2]
            number = _MARKS.find(own.strip("().")) % 9 + 1
            if number in (1, before + 1) and (mark[1] or ends(self.text[: mark.start()], "ask.verb", "between.and")):
                found, before = own, number
        return found


def plain_text(
    source: str, first_line: int = 1, known: Mapping[str, int] | None = None, *, gaps: bool = False
) -> PlainText:
    """The prose of a Markdown text; formulas that hold no size become a gap (with ``gaps`` all do).

    ``known`` are sizes that the text calls by a letter: $K \\times K$ then reads as 2 × 2.
    """
    pieces: list[tuple[str, int]] = []
    for found in _TOKEN.finditer(source):
        kind, at = found.lastgroup or "", found.start()
        if found["display"] or found["code"] or kind == "blank":
            pieces.append((BREAK, at))
        elif kind == "inline":
            joins = _ARROW.fullmatch(found[0]) is not None
            pieces += [("→" if joins else GAP, at)] if gaps else _inline(found[0], at, known or {})
        elif kind == "spelt":
            pieces.append((GAP, at))
        elif kind == "space":
            pieces.append((" ", at))
        elif kind == "letters":
            pieces += zip(found[0], range(at, found.end()), strict=True)
        elif kind == "char":
            pieces.append((_PLAIN.get(found[0], found[0]).lower()[:1], at))
    return PlainText(source, first_line, "".join(c for c, _ in pieces), tuple(at for _, at in pieces))


def _inline(formula: str, start: int, known: Mapping[str, int]) -> list[tuple[str, int]]:
    letters = re.findall(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])", formula) if _SIZES.fullmatch(formula) else []
    if not _NUMERIC.fullmatch(formula) and not (letters and all(c in known for c in letters)):
        return [(GAP, start)]
    pieces = []
    for found in _MATH.finditer(formula):
        at = start + found.start()
        if found.lastgroup == "times":
            pieces.append(("×", at))
        elif found.lastgroup == "space":
            pieces.append((" ", at))
        elif found.lastgroup == "char":
            char = str(known[found[0]]) if letters and found[0] in known else found[0].lower()[:1]
            pieces += [(c, at) for c in char]
    return pieces


_ABBREVIATION = re.compile(
    r"\b(?:w\.\s?r\.\s?t|e\.\s?g|i\.\s?e|s\.\s?t|resp|cf|eq|fig|no|vs|tzn|tj|např)\.|(?<=\d)\.(?=\d)"
    r"|(?<=[,:¶] \d)\.(?= )"  # 1. a linear layer, 2. PReLU
)


_BY = re.compile(r"\((\s*(?:with respect to|w ?\.? ?r ?\.? ?t\b)[^()]*)\)")  # «the message (with respect to $w$)»


_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*+•]|\(?(?:\d{1,2}|[a-h]|i{1,3}|iv|vi{0,3})[.)])[ \t]+")


def _in_one(text: str, plain: PlainText) -> str:
    """The text with the items of a list behind «Derive» or «Derive the following:» as those of one sentence."""
    chars, last, carried = list(text), 0, False
    for mark in _ITEM.finditer(plain.source):
        start, stop = (bisect_left(plain.origin, at) for at in mark.span())
        before = "".join(chars[:start]).rstrip(f" {BREAK}")
        carried = BREAK not in before[last:] if carried else _asks(before)
        if carried and not begins(text, stop, "ask"):
            end = len(before) - (before[-1:] in tuple(".;"))
            chars[end:stop] = [",", *" " * (stop - end - 1)] if stop > end else []
        last = stop
    return "".join(chars)


_BEHIND = 500  # characters behind which a list is asked for
_LEAD = re.compile(r"\s*(?:down\b\s*)?(?:(?:the\s+)?(?:expressions?|formulas?|equations?)\s+(?:for|of)\s*)?"
                   r"(?:the\s+)?:?\s*")


_TOWARDS = (" to", " for", " of", " by")  # «give the messages to»


def _asks(before: str) -> bool:
    """A list behind these words is what is asked for."""
    lead = re.split(r"[.?!;¶]", before[-_BEHIND:].removesuffix("."))[-1]
    verb = max((s.stop for s in named(lead, "ask.verb")), default=None)
    whole = before.endswith(":") or lead.endswith(("following", *_TOWARDS)) or ends(lead.strip(), "wrt")
    return verb is not None and (whole or _LEAD.fullmatch(lead, verb) is not None)


@dataclass(frozen=True)
class Gap:
    """A formula within the prose, at ``start`` of its text."""

    formula: Formula
    start: int


@dataclass(frozen=True)
class Prose:
    """The prose in lower case, a gap for each inline formula, a break for each displayed one."""

    plain: PlainText
    formulas: tuple[Formula, ...]
    kept: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)  # what was found in it

    @cached_property
    def text(self) -> str:
        """The text without the full stops of abbreviations, and without brackets around what is asked for by."""
        text = _ABBREVIATION.sub(lambda m: m[0].replace(".", " "), self.plain.text)
        return _in_one(_BY.sub(r" \1 ", text), self.plain)

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """The inline formulas in their order."""
        places = {self.plain.place(f): f for f in self.formulas}
        found = []
        for start, char in enumerate(self.text):
            if char == GAP and (formula := self._at(self.plain.origin[start], places)) is not None:
                found.append(Gap(formula, start))
        return tuple(found)

    def displayed(self, start: int) -> tuple[Formula, ...]:
        """The formulas of a display that stands at a break of the text."""
        origin, plain = self.plain.origin, self.plain
        stop = origin[start + 1] if start + 1 < len(origin) else len(plain.source)
        return tuple(f for f in self.formulas if f.display and origin[start] <= plain.place(f) < stop)

    def source_at(self, start: int) -> str:
        """The character as it stands in the source."""
        return self.plain.source[self.plain.origin[start]]

    @cached_property
    def ends(self) -> tuple[int, ...]:
        return (0, *(n for n, char in enumerate(self.text, 1) if char in ".?!;¶"), len(self.text))

    def sentence(self, start: int) -> tuple[int, int]:
        """Where the sentence around a place begins and ends."""
        n = bisect_right(self.ends, start)
        return self.ends[n - 1], self.ends[min(n, len(self.ends) - 1)]

    def said(self, start: int, stop: int) -> str:
        """The place and the words: line 12: “the bias $b$”."""
        while start < stop - 1 and self.text[start].isspace():
            start += 1
        return f"line {self.plain.line(start)}: “{self.plain.quote(start, stop)}”"

    def matches(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        yield from pattern.finditer(self.text)

    @staticmethod
    def _at(origin: int, places: dict[int, Formula]) -> Formula | None:
        """The formula that begins behind the sign $ or \\( at this place of the source."""
        return next((places[at] for at in range(origin, origin + 8) if at in places), None)


def prose_of(source: str, first_line: int, formulas: Iterable[Formula]) -> Prose:
    """The prose of a Markdown text and the formulas that stand in it."""
    return Prose(plain_prose(source, first_line), tuple(with_trees(formulas)))


@lru_cache(maxsize=16)
def plain_prose(source: str, first_line: int) -> PlainText:
    """The prose of a question, a gap for each inline formula, with “derive” in front of what it notes as asked for."""
    return _with_orders(plain_text(source, first_line, gaps=True))


_MARKED = r"(?:\((?:[a-h1-9]|i{1,3}|iv|vi{0,3})\)|[a-h1-9]\)|[1-9]\.)"  # (ii)
_NOTED = re.compile(rf"(?:^|[.?!;{BREAK}]|:(?=\s*{_MARKED}))(?:\s*[*-]*{_MARKED})?"
                    rf"(?:\s*[(\[]\s*\d+\s*p[a-z]*\.?\s*[)\]](?=\s*{GAP}))?\s*"
                    rf"(?:(?:wanted|sought|required|asked for)\s*:\s*)?"
                    rf"(?P<what>(?:the\s+|all\s+)?(?:(?:backward|parameter|forward)\s+)?"
                    rf"(?:derivatives?|gradients?|jacobian|messages?)\b|{GAP})(?P<rest>[^.?!;{BREAK}]*)", re.IGNORECASE)
_DERIVATIVE = re.compile(r"(?:\$|\\\()\s*(?:\\displaystyle\s*)?"
                         r"(?:\\[dt]?frac\s*\{\s*(?:\\partial|d\b)|\\partial|\\nabla)")
_FINITE = re.compile(r"\b(?:is|are|was|were|be|has|have|comes?|arrives?|vanish\w*|denotes?|flows?|exists?"
                     r"|zero|constant|known)\b")
_WHEN = re.compile(r"\b(?:when|if|given|where|with|at)\b")


_KIND = r"(?:forward|backward|parameter)"
_TO = rf"(?:\s+(?:for|to|of|w\.\s?r\.\s?t\.|with respect to)\s+{GAP}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+){GAP})*)"
_ONE = rf"(?:{_KIND}(?:\s+(?:messages?|pass(?:es)?))?{_TO}?|(?:three\s+)?messages)"
_MESSAGES = re.compile(
    rf"\s*(?P<what>(?:(?:the|all(?:\s+the)?)\s+)?{_ONE}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?:the\s+)?{_ONE})*(?!\w)"
    rf"(?:\s+(?:of|for)\s+(?:the|this)(?:\s+whole)?\s+(?:layer|unit|block|network|cell|module))?)"
    rf"(?P<please>\s+(?:please|pls))?\s*(?P<end>[.?!(\[{BREAK}]|\Z)?")
_SLASH = re.compile(rf"(?<=\w)\s*(/)\s*(?=(?:the\s+)?{_KIND}\b)")  # forward / backward / parameter messages
_BEGINS = re.compile(rf"^|[.?!)]\s|{BREAK}")
_LISTS = re.compile(r"\b(?:derive|give|find|compute|calculate|determine|state|write)\b[^.?!]*:[^.?!]*$")  # Derive: - …


def _with_orders(plain: PlainText) -> PlainText:
    """A text with “derive” in front of what it notes as asked for: «Backward message to $x$?», «Gradients on $a$.»"""
    pieces: list[tuple[str, int]] = [*zip(plain.text, plain.origin, strict=True)]
    for of in reversed(named(plain.text, "ordered.sensitive")):  # «the sensitivity of $y$ to $x$»
        noun = of.start + plain.text[of.start : of.stop].index(" ")
        for start, stop, words in ((of.stop - 2, of.stop, "with respect to"), (of.start, noun, "derivative")):
            origins = [*[plain.origin[start]] * (len(words) - 1), plain.origin[stop - 1]]
            pieces[start:stop] = zip(words, origins, strict=True)
    plain = replace(plain, text="".join(c for c, _ in pieces), origin=tuple(at for _, at in pieces))
    for slash in _SLASH.finditer(plain.text):
        pieces[slash.start(1)] = (",", pieces[slash.start(1)][1])
    text = "".join(c for c, _ in pieces)
    places = dict(_message_lists(text, plain))
    for passive in named(text, "ordered.passive"):  # «the gradient by $W$ is to be derived»
        start = max(text.rfind(sign, 0, passive.start) for sign in f".?!;{BREAK}") + 1
        start += len(text[start:]) - len(text[start:].lstrip())
        if not named(text[start : passive.start], "ask", "naming.is"):
            places[start] = passive.start, passive.stop
    for found in () if places or named(text, "ask.verb", "ask.explain") else _NOTED.finditer(text):
        own = found["what"] != GAP or _DERIVATIVE.match(plain.source, plain.origin[found.start("what")])
        if own and not _FINITE.search(_WHEN.split(found["rest"])[0]):
            places[found.start("what")] = None
    for idle in filter(None, places.values()):
        pieces[slice(*idle)] = [(" ", at) for _, at in pieces[slice(*idle)]]
    for start in sorted(places, reverse=True):
        pieces[start:start] = [(c, plain.origin[start]) for c in "derive "]
    return replace(plain, text="".join(c for c, _ in pieces), origin=tuple(at for _, at in pieces))


def _message_lists(text: str, plain: PlainText) -> Iterator[tuple[int, tuple[int, int] | None]]:
    """Where sentences begin that are a list of messages and nothing else, and where «please» stands behind them."""
    items, behind = ({bisect_left(plain.origin, m.span()[n]) for m in _ITEM.finditer(plain.source)} for n in (0, 1))
    for start in sorted({*(m.end() for m in _BEGINS.finditer(text)), *behind}):
        found = _MESSAGES.match(text, start)
        whole = found is not None and (found["end"] is not None or {found.end(), found.end() + 1} & items)
        if found is not None and whole and "message" in found["what"] and not _LISTS.search(text[:start]):
            yield found.start("what"), found.span("please") if found["please"] else None
