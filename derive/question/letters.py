"""The letters of a layer's definitions: functions that they apply, and tensors that are given."""

from __future__ import annotations

from dataclasses import replace

from derive.expr import Entry, Fn, Idx, Node, walk
from derive.module import Function
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.question.definitions import Definition, Definitions


def applied_functions(used: list[Definition], found: Definitions) -> tuple[Function, ...]:
    """The card's functions that the definitions apply, directly or through others."""
    names: dict[str, None] = {}

    def visit(node: Node) -> None:
        for part in walk(node):
            if isinstance(part, Fn) and part.name in found.functions and part.name not in names:
                names[part.name] = None
                visit(found.functions[part.name][0].body)

    for definition in used:
        visit(definition.value)
    return tuple(found.functions[name][0] for name in names)


def given_letters(used: list[Definition], functions: tuple[Function, ...]) -> tuple[str, ...]:
    """The letters that are used and not defined, in their order."""
    defined = {d.entry.tensor for d in used}
    letters = [n.tensor for d in used for n in walk(d.value) if isinstance(n, Entry)]
    for f in functions:
        letters += [n.tensor for n in walk(f.body) if isinstance(n, Entry) and n.tensor not in f.parameters]
    return tuple(dict.fromkeys(name for name in letters if name not in defined))


def with_letters(table: SymbolTable, used: list[Definition], given: tuple[str, ...]) -> SymbolTable:
    """The table with a symbol for every tensor, also for arguments that became inputs; vectors are columns."""
    table = replace(table, rows=False)
    missing = [Symbol(name, name, Kind.TENSOR) for name in given if table.named(name) is None]
    table = table.extended(missing) if missing else table
    renamed = []
    for entry in (d.entry for d in used):
        symbol = table.named(entry.tensor)
        letters = tuple(i.name for i in entry.indices if isinstance(i, Idx))
        if symbol is not None and symbol.axes != letters and len(symbol.axes) == len(letters):
            renamed.append(replace(symbol, axes=letters))
    return table.extended(renamed) if renamed else table
