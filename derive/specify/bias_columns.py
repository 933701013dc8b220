"""A bias that stands in column 0 of the weights as a letter of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from derive.expr import ONE, ZERO, Add, Entry, Idx, Node, Reduce, transform, walk
from derive.notation.symbols import Symbol, SymbolTable

Column = tuple[str, int]  # tensor, axis


def with_biases(nodes: Iterable[Node], table: SymbolTable) -> tuple[list[Node], SymbolTable]:
    """The formulas with w_{0,j} for w_{j0}, where the other columns of w are summed from 1 on or beside it."""
    nodes = list(nodes)
    columns = dict.fromkeys(_columns(nodes))
    if not columns:
        return nodes, table

    def named(node: Node) -> Node | None:
        for tensor, axis in columns if isinstance(node, Entry) else ():
            if node.tensor == tensor and len(node.indices) > axis and node.indices[axis] is ZERO:  # type: ignore[attr-defined]
                rest = (*node.indices[:axis], *node.indices[axis + 1:])  # type: ignore[attr-defined]
                return Entry(f"{tensor}_0", rest)
        return None

    return [transform(node, named) for node in nodes], table.extended(_symbol(c, table) for c in columns)


def _columns(nodes: list[Node]) -> Iterator[Column]:
    entries = [e for node in nodes for e in walk(node) if isinstance(e, Entry) and len(e.indices) > 1]
    summed = {(e.tensor, d) for node in nodes for r in walk(node) if isinstance(r, Reduce)
              for v, low in zip(r.binder.variables, r.binder.lower, strict=True) if low is ONE
              for e in walk(r.body) if isinstance(e, Entry) for d, i in enumerate(e.indices) if i is v}
    summed |= {place for node in nodes for a in walk(node) if isinstance(a, Add) for place in _beside(a)}
    for e in entries:
        for d, i in enumerate(e.indices):
            if i is ZERO and (e.tensor, d) in summed and all(isinstance(o, Idx) for o in e.indices if o is not i):
                yield e.tensor, d


def _beside(node: Add) -> Iterator[Column]:
    """w's column in Σ_i w_{ji} x_i + w_{j0}: with limits unsaid the sum takes every i, and no bias is counted twice."""
    sums = [r for t in node.terms for r in walk(t) if isinstance(r, Reduce) and r.op == "sum"]
    for entry in (t for t in node.terms if isinstance(t, Entry)):
        yield from ((entry.tensor, d) for r in sums for e in walk(r.body) if isinstance(e, Entry)
                    for d, i in enumerate(e.indices) if e.tensor == entry.tensor and i in r.binder.variables)


def _symbol(column: Column, table: SymbolTable) -> Symbol:
    tensor, axis = column
    of = table.named(tensor)
    assert of is not None
    return Symbol(f"{tensor}_0", f"{of.latex}_0", of.kind, (*of.axes[:axis], *of.axes[axis + 1:]))
