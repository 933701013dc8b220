"""Where a question says that an output's index runs: y_t = Σ_k w_k x_{t−k}, t = K − 1, …, T − 1."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from derive.axes import axes, stands
from derive.errors import UnsupportedError
from derive.expr import (
    MINUS_ONE,
    ONE,
    Add,
    And,
    Entry,
    Expr,
    Idx,
    Node,
    Num,
    Rel,
    Size,
    add,
    eq,
    mul,
    subst,
    transform,
    walk,
)
from derive.module import Module
from derive.notation.formulas import Formula
from derive.notation.symbols import name_of

Stated = tuple[str, int, Expr, Expr]  # tensor, axis, first and last value
_LIST = re.compile(  # u_0, \dots, u_{N-1}
    r"(?P<letter>\\?[A-Za-z]+(?:\{\w\})?)\s*_\s*\{?(?P<low>[01])\}?\s*,(?:[^=]*,)?\s*\\[cl]?dots\s*,\s*(?P=letter)\s*_\s*"
    r"(?:\{\s*(?P<high>[A-Za-z])\s*(?P<less>-\s*1)?\s*\}|(?P<last>[A-Za-z]))")


def with_output_ranges(module: Module, nodes: Sequence[tuple[Formula, Node]], latexes: Iterable[str]) -> Module:
    """The module with the stated range of its outputs' indices; y counts from 0 where its range does not.

    ``latexes`` are all formulas of the question: u_0, …, u_{N−1} says what N is.
    Raises :class:`UnsupportedError` where a tensor whose range begins elsewhere is used further.
    """
    for tensor, axis, low, high in _stated(module, nodes):
        entry, value = module.definition(tensor)
        variable = entry.indices[axis]
        assert isinstance(variable, Idx)
        if stands(variable, value):
            continue  # it runs along that axis
        length = add(high, ONE, *(mul(MINUS_ONE, t) for t in (low.terms if isinstance(low, Add) else (low,))))
        if low not in (Num(0), Num(1)):
            module = _shifted(module, entry, variable, add(low, Num(-axes(module).origin(tensor, axis))))
        module = replace(module, ranges=(*module.ranges, (tensor, axis, length)))
    sizes = {n.name for _, _, length in module.ranges for n in walk(length) if isinstance(n, Size)}
    return _sized(module, sizes, [*_counted(nodes), *_listed(latexes)]) if sizes else module


def with_known_ranges(module: Module) -> Module:
    """The module without ranges whose sizes no tensor has: T of t = 0, …, T − 1, which is said of nothing else."""
    known = {s.name for s in axes(module).sizes.values() if isinstance(s, Size)}
    return replace(module, ranges=tuple(r for r in module.ranges if all(
        n.name in known for n in walk(r[2]) if isinstance(n, Size))))


def _stated(module: Module, nodes: Iterable[tuple[Formula, Node]]) -> Iterator[Stated]:
    """The ranges that stand in one statement with the equation of an output, or right behind it in the sentence."""
    joined = [(one, other) for (_, one), (formula, other) in itertools.pairwise(nodes) if not formula.display]
    for parts in [*(node.conds for _, node in nodes if isinstance(node, And)), *joined]:
        for head in (p.terms[0] for p in parts if isinstance(p, Rel) and p.ops == ("=",)):
            if not isinstance(head, Entry) or head.tensor not in module.defined:
                continue
            own, _ = module.definition(head.tensor)
            for part in parts:
                match part:
                    case Rel((low, Idx() as v, high), ("≤", ("≤" | "<") as op)) if v in head.indices and (
                            own.indices == head.indices):
                        yield head.tensor, head.indices.index(v), low, high if op == "≤" else add(high, MINUS_ONE)


def _shifted(module: Module, entry: Entry, variable: Idx, first: Expr) -> Module:
    """y_{t + first} called y_t, so that y counts as everything else does."""
    if entry.tensor != module.output:
        raise UnsupportedError(f"the index `{variable.name}` of `{entry.tensor}` starts at another number than the "
                               "indices of what it is computed from, and it is used further; let it start there too")

    def moved(equation: Rel) -> Rel:
        head, value = equation.terms
        assert isinstance(value, Expr)
        return eq(head, transform(subst(value, {variable: add(variable, first)}), _flat)) if head is entry else equation

    before = subst(entry if module.recounted is None else module.recounted[1], {variable: add(variable, first)})
    return replace(module, equations=tuple(map(moved, module.equations)), recounted=(entry, before))


def _flat(node: Node) -> Node | None:
    nested = isinstance(node, Add) and any(isinstance(t, Add) for t in node.terms)
    return add(*node.terms) if nested and isinstance(node, Add) else None


def _counted(nodes: Sequence[tuple[Formula, Node]]) -> Iterator[tuple[str, Expr]]:
    """x and T of $x_t$, $t = 0, \\dots, T - 1$."""
    for (_, one), (_, other) in itertools.pairwise(nodes):
        match one, other:
            case Entry(tensor, (Idx() as v,)), Rel((Num(low), w, high), ("≤", "≤")) if v is w:
                yield tensor, add(high, Num(1 - low))


def _listed(latexes: Iterable[str]) -> Iterator[tuple[str, Expr]]:
    r"""u and N of u_0, \dots, u_{N-1}."""
    for found in (match for latex in latexes for match in _LIST.finditer(latex)):
        counted = found["high"] if found["less"] else found["last"] or found["high"]
        if (found["low"] == "0") == bool(found["less"]):
            yield name_of(found["letter"]), Size(counted)


def _sized(module: Module, sizes: set[str], extents: Iterable[tuple[str, Expr]]) -> Module:
    """The module with the extents of tensors of one axis that ranges speak of."""
    for tensor, length in extents:
        symbol = module.table.named(tensor)
        if isinstance(length, Size) and length.name in sizes and symbol is not None and len(symbol.axes) == 1 and (
                not any(symbol.sizes)):
            module = replace(module, table=module.table.extended([replace(symbol, sizes=(length.name,))]))
    return module
