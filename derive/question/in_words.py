"""Layers that a question tells in words: whole sentence by sentence, by phrases, or in one short sentence.

Each gives the module, or None for a question of another kind. What only such questions take is imported where it is
asked: a part of a cold start.
"""

from __future__ import annotations

import re

from derive.card import Card
from derive.errors import DeriveError, OpenError, Problem
from derive.module import Module
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import equates
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose


def told(card: Card, prose: Prose) -> Module | None:
    """The module that rows read whole from all sentences; None where they do not."""
    from derive.question.emitted.module import told_module
    from derive.question.told.values import Unread, Untrue

    try:
        return told_module(card, prose)
    except Untrue as wrong:
        raise _untrue(wrong, prose) from None
    except (Unread, DeriveError):
        return None


def phrased(card: Card, prose: Prose) -> Module | None:
    """The layer that phrases name, where no formula is written; None where they do not."""
    from derive.question.sentences.atoms import TINY
    from derive.question.sentences.tokens import in_english
    from derive.question.told.phrases import phrased_module
    from derive.question.told.values import Unread, Untrue

    if any(equates(f) and not TINY.fullmatch(f.latex) for f in prose.formulas) or not in_english(prose.text):
        return None
    try:
        return phrased_module(card, prose)
    except Untrue as wrong:
        raise _untrue(wrong, prose) from None
    except (Unread, DeriveError):
        return None


def plain(card: Card, prose: Prose) -> Module | None:
    """The layers of the catalogue that a short question names and says nothing else of; None for any other."""
    from derive.question.sentences.tokens import in_english
    from derive.question.told.plain import plain_module
    from derive.question.told.values import Unread

    if any(map(equates, prose.formulas)) or not in_english(prose.text):
        return None
    try:
        return plain_module(card, prose)
    except (Unread, DeriveError):
        return None


_SHIFTED = re.compile(r"\s*\\?[A-Za-z]+\s*_\s*\{[^{}]*\w\s*[-+][^{}]*\}\s*")


def is_shifted(formula: Formula) -> bool:
    """z_{i-1} by itself, which a clause would take for z."""
    return _SHIFTED.fullmatch(formula.latex) is not None


def clauses_written(card: Card, prose: Prose) -> tuple[Card, tuple[str, ...]] | None:
    """The card with formulas for the clauses that name layers between its own, and how these were read; None else."""
    from derive.question.sentences.tokens import in_english
    from derive.question.told.named import with_formulas
    from derive.question.told.values import Unread

    if any(map(is_shifted, prose.formulas)) and not named(prose.text, "part.rnn", "part.gru", "part.lstm"):
        return None
    try:
        return with_formulas(card, prose) if in_english(prose.text) else None
    except (Unread, DeriveError):
        return None


def _untrue(wrong: Exception, prose: Prose) -> OpenError:
    return OpenError(Problem(f"the words contradict each other: with the windows that they give, {wrong}; make the "
                             "sizes agree, or leave out what follows from them",
                             line=prose.plain.first_line, key="kernel_size"))
