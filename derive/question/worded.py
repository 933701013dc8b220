"""Questions that ask in words for the messages of a layer that formulas compute.

«Derive the message to the input and the gradients for its two matrices» has no letters. Where each noun is one of what
the layer is given, whichever, the answer has the derivatives by all of it; words that the question has nowhere else may
mean something else, and are left to the rows.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from functools import partial

from derive.notation.rules.kinds import Said
from derive.notation.symbols import Kind, name_of
from derive.question.posed_request import items
from derive.question.requests.excepted import excepted
from derive.question.requests.of_what import tails
from derive.question.requests.slots import not_asked_so, of_others
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Sentence, Token, asks, in_english, orders, sentences
from derive.question.words.lexicon import named, spans
from derive.question.words.prose import Prose
from derive.records import dataclass
from derive.specify.layer import Computed
from derive.specify.wanted import Wanted

_words = partial(words_of, "en")
_HEADS, _ARRAYS, _OTHER = _words("HEADS_OF_ITEMS"), _words("IS_GIVEN"), _words("SOMETHING_ELSE")
_KINDS, _AND, _ANOTHER = _words("KINDS_OF_MESSAGES"), _words("JOINS_ITEMS"), _words("OF_ANOTHER_LAYER")
_FAMILIES = ("letter", "role", "request", "of_what", "derivative", "message", "wrt", "between", "naming", "small",
             "ask", "upstream", "preposition", "numbers")
_PASSED = _words("PASSED_ON")
_OUTPUT, _ARRIVES = _words("COMES_OUT"), _words("COMES_IN")
_NO_MESSAGE = (Said.VALUE, Said.DERIVATIVE, Said.GRADIENT)
_D = re.compile(r"\\partial[\s{]*(\\?[A-Za-z]+)")
_WORD = re.compile(r"[^\W\d_]{2}")
_OF_NEIGHBOURS = re.compile(r"(?:weights?|bias(?:es)?|parameters?|matrix|matrices) of the "
                            r"(?:previous|preceding|next|following|other) "
                            r"layers?|layers? (?:that|which) (?:undoes|inverts|follows|precedes)")


@dataclass(frozen=True)
class Worded:
    """What words ask for: all that the layer is given, or the messages by their kinds alone."""

    everything: bool

    def widened(self, wanted: Wanted, trained: bool) -> Wanted:
        """The request with the derivatives by all letters, where nouns have none."""
        if not self.everything:
            return wanted
        kinds = dict.fromkeys((*wanted.kinds, "vjp", *(("parameters",) if trained else ())))
        told = "no letter says of what: derived by all that the layer is given"
        return replace(wanted, kinds=tuple(kinds), derivatives=(), places=(), parts=(),
                       readings=(*wanted.readings, told))


def refuse_another(prose: Prose) -> None:
    """Raise :class:`CardError` where what is asked for is of another layer: «the weights of the previous layer»."""
    read = {at for family in ("part", "request") for span in spans(prose.text, family)
            for at in range(span.start, span.stop)}
    asking = [tokens for tokens in sentences(prose) if asks(tokens)]
    for tokens in asking:
        place = _OF_NEIGHBOURS.search(prose.text, *prose.sentence(tokens[0].start))
        if place is not None:
            raise not_asked_so(prose, place.start(), place.end())
    for item in (i for tokens in asking for i in items(tokens)):
        for token in item:
            if token.text in _ANOTHER and token.start not in read and not _names(item, token):
                raise not_asked_so(prose, token.start, token.start + len(token.text))


def worded(prose: Prose, layer: Computed) -> Worded | None:
    """How words ask; None where they ask for something else, or it is not clear."""
    asking = [tokens for tokens in sentences(prose) if asks(tokens)] if in_english(prose.text) else []
    places = frozenset(prose.sentence(tokens[0].start) for tokens in asking)
    if not asking or any([*excepted(prose), *tails(prose, places), *of_others(prose, places)]):
        return None
    known = _said_elsewhere(prose, asking)
    read = {at for family in _FAMILIES for span in spans(prose.text, family) for at in range(span.start, span.stop)}
    losses = {name_of(letters[0]) for f in prose.formulas if (letters := _D.findall(f.latex))
              and {*map(name_of, letters[1:])} == {layer.output}}  # ∂L/∂y is given
    found = [_of_item(item, known, read, layer, losses)
             for tokens in asking for item in items(tokens, with_manner=True)]
    heads = [f for f in found if f is not _Of.TARGET]
    if None in found or not any(f in (_Of.KIND, _Of.ALL) for f in heads):
        return None
    return Worded(_Of.ALL in found or _Of.TARGET in found)


class _Of:
    """What an item asks for: kinds of messages, gradients of whatever, a noun behind one, letters."""

    KIND, ALL, TARGET, LETTERS = "kind", "all", "target", "letters"


def _of_item(item: Sentence, known: Set[str], read: Set[int], layer: Computed, losses: Set[str]) -> str | None:
    words = [t for n, t in enumerate(item) if _WORD.match(t.text) and t.text not in _AND and not orders(item, n)]
    if any(t.text in _OTHER and not _names(item, t) for t in words) or _of_inner(item, layer, losses):
        return None
    texts = {t.text for t in words}
    if texts & _OUTPUT and "respect" in texts and not texts & _ARRIVES:
        return None  # of that it is given
    if not words:
        return _Of.LETTERS
    if "backward" in texts and texts <= _KINDS:
        return _Of.KIND
    if named(" ".join(t.text for t in item), "letter.preactivation", "letter.units"):
        return None  # what is computed in between
    own = [t for t in words if t.start not in read and t.text not in _HEADS | _ARRAYS | _KINDS | _PASSED
           and not _names_given(item, t, layer)]
    if any(_singular(t.text) not in known for t in own):
        return None
    if not any(t.text in _HEADS for t in words):
        return _Of.ALL if "what" in texts and texts & _PASSED else _Of.TARGET
    whole = all(t.text in _HEADS | _KINDS for t in words) and (
        any(t.formulas for t in item) or not any(t.text.startswith(("gradient", "derivative")) for t in words))
    return _Of.KIND if whole else _Of.ALL


def _names(item: Sentence, token: Token) -> bool:
    """«the mean $m$»: it calls a letter."""
    at = item.index(token) + 1
    return at < len(item) and bool(item[at].formulas)


def _names_given(item: Sentence, token: Token, layer: Computed) -> bool:
    """«the gate vectors $v_m$», of which the layer is given v."""
    behind = item[item.index(token) + 1 :][:2]
    named_ = next((t for t in behind if t.formulas), None)
    return named_ is not None and all(t.kind in ("word", "formula") for t in behind) and bool(
        named_.letters) and {*map(name_of, named_.letters)} <= {*layer.given}


def _of_inner(item: Sentence, layer: Computed, losses: Set[str]) -> bool:
    """«the gradient of $h$», where $h$ is not the output; a derivative in letters, or a value, is asked for."""
    running = {s.name for s in layer.table.symbols if s.kind in (Kind.SIZE, Kind.INDEX)}
    own = {*layer.given, layer.output, *losses, *running}

    def other(token: Token) -> bool:
        letters = {*map(name_of, token.letters)}
        by = {name_of(letter) for f in token.formulas for letter in _D.findall(f.latex)[1:]}
        if token.said in _NO_MESSAGE and by == {layer.output}:
            return False  # ∂L/∂y, which comes in
        return token.said in _NO_MESSAGE or token.sets or not letters <= own

    return any(t.formulas and other(t) for t in item)


def _said_elsewhere(prose: Prose, asking: list[Sentence]) -> set[str]:
    """The words of the sentences that ask for nothing."""
    own = {tokens[0].start for tokens in asking}
    return {_singular(t.text) for tokens in sentences(prose) if tokens[0].start not in own for t in tokens
            if t.kind == "word"}


def _singular(word: str) -> str:
    return word.removesuffix("s")
