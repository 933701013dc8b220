"""What words say around parts that they alone name, and that holds of these as they are: sizes, labels, stories.

«one row per class», «one flower at a time», «a network for pose regression», «a label $t$, which is 1 for … and 0
otherwise»; of an activation «applied to each output separately», of a loss «natural logarithm».
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from derive.question.parts.recognised import ELEMENTWISE, ONE_EACH, SLOPED, UNITS, Part
from derive.question.words.lexicon import NUMBERS, counted, named
from derive.question.words.prose import GAP, Prose

Place = tuple[int, int]
_LABELLED = re.compile(r"∎,? (?:\(|(?:which|that) )?(?:is|equals|being) ([01]) (?:for|if|when) [^∎.;:]*?,? (?:and )?"
                       r"([01]) (?:otherwise|else|(?:for|if|when) [\w ]+)")
_AT_A_TIME = re.compile(
    r"\bone (?!layer|step|unit|neuron|output|input|row|column|entry|component|pixel|class|channel)\w+ at a time\b"
    r"|\b(?:a single|one) (?:training )?(?:sample|example)\b")
_COUNT = ("two", "three", "four", "five", "six")
_ALL_OF = re.compile(rf"\b(?:all|the) ({'|'.join(_COUNT)}) (?:parameters|parameter messages)\b")
_PURPOSE = re.compile(r"\b(?:network|net|model|classifier|head|regressor) "
                      r"(for (?!(?:the|each|every|an?|one)\b)[^∎,;:()]{3,40}?) ?"
                      r"(?:(?:has|consists|is made|contains|receives|takes)\b|(?<=\w):)")
_UNITS_OF = re.compile(r" (?:units|neurons)\b")


def remarks(prose: Prose, parts: Sequence[Part]) -> Iterator[Place]:
    """Where words say what is true of the parts, numbers included."""
    text, names = prose.text, {p.name for p in parts}
    for pattern in (_AT_A_TIME, *[ONE_EACH] * ("linear" in names)):
        yield from (m.span() for m in pattern.finditer(text))
    if names & {"binary_cross_entropy", "cross_entropy"} and "sigmoid" in names:
        yield from (m.span() for m in _LABELLED.finditer(text) if m[1] != m[2])
    own = sum(what in ("weight", "bias", "slope", "gain", "shift") for p in parts for what in p.letters)
    yield from (m.span() for m in _ALL_OF.finditer(text) if _COUNT.index(m[1]) + 2 == own)
    for part in (p for p in parts if p.name in UNITS and _UNITS_OF.match(text, p.end)):
        before = text[prose.sentence(part.start)[0] : part.start].split()
        if before and (before[-1].isdecimal() or named(before[-1], *NUMBERS)):  # «3 ReLU units»
            yield part.start - len(before[-1]) - 1, part.start
    if names & {"linear", "softmax"}:
        yield from ((noun.start, noun.stop) for _, noun in counted(text, "count.classes"))
        yield from ((noun.start, noun.stop) for noun in named(text, "count.classes")
                    if text[: noun.start].endswith(f"{GAP} "))  # «$K$ classes»


def purposes(text: str) -> Iterator[Place]:
    """«a network for pose regression has»: what it is for, without words that say what is in it."""
    yield from (m.span(1) for m in _PURPOSE.finditer(text)
                if not named(m[1], "not", "bias", "change.what", "part", "letter", "operation"))


def plain_phrases(prose: Prose, parts: Sequence[Part]) -> Iterator[Place]:
    """Words that say nothing of the part in front of them, or of no part."""
    text = prose.text
    for span in named(text, "beside"):
        start, stop = prose.sentence(span.start)
        here = [p for p in parts if start <= p.start < stop] or parts
        last = next((p for p in reversed(here) if p.start < span.start), here[0])
        fits = {"beside.elementwise": last.name in ELEMENTWISE,
                "beside.negative": any(p.name in SLOPED for p in here),
                "beside.of_loss": last.loss, "beside.plain": True}
        if fits[span.concept]:
            yield span.start, span.stop
    yield from purposes(text)
    for start, stop in {prose.sentence(p.start) for p in parts}:
        first = min(p.start for p in parts if start <= p.start < stop)
        made = next((s for s in named(text, "join.list") if start <= s.start < first), None)
        if made is not None and "∎" not in text[start : made.start]:
            yield start, made.start  # its nouns are looked at where unknown words are
