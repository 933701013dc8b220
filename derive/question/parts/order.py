"""In what order the parts that words name stand, and the card's own formulas among them: «a sigmoid behind a linear
layer», «a skip connection around …», «it is put before the activation above»."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace

from derive.errors import CardError, Problem
from derive.notation.formulas import Formula
from derive.question.letters.naming import written_letters
from derive.question.parts.recognised import Part
from derive.question.words.lexicon import named, only
from derive.question.words.prose import Prose
from derive.records import dataclass

_OF = re.compile(r"\s+of (?:an? |the )?$")  # «the softmax of a linear layer»
_TO_LETTER = re.compile(r"\s+(?:the )?(?:\w+ )?∎")  # «applied to $z$»
ENDS_THERE = re.compile(r"\s*(?:[,.;:¶]|$)")  # «a softmax follows, …»
_GOES_ON = re.compile(r"[,.;:¶]|\b(?:it|its|then|finally)\b")
_HEAD = (r"(?:activation(?: function)?|function|non-?linearity|layer|unit|module|map|operation|formula|block"
         r"|transformation)")
_AGAIN = re.compile(  # «the activation above», «this layer», «the given function»
    rf"\b(?:this|that) (?:[\w-]+ )?{_HEAD}\b|\bthe {_HEAD}(?: (?:is|was))? (?:\w+ )?(?:above|below)\b"
    rf"|\b(?:the )?(?:above|given|defined|stated) (?:[\w-]+ )?{_HEAD}\b")
_ENDS = re.compile(r"[.;:?!¶]")
Unclear = Callable[[Part, str], CardError]


def in_order(parts: Sequence[Part], prose: Prose, unclear: Unclear) -> list[Part]:
    """The parts as one feeds the next, where they are named in another order.

    Raises an error where the words leave open what a part that is named behind two others follows.
    """
    found: list[Part] = [*parts[:1]]
    turned = False
    for first, second in itertools.pairwise(parts):
        words = prose.text[first.end : second.start]
        turn = reversed_by(first, second, prose)
        if turn is None:
            quoted = prose.plain.quote(first.start, second.end)
            raise CardError(Problem(f"“{quoted}”: which comes first? Write e.g. “a linear layer followed by …”, or the "
                                    "forward formulas", line=prose.plain.line(first.start)))
        if turn:
            found.insert(found.index(first), second)
            turned = True
            continue
        if turned and not (second.loss or _GOES_ON.search(words) or named(words, "join.ahead")):
            raise unclear(second, f": what goes into it, {_quoted(found, prose)}? Write the layers in their order, "
                          "or the forward formulas")
        found.append(second)
    return [*_around(found, prose)]


def reversed_by(first: Part, second: Part, prose: Prose) -> bool | None:
    """«a ReLU is applied to the output of a linear layer»: what is named second comes first; None where words that say
    so do not stand right between them."""
    start, _ = prose.sentence(second.start)
    words = prose.text[max(start, first.end) : second.start]
    lead = prose.text[start : first.start] if start <= first.start else ""
    here = [s for s in named(words, "join.back", "join.ahead", "join.source")
            if not _TO_LETTER.match(words, s.stop) and not ENDS_THERE.match(prose.text, max(start, first.end) + s.stop)]
    if leads(lead, "join.ahead"):
        return None if here else True  # «before the pooling stands a ReLU»
    if not here:
        return start <= first.end and _OF.fullmatch(words) is not None
    right = start <= first.end and only(words, here[-1].stop, len(words), "small")
    if not right or len(here) > 1 or here[0].of("join.source") and not named(lead, "letter.input"):
        return None
    return not here[0].of("join.ahead")  # «the input of the linear layer is the output of a tanh»


def leads(lead: str, concept: str) -> bool:
    """«On top of the …»: the words in front of a part are such a phrase and small ones."""
    found = named(lead, concept)
    return bool(found) and only(lead, found[-1].stop, len(lead), "small") and only(lead, 0, found[0].start, "small")


def _quoted(parts: Sequence[Part], prose: Prose) -> str:
    return " or ".join(f"“{prose.plain.quote(p.start, p.end)}”" for p in parts[-2:])


def _around(parts: Sequence[Part], prose: Prose) -> Iterator[Part]:
    """A residual connection behind the parts of its sentence around which it goes."""
    waiting: Part | None = None
    for n, part in enumerate(parts):
        if part.name == "residual" and not n:
            waiting = part
            continue
        if waiting and (part.loss or prose.sentence(part.start) != prose.sentence(waiting.start)):
            yield replace(waiting, start=part.start, end=part.start)
            waiting = None
        yield part
    if waiting:
        yield waiting


@dataclass(frozen=True)
class Token:
    """A part, or with None the card's formulas, where the words speak of it."""

    start: int
    end: int
    part: Part | None


@dataclass(frozen=True)
class Placed:
    """The parts in front of the card's formulas and behind them, and the words that say so."""

    before: list[Part]
    behind: list[Part]
    places: list[tuple[int, int]] = field(default_factory=list)


def placed(prose: Prose, parts: Sequence[Part], own: Sequence[Formula], letters: Sequence[str],
           taken: str = "") -> Placed | None:
    """The parts around the card's ``own`` formulas, which have these ``letters``, one of them ``taken`` by the first;
    None where the words do not say of each part which it follows."""
    tokens = sorted((*_tokens(prose, own, letters), *(Token(p.start, p.end, p) for p in parts)), key=lambda t: t.start)
    # of the place of an item, that of the next
    follows = {p.start: -1 for p in parts if taken and p.letters.get("output") == taken}
    items: dict[int, Part | None] = {-1: None, **{p.start: p for p in parts}}
    places = [(t.start, t.end) for t in tokens if t.part is None]
    for n, second in enumerate(tokens):
        first = tokens[n - 1] if n else None
        last = second.part is not None and second.part.loss
        edge = _edge(prose, first, second) if first is not None and not last else None
        ends = (-2, -2) if edge is None else (_key(edge[0]), _key(edge[1]))
        if ends[0] != ends[1] and follows.setdefault(*ends) != ends[1]:
            return None
    path = _path(follows, [k for k, part in items.items() if part is None or not part.loss])
    losses = [p for p in parts if p.loss]
    if path is None or len(losses) > 1:
        return None
    at = path.index(-1)
    chain = [items[k] for k in path]
    before, behind = ([p for p in side if p is not None] for side in (chain[:at], chain[at + 1:]))
    return Placed(before, [*behind, *losses], places)


def _key(token: Token) -> int:
    return -1 if token.part is None else token.part.start


def _tokens(prose: Prose, own: Sequence[Formula], letters: Sequence[str]) -> Iterator[Token]:
    """Where the card's formulas stand, where words name them again, and their outputs."""
    for formula in own:
        at = bisect_right(prose.plain.origin, prose.plain.place(formula)) - 1
        yield Token(at, at + 1, None)
    yield from (Token(*m.span(), None) for m in _AGAIN.finditer(prose.text))
    for gap in prose.gaps:
        if gap.formula not in own and len(found := written_letters(gap.formula)) == 1 and found[0] in letters:
            yield Token(gap.start, gap.start + 1, None)


def _edge(prose: Prose, first: Token, second: Token) -> tuple[Token, Token] | None:
    """Which of two neighbours feeds the other, where the words between them say so."""
    words = prose.text[first.end : second.start]
    told = _ENDS.split(words)[-1]
    joins = named(told, "join.back", "join.through", "join.then", "join.ahead", *["join.source"] * (first.part is None))
    if told != words:  # «It is followed by …», behind the sentence of the first
        subject = only(told, 0, joins[0].start, "anaphor") if joins else False
        if not subject:
            return _inverted(prose, first, second)
    if not joins or not only(told, joins[-1].stop, len(told), "small", "head"):
        return _inverted(prose, first, second)
    back = any(s.of("join.back", "join.source") for s in joins) or told == words and first.part is not None and (
        second.part is not None and reversed_by(first.part, second.part, prose))
    if back and any(s.of("join.ahead", "join.through") for s in joins):
        return None
    return (second, first) if back else (first, second)


def _inverted(prose: Prose, first: Token, second: Token) -> tuple[Token, Token] | None:
    """«On top of this unit sits a sigmoid»: the first feeds the second."""
    start = max((m.end() for m in _ENDS.finditer(prose.text, 0, first.start)), default=0)
    apart = _ENDS.search(prose.text[first.end : second.start])
    return (first, second) if not apart and leads(prose.text[start : first.start], "join.back") else None


def _path(follows: dict[int, int], items: Sequence[int]) -> list[int] | None:
    """The items one behind the other; None where that leaves some out."""
    follows = {a: b for a, b in follows.items() if a in items and b in items}
    starts = [k for k in items if k not in follows.values()]
    if len(starts) != 1 or len({*follows.values()}) != len(follows):
        return None
    path = starts
    while path[-1] in follows and len(path) <= len(items):
        path = [*path, follows[path[-1]]]
    return path if len(path) == len(items) else None
