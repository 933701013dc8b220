"""Verbs of asking: what stands behind one is asked for, what stands behind others is explained or told."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from derive.notation.formulas import Formula
from derive.question.words.lexicon import last_before, named, only
from derive.question.words.prose import GAP, Prose


def _sentence(text: str, at: int) -> int:
    """Where the sentence around a place begins."""
    return max(text.rfind(end, 0, at) for end in ".?!;¶") + 1


def requested(text: str, at: int) -> bool:
    """A verb of asking stands before this place in its sentence."""
    verb = last_before(text, at, "ask.verb")
    return verb is not None and _sentence(text, at) <= verb.start


def discussed(text: str, at: int) -> bool:
    """The sentence around this place asks to explain or discuss, and nothing in front of the place asks to derive."""
    verb = last_before(text, at, "ask.explain")
    return verb is not None and _sentence(text, at) <= verb.start and not requested(text, at)


def besides(prose: Prose) -> Iterator[str]:
    """What is asked in prose besides, and is not answered: «explain why …», «also state the complexity»."""
    for start, stop in itertools.pairwise(dict.fromkeys(prose.ends)):
        words = prose.text[start:stop]
        asks = [s.start for s in named(words, "ask.explain") if _opens(words[: s.start])]
        asks += [0 for _ in named(words, "ask.prose")[:1] if named(words, "ask.verb")]
        if asks and not named(words, "ask.heeded"):
            first = start + min(asks) if named(words[: min(asks)], "ask.verb") else start  # «and compare» of an order
            yield f"not answered, since it asks for words or a count: {prose.said(first, stop)}"


def _opens(words: str) -> bool:
    """A verb behind these words of its sentence asks: nothing stands before it but an item's number, or «and»."""
    before = words.rstrip().rsplit(")", 1)[-1].strip(" -*,0123456789")
    return not before or bool(named(before.rsplit(" ", 1)[-1], "naming.and", "naming.also"))


def answers_in(prose: Prose, formula: Formula) -> bool:
    """«using only ∂L/∂z and $v$», «no leftover ∂L/∂μ»: the answer is written with it, and it is not asked for."""
    place = formula.line, formula.column
    at = next((gap.start for gap in prose.gaps if (gap.formula.line, gap.formula.column) == place), None)
    if at is None:
        return False
    start, _ = prose.sentence(at)
    words = prose.text[start:at].replace(GAP, " ").replace(",", " ")
    return any(only(words, span.stop, len(words), "naming.and", "naming.article", "naming.only")
               for span in named(words, "slot.written_in"))
