"""What is asked for by nouns, as letters: «the weights of the first layer», «$W_1$ and the bias», «the input».

A layer is a formula that brings weights; the formulas' order is that of the layers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem
from derive.module import ROLES
from derive.notation import tree as tr
from derive.notation.rules import trees
from derive.notation.symbols import latex_of
from derive.question.letters.naming import labelled
from derive.question.requests.of_what import OfWhat, letter_of_noun, nouns
from derive.question.requests.verbs import requested
from derive.question.sentences.tokens import in_english
from derive.question.words.lexicon import begins, ends, named, only
from derive.question.words.prose import BREAK, Prose
from derive.question.words.reading import lettered_prose
from derive.records import dataclass
from derive.sections import lines_of

_WEIGHTS = frozenset("W U V w theta Theta".split())
_BIASES = frozenset("b c beta".split())
_FED = frozenset("x X t T y z h s r a d n N epsilon varepsilon eta lambda".split())  # inputs, targets, what is set
_PLACES = (("first", "second", "third"), ("1st", "2nd", "3rd"), ("1", "2", "3"), ("one", "two", "three"))
_ARTICLES = re.compile(r"(?:\b(?:all|both|the|its|their|these|of)\s+)+\Z")


@dataclass(frozen=True)
class Brought:
    """The letters of a formula: that which it computes, those of weights and of biases that it brings, the others."""

    head: str
    weights: tuple[str, ...]
    biases: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def trained(self) -> tuple[str, ...]:
        return (*self.weights, *self.biases)


@dataclass(frozen=True)
class Called:
    """Letters that stand for a noun of the card, as they are written in its place, and where."""

    written: str
    words: str
    said: str


def lettered(card: Card) -> tuple[Card, tuple[Called, ...]]:
    """The card with letters for such nouns, and how these were read; as it is where a noun asks for all that it may.

    Raises :class:`CardError` for a noun that is one of several letters, and for a layer that no formula computes.
    """
    if any(card.front_matter.get(key) is not None for key in (*ROLES, "derive", "layer", "layers", "forward")):
        return card, ()
    try:
        prose = lettered_prose(card)
    except DeriveError:
        return card, ()
    layers = _in_order([*_brought(prose)]) if in_english(prose.text) else []
    places = [*_places(prose, layers)] if any(layer.trained for layer in layers) else []
    letters = {name for _, names in places for name in names}
    trained = {name for layer in layers for name in layer.trained}
    if not places or letters == trained and any(layer.weights for layer in layers):
        return card, ()  # the parameter messages
    question = card.question
    for (start, stop), names in sorted(places, reverse=True):
        first, last = prose.plain.origin[start], prose.plain.origin[stop - 1] + 1
        question = question[:first] + _written(names) + "\n" * question.count("\n", first, last) + question[last:]
    at = sum(map(len, lines_of(card.text)[: card.question_line - 1]))
    called = tuple(Called(_written(names), prose.plain.quote(*place), prose.said(*place)) for place, names in places)
    return replace(card, text=card.text[:at] + question + card.text[at + len(card.question) :]), called


def _written(names: Sequence[str]) -> str:
    return " and ".join(f"${name}$" for name in names)


def as_on_card(readings: Sequence[str], called: Sequence[Called]) -> tuple[str, ...]:
    """How a card was read, with the nouns where letters are quoted that stand for them, and which letters these are."""
    found = [*readings]
    for n, reading in enumerate(found):
        for one in called if reading.startswith("asked for the derivative by") else ():
            found[n] = found[n].replace(f" {one.written}", f" {one.words}", 1)
    return (*found, *(f"asked for by {one.written} ({one.said})" for one in called))


def _brought(prose: Prose) -> Iterator[Brought]:
    """Of each formula that computes a letter, in their order."""
    known: set[str] = set()
    for part in (part for f in prose.formulas for part in trees.statements(f.tree or ())):
        head, *values = trees.sides(part) if len(trees.sides(part)) > 1 else ((), ())
        if len(head) != 1 or not tr.is_token(tr.base_of(head[0]), "NAME"):
            continue
        own = [name for value in values for name in _letters(value)]
        new = [name for name in dict.fromkeys(own) if name not in known]
        of = {kind: tuple(n for n in new if _base(n) in kind) for kind in (_WEIGHTS, _BIASES)}
        others = tuple(n for n in dict.fromkeys(own) if n not in {*of[_WEIGHTS], *of[_BIASES]})
        known |= {*own, *_letters(head)}
        yield Brought(next(_letters(head)), of[_WEIGHTS], of[_BIASES], others)


def _letters(items: tr.Items) -> Iterator[str]:
    """The letters of a formula with their labels, W_1 of W_1 x and W of W_{kj} x_j, without what stands in scripts."""
    for item in map(tr.normal, items):
        base = tr.base_of(item)
        if tr.is_token(base, "NAME"):
            yield labelled(item) or latex_of(base.text)
        else:
            inner = tr.below(item.base if isinstance(item, tr.Scripted) else item)
            yield from (name for run in inner for name in _letters(run))


def _base(name: str) -> str:
    return re.split(r"[_^]", name.lstrip("\\"), maxsplit=1)[0]


def _in_order(layers: Sequence[Brought]) -> list[Brought]:
    """A formula behind those whose letters it uses."""
    uses = {layer.head: {*layer.others} - {layer.head} for layer in layers}
    found: list[Brought] = []
    while rest := [layer for layer in layers if layer not in found]:
        known = {layer.head for layer in rest}
        found.append(next((layer for layer in rest if not uses[layer.head] & known), rest[0]))
    return found


def _is_doubtful(layers: Sequence[Brought]) -> bool:
    """A letter beside weights is called neither as weights nor as inputs are, or two layers stand in one formula."""
    computed = {layer.head for layer in layers}
    others = (n for layer in layers if layer.weights for n in layer.others if n not in computed and len(_base(n)) == 1)
    labels = ({label for name in layer.weights if (label := name[len(_base(name)) :].strip("_^{()}")).isdigit()}
              for layer in layers)
    return any(_base(n) not in _FED | _WEIGHTS | _BIASES for n in others) or any(len(of) > 1 for of in labels)


def _places(prose: Prose, layers: Sequence[Brought]) -> Iterator[tuple[tuple[int, int], tuple[str, ...]]]:
    """Where nouns stand in what is asked, with their articles, and the letters that they call."""
    asked = [noun for noun in nouns(prose) if requested(prose.text, noun.start) and not _is_known(prose, noun)]
    biases = all(prose.text.startswith("bias", noun.start) for noun in asked)
    if not all(_is_ours(prose, noun) for noun in asked) or _is_doubtful(layers) and not biases:
        return
    deep, text = [layer for layer in layers if (layer.trained if biases else layer.weights)], prose.text
    for noun in asked if deep else ():
        listed = [n for n in asked if n is noun or _joins(text, min(n.stop, noun.stop), max(n.start, noun.start))]
        which = [at for n in (noun, *listed[::-1]) if (at := _which(prose, n, deep)) is not None]
        found = _called(prose, noun, which[:1], deep)
        articles = _ARTICLES.search(text, 0, noun.start)
        yield from [((noun.start if articles is None else articles.start(), noun.stop), found)] if found else ()


def _is_known(prose: Prose, noun: OfWhat) -> bool:
    """A letter has this noun, or it is what is differentiated."""
    words = prose.text[noun.start : noun.stop]
    return letter_of_noun(prose, noun) is not None or not noun.by and ends(words, "of_what.of")


def _is_ours(prose: Prose, noun: OfWhat) -> bool:
    """It is a noun of letters of layers and nothing else, and nothing more is said of it: «when they are shared»."""
    words = prose.text[noun.start : noun.stop]
    own = only(words, 0, len(words), "by_noun", "naming.article", "rank.matrix", "rank.vector")
    ends_ = prose.text[noun.stop :].lstrip(" )")[:1] in (*".,;:?!", BREAK, "")
    return own and bool(named(words, "by_noun.noun")) and (ends_ or begins(
        prose.text, noun.stop, "naming.and", "slot.answer_in", "upstream.given", "by_noun.behind"))


def _joins(text: str, start: int, stop: int) -> bool:
    return only(text.replace(",", " "), start, stop, "naming.and", "naming.article")


def _called(prose: Prose, noun: OfWhat, which: Sequence[int], deep: Sequence[Brought]) -> tuple[str, ...]:
    """The letters of a noun, of the layer where the words say ``which``."""
    words = prose.text[noun.start : noun.stop]
    said = next(words[s.start : s.stop] for s in named(words, "by_noun.noun"))
    if said.startswith("input"):
        known = {name for layer in deep for name in layer.trained}
        found = tuple(n for n in deep[which[0] if which else 0].others if n not in known and _base(n) in _FED)
        return found if len(found) == 1 else ()
    beside = [layer for layer in deep if _is_beside(prose, noun, layer)]
    found = tuple(name for layer in ([deep[at] for at in which] or beside[-1:] or deep)
                  for name in {"w": layer.weights, "b": layer.biases, "p": layer.trained}[said[0]])
    if not found or len(found) > 1 and not named(words, "by_noun.several"):
        raise _unclear(prose, noun, found)
    return found


def _which(prose: Prose, noun: OfWhat, deep: Sequence[Brought]) -> int | None:
    """The layer, where the words say which."""
    words = prose.text[noun.start : noun.stop]
    said = [words[s.start : s.stop].split()[-1] for s in named(words, "by_noun.which", "by_noun.numbered")]
    if not said:
        return None
    places = {**{word: n for row in _PLACES for n, word in enumerate(row)},
              "hidden": 0 if len(deep) == 2 else len(deep)}
    at = places.get(said[0], len(deep) - 1)
    if len(said) > 1 or at >= len(deep) or named(words, "by_noun.unit"):
        raise _unclear(prose, noun, ())
    return at


def _is_beside(prose: Prose, noun: OfWhat, layer: Brought) -> bool:
    """A weight of the layer stands in front of the noun in its list: «$W_1$ and the bias»."""
    gap = next((g for g in reversed(prose.gaps) if g.start < noun.start), None)
    listed = gap is not None and _joins(prose.text, gap.start + 1, noun.start)
    return listed and gap is not None and {*_letters(gap.formula.tree or ())} <= {*layer.weights}


def _unclear(prose: Prose, noun: OfWhat, found: Sequence[str]) -> CardError:
    quoted = prose.plain.quote(noun.start, noun.stop)
    which = " or ".join(f"`{name}`" for name in found)
    may = f"may be {which}" if which else "is no letter of the formulas"
    return CardError(Problem(f"“{quoted}” {may}: write the letters by which to differentiate, as in “with respect to "
                             "$W$”", line=prose.plain.line(noun.start), key="derive"))
