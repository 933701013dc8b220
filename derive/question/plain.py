r"""Short questions, “Derive the messages of a linear layer followed by a hinge loss”: y = l_n(… l_1(x)), by name.

Each sentence is read whole by a few rows, or the question is none of these; so nothing is said that is not taken. The
layers have the options that the catalogue gives them, since the question states none, and the sheet says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from derive.card import Card
from derive.errors import DeriveError
from derive.layers import Composed, compose
from derive.layers.catalogue import Layer
from derive.layers.chain import Part
from derive.layers.families import find
from derive.module import ROLES, Module
from derive.notation.rules.kinds import equates
from derive.notation.symbols import identifier, name_of
from derive.question.given import given_module
from derive.question.requests.verbs import besides
from derive.question.sentences.actions import ACTIONS, Say, flat
from derive.question.sentences.atoms import ATOMS
from derive.question.sentences.grammar import Parse
from derive.question.sentences.meaning import ROWS, Unread
from derive.question.sentences.runs import RUNS
from derive.question.sentences.tokens import Sentence, Token, in_english, sentences
from derive.question.words.prose import Prose
from derive.statement import Source, Statement

_SOFTMAX_LOSS = ("softmax", "categorical_cross_entropy")
_BEHIND = {"softmax": "categorical_cross_entropy", "sigmoid": "binary_cross_entropy"}  # which cross-entropy
_OPEN = frozenset({"dropout", "residual", "group_norm"})  # of which words must say more
_SINGULAR = {"inputs": "input", "parameters": "parameter", "constants": "constant"}
_ASKED_AS = {"forward": "the forward message", "backward": "the backward message",
             "parameters": "the parameter message"}
_NAMED = "options as the catalogue has them, since the question names none"


def plain_module(card: Card, prose: Prose) -> Module | None:
    """The layers that a short question names and says nothing else of; None for any other question."""
    if any(map(equates, prose.formulas)) or not in_english(prose.text):
        return None
    try:
        return _module(card, prose)
    except (Unread, DeriveError):
        return None


def _module(card: Card, prose: Prose) -> Module:
    said = flat(*(part for tokens in sentences(prose) for part in _read(tokens).of))
    chains = [one for one in said if one.kind == "chain"]
    wanted = [one for one in said if one.kind != "chain"]
    kinds = [kind for one in wanted for kind in _kinds(one)]
    if len(chains) != 1 or not kinds:
        raise Unread("not one chain of layers, or nothing that is asked")
    letters = {kind: _letter(token) for one in wanted for kind, token in _by(one) if token is not None}
    source = letters.get("backward", letters.get("logits"))
    composed = compose(_parts(chains[0], "logits" in kinds), letters={"input": source} if source else {})
    if letters.get("parameters", *composed.parameters[:1]) not in composed.parameters and "parameters" in letters:
        raise Unread("a letter of the parameters")
    variants = [p.spec for p in composed.parts if isinstance(p.spec, Layer) and p.spec.kind == "layer"]
    told: tuple[str, ...] = (_NAMED,) if any(spec.name != "linear" for spec in variants) else ()
    if "parameters" in kinds and not composed.parameters and "all" not in kinds:
        kinds.remove("parameters")
        told = (*told, "parameter messages: none, for the layer has no parameters")
    module = _composed(card, prose, composed, _derive(kinds, bool(composed.parameters)))
    return replace(module, readings=(*module.readings, *told))


def _composed(card: Card, prose: Prose, composed: Composed, derive: tuple[str, ...]) -> Module:
    """The module of these layers; what each letter is, the layer's name says."""
    keys: dict[str, Any] = {key: tuple(getattr(composed, key)) or None for key in (
        "facts", "shapes", "ranges", "inputs", "parameters", "constants")}
    line = prose.plain.first_line
    sources = {key: (Source(line),) * len(texts) for key, texts in keys.items() if texts}
    statement = Statement(forward=composed.formulas, output=composed.output, derive=derive, sources=sources, **keys)
    fields = tuple((identifier(name_of(latex)), field) for latex, field in composed.fields)
    module = given_module(card, statement, fields)
    words, name = (" → ".join(getattr(part.spec, kind) for part in composed.parts) for kind in ("words", "name"))
    readings = (f"layers: {words} (line {line})", *(f"layer (by its name): ${latex}$" for latex in composed.formulas),
                *(f"{_SINGULAR[role]} `{letter}` (of the layer's formula)" for role in ROLES
                  for letter in getattr(module, role)),
                *(f"asked for {_ASKED_AS[kind]} (line {line})" for kind in derive), *besides(prose))
    return replace(module, name=module.name or name, readings=tuple(dict.fromkeys(readings)))


def _read(tokens: Sentence) -> Say:
    said = next(iter(Parse(ROWS, ACTIONS, ATOMS, RUNS, tokens).whole("plain")), None)
    if said is None:
        raise Unread("another kind of question")
    return said


def _kinds(said: Say) -> list[str]:
    """Which messages are asked for."""
    if said.kind == "by":
        return [str(said[0])]
    return [kind for one in flat(*said.of) for kind in _kinds(one)] if said.kind == "kinds" else [said.kind]


def _by(said: Say) -> Iterator[tuple[str, Token | None]]:
    """With respect to what: its kind and, where it is written, its letter."""
    if said.kind == "by":
        yield str(said[0]), said[1]
    for one in flat(*said.of) if said.kind == "kinds" else ():
        yield from _by(one)


def _letter(token: Token) -> str:
    if len(token.letters) != 1:
        raise Unread("several letters")
    return token.letters[0]


def _derive(kinds: list[str], trained: bool) -> tuple[str, ...]:
    """What ``derive`` lists for what is asked; without a message to what, a gradient is one to all there is."""
    whole = "gradient" in kinds and not {"backward", "parameters", "logits"} & {*kinds}
    found = {"forward": "forward" in kinds or "all" in kinds,
             "backward": bool({"backward", "all", "logits", "jacobian"} & {*kinds}) or whole,
             "parameters": trained and ("parameters" in kinds or "all" in kinds or whole)}
    return tuple(kind for kind, asked in found.items() if asked)


def _parts(chain: Say, of_logits: bool) -> tuple[Part, ...]:
    """The layers in their order."""
    found: list[Part] = []
    for one in _listed(chain):
        name, bias = one.of[0], one[1].kind if isinstance(one[1], Say) else ""
        names = _names(name, [p.name for p in found], of_logits)
        if bias and names != ("linear",):
            raise Unread("the bias of what")
        found += [Part(each, (), {"bias": bias == "bias"} if bias else {}) for each in names]
    specs = [find(part.name) for part in found]
    if any(getattr(s, "kind", "") == "loss" for s in specs[:-1]) or {p.name for p in found} & _OPEN:
        raise Unread("a layer behind a loss, or one of which more must be said")
    return tuple(found)


def _listed(chain: Say) -> list[Say]:
    return [one for part in chain.of if part is not None
            for one in (_listed(part) if part.kind == "chain" else [part])]


def _names(name: Any, before: list[str], of_logits: bool) -> tuple[str, ...]:
    """The layers of the catalogue that a name stands for, behind those ``before`` it."""
    if isinstance(name, Say):
        return _SOFTMAX_LOSS
    if name == "cross_entropy":
        if before and before[-1] in _BEHIND:
            return (_BEHIND[before[-1]],)
        if not before and of_logits:
            return _SOFTMAX_LOSS
        raise Unread("of probabilities, or of scores")
    if name in _BEHIND.values() and before and before[-1] not in _BEHIND:
        raise Unread("of probabilities, or of scores")
    try:
        return (find(str(name)).name,)
    except DeriveError:
        raise Unread(f"“{name}”") from None
