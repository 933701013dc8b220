"""Of what and by what derivatives are asked: each item of the list behind «with respect to», «the gradients for»."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from derive.notation.rules.kinds import Said, equates, kind_of
from derive.notation.symbols import name_of
from derive.question.letters.called import letter_called
from derive.question.words.lexicon import ends, named, only
from derive.question.words.prose import GAP, Prose
from derive.records import dataclass

_TOKEN = re.compile(rf"{GAP}|[^\W\d_][\w'’-]*|[^\w\s]")
_MARKED = re.compile(r"^\s*(?:[*-]|\(?[a-i1-9][.)])")  # (b)
_NOUNS = ("request.jacobian", "request.gradient", "request.message")
Place = tuple[int, int]


@dataclass(frozen=True)
class OfWhat:
    """A noun of such a list without a letter behind it."""

    start: int
    stop: int
    by: bool  # behind «with respect to»
    beside: bool  # letters


def nouns(prose: Prose) -> Iterator[OfWhat]:
    """The nouns without letters of all such lists."""
    places = {span.stop: True for span in named(prose.text, "wrt")}
    for noun in named(prose.text, *_NOUNS):
        of = next((s for s in named(prose.text, "between.of") if prose.text[noun.stop : s.start] == " "), None)
        if of is not None:
            places.setdefault(of.stop, False)
    for at, by in places.items():
        items = [*_items(prose.text, at, prose.sentence(at)[1])]
        beside = any(prose.text[start] == GAP for start, _ in items)
        yield from (OfWhat(start, stop, by, beside) for start, stop in items if prose.text[start] != GAP
                    and not named(prose.text[start:stop], *_NOUNS))  # «by $x$ and the message by $W$»


def _items(text: str, at: int, end: int) -> Iterator[Place]:
    """«the weights», «∎» of «the weights, the input $x$ and $h$»."""
    words: list[Place] = []
    further = article = False
    read = at
    for token in _TOKEN.finditer(text, at, end):
        if token.start() < read:
            continue
        joins = token[0] == "," or bool(named(token[0], "naming.and"))
        if token[0] == GAP:
            yield token.span()
            words, further, article = [(-1, -1)], True, False
        elif joins:
            yield from _whole(words)
            words, further, article = [], True, False
        elif words[:1] == [(-1, -1)]:
            return  # «$W$ of»
        elif not words and named(token[0], "naming.article", "naming.also"):
            article = True
        elif words and named(token[0], "by_noun.of") and (read := _layer_behind(text, token.end())):
            words.append((token.start(), read))
        elif not token[0][0].isalpha() or named(token[0], "naming.further", "naming.apart", "between.of", "naming.is",
                                                "slot.list_ends", "slot.written_in"):
            yield from _whole(words) if not named(token[0], "naming.is") or not further else ()
            return
        elif further and not (article or words or named(token[0], "letter", "role", "request.trained")):
            return  # «and simplify»
        else:
            words.append(token.span())
    yield from _whole(words)


def _layer_behind(text: str, at: int) -> int:
    """Where «the first layer», «layer 1» behind a place ends; 0 where it does not stand there."""
    numbered = next((s.stop for s in named(text, "by_noun.numbered") if text[at : s.start] == " "), 0)
    if numbered:
        return numbered
    places = (s for s in named(text, "by_noun.which") if s.start >= at and only(text, at, s.start, "naming.article"))
    which = next(places, None)
    layers = named(text, "by_noun.layer", "by_noun.unit") if which is not None else ()
    return next((s.stop for s in layers if which is not None and text[which.stop : s.start] == " "), 0)


def _whole(words: list[Place]) -> Iterator[Place]:
    if words and words[0][0] >= 0:
        yield words[0][0], words[-1][1]


def letter_of_noun(prose: Prose, noun: OfWhat) -> str | None:
    """g of «the gradient for the gain», where the gain is called $g$ and the noun is none that many letters share."""
    words = prose.text[noun.start : noun.stop]
    return None if _shared(words, noun.by) or (found := letter_called(prose, words)) is None else name_of(found)


def is_spelt_out(prose: Prose, noun: OfWhat) -> bool:
    """«with respect to the values, ∂L/∂v», «to the probability: ∂L/∂p»"""
    return prose.text[noun.stop :].lstrip().startswith((f", {GAP}", f": {GAP}"))


def _shared(words: str, by: bool) -> bool:
    return ends(words, "of_what.by") or not by and ends(words, "of_what.of")


def unknown_nouns(prose: Prose, asked: frozenset[Place]) -> Iterator[Place]:
    """«with respect to the pre-activation», where no letter is called so; «the derivative of the ReLU» of a chain."""
    parts = {span.concept for span in named(prose.text, "part")}
    formulas = sum(map(equates, prose.formulas))
    for noun in nouns(prose):
        words = prose.text[noun.start : noun.stop]
        known = letter_of_noun(prose, noun) is not None or named(words, "derivative", "message")
        own = not formulas and parts and named(words, "own")  # of a layer that only words name
        start, _ = sentence = prose.sentence(noun.start)
        before = prose.text[start : noun.start]
        given = named(words, "letter.output") and not named(before, "ask.verb")
        if sentence not in asked or known or own or given or is_spelt_out(prose, noun) or told(before):
            continue
        single = len(parts) == 1 and formulas < 2
        if not (single if named(words, "part") else _shared(words, noun.by)):
            yield noun.start, noun.stop


def told(before: str) -> bool:
    """«derive …, and explain why …», «…, and verify that …» stand in front of a noun."""
    asks = [s.start for s in named(before, "ask.verb")]
    told = [s.start for s in named(before, "ask.explain")] + [
        s.start for s in named(before, "claim.shown") if before.startswith((" that", " whether"), s.stop)]
    return bool(asks) and max(told, default=0) > max(asks)


def tails(prose: Prose, asked: frozenset[Place]) -> Iterator[Place]:
    """«and likewise for $b$», «What about $b$?», «Then the bias.»: more is asked for, and no verb says what."""
    first = min((start for start, _ in asked), default=len(prose.text))
    yield from ((s.start, s.stop) for s in named(prose.text, "of_what.again") if s.start > first)
    several = len(named(prose.text, "part")) > 1 or sum(map(equates, prose.formulas)) > 1
    if several:
        yield from ((s.start, s.stop) for s in named(prose.text, "of_what.each") if s.start > first
                    and not prose.text.startswith(GAP, s.stop + 1))  # «both backward messages ∂L/∂u and ∂L/∂v»
    yield from (place for place in _without_verb(prose) if place[0] > first)


_SHORT = ("naming.article", "naming.and", "naming.also", "between.of", "join.then", "role", "letter", "request",
          "derivative", "message")


def _without_verb(prose: Prose) -> Iterator[Place]:
    """«Then the bias.», «(b) $b$.»: sentences of nothing but what may be asked for."""
    for start, stop in itertools.pairwise(dict.fromkeys(prose.ends)):
        text = prose.text[start:stop]
        words = _MARKED.sub("", text).replace(GAP, " ").strip(" .?!;")
        around = prose.text[start - 1 : start] + text[-1:]
        asked = [g for g in prose.gaps if start <= g.start < stop and kind_of(g.formula) not in (Said.FACT, Said.RANGE)]
        if len(around) == 2 and {*around} <= {*".?!;"} and only(words, 0, len(words), *_SHORT) and (
                asked or named(words, "role", "letter", "request")) and not named(words, "ask.verb"):
            yield start, stop
