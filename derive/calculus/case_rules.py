"""Derivatives of what is defined case by case: max(u, v), cases, brackets; off the boundaries."""

from __future__ import annotations

from typing import ClassVar

from derive.calculus.dependence import reached
from derive.calculus.rule import Derivatives
from derive.expr import OTHERWISE, ZERO, And, Bracket, Cases, Cond, Entry, Expr, Extremum, rel
from derive.module import Module


class PairRule:
    """∂max(u, v)/∂x = ∂u/∂x where u > v, else ∂v/∂x; off the kink u = v.  The same for min, and for more terms."""

    name: ClassVar[str] = "pair"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Extremum)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Extremum)
        # what does not depend on x comes last: at the kink of max(0, s) the slope is then 0
        args = sorted(of.args, key=lambda a: wrt.tensor not in reached(a, module))
        slopes = [partial(a) for a in args]
        if all(s is slopes[0] for s in slopes):
            return slopes[0]
        wins, ties = (">", "≥") if of.op == "max" else ("<", "≤")
        branches: list[tuple[Expr, Cond]] = []
        for n, arg in enumerate(args[:-1]):  # each excludes the others: cases on paper have no order
            beats: list[Cond] = [rel(arg, ties if m < n else wins, other) for m, other in enumerate(args) if m != n]
            branches.append((slopes[n], beats[0] if len(beats) == 1 else And(tuple(beats))))
        return Cases((*branches, (slopes[-1], OTHERWISE)))


class CasesRule:
    """∂/∂x { u if c, v otherwise } = { ∂u/∂x if c, ∂v/∂x otherwise }, off the boundary of c."""

    name: ClassVar[str] = "branches"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Cases)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Cases)
        branches = tuple((partial(value), cond) for value, cond in of.branches)
        return ZERO if all(v is ZERO for v, _ in branches) else Cases(branches)


class BracketRule:
    """∂[c]/∂x = 0 off the boundary of c."""

    name: ClassVar[str] = "bracket"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Bracket)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        return ZERO
