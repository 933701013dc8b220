"""Where the layer has no derivative, what the formulas take there, and why that is allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from derive.calculus.extremum import extremisers
from derive.calculus.kinks import Jump, Kink, norm
from derive.calculus.kinks import kinks as kinks_of
from derive.calculus.one_window import windowed
from derive.exposition import windows
from derive.exposition.builder import Builder
from derive.exposition.subject import Subject
from derive.expr import Bracket, Cases, Entry, Expr, Extremum, Fn, Rel, tuple_of


def found(subject: Subject) -> list[Kink]:
    """The boundaries in the definitions that the targets are computed through, by the letters on the way to them."""
    used = _used(subject)
    letters = {*used, *(target.wrt for target in subject.targets)}
    return [_by(kink, letters) for t in used for kink in kinks_of(t, subject.module)]


def _by(kink: Kink, letters: set[str]) -> Kink:
    """The kink without the jumps by other letters, where some by these are left on the boundary."""
    own = {(j.boundary, j.of) for j in kink.jumps if j.wrt.tensor in letters}
    return replace(kink, jumps=tuple(
        j for j in kink.jumps if j.wrt.tensor in letters or (j.boundary, j.of) not in own))


def _used(subject: Subject) -> list[str]:
    return list(dict.fromkeys(t for target in subject.targets for t in subject.path(target)))


def remark(b: Builder, subject: Subject) -> None:
    """In the answer: where a definition has no derivative, and what the formulas give there."""
    nodes = found(subject)
    jumps = _by_place(b, [j for k in nodes for j in k.jumps])
    broken = [(b.m(k.of), b.m(r)) for k in nodes for r in k.broken]
    tied = [b.m(tuple_of(e.stars)) for e in extremisers(subject.module)] if subject.targets else []
    # through other definitions, and of several outputs that are summed, what the rule selects may be none of these
    alone = subject.is_window or (subject.is_scalar and len(subject.module.equations) == 1)
    b.prose("answer_kinks", jumps=[j for j in jumps if j.between], tied=tied, alone=alone, rule=subject.module.tie_rule)
    b.prose("answer_off", jumps=[j for j in jumps if j.between is False], broken=list(dict.fromkeys(broken)),
            untold=list(dict.fromkeys((b.m(k.of), b.m(r)) for k in nodes for r in k.untold)),
            missed=[_shown(b, j) for k in nodes for j in k.missed])
    tip = norm(subject.module.output, subject.module) if subject.targets else None
    if tip is not None:
        b.prose("answer_tip", tip=b.m(tip), windowed=bool(subject.module.fields))


class _Place(NamedTuple):
    """A boundary, as a sentence says it: of what, by which letters, and where the slopes agree after all."""

    boundary: str
    of: str
    wrt: tuple[str, ...]
    between: bool | None
    unless: tuple[str, ...]


def _by_place(b: Builder, jumps: list[Jump]) -> list[_Place]:
    """The jumps of one thing on one boundary as one."""
    groups: dict[tuple[Rel, Expr, bool | None, tuple[Rel, ...]], list[Entry]] = {}
    for j in jumps:
        wrts = groups.setdefault((j.boundary, j.of, j.between, j.equal), [])
        wrts += [] if j.wrt in wrts else [j.wrt]
    return [_Place(b.m(place), b.m(of), tuple(map(b.m, wrts)), between, tuple(map(b.m, equal)))
            for (place, of, between, equal), wrts in groups.items()]


def _shown(b: Builder, jump: Jump) -> dict[str, Any]:
    return {"of": b.m(jump.of), "boundary": b.m(jump.boundary), "wrt": b.m(jump.wrt),
            "slopes": [b.m(s) for s in jump.slopes], "chosen": b.m(jump.chosen), "between": jump.between}


def kinks(b: Builder, subject: Subject) -> None:
    """Each boundary, the slopes that meet there and the one that is taken; then ties of a maximum over an index."""
    boundaries = found(subject)
    apart = {e.arg for w in windowed(subject.module) for e in extremisers(w.layer)}  # told by one window
    tied = [e for e in extremisers(subject.module) if e.arg not in apart] if subject.targets else []
    tips = [tip for tensor in _used(subject) if (tip := norm(tensor, subject.module)) is not None]
    if not boundaries and not tied and not tips:
        return
    b.heading("heading_kinks")
    said: list[str] = []
    for kink in boundaries:
        said += _kink(b, kink)
        if kink.meaning:
            b.text(" ".join((*said, b.say("meaning"))))
            said = []
            for statement in kink.meaning:
                b.math("comparison", statement)
    b.text(" ".join((*said, b.say("clarke")) if any(j.between for k in boundaries for j in k.jumps) else said))
    for tip in tips:
        b.prose("tip", of=b.m(tip.terms[0]), tip=b.m(tip))
    for extremiser in tied:
        b.prose("ties", op=extremiser.arg.op, stars=b.m(tuple_of(extremiser.stars)), rule=subject.module.tie_rule)
    if not subject.is_window:
        windows.ties(b, subject)


def _kink(b: Builder, kink: Kink) -> list[str]:
    """Where it is, and what the slopes do there."""
    node = kink.of if isinstance(kink.node, Cases) else kink.node
    return [b.say("kink", node=b.m(node), kind=_kind(kink.node), boundaries=[b.m(r) for r in kink.boundaries],
                  of=b.m(kink.of), broken=[b.m(r) for r in kink.broken], smooth=[b.m(r) for r in kink.smooth],
                  untold=[b.m(r) for r in kink.untold]),
            *(b.say("jump", **_shown(b, jump)) for jump in kink.jumps),
            *(b.say("missed", **_shown(b, jump)) for jump in kink.missed)]


def _kind(node: Expr) -> str:
    if isinstance(node, Extremum):
        return "pair" if len(node.args) == 2 else "terms"
    return "function" if isinstance(node, (Fn, Bracket)) else "cases"
