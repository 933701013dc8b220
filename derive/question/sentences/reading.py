"""The module of a question whose every sentence the grammar reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from derive.card import Card
from derive.module import ROLES, Module
from derive.notation.symbols import name_of
from derive.question.given import given_module
from derive.question.prose import Prose
from derive.question.request import besides
from derive.question.sentences.emitted import Emitted
from derive.question.sentences.grammar import Parse
from derive.question.sentences.meaning import ACTIONS, ATOMS, ROWS, RUNS
from derive.question.sentences.telling import Telling, Unread
from derive.question.sentences.tokens import Sentence, sentences
from derive.statement import Statement

_MOST_QUOTED = 90
_SINGULAR = {"inputs": "input", "parameters": "parameter", "constants": "constant"}


def told_module(card: Card, prose: Prose) -> Module:
    """The layer that the words of every sentence make; raises :class:`Unread` where they do not, or make two.

    Raises :class:`derive.errors.CardError` where the formulas that they make contradict each other.
    """
    told = [(tokens, meanings(tokens)) for tokens in sentences(prose)]
    first = [(tokens, found[0]) for tokens, found in told]
    emitted = _emitted(prose, first)
    statement = emitted.statement()
    for n, (tokens, found) in enumerate(told):
        for other in found[1:]:
            if _differs(prose, [*first[:n], (tokens, other), *first[n + 1 :]], statement):
                raise Unread(f"“{' '.join(map(str, tokens))}” in two ways")
    module = given_module(card, statement)
    return replace(module, readings=tuple(dict.fromkeys((*_said(emitted, module), *besides(prose)))))


def _emitted(prose: Prose, told: Iterable[tuple[Sentence, object]]) -> Emitted:
    telling = Telling(prose.formulas)
    for tokens, said in told:
        last = tokens[-1]
        words = prose.plain.quote(tokens[0].start, last.start + max(1, len(last.text)))
        telling.sentence(tokens, said, (prose.plain.line(tokens[0].start), words))
    return Emitted(telling)


def _differs(prose: Prose, told: Iterable[tuple[Sentence, object]], statement: Statement) -> bool:
    """The sentences make another statement so; where they make none, it is no reading."""
    try:
        return _emitted(prose, told).statement() != statement
    except Unread:
        return False


def meanings(tokens: Sentence) -> list[Any]:
    """All that a sentence may say; raises :class:`Unread` where the rows do not read all of it."""
    parse = Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens)
    found = list(dict.fromkeys(parse.whole("sentence")))
    if not found:
        read, rest = (" ".join(map(str, part)) for part in (tokens[: parse.furthest], tokens[parse.furthest :]))
        raise Unread(f"{read} <<>> {rest}")
    return found


def meaning(tokens: Sentence) -> Any:
    """The first of them in the order of the rows."""
    return meanings(tokens)[0]


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
