"""A function alone on a card, f(s) = max(0, s), or a derivative of an expression: that is the layer."""

from __future__ import annotations

from dataclasses import replace

from derive.expr import Entry, Fn, walk
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.question.definitions import Definition, Definitions

_OUTPUTS = "yfguvh"  # for the value of tanh(x) = …, which has no letter of its own


def as_layer(found: Definitions, table: SymbolTable) -> tuple[Definitions, SymbolTable]:
    """The definitions with the function as the output, its argument as the input; unchanged where there is none."""
    applied = {n.name for f, _ in found.functions.values() for n in walk(f.body) if isinstance(n, Fn)}
    last = [(f, formula) for name, (f, formula) in found.functions.items() if name not in applied]
    free = next((c for c in _OUTPUTS if table.named(c) is None), "y")
    if len(last) == 1:
        function, formula = last[0]
        symbol = table.named(function.name)
        output = Symbol(function.name, symbol.latex if symbol else function.name, Kind.TENSOR)
        body = function.body
    elif not last and len(found.differentiated) == 1:
        body, formula = found.differentiated[0]
        output = Symbol(free, free, Kind.TENSOR)
    elif not last and len(found.known) == 1:
        body, formula = found.known[0]
        output = Symbol(free, free, Kind.TENSOR)
    else:
        return found, table
    definition = Definition(Entry(output.name, ()), body, formula)
    functions = {name: f for name, f in found.functions.items() if name != output.name}
    return replace(found, tensors={output.name: definition}, functions=functions), table.extended([output])
