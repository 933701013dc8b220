"""The module of a question whose every sentence the grammar reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.card import Card
from derive.module import ROLES, Module
from derive.notation.symbols import name_of
from derive.question.emitted.statement import Emitted
from derive.question.given import given_module
from derive.question.requests.verbs import besides
from derive.question.sentences.meaning import meanings
from derive.question.sentences.tokens import Sentence, in_english, sentences
from derive.question.told.telling import Telling, Unread
from derive.question.told.values import Misread
from derive.question.windows.written import Fields
from derive.question.words.prose import Prose
from derive.statement import Statement

_MOST_QUOTED = 90
_MOST_WAYS = 64  # of reading the sentences of one question
_Several = Sequence[tuple[Sentence, Sequence[object]]]
_Way = tuple[tuple[Sentence, object], ...]
_SINGULAR = {"inputs": "input", "parameters": "parameter", "constants": "constant"}


def told_module(card: Card, prose: Prose) -> Module:
    """The layer that the words of every sentence make; raises :class:`Unread` where they do not, or make two.

    Raises :class:`derive.errors.CardError` where the formulas that they make contradict each other.
    """
    if not in_english(prose.text):
        raise Unread("another language")
    emitted, statement = told_statement(prose)
    module = given_module(card, statement, tuple(emitted.fields))
    return replace(module, readings=tuple(dict.fromkeys((*_said(emitted, module), *besides(prose)))))


def told_statement(prose: Prose) -> tuple[Emitted, Statement]:
    """What the sentences make, each in one of its readings; raises :class:`Unread` where two of them differ."""
    for tokens in sorted(sentences(prose), key=len):  # most questions are not told so: the shortest shows it first
        meanings(tokens)
    told = [(tokens, meanings(tokens)) for tokens in sentences(prose)]
    made: list[tuple[Emitted, Statement, Fields]] = []
    misread: Misread | None = None
    for way in _ways(prose, told, ()):
        try:
            if isinstance(way, Unread):
                raise way
            emitted = Emitted(_telling(prose, way))
            made.append((emitted, emitted.statement(), tuple(emitted.fields)))
        except Misread as exc:
            misread = misread or exc
        except Unread:
            if not made:
                raise
        if len(made) > _MOST_WAYS or made and not _alike(made[0][1:], made[-1][1:]):
            words = next(tokens for tokens, readings in told if len(readings) > 1)
            raise Unread(f"“{' '.join(map(str, words))}” in two ways")
    if not made:
        raise misread or Unread("the sentences together")
    return made[0][:2]


def _alike(first: tuple[Statement, Fields], other: tuple[Statement, Fields]) -> bool:
    """The same layer, and nothing more is asked of it than in the first reading."""
    more = {*(other[0].derive or ())} - {*(first[0].derive or ())}
    return not more and (replace(other[0], derive=first[0].derive), other[1]) == first


def _ways(prose: Prose, told: _Several, before: _Way) -> Iterator[_Way | Unread]:
    """One reading of each sentence: the first that fits the sentences before it, and others that tell another thing.

    Where the first that fits cannot be told, none of the others is taken in its place.
    """
    if len(before) == len(told):
        yield before
        return
    tokens, readings = told[len(before)]
    if len(readings) == 1:
        yield from _ways(prose, told, (*before, (tokens, readings[0])))
        return
    seen: set[str] = set()
    for said in readings:
        way = (*before, (tokens, said))
        try:
            now = _telling(prose, way).seen()
        except Unread as exc:
            yield exc
        else:
            if now not in seen:
                seen.add(now)
                yield from _ways(prose, told, way)


def _telling(prose: Prose, way: _Way) -> Telling:
    telling = Telling(prose.formulas)
    for tokens, said in way:
        last = tokens[-1]
        words = prose.plain.quote(tokens[0].start, last.start + max(1, len(last.text)))
        telling.sentence(tokens, said, (prose.plain.line(tokens[0].start), words))
    return telling


def _said(emitted: Emitted, module: Module) -> Iterator[str]:
    """How the words were read."""
    for latex in emitted.told.raw["forward"]:
        yield f"layer (${latex}$)"
    for latex, (line, words) in emitted.said.items():
        yield f"layer (line {line}: “{_short(words)}”): ${latex}$"
    letters = emitted.told.letters
    for role in ROLES:
        for name in getattr(module, role):
            value = letters.get(name) or letters.get(name_of(name))
            where = f" (line {value.words[0]}: “{_short(value.words[1])}”)" if value and value.words[1] else ""
            yield f"{_SINGULAR[role]} `{name}`{where}"
    for line, words in emitted.told.asked_in:
        yield f"asked for (line {line}: “{_short(words)}”)"


def _short(words: str) -> str:
    return words if len(words) <= _MOST_QUOTED else words[:_MOST_QUOTED].rsplit(" ", 1)[0] + " …"
