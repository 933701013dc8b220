"""Matrix notation in components: S z is Σ_q S_q z_q."""

from __future__ import annotations

from derive.expr import ONE, Entry, Idx, Mul, Node, Num, Reduce, Size, ranging, transform
from derive.notation.symbols import SymbolTable


def componentwise(node: Node, table: SymbolTable) -> Node:
    """The statement with each product of two whole vectors written as a sum over their components."""
    def product(part: Node) -> Node | None:
        if not (isinstance(part, Mul) and len(part.factors) == 2):
            return None
        sizes = [_length(factor, table) for factor in part.factors]
        if sizes[0] is None or sizes[0] != sizes[1]:
            return None
        t, n = Idx("$component"), sizes[0]
        top = Num(n) if isinstance(n, int) else Size(n)
        entries = tuple(Entry(f.tensor, (t,)) for f in part.factors if isinstance(f, Entry))
        return Reduce("sum", ranging(t, ONE, top), Mul(entries))

    return transform(node, product)


def _length(factor: Node, table: SymbolTable) -> int | str | None:
    """The extent of a whole vector; None for anything else."""
    if not isinstance(factor, Entry) or factor.indices:
        return None
    symbol = table.named(factor.tensor)
    return symbol.sizes[0] if symbol is not None and len(symbol.axes) == 1 and symbol.sizes else None
