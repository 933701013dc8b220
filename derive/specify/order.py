"""The definitions of a layer: their order, the output, the functions they apply and the letters that are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from derive.errors import CardError, Problem, UnsupportedError
from derive.expr import Entry, Fn, Idx, Node, walk
from derive.module import Function
from derive.notation.symbols import Kind, Symbol, SymbolTable
from derive.specify.definitions import Definition, Definitions
from derive.specify.places import place


def applied_functions(used: Sequence[Definition], found: Definitions) -> tuple[Function, ...]:
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


def given_letters(used: Sequence[Definition], functions: tuple[Function, ...]) -> tuple[str, ...]:
    """The letters that are used and not defined, in their order."""
    defined = {d.entry.tensor for d in used}
    letters = [n.tensor for d in used for n in walk(d.value) if isinstance(n, Entry)]
    for f in functions:
        letters += [n.tensor for n in walk(f.body) if isinstance(n, Entry) and n.tensor not in f.parameters]
    return tuple(dict.fromkeys(name for name in letters if name not in defined))


def with_letters(table: SymbolTable, used: Sequence[Definition], given: tuple[str, ...]) -> SymbolTable:
    """The table with a symbol for every tensor, also for arguments that became inputs."""
    missing = [Symbol(name, name, Kind.TENSOR) for name in given if table.named(name) is None]
    table = table.extended(missing) if missing else table
    renamed = []
    for entry in (d.entry for d in used):
        symbol = table.named(entry.tensor)
        letters = tuple(i.name for i in entry.indices if isinstance(i, Idx))
        if symbol is not None and symbol.axes != letters and len(symbol.axes) == len(letters):
            renamed.append(replace(symbol, axes=letters))
    return table.extended(renamed) if renamed else table


def outputs_of(found: Definitions, asked: set[str], by: set[str]) -> list[str]:
    """The tensor that no other uses; of several, the one whose derivative is asked for, or all where each one's is.

    That is also y of ∂L/∂y, ``by`` which a loss is differentiated.
    """
    used = {n.tensor for d in found.tensors.values() for n in walk(d.value) if isinstance(n, Entry)}
    last = [name for name in found.tensors if name not in used]
    if not last:
        raise _cycle(found)
    chosen = [name for name in last if name in asked | by] if len(last) > 1 else last
    if len(chosen) != 1 and not {*last} <= asked:
        raise unrelated(last, found)
    return chosen


def unrelated(last: Sequence[str], found: Definitions) -> CardError:
    """What to say of outputs of which none is computed from another."""
    names = " and ".join(f"`{name}` ({place(found.tensors[name].formula)})" for name in last)
    return CardError(f"the question defines {names}, and none is computed from the other: which is the layer's "
                     r"output? Ask for its derivative, e.g. `\frac{\partial " + last[0] + r"}{\partial …}`")


def _cycle(found: Definitions) -> UnsupportedError:
    names = ", ".join(f"`{name}`" for name in found.tensors)
    return UnsupportedError(f"{names} are computed from one another; a layer's formulas lead from input to output")


def in_order(outputs: Sequence[str], found: Definitions) -> list[Definition]:
    """The definitions that the outputs need, each behind those it uses."""
    done: dict[str, Definition] = {}
    open_: list[str] = []

    def visit(name: str) -> None:
        if name in done or name not in found.tensors:
            return
        if name in open_:
            names = " → ".join(f"`{n}`" for n in (*open_[open_.index(name):], name))
            raise UnsupportedError(Problem(f"{names}: computed from one another; a layer's formulas lead from input "
                                           "to output", line=found.tensors[name].formula.line))
        open_.append(name)
        definition = found.tensors[name]
        for node in walk(definition.value):
            if isinstance(node, Entry):
                visit(node.tensor)
            elif isinstance(node, Fn) and node.name in found.functions:
                for inner in walk(found.functions[node.name][0].body):
                    if isinstance(inner, Entry):
                        visit(inner.tensor)
        open_.pop()
        done[name] = definition

    for output in outputs:
        visit(output)
    return list(done.values())


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
