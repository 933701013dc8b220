"""A card's question as a module: which layer it is about, with which window, what is asked, and how that was read."""

from __future__ import annotations

from derive.card import Card
from derive.errors import DeriveError
from derive.module import Module
from derive.question.catalogued import catalogue_module, named_layer
from derive.question.keys import refuse_near_misses
from derive.question.reading import read_formulas
from derive.question.windows import is_window, window_module
from derive.question.wording import words_of

__all__ = ["module_of"]


def module_of(card: Card) -> Module:
    """The layer that the card's question asks about.

    Raises :class:`CardError` for what is missing, ambiguous or contradictory, and
    :class:`UnsupportedError` where the card is not about a layer that is covered.
    """
    def by_formula() -> Module:
        from derive.question.layer import layer_module  # a fifth of a cold start: only where it is asked

        return layer_module(card)

    try:
        refuse_near_misses(card)
        read_ = read_formulas(card)
        words = words_of(card.question, card.question_line, read_.known)
        named = named_layer(card, words, read_)
        known = None if named is None else catalogue_module(card, words, read_, named)
        if known is not None:
            return known
        if named is not None:
            return by_formula()
        return window_module(card, words, read_) if is_window(card, words, read_) else by_formula()
    except DeriveError as error:
        found = error.located(card.path, card.question_line)
        raise type(found)(*dict.fromkeys(found.problems)) from None
