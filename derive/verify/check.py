"""The verdict on one printed equation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from derive.errors import UnsupportedError
from derive.expr import And, Entry, Given, Matrix, Node, Partial, Rel, Star, free_indices
from derive.sheet import Math
from derive.verify.points.claims import Claim, Refuted
from derive.verify.points.point import Point
from derive.verify.provers.cases import Proofs
from derive.verify.report import ENOUGH, Check, Verdict, remembered
from derive.verify.scope import PLACES, Scope


def checked(printed: Math, node: Node, scope: Scope, proofs: Callable[[], Proofs]) -> Check:
    """Refuted, not read, tested, or proved where every prover of a kind shows it."""
    key = scope.key(node), printed.general, printed.ties
    found = remembered(key, partial(fresh, printed, node, scope, proofs))
    return replace(found, name=printed.name, latex=printed.latex, evidence=scope.located(found.evidence))


def fresh(printed: Math, node: Node, scope: Scope, proofs: Callable[[], Proofs]) -> Check:
    """The check itself, its sizes still to be said."""
    def verdict(found: Verdict, evidence: str, counterexample: str | None = None, points: int = 0) -> Check:
        return Check(printed.name, printed.latex, found, evidence, counterexample, points)

    loose = unbound(node)
    if loose:
        return verdict(Verdict.NOT_READ, f"{loose} is free on the right and absent on the left")
    try:
        trial = Trial(node, scope, printed.ties)
        if of_indices(node) and trial.everywhere():
            return verdict(Verdict.PROVED, f"for all indices at sizes{PLACES}", points=trial.said)
        if printed.general:
            for other in scope.companions:
                Trial(node, other).run(1)
        for proof in proofs():
            trial.run(proof.enough)
            if trial.said >= proof.enough and proof.of(node):
                return verdict(Verdict.PROVED, proof.evidence, points=trial.said)
        trial.run(ENOUGH)
    except Refuted as refuted:
        return verdict(Verdict.REFUTED, "a counterexample", str(refuted))
    except UnsupportedError as error:
        return verdict(Verdict.NOT_READ, str(error))
    if trial.missing:
        return verdict(Verdict.REFUTED, "a counterexample", f"{trial.missing} never holds")
    if trial.said < ENOUGH:
        return verdict(Verdict.NOT_READ, f"only {trial.said} points say anything about it")
    evidence = f"at {trial.said} points{PLACES}"
    if printed.ties:
        evidence += f", every tie pattern among them: {len(scope.patterns)}"
    if scope.unreached:
        evidence += f"; no input was found for {', '.join(scope.unreached)} in the forward formula"
    elif inner := next(trial.parts(inner=True), None):
        evidence += f"; no input was found for {inner}, inside another case"
    return verdict(Verdict.TESTED, evidence, points=trial.said)


def unbound(node: Node | None) -> str:
    """Letters that are free on the right of an equation and absent on its left: it would say nothing definite."""
    claim = node.claim if isinstance(node, Given) else node
    if isinstance(claim, And):
        return ", ".join(filter(None, map(unbound, claim.conds)))
    if not isinstance(claim, Rel) or claim.ops[0] != "=":
        return ""
    left = free_indices(claim.terms[0])
    return ", ".join(sorted(i.name for term in claim.terms[1:] for i in free_indices(term) - left))


def of_indices(node: Node) -> bool:
    """Whether a statement is about indices alone, ∂x_{ab}/∂x_{ij} among them: then its values do not matter."""
    if isinstance(node, Partial):
        return isinstance(node.of, Entry) and isinstance(node.wrt, Entry) and node.of.tensor == node.wrt.tensor
    return not isinstance(node, (Entry, Star, Matrix)) and all(map(of_indices, node.children()))


class Trial:
    """A statement at one point after another: at how many all of its claims say something and hold.

    With ``ties`` at every tie pattern, and they count; else a few tied points only may refute.
    """

    def __init__(self, node: Node, scope: Scope, ties: bool = False) -> None:
        self.scope, self.ties = scope, ties
        self.claims: tuple[Claim, ...] = scope.compiler.claims(node)
        self.said = self._tried = 0
        self._hits: list[set[int]] = [set() for _ in self.claims]

    def everywhere(self) -> bool:
        """Whether it holds for all indices at each of the sizes: one point of each."""
        points = islice(self.scope.points(), len(self.scope.sizes))
        found = [self._at(point) for point in points]
        self._tried, self.said = len(found), sum(found)
        return all(found) and self._exhausted and self.missing is None

    @property
    def _exhausted(self) -> bool:
        return all(claim.exhausts(point) for claim in self.claims
                   for point in islice(self.scope.points(), len(self.scope.sizes)))

    def run(self, enough: int) -> None:
        """Go on until ``enough`` points say something and each part of the claims was seen to hold.

        For ENOUGH points or more, until every case of the forward formula was visited too.
        Raises :class:`Refuted` at a point where a claim fails.
        """
        if not self._tried:
            for point in self._tied():
                self.said += self._at(point, tied=not self.ties) and self.ties
        base = self.scope.base
        for point in islice(self.scope.points(), self._tried, None):
            self._tried += 1
            self.said += self._at(point)
            visited = self._tried >= (base if enough >= ENOUGH else enough)
            if visited and self.said >= enough and self.missing is None or not self.said and self._tried >= 4 * base:
                break

    def _tied(self) -> Iterable[Point]:
        return self.scope.patterns if self.ties else self.scope.tied

    def _at(self, point: Point, tied: bool = False) -> bool:
        counts = [claim.holds(point, seen, tied) for claim, seen in zip(self.claims, self._hits, strict=True)]
        return all(counts)

    @property
    def missing(self) -> str | None:
        """A part of the claims that held nowhere."""
        return next(self.parts(), None)

    def parts(self, inner: bool = False) -> Iterator[str]:
        """The needed parts of the claims that held nowhere, or those inside cases."""
        return (mark.words for claim, seen in zip(self.claims, self._hits, strict=True)
                for number, mark in enumerate(claim.marks)
                if (mark.inner if inner else mark.needed) and number not in seen)
