"""Runs of tokens that stand for themselves: names of parts, asides, and words that change nothing where they stand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from derive.notation.rules.kinds import Said
from derive.question.sentences import request_atoms
from derive.question.sentences.atoms import UNSAFE, number_of
from derive.question.sentences.grammar import words_of
from derive.question.sentences.tokens import Token, asks, orders
from derive.question.words.lexicon import spans

ACTIVATIONS = frozenset("relu leaky_relu prelu elu sigmoid tanh softplus gelu selu celu silu mish softsign identity "
                        "hard_tanh hard_sigmoid hard_swish modulus sine relu6".split())
LOSSES = frozenset("squared_error mean_squared_error cross_entropy categorical_cross_entropy binary_cross_entropy "
                   "hinge absolute_error logistic_loss log_cosh negative_log_likelihood".split())
CATALOGUED = frozenset("instance_norm layer_norm batch_norm rms_norm softmax leaky_relu prelu elu linear relu sigmoid "
                       "tanh".split())
LAYERS = ACTIVATIONS | CATALOGUED | {"rms_norm"}
NAMED = LAYERS | LOSSES | frozenset("log_softmax huber pinball focal squared_hinge squared_logarithmic maxout glu rnn "
                                    "lstm gru group_norm attention global_avg_pool global_max_pool dropout".split())
_MOST_WORDS = 5
_FUNCTION = re.compile(r"\s*\\(?:(?:mathrm|operatorname|text)\s*\{\s*)?([A-Za-z]{4,})\s*\}?\s*")  # $\tanh$
_UNITS = frozenset({"unit", "units", "neuron", "neurons"})


def _part_of(names: frozenset[str]) -> Callable[[Sequence[Token], int], Iterator[tuple[int, str]]]:
    """The runs of words that name a part of a kind."""
    def runs(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
        words: list[str] = []
        for token in tokens[at : at + _MOST_WORDS]:
            function = _FUNCTION.fullmatch(token.formula.latex) if token.kind == "formula" else None
            if token.kind != "word" and function is None:
                return
            words.append(function[1].lower() if function is not None else token.text)
            text = " ".join(words)
            weighs = words[-1] in _UNITS and "linear" not in words  # a logistic unit has weights, a ReLU may be a unit
            for span in () if weighs else spans(text, "part"):
                name = span.concept.partition(".")[2]
                if span.start == 0 and span.stop == len(text) and name in names:
                    yield at + len(words), name
    return runs


def _bracketed(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """What stands up to the closing bracket."""
    end = next((n for n in range(at, len(tokens)) if tokens[n].text == ")"), None)
    if end is not None:
        yield end, ""


def _safe(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A word that names things and changes nothing."""
    for phrase in ("one", "hot"), ("two", "dimensional"), ("one", "dimensional"), ("correct", "class"), ("p", "norm"):
        if tuple(t.text for t in tokens[at : at + 2]) == phrase:
            yield at + 2, ""
    if at < len(tokens) and tokens[at].kind == "word" and tokens[at].text not in UNSAFE:
        yield at + 1, ""



_GEOMETRY = words_of("en", "GEOMETRY")


def _geometry(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Words on windows only: they are read and held against the formulas as such."""
    n, named = at, False
    while n < len(tokens) and (tokens[n].text in _GEOMETRY or tokens[n].kind in ("size", "number", "formula") and not
                               tokens[n].formulas[:1] or tokens[n].kind in ("size", "number", "formula", "sign")):
        if tokens[n].kind == "formula" and tokens[n].equates:
            return
        named |= tokens[n].text in ("window", "windows", "stride", "padding")
        n += 1
        if named:
            yield n, ""


def _hint(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A hint says how, and changes nothing, unless a formula stands in it."""
    if not any(t.kind == "formula" and t.equates for t in tokens[at:]):
        yield len(tokens), ""


_ANOTHER = words_of("en", "MAKES_ANOTHER")


def makes_another(tokens: Sequence[Token]) -> bool:
    """The words make another layer of the one before: «it is applied twice», «replace the tanh by a ReLU»."""
    texts = [t.text for t in tokens]
    return not _ANOTHER.isdisjoint(texts) or ("applied", "twice") in itertools.pairwise(texts)


def _same(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The rest of a word of care."""
    if not makes_another(tokens[at:]):
        yield len(tokens), ""


def _pooled(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A pooling and its windows, whose words are accounted for where windows are read."""
    named = False
    for n in range(at, len(tokens)):
        named |= tokens[n].text.startswith(("pool", "window"))
        derived = bool(tokens[n].formulas) and tokens[n].said is Said.DERIVATIVE
        if derived or orders(tokens, n) or tokens[n].text == "respect":
            return
        if named:
            yield n + 1, ""


_POOLING = _GEOMETRY | frozenset("max average mean pool pooling layer temporal spatial unit filter ( ) ,".split())


def _pooling(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """A pooling named by its kind and its windows, and by nothing else."""
    named = False
    for n in range(at, len(tokens)):
        if tokens[n].kind not in ("number", "size") and tokens[n].text not in _POOLING:
            return
        named |= tokens[n].text in ("pool", "pooling")
        if named:
            yield n + 1, ""


_TROUBLE = words_of("en", "CHANGES_REQUEST") | words_of("en", "OF_ANOTHER")
_STOPS = frozenset({",", ")", ":", "and"})


def _plain(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Words and letters up to a comma, an “and” or the end that name no part and change nothing of a derivative."""
    n = at
    if at < len(tokens) and tokens[at].text in ("which", "whose"):  # «of a layer in which odd rows are skipped»
        return
    while n < len(tokens) and (_is_plain(tokens, n) or _is_part(tokens, n) or (tokens[n].text == "and" and n > at)):
        n += 3 if tokens[n].text == "(" else 1
        if n == len(tokens) or tokens[n].text in _STOPS or orders(tokens, n):
            yield n, ""


def _is_part(tokens: Sequence[Token], n: int) -> bool:
    """(a) of «your result from (a)»."""
    texts = [t.text for t in tokens[n : n + 3]]
    return len(texts) == 3 and texts[0] == "(" and texts[2] == ")" and len(texts[1]) < 3


def _is_plain(tokens: Sequence[Token], n: int) -> bool:
    token = tokens[n]
    if token.formulas:
        return bool(token.letters)
    changes = token.text in _TROUBLE or orders(tokens, n) or bool(spans(token.text, "part"))
    return token.kind == "word" and not changes


def _question(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The rest of a question that asks for no derivative and writes no formula."""
    if not asks(tuple(tokens)) and not any(t.kind == "formula" and t.equates for t in tokens):
        yield len(tokens), ""


_CONCEPTS = frozenset().union(*(words_of("en", name) for name in ("CONCEPTS", "CHANGES", "CHANGES_REQUEST", "ALTERED")))
_OF_A_LAYER, _IS = words_of("en", "OF_THE_LAYER"), words_of("en", "IS_OR_GETS")


def _neutral(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Words up to a comma or the end, of which none belongs to a layer, computes, counts or denies."""
    n = at
    while n < len(tokens) and tokens[n].kind == "word" and number_of(tokens[n]) is None and not (
            tokens[n].text in _CONCEPTS | _OF_A_LAYER or orders(tokens, n) or spans(tokens[n].text, "part")
            or n > at and tokens[n - 1].text in _IS and tokens[n].text.endswith("ed")):  # «what comes out is tripled»
        n += 1
        if n == len(tokens) or tokens[n].text == ",":
            yield n, ""


_VALUED = frozenset("zero one ones constant equal half twice negative not no never unit random independent "
                    "same".split())


def _arrives(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The rest of a sentence that says where a gradient comes from, and no value of it."""
    if all(not t.formulas or t.letters for t in tokens[at:]) and not any(
            t.text in _VALUED or t.kind in ("number", "size") or orders(tokens, at + n)
            for n, t in enumerate(tokens[at:])):
        yield len(tokens), ""


def _side(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The rest of a sentence that gives no formula, no number and no order."""
    if at < len(tokens) and not any(t.equates or t.sets for t in tokens[at:] if t.formulas) and not any(
            t.kind in ("number", "size") or orders(tokens, at + n) for n, t in enumerate(tokens[at:])):
        yield len(tokens), ""


RUNS: dict[str, Callable[[Sequence[Token], int], Iterator[tuple[int, Any]]]] = {
    "actname": _part_of(ACTIVATIONS), "losspart": _part_of(LOSSES),
    "anylayer": _part_of(NAMED),
    "REST": request_atoms.rest,
    "REST_WORDS": request_atoms.rest_of_words, "any": _bracketed,
    "poolingwords": _pooled,
    "pooling": _pooling,
    "REST_HINT": _hint, "REST_SAME": _same,
    "safe": _safe,
    "geometry": _geometry,
    "REST_LETTERS": request_atoms.rest_of_letters,
    "QREST": _question,
    "PLAIN": _plain,
    "NEUTRAL": _neutral,
    "SIDE": _side,
    "ARRIVES": _arrives,
}
