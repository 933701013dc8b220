"""Exceptions: who is trained but one, what is asked but for one; the other letters are not meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from derive.card import Card
from derive.errors import CardError, Problem
from derive.module import ROLES
from derive.notation.rules.kinds import equates
from derive.question.requests.verbs import requested
from derive.question.words.lexicon import named, only
from derive.question.words.prose import GAP, Prose
from derive.specify.roles import Role

_HELD = ("role.fixed", "role.constant")
_NEAR = 25  # characters between an exception and what is excepted
Place = tuple[int, int]


def refuse_turned(prose: Prose, card: Card) -> None:
    """Raise :class:`CardError` where words say of others than the letters beside them who is trained.

    «All but $W$ are parameters», «neither $W$ nor $x$ is trained».
    """
    _refuse(prose, _turned(prose), card)


def refuse_held(prose: Prose, roles: Mapping[str, Role], card: Card) -> None:
    """Raise :class:`CardError` for «the weights are fixed» where letters are trained: W of the weights $W$, too?"""
    _refuse(prose, _held(prose) if any(role.role == "parameters" for role in roles.values()) else (), card)


def _refuse(prose: Prose, places: Iterable[Place], card: Card) -> None:
    if any(card.front_matter.get(role) is not None for role in ROLES):
        return  # it says who is who
    for start, stop in places:
        raise CardError(Problem(f"“{prose.plain.quote(start, stop)}” does not say who of the letters is: list who is "
                                "trained under `parameters`, and the others under `constants` or `inputs`, in the "
                                "front matter", line=prose.plain.line(start), key="parameters"))


def _turned(prose: Prose) -> Iterator[Place]:
    """«all but $W$ are parameters», «only $W$ is learned», «$b$, the latter being constant»"""
    for span in named(prose.text, "excepted.roles"):
        rest = prose.text[span.stop : prose.sentence(span.start)[1]]
        verb = next(iter(named(rest, "naming.is")), None)
        if verb is not None and named(rest[verb.stop :], *_HELD, "role.trained", "role.parameter"):
            yield span.start, span.stop + verb.stop


def _held(prose: Prose) -> Iterator[Place]:
    """«the weights are fixed», «frozen weights», where no letter stands beside"""
    fixed = named(prose.text, *_HELD)
    verbs = named(prose.text, "excepted.held")
    for noun in named(prose.text, "request.trained"):
        for word in fixed:
            said = any(prose.text[noun.stop : v.start] == " " and only(prose.text, v.stop, word.start, "naming.also")
                       for v in verbs if v.stop < word.start)
            if said or (word.of("role.fixed") and prose.text[word.stop : noun.start] == " "
                        and prose.text[noun.stop : noun.stop + 2] != f" {GAP}"):
                yield min(noun.start, word.start), max(noun.stop, word.stop)


def excepted(prose: Prose) -> Iterator[Place]:
    """«the gradient with respect to all parameters except $b$»: what is named is what is not asked."""
    gaps = {gap.start: gap.formula for gap in prose.gaps}
    for span in named(prose.text, "excepted.asked"):
        stop = min(prose.sentence(span.start)[1], span.stop + _NEAR)
        start = prose.sentence(span.start)[0]
        at = prose.text.find(GAP, span.stop, stop)
        letter = at in gaps and not equates(gaps[at])
        what = named(prose.text[start : span.start], "derivative", "message")
        if what and requested(prose.text, span.start) and (
                letter or named(prose.text[span.stop : stop], "letter", "role", "derivative")):
            yield span.start, span.stop
