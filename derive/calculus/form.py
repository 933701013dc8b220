"""Towards the lecturer's form: like terms, common factors, definitions folded back, sums contracted.

Every rewriting is an identity; of two forms the one that is less to read is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from derive.calculus.affine import Range
from derive.calculus.algebra import Monomial, key, monomial
from derive.calculus.arithmetic import Arithmetic, over
from derive.calculus.brackets import as_bracket, bracket, tidy, unclipped
from derive.calculus.contract import total
from derive.calculus.folding import Fold, folds_of
from derive.calculus.polish import polished
from derive.calculus.ranges import binder_of, conditions, ranges_of
from derive.expr import (
    ONE,
    ZERO,
    Add,
    And,
    Bracket,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    In,
    Mul,
    Num,
    Otherwise,
    Pow,
    Reduce,
    SetApp,
    open_binder,
)
from derive.module import Module


def simplified(node: Expr, ranges: Mapping[Idx, Range], module: Module, *, fold: bool = True) -> Expr:
    """The node in the lecturer's form; ``ranges`` of its free indices; ``fold`` definitions back."""
    folds, known = _definitions(module.holding(()))
    return polished(Form(module, dict(ranges), folds if fold else (), dict(known))(node))


@lru_cache(maxsize=64)
def _definitions(module: Module) -> tuple[tuple[Fold, ...], dict[object, Expr]]:
    """The module's definitions as folds, and the sums that they contain."""
    form = Form(module, {}, (), {})
    return tuple(folds_of(module, form)), form.known


class Form(Arithmetic):
    """One simplification: where each index runs, which definitions may be folded back, which sums were seen."""

    def __call__(self, node: Expr) -> Expr:
        found = self.done.get(node)
        if found is None:
            found = self.done[node] = self.simplify(node)
        return found

    def simplify(self, node: Expr) -> Expr:
        match node:
            case Add(terms):
                return self.sum_of(map(self, terms))
            case Mul(factors):
                return self.product(map(self, factors))
            case Pow(base, exponent):
                return self.product([Pow(self(base), self(exponent))])
            case Fn(name, args):
                return self.function(name, tuple(map(self, args)))
            case Extremum(op, args):
                return Extremum(op, tuple(map(self, args)))
            case Cases(branches):
                return self.cases([(self(value), cond) for value, cond in branches])
            case Bracket(cond):
                return bracket(self.telling(cond), self.ranges)
            case Entry(tensor, indices):
                return Entry(tensor, tuple(map(tidy, indices)))
            case Reduce():
                return self.reduction(node)
        return node

    def telling(self, cond: Cond) -> Cond:
        """The condition less (i, j) ∈ Ω(k, l), where the only window holds every entry."""
        whole = {name for name, field in self.module.fields if field.whole}
        return And(tuple(c for c in conditions(cond) if not (
            isinstance(c, In) and isinstance(c.set, SetApp) and c.set.name in whole))) if whole else cond

    def function(self, name: str, args: tuple[Expr, ...]) -> Expr:
        if name == "sqrt":
            return self.product([Pow(args[0], Num(Fraction(1, 2)))])
        if name == "exp" and args[0] is ZERO:
            return ONE
        if name == "log" and args[0] is ONE:
            return ZERO
        if name == "log" and isinstance(args[0], Fn) and args[0].name == "exp":
            return args[0].args[0]
        return self.product([Fn(name, args)])

    # --- cases --------------------------------------------------------------

    def cases(self, branches: list[tuple[Expr, Cond]]) -> Expr:
        """Equal branches joined, common factors in front; { v if c, 0 otherwise } is v [c]."""
        branches = [(v, unclipped(c, self.ranges)) for v, c in branches]
        while len(branches) > 1 and isinstance(branches[-1][1], Otherwise) and branches[-2][0] is branches[-1][0]:
            branches = [*branches[:-2], branches[-1]]
        values = [v for v, _ in branches]
        complete = isinstance(branches[-1][1], Otherwise)
        if complete and len(values) == 1:
            return values[0]
        if all(v is ZERO for v in values):
            return ZERO
        some_zero = len(values) > 2 and any(v is ZERO for v in values)
        front = self.common([monomial(v) for v in values if v is not ZERO], some_zero) or Monomial()
        front.number = Fraction(-1 if front.number < 0 else 1)
        rests = [ZERO if v is ZERO else over(monomial(v), front).expr() for v in values]
        rest = as_bracket([(r, c) for r, (_, c) in zip(rests, branches, strict=True)])
        return self.product([front.expr(), rest])

    # --- reductions ---------------------------------------------------------

    def reduction(self, node: Reduce) -> Expr:
        binder, body = open_binder(node)
        if not all(isinstance(v, Idx) for v in binder.variables):
            return node
        self.ranges |= ranges_of(binder, body, self.module)
        body = self(body)
        if node.op == "sum":
            return total(self, binder.variables, conditions(binder.cond), body)
        return self.closed(node.op, binder.variables, conditions(binder.cond), body)

    def closed(self, op: str, variables: tuple[Idx, ...], conds: tuple[Cond, ...], body: Expr) -> Expr:
        binder = binder_of(variables, self.ranges, conds, body, self.module)
        node = Reduce(op, binder, body)
        return self.folded(monomial(self.known.setdefault(key(node), node))).expr()
