"""The messages and derivatives that the words of a question name, and the letters beside them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from derive.question.requests.verbs import requested
from derive.question.words.lexicon import Span, named, only
from derive.question.words.prose import GAP
from derive.records import dataclass

_NEAR = 60  # characters between a derivative and what is trained
ORDER = ("jacobian", "vjp", "forward", "parameters")
_OF_KIND = {"backward": "vjp", "forward": "forward", "parameter": "parameters"}


@dataclass(frozen=True)
class Item:
    """A kind of message or derivative that the words name, and where."""

    kind: str
    start: int
    stop: int
    by_letters: bool  # a noun that the letters behind it say more of: «gradient», «derivative»
    at: int = -1  # what it is of, where that is in a list of letters: «the gradients by $x$ and the *weights*»


# «for the widths, ∂y/∂β»
_FOR_WHAT = re.compile(r" for (?:the|its|all|each|every)(?: (?!and\b)[\w-]+){1,3}[,:] ?")
_NONE = re.compile(r"\bno (?:\w+ )?\Z")


class Spoken:
    """The request of a question's words, as items and as the letters beside them."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, *kinds: str) -> tuple[Span, ...]:
        """The words of these kinds, but for «there is no backward message»."""
        found = named(self.text, *(f"request.{kind}" for kind in kinds))
        return tuple(span for span in found if not _NONE.search(self.text[max(0, span.start - 30) : span.start]))

    def _starts(self, kind: str) -> dict[int, Span]:
        return {span.start: span for span in self.of(kind)}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Every message and derivative that the words name, in their order."""
        found = [Item("jacobian", s.start, s.stop, self.text.startswith("d", s.start)) for s in self.of("jacobian")]
        found += [Item("vjp", s.start, s.stop, s.of("request.gradient")) for s in self.of("vjp", "back", "gradient")
                  if s.start not in self._of_trained_alone]
        found += self._messages()
        found += [Item("parameters", a.start, b.stop, b.of("request.gradient", "request.jacobian"), b.start)
                  for a, b in self._of_trained()]
        return tuple(sorted(found, key=lambda item: (item.start, item.stop)))

    def _messages(self) -> Iterator[Item]:
        """«the forward, backward and parameter messages»: each adjective of the list has the noun; else a bare noun."""
        nouns = self.of("message", "pass", "everything")
        starts = [noun.start for noun in nouns]
        taken = set()
        for adjective in self.of(*_OF_KIND):
            noun = next((n for n in nouns[bisect_left(starts, adjective.stop) :] if only(
                self.text, adjective.stop, n.start, "request.backward", "request.forward", "request.parameter",
                "between.and", "between.article")), None)
            kind = _OF_KIND[adjective.concept.partition(".")[2]]
            if noun is not None and not (noun.of("request.pass") and kind == "parameters"):
                taken.add(noun)
                if kind == "vjp" or requested(self.text, adjective.start):
                    yield Item(kind, adjective.start, noun.stop, False)
            elif kind != "parameters" and requested(self.text, adjective.start) and self._ends(adjective.stop):
                yield Item(kind, adjective.start, adjective.stop, False)  # «derive forward and backward.»
        yield from (Item("vjp", n.start, n.stop, False) for n in nouns if n not in taken and not n.of("request.pass"))

    def _ends(self, at: int) -> bool:
        words = self.text[at:].split(maxsplit=1)
        return not words or words[0][0] in ".,;:¶" or bool(named(words[0], "between.and"))

    def _of_trained(self) -> Iterator[tuple[Span, Span]]:
        """«the gradient of … the weights», «the weight update»."""
        nouns, messages = self.of("gradient", "jacobian", "message"), self._starts("message")
        stops = [noun.stop for noun in nouns]
        adjectives = {t.start for t in self.of("parameter") if t.stop + 1 in messages and self.text[t.stop] == " "}
        for trained in (t for t in self.of("trained", "filter") if t.start not in adjectives):
            far = _NEAR if trained.of("request.trained") else 20
            for noun in nouns[bisect_left(stops, trained.start - far) : bisect_left(stops, trained.start)]:
                if not set(self.text[noun.stop : trained.start]) & set(".?!;¶"):
                    yield noun, trained
        trained_by_stop = {t.stop: t for t in reversed(self.of("trained"))}
        for update in self.of("update", "gradient"):
            before = trained_by_stop.get(update.start - 1)
            if before is not None and self.text[before.stop] == " ":
                yield before, update

    @cached_property
    def _of_trained_alone(self) -> frozenset[int]:
        """Where the nouns begin that are of the parameters and of nothing else: «the gradient by all weights.»"""
        return frozenset(noun.start for noun, trained in self._of_trained() if noun.start < trained.start and only(
            self.text, noun.stop, trained.start, "between", "wrt") and self._ends_list(trained.stop))

    def _ends_list(self, at: int) -> bool:
        """Nothing but further parameters goes on behind this place: «the weight matrix and the biases.»"""
        stop = next((n for n in range(at, len(self.text)) if self.text[n] in ".;:?!¶"), len(self.text))
        return only(self.text, at, stop, "request.trained", "naming.and", "naming.article", "between.pause",
                    "rank.matrix", "rank.vector")

    @cached_property
    def whole(self) -> dict[str, bool]:
        """The roles of which all messages are asked for, «for its weights», and whether no letters follow."""
        backward, parameter = self._starts("backward"), self._starts("parameter")
        places = [("inputs", i) for i in self.items if i.kind == "vjp" and self.text[i.start : i.stop] != "backward"
                  and i.start in backward]
        places += [("parameters", i) for i in self.items if i.kind == "parameters" and i.start in parameter]
        places += [("parameters", Item("parameters", noun.start, trained.stop, False))
                   for noun, trained in self._of_trained() if not trained.of("request.filter") and only(
                       self.text.replace("∎", " "), noun.stop, trained.start, "between", "wrt")]
        found: dict[str, bool] = {}
        for role, item in places:
            spelt_out = role == "inputs" and self.text.startswith(f" {GAP}", item.stop)  # «the backward messages ∂L/∂h»
            if requested(self.text, item.start) and not spelt_out:
                found[role] = found.get(role, False) or not self._letters_follow(item.stop)
        return found

    def _letters_follow(self, at: int) -> bool:
        """«… of this layer, with respect to $W$», «… to the descriptor $x$»."""
        gap = self.text.find("∎", at)
        to = next((s.stop for s in named(self.text, "between.to") if s.start == at + 1), gap)
        noun = self.text[to:gap]
        far = len(noun.split()) > 3 or named(noun, "naming.and", "between.of", "request") or set(noun) & set(".;:?!¶")
        apart = _FOR_WHAT.fullmatch(self.text, at, gap) and not named(self.text[at:gap], "part", "request.layer")
        return gap >= 0 and (only(self.text, at, gap, "between.pause", "between.of", "wrt", "between.layer") or (
            to < gap and not far) or bool(apart))

    @cached_property
    def everything(self) -> Span | None:
        """«all messages», also «the messages of this layer»."""
        for span in self.of("everything"):
            of = next((s for s in named(self.text, "between.of") if self.text[span.stop : s.start] == " "), None)
            if of is None or any(of.stop <= w.start and only(self.text, of.stop, w.start, "between.article", "part")
                                 for w in self.of("layer")):
                return span
        return None
