"""Letters that are sizes, and the axis that each belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from derive.axes import Slot, axes, stands
from derive.errors import CardError
from derive.expr import (
    Add,
    Entry,
    Expr,
    Mul,
    Node,
    Num,
    Pow,
    Reduce,
    Rel,
    Size,
    open_binder,
    walk,
)
from derive.module import Module
from derive.notation.formulas import Formula
from derive.notation.symbols import Kind
from derive.question.definitions import Definitions


def with_extents(module: Module, found: Definitions) -> Module:
    """The module with each size at the axis it is the extent of.

    Raises :class:`CardError` for a size that belongs to no axis.
    """
    used = dict.fromkeys(n.name for e in module.equations for n in walk(e) if isinstance(n, Size))
    for name in used:
        if not _attached(name, module):
            slot = _slot(name, module, found)
            if slot is None:
                if any(n is Size(name) for e in module.equations for entry in walk(e) if isinstance(entry, Entry)
                       for term in entry.indices for n in walk(term)):
                    raise CardError(f"`{name}` stands in an index and has no value: state it, as in `{name} = 2`")
                raise CardError(f"the size `{name}` belongs to no axis: write it at the sum whose terms it counts, "
                                rf"e.g. `\sum_{{i=1}}^{{{name}}}`, or state a shape, `x \in \mathbb{{R}}^{{{name}}}`")
            module = _sized(module, slot, name)
    return module


def _attached(name: str, module: Module) -> bool:
    """A tensor that is given has an axis of this extent, or of one that a written range compares with it."""
    return any(s is Size(name) for s in axes(module).sizes.values()) or any(
        name in symbol.sizes for symbol in module.table.of_kind(Kind.TENSOR) if symbol.name in _letters(module))


def _letters(module: Module) -> set[str]:
    return {*module.inputs, *module.parameters, *module.constants, *module.defined}


def _slot(name: str, module: Module, found: Definitions) -> Slot | None:
    """The axis of the sum that is divided by n or √n; else of an index said to run up to n; else the only axis."""
    for equation in module.equations:
        for node in walk(equation):
            slot = _counted(node, name, module)
            if slot is not None:
                return slot
    for equation in module.equations:
        for node in walk(equation):
            if isinstance(node, Rel) and (slot := _bounded(node, name, equation)) is not None:
                return slot
    for letter, _, upper in found.ranges:
        if Size(name) in walk(upper):
            for equation in module.equations:
                for slot in stands(letter, equation):
                    return slot
    known = axes(module)
    open_ = [c for c in dict.fromkeys(known.classes.values()) if c not in known.sizes]
    return open_[0] if len(open_) == 1 else None


def _bounded(cond: Rel, name: str, equation: Rel) -> Slot | None:
    """The axis of w in w_{i−k}, where 0 ≤ i − k < A."""
    for n, term in enumerate(cond.terms):
        upper = cond.terms[n + 1 :]
        if not isinstance(term, Size) and any(Size(name) in walk(t) for t in upper):
            for entry in walk(equation):
                if isinstance(entry, Entry) and term in entry.indices:
                    return entry.tensor, entry.indices.index(term)
    return None


def _counted(node: Node, name: str, module: Module) -> Slot | None:
    """The axis along which the sum of (1/n) Σ_i x_i runs."""
    if not isinstance(node, Mul) or not any(_has_size(f, name) for f in node.factors):
        return None
    for factor in node.factors:
        inner = factor.terms[0] if isinstance(factor, Add) else factor
        for part in walk(inner):
            if isinstance(part, Reduce) and part.op == "sum" and None in part.binder.upper:
                binder, body = open_binder(part)
                slots = [s for v in binder.variables for s in stands(v, body)]
                if slots:
                    return slots[0]
    return None


def _has_size(factor: Expr, name: str) -> bool:
    base = factor
    while isinstance(base, Pow):
        base = base.base
    return base is not factor and any(n is Size(name) for n in walk(base)) and not isinstance(base, Reduce)


def _sized(module: Module, slot: Slot, name: str) -> Module:
    tensor, axis = slot
    symbol = module.table.named(tensor)
    assert symbol is not None
    sizes: list[int | str] = list(symbol.sizes) or [""] * len(symbol.axes)
    sizes[axis] = name
    return replace(module, table=module.table.extended([replace(symbol, sizes=tuple(sizes))]))


def counts(nodes: Iterable[tuple[Formula, Node]], said: set[str]) -> list[str]:
    """The letters n of (1/n) Σ_i x_i and d of (1/√d) Σ_c q_c k_c that nothing else says anything of."""
    heads: set[str] = set()
    found: dict[str, None] = {}
    inside: set[str] = set()
    for _, node in nodes:
        for part in walk(node):
            if isinstance(part, Rel) and isinstance(part.terms[0], Entry):
                heads.add(part.terms[0].tensor)
            if not isinstance(part, Mul):
                continue
            if any(isinstance(f, Reduce) and f.op == "sum" and None in f.binder.upper for f in part.factors):
                found |= dict.fromkeys(name for f in part.factors if (name := _divisor(f)) is not None)
        divisors = {d for p in walk(node) if isinstance(p, Pow) and (d := _divided(p)) is not None}
        inside |= {n.tensor for n in walk(node) if isinstance(n, Entry) and n not in divisors}
    return [name for name in found if name not in heads | said | inside]


def _divisor(factor: Expr) -> str | None:
    entry = _divided(factor) if isinstance(factor, Pow) else None
    return None if entry is None else entry.tensor


def _divided(power: Pow) -> Entry | None:
    """n of n^{−1} and of (n^{1/2})^{−1}."""
    base = power.base.base if isinstance(power.base, Pow) and power.base.exponent is Num(Fraction(1, 2)) else power.base
    return base if power.exponent is Num(-1) and isinstance(base, Entry) and not base.indices else None
