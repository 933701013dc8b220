"""The mark of an answer by the marking guide of its question: what is certain, and what is possible."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from derive.card import Card
from derive.check.answered import Asked, Given, Key, answers, head_of, keys_of
from derive.check.reading.claims import Item
from derive.check.report import Points
from derive.expr import Entry, Rel
from derive.handout.marking import HALF, QUARTER, Marking, marking
from derive.module import Module
from derive.verify.points.point import LOSS

_MOST = 32  # guides that are remembered
_guides: dict[tuple[Module, int | None], Marking] = {}


def _guide(card: Card, module: Module) -> Marking:
    from derive.solve import composed

    key = module, card.points
    if key not in _guides:
        while len(_guides) >= _MOST:
            del _guides[next(iter(_guides))]
        _guides[key] = marking(composed(card, module), card.points)
    return _guides[key]


def points(card: Card, held: Sequence[Item], refuted: Sequence[Item], unread: bool, module: Module,
           told: Module) -> Points:
    """Points for each thing asked that is given or follows; half for what is begun; a range where something is open.

    ``told``: the layer with the letters that the answer defines.

    A mistake on the way costs a quarter of the dearest, once.
    """
    guide = _guide(card, module)
    low = high = Fraction(0)
    wanted: set[Key] = set()
    for share in guide.shares:
        certain = possible = Fraction(0)
        for item in share.items:
            keys = {k for f in item.formulas if isinstance(f.expr, Rel) for k in _keys(f.expr, module)}
            keys |= {("", item.tensor)} if item.tensor else set()
            wanted |= keys
            sure, may = _earned(keys, held, refuted, unread, told)
            certain, possible = certain + sure, possible + may
        low += share.points * certain / len(share.items)
        high += share.points * possible / len(share.items)
    lost = sum(head_of(item) not in wanted for item in refuted) * max(
        HALF, QUARTER * max(share.points for share in guide.shares))
    return Points(_halves(max(Fraction(0), low - lost)), _halves(max(Fraction(0), high - lost)), guide.points)


def _keys(formula: Rel, module: Module) -> set[Key]:
    head = formula.terms[0]
    if isinstance(head, Entry) and not head.tensor.startswith("delta_"):
        return {("", head.tensor)}
    found = {*keys_of(head)}
    return found | {(module.output if of == LOSS else LOSS, wrt) for of, wrt in found if of in (LOSS, module.output)}


def _earned(keys: set[Key], held: Sequence[Item], refuted: Sequence[Item], unread: bool,
            module: Module) -> tuple[Fraction, Fraction]:
    forward = {name for of, name in keys if not of}
    if forward:
        said = {i.node.terms[0].tensor for i in held if isinstance(i.node, Rel) and isinstance(i.node.terms[0], Entry)}
        done = Fraction(len(forward & said), len(forward))
        return done, Fraction(1) if unread else done
    one = Asked(Entry("", ()), Entry("", ()), tuple(keys))
    found = answers([one], held, module)[one]
    wrong = any(head_of(i) in keys for i in refuted)
    begun = any(head_of(i) in keys for i in held)
    if found in (Given.GIVEN, Given.IMPLIED) and not wrong:
        return Fraction(1), Fraction(1)
    sure = HALF if wrong and (begun or found is Given.GIVEN) else Fraction(0)
    return sure, Fraction(1) if unread and not wrong else sure


def _halves(points: Fraction) -> Fraction:
    return Fraction(round(points * 2), 2)
