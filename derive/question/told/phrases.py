r"""A layer told by phrases: its name and its options wherever they stand, y = pool_{3×3, stride 2}(x).

“A single-channel image of 7×7 pixels is reduced by max pooling with 3×3 windows and stride 2” names a layer of the
catalogue and says its options; what stands around these phrases may say who, where and why. Each number and each
formula belongs to a phrase. A word that could do something, deny or restrict stands in no gap between them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

from derive.card import Card
from derive.layers import compose
from derive.layers.catalogue import Layer
from derive.layers.chain import Part
from derive.layers.families import find
from derive.module import Module
from derive.notation.symbols import identifier, name_of
from derive.question.emitted.answered import items, refuse_unread_requests
from derive.question.emitted.geometry import geometry
from derive.question.given import given_module
from derive.question.requests.request import besides
from derive.question.requests.slots import refuse_requests
from derive.question.sentences.actions import ACTIONS, extents
from derive.question.sentences.atoms import ATOMS, number_of
from derive.question.sentences.grammar import Parse, words_of
from derive.question.sentences.meaning import ROWS, meanings
from derive.question.sentences.runs import COMPUTING, RUNS
from derive.question.sentences.tokens import Sentence, Token, asks, sentences
from derive.question.told.state import pairs
from derive.question.told.values import Unread, Value
from derive.question.words.lexicon import spans
from derive.question.words.prose import Prose
from derive.statement import Source, Statement

_BETWEEN, _TOWARDS = words_of("en", "BETWEEN_PHRASES"), words_of("en", "OPENS_A_PHRASE")
_CHANGING = frozenset().union(*(words_of("en", name) for name in (
    "UNSAFE", "ALTERED", "CHANGES", "MAKES_ANOTHER", "DONE", "DO", "OF_WINDOWS", "CONCEPTS", "DENIES", "AGAIN")))
_OPENS_AN_ASIDE = words_of("en", "OPENS_AN_ASIDE")
_DONE = words_of("en", "DONE") | words_of("en", "DO")
_DOES = re.compile(r"(?:ed|ing|ly|wise|ways)$")  # as words do that say what is done, and how
_POWER = re.compile(r"\s*(?:(?P<n>\d+(?:\.\d+)?)|10\^\s*\{?\s*-\s*(?P<e>\d+)\s*\}?)\s*")
_HARMLESS = frozenset({"skip", "besides", "given"})
_WINDOWED = frozenset("kernel length stride padding dilation overlap disjoint overlapping square output same fill "
                      "counted divisor rank".split())
_NORM = {"instance_norm": ({"channel", "image"}, {"pixels"}), "layer_norm": ({"token", "sample"}, {"features"}),
         "batch_norm": ({"feature", "channel"}, {"batch"})}  # for what by itself, and over what
_TAKES = {"pool": _WINDOWED | {"op", "global", "per"}, "conv": _WINDOWED | {"weights", "bias", "filters"},
          "linear": frozenset({"weights", "bias", "units"}), "softmax": frozenset({"temperature", "tempered"}),
          **dict.fromkeys(_NORM, frozenset({"gain", "shift", "epsilon", "does", "per", "over"})),
          **dict.fromkeys(("leaky_relu", "prelu", "elu"), frozenset({"slope"}))}
_INPUT = frozenset({"on", "input", "channels", "area"})
Options = dict[str, Any]


def phrased_module(card: Card, prose: Prose) -> Module:
    """The layer that the phrases name; raises :class:`Unread` where something else is said, or something is open."""
    told = Phrases(prose)
    composed = compose(told.chain(), rank=told.rank, letters=told.letters)
    letters = {c for text in composed.formulas for c in re.findall(r"\\?[A-Za-z]+", text)}
    for sentence in told.sentences:
        told.refuse_other_letters(sentence, letters)
    keys: dict[str, Any] = {key: tuple(getattr(composed, key)) or None for key in (
        "facts", "shapes", "ranges", "inputs", "parameters", "constants")}
    sources = {key: (Source(prose.plain.first_line),) * len(texts) for key, texts in keys.items() if texts}
    statement = Statement(forward=composed.formulas, output=composed.output, derive=told.derive, sources=sources,
                          **keys)
    fields = tuple((identifier(name_of(latex)), field) for latex, field in composed.fields)
    module = given_module(card, statement, fields)
    if told.derive is None:
        refuse_requests(prose)
        refuse_unread_requests(prose, module)
    words = " → ".join(part.spec.words for part in composed.parts)
    name = " → ".join(part.spec.name for part in composed.parts)
    return replace(module, name=module.name or name, input_size=module.input_size or told.size, readings=tuple(
        dict.fromkeys((f"layer: {words}", *module.readings, *besides(prose)))))


class Phrases:
    """The layers that a question names, one behind the other, their options, and the input."""

    def __init__(self, prose: Prose) -> None:
        self.prose = prose
        self.sentences = sentences(prose)
        self.layers: list[tuple[str, Options]] = []
        self.waiting: list[tuple[str, Any]] = []  # said before any layer that has it
        self.input: Options = {}
        self.taken: set[int] = set()  # where formulas stand that a phrase takes
        self.joined = False
        self.orders: list[Token] = []  # the words in which something is asked for
        for tokens in self.sentences:
            self.sentence(tokens)
        for key, value in self.waiting:
            self.option(key, value, last=True)

    # -- sentences -----------------------------------------------------------------------------------------------------

    def sentence(self, tokens: Sentence) -> None:
        """The phrases of a sentence; raises :class:`Unread` for what stands between them and could say more."""
        if self.is_aside(tokens):
            return
        parse = Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens)
        taken: list[int | None] = []  # for each token the end of its phrase
        said: list[tuple[int, Any]] = []
        while len(taken) < len(tokens):
            at = len(taken)
            end, value = max(parse.runs("phrase", at), key=lambda run: run[0], default=(at, None))
            if end > at and not asks(tokens[at:end]):
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

    @staticmethod
    def is_aside(tokens: Sentence) -> bool:
        """The rows read all of it, and it says nothing of a layer."""
        if tokens[0].text not in _OPENS_AN_ASIDE or any(t.text in _DONE for t in tokens):
            return False
        try:
            return not asks(tokens) and all(one.kind in _HARMLESS for one in items(meanings(tokens)[0]))
        except Unread:
            return False

    @property
    def derive(self) -> tuple[str, ...] | None:
        """The messages that the words ask for; None where letters say which."""
        words = {t.text for t in self.orders}
        if any(t.formulas and not t.letters for t in self.orders) or not words & _DERIVED:
            return None
        letters = {c for t in self.orders if t.formulas for c in t.letters}
        of_layers = {v for _, own in self.layers for v in own.values() if isinstance(v, str)}
        own = bool(words & _OF_PARAMETERS or letters & of_layers)
        return (*["forward"] * ("forward" in words), "backward", *["parameters"] * own)

    def refuse_other_letters(self, tokens: Sentence, known: set[str]) -> None:
        """Raise :class:`Unread` for a letter outside what is asked that the layer does not have."""
        for token in () if asks(tokens) else tokens:
            if token.formulas and token.start not in self.taken and not {*token.letters} <= known:
                raise Unread(f"“{token}”")

    # -- phrases -------------------------------------------------------------------------------------------------------

    def phrase(self, said: Any, token: Token) -> None:
        for key, value in pairs(said):
            if key == "layer":
                self.layer(value)
            elif key == "join":
                self.joined = True
            elif key in _INPUT:
                self.of_input(key, value)
            else:
                self.option(key, value)

    def layer(self, name: str) -> None:
        if name in (known := [n for n, _ in self.layers]) and not self.joined:
            if known[-1] != name:
                raise Unread(f"“{name}” again")
            return
        if name not in _TAKES and not isinstance(find(name), Layer):
            raise Unread(f"“{name}”")
        if self.layers and not self.joined:
            raise Unread("two layers that nothing joins")
        self.layers.append((name, {}))
        self.joined = False

    def option(self, key: str, value: Any, last: bool = False) -> None:
        """One thing said of the last layer that has such a thing."""
        if key == "bias" and self.layers and {name for name, _ in self.layers} <= {*_NORM}:
            key = "shift"
        owner = next((own for name, own in reversed(self.layers) if key in _TAKES.get(name, ())), None)
        if owner is None:
            if last:
                raise Unread(f"the {key} of what")
            self.waiting.append((key, value))
            return
        if key == "length":
            key, value = "kernel", extents(value)
            self.once(owner, "rank", 1)
        elif key in ("kernel", "stride", "dilation", "output") or key == "overlap" and value != "half":
            value = extents(value)
            if len(value) > 1:
                self.once(owner, "rank", len(value))
        elif key == "rank":
            value = int(value)
        elif key in ("weights", "bias", "gain", "shift", "temperature") and isinstance(value, Token):
            value = value.letters[0]
        elif key in ("per", "over", "does"):
            owner[key] = (*owner.get(key, ()), value)
            return
        elif key == "slope":
            value = next((v for k, v in pairs(value) if k == "slope"), value)
        elif key == "epsilon":
            value = _number(value)
        self.once(owner, key, value)

    @staticmethod
    def once(owner: Options, key: str, value: Any) -> None:
        """Nothing is said twice in two ways."""
        known = owner.setdefault(key, value)
        if known != value:
            if key == "bias" and "yes" in (known, value) and "no" not in (known, value):
                owner[key] = known if value == "yes" else value
            elif isinstance(known, tuple) and isinstance(value, tuple) and len({*known, *value}) == 1:
                owner[key] = max(known, value, key=len)
            else:
                raise Unread(f"two values of {key}")

    def of_input(self, key: str, value: Any) -> None:
        """An image or a signal, its letter, its size."""
        if key == "on" and value.kind in ("image", "signal1"):
            self.once(self.input, "sizes", extents(value[1]))
            value = value[0]
        elif key == "on":
            value = value[1] if value.kind == "ref" else value[0]
        if key == "area":
            self.once(self.input, "sizes", extents(value))
        elif key == "channels":
            self.once(self.input, "channels", value)
        elif isinstance(value, Token):
            self.once(self.input, "letter", value.letters[0])

    # -- the chain -----------------------------------------------------------------------------------------------------

    @property
    def letters(self) -> dict[str, str]:
        return {"input": self.input["letter"]} if "letter" in self.input else {}

    @property
    def size(self) -> tuple[int, ...] | None:
        sizes = self.input.get("sizes", ())
        windowed = self.layers[0][0] == "pool"
        return tuple(map(int, sizes)) if windowed and sizes and all(n.isdigit() for n in sizes) else None

    @property
    def rank(self) -> int | None:
        """The number of the input's axes, where the words and not the layer say it."""
        first = self.layers[0][0]
        if first == "instance_norm":
            return 4 if "image" in self.layers[0][1].get("per", ()) else 3
        return None

    def chain(self) -> tuple[Part, ...]:
        """The layers with their options; raises :class:`Unread` where one of these is open."""
        if not self.layers:
            raise Unread("no layer")
        return tuple(self.part(*layer, n) for n, layer in enumerate(self.layers))

    def part(self, name: str, own: Options, n: int) -> Part:
        if name in ("pool", "conv"):
            return self.windowed(name, own, n)
        if name in _NORM:
            return self.normalised(name, own)
        given = {k: v for k, v in own.items() if v != "yes" or k not in ("bias", "tempered")}
        if "tempered" in own and "temperature" not in own:
            raise Unread("the temperature")
        if "slope" in given:
            slope = given["slope"]
            given["slope"] = slope.letters[0] if isinstance(slope, Token) else Fraction(str(slope))
        if given.get("bias") == "no":
            given["bias"] = False
        if name == "linear" and not {"weights", "bias"} & given.keys():
            raise Unread("the weights of a linear layer")
        if name in ("leaky_relu", "elu") and "slope" not in given:
            raise Unread("a slope")
        return Part(name, (), given)

    def windowed(self, name: str, own: Options, n: int) -> Part:
        """A pooling or a convolution, its windows checked as the words count them."""
        sizes = self.input.get("sizes") if not n else None
        rank = own.get("rank") or (len(sizes) if sizes else len(own.get("output", ())) or 0)
        if sizes and len(sizes) != rank or not rank:
            raise Unread("the axes of the windows")
        size: tuple[int | None, ...] = tuple(int(s) if s.isdigit() else None for s in sizes or ("n",) * rank)
        value = Value(None, name, (), {**own, "rank": rank})
        found = geometry(value, size)
        padded = any(p for ends in found.padding for p in ends)
        given: Options = {"kernel_size": found.kernel, "stride": found.stride, "dilation": found.dilation}
        if padded:
            given["padding"] = found.padding
        if name == "conv":
            return self.convolution(own, given, rank)
        if own.get("global") or own.get("op") not in ("max", "min", "avg"):
            raise Unread("which pooling")
        if own["op"] == "avg" and padded:
            if own.get("counted") != "yes" or int(own.get("divisor", prod(found.kernel))) != prod(found.kernel):
                raise Unread("what the sum is divided by")
        elif own.get("divisor") is not None and own["divisor"] != str(prod(found.kernel)) or (
                padded and own["op"] != "avg" and own.get("fill") == "zeros"):
            raise Unread("what the windows hold")
        return Part(f"{own['op']}_pool", (), given)

    def convolution(self, own: Options, given: Options, rank: int) -> Part:
        several = "filters" in own or "channels" in self.input
        if several and not (own.get("filters") and self.input.get("channels")):
            raise Unread("the channels")
        given |= {"filters": int(own["filters"])} if several else {"channels": False}
        given |= {key: own[key] for key in ("weights", "bias") if own.get(key, "yes") != "yes"}
        if own.get("bias") == "no" or "bias" not in own:
            given["bias"] = False
        return Part(f"conv{rank}d", (), given)

    def normalised(self, name: str, own: Options) -> Part:
        """A normalisation, of which the words say gain, shift and the number below the root, and do what it does."""
        per, over = _NORM[name]
        if not {*own.get("per", ())} <= per or not {*own.get("over", ())} <= over or {"gain", "shift", "epsilon"} - {
                *own} or len(own.get("does", ())) not in (0, 2):
            raise Unread("what is normalised")
        given = {what: False if own[what] == "no" else own[what] for what in ("gain", "shift", "epsilon")}
        return Part(name, (), given)


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
    return _is_plain(token) and noun and not verb and not _DOES.search(token.text) and behind is None


def _is_asked(token: Token) -> bool:
    """In an order to derive it asks for nothing that is not known."""
    return bool(token.formulas) or token.text in _ASKED or token.text in _OF_PARAMETERS or token.text in ",:()"


def _is_plain(token: Token) -> bool:
    """It is in no list of words that change a layer, and names no layer and no operation."""
    return token.kind == "word" and number_of(token) is None and len(token.text) > 1 and not (
        token.text in _CHANGING or any(spans(token.text, family) for family in (*COMPUTING, "change", "factor")))


_ASKED, _OF_PARAMETERS, _DERIVED = (words_of("en", name) for name in ("ASKED_FOR", "OF_PARAMETERS", "DERIVED"))
_ARTICLES = frozenset("a an the its our some any".split())


def _number(said: Any) -> Fraction:
    """0.001 of 10^{-3}."""
    found = _POWER.fullmatch(said.formula.latex if isinstance(said, Token) else str(said))
    if found is None:
        raise Unread("the number below the root")
    return Fraction(found["n"]) if found["n"] else Fraction(1, 10 ** int(found["e"]))
