"""The tables of worked examples: their numbers, computed anew from those that are given, by the forward formula."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from derive.axes import axes
from derive.expr import Entry, Node, Num, Partial
from derive.module import Module, plain
from derive.numeric.arithmetic import DECIMAL
from derive.numeric.point import Index
from derive.sheet import Sheet, Table
from derive.verify import meant
from derive.verify.points.point import Point, Values
from derive.verify.report import Check, Verdict

_PARTS = (" / ", "; ", "), ", ", ")  # between entries, of four axes down to one
_WITHIN = Fraction(51, 10**6)  # what is rounded to four decimals
Column = Mapping[Entry | Partial, dict[Index, Fraction]]


def tabled(sheet: Sheet, given: Mapping[str, Values], module: Module) -> Iterator[Check]:
    """A check for each column that does not follow from the numbers in it and those displayed before; else none."""
    given = {**{name: dict(entries) for name, entries in module.values}, **given}
    letters = {f"${m.latex}$": m.expr for m in sheet.inline if isinstance(m.expr, Entry | Partial)}
    for block in sheet.blocks():
        if isinstance(block, Table) and block.rows and all(row[0] in letters for row in block.rows):
            for place in range(1, len(block.header)):
                try:
                    column = {letters[row[0]]: _read(row[place], letters[row[0]], module) for row in block.rows}
                    wrong = _wrong(column, given, module)
                    given = {**given, **{n.tensor: v for n, v in column.items() if isinstance(n, Entry)}}
                except (ArithmeticError, LookupError, ValueError) as error:
                    wrong = f"it cannot be computed: {error}"
                if wrong:
                    yield Check("example_table", "", Verdict.REFUTED, "The numbers of a table", wrong)


def _read(cell: str, node: Node, module: Module) -> dict[Index, Fraction]:
    """The entries of a cell, at the coordinates that the layer counts."""
    name = plain(_tensor(node))
    symbol = module.table.named(name)
    rank = len(symbol.axes) if symbol is not None else 0
    starts = [axes(module).origin(name, d) for d in range(rank)]

    def entries(text: str, d: int) -> Iterator[tuple[Index, Fraction]]:
        if d == rank:
            yield (), Fraction(re.sub(r"[()\s]", "", text).replace("−", "-"))
            return
        for n, part in enumerate(text.split(_PARTS[len(_PARTS) - rank + d])):
            yield from (((n + starts[d], *at), value) for at, value in entries(part, d + 1))

    return dict(entries(cell, 0))


def _tensor(node: Node) -> str:
    entry = node.wrt if isinstance(node, Partial) else node
    assert isinstance(entry, Entry)
    return entry.tensor


def _wrong(column: Column, before: Mapping[str, Values], module: Module) -> str:
    """The first number that does not follow; "" if all do."""
    own = {_tensor(node): values for node, values in column.items() if isinstance(node, Entry)}
    upstream = f"delta_{module.output}"
    known: dict[str, Any] = {name: own.get(name) or before[name] for name in module.given}
    arrays = {name: {at: DECIMAL.number(Fraction(v)) for at, v in values.items()} for name, values in known.items()}
    point = Point(module, DECIMAL, arrays)
    back = own.get(upstream) or before.get(upstream) or dict.fromkeys(point.values[module.output], Fraction(1))
    point = point.with_upstream({at: DECIMAL.number(Fraction(v)) for at, v in back.items()})
    meant.put(point, {})
    for node, said in column.items():
        for at, value in said.items():
            found = Fraction(str(_value(point, node, at)))
            if abs(found - value) > _WITHIN:
                return f"{float(value):g} stands where {float(found):.6g} follows, of `{_tensor(node)}`"
    return ""


def _value(point: Point, node: Node, at: Index) -> Any:
    if isinstance(node, Partial) and isinstance(node.of, Entry):
        place = tuple(int(i.value) for i in node.of.indices if isinstance(i, Num))
        return point.partial(node.of.tensor, place, _tensor(node), at)
    return point.tensor(_tensor(node))[at]
