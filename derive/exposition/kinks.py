"""Where the layer has no derivative, what the formulas take there, and why that is allowed."""

from __future__ import annotations

from derive.calculus.extremum import extremisers
from derive.calculus.kinks import Kink, norm
from derive.calculus.kinks import kinks as kinks_of
from derive.exposition import windows
from derive.exposition.builder import Builder
from derive.exposition.subject import Subject
from derive.expr import Cases, Expr, Extremum, Fn, tuple_of


def found(subject: Subject) -> list[Kink]:
    """The boundaries in the definitions that the targets are computed through."""
    return [k for t in _used(subject) for k in kinks_of(t, subject.module)]


def _used(subject: Subject) -> list[str]:
    return list(dict.fromkeys(t for target in subject.targets for t in subject.path(target)))


def remark(b: Builder, subject: Subject) -> None:
    """In the answer: there are places without a derivative."""
    places = (r for k in found(subject) for r in (*(j.boundary for j in k.jumps), *k.broken))
    boundaries = list(dict.fromkeys(map(b.m, places)))
    tied = [b.m(tuple_of(e.stars)) for e in extremisers(subject.module)] if subject.targets else []
    b.prose("answer_kinks", boundaries=boundaries, tied=tied)
    tip = norm(subject.module.output, subject.module) if subject.targets else None
    if tip is not None:
        b.prose("answer_tip", tip=b.m(tip), windowed=bool(subject.module.fields))


def kinks(b: Builder, subject: Subject) -> None:
    """Each boundary, the slopes that meet there and the one that is taken; then ties of a maximum over an index."""
    boundaries = found(subject)
    tied = extremisers(subject.module) if subject.targets else ()
    tips = [tip for tensor in _used(subject) if (tip := norm(tensor, subject.module)) is not None]
    if not boundaries and not tied and not tips:
        return
    b.heading("heading_kinks")
    for kink in boundaries:
        _kink(b, kink)
    if any(k.jumps for k in boundaries):
        b.prose("clarke")
    for tip in tips:
        b.prose("tip", of=b.m(tip.terms[0]), tip=b.m(tip))
    for extremiser in tied:
        b.prose("ties", op=extremiser.arg.op, stars=b.m(tuple_of(extremiser.stars)), rule=subject.module.tie_rule)
    windows.ties(b, subject)


def _kink(b: Builder, kink: Kink) -> None:
    node = kink.of if isinstance(kink.node, Cases) else kink.node
    b.prose("kink", node=b.m(node), kind=_kind(kink.node), boundaries=[b.m(r) for r in kink.boundaries],
            broken=[b.m(r) for r in kink.broken],
            smooth=[b.m(r) for r in kink.smooth])
    for jump in kink.jumps:
        b.prose("jump", node=b.m(node), boundary=b.m(jump.boundary), wrt=b.m(jump.wrt),
                slopes=[b.m(s) for s in jump.slopes], chosen=b.m(jump.chosen))
    if kink.meaning:
        b.prose("meaning")
        for statement in kink.meaning:
            b.math("comparison", statement)


def _kind(node: Expr) -> str:
    if isinstance(node, Extremum):
        return "pair" if len(node.args) == 2 else "terms"
    return "abs" if isinstance(node, Fn) else "cases"
