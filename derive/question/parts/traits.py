"""What words say once more of a layer that they name, in the reader's words: «the biased batch variance».

A layer that has a name is defined by it, and courses describe it as well. What its formula has anyway is left out;
what only it may be said in another way («is added to it before the root») becomes the word that the reader knows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from derive.card import Card
from derive.errors import DeriveError
from derive.notation.rules.kinds import Said, equates, kind_of
from derive.question.letters.claims import computes_nothing
from derive.question.parts.recognised import NORMS, letters_said
from derive.question.sentences.tokens import in_english
from derive.question.words.lexicon import ends, named
from derive.question.words.prose import GAP, Prose
from derive.question.words.reading import lettered_prose
from derive.sections import lines_of

Change = tuple[int, int, str]  # a place of the question, and the word in place of it
_SPACE = re.compile(r"\s*\\mathbb\s*\{?\s*R\s*\}?(?:\s*\^.*)?", re.DOTALL)
_EMPTY = re.compile(r"\((?:\s|,|\.)*\)")


def without_traits(card: Card) -> Card:
    """The card without what its words say once more of the layers that they name; as it is beside formulas."""
    try:
        prose = lettered_prose(card)
    except DeriveError:
        return card
    if any(equates(f) and not computes_nothing(f) for f in prose.formulas) or not in_english(prose.text):
        return card
    question = card.question
    for start, stop, word in reversed([*_changes(prose)]):
        kept = re.sub(r"[^\n]", " ", question[start:stop])
        question = question[:start] + word + kept[len(word) :] + question[stop:]
    if question == card.question:
        return card
    question = _EMPTY.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), question)
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    return replace(card, text=card.text[:at] + question + card.text[at + len(card.question) :])


def _changes(prose: Prose) -> Iterator[Change]:
    """The places of the source that are described, with their letters; where words stand for them formulas stay."""
    text, names = prose.text, {s.concept.partition(".")[2] for s in named(prose.text, "part", "geometry.pool")}
    names |= {"any"} if names else set()
    names |= {"norm"} if names & NORMS else set()
    letters = {gap.start for gap in prose.gaps if letters_said(gap.formula)}
    spaces = {gap.start for gap in prose.gaps if _SPACE.fullmatch(gap.formula.latex)}
    derived = {gap.start for gap in prose.gaps if kind_of(gap.formula) is Said.DERIVATIVE}
    taken = 0
    for span in named(text, "trait"):
        layer, *words = span.concept.removeprefix("trait.").split("--")
        gaps = [n for n in range(span.start, span.stop) if text[n] == GAP]
        known = letters | (derived if words else spaces)
        if layer not in names or span.start < taken or ends(text[: span.start], "not.no") or not known.issuperset(gaps):
            continue
        taken = span.stop
        if not words:
            yield *_place(prose, span.start, span.stop), ""
            continue
        for before, behind in itertools.pairwise((span.start - 1, *gaps, span.stop)):
            word = words.pop(0).replace("-", " ") if words else ""
            if text[before + 1 : behind].strip():
                yield *_place(prose, before + 1, behind), f" {word} "
            elif word:  # in front of a formula
                yield (at := _place(prose, behind, behind + 1)[0]), at, f"{word} "


def _place(prose: Prose, start: int, stop: int) -> tuple[int, int]:
    """Where the words between two places stand in the source, with the signs around their formulas."""
    source, text = prose.plain.source, prose.text
    first, last = prose.plain.origin[start], prose.plain.origin[stop - 1]
    if text[stop - 1] != GAP:
        return first, last + 1
    ends = "$" if source[last] == "$" else "\\)"
    return first, source.index(ends, last + 1) + len(ends)
