"""Words as data: concept ↦ plain phrases, one file a language; the longest phrase at each place of a text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from derive.records import dataclass

_HOME = Path(__file__).parent / "lexicon"
LANGUAGES = tuple(sorted((p.stem for p in _HOME.glob("*.toml")), key=lambda name: name != "en"))
_TOKEN = re.compile(r"[^\W_]+(?:['’](?:s|t|re)\b)?|[∎¶→½]")
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Span:
    """A concept, and where the text names it."""

    concept: str
    start: int
    stop: int

    def of(self, *names: str) -> bool:
        """``role.input`` is of ``role`` and of ``role.input``."""
        return any(self.concept == name or self.concept.startswith(name + ".") for name in names)


class _Language:
    """The phrases of a language, by their first word; ``*`` at a word's end is any ending."""

    def __init__(self, concepts: Iterable[tuple[str, str]]) -> None:
        self.by_first: dict[str, list[tuple[Phrase, str]]] = {}
        self.by_stem: dict[str, list[tuple[Phrase, str]]] = {}
        for concept, phrase in concepts:
            for words in _spelt(phrase):
                first = words[0]
                table, key = (self.by_stem, first[:2]) if first.endswith("*") else (self.by_first, first)
                table.setdefault(key, []).append((words, concept))

    def longest(self, words: Sequence[str], n: int) -> tuple[int, list[str]]:
        """The length of the longest phrase that begins at word n, and the concepts that it names."""
        best, found = 0, []
        for phrase, concept in (*self.by_first.get(words[n], ()), *self.by_stem.get(words[n][:2], ())):
            if best <= len(phrase) <= len(words) - n and all(map(_is, phrase, words[n : n + len(phrase)])):
                found = [*found, concept] if len(phrase) == best else [concept]
                best = len(phrase)
        return best, found


def _is(phrase: str, word: str) -> bool:
    return word.startswith(phrase[:-1]) if phrase.endswith("*") else word == phrase


def _spelt(phrase: str) -> Iterator[Phrase]:
    """“weight(s) decay” as two phrases; a hyphen parts words."""
    before, bracket, rest = phrase.partition("(")
    if bracket:
        ending, _, after = rest.partition(")")
        yield from _spelt(before + after)
        yield from _spelt(before + ending + after)
    else:
        yield tuple(phrase.replace("-", " ").lower().split())


@cache
def _language(name: str) -> _Language:
    tables = tomllib.loads((_HOME / f"{name}.toml").read_text(encoding="utf-8"))
    return _Language((f"{family}.{concept}", phrase) for family, table in tables.items()
                     for concept, phrases in table.items() for phrase in phrases)


@lru_cache(maxsize=2048)
def spans(text: str) -> tuple[Span, ...]:
    """The concepts that a text in lower case names, in its order; a word belongs to the longest phrase that holds it.

    Every language is tried at each place, so that a Czech card may name an English layer.
    """
    tokens = list(_TOKEN.finditer(text))
    words = [t[0].replace("’", "'") for t in tokens]
    found: list[Span] = []
    n = 0
    while n < len(words):
        length, concepts = max((_language(name).longest(words, n) for name in LANGUAGES), key=lambda item: item[0])
        found += [Span(concept, tokens[n].start(), tokens[n + length - 1].end()) for concept in concepts]
        n += length or 1
    return tuple(found)


def named(text: str, *concepts: str) -> tuple[Span, ...]:
    """Where a text names one of these concepts."""
    return tuple(span for span in spans(text) if span.of(*concepts))
