"""What words say once more of a layer that they name, in the reader's words: «the biased batch variance».

A layer that has a name is defined by it, and courses describe it as well. What its formula has anyway is left out;
what only it may be said in another way («is added to it before the root») becomes the word that the reader knows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
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
from derive.records import dataclass
from derive.sections import lines_of

Change = tuple[int, int, str]  # a place of the question, and the word in place of it
_SPACE = re.compile(r"\s*\\mathbb\s*\{?\s*R\s*\}?(?:\s*\^.*)?", re.DOTALL)
_EMPTY = re.compile(r"\((?:\s|,|\.)*\)")
_QUOTED = re.compile(r"“([^“”]*)”")


@dataclass(frozen=True)
class Described:
    """A question as it is ``read``, and where on the card each character of that stands."""

    question: str
    read: str
    origin: tuple[int, ...]

    @staticmethod
    def of(question: str, changes: Iterable[Change]) -> Described:
        """The question with these changes, in their order; lines stay lines."""
        pieces: list[tuple[str, int]] = []
        at = 0
        for start, stop, word in changes:
            pieces += zip(question[at:start], range(at, start), strict=True)
            put = (word or " ") + "\n" * question.count("\n", start, stop)
            pieces += zip(put, [start] * (len(put) - 1) + [max(start, stop - 1)], strict=True)
            at = stop
        pieces += zip(question[at:], range(at, len(question)), strict=True)
        read = _EMPTY.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), "".join(c for c, _ in pieces))
        return Described(question, read, tuple(n for _, n in pieces))

    def on_card(self, said: str) -> str:
        """What is said of the question, with the words of the card where it quotes."""
        return said if self.read == self.question else _QUOTED.sub(lambda m: f"“{self._quoted(m[1])}”", said)

    def _quoted(self, words: str) -> str:
        found = re.search(r"[\s*`|]+".join(map(re.escape, words.split())), self.read) if words.strip() else None
        if found is None:
            return words
        first, last = self.origin[found.start()], self.origin[found.end() - 1]
        return " ".join(self.question[first : last + 1].replace("**", " ").replace("`", " ").replace("|", " ").split())


def without_traits(card: Card) -> tuple[Card, Described]:
    """The card without what its words say once more of the layers that they name; as it is beside formulas."""
    same = Described(card.question, card.question, ())
    try:
        prose = lettered_prose(card)
    except DeriveError:
        return card, same
    if any(equates(f) and not computes_nothing(f) for f in prose.formulas) or not in_english(prose.text):
        return card, same
    found = Described.of(card.question, _changes(prose))
    if found.read == card.question:
        return card, same
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    return replace(card, text=card.text[:at] + found.read + card.text[at + len(card.question) :]), found


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
