"""The module of a question whose every sentence the grammar reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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

_MOST_TOKENS = 120
_MOST_QUOTED = 90
_SINGULAR = {"inputs": "input", "parameters": "parameter", "constants": "constant"}


def told_module(card: Card, prose: Prose) -> Module:
    """The layer that the words of every sentence make; raises :class:`Unread` where they do not.

    Raises :class:`derive.errors.CardError` where the formulas that they make contradict each other.
    """
    told = Telling(prose.formulas)
    for tokens in sentences(prose):
        last = tokens[-1]
        words = prose.plain.quote(tokens[0].start, last.start + max(1, len(last.text)))
        told.sentence(tokens, meaning(tokens), (prose.plain.line(tokens[0].start), words))
    emitted = Emitted(told)
    module = given_module(card, emitted.statement())
    return replace(module, readings=tuple(dict.fromkeys((*_said(emitted, module), *besides(prose)))))


def meaning(tokens: Sentence) -> object:
    """What a sentence says; raises :class:`Unread` where the rows do not read all of it."""
    if len(tokens) > _MOST_TOKENS:
        raise Unread("a long sentence")
    parse = Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens)
    found = parse.whole("sentence")
    if not found:
        read, rest = (" ".join(map(str, part)) for part in (tokens[: parse.furthest], tokens[parse.furthest :]))
        raise Unread(f"{read} <<>> {rest}")
    return found[0]


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
