r"""A layer told by phrases: its name and its options wherever they stand, y = pool_{3×3, stride 2}(x).

“A single-channel image of 7×7 pixels is reduced by max pooling with 3×3 windows and stride 2” names a layer of the
catalogue and says its options; what stands around these phrases may say who, where and why. Each number and each
formula belongs to a phrase. A word that could do something, deny or restrict stands in no gap between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from derive.card import Card
from derive.layers import Composed, compose
from derive.layers.lettering import renamed
from derive.module import ROLES, Module
from derive.notation.symbols import identifier, name_of
from derive.question.emitted.answered import items, refuse_unread_requests
from derive.question.given import given_module
from derive.question.requests.slots import refuse_requests
from derive.question.requests.verbs import besides
from derive.question.sentences.actions import ACTIONS
from derive.question.sentences.acts import DO, DONE
from derive.question.sentences.atoms import ATOMS, number_of
from derive.question.sentences.grammar import Parse, TooLong, words_of
from derive.question.sentences.meaning import ROWS, meanings, trees_of
from derive.question.sentences.runs import COMPUTING, RUNS
from derive.question.sentences.tokens import Sentence, Token, asks, sentences
from derive.question.told.options import LOSSES, Named
from derive.question.told.state import pairs
from derive.question.told.values import Unread
from derive.question.words.lexicon import spans
from derive.question.words.prose import Prose
from derive.statement import Source, Statement

_BETWEEN, _TOWARDS = words_of("en", "BETWEEN_PHRASES"), words_of("en", "OPENS_A_PHRASE")
_CHANGING = frozenset().union(*(words_of("en", name) for name in (
    "UNSAFE", "ALTERED", "CHANGES", "MAKES_ANOTHER", "OF_WINDOWS", "CONCEPTS", "DENIES", "AGAIN")), DONE, DO)
_OPENS_AN_ASIDE = words_of("en", "OPENS_AN_ASIDE")
_DOES = re.compile(r"(?:ed|ing|ly|wise|ways)$")  # as words do that say what is done, and how
_SINGULAR = {"inputs": "input", "parameters": "parameter", "constants": "constant"}
_HARMLESS = frozenset({"skip", "besides", "given"})


def phrased_module(card: Card, prose: Prose) -> Module:
    """The layer that the phrases name; raises :class:`Unread` where something else is said, or something is open."""
    told = Phrases(prose)
    chain = told.chain()
    composed = told.sized(compose(chain, rank=told.rank, letters=told.letters, samples=told.samples))
    letters = {c for text in composed.formulas for c in re.findall(r"\\?[A-Za-z]+", text)}
    for sentence in told.sentences:
        told.refuse_other_letters(sentence, letters)
    told.refuse_asked({*composed.inputs, *composed.parameters, *composed.constants})
    module = chain_module(card, prose, composed, told.derive(bool(composed.parameters)))
    return replace(module, input_size=module.input_size or told.size)


def chain_module(card: Card, prose: Prose, composed: Composed, derive: tuple[str, ...] | None) -> Module:
    """The module of layers that words name; ``derive`` is what they ask for, None where letters say it.

    Raises :class:`Unread` where the messages to parameters are asked for of a layer without any.
    """
    if "parameters" in (derive or ()) and not composed.parameters:
        raise Unread("the parameters of what")
    keys: dict[str, Any] = {key: tuple(getattr(composed, key)) or None for key in (
        "facts", "shapes", "ranges", "inputs", "parameters", "constants")}
    sources = {key: (Source(prose.plain.first_line),) * len(texts) for key, texts in keys.items() if texts}
    statement = Statement(forward=composed.formulas, output=composed.output, derive=derive, sources=sources, **keys)
    fields = tuple((identifier(name_of(latex)), field) for latex, field in composed.fields)
    module = given_module(card, statement, fields)
    if derive is None:
        refuse_requests(prose)
        refuse_unread_requests(prose, module)
    words = " → ".join(part.spec.words for part in composed.parts)
    name = " → ".join(part.spec.name for part in composed.parts)
    readings = (f"layers: {words} (line {prose.plain.first_line})", *_of_catalogue(composed, module),
                *_asked(module, derive, prose), *besides(prose))
    return replace(module, name=module.name or name, readings=tuple(dict.fromkeys(readings)))


def _of_catalogue(composed: Composed, module: Module) -> Iterator[str]:
    """The formulas, and what each letter is: no key of the front matter says it, the layer's name does."""
    yield from (f"layer (by its name): ${latex}$" for latex in composed.formulas)
    for role in ROLES:
        yield from (f"{_SINGULAR[role]} `{name}` (of the layer's formula)" for name in getattr(module, role))


_ASKED_AS = {"forward": "the forward message", "backward": "the backward message",
             "parameters": "the parameter message"}


def _asked(module: Module, derive: tuple[str, ...] | None, prose: Prose) -> Iterator[str]:
    """What is asked for was read from the words, not from `derive`."""
    if derive is None:
        yield from (r for r in module.readings if r.startswith("asked for"))
    yield from (f"asked for {_ASKED_AS[kind]} (line {prose.plain.first_line})" for kind in derive or ())


class Phrases(Named):
    """The layers that a question names, one behind the other, their options, and the input."""

    def __init__(self, prose: Prose) -> None:
        self.prose = prose
        self.sentences = sentences(prose)
        super().__init__()
        self.taken: set[int] = set()  # where formulas stand that a phrase takes
        self.orders: list[Token] = []  # the words in which something is asked for
        self.asked_of: list[set[str]] = []  # the layers that an order names
        for tokens in self.sentences:
            self.sentence(tokens)
        self.settled()
        self.refuse_some()

    # -- sentences -----------------------------------------------------------------------------------------------------

    def sentence(self, tokens: Sentence) -> None:
        """The phrases of a sentence; raises :class:`Unread` for what stands between them and could say more."""
        if self.is_aside(tokens) or all(token.kind == "sign" for token in tokens):
            return
        taken: list[int | None] = []  # for each token the end of its phrase
        said: list[tuple[int, Any]] = []
        runs = _fewest_gaps(tokens, trees_of(tokens))
        while len(taken) < len(tokens):
            at = len(taken)
            end, value = runs[at]
            if end > at:
                said.append((at, value))
                taken += [end] * (end - at)
            else:
                taken.append(None)
        if not said and not asks(tokens):
            raise Unread(f"“{' '.join(map(str, tokens))}”")
        names = tokens[0].text == "write" and taken[1:2] != [None]  # «write $x$ for the image» asks for nothing
        asking = asks(tokens) and None in taken and not names
        taken[0] = taken[0] or int(names) or None
        self.orders += tokens if asking else ()
        for n, token in enumerate(tokens):
            if taken[n] is not None:
                self.taken |= {token.start} if token.formulas else set()
            elif not asking and not _says_nothing(tokens, n, taken) or asking and not _is_asked(token):
                raise Unread(f"“{token}”")
        for at, value in said:
            self.phrase(value, tokens[at])
        if asks(tokens) and (named := {v for _, one in said for k, v in pairs(one) if k == "layer"}):
            self.asked_of.append(named)

    def refuse_some(self) -> None:
        """Raise :class:`Unread` where messages of some of several layers are asked for: those of all are derived."""
        names = {name for name, _ in self.layers}
        if len(names) > 1 and _HEADS_OF_LAYERS & {t.text for t in self.orders}:
            raise Unread("the messages of one of several layers")
        if any(len(named) < len(names) and not (len(self.layers) == len(names) and named <= LOSSES)
               for named in self.asked_of if len(names) > 1):
            raise Unread("the messages of one of several layers")

    @staticmethod
    def is_aside(tokens: Sentence) -> bool:
        """The rows read all of it, and it says nothing of a layer."""
        if tokens[0].text not in _OPENS_AN_ASIDE or any(t.text in DO | DONE for t in tokens):
            return False
        try:
            return not asks(tokens) and all(one.kind in _HARMLESS for one in items(meanings(tokens)[0]))
        except Unread:
            return False

    def derive(self, parameters: bool) -> tuple[str, ...] | None:
        """The messages that the words ask for; None where letters say which."""
        words = {t.text for t in self.orders}
        if any(t.formulas and not t.letters for t in self.orders) or not words & _DERIVED:
            return None
        letters = {c for t in self.orders if t.formulas for c in t.letters}
        of_layers = {v.letters[0] if isinstance(v, Token) else v for _, own in self.layers for v in own.values()
                     if isinstance(v, (str, Token))}
        everything = "all" in words or not letters and bool(words & {"gradients", "messages"})
        words -= {"matrix"} if "jacobian" in words else set()  # «the Jacobian matrix»
        own = bool(words & _OF_PARAMETERS or letters & of_layers or everything and parameters)
        return (*["forward"] * ("forward" in words), "backward", *["parameters"] * own)

    def sized(self, composed: Composed) -> Composed:
        """The layers with the letters of sizes that the words give; raises :class:`Unread` for another divisor."""
        declared = self.input.get("shape", ())
        space = next((s for s in composed.shapes if s.startswith(rf"{composed.inputs[0]} \in")), "")
        own = re.findall(r"[A-Za-z]", space.partition("}^")[2].replace(r"\times", ""))
        if declared and own and (len(own) != len(declared) or {*declared} & {*self.letters.values()}):
            raise Unread("the axes of the input")
        names = dict(zip(own, declared, strict=True)) if own and declared else {}
        extents = {option["extent"] for _, option in self.layers if "extent" in option}
        if not extents <= {*declared}:
            raise Unread(f"the length {min(extents)}")
        formulas, shapes, ranges = (tuple(renamed(text, names) for text in texts) for texts in (
            composed.formulas, composed.shapes, composed.ranges))
        for divisor in (option["share"] for _, option in self.layers if "share" in option):
            if rf"\frac{{1}}{{{''.join(divisor.formula.latex.split())}}}" not in "".join(formulas[0].split()):
                raise Unread("what the variance is divided by")
        return replace(composed, formulas=formulas, shapes=shapes, ranges=ranges)

    def refuse_other_letters(self, tokens: Sentence, known: set[str]) -> None:
        """Raise :class:`Unread` for a letter outside what is asked that the layer does not have."""
        for token in () if asks(tokens) else tokens:
            if token.formulas and token.start not in self.taken and not {*token.letters} <= known:
                raise Unread(f"“{token}”")

    def refuse_asked(self, given: set[str]) -> None:
        """Raise :class:`Unread` for a derivative that is asked for by a letter that the layer is not given."""
        before = ""
        for n, token in enumerate(self.orders):
            counts = any(len(t.text) > 3 and t.text[-1] == "s" for t in self.orders[n + 1 : n + 2])  # «for $K$ inputs»
            by = token.formulas and token.start not in self.taken and before in _BY and not counts
            if by and not {*token.letters} <= given:
                raise Unread(f"the derivative by “{token}”")
            before = token.text if token.text not in _ARTICLES else before


@lru_cache(maxsize=1024)
def _fewest_gaps(tokens: Sentence, _: tuple[Any, ...]) -> dict[int, tuple[int, Any]]:
    """From each token of a sentence with these trees on the phrase that leaves the fewest words to gaps.

    Of these the longest; where there is none, the token's own place.

    A word that a gap may not have counts twice.
    """
    parse = Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens)
    found: dict[int, tuple[int, Any]] = {}
    gaps = {len(tokens): 0}
    try:
        for at in reversed(range(len(tokens))):
            gaps[at], found[at] = gaps[at + 1] + (1 if tokens[at].text in _BETWEEN else 2), (at, None)
            for end, value in sorted(parse.runs("phrase", at), key=lambda run: -run[0]):
                if end > at and gaps[end] < gaps[at] and not asks(tokens[at:end]):
                    gaps[at], found[at] = gaps[end], (end, value)
    except (TooLong, RecursionError):
        raise Unread("a long sentence") from None
    return found


def _says_nothing(tokens: Sentence, n: int, taken: list[int | None]) -> bool:
    """A word between phrases that says nothing of the layer."""
    token = tokens[n]
    if token.kind == "sign":
        return token.text in (",", ":", "(", ")")
    if token.formulas:
        return bool(token.letters)  # those of the layer; which these are is seen when it is known
    if token.text in _BETWEEN:
        return True
    before = next((t for t in reversed(tokens[:n]) if not (t.text in _ARTICLES or _is_plain(t))), None)
    starts = not any(taken[:n])  # in front of all phrases: who does it, and where
    leads = before is None or before is tokens[0] or before.text not in _TOWARDS
    noun = before is not None and before.text == "of" or starts and leads
    verb = token.text.endswith("s") and n > 0 and tokens[n - 1].text not in ("of", "for", *_ARTICLES)  # «it magnifies»
    behind = taken[n + 1] if n + 1 < len(tokens) and tokens[n + 1].kind != "sign" else None
    if n + 1 < len(tokens) and tokens[n + 1].text == "of" and behind is None:  # «the spectrum of an image»
        whole = next((m for m in range(n + 2, len(tokens)) if tokens[m].text not in _ARTICLES), n)
        behind = taken[whole]
    purpose = starts and token.text.endswith("ed") and any(t.text == "for" for t in tokens[:n])  # «for rolled steel»
    does = _DOES.search(token.text) and not purpose
    return _is_plain(token) and noun and not verb and not does and behind is None


def _is_asked(token: Token) -> bool:
    """In an order to derive it asks for nothing that is not known."""
    return bool(token.formulas) or token.text in _ASKED or token.text in _OF_PARAMETERS or token.text in ",:()"


def _is_plain(token: Token) -> bool:
    """It is in no list of words that change a layer, and names no layer and no operation."""
    return token.kind == "word" and number_of(token) is None and len(token.text) > 1 and not (
        token.text in _CHANGING or any(spans(token.text, family) for family in (*COMPUTING, "change", "factor")))


_ASKED, _OF_PARAMETERS, _DERIVED = (words_of("en", name) for name in ("ASKED_FOR", "OF_PARAMETERS", "DERIVED"))
_BY = frozenset("to for and , by of".split())
_HEADS_OF_LAYERS = frozenset("pooling convolution convolutional normalisation activation".split())
_ARTICLES = frozenset("a an the its our some any".split())
