"""Words beside layers that words alone name, of which nothing takes account: they may make another question of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derive.question.parts.chain import Chain
from derive.question.parts.recognised import SLOPED
from derive.question.parts.remarks import plain_phrases
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import in_english
from derive.question.words.lexicon import named

Place = tuple[int, int]
_PLAIN, _BEHIND_THAT = words_of("en", "BESIDE_PARTS") | words_of("en", "AJ"), words_of("en", "BEHIND_THAT")
_CONCEPTS = ("join", "skip.connection", "skip.whole", "fact", "letter", "role", "request", "ask", "derivative",
             "message", "wrt", "not", "bias", "size", "head", "factor", "upstream")
_CUT = re.compile(r"(?<!\d)[-−.,/^]\d+(?:[.,]\d+)?|\d,\d+|\d+\s?[/^%]|\de-?\d")  # of -0.1, 1/3, 10 %, .1, 0,1
_OPTION = re.compile(r"(?P<by>(?:respect to|wrt|by) (?:the |its )?)?\b"
                     r"(?P<noun>slopes?|temperature|quantile|threshold)\b")
_HAS = {"slope": frozenset(SLOPED), "temperature": frozenset({"softmax"}), "quantile": frozenset({"pinball"}),
        "threshold": frozenset({"huber"})}
_GIVEN_ALREADY = re.compile(r"(?<=the )(?:incoming|upstream) (?:message|gradient)s?(?= of)"
                            r"|\b(?:receives|enters)\b")
_OF_A_LAYER = re.compile(r"messages? of the (?:loss|(?:first|second|third|last|next|previous) (?:layer|unit))\b"
                         r"|\b(?:behind|in front of|before|after|between)\b")


def loose_words(chain: Chain, parts: Sequence[Place]) -> Iterator[Place]:
    """The words of the sentences that name ``parts`` or ask, and that belong to no concept and are not known as plain.

    «a linear layer over a ReLU», «the first output … the second», «a tanh with slope 2», «the message of the last
    layer».
    """
    if in_english(chain.prose.text):
        yield from _unknown(chain, parts)
    yield from _options(chain, parts)
    yield from _of_some(chain, parts)


def cut_numbers(chain: Chain) -> Iterator[Place]:
    """«slope 1/3», «10 %»: numbers of which the digits that are read are a part."""
    for part in chain.parts:
        yield from (m.span() for m in _CUT.finditer(chain.prose.plain.text, *chain.prose.sentence(part.start)))


def _asking(chain: Chain) -> set[Place]:
    return {chain.prose.sentence(verb.start) for verb in named(chain.prose.text, "ask.verb")}


def _unknown(chain: Chain, parts: Sequence[Place]) -> Iterator[Place]:
    """«that» and «which» say something where no verb follows: «a ReLU that a linear layer feeds»."""
    text = chain.prose.text
    taken = {at for a, b in parts for at in range(a, b)}
    for family in (*_CONCEPTS, *["geometry"] * any("pool" in part.name for part in chain.parts)):
        taken |= {at for span in named(text, family) for at in range(span.start, span.stop)}
    taken |= {at for a, b in plain_phrases(chain.prose, chain.parts) for at in range(a, b)}
    joins = {at for span in named(text, "join") for at in range(span.start, span.stop)}
    asking = _asking(chain)
    for start, stop in sorted({chain.prose.sentence(a) for a, _ in parts} | asking):
        words = [*re.finditer(r"[a-z]+", text[start:stop])]
        for before, word, behind in zip([None, *words], words, [*words[1:], None], strict=False):
            at, next_ = start + word.start(), behind[0] if behind else ""
            asks = (start, stop) in asking and word[0] in ("that", "which", "for", "all", "up", "down")
            if word[0] in ("that", "which"):
                goes_on = next_ in _BEHIND_THAT or behind is not None and start + behind.start() in joins
                plain = asks or goes_on or at in joins
            else:
                each = next_ in ("each", "every") or before is not None and before[0] == "around"
                plain = asks or each or at in taken or word[0] in _PLAIN
            if not plain:
                yield at, start + word.end()


def _options(chain: Chain, parts: Sequence[Place]) -> Iterator[Place]:
    """«tanh with slope 2», «by the temperature»: what the parts do not have, or what is no parameter."""
    plain, names = chain.prose.plain.text, {part.name for part in chain.parts}
    for start, stop in sorted({chain.prose.sentence(a) for a, _ in parts}):
        for word in _OPTION.finditer(plain, start, stop):
            lacks = not names & _HAS.get(word["noun"].removesuffix("s"), frozenset())
            if lacks or word["by"] and not (word["noun"].startswith("slope") and "prelu" in names):
                yield word.span("noun")


def _of_some(chain: Chain, parts: Sequence[Place]) -> Iterator[Place]:
    """«the message of the sigmoid», «of the last layer», «the upstream gradient»: of some layers, or what is given."""
    text, whole = chain.prose.text, {chain.prose.sentence(a) for a, _ in parts[: len(chain.parts)]}
    for start, stop in _asking(chain):
        yield from (m.span() for m in _GIVEN_ALREADY.finditer(text, start, stop))
        if len(chain.parts) > 1 and (start, stop) not in whole:
            yield from (m.span() for m in _OF_A_LAYER.finditer(text, start, stop))
            yield from (p for p in parts if start <= p[0] < stop and re.search(r"messages?\b", text[start : p[0]]))
