"""∂of/∂wrt as a tree of steps: raw, then brought to the lecturer's form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import cast

from derive.axes import with_axes
from derive.calculus.derivation import Step, concludes, step
from derive.calculus.form import simplified
from derive.calculus.ranges import entry_ranges
from derive.calculus.rules import RULES, rule_for
from derive.expr import Entry, Expr, Fn, Node, Partial, eq, subst
from derive.module import Function, Module
from derive.notation.symbols import Kind, Symbol


def differentiate(of: Expr, wrt: Entry, module: Module) -> Step:
    """∂of/∂wrt as a tree of steps, a premise for each smaller derivative used."""
    rule = rule_for(of, wrt, module)
    premises: list[Step] = []

    def noted(found: Step) -> Expr:
        premises.append(found)
        return cast(Expr, found.after)

    after = rule.conclude(of, wrt, module, _Derivatives(
        lambda smaller: noted(differentiate(smaller, wrt, module)),
        lambda entry, by, held: noted(derivative(entry, by, holding(entry, module) if held else module)), module))
    return Step(rule.name, Partial(of, wrt), after, tuple(premises), module.held)


class _Derivatives:
    """What :class:`derive.calculus.rules.Derivatives` asks for, however it is found."""

    def __init__(self, smaller: Callable[[Expr], Expr], entry: Callable[[Entry, Entry, bool], Expr],
                 module: Module) -> None:
        self.smaller, self.entry, self.module = smaller, entry, module

    def __call__(self, of: Expr) -> Expr:
        return self.smaller(of)

    def slope(self, function: Function, place: int) -> Expr:
        return slope(function, place, self.module)


def holding(entry: Entry, module: Module) -> Module:
    """The module for ∂y/∂s where y alone is a function: every other tensor is held constant."""
    return replace(module, held=tuple(t for t in module.defined if t != entry.tensor))


@lru_cache(maxsize=1024)
def derivative(of: Entry, wrt: Entry, module: Module) -> Step:
    """∂y_k/∂x_i in the lecturer's form; the premise is the derivation by rules."""
    return step("form", Partial(of, wrt), module, differentiate(of, wrt, module))


@concludes("form")
def _form(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """Deltas contracted, definitions folded back, common factors in front."""
    entries = (before,) if isinstance(before, Entry) else (before.of, before.wrt) if isinstance(before, Partial) else ()
    ranges = {i: r for e in entries if isinstance(e, Entry) for i, r in entry_ranges(e, module).items()}
    return simplified(cast(Expr, premises[-1].after), ranges, module)


@lru_cache(maxsize=64)
def slope(function: Function, place: int, module: Module) -> Expr:
    """f'(s) of a card's function, in terms of f and its parameters: σ' = σ(s)(1 − σ(s))."""
    symbols = [Symbol(n, n, Kind.TENSOR) for n in (function.name, *function.parameters)]
    others = tuple(f for f in module.functions if f is not function)
    here = with_axes(replace(
        module, equations=(eq(Entry(function.name, ()), function.body),), output=function.name, held=(), facts=(),
        inputs=function.parameters, parameters=(), constants=(), functions=others,
        table=module.table.extended(symbols)))
    found = derivative(Entry(function.name, ()), Entry(function.parameters[place], ()), here).after
    applied = Fn(function.name, tuple(Entry(p, ()) for p in function.parameters))
    return subst(cast(Expr, found), {Entry(function.name, ()): applied})


def _conclude_again(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """The rule applied anew, the smaller derivatives taken from the premises."""
    assert isinstance(before, Partial) and isinstance(before.wrt, Entry)
    known = {(p.before, p.held != module.held): cast(Expr, p.after) for p in premises}
    wrt = before.wrt
    rule = rule_for(before.of, wrt, module)
    return rule.conclude(before.of, wrt, module, _Derivatives(
        lambda smaller: known[Partial(smaller, wrt), False],
        lambda entry, by, held: known[Partial(entry, by), held], module))


for _rule in RULES:
    concludes(_rule.name)(_conclude_again)
