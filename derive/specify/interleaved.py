"""Outputs that are defined one by one in turn, y_{2i} and y_{2i+1}, as one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction

from derive.expr import Add, And, Entry, Expr, Fn, Idx, Mul, Node, Num, Rel, conditions, eq, mul, subst
from derive.notation.formulas import Formula
from derive.records import dataclass

Statements = tuple[tuple[Formula, Node], ...]
Place = tuple[int, Idx, int]  # a, i and r of a i + r


@dataclass(frozen=True)
class _Part:
    """y_{2i+1} = …: where it stands, and its indices."""

    claim: Rel
    tensor: str
    places: tuple[Place, ...]


def with_interleaved(nodes: Statements) -> Statements:
    """The statements with such definitions joined, where their values agree and no entry is left out."""
    heads: dict[str, list[_Part]] = {}
    for _, node in nodes:
        for claim in _claims(node):
            for entry in claim.terms[:-1]:
                places = [_place(i) for i in entry.indices] if isinstance(entry, Entry) else []
                known = tuple(p for p in places if p is not None)
                if isinstance(entry, Entry) and len(known) == len(places) and any(a > 1 for a, _, _ in known):
                    heads.setdefault(entry.tensor, []).append(_Part(claim, entry.tensor, known))
    joined = {part.claim: one for found in heads.values() if (one := _joined(found)) for part in found}
    return tuple((formula, _with(node, joined)) for formula, node in nodes)


def _claims(node: Node) -> Iterable[Rel]:
    parts = conditions(node)
    return [p for p in parts if isinstance(p, Rel) and set(p.ops) == {"="}]


def _with(node: Node, joined: dict[Rel, Rel]) -> Node:
    if isinstance(node, And):
        return And(tuple(joined.get(c, c) if isinstance(c, Rel) else c for c in node.conds))
    return joined.get(node, node) if isinstance(node, Rel) else node


def _joined(found: list[_Part]) -> Rel | None:
    """y_i = value at ⌊i/a⌋, where the numbers 0, …, a − 1 are added to a i along each axis."""
    first = found[0].places
    same = all([p[:2] for p in part.places] == [p[:2] for p in first] for part in found)
    heads = [sum(part.claim is other.claim for other in found) for part in found]
    whole = all(count == len(part.claim.terms) - 1 for count, part in zip(heads, found, strict=True))
    values = {part.claim.terms[-1] for part in found}
    residues = itertools.product(*(range(a) for a, _, _ in first))
    covered = {tuple(r for _, _, r in part.places) for part in found}
    value = values.pop()
    if values or not same or not whole or covered != {*residues} or not isinstance(value, Expr):
        return None
    at: dict[Node, Node] = {i: Fn("floor", (mul(Num(Fraction(1, a)), i),)) for a, i, _ in first if a > 1}
    return eq(Entry(found[0].tensor, tuple(i for _, i, _ in first)), subst(value, at))


def _place(index: Node) -> Place | None:
    """2, i and 1 of 2i + 1."""
    rest = [t for t in index.terms if not isinstance(t, Num)] if isinstance(index, Add) else [index]
    shift = sum((t.value for t in index.terms if isinstance(t, Num)), Fraction(0)) if isinstance(index, Add) else 0
    match rest:
        case [Idx() as i]:
            return 1, i, int(shift)
        case [Mul((Num(value), Idx() as i))] if value.denominator == 1 and value > 0:
            return int(value), i, int(shift)
    return None
