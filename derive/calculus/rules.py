"""The differentiation rules: one class each, tried in order.

``conclude`` gives ∂of/∂wrt in terms of ``partial``, the derivatives of smaller
expressions with respect to the same entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol, cast

from derive.calculus.derivation import Step, concludes
from derive.calculus.extremum import extremiser, letters
from derive.errors import UnsupportedError
from derive.expr import (
    ZERO,
    Bracket,
    Entry,
    Expr,
    Node,
    Partial,
    Reduce,
    eq,
    free_indices,
    open_as,
    subst,
    tuple_of,
)
from derive.module import Module

Differentiate = Callable[[Expr], Expr]


class Rule(Protocol):
    """∂of/∂wrt for one form of ``of``."""

    name: ClassVar[str]

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool: ...

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Differentiate) -> Expr: ...


class EntryRule:
    """∂x_{ab}/∂x_{ij} = [(i, j) = (a, b)], and 0 for another tensor."""

    name: ClassVar[str] = "entry"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Entry) and not _is_defined(of, module)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Differentiate) -> Expr:
        assert isinstance(of, Entry)
        if of.tensor != wrt.tensor:
            return ZERO
        return Bracket(eq(tuple_of(wrt.indices), tuple_of(of.indices)))


class DefinitionRule:
    """∂f_{kl}/∂x = ∂F(k, l)/∂x where f_{kl} = F(k, l) is a forward equation."""

    name: ClassVar[str] = "definition"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Entry) and _is_defined(of, module)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Differentiate) -> Expr:
        assert isinstance(of, Entry)
        entry, value = module.definition(of.tensor)
        return partial(subst(value, dict(zip(entry.indices, of.indices, strict=True))))


class ExtremumRule:
    """∂/∂x max_{t∈T} g(t) = (∂g/∂x)(t^*), t^* = argmax_{t∈T} g(t); the same for min.

    Holds where the maximiser is unique: there it is the same maximiser at every
    nearby point, so the maximum is the smooth function g(t^*) locally.
    """

    name: ClassVar[str] = "extremum"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Reduce) and of.op in ("max", "min")

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Differentiate) -> Expr:
        assert isinstance(of, Reduce)
        variables = letters(of, module, free_indices(of) | free_indices(wrt))
        _, body = open_as(of, variables)
        stars = extremiser(of, module).stars
        return subst(partial(body), dict(zip(variables, stars, strict=True)))


RULES: tuple[Rule, ...] = (EntryRule(), DefinitionRule(), ExtremumRule())


def _is_defined(entry: Entry, module: Module) -> bool:
    return any(cast(Entry, e.terms[0]).tensor == entry.tensor for e in module.equations)


def rule_for(of: Expr, wrt: Entry, module: Module) -> Rule:
    """The first rule that applies; raises :class:`UnsupportedError` where none does."""
    for rule in RULES:
        if rule.applies(of, wrt, module):
            return rule
    raise UnsupportedError(f"no rule differentiates a {type(of).__name__.lower()} yet")


def differentiate(of: Expr, wrt: Entry, module: Module) -> Step:
    """∂of/∂wrt as a tree of steps, a premise for each smaller derivative used."""
    rule = rule_for(of, wrt, module)
    premises: list[Step] = []

    def partial(smaller: Expr) -> Expr:
        premises.append(differentiate(smaller, wrt, module))
        return cast(Expr, premises[-1].after)

    after = rule.conclude(of, wrt, module, partial)
    return Step(rule.name, Partial(of, wrt), after, tuple(premises))


def _conclude_again(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """The rule applied anew, the smaller derivatives taken from the premises."""
    assert isinstance(before, Partial) and isinstance(before.wrt, Entry)
    known = {p.before: cast(Expr, p.after) for p in premises}
    wrt = before.wrt
    rule = rule_for(before.of, wrt, module)
    return rule.conclude(before.of, wrt, module, lambda smaller: known[Partial(smaller, wrt)])


for _rule in RULES:
    concludes(_rule.name)(_conclude_again)

