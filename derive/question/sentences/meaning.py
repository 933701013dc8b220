"""What a sentence says, as data: all that rows, tokens and runs of tokens make of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from derive.notation.rules.kinds import Said
from derive.question.sentences.actions import ACTIONS, Say, flat
from derive.question.sentences.atoms import ATOMS
from derive.question.sentences.grammar import ANY, Parse, indexed
from derive.question.sentences.runs import RUNS
from derive.question.sentences.tokens import Sentence, asks


class Unread(Exception):
    """What of the words could not be understood."""


_FORMULA, _WORD = frozenset({"formula"}), frozenset({ANY})
KINDS = tuple({**dict.fromkeys(ATOMS, _FORMULA), **dict.fromkeys(RUNS, _WORD),
               "number": frozenset({"number", "word"}), "count": frozenset({"number", "formula", "word"}),
               "formula": frozenset({"number", "formula", "size"}),
               "nameable": frozenset({"number", "formula", "size"}),
               "LB": frozenset({"sign"}), "RB": frozenset({"sign"}),
               "letterword": frozenset({"word"}), "datum": frozenset({"word"}), "size": frozenset({"size"})}.items())
ROWS = indexed("en", KINDS)


def says(said: Any, kind: str) -> bool:
    """Whether something of this kind stands in what was said."""
    own = isinstance(said, Say) and said.kind == kind
    return own or any(says(one, kind) for one in (said.of if isinstance(said, Say) else said if isinstance(
        said, (list, tuple)) else ()))


def meanings(tokens: Sentence) -> list[Any]:
    """All that a sentence may say; raises :class:`Unread` where the rows do not read all of it."""
    found = _read(tokens, trees_of(tokens))
    if not found:
        raise Unread(" ".join(map(str, tokens)))
    return [one for one in found if says(one, "own")] or [*found]  # «a leaky ReLU, f(z) = …» is one thing


def trees_of(tokens: Sentence) -> tuple[Any, ...]:
    """What a sentence's formulas were found to be, by which tokens do not compare."""
    return tuple((f.tree, f.origin) for token in tokens for f in token.formulas)


def reads(tokens: Sentence, name: str) -> bool:
    """Whether the rows read these words as a run of this name, ``afters``."""
    return bool(Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens).whole(name))


@lru_cache(maxsize=1024)  # no question has as many sentences, and each is read twice
def _read(tokens: Sentence, _: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the rows make of a sentence with these trees."""
    return tuple(dict.fromkeys(Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens).whole("sentence")))


_SETTLED = frozenset("asks messages messages_jacobian messages_vjp messages_forward besides skip given case".split())


def is_settled(tokens: Sentence) -> bool:
    """An order of which the rows read all, and by letters, derivatives and messages alone what is asked."""
    try:
        return asks(tokens) and all(map(_settled, flat(meaning(tokens))))
    except Unread:
        return False


def _settled(said: Say) -> bool:
    match said.kind:
        case "asks":
            return all(map(_settled, said[0]))
        case "derivs":
            return all(token.said in (Said.DERIVATIVE, Said.GRADIENT) for token in flat(said[0]))
        case "grads":
            return all(by.kind in ("wrtletters", "wrtnoun") for by in flat(said[0]))
    return said.kind in _SETTLED


def meaning(tokens: Sentence) -> Any:
    """The first of them in the order of the rows."""
    return meanings(tokens)[0]
