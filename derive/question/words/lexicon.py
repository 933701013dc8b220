"""Words as data: concept ↦ plain phrases, one file a language; of a family's, the longest at each place of a text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

from derive.records import dataclass

_HOME = Path(__file__).parents[1] / "lexicon"
LANGUAGES = tuple(sorted((p.stem for p in _HOME.glob("*.toml")), key=lambda name: name != "en"))
# a lexicon is plain TOML: concept = ["phrase", …] under [family]; a reader of all of TOML takes ten times as long
_ITEM = re.compile(r'"([^"\n]*)"|^([\w-]+) =|^\[(\w+)\]|#.*', re.MULTILINE)
_TOKEN = re.compile(r"[^\W_]+(?:['’](?:t|re)\b)?|[∎¶→½.,;:?!()]")
_ENDING = re.compile(r"(?<=\S)\(([^)]*)\)")  # «layer(s)», not «fully connected ( linear ) layer»
_FIGURES = re.compile(r"(?:^|[\s(])(?!1$)([1-9]\d*)$")
NUMBERS = tuple(f"geometry.{number}" for number in range(2, 11))
_FAR = 200  # characters in which a phrase is looked for
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


class _Phrases:
    """The phrases of a family, by their first word; ``*`` at a word's end is any ending."""

    def __init__(self, concepts: Iterable[tuple[str, str]]) -> None:
        self.by_first: dict[str, list[tuple[Phrase, str]]] = {}
        self.by_stem: dict[str, list[tuple[Phrase, str]]] = {}
        for concept, phrase in concepts:
            for words in _spelt(phrase) if _ENDING.search(phrase) else (_words(phrase),):
                first = words[0]
                table, key = (self.by_stem, first[:2]) if first[-1] == "*" else (self.by_first, first)
                table.setdefault(key, []).append((words, concept))

    def longest(self, words: Sequence[str], n: int) -> tuple[int, list[str]]:
        """The length of the longest phrase that begins at word n, and the concepts that it names."""
        best = 0
        found: list[str] = []
        begun = self.by_first.get(words[n], ()), self.by_stem.get(words[n][:2], ())
        for phrase, concept in chain(*begun) if any(begun) else ():
            if best <= len(phrase) <= len(words) - n and all(map(_is, phrase, words[n : n + len(phrase)])):
                found = [*found, concept] if len(phrase) == best else [concept]
                best = len(phrase)
        return best, found


def _is(phrase: str, word: str) -> bool:
    return word.startswith(phrase[:-1]) if phrase.endswith("*") else word == phrase


def _spelt(phrase: str) -> Iterator[Phrase]:
    """“weight(s) decay” as two phrases; a hyphen parts words."""
    ending = _ENDING.search(phrase)
    if ending is not None:
        yield from _spelt(phrase[: ending.start()] + phrase[ending.end() :])
        yield from _spelt(phrase[: ending.start()] + ending[1] + phrase[ending.end() :])
    else:
        yield _words(phrase)


def _words(phrase: str) -> Phrase:
    return tuple(phrase.replace("-", " ").lower().split())


@cache
def tables(language: str) -> dict[str, list[tuple[str, str]]]:
    """Each family's (concept, phrase) in the order written."""
    found: dict[str, list[tuple[str, str]]] = {}
    for phrase, concept, family in _ITEM.findall((_HOME / f"{language}.toml").read_text(encoding="utf-8")):
        if family:
            rows, prefix = found.setdefault(family, []), family
        elif concept:
            name = f"{prefix}.{concept}"
        elif phrase:
            rows.append((name, phrase))
    return found


# words that stand around others, and name nothing themselves
_AROUND = frozenset(
    "alone anaphor behind called elsewhere excepted goes introduced joined measured of_what preposition several sized "
    "slot trait twist unnamed view".split())
FAMILIES = tuple(dict.fromkeys(family for name in LANGUAGES for family in tables(name) if family not in _AROUND))


@cache
def _known(family: str) -> tuple[list[_Phrases], frozenset[str], frozenset[str]]:
    """The phrases of a family in each language, their first words, and how those begin that have any ending."""
    known = [_Phrases(found[family]) for found in map(tables, LANGUAGES) if family in found]
    return (known, frozenset(word for p in known for word in p.by_first),
            frozenset(stem for p in known for stem in p.by_stem))


@lru_cache(maxsize=16384)
def spans(text: str, family: str) -> tuple[Span, ...]:
    """What a text in lower case names of a family, ``part`` or ``role``, in its order; the longest phrase counts.

    Every language is tried at each place, so that a Czech card may name an English layer.
    """
    words, ends = _parted(text)
    return tuple(Span(concept, ends[n][0], ends[n + length - 1][1]) for n, length, concept in phrases(words, family))


@lru_cache(maxsize=512)
def _parted(text: str) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """The words of a text, and where they begin and end: every family is looked for in them."""
    tokens = list(_TOKEN.finditer(text))
    return tuple([t[0].replace("’", "'") for t in tokens]), tuple([t.span() for t in tokens])


@lru_cache(maxsize=512)
def _places(words: tuple[str, ...]) -> dict[str, list[int]]:
    """Where each word stands."""
    found: dict[str, list[int]] = {}
    for n, word in enumerate(words):
        found.setdefault(word, []).append(n)
    return found


def phrases(words: tuple[str, ...], family: str) -> Iterator[tuple[int, int, str]]:
    """(first word, how many, concept) of each phrase of a family, the longest at its place."""
    known, firsts, stems = _known(family)
    end = 0
    begun = (at for word, at in _places(words).items() if word in firsts or word[:2] in stems)
    for n in sorted(n for at in begun for n in at):
        if n < end:
            continue
        length, concepts = max((p.longest(words, n) for p in known), key=lambda item: item[0])
        yield from ((n, length, concept) for concept in concepts)
        end = n + (length or 1)


def only(text: str, start: int, stop: int, *concepts: str) -> bool:
    """Whether nothing but phrases of these concepts, and spaces, stands between two places."""
    at = start
    found, starts = _in_order(text, *concepts)
    for span in found[bisect_left(starts, start):]:
        if span.start >= stop or text[at : span.start].strip(" -"):
            break
        if span.start >= at:
            at = span.stop
    return start <= stop and not text[at:stop].strip(" -")


@lru_cache(maxsize=512)
def _in_order(text: str, *concepts: str) -> tuple[list[Span], list[int]]:
    """What a text names, the longer of what begins at one place first, and where each begins."""
    found = sorted(named(text, *concepts), key=lambda s: (s.start, -s.stop))
    return found, [span.start for span in found]


@lru_cache(maxsize=16384)
def named(text: str, *concepts: str) -> tuple[Span, ...]:
    """Where a text names one of these concepts, ``role.input`` or all of ``role``."""
    families = dict.fromkeys(concept.partition(".")[0] for concept in concepts)
    return tuple(span for family in families for span in spans(text, family) if span.of(*concepts))


def last_before(text: str, at: int, *concepts: str) -> Span | None:
    """The last phrase of one family's concepts that ends at a place of a text, or in front of it."""
    n = bisect_right(_stops(text, *concepts), at)
    return named(text, *concepts)[n - 1] if n else None


@lru_cache(maxsize=512)
def _stops(text: str, *concepts: str) -> list[int]:
    return [span.stop for span in named(text, *concepts)]


def begins(text: str, at: int, *concepts: str) -> bool:
    """Whether a phrase of these concepts is the next of a text from a place on."""
    rest = text[at : at + _FAR]
    first = len(rest) - len(rest.lstrip(" -"))
    return any(span.start == first for span in named(rest, *concepts))


def ends(text: str, *concepts: str, over: Sequence[str] = (), most: int = 0) -> bool:
    """Whether a text ends with a phrase of these concepts: nothing, ``most`` words or phrases ``over`` behind it."""
    last = text[-_FAR:]
    return any(only(last, span.stop, len(last), *over) if over else is_near(last[span.stop :], most)
               for span in named(last, *concepts))


def is_near(between: str, most: int) -> bool:
    """Whether nothing but so many words stand between two places."""
    words = between.split()
    return len(words) <= most and all(word.replace("-", "").replace("_", "").isalnum() for word in words)


def counted(text: str, *concepts: str) -> Iterator[tuple[str, Span]]:
    """«three units», «4 units»: a number above one in figures, and the phrase of these concepts with it."""
    words = {s.stop: s for s in named(text, *NUMBERS)}
    for noun in named(text, *concepts):
        before = text[: noun.start].rstrip(" -")
        figures = _FIGURES.search(before)
        if figures is not None:
            yield figures[1], Span(noun.concept, figures.start(1), noun.stop)
        elif (word := words.get(len(before))) is not None:
            yield word.concept.partition(".")[2], Span(noun.concept, word.start, noun.stop)


def up_to(text: str, *concepts: str) -> str:
    """The text in front of the first phrase of these concepts."""
    return text[: min((span.start for span in named(text, *concepts)), default=None)]
