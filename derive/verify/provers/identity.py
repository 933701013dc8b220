"""Proofs of a layer's printed equations: ring identities in every region, at small sizes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cached_property
from typing import Any

from derive.errors import UnsupportedError
from derive.expr import Node
from derive.numeric.point import NoCase, TwoCases, Undefined
from derive.verify.points.claims import Claim, Compiler
from derive.verify.points.draw import Draws
from derive.verify.points.sizes import Sizes
from derive.verify.provers.formal import FormalPoint, Path
from derive.verify.provers.regions import MOST_REGIONS, Instance, instance, unvisited
from derive.verify.scope import Scope

MOST_ASSIGNMENTS = 20_000  # of the indices of one statement: of more it is tested, not proved


class RingIdentity:
    """Proves statements of a scope at one choice of sizes: ring identities in every region."""

    def __init__(self, scope: Scope, sizes: Sizes) -> None:
        self.scope, self.sizes = scope, sizes

    @cached_property
    def instance(self) -> Instance | None:
        """The regions at these sizes; None where they are out of reach."""
        draws = Draws(self.scope.module, self.scope.kind, (self.sizes,), self.scope.draws.pool, self.scope.free)
        try:
            return instance(self.scope.module, draws)
        except (UnsupportedError, ArithmeticError, ValueError):  # the log and the root of a sum over nothing among them
            return None

    @cached_property
    def compiler(self) -> Compiler:
        assert self.instance is not None
        return replace(self.scope.compiler, kind=self.instance.formals.arithmetic)

    def proves(self, node: Node) -> bool:
        """Whether every side equals the next identically, in every region; False where that is not shown."""
        if self.instance is None:
            return False
        try:
            claims = self.compiler.claims(node)
            return all(self._in_region(claims, points) for points in self.instance.regions.values())
        except (UnsupportedError, Undefined, NoCase, TwoCases, LookupError, ArithmeticError, ValueError, TypeError,
                NameError, AttributeError):
            return False

    def _in_region(self, claims: tuple[Claim, ...], points: list[FormalPoint]) -> bool:
        """The statement at one point of the region; where it divides the region, in each of its parts."""
        path = self._holds(claims, points[0])
        if path is None or len(path) == len(points[0].path):
            return path is not None
        assert self.instance is not None
        own, paths = points[0].path, [path]
        seen: set[Path] = set()
        while waiting := [p for p in unvisited(paths) if p not in seen and p[:len(own)] == own]:
            seen.add(waiting[0])
            point = self.instance.search(waiting[0], paths)
            if point is None:
                continue
            found = self._holds(claims, point) if point.path == own else None
            if found is None or found in paths or len(paths) > MOST_REGIONS:
                return False
            paths.append(found)
        return True

    def _holds(self, claims: tuple[Claim, ...], point: FormalPoint) -> Path | None:
        """The decisions made on the way, if the statement is an identity in the region; else None."""
        formals = point.formals
        formals.start(point.path)
        formals.algebra.work = 0
        for claim in claims:
            if set(claim.ops) != {"="}:
                return None
            runs = claim.runs(point)
            if math.prod(map(len, runs)) > MOST_ASSIGNMENTS:
                return None
            for at in itertools.product(*runs):
                sides = claim.sides(point, at, set())
                if sides is not None and not all(self._equal(a, b, point) for a, b in itertools.pairwise(sides)):
                    return None
        return tuple(formals.path.items())

    def _equal(self, left: Any, right: Any, point: FormalPoint) -> bool:
        if left is Undefined or right is Undefined:
            return False
        lift = point.formals.lift
        a, b = lift(left).poly, lift(right).poly
        return a == b or point.formals.algebra.is_zero(a - b)
