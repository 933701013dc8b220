"""The module of a chain of layers by name: its formulas read, its letters as they were given out.

    derive.solve(derive.compose("conv2d(stride=2) -> relu -> max_pool(2)"))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from derive.errors import CardError
from derive.expr import Entry, Expr, Fn, Idx, In, Node, Num, Rel
from derive.layers import composition
from derive.layers.chain import Part
from derive.layers.composition import Composed, Given
from derive.layers.lettering import letters as all_letters
from derive.module import Function, Module
from derive.notation import gather, read
from derive.notation.symbols import Kind, Symbol, SymbolTable, name_of

ASKED = ("jacobian", "vjp", "parameters")


def compose(chain: str | Sequence[Part], *, letters: Given | None = None, functions: Iterable[str] = (),
            rank: int | None = None, key: str = "layer") -> Module:
    r"""The module of a chain of layers by name, ``linear -> prelu -> squared_error``.

    ``letters`` binds letters by what they are called: ``{"target": "t", "weights": ["W", "V"]}``; ``functions`` are
    definitions, ``f(s) = \\max(0, s)``, for parts such as ``relu(function=f)``; ``rank`` is the number of the input's
    axes where the layers leave it open.  Raises :class:`CardError` for a text that is no chain and parts that do not
    fit.
    """
    defined = list(functions)
    taken = {c for text in defined for c in all_letters(text)}
    return module_of(composition.compose(chain, letters=letters, taken=taken, rank=rank), functions=defined, key=key)


def module_of(composed: Composed, *, functions: Iterable[str] = (), key: str = "layer") -> Module:
    """What a chain computes; ``functions`` are definitions f(s) = … of the card's own that it applies.

    All messages are asked for; a loss has its derivatives only.
    """
    defined = list(functions)
    table = _with_sizes(gather([*composed.formulas, *defined, *composed.facts, *composed.shapes]))
    equations = tuple([_equation(latex, table) for latex in composed.formulas])
    table = _with_axes(table, equations)
    facts = tuple(f for latex in composed.facts if isinstance(f := read(latex, table), (Rel, In)))
    output = equations[-1].terms[0]
    assert isinstance(output, Entry)
    windows = tuple((name_of(latex), field) for latex, field in composed.fields)
    asked = tuple(a for a in ASKED if a != "parameters" or composed.parameters)
    module = Module(equations, table, output.tensor, _names(composed.inputs), _names(composed.parameters),
                    _names(composed.constants), fields=windows, key=key, facts=facts, asked=asked,
                    functions=tuple([_function(read(f, table)) for f in defined]))
    return replace(module, ranges=tuple(_ranges(composed.ranges, module)))


def _names(latexes: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(name_of, latexes))


def _equation(latex: str, table: SymbolTable) -> Rel:
    found = read(latex, table)
    if not isinstance(found, Rel) or found.ops != ("=",) or not isinstance(found.terms[0], Entry):
        raise CardError(f"`{latex}` is no forward formula")
    return found


def _with_sizes(table: SymbolTable) -> SymbolTable:
    """The table with a symbol for each size that a shape alone has: P of w ∈ ℝ^P."""
    named = dict.fromkeys(n for s in table.symbols for n in s.sizes if isinstance(n, str) and n)
    return table.extended(Symbol(n, n, Kind.SIZE) for n in named if table.named(n) is None)


def _with_axes(table: SymbolTable, equations: Iterable[Rel]) -> SymbolTable:
    """The table with the letters of the equations' left sides for the axes of what they define."""
    new: list[Symbol] = []
    for entry in (e.terms[0] for e in equations):
        assert isinstance(entry, Entry)
        symbol = table.named(entry.tensor) or Symbol(entry.tensor, entry.tensor, Kind.TENSOR)
        new.append(replace(symbol, axes=tuple(i.name for i in entry.indices if isinstance(i, Idx))))
    return table.extended(new)


def _function(node: Node) -> Function:
    """f(s) = body"""
    match node:
        case Rel((Fn(name, parameters), body)) if isinstance(body, Expr):
            return Function(name, tuple(p.tensor for p in parameters if isinstance(p, Entry)), body)
    raise CardError("a function of the card is defined as in `f(s) = \\max(0, s)`")


def _ranges(latexes: Iterable[str], module: Module) -> Iterator[tuple[str, int, Expr]]:
    """0 ≤ i < n of an index on the left of an equation: how many entries that axis has."""
    for latex in latexes:
        match read(latex, module.table):
            case Rel((Num(low), Idx() as v, Expr() as high), ("≤", "<")) if not low:
                for entry in (e.terms[0] for e in module.equations):
                    if isinstance(entry, Entry) and v in entry.indices:
                        yield entry.tensor, entry.indices.index(v), high
