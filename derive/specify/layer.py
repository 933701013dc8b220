"""The module of what formulas compute: definitions in their order, the letters given, extents and ranges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from derive.errors import CardError, Problem
from derive.expr import Entry, In, Node, Rel
from derive.layers.naming import with_loss
from derive.module import ROLES, Function, Module
from derive.notation.formulas import Formula
from derive.notation.symbols import Kind, SymbolTable
from derive.receptive_field import ReceptiveField
from derive.records import dataclass
from derive.specify import applied
from derive.specify.definitions import Definition, Definitions
from derive.specify.order import applied_functions, given_letters, in_order, outputs_of, unrelated, with_letters
from derive.specify.places import spot
from derive.specify.roles import Role
from derive.specify.sizes import refuse_overruns, with_extents, with_known_ranges, with_output_ranges
from derive.specify.wanted import Wanted
from derive.specify.well_defined import refuse_branches, refuse_numbers, refuse_open


@dataclass(frozen=True)
class Computed:
    """What the formulas compute: the definitions that lead to the ``output``, in order, and the letters given.

    ``apart`` are outputs besides, as of a list of functions, of which only derivatives by name are asked for.
    """

    found: Definitions
    table: SymbolTable
    output: str
    used: tuple[Definition, ...]
    functions: tuple[Function, ...]
    given: tuple[str, ...]
    apart: tuple[str, ...] = ()

    @property
    def entry(self) -> Entry:
        """The output at its indices."""
        return next(d.entry for d in self.used if d.entry.tensor == self.output)

    @property
    def letters(self) -> set[str]:
        """The letters given, and those defined."""
        return {*self.given, *(d.entry.tensor for d in self.used)}


def computed(found: Definitions, table: SymbolTable, differentiated: Collection[str],
             output: str | None = None, by: Collection[str] = ()) -> Computed:
    """What definitions compute; the ``output`` is what nothing else uses, of several the last ``differentiated``.

    Raises :class:`CardError` where it is unclear which is the output, :class:`UnsupportedError` for circles.
    """
    outputs = outputs_of(found, {*differentiated}, {*by}) if output is None else [output]
    used = in_order(outputs, found)
    functions = applied_functions(used, found)
    return Computed(found, table, outputs[-1], tuple(used), functions, given_letters(used, functions),
                    tuple(outputs[:-1]))


def well_defined(layer: Computed) -> Computed:
    """The layer with a symbol for each of its letters.

    Raises :class:`CardError` for definitions that leave an index open, overrun a shape, overlap in their cases
    or calculate with ∞, :class:`UnsupportedError` for numbers of very many digits.
    """
    if not layer.given:
        raise CardError(Problem("the layer has no input: its formulas compute numbers alone; write what it computes of "
                                "its input, as in `y_k = 3 x_k`",
                                line=layer.used[0].formula.line if layer.used else None))
    refuse_open(layer.used)
    refuse_overruns(layer.used, layer.table)
    bodies = (Definition(Entry(f.name, ()), f.body, layer.found.functions[f.name][1]) for f in layer.functions)
    everything = (*layer.used, *bodies)
    refuse_branches(everything, layer.table, (fact for fact, _ in layer.found.facts))
    refuse_numbers(everything, layer.table)
    return replace(layer, table=with_letters(layer.table, layer.used, layer.given))


def refuse_unknown(layer: Computed) -> None:
    """Raise :class:`UnsupportedError` for functions that are applied, and that nothing defines."""
    tensors = (s.name for s in layer.table.of_kind(Kind.TENSOR))
    applied.refuse_unknown((d.formula for d in layer.used), layer.given, tensors)
    known = {*layer.given, *layer.found.tensors, *layer.found.functions}
    applied.refuse_unknown_outputs((f for _, f in layer.found.aliases), known)


def specified(
    layer: Computed, roles: Mapping[str, Role], wanted: Wanted, facts: tuple[Rel | In, ...],
    fields: tuple[tuple[str, ReceptiveField], ...], nodes: Sequence[tuple[Formula, Node]], latexes: Iterable[str],
) -> Module:
    """The module; ``nodes`` and ``latexes`` are all that is written, for the extents and ranges in it.

    Raises :class:`CardError` for outputs of which more is asked for than the derivatives that are named.
    """
    named = {d.of.tensor for d in wanted.derivatives if isinstance(d.of, Entry)}
    if layer.apart and not (named <= layer.letters and {*wanted.kinds} <= {"jacobian", "parameters"}):
        raise unrelated((*layer.apart, layer.output), layer.found)
    inputs, parameters, constants = (tuple(n for n, r in roles.items() if r.role == kind) for kind in ROLES)
    module = Module(
        tuple(d.equation for d in layer.used),
        with_loss(layer.table, wanted.loss),
        layer.output,
        inputs,
        parameters,
        constants,
        fields=fields,
        asked=wanted.kinds,
        functions=layer.functions,
        facts=facts,
        wanted=wanted.derivatives,
        parts=wanted.parts,
    )
    return with_known_ranges(with_extents(with_output_ranges(module, nodes, latexes), layer.found))


def said_of(layer: Computed, text: str = "") -> Iterator[str]:
    """How the formulas were read; what is not in the ``text`` of the card is what its words say."""
    written = "".join(text.split())

    def placed(what: str, formula: Formula) -> str:
        worded = text and "".join(formula.latex.split()) not in written
        return f"{what} (line {formula.line}, in words): ${formula.latex}$" if worded else f"{what} ({spot(formula)})"

    for definition in layer.used:
        yield placed("layer", definition.formula)
    names = {d.entry.tensor for d in layer.used}
    for name, definition in layer.found.tensors.items():
        if name not in names:
            yield f"`{name}` does not lead to the output and is left out ({spot(definition.formula)})"
    for function in layer.functions:
        yield placed("function", layer.found.functions[function.name][1])
