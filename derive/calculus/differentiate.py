"""∂of/∂wrt as a tree of steps: raw, then brought to the lecturer's form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import cast

from derive.axes import with_axes
from derive.calculus.algebra import size
from derive.calculus.dependence import between, entry_of, users_of
from derive.calculus.derivation import Step, concludes, step
from derive.calculus.form import simplified
from derive.calculus.ranges import entry_ranges, ranged
from derive.calculus.rules import RULES, rule_for
from derive.expr import ONE, ZERO, Entry, Expr, Fn, Node, Partial, Reduce, add, eq, mul, subst
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
    return module.holding(tuple(t for t in module.defined if t != entry.tensor))


@lru_cache(maxsize=4096)
def derivative(of: Entry, wrt: Entry, module: Module) -> Step:
    """∂y_k/∂x_i in the lecturer's form; the premise is the derivation by rules.

    Through other tensors it is derived from the input forward and from the output back; what is less to read is kept,
    and of a single number the way back, whose derivatives serve the next letter too.
    """
    before = Partial(of, wrt)
    forward = step("form", before, module, differentiate(of, wrt, module))
    users = [entry_of(t, module, (of, wrt)) for t in users_of(of, wrt, module)]
    if not any(between(of.tensor, user, module) for user in users):
        return forward  # both ways are the same sum
    total = [derivative(of, user, module) for user in users if user.tensor != of.tensor]
    local = [derivative(of if user.tensor == of.tensor else user, wrt, holding(user, module)) for user in users]
    back = step("form", before, module, step("reverse", before, module, *total, *local))
    gain = size(cast(Expr, forward.after)) - size(cast(Expr, back.after))
    return back if gain > 0 or gain == 0 and not of.indices else forward


@concludes("reverse")
def _reverse(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """∂y/∂x = ∂y/∂x|_u + Σ_u Σ_m (∂y/∂u_m)(∂u_m/∂x|), over the tensors u in whose definitions x stands."""
    known = {cast(Partial, p.before).wrt: cast(Expr, p.after) for p in premises if p.held == module.held}
    terms: list[Expr] = []
    for premise in (p for p in premises if p.held != module.held):
        user = cast(Entry, cast(Partial, premise.before).of)
        product = mul(known.get(user, ONE), cast(Expr, premise.after))
        summed = user in known and user.indices and product is not ZERO
        terms.append(Reduce("sum", ranged(user, product, module), product) if summed else product)
    return add(*terms)


@concludes("form")
def _form(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """Deltas contracted, definitions folded back, common factors in front."""
    entries = (before,) if isinstance(before, Entry) else (before.of, before.wrt) if isinstance(before, Partial) else ()
    ranges = {i: r for e in entries if isinstance(e, Entry) for i, r in entry_ranges(e, module).items()}
    return simplified(cast(Expr, premises[-1].after), ranges, module)


def slope(function: Function, place: int, module: Module) -> Expr:
    """f'(s) of a card's function, in terms of f and its parameters: σ' = σ(s)(1 − σ(s))."""
    found = cast(Expr, slope_step(function, place, module)[0].after)
    applied = Fn(function.name, tuple(Entry(p, ()) for p in function.parameters))
    return subst(found, {Entry(function.name, ()): applied})


@lru_cache(maxsize=64)
def slope_step(function: Function, place: int, module: Module) -> tuple[Step, Module]:
    """∂f/∂s of a card's function, a scalar f computed from scalars; and the module of that one equation."""
    symbols = [Symbol(n, n, Kind.TENSOR) for n in (function.name, *function.parameters)]
    others = tuple(f for f in module.functions if f is not function)
    here = with_axes(replace(
        module, equations=(eq(Entry(function.name, ()), function.body),), output=function.name, held=(), facts=(),
        inputs=function.parameters, parameters=(), constants=(), functions=others,
        table=module.table.extended(symbols)))
    return derivative(Entry(function.name, ()), Entry(function.parameters[place], ()), here), here


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
