"""What words say of layers that they alone name, and a chain of the plain layers does not have: another order, a part
that is denied or of the next exercise, a bias of a sigmoid, the logarithm of a loss."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from derive.layers import LAYERS
from derive.layers.catalogue import Layer
from derive.question.parts.chain import Chain
from derive.question.parts.recognised import OWN, SLOPED, Part
from derive.question.requests.verbs import discussed, requested
from derive.question.words.lexicon import begins, ends, named, only

Place = tuple[int, int]
_OF_UNITS = ("own.bias", "own.slope", "own.gain", "own.temperature", "own.threshold", "own.smoothing")
_OPTIONAL = frozenset(what for s in LAYERS if isinstance(s, Layer) for what, given in s.options.items()
                      if given is False and any(letter.what == what for letter in s.letters.values()))
_CLAUSE = re.compile(r"[^,;:.¶(]*")
_NAMELESS = re.compile(r"\b(?:(?:(?:a|one|another) )?layer|error)(?= *(?:[,;.¶]|(?:and|with|then|followed)\b))")
_COMPARED = ("letter.preactivation", "letter.input")


def doubtful(chain: Chain) -> Iterator[Place]:
    """Every place of the question that says of the parts what they do not have."""
    parts = sorted(chain.parts, key=lambda p: p.start)
    for first, second in itertools.pairwise(parts):
        yield from _misplaced(chain, first, second)
    yield from _again(chain)
    for part in parts:
        yield from (*_denied(chain, part), *_fronted(chain, part), *_compared(chain, part))
    yield from (*_later(chain, parts), *_of_none(chain, parts), *_twisted(chain, parts), *_around(chain))
    yield from _nameless(chain, parts)


def _misplaced(chain: Chain, first: Part, second: Part) -> Iterator[Place]:
    """«a linear layer between a sigmoid and a tanh», «A ReLU follows. … the linear layer in front of it»."""
    text, (start, stop) = chain.prose.text, chain.prose.sentence(second.start)
    among = () if first.loss or second.loss else (
        *named(text[max(start, first.end) : second.start], "joined.among"),
        *named(text[start : max(start, first.start)], "joined.among"))
    behind = text[second.end : stop]
    ahead = [s for s in named(behind, "join.ahead") if only(behind, 0, s.start, "small", "naming.is")
             and named(behind[s.stop : s.stop + 10], "joined.meant")]
    inputs = second.name != "linear" and not second.loss and begins(text, second.end, "joined.taken")  # «ReLU inputs»
    if among or ahead or inputs:
        yield first.start, second.end


def _nameless(chain: Chain, parts: Sequence[Part]) -> Iterator[Place]:
    """«a network: layer, tanh, error»: an item of the list that does not say which."""
    text, joins = chain.prose.text, ("join.list", "join.through", "join.then", "naming.and")
    for start, stop in sorted({chain.prose.sentence(part.start) for part in parts}):
        for item in _NAMELESS.finditer(text, start, stop):
            before = text[start : item.start()].rstrip()
            if (before.endswith((",", ":", ";")) or ends(before, *joins)) and not any(
                    part.start < item.end() and item.start() < part.end for part in parts):
                yield item.span()


def _again(chain: Chain) -> Iterator[Place]:
    """«…, then the tanh again», «…, and the same linear layer»: a second one."""
    text = chain.prose.text
    for first, regions in chain.regions.items():
        for start, stop in regions:
            same = chain.prose.sentence(start) == chain.prose.sentence(first) and ends(text[:start], "joined.same")
            more = named(text[stop : stop + 30], "joined.once_more")
            if same or any(only(text, stop, stop + s.start, "head") for s in more):
                yield start, stop


def _denied(chain: Chain, part: Part) -> Iterator[Place]:
    """«A linear layer is not followed by a ReLU»."""
    text = chain.prose.text
    start = max(chain.prose.sentence(part.start)[0], *(p.end for p in chain.parts if p.end <= part.start), 0)
    clause = max(start, *(text.rfind(sign, start, part.start) for sign in ",;:"))
    for word in named(text[clause : part.start], "not.verb"):
        yield clause + word.start, part.end


def _fronted(chain: Chain, part: Part) -> Iterator[Place]:
    """«the log of the squared error»: words in front of a part's name that make another of it."""
    start, _ = chain.prose.sentence(part.start)
    before = chain.prose.text[start : part.start]
    derived = not (part.loss or requested(chain.prose.text, part.start)) and ends(before, "derivative", over=("small",))
    if derived or ends(before, "twist.front", over=("small",)):
        yield part.start, part.end


def _compared(chain: Chain, part: Part) -> Iterator[Place]:
    """«the squared error between its output and its input»."""
    text = chain.prose.text
    clause = next(_CLAUSE.finditer(text, part.end))[0]
    before = [p.name for p in chain.parts if p.start < part.start]
    for noun in named(clause.partition("∎")[0], *_COMPARED, "twist.front") if part.loss else ():
        if not noun.of("letter.preactivation") or before[-1:] != ["linear"]:
            yield part.start, part.end + noun.stop


def _later(chain: Chain, parts: list[Part]) -> Iterator[Place]:
    """«Then do the same for a sigmoid»: a part that is first named behind the request, and not joined."""
    text = chain.prose.text
    asked = [s.stop for s in named(text, "ask.verb")
             if named(text[slice(*chain.prose.sentence(s.start))], "derivative")]
    for part in parts[1:]:
        start, _ = chain.prose.sentence(part.start)
        joined = any(not s.of("join.then") for s in named(text[start : part.start], "join"))
        if not (part.loss or joined) and parts[0].start < start and any(at <= part.start for at in asked):
            yield start, part.end


def _of_none(chain: Chain, parts: list[Part]) -> Iterator[Place]:
    """«a tanh layer with a bias»: none of the parts has it, and no formula in front of them."""
    had = {what for p in parts for what in OWN.get(p.name, ())}
    had |= {"slope"} if any(p.name in SLOPED for p in parts) else set()
    had |= {"bias", "weights"} if any(p.name == "linear" for p in parts) else set()
    here = {chain.prose.sentence(p.start) for p in parts}
    text = chain.prose.text
    words = [s for s in named(text, *_OF_UNITS) if chain.prose.sentence(s.start) in here]
    fine = {s.start for s in named(text, "own") if s.concept.partition(".")[2] in had}
    for word in words:
        if word.start not in fine and not ends(text[: word.start], "not.no", most=1):
            yield word.start, word.stop
    yield from ((p.start, p.end) for p in parts for what in _OPTIONAL  # «with label smoothing», by how much?
                if p.options.get(what) == "yes" and what not in p.letters)


def _twisted(chain: Chain, parts: list[Part]) -> Iterator[Place]:
    """«at test time», «whose inputs are negated»"""
    text, here = chain.prose.text, {chain.prose.sentence(p.start) for p in parts}
    own = chain.understood if {p.name for p in parts} & {"dropout", "convolution"} else ()
    for span in named(text, "twist.of", "operation.form"):
        if any(a <= span.start < b for a, b in own):
            continue  # «so that nothing has to be changed at test time», «a transposed convolution»
        apart = requested(text, span.start) and chain.prose.sentence(span.start) not in here
        if not (apart or discussed(text, span.start) or any(p.start <= span.start < p.end for p in parts)):
            yield span.start, span.stop


def _around(chain: Chain) -> Iterator[Place]:
    """«a skip connection around the ReLU only»: other parts than all those in front of it."""
    text = chain.prose.text
    at = next((n for n, p in enumerate(chain.parts) if p.name == "residual"), 0)
    whole = {p.start for p in chain.parts[:at]}
    for start, stop in ((p.start, p.end) for p in chain.found if p.name == "residual" and at):
        clause = next(_CLAUSE.finditer(text, stop))[0]
        joins = (s.start for s in named(clause, "join.through", "join.then") if s.of("join.then") or ends(
            clause[: s.start], "naming.is"))
        end = stop + min(joins, default=len(clause))
        said = {p.start for p in chain.parts for a, _ in ((p.start, 0), *chain.regions.get(p.start, ()))
                if stop <= a < end and p.start in {q.start for q in chain.found}}
        one = len(whole) > 1 and named(text[stop:end], "joined.one")
        if said and said != whole or one and not said:
            yield start, end
