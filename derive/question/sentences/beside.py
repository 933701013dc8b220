"""What is said beside a layer must be understood: behind its formulas it may name letters, and change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from derive.errors import CardError, Problem
from derive.question.requests.answered import items
from derive.question.sentences.actions import ACTIONS
from derive.question.sentences.atoms import ATOMS
from derive.question.sentences.grammar import Parse, words_of
from derive.question.sentences.meaning import ROWS
from derive.question.sentences.runs import RUNS, makes_another
from derive.question.sentences.tokens import Sentence, Token, asks, orders, sentences
from derive.question.windows.wording import unmeasured
from derive.question.words.lexicon import named, only
from derive.question.words.prose import Prose

_BETWEEN = words_of("en", "BETWEEN_PHRASES") | words_of("en", "FOLLOWS_FROM_WINDOWS")
_HARMLESS = frozenset({"skip", "besides", "given"})
_OF_WINDOWS = ("geometry", "zeros", "ties", "part", "head", "small")  # families in which all is read of a pooling
_OF_REQUESTS = ("ask", "request", "message", "derivative", "wrt", "preposition", "of_what", "upstream", "letter",
                "role")
_NAMES = frozenset("called named denoted".split())  # the output is called $y$
_PAUSES = str.maketrans("∎,():", "     ")
_WORD = re.compile(r"[^\W\d_]{2}")
_CHANGES = frozenset("masked noisy tied clipped quantised binarised".split())  # of a layer that formulas compute


def refuse_unread_words(prose: Prose, told: Sequence[tuple[int, int]] = ()) -> None:
    """Raise :class:`CardError` for words behind the first name of a layer without formulas that no row reads whole.

    The words that are ``told`` a part takes account of.

    Beside formulas words may describe (:mod:`derive.question.posed`), in front of them not speak of noise or masks.
    """
    started = False
    written = any(t.kind == "formula" and t.equates for tokens in sentences(prose) for t in tokens)
    for tokens in sentences(prose):
        first = next((n for n, t in enumerate(tokens) if t.kind == "formula" and t.equates), None)
        behind = _stripped(tokens) if started and not (written or asks(tokens)) else ()
        if behind and not (_known(behind, prose) or is_taken(behind, prose, told)):
            raise _unread(behind, prose)
        for n, token in enumerate(tokens[:first] if first is not None else ()):
            attends = token.text == "causal" and "attention" in (t.text for t in tokens[n : n + 3])
            if attends or token.text in _CHANGES:
                raise _unread((token,), prose)
        started = started or (bool(named(_text(tokens, prose), "part")) and not asks(tokens))


def refuse_untold(prose: Prose, names: Iterable[tuple[int, int]]) -> None:
    """Raise :class:`CardError` for words around a pooling that only words name, which nothing reads.

    Those are words of a sentence without ties that say something, and of a request that speaks of windows,
    other than the ``names``, those of windows and, there, those of requests.
    """
    of_names = {at for start, stop in names for at in range(start, stop)}
    counted = {*unmeasured(prose.text)} - of_names
    counted |= {t.start for ts in sentences(prose) for t in ts if t.text == "same"} - _places(prose, ("geometry.same",))
    known = _places(prose, _OF_WINDOWS) | of_names
    asked = known | _places(prose, _OF_REQUESTS)
    for tokens in sentences(prose):
        asks_ = asks(tokens)
        words = [t for n, t in enumerate(tokens) if _WORD.match(t.text) and t.start not in (asked if asks_ else known)
                 and not (n and t.text in ("down", "out") and orders(tokens, n - 1))  # «write down»
                 and not (t.text in _NAMES and any(o.formulas for o in tokens[n + 1 : n + 3]))]
        words += [] if asks_ else [t for t in tokens if t.start in counted]  # of what, as what
        about = named(_text(tokens, prose), "geometry.pool", "geometry.window") if asks_ else not named(
            _text(tokens, prose), "ties.of", "ties.none")
        if words and about and (asks_ or not _BETWEEN.issuperset(t.text for t in words)):
            first, last = (words[0], words[-1]) if asks_ else (tokens[0], tokens[-1])
            quoted = prose.plain.quote(first.start, last.stop)
            raise CardError(Problem(f"“{quoted}” is not understood: say what the windows are in plain words, e.g. “2×2 "
                                    "windows, stride 2, no padding”, or write the forward formula",
                                    line=prose.plain.line(first.start), key="kernel_size"))


def _places(prose: Prose, concepts: Iterable[str]) -> set[int]:
    return {at for span in named(prose.text, *concepts) for at in range(span.start, span.stop)}


def _known(tokens: Sentence, prose: Prose) -> bool:
    """The rows read it, or it makes no other layer and says nothing, or names one that is held against the formulas."""
    if Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens).whole("beside"):
        return True
    return not makes_another(tokens) and (_joins(tokens, prose) or _says_nothing(tokens))


def is_taken(tokens: Sentence, prose: Prose, told: Iterable[tuple[int, int]]) -> bool:
    """All words of the clause are ``told``, of which a part that only words name takes account, or small."""
    start, words = tokens[0].start, list(_text(tokens, prose).translate(_PAUSES))
    for first, stop in told:
        for at in range(max(first - start, 0), min(stop - start, len(words))):
            words[at] = " "
    left, whole = "".join(words), _text(tokens, prose)
    of_part = ("letter", "head.loss", "fact.one_hot") if named(whole, "part") else ()
    return left != whole.translate(_PAUSES) and only(left, 0, len(left), "small.article", "naming", *of_part)


def _unread(tokens: Sequence[Token], prose: Prose) -> CardError:
    quoted = prose.plain.quote(tokens[0].start, tokens[-1].stop)
    return CardError(Problem(f"“{quoted}” is not understood beside the layer: if it changes what is computed, write it "
                             "into the formulas; if not, leave it out or put it in front of them",
                             line=prose.plain.line(tokens[0].start)))


def _text(tokens: Sequence[Token], prose: Prose) -> str:
    return prose.text[tokens[0].start : tokens[-1].stop]


def _stripped(tokens: Sequence[Token]) -> Sentence:
    """Without commas in front, and the brackets of a sentence in brackets."""
    found = list(tokens)
    while found and found[0].text in (",", ")", ":"):
        del found[0]
    if found and found[0].text == "(" and not any(t.text == ")" for t in found):
        del found[0]
    return tuple(found)


def _joins(tokens: Sentence, prose: Prose) -> bool:
    """The words name a layer of the catalogue: then it is held against the formulas where parts are read."""
    text = _text(tokens, prose)
    return bool(named(text, "part")) and bool(named(text, "join", "defines"))


def _says_nothing(tokens: Sentence) -> bool:
    """The sentence is read whole, and computes nothing."""
    return any(all(a.kind in _HARMLESS for a in items(said))
               for said in Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens).whole("sentence"))

