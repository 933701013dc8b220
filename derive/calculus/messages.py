"""From the derivatives to the messages: Jacobian, vector–Jacobian product, covering windows."""

from __future__ import annotations

from typing import cast

from derive.calculus import stages
from derive.calculus.derivation import Step, concludes, step
from derive.calculus.differentiate import differentiate
from derive.calculus.extremum import star_definitions
from derive.calculus.stages import instance, upstream, variable
from derive.calculus.windows import inverses
from derive.expr import (
    ONE,
    OTHERWISE,
    ZERO,
    And,
    Arg,
    Binder,
    Bracket,
    Cases,
    Cond,
    Entry,
    Expr,
    Idx,
    In,
    Mul,
    Node,
    Partial,
    Reduce,
    Rel,
    SetApp,
    Star,
    Tuple,
    mul,
    open_as,
    over,
    ranging,
    subst,
    transform,
    walk,
)
from derive.module import Module
from derive.reductions import REDUCTIONS, selects

__all__ = ["has_plain_window", "jacobian", "message", "unstarred", "upstream", "variable"]


def has_plain_window(module: Module, ops: tuple[str, ...] = ("max", "min")) -> bool:
    """The layer is the maximum (or minimum) of one input's entries over its windows, and nothing else."""
    _, value = module.definition(module.output)
    one = len(module.equations) == 1 and isinstance(value, Reduce) and value.op in ops
    return one and bool(module.fields) and isinstance(value.body, Entry) and isinstance(value.binder.cond, In)  # type: ignore[attr-defined]


def jacobian(module: Module, wrt: str) -> Step:
    """∂y_k/∂x_i for an input, parameter or constant: over plain windows case by case, else simplified."""
    if not has_plain_window(module, tuple(filter(selects, REDUCTIONS))):
        return stages.jacobian(module, wrt)
    entry, _ = module.definition(module.output)
    return step("cases", Partial(entry, variable(module, wrt)), module,
                differentiate(entry, variable(module, wrt), module))


@concludes("cases")
def _as_cases(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """[c] = { 1 if c, 0 otherwise }."""
    after = premises[0].after
    return Cases(((ONE, after.cond), (ZERO, OTHERWISE))) if isinstance(after, Bracket) else after


def message(module: Module, wrt: str) -> Step:
    """δ_{x,ij}: the vector–Jacobian product with the upstream gradient, then as this geometry has it.

    Steps over plain windows, each the premise of the next: ``chain`` (Σ_{k,l} δ_f ∂f/∂x), ``jacobian`` put in,
    ``covering`` (only windows that contain (i, j)), ``geometry`` (closed form).
    For any other module see :func:`derive.calculus.stages.message`.
    """
    if not has_plain_window(module, tuple(filter(selects, REDUCTIONS))):
        return stages.message(module, wrt)
    at = variable(module, wrt)
    entry, _ = module.definition(module.output)
    target = Entry(f"delta_{wrt}", at.indices)
    summed = step("chain", target, module)
    inserted = step("jacobian", target, module, summed, differentiate(entry, at, module))
    covering = step("covering", target, module, inserted)
    return step("geometry", target, module, covering)


@concludes("jacobian")
def _insert(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """The derived ∂f_{kl}/∂x_{ij} in place of its name, the maximiser written out."""
    summed, derived = premises
    return transform(summed.after, lambda node: _instance(node, derived, module))


def _instance(node: Node, derived: Step, module: Module) -> Node | None:
    return unstarred(instance(node, derived), module) if isinstance(node, Partial) else None


def unstarred(expr: Expr, module: Module) -> Expr:
    """(i^*, j^*) replaced by the argmax that defines it."""
    definitions = star_definitions(module)

    def whole(node: Node) -> Node | None:
        items = node.items if isinstance(node, Tuple) else (node,)
        if not all(isinstance(item, Star) for item in items):
            return None
        stars = cast("tuple[Star, ...]", items)
        args = {definitions[s.name][0] for s in stars}
        places = [definitions[s.name][1] for s in stars]
        arg = args.pop()
        if args or places != list(range(len(arg.binder.variables))):
            return None
        return _at(arg, stars[0], module)

    return transform(expr, whole)


def _at(arg: Arg, star: Star, module: Module) -> Arg:
    return subst(arg, dict(zip(module.parameters_of(arg), star.at, strict=True)))


@concludes("covering")
def _covering(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """Σ_{k,l} c [(i, j) = argmax over Ω(k, l)] runs over (k, l) with (i, j) ∈ Ω(k, l) only.

    A maximiser lies in its own window, so every other term is 0.
    """
    total = premises[0].after
    if not isinstance(total, Reduce):
        return total
    entry, _ = module.definition(module.output)
    outputs = cast("tuple[Idx, ...]", entry.indices)
    _, body = open_as(total, outputs)
    member = next((m for node in walk(body) if (m := _membership(node, outputs)) is not None), None)
    return total if member is None else Reduce("sum", over(outputs, member), body)


def _membership(node: Node, outputs: tuple[Idx, ...]) -> Cond | None:
    """(i, j) ∈ Ω(k, l), where the node is [(i, j) = argmax_{… ∈ Ω(k, l)} …]."""
    if not (isinstance(node, Bracket) and isinstance(node.cond, Rel) and isinstance(node.cond.terms[-1], Arg)):
        return None
    domain = node.cond.terms[-1].binder.cond
    inside = isinstance(domain, In) and isinstance(domain.set, SetApp) and domain.set.args == outputs
    return In(node.cond.terms[0], cast(In, domain).set) if inside else None


@concludes("geometry")
def _geometry(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """The sum over the covering windows, axis by axis: one window ⌊(i+p)/s⌋, or a range."""
    total = premises[0].after
    if not isinstance(total, Reduce) or not isinstance(total.binder.cond, In):
        return total
    assert isinstance(before, Entry)
    entry, _ = module.definition(module.output)
    outputs = cast("tuple[Idx, ...]", entry.indices)
    _, body = open_as(total, outputs)
    found = inverses(before.indices, module)
    exact: dict[Node, Node] = {k: inv.only for k, inv in zip(outputs, found, strict=True) if inv.only is not None}
    conds = tuple(c for inv in found for c in inv.conds)
    value = subst(body, exact)
    for k, inv in reversed(list(zip(outputs, found, strict=True))):
        if inv.lower is not None and inv.upper is not None:
            inside = inv.within(k)
            binder = Binder((k,), (inv.lower,), (inv.upper,), inside[0]) if inside else ranging(k, inv.lower, inv.upper)
            value = Reduce("sum", binder, value)
    return _guarded(value, conds)


def _guarded(value: Expr, conds: tuple[Cond, ...]) -> Expr:
    """{ value if conds, 0 otherwise }; a bracket factor joins the conditions."""
    if isinstance(value, Mul) and isinstance(value.factors[-1], Bracket):
        conds, value = (*conds, value.factors[-1].cond), mul(*value.factors[:-1])
    if not conds:
        return value
    return Cases(((value, conds[0] if len(conds) == 1 else And(conds)), (ZERO, OTHERWISE)))

