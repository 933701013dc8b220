"""f'(s) = … and d f(s)/ds = … about a number s alone: equations of a layer that computes f(s) and nothing else."""

from __future__ import annotations

from typing import cast

from derive.check.letters import free_number
from derive.expr import Cond, Entry, Fn, Node, Partial, Rel, conditions, eq, subst, transform, walk
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, latex_of

_VALUE = "value of f"


def of_function(link: Rel, cond: Cond | None, module: Module) -> tuple[Module, Rel, Cond | None] | None:
    """f'(s) = …, d f(s)/ds = … as the equation ∂f/∂s = … of a layer that computes f(s) and nothing else."""
    head, value = link.terms
    known = module.function(head.name[:-1]) if isinstance(head, Fn) and head.name.endswith("'") else None
    argument = head.args[0] if isinstance(head, Fn) and known is not None and len(head.args) == 1 else free_number(link)
    if not isinstance(argument, Entry) or argument.indices or known is None and (
            argument.tensor in {*module.given, *module.defined}):
        return None
    scalars = {s.name for s in module.table.of_kind(Kind.TENSOR) if not s.axes}
    own = Entry(f"{argument.tensor}_local", ())
    body = known.at((own,)) if known is not None else subst(cast(Partial, head).of, {argument: own})
    inside = {n.tensor for part in (body, value, *conditions(cond)) for n in walk(part) if isinstance(n, Entry)}
    others = tuple(sorted(inside - {own.tensor, argument.tensor}))
    if not {*others} <= scalars & {*module.given}:
        return None

    def local(node: Node) -> Node | None:
        return own if isinstance(node, Entry) and node.tensor == argument.tensor else None

    table = module.table.extended((Symbol(own.tensor, latex_of(argument.tensor), Kind.TENSOR),
                                   Symbol(_VALUE, "f", Kind.TENSOR)))
    facts = tuple(f for f in module.facts if {n.tensor for n in walk(f) if isinstance(n, Entry)} <= {*others})
    alone = Module((eq(Entry(_VALUE, ()), body),), table, _VALUE, (own.tensor,), constants=others,
                   functions=module.functions, facts=facts)
    claim = Rel((Partial(Entry(_VALUE, ()), own), transform(value, local, Entry)), ("=",))
    return alone, claim, None if cond is None else transform(cond, local, Entry)
