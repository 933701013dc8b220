"""Which undeclared letters are vectors: what their transposes, lengths and products say, and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from derive.expr import Entry, Fn, Node, walk
from derive.notation import conditions
from derive.notation.errors import NotationError, Source
from derive.notation.faces import is_capital
from derive.notation.lowering import MARKS
from derive.notation.reader import Reader
from derive.notation.symbols import SymbolTable
from derive.notation.tree import Items
from derive.notation.vectors import claims, fits, marked, wholes

_MOST = 6  # undecided letters of one formula
_SPARE = "ijklmpqr"


def inferred(table: SymbolTable, trees: Sequence[tuple[Source, Items]], undecided: set[str]) -> SymbolTable:
    """The table with the ranks of vectors and matrices that follow; what has two ranks is left undeclared.

    Vectors are columns, or rows where ``table.rows`` says so; the other way where the formulas fit only then: s = x W.
    """
    found = _with_ranks(table, trees, undecided)
    if _all_fit(found, trees):
        return found
    turned = _with_ranks(replace(table, rows=not table.rows), trees, undecided)
    return turned if _all_fit(turned, trees) else found


def _all_fit(table: SymbolTable, trees: Sequence[tuple[Source, Items]]) -> bool:
    nodes = (_read(table, source, items) for source, items in trees)
    return all(fits(node, table, {}) for node in nodes if node is not None)


def _with_ranks(table: SymbolTable, trees: Sequence[tuple[Source, Items]], undecided: set[str]) -> SymbolTable:
    if not undecided:
        return replace(table, vectors=True)
    found: dict[str, int] = {}
    ambiguous: set[str] = set()
    nodes = [node for source, items in trees if (node := _read(table, source, items)) is not None]
    changed = True
    while changed:
        changed = False
        current = _with(table, found)
        for node in nodes:
            names = _names(node, undecided - found.keys(), current)
            if not names or len(names) > _MOST or not (marked(node) or wholes(node, current)):
                continue
            others = [n for n in nodes if n is not node and len(_names(n, undecided, current)) > 0 and (
                {*_names(n, undecided, current)} <= {*names, *found})]
            solutions = [s for s in _solutions(node, current, names) if all(fits(n, current, s) for n in others)]
            least = {name: min((s[name] for s in solutions), default=0) for name in names}
            for name in names:
                ranks = {s[name] for s in solutions}
                alone = any(s[name] != least[name] and {**s, name: least[name]} == least for s in solutions)
                if least in solutions and not alone:
                    ranks = {least[name]}  # a number, where nothing says more
                if len(ranks) == 1:
                    found[name] = ranks.pop()
                    ambiguous.discard(name)
                    changed = True
                elif ranks:
                    ambiguous.add(name)
            current = _with(table, found)
    result = _with(table, found)
    settled = tuple(s for s in result.symbols if s.name not in ambiguous - found.keys())
    return SymbolTable(settled, table.stars, True, table.rows)


def _read(table: SymbolTable, source: Source, items: Items) -> Node | None:
    try:
        return conditions.statement(Reader.of(table, source), items)
    except (NotationError, RecursionError):
        return None


def _names(node: Node, undecided: set[str], table: SymbolTable) -> list[str]:
    entries = (n for claim in claims(node, table) for n in walk(claim) if isinstance(n, Entry))
    return list(dict.fromkeys(n.tensor for n in entries if n.tensor in undecided))


def _solutions(node: Node, table: SymbolTable, names: list[str]) -> list[dict[str, int]]:
    """The ranks under which all shapes fit: small letters and marked ones no matrices if possible, capitals those."""
    marks = {n.tensor for m in walk(node) if isinstance(m, Fn) and m.name in MARKS
             for a in m.args for n in walk(a) if isinstance(n, Entry)}
    choices = [(1, 2) if name in marks else (0, 1, 2) for name in names]
    if not any(True for _ in claims(node, table)):
        return []
    fitting = [ranks for combination in itertools.product(*choices)
               if fits(node, table, ranks := dict(zip(names, combination, strict=True)))]
    small = [name for name in names if name in marks or not is_capital(name)]
    unlike = [(sum(ranks[name] == 2 for name in small), sum(ranks[name] != 2 for name in names if is_capital(name)))
              for ranks in fitting]
    return [ranks for ranks, n in zip(fitting, unlike, strict=True) if n == min(unlike)]


def _with(table: SymbolTable, found: dict[str, int]) -> SymbolTable:
    """The table with the new axes; letters of axes are indices."""
    changed = []
    for name, rank in found.items():
        symbol = table.named(name)
        if symbol is not None and rank:
            spare = [c for c in _SPARE if table.named(c) is None and c not in symbol.axes][:rank]
            changed.append(replace(symbol, axes=(*symbol.axes, *spare), unwritten=rank if symbol.axes else 0))
    return table.extended(changed) if changed else table
