"""One printed equation: read back from its LaTeX, tested at points, proved at instances."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable

from derive.errors import DeriveError, UnsupportedError
from derive.expr import (
    And,
    Directional,
    Entry,
    Given,
    Idx,
    Matrix,
    Node,
    Partial,
    Rel,
    Star,
    Subdifferential,
    free_indices,
    walk,
)
from derive.notation import read
from derive.numeric.point import Definitions, NoCase, Undefined
from derive.numeric.statements import Statement, compile_statement, componentwise
from derive.sheet import Math
from derive.verify.instance import letter_ranges
from derive.verify.report import ENOUGH, Check, Verdict
from derive.verify.samples import Sample
from derive.verify.scopes import Scope

MOST = 400  # index assignments of a statement that are tried at one point
WIDE, FEW = 16, 40  # windows of more entries have some forty points, each with other assignments


class Refuted(Exception):
    """A point at which the statement fails."""


def check(printed: Math, node: Node, scope: Scope) -> Check:
    """The verdict on a printed equation, given what the reader made of it."""
    loose = unbound(node)
    if loose:
        why = f"{loose} is free on the right and absent on the left"
        return Check(printed.name, printed.latex, Verdict.NOT_READ, why)
    node = componentwise(node, scope.table)
    exhaustive = _of_indices(node)
    try:
        samples = _points(printed, scope)
        if exhaustive:  # the values do not matter: one point of each geometry and size
            samples = tuple({(s.module, s.shapes[s.wrt]): s for s in samples}.values())
        claims = node.conds if isinstance(node, And) else (node,)
        statements = [compile_statement(claim, scope.definitions, scope.ranks) for claim in claims]
        points, places = _test(statements, samples)
    except Refuted as refuted:
        return Check(printed.name, printed.latex, Verdict.REFUTED, "a counterexample", str(refuted))
    except UnsupportedError as error:
        return Check(printed.name, printed.latex, Verdict.NOT_READ, str(error))
    if exhaustive and points == len(samples):
        return Check(printed.name, printed.latex, Verdict.PROVED, f"for all indices at {places}", points=points)
    exact = not free_indices(node) and scope.place == "example"
    if points < ENOUGH and not exact:  # before any proof: what claims nothing is proved of nothing
        return Check(printed.name, printed.latex, Verdict.NOT_READ, f"only {points} points say anything about it")
    proof = _prove(node, scope, exact)
    if proof:
        return Check(printed.name, printed.latex, Verdict.PROVED, proof, points=points)
    patterns = f", every tie pattern among them ({len(scope.tied)})" if printed.ties else ""
    return Check(printed.name, printed.latex, Verdict.TESTED, f"at {points} points ({places}{patterns})", points=points)


def unbound(node: Node | None) -> str:
    """Letters that are free on the right of an equation and absent on its left: it would say nothing definite."""
    claim = node.claim if isinstance(node, Given) else node
    if isinstance(claim, And):
        return ", ".join(filter(None, map(unbound, claim.conds)))
    if not isinstance(claim, Rel) or claim.ops[0] != "=":
        return ""
    left = free_indices(claim.terms[0])
    return ", ".join(sorted(i.name for term in claim.terms[1:] for i in free_indices(term) - left))


def _of_indices(node: Node) -> bool:
    """Whether a statement is about indices alone, ∂x_{ab}/∂x_{ij} among them: then its values do not matter."""
    if isinstance(node, Partial):
        return isinstance(node.of, Entry) and isinstance(node.wrt, Entry) and node.of.tensor == node.wrt.tensor
    return not isinstance(node, (Entry, Star, Matrix)) and all(map(_of_indices, node.children()))


def _points(printed: Math, scope: Scope) -> tuple[Sample, ...]:
    return (*scope.points, *(scope.others if printed.general else ()), *(scope.tied if printed.ties else ()))


def _test(statements: list[Statement], samples: Iterable[Sample]) -> tuple[int, str]:
    """How many points the statements all hold at, and where they lie; raises :class:`Refuted`."""
    hits: list[set[int]] = [set() for _ in statements]
    points = 0
    places: dict[str, None] = {}
    for sample in samples:
        claims = [_claims(statement, sample, seen) for statement, seen in zip(statements, hits, strict=True)]
        if all(claims):
            points += 1
            places[_size(sample)] = None
    for statement, seen in zip(statements, hits, strict=True):
        if points and len(seen) < statement.branches:
            raise Refuted(f"case {min(set(range(statement.branches)) - seen) + 1} of its cases never applies")
    return points, "sizes " + ", ".join(places) if "×" in "".join(places) else ", ".join(places)


def test_at(node: Node, definitions: Definitions, ranks: dict[str, int], sample: Sample) -> bool:
    """Whether the statement claims something at a point; raises :class:`Refuted` where that is false."""
    statement = compile_statement(node, definitions, ranks)
    return _claims(statement, sample, set()) > 0


def _assignments(statement: Statement, sample: Sample) -> Iterable[tuple[int, ...]]:
    """All values of the free indices; of very many, a random selection, the same in every run."""
    ranges = sample.letter_ranges(statement.variables)
    runs = [ranges[v] for v in statement.variables]
    wide = len(runs) > 1 and sample.module.receptive_field is None and len(sample.arrays[sample.wrt]) > WIDE
    most = FEW if wide else MOST
    if math.prod(map(len, runs)) <= most:
        return itertools.product(*runs)
    source = random.Random(str(sample.arrays[sample.wrt]) if wide else len(runs))  # others at each point
    return {tuple(map(source.choice, runs)) for _ in range(most)}


def _claims(statement: Statement, sample: Sample, hits: set[int]) -> int:
    """For how many indices the statement claims something here; raises :class:`Refuted` where that is false."""
    count = 0
    for at in _assignments(statement, sample):
        try:
            outcome = statement.evaluate(sample, at, hits)
        except (Undefined, NoCase) as missing:
            missed = sample.misses(dict(zip(statement.variables, at, strict=True)))
            if sample.smooth and not missed:  # every derivative and every maximiser exists here
                what = "no case applies" if isinstance(missing, NoCase) else "it has no value"
                raise Refuted(_describe(statement, sample, at, what)) from None
            continue
        except (LookupError, ArithmeticError, ValueError, TypeError, NameError) as error:
            what = "an index is out of range" if isinstance(error, LookupError) else "it has no value"
            raise Refuted(_describe(statement, sample, at, what)) from None
        if outcome is None:
            continue
        if not outcome[0]:
            sides = " and ".join(map(str, outcome[1])) or "the two sides"
            raise Refuted(_describe(statement, sample, at, f"{sides} differ"))
        count += 1
    return count


def _describe(statement: Statement, sample: Sample, at: tuple[int, ...], what: str) -> str:
    place = ", ".join(f"{v.name} = {n}" for v, n in zip(statement.variables, at, strict=True))
    return f"at {place + ' ' if place else ''}for {sample.describe()}: {what}"


def _size(sample: Sample) -> str:
    shape = sample.shapes[sample.wrt]
    return "×".join(map(str, shape)) if sample.module.receptive_field else f"windows of {shape[0]} entries"


def _prove(node: Node, scope: Scope, exact: bool) -> str | None:
    """What a proof says, or None."""
    if exact:
        return "in exact arithmetic on the printed numbers"
    variables: tuple[Idx, ...] = tuple(sorted(free_indices(node), key=lambda v: v.name))
    if not scope.provers or any(isinstance(n, (Subdifferential, Directional)) for n in walk(node)):
        return None
    try:
        for prover in scope.provers:
            if not prover.prove(node, scope.definitions, variables, letter_ranges(prover.instance, variables)):
                return None
    except (UnsupportedError, KeyError):
        return None
    return scope.place


def read_back(printed: Math, scope: Scope) -> tuple[Node | None, Check | None]:
    """What the reader makes of the LaTeX text alone, or why it cannot."""
    try:
        return read(printed.latex, scope.table), None
    except DeriveError as error:
        return None, Check(printed.name, printed.latex, Verdict.NOT_READ, str(error))
