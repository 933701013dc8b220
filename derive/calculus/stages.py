"""Messages of any module: Jacobian, vector–Jacobian product, and the message of each intermediate tensor."""

from __future__ import annotations

from typing import cast

from derive.axes import unused, with_axes
from derive.calculus.dependence import entry_of, reached
from derive.calculus.derivation import Step, concludes, step
from derive.calculus.differentiate import derivative, holding
from derive.calculus.ranges import ranged
from derive.errors import CardError
from derive.expr import ZERO, Entry, Expr, Idx, Mul, Node, Partial, Reduce, add, free_indices, mul, subst, transform
from derive.module import Module
from derive.notation.symbols import Kind


def upstream(module: Module) -> Entry:
    """δ_{f,kl} = ∂L/∂f_{kl}."""
    entry, _ = module.definition(module.output)
    return Entry(f"delta_{module.output}", entry.indices)


_LETTERS = "ijklmpqruv"


def variable(module: Module, tensor: str) -> Entry:
    """x_{ij}: the entry of a tensor with the letters of its axes, or others where the output has them."""
    symbol = module.table.named(tensor)
    if symbol is None or symbol.kind is not Kind.TENSOR:
        raise CardError(f"the layer has no tensor `{tensor}`")
    entry, _ = module.definition(module.output)
    taken = {i.name for i in free_indices(entry)}
    known = [s.name for s in module.table.of_kind(Kind.INDEX) if s.name not in taken and s.name not in symbol.axes]
    elsewhere = {letter for s in module.table.of_kind(Kind.TENSOR) for letter in s.axes}  # c of the channels
    free = [letter for letter in known if letter not in elsewhere]
    spare = [*free, *unused(module.table, _LETTERS, len(symbol.axes)), *(k for k in known if k in elsewhere)]
    letters: list[str] = []
    for letter in symbol.axes:
        chosen = letter if letter not in taken else spare.pop(0) if spare else letter + "'"
        letters.append(chosen)
    return Entry(tensor, tuple(map(Idx, letters)))


def jacobian(module: Module, wrt: str) -> Step:
    """∂y_k/∂x_i, simplified; its premise is the derivation by rules."""
    module = with_axes(module)
    entry, _ = module.definition(module.output)
    return derivative(entry, variable(module, wrt), module)


def message(module: Module, wrt: str) -> Step:
    """δ_{x,i}: ``chain`` (Σ_k δ_{y,k} ∂y_k/∂x_i), ``inserted`` (the derivative put in), ``form`` (simplified)."""
    module = with_axes(module)
    target = Entry(f"delta_{wrt}", variable(module, wrt).indices)
    summed = step("chain", target, module)
    inserted = step("inserted", target, module, summed, jacobian(module, wrt))
    return step("form", target, module, inserted)


@concludes("chain")
def _chain(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """∂L/∂x_{ij} = Σ_{k,l} ∂L/∂f_{kl} · ∂f_{kl}/∂x_{ij}."""
    assert isinstance(before, Entry)
    entry, _ = module.definition(module.output)
    body = Mul((upstream(module), Partial(entry, Entry(before.tensor.removeprefix("delta_"), before.indices))))
    return Reduce("sum", ranged(entry, body, module), body) if entry.indices else body


@concludes("inserted")
def _inserted(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """The derived ∂y_k/∂x_i in place of its name."""
    summed, derived = premises
    return transform(summed.after, lambda node: instance(node, derived) if isinstance(node, Partial) else None)


def instance(node: Partial, derived: Step) -> Expr:
    """A derived ∂f_k/∂x_i at the indices of another."""
    pattern = cast(Partial, derived.before)
    mapping: dict[Node, Node] = {}
    for mine, theirs in ((pattern.of, node.of), (pattern.wrt, node.wrt)):
        assert isinstance(mine, Entry) and isinstance(theirs, Entry)
        mapping |= dict(zip(mine.indices, theirs.indices, strict=True))
    return subst(cast(Expr, derived.after), mapping)


def stages(module: Module, wrt: str) -> tuple[Step, ...]:
    """δ of each intermediate tensor between the output and ``wrt``, the last δ_{wrt}, each from those before it."""
    module = with_axes(module)
    variable(module, wrt)
    path = [t for t in module.defined if t != module.output and _through(t, wrt, module)]
    return tuple(_stage(t, wrt, module) for t in (*reversed(path), wrt))


def _through(tensor: str, wrt: str, module: Module) -> bool:
    """The tensor lies between ``wrt`` and the output."""
    own = reached(Entry(tensor, ()), module)
    return tensor != wrt and wrt in own and tensor in reached(Entry(module.output, ()), module)


def _stage(tensor: str, wrt: str, module: Module) -> Step:
    here = variable(module, tensor) if tensor == wrt else _own(tensor, module)
    used = reached(Entry(module.output, ()), module)
    users = [t for t in module.defined if tensor in module.sources(t) and t in used]
    premises = [derivative(entry_of(t, module, (here,)), here, holding(Entry(t, ()), module)) for t in users]
    target = Entry(f"delta_{tensor}", here.indices)
    return step("form", target, module, step("stage", target, module, *premises))


def _own(tensor: str, module: Module) -> Entry:
    entry, _ = module.definition(tensor)
    return entry


@concludes("stage")
def _staged(before: Node, premises: tuple[Step, ...], module: Module) -> Node:
    """δ_{s,m} = Σ_t Σ_k δ_{t,k} ∂t_k/∂s_m over the tensors t that are computed from s."""
    terms: list[Expr] = []
    for premise in premises:
        of = cast(Entry, cast(Partial, premise.before).of)
        delta = Entry(f"delta_{of.tensor}", of.indices)
        product = mul(delta, cast(Expr, premise.after))
        if product is not ZERO:
            terms.append(Reduce("sum", ranged(delta, product, module), product) if of.indices else product)
    return add(*terms)
