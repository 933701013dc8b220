"""Letters for what a sheet must name and the card does not: sizes, window entries, directions."""

from __future__ import annotations

from dataclasses import replace

from derive.expr import Expr, Num, Size
from derive.module import Module
from derive.notation.symbols import Kind, Symbol, SymbolTable

INPUT_SIZES = "HWDUVAB"
OUTPUT_SIZES = "MNPQRST"


def unused(table: SymbolTable, pool: str, count: int = 1) -> tuple[str, ...]:
    """The first ``count`` letters of the pool that the table does not use in any form."""
    taken = {part for s in table.symbols for part in (s.name, s.latex.lstrip("\\"), *s.axes, *s.members)}
    taken |= {n for s in table.symbols for n in s.sizes if isinstance(n, str)}
    taken |= {s.latex[-2] for s in table.symbols if s.latex.endswith("}")}  # \mathcal{A}, \hat{y}
    taken |= {s.latex[0] for s in table.symbols if s.latex[1:2] in ("_", "^")}  # i_t
    return tuple([letter for letter in pool if letter not in taken][:count])


def with_size_letters(module: Module) -> Module:
    """The module with a letter for the extent of every axis of input and output."""
    table, field = module.table, module.receptive_field
    source, output = table.named(module.inputs[0]), table.named(module.output)
    if field is None or source is None or output is None:
        return module
    rank = len(field.axes)
    sizes, extents = unused(table, INPUT_SIZES, rank), unused(table, OUTPUT_SIZES, rank)
    named = [Symbol(s, s, Kind.SIZE) for s in (*sizes, *extents)]
    shapes = {module.inputs[0]: sizes, f"delta_{module.inputs[0]}": sizes}
    shapes |= {module.output: extents, f"delta_{module.output}": extents}
    sized = [replace(s, sizes=shapes[s.name]) for s in table.symbols if s.name in shapes]
    return replace(module, table=table.extended([*sized, *named]))


def extent(size: int | str) -> Expr:
    """The size as an expression."""
    return Num(size) if isinstance(size, int) else Size(size)
