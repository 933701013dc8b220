"""Clauses that name a layer between a question's formulas: “a linear layer maps $x$ to $u$”, “it is trained with …”.

A clause is read whole, from one sign, “and” or formula to the next, or it is none. In a question that has such clauses
words stand in for formulas, and no other sentence may do more: what leads to a formula is read with it; beside a
clause, and in the sentences behind the first layer, stands nothing but asides, facts and what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from derive.notation.rules.kinds import Said
from derive.question.posed import clauses as parts_of
from derive.question.posed import more
from derive.question.sentences.actions import ACTIONS, Say
from derive.question.sentences.acts import DO, DONE, Told
from derive.question.sentences.atoms import ATOMS, number_of
from derive.question.sentences.grammar import Parse, TooLong, words_of
from derive.question.sentences.meaning import ROWS
from derive.question.sentences.runs import COMPUTING, RUNS
from derive.question.sentences.tokens import Sentence, Token, asks, orders
from derive.question.told.phrases import Phrases
from derive.question.told.values import Unread
from derive.question.words.lexicon import named, spans
from derive.records import dataclass

_ENDS = frozenset({"and", "while", "where", "whereas", "which"})
_BEFORE = frozenset({"and", "then", "where", "that", "while"})
_WHERE = frozenset({"in", "inside", "within", "during", "at", "here", "because", "since"})
_ARTICLES = frozenset({"a", "an", "the", "each", "every", "one"})
_SAYS_WHAT = frozenset({"is", "are", "being", "denotes", "denote", "called", "with", "for"})
_QUIET = words_of("en", "BETWEEN_PHRASES") | _ENDS | words_of("en", "QUIET")
CHANGING = frozenset().union(*(words_of("en", name) for name in (
    "UNSAFE", "CHANGES", "MAKES_ANOTHER", "DENIES", "AGAIN", "NO_NOUN")), DONE, DO) - _QUIET
_BEHIND = words_of("en", "BEHIND_A_CLAUSE")
_COUNTS = frozenset("one each per for of every the a an two three all both".split())  # which, and how many
_MAY_NAME = words_of("en", "MAY_NAME_A_LAYER")
_THROUGH = words_of("en", "TELLS_OF_A_LAYER")
_OF_THE_LAYER, _SUPPOSES = words_of("en", "OF_THE_LAYER"), words_of("en", "SUPPOSES")
_ARRIVES = frozenset({"gradient", "from", "above", "upstream", "derivative", "derivatives", "message", "error",
                       "suppose", "collects", "everything", "later", "times", "output", "further", "network"})
_DENIED = words_of("en", "DENIES") | {"zero", "exactly", "equal"}
_DOES = re.compile(r"(?:ed|ing|ly|wise|ways)$")  # as words do that say what is done, and how


@dataclass(frozen=True)
class Clause:
    """A run of a sentence's tokens that names a layer, and what the rows make of it."""

    said: Say
    tokens: Sentence
    first: int
    last: int  # behind it
    behind: Token | None = None  # $u$ of «…, and its pre-activations $u$ are …»

    @property
    def parts(self) -> dict[str, Any]:
        return of(self.said)

    @property
    def end(self) -> int:
        """Behind its last character in the prose."""
        last = self.tokens[self.last - 1]
        return last.start + max(1, len(last.text))


def of(said: Any) -> dict[str, Any]:
    """What a row names, by the names."""
    return {} if said is None else dict(one for one in said.of if one is not None)


def clauses_in(told: Sequence[Sentence]) -> list[Clause]:
    """The clauses of all sentences that name a layer; raises :class:`Unread` where another sentence does more."""
    found: list[Clause] = []
    computes = False
    for sentence in told:
        tokens = _without_asides(sentence)
        own = clauses_of(tokens)
        equates = any(map(is_equation, tokens))
        if not (own or equates or asks(tokens) or is_harmless(tokens, computes)):
            raise Unread(f"“{' '.join(map(str, tokens))}”")
        if found and found[-1].behind is None and found[-1].last == len(found[-1].tokens):  # «…; its output $u$ is …»
            starts = Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens).runs("itsletter", 0)
            found[-1] = replace(found[-1], behind=next((letter for _, letter in starts), None))
        computes |= bool(own) or equates
        found += own
    return found


def _without_asides(tokens: Sentence) -> Sentence:
    """Without brackets that say which or how many there are: «the scores $z$ (one for each of the $K$ tags)»."""
    found: list[Token] = []
    opened: int | None = None
    for token in tokens:
        found.append(token)
        if token.text == "(":
            opened = len(found) - 1
        elif token.text == ")" and opened is not None:
            inside, opened_at, opened = found[opened + 1 : -1], opened, None
            loud = {t.text for t in inside} & CHANGING - _COUNTS
            named = all(t.letters for t in inside if t.formulas)
            if inside and inside[0].text in _COUNTS and not loud and named:
                del found[opened_at:]
    return tuple(found)


def clauses_of(tokens: Sentence) -> list[Clause]:
    """The clauses of a sentence that name a layer; raises :class:`Unread` where more is said beside them."""
    words = " ".join(t.text for t in tokens)
    if _MAY_NAME.isdisjoint(words.split()) and not spans(words, "part"):
        return []
    try:
        return _clauses_of(tokens)
    except (TooLong, RecursionError):
        raise Unread("a long sentence") from None


def _clauses_of(tokens: Sentence) -> list[Clause]:
    parse = Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens)
    found: list[Clause] = []
    at = 0
    while at < len(tokens):
        runs = [run for run in parse.runs("namedclause", at) if _ends(tokens, run[0])] if _starts(tokens, at) else []
        if not runs:
            at += 1
            continue
        end = max(end for end, _ in runs)
        readings = {_once(_leaves(said)): said for stop, said in runs if stop == end}
        if len(readings) > 1:
            raise Unread(f"“{' '.join(map(str, tokens[at:end]))}” in two ways")
        behind = next((letter for _, letter in parse.runs("itsletter", end)), None)
        found.append(Clause(next(iter(readings.values())), tokens, at, end, behind))
        at = end
    if found:
        _refuse_more(tokens, found)
    return found


def _leaves(said: Any) -> Iterator[str]:
    """What was said without what was left out, and without how options stand together."""
    if isinstance(said, Say):
        yield from (said.kind,) if said.kind != "opts" else ()
    if isinstance(said, (Say, tuple)):
        for one in said.of if isinstance(said, Say) else said:
            yield from _leaves(one)
    elif said is not None:
        yield str(said.start if isinstance(said, Token) else said)


def _once(leaves: Iterator[str]) -> tuple[str, ...]:
    """What is said twice on end, as by «the mean» and by «of its entries», is said once."""
    found: list[str] = []
    for leaf in leaves:
        found.append(leaf)
        if found[-2:] == found[-4:-2]:
            del found[-2:]
    return tuple(found)


def _starts(tokens: Sentence, at: int) -> bool:
    """A clause may begin behind a sign, an “and”, a formula, or words that say where: «in a detector the …»."""
    begin = next((n for n in range(at, 0, -1) if tokens[n - 1].kind == "sign" or tokens[n - 1].text in _BEFORE or
                  is_equation(tokens[n - 1])), 0)
    placed = tokens[begin].text in _WHERE and (bool(tokens[at].formulas) or tokens[at].text in _ARTICLES)
    return begin == at or placed


def _ends(tokens: Sentence, end: int) -> bool:
    return end == len(tokens) or tokens[end].kind == "sign" or tokens[end].text in _ENDS or is_equation(tokens[end])


def is_equation(token: Token) -> bool:
    return bool(token.formulas) and token.equates


# --- what stands beside them ------------------------------------------------------------------------------------------


def _refuse_more(tokens: Sentence, found: Sequence[Clause]) -> None:
    """Raise :class:`Unread` for a word beside the clauses of a sentence that could do more."""
    inside = {n for clause in found for n in range(clause.first, clause.last)}
    loose: list[Token] = []
    behind = adjoins = False
    for n, token in enumerate(tokens):
        if is_equation(token):
            loose, behind = [], False  # these words lead to it
        elif n in inside:
            if not {t.text for t in loose} <= _BEFORE:
                _refuse_loud(loose, behind)
            loose, behind, adjoins = [], True, True
        elif orders(tokens, n):
            break
        elif token.text == "," and loose and loose[0] is tokens[0] and _says_for_what(loose):
            loose = []  # «to predict $K$ numbers, …», «for the dosage model, …»
        elif token.text == "," and loose and adjoins:
            _refuse_loud(loose, behind)  # «… and the tanh of $x$, and the output is $$…$$»
            loose, adjoins = [], False
        elif token.kind != "sign":
            loose.append(token)
        elif not loose:
            adjoins = False
    _refuse_loud(loose, behind)


def _refuse_loud(loose: Sequence[Token], behind: bool) -> None:
    """Behind a clause stand letters and what they are called, and no further object: «of $w$ and $b$»."""
    if behind and loose and loose[0].text == "and" and {t.text for t in loose}.isdisjoint(_SAYS_WHAT):
        raise Unread("“and”")
    for token in loose:
        if not _is_quiet(token) or behind and not (token.formulas or token.text in _BEHIND):
            raise Unread(f"“{token}”")


def _says_for_what(loose: Sequence[Token]) -> bool:
    words = {t.text for t in loose[1:]}
    return loose[0].text == "to" or loose[0].text == "for" and words.isdisjoint(CHANGING | _OF_THE_LAYER) and not any(
        t.formulas or number_of(t) for t in loose)


def _is_quiet(token: Token) -> bool:
    if token.formulas:
        return not token.sets
    if token.kind == "word" and token.text in _QUIET:
        return True
    return token.kind == "word" and number_of(token) is None and not (
        token.text in CHANGING or _DOES.search(token.text) or any(
            spans(token.text, family) for family in (*COMPUTING, "change", "factor")))


def is_harmless(tokens: Sentence, computes: bool) -> bool:
    """A sentence without a layer: who wants what, in front of all layers; behind them asides and facts."""
    if Phrases.is_aside(tokens) or Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens).whole("namedaside"):
        return True
    if not computes:
        words = {t.text for t in tokens}
        text = " ".join(t.text for t in tokens)
        told = any(t.formulas for t in tokens) or not words.isdisjoint(_THROUGH)
        if told and (spans(text, "part") or named(text, "geometry.pool")):
            return False  # a layer that no clause reads
        beside = Told(tokens)
        return words.isdisjoint(_OF_THE_LAYER) and not any(
            any(more(beside, part, behind=False)) for part in parts_of(tokens))
    words_ = [t for t in tokens if t.kind != "sign"]
    if any(t.formulas and t.said in (Said.DERIVATIVE, Said.GRADIENT) for t in tokens):  # what arrives
        return all(t.text in _ARRIVES or _is_quiet(t) for t in words_)
    return tokens[0].text in _SUPPOSES and all(t.text in _DENIED or _is_quiet(t) for t in words_)
