"""Sums that run past the end of what they add: Σ_{j=1}^{6} x_j of an x that has 4 entries."""

from __future__ import annotations

from collections.abc import Iterable

from derive.axes import stands
from derive.errors import CardError, Problem
from derive.expr import Num, Reduce, open_binder, walk
from derive.notation.symbols import SymbolTable
from derive.question.definitions import Definition
from derive.question.places import place


def refuse_overruns(used: Iterable[Definition], table: SymbolTable) -> None:
    """Raise :class:`CardError` where a written range has more values than a declared axis has entries."""
    for definition in used:
        for node in (n for n in walk(definition.value) if isinstance(n, Reduce)):
            binder, body = open_binder(node)
            for variable, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
                if not isinstance(low, Num) or not isinstance(high, Num):
                    continue
                count = high.value - low.value + 1
                for tensor, axis in stands(variable, body):
                    symbol = table.named(tensor)
                    size = symbol.sizes[axis] if symbol is not None and axis < len(symbol.sizes) else ""
                    if isinstance(size, int) and count > size:
                        raise CardError(Problem(
                            f"{place(definition.formula)}: an index runs through {count} values, and `{tensor}` has "
                            f"{size} along that axis; change the range or the shape", line=definition.formula.line))
