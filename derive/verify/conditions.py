"""Conditions, sets and binders of a statement at an instance."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import z3

from derive.errors import UnsupportedError
from derive.expr import (
    MINUS_ONE,
    ZERO,
    And,
    Arg,
    Binder,
    Cardinality,
    Entry,
    Expr,
    Given,
    Idx,
    Iff,
    In,
    Mul,
    Node,
    Otherwise,
    Pow,
    Reduce,
    Rel,
    SetApp,
    SetOf,
    Without,
    mul,
    walk,
)
from derive.numeric.point import Definitions
from derive.verify.instance import Instance
from derive.verify.smt import number, total
from derive.verify.terms import choose, compare, conjunction, real

Env = Mapping[Idx, int]


class Conditions(ABC):
    """The part of :class:`derive.verify.lowering.Lowering` that is not about values."""

    instance: Instance
    definitions: Definitions

    @abstractmethod
    def lower(self, node: Node, env: Env) -> Any:
        """The value of a node."""

    @abstractmethod
    def opened(self, node: Reduce | Arg | SetOf) -> tuple[Binder, Expr]:
        """The binder opened, always with the same variables."""

    def _rel(self, node: Rel, env: Env) -> Any:
        quotient = _quotient(node)
        if quotient is not None:  # a/b = c as b ≠ 0 and a = c b: Z3 is slow where it divides
            above, below, right = quotient
            product = Rel((above, Mul((right, below))), ("=",))
            return self.lower(And((Rel((below, ZERO), ("≠",)), product)), env)
        values = [self.lower(t, env) for t in node.terms]
        return conjunction([compare(a, op, b) for a, op, b in zip(values, node.ops, values[1:], strict=False)])

    def _and(self, node: And, env: Env) -> Any:
        found = []
        for cond in node.conds:
            found.append(self.lower(cond, env))
            if found[-1] is False:
                return False
        return conjunction(found)

    def _iff(self, node: Iff, env: Env) -> Any:
        left, right = self.lower(node.left, env), self.lower(node.right, env)
        return left == right

    def _given(self, node: Given, env: Env) -> Any:
        cond = self.lower(node.cond, env)
        if cond is False:
            return True
        claim = self.lower(node.claim, env)
        return claim if cond is True else z3.Implies(cond, claim)

    def _otherwise(self, node: Otherwise, env: Env) -> Any:
        return True

    def _in(self, node: In, env: Env) -> Any:
        element = self.lower(node.element, env)
        if isinstance(node.set, SetApp) and node.set.name in self.definitions.sets:
            return self._in_set(self.definitions.sets[node.set.name], element, env)
        return element in self._elements(node.set, env)

    def _in_set(self, node: SetOf, element: Any, env: Env) -> Any:
        binder, shown = self.opened(node)
        for inner, cond in self.run_through(binder, shown, env):
            if self.lower(shown, inner) == element:
                return cond
        return False

    def _elements(self, node: Expr, env: Env) -> list[Any]:
        if isinstance(node, Without):
            gone = [self.lower(e, env) for e in node.elements]
            return [e for e in self._elements(node.base, env) if e not in gone]
        if not isinstance(node, SetApp):
            raise UnsupportedError("no proof over this set")
        at = tuple(self.lower(a, env) for a in node.args)
        cells = self.instance.window(at)
        return [c[0] for c in cells] if cells and len(cells[0]) == 1 else cells

    def _cardinality(self, node: Cardinality, env: Env) -> Any:
        of = node.of
        if isinstance(of, SetApp) and of.name in self.definitions.sets:
            of = self.definitions.sets[of.name]
        if not isinstance(of, SetOf):
            return len(self._elements(of, env))
        binder, shown = self.opened(of)
        return total([real(choose(c, lambda: 1, lambda: 0)) for _, c in self.run_through(binder, shown, env)]
                     or [number(0)])

    # bound variables

    def run_through(self, binder: Binder, body: Expr, env: Env) -> list[tuple[dict[Idx, int], Any]]:
        """(assignment, condition) for the variables of a binder; conditions known to be false are left out."""
        names = binder.variables
        found = []
        for at in itertools.product(*(self._range(v, n, binder, body, env) for n, v in enumerate(names))):
            inner = {**env, **dict(zip(names, at, strict=True))}
            try:
                cond = True if binder.cond is None else self.lower(binder.cond, inner)
            except KeyError:  # the window that a condition asks about does not exist
                continue
            if cond is not False:
                found.append((inner, cond))
        return found

    def _range(self, variable: Idx, place: int, binder: Binder, body: Expr, env: Env) -> range:
        low, high = binder.lower[place], binder.upper[place]
        if low is not None and high is not None:
            return range(self.lower(low, env), self.lower(high, env) + 1)
        parts = (body,) if binder.cond is None else (body, binder.cond)
        return self.instance.range_of(variable, [n for part in parts for n in walk(part)], self.definitions)


def _quotient(node: Rel) -> tuple[Expr, Expr, Expr] | None:
    """(a, b, c) of a/b = c, where b is a value."""
    left = node.terms[0]
    if node.ops != ("=",) or not isinstance(left, Mul) or not isinstance(left.factors[-1], Pow):
        return None
    below = left.factors[-1]
    if below.exponent != MINUS_ONE or not isinstance(below.base, Entry):
        return None
    return mul(*left.factors[:-1]), below.base, node.terms[1]
