"""Suppositions: w = 0, g_i = 1 for all i, K = 2, m = n fix what a layer has; what is said then is said of that one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from derive.axes import axes, extent
from derive.check.judging.equalities import entrywise
from derive.check.judging.kinks import has_cases
from derive.expr import (
    Cond,
    Entry,
    Idx,
    In,
    Listed,
    Node,
    Num,
    Partial,
    Rel,
    Size,
    conditions,
    free_indices,
    joined,
    sub,
    subst,
    transform,
    walk,
)
from derive.limits import MOST_FIXED
from derive.module import Module
from derive.notation.symbols import SymbolTable

_N = TypeVar("_N", bound=Node)
Extents = dict[str, int | str]


def fixes(cond: Cond, link: Rel, module: Module) -> bool:
    """K = 2 and m = n of sizes; w = 0 of letters that are given.

    An equation must differentiate by others, or nothing may have a kink.  A size is a small number.
    Of g_i = 1 beside an equation of i that entry alone is meant.
    """
    cond = entrywise(cond)
    head, value = cond.terms if isinstance(cond, Rel) and cond.ops == ("=",) else (None, None)
    if isinstance(head, Size):
        known = {n for s in module.table.symbols for n in s.sizes}
        return head.name in known and (isinstance(value, Size) and value.name in known or isinstance(
            value, Num) and value.value.denominator == 1 and 1 <= value.value <= MOST_FIXED)
    if not isinstance(value, Num):
        return False
    if not isinstance(head, Entry) or head.tensor not in module.given or not all(
            isinstance(i, Idx) for i in head.indices) or len({*head.indices}) < len(head.indices) or (
            {*head.indices} & free_indices(link)):
        return False
    by = {e.tensor for n in walk(link) if isinstance(n, Partial) for e in walk(n.wrt) if isinstance(e, Entry)}
    return head.tensor not in by or not has_cases((link, *module.equations, *(f.body for f in module.functions)))


def fixing(cond: Cond, link: Rel, module: Module) -> bool:
    """Whether each part of a condition does so."""
    return all(fixes(c, link, module) for c in conditions(cond))


def supposing(link: Rel, cond: Cond | None, module: Module,
              table: SymbolTable) -> tuple[Rel, Cond | None, Module, SymbolTable] | None:
    """An equation about the layer with what its condition fixes, and what is left of that; None where it fixes nothing.

    Entries that are numbered up to a size that is fixed, and none of which is numbered 0, are counted from 1.
    """
    fixed = [c for c in conditions(cond) if fixes(c, link, module)]
    if not fixed:
        return None
    sizes, facts = Extents(), list[In]()
    for head, value in (c.terms for c in map(entrywise, fixed) if isinstance(c, Rel)):
        if isinstance(head, Size):
            sizes[head.name] = int(value.value) if isinstance(value, Num) else str(getattr(value, "name", ""))
        elif isinstance(head, Entry):
            facts.append(In(head, Listed((value,))))
    left = [c for c in conditions(cond) if c not in fixed]
    own, about = _sized(module, sizes), _numbers_for(link, sizes)
    shut = {(s.name, d) for s in module.table.symbols for d, n in enumerate(s.sizes) if n in sizes}
    rest = joined(_numbers_for(c, sizes) for c in left) if left else None
    return _counted_from_0(about, shut, own), rest, replace(own, facts=(*own.facts, *facts)), _at(table, sizes)


def _sized(module: Module, sizes: Mapping[str, int | str]) -> Module:
    if not sizes:
        return module
    return replace(module, table=_at(module.table, sizes),
                   equations=tuple(_numbers_for(e, sizes) for e in module.equations),
                   facts=tuple(_numbers_for(f, sizes) for f in module.facts),
                   ranges=tuple((t, d, _numbers_for(e, sizes)) for t, d, e in module.ranges))


def _at(table: SymbolTable, sizes: Mapping[str, int | str]) -> SymbolTable:
    return replace(table, symbols=tuple(
        replace(s, sizes=tuple(sizes.get(str(n), n) for n in s.sizes)) for s in table.symbols))


def _numbers_for(node: _N, sizes: Mapping[str, int | str]) -> _N:
    return subst(node, {Size(name): extent(n) for name, n in sizes.items()})


def _counted_from_0(link: Rel, shut: set[tuple[str, int]], module: Module) -> Rel:
    found = axes(module)

    def numbered() -> Iterator[tuple[int, int]]:
        for n in walk(link):
            for d, i in enumerate(n.indices if isinstance(n, Entry) else ()):
                if (place := _place(n, d)) in shut and isinstance(i, Num) and not found.origin(*place):
                    yield int(i.value), _extent(module, place)

    told = [*numbered()]
    if not told or any(n == 0 for n, _ in told) or not any(n == size for n, size in told):
        return link

    def one(n: Node) -> Node | None:
        return Entry(n.tensor, tuple(sub(i, Num(1)) if _place(n, d) in shut and isinstance(i, Num) else i
                                     for d, i in enumerate(n.indices))) if isinstance(n, Entry) else None

    return transform(link, one, Entry)


def _place(entry: Node, d: int) -> tuple[str, int]:
    assert isinstance(entry, Entry)
    return entry.tensor.removeprefix("delta_"), d


def _extent(module: Module, place: tuple[str, int]) -> int:
    symbol = module.table.named(place[0])
    sizes: Sequence[int | str] = symbol.sizes if symbol is not None else ()
    size = sizes[place[1]] if place[1] < len(sizes) else -1
    return size if isinstance(size, int) else -1


_ORDER = {"<": {-1}, "≤": {-1, 0}, "=": {0}, "≥": {0, 1}, ">": {1}, "≠": {-1, 1}}


def compatible(conds: Sequence[Cond]) -> bool:
    """Whether no two of them deny each other: not x > 0 and x < 0, not y = 0 and y = 1."""
    rels = [c for c in map(entrywise, conds) if isinstance(c, Rel) and len(c.ops) == 1 and c.ops[0] in _ORDER]
    return all(_both(a, b) for n, a in enumerate(rels) for b in rels[n + 1:] if a.terms[0] is b.terms[0])


def _both(a: Rel, b: Rel) -> bool:
    first, second = a.terms[1], b.terms[1]
    if first is second:
        return bool(_ORDER[a.ops[0]] & _ORDER[b.ops[0]])
    if not isinstance(first, Num) or not isinstance(second, Num):
        return True
    p, q = first.value, second.value
    tried = (p, q, (p + q) / 2, min(p, q) - 1, max(p, q) + 1)
    return any(_sign(v - p) in _ORDER[a.ops[0]] and _sign(v - q) in _ORDER[b.ops[0]] for v in tried)


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)
