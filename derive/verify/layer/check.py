"""The verdict on one printed equation of a layer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import islice

from derive.errors import UnsupportedError
from derive.expr import Node
from derive.sheet import Math
from derive.verify.check import unbound
from derive.verify.layer.claims import Claim, Refuted
from derive.verify.layer.point import Point
from derive.verify.layer.proof import Prover
from derive.verify.layer.subject import Subject
from derive.verify.report import ENOUGH, Check, Verdict

_passed: dict[tuple[Hashable, Node], Check] = {}  # verdicts of this process, by what they rest on


def remembered(printed: Math, node: Node, subject: Subject, provers: Callable[[], tuple[Prover, ...]]) -> Check:
    """The check, or the verdict on the same statement of the same layer if it passed before."""
    key = (subject.key, node)
    if key not in _passed:
        found = check(printed, node, subject, provers())
        if found.verdict not in (Verdict.PROVED, Verdict.TESTED):
            return found
        _passed[key] = found
    return replace(_passed[key], name=printed.name, latex=printed.latex)


def forget() -> None:
    """Drop the verdicts kept in this process."""
    _passed.clear()


def check(printed: Math, node: Node, subject: Subject, provers: tuple[Prover, ...] = ()) -> Check:
    """Refuted, not read, tested, or proved where every prover shows it."""
    loose = unbound(node)
    if loose:
        return Check(printed.name, printed.latex, Verdict.NOT_READ,
                     f"{loose} is free on the right and absent on the left")
    try:
        trial = Trial(subject.compiler.claims(node), subject)
        trial.run(len(subject.sizes))
        telling = trial.said >= len(subject.sizes)
        if telling and provers and all(prover.proves(node) for prover in provers):
            where = " and ".join(filter(None, (p.sizes.words() for p in provers))) or "all inputs"
            evidence = f"by ring identity for {where}, in every region"
            return Check(printed.name, printed.latex, Verdict.PROVED, evidence, points=trial.said)
        trial.run(ENOUGH)
    except Refuted as refuted:
        return Check(printed.name, printed.latex, Verdict.REFUTED, "a counterexample", str(refuted))
    except UnsupportedError as error:
        return Check(printed.name, printed.latex, Verdict.NOT_READ, str(error))
    if trial.missing:
        return Check(printed.name, printed.latex, Verdict.REFUTED, "a counterexample", f"{trial.missing} never holds")
    if trial.said < ENOUGH:
        why = f"only {trial.said} points say anything about it"
        return Check(printed.name, printed.latex, Verdict.NOT_READ, why)
    evidence = f"at {trial.said} points{places(subject)}"
    if subject.unreached:
        evidence += f"; no input was found for {', '.join(subject.unreached)} in the forward formula"
    return Check(printed.name, printed.latex, Verdict.TESTED, evidence, points=trial.said)


def places(subject: Subject) -> str:
    """ (n = 2, m = 3; n = 3, m = 2)."""
    words = "; ".join(filter(None, (s.words() for s in subject.sizes)))
    return f" ({words})" if words else ""


class Trial:
    """Claims at one point after another: at how many all of them say something and hold."""

    def __init__(self, claims: tuple[Claim, ...], subject: Subject) -> None:
        self.claims, self.subject = claims, subject
        self.said = self._tried = 0
        self._hits: list[set[int]] = [set() for _ in claims]

    def run(self, enough: int) -> None:
        """Go on until ``enough`` points say something and each part of the claims was seen to hold.

        For ENOUGH points or more, until every case of the forward formula was visited too.
        Raises :class:`Refuted` at a point where a claim fails.
        """
        if not self._tried:
            for point in self.subject.tied():
                self._at(point, tied=True)
        base = self.subject.base
        for point in islice(self.subject.points(), self._tried, None):
            self._tried += 1
            self.said += self._at(point)
            visited = self._tried >= (base if enough >= ENOUGH else enough)
            if visited and self.said >= enough and self.missing is None or not self.said and self._tried >= 4 * base:
                break

    def _at(self, point: Point, tied: bool = False) -> bool:
        counts = [claim.holds(point, seen, tied) for claim, seen in zip(self.claims, self._hits, strict=True)]
        return all(counts)

    @property
    def missing(self) -> str | None:
        """A part of the claims that held nowhere."""
        return next((mark.words for claim, seen in zip(self.claims, self._hits, strict=True)
                     for number, mark in enumerate(claim.marks) if mark.needed and number not in seen), None)
