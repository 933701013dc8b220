"""In what order the parts that words name stand: «a sigmoid behind a linear layer», «a skip connection around …»."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from derive.errors import CardError, Problem
from derive.question.parts.recognised import Part
from derive.question.words.lexicon import named, only
from derive.question.words.prose import Prose

_OF = re.compile(r"\s+of (?:an? |the )?$")  # «the softmax of a linear layer»
_TO_LETTER = re.compile(r"\s+(?:the )?(?:\w+ )?∎")  # «applied to $z$»
ENDS_THERE = re.compile(r"\s*(?:[,.;:¶]|$)")  # «a softmax follows, …»
_GOES_ON = re.compile(r"[,.;:¶]|\b(?:it|its|then|finally)\b")
Unclear = Callable[[Part, str], CardError]


def in_order(parts: Sequence[Part], prose: Prose, unclear: Unclear) -> list[Part]:
    """The parts as one feeds the next, where they are named in another order.

    Raises an error where the words leave open what a part that is named behind two others follows.
    """
    found: list[Part] = [*parts[:1]]
    turned = False
    for first, second in itertools.pairwise(parts):
        words = prose.text[first.end : second.start]
        turn = reversed_by(first, second, prose)
        if turn is None:
            quoted = prose.plain.quote(first.start, second.end)
            raise CardError(Problem(f"“{quoted}”: which comes first? Write e.g. “a linear layer followed by …”, or the "
                                    "forward formulas", line=prose.plain.line(first.start)))
        if turn:
            found.insert(found.index(first), second)
            turned = True
            continue
        if turned and not (second.loss or _GOES_ON.search(words) or named(words, "join.ahead")):
            raise unclear(second, f": what goes into it, {_quoted(found, prose)}? Write the layers in their order, "
                          "or the forward formulas")
        found.append(second)
    return [*_around(found, prose)]


def reversed_by(first: Part, second: Part, prose: Prose) -> bool | None:
    """«a ReLU is applied to the output of a linear layer»: what is named second comes first; None where words that say
    so do not stand right between them."""
    start, _ = prose.sentence(second.start)
    words = prose.text[max(start, first.end) : second.start]
    lead = prose.text[start : first.start] if start <= first.start else ""
    here = [s for s in named(words, "join.back", "join.ahead", "join.source")
            if not _TO_LETTER.match(words, s.stop) and not ENDS_THERE.match(prose.text, max(start, first.end) + s.stop)]
    if leads(lead, "join.ahead"):
        return None if here else True  # «before the pooling stands a ReLU»
    if not here:
        return start <= first.end and _OF.fullmatch(words) is not None
    right = start <= first.end and only(words, here[-1].stop, len(words), "small")
    if not right or len(here) > 1 or here[0].of("join.source") and not named(lead, "letter.input"):
        return None
    return not here[0].of("join.ahead")  # «the input of the linear layer is the output of a tanh»


def leads(lead: str, concept: str) -> bool:
    """«On top of the …»: the words in front of a part are such a phrase and small ones."""
    found = named(lead, concept)
    return bool(found) and only(lead, found[-1].stop, len(lead), "small") and only(lead, 0, found[0].start, "small")


def _quoted(parts: Sequence[Part], prose: Prose) -> str:
    return " or ".join(f"“{prose.plain.quote(p.start, p.end)}”" for p in parts[-2:])


def _around(parts: Sequence[Part], prose: Prose) -> Iterator[Part]:
    """A residual connection behind the parts of its sentence around which it goes."""
    waiting: Part | None = None
    for n, part in enumerate(parts):
        if part.name == "residual" and not n:
            waiting = part
            continue
        if waiting and (part.loss or prose.sentence(part.start) != prose.sentence(waiting.start)):
            yield replace(waiting, start=part.start, end=part.start)
            waiting = None
        yield part
    if waiting:
        yield waiting
