"""A card's question as a module: which layer it is about, with which window, what is asked, and how that was read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from derive.card import Card
from derive.errors import CardError, DeriveError
from derive.module import Module
from derive.notation.formulas import formulas
from derive.question import lexicon
from derive.question.keys import refuse_near_misses
from derive.question.prose import Prose, prose_of
from derive.question.reading import Read, read_formulas
from derive.question.request import besides
from derive.question.slots import beside_windows, refuse_requests, refuse_words
from derive.question.unaccounted import refuse_unaccounted, refuse_unformulated
from derive.question.windows import catalogue_module, equations_of, is_window, named_layer, places, window_module
from derive.question.wording import Words, words_of
from derive.statement import Statement, with_layer, with_statement

__all__ = ["module_of"]


def module_of(card: Card, outside: Statement | None = None) -> Module:
    """The layer that the card's question asks about; a statement from ``outside`` counts over what the card says.

    Raises :class:`CardError` for what is missing, ambiguous or contradictory, and
    :class:`UnsupportedError` where the card is not about a layer that is covered.
    """
    try:
        refuse_near_misses(card)
        statement = Statement.of(card)
        if outside is not None:
            statement = statement.overlaid(outside)
            card = with_statement(card, statement)
        if problems := tuple(statement.unfinished()):
            raise CardError(*problems)
        module = _stated(card, statement)
        if module is None:
            module = _by_words(card, statement)
            refuse_unformulated(_prose(card), module)
        return module if outside is None else replace(module, readings=(*module.readings, *_not_on(card, outside)))
    except DeriveError as error:
        found = _of_outside(error, outside).located(card.path, card.question_line)
        raise found.with_problems(dict.fromkeys(found.problems)) from None


def _prose(card: Card) -> Prose:
    return prose_of(card.question, card.question_line, formulas(card.question, card.question_line))


def _stated(card: Card, statement: Statement) -> Module | None:
    """The layer that the front matter gives, by formulas or by names; None where the question says which it is."""
    if statement.layers is not None or "layer" in card.front_matter:
        from derive.question.given import layers_module

        named = card if statement.layers is None else with_layer(card, statement.layers)
        return layers_module(card, statement) or _by_words(named, statement)
    if statement.forward is None:
        return None
    from derive.question.given import given_module  # only where it is asked: a part of a cold start

    return given_module(card, statement)


# what the front matter may say of a layer that the question names or writes, besides its roles and windows
_LAID_OVER = ("derive", "functions", "shapes", "ranges", "facts", "upstream", "loss")


def _by_words(card: Card, statement: Statement) -> Module:
    """The layer that the question names or writes, with what the front matter says besides."""
    module = _by_name(card)
    if module is None:
        from derive.question.layer import layer_module

        module = layer_module(card, statement)
        statement = replace(statement, functions=None, shapes=None, facts=None)  # they have been read with the question
    if all(getattr(statement, key) is None for key in _LAID_OVER):
        return module
    from derive.question.given import laid_over

    return laid_over(module, card, statement)


def _of_outside(error: DeriveError, outside: Statement | None) -> DeriveError:
    """The error with the place of what a statement from outside says under a key that it names."""
    if outside is None:
        return error
    keys = tuple(f"`{key}" for key, _ in outside.given())
    own = [p.message.startswith(keys) and p.file is None for p in error.problems]
    return error.with_problems(replace(p, file=outside.origin) if mine else p
                               for mine, p in zip(own, error.problems, strict=True))


def _not_on(card: Card, outside: Statement) -> Iterator[str]:
    """The formulas of a statement from outside that do not stand on the card."""
    def bare(latex: str) -> str:
        for layout in ("\\left", "\\right", "\\,", "\\!", "\\;", "$", "{", "}", " ", "\n"):
            latex = latex.replace(layout, "")
        return latex.rstrip(".,;")

    question = bare(card.question)
    for key in ("forward", "functions", "facts"):
        for text in getattr(outside, key) or ():
            if bare(text) not in question:
                yield f"not on the card, from {outside.origin}: ${text}$"


_OF_WINDOWS = re.compile(r"(?i)max|min|pool|sampl|erosi|dilat")  # one of these stands in each question on a pooling


def names_a_network(card: Card, read_: Read, words: Words) -> bool:
    """A pooling and other layers are named in words, and no formula computes one of them."""
    pooled = words.about("pooling") or words.about("whole")
    if "layer" in card.front_matter or not pooled or equations_of(read_):
        return False
    from derive.question.chain import Chain

    chain = Chain(_prose(card))
    return chain.asked and len(chain.parts) > 1 and any("pool" in part.name for part in chain.parts)


def _by_name(card: Card) -> Module | None:
    """The layer of the catalogue that the question is about; None where its formulas say what it computes."""
    if "layer" not in card.front_matter and _OF_WINDOWS.search(card.question) is None:
        return None
    read_ = read_formulas(card)
    words = words_of(card.question, card.question_line, read_.known)
    if names_a_network(card, read_, words):
        return None
    named = named_layer(card, words, read_)
    found = None
    if named is not None:
        found = catalogue_module(card, words, read_, named)
    elif is_window(card, words, read_):
        found = window_module(card, words, read_)
    if found is not None:
        prose = _prose(card)
        if Statement.of(card).derive is None:
            refuse_requests(prose)
        if not equations_of(read_):
            refuse_words(prose, beside_windows(prose, places(prose.text)))
        _refuse_other_layers(prose, found)
        found = replace(found, readings=(*found.readings, *besides(prose)))
    return found


_OF_POOLING = re.compile(r"\b(?:of|for|through) (?:the|this|such a) (?:[\w-]+ )?pool")


def _refuse_other_layers(prose: Prose, module: Module) -> None:
    """Raise :class:`CardError` for a part beside the windows, unless «of the pooling layer» is asked."""
    sentences = (prose.sentence(verb.start) for verb in lexicon.named(prose.text, "ask.verb"))
    if not any(_OF_POOLING.search(prose.text, *sentence) for sentence in sentences):
        letters = (symbol.name for symbol in module.table.symbols)
        refuse_unaccounted(prose, [equation.terms[1] for equation in module.equations], (), letters)
