"""The layer of a statement with formulas; what it leaves out is read from the question's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from derive.card import Card
from derive.errors import CardError, Problem
from derive.expr import Entry, Idx
from derive.layers import EXTREMA
from derive.layers.forward import set_axes, window_form
from derive.layers.naming import module_over, with_loss
from derive.module import ROLES, Module
from derive.notation.symbols import Kind, Symbol, SymbolTable, name_of
from derive.question.facts import facts_of
from derive.question.fields import Fields, fields_of
from derive.question.geometry import raise_problems, window_geometry
from derive.question.given_formulas import Given, read_given, read_question, refuse_idle
from derive.question.naming import letters_of, mentions
from derive.question.numbers import with_numbers
from derive.question.request import AskingInWords, request
from derive.question.roles import roles_of
from derive.question.stated import Reader
from derive.question.windows import is_extreme, op_of, tie_rule_of
from derive.question.wording import Words, words_of
from derive.specify.applied import refuse_two_readings
from derive.specify.declared import declared_by
from derive.specify.definitions import Definitions, definitions, inlined, statements
from derive.specify.facts import facts_given
from derive.specify.layer import Computed, computed, refuse_unknown, said_of, specified, well_defined
from derive.specify.order import as_layer
from derive.specify.places import place
from derive.specify.roles import Role, letter_of, roles_said
from derive.specify.stated import output_of
from derive.specify.wanted import Wanted, derivatives, partials
from derive.specify.writing import statement_of
from derive.statement import LETTERS, Statement, with_statement


def given_module(card: Card, statement: Statement, fields: Fields = ()) -> Module:
    """The layer of a statement that has forward formulas; ``fields`` are the windows of their sets.

    Raises :class:`CardError` for all of them that cannot be read, or say nothing under their key.
    """
    card = with_statement(card, statement)
    given = read_given(card, statement)
    found = inlined(definitions(given.nodes, given.table))
    refuse_idle(given, statement, found)
    named_by = partials(tuple(given.of("derive")))
    layer = _layer(statement, found, given.table, {d.of.tensor for _, d in named_by if isinstance(d.of, Entry)})
    named = [*mentions(given.prose, partial(letters_of, table=layer.table))]
    roles = roles_of(layer.given, named, card, layer.table)
    layer, roles, put_in = with_numbers(layer, roles, {d.wrt for _, d in named_by}, given.prose)
    facts = (tuple(facts_given((c for c, _ in found.facts), layer.given)) if statement.facts is not None else
             facts_of(found, given.prose, named, layer.given, layer.table))
    make = _of_a_window if not layer.functions and is_extreme(layer.used[-1].equation) and len(layer.used) == 1 else (
        _of_formulas)
    module = make(given, statement, card, layer, roles, fields)
    readings = dict.fromkeys((*said_of(layer), *put_in, *roles_said(roles), *module.readings,
                              *_idle(given, statement, layer), *said(statement)))
    return replace(module, facts=facts, key=card.id, readings=tuple(readings))


def _idle(given: Given, statement: Statement, layer: Computed) -> Iterator[str]:
    for n, text in enumerate(statement.facts or ()):
        claims = [c for _, node in given.of("facts", n) for c in statements(node)]
        if not any(True for _ in facts_given(claims, layer.given)):
            yield f"the fact ${text}$ is no condition on one of the letters given, and is left out"


def laid_over(module: Module, card: Card, statement: Statement) -> Module:
    """The layer that the question names or writes, with what the front matter says besides."""
    found = given_module(card, statement_of(module).overlaid(statement))
    request = ("asked for", "not answered") if statement.derive is not None else ()
    kept = (reading for reading in module.readings if not reading.startswith(request))
    own = (reading for reading in found.readings if reading.startswith("asked for as"))
    return replace(found, name=module.name, readings=tuple(dict.fromkeys((*kept, *own, *said(statement)))))


def _layer(statement: Statement, found: Definitions, table: SymbolTable, differentiated: set[str]) -> Computed:
    if not found.tensors:
        found, table = as_layer(found, table)
    layer = well_defined(computed(found, table, differentiated, output_of(statement, found, table)))
    refuse_unknown(layer)
    listed = {*(letter_of(t, table) for key in LETTERS for t in getattr(statement, key) or ()),
              *(s.name for s in declared_by(statement).of_kind(Kind.TENSOR))}
    refuse_two_readings([d.formula for d in layer.used], {*layer.given} - listed)
    return layer


def _of_formulas(given: Given, statement: Statement, card: Card, layer: Computed, roles: dict[str, Role],
                 fields: Fields) -> Module:
    """The layer of any formulas."""
    wanted, table = _wanted(given, statement, layer, roles)
    layer = replace(layer, table=_with_letters(statement, layer, table))
    words = _words(card, statement)
    windows: tuple[str, ...] = ()
    if not fields:
        fields, windows = fields_of(card, words, layer.used, layer.found)
    reader = Reader(card, words, len(fields[0][1].axes) if fields else 0)
    tie_rule = tie_rule_of(reader)
    size = reader.key("input_size") if fields else None
    raise_problems(reader)
    module = specified(layer, roles, wanted, (), fields, given.nodes, [f.latex for f, _ in given.nodes])
    return replace(module, tie_rule=tie_rule, input_size=None if size is None else size.value,
                   readings=(*windows, *reader.readings, *wanted.readings))


def _of_a_window(given: Given, statement: Statement, card: Card, layer: Computed, roles: dict[str, Role],
                 fields: Fields) -> Module:
    """The maximum or minimum of one input over its windows, and nothing else."""
    form = window_form(layer.used[0].equation)
    for claim in layer.found.sets:
        axes = set_axes(claim, form)
        form = form if axes is None else replace(form, axes=axes)
    wanted, table = _wanted(given, statement, layer, roles, windows=True)
    reader = Reader(card, _words(card, statement), form.rank, layer.used[0].formula.line)
    tie_rule = tie_rule_of(reader)
    source = table.named(form.source)
    declared = tuple(n for n in (source.sizes if source else ()) if isinstance(n, int))
    if fields:
        stated = reader.key("input_size")
        field, size = fields[0][1], None if stated is None else stated.value
        raise_problems(reader)
    else:
        field, size = window_geometry(reader, form.axes, place(layer.used[0].formula),
                                      declared if len(declared) == form.rank else ())
    module = module_over(
        form, with_loss(_with_letters(statement, layer, table), wanted.loss), field, tie_rule=tie_rule,
        name=next((spec.name for spec in EXTREMA if op_of(spec) == form.op), None), input_size=size,
        asked=wanted.kinds, readings=(*reader.readings, *wanted.readings))
    inputs, parameters, constants = (tuple(n for n, r in roles.items() if r.role == kind) for kind in ROLES)
    return replace(module, inputs=inputs, parameters=parameters, constants=constants)


def _words(card: Card, statement: Statement) -> Words:
    """The question's words, for the windows that the statement leaves to them; none where it says the window."""
    if statement.kernel_size is not None or statement.output_size is not None:
        return words_of("", card.question_line, {})
    return words_of(card.question, card.question_line, {})


def _with_letters(statement: Statement, layer: Computed, table: SymbolTable) -> SymbolTable:
    """The table with the statement's own letters for the loss and the upstream gradient."""
    own = [("loss", statement.loss, ()), (f"delta_{layer.output}", statement.upstream, layer.entry.indices)]
    for name, latex, indices in own:
        if latex is None:
            continue
        known = table.named(name_of(latex))
        if known is not None and known.name in layer.letters:
            key = "loss" if name == "loss" else "upstream"
            raise CardError(Problem(f"`{key}: {latex}` is a letter of the layer; give one of them another",
                                    line=statement.line(key)))
        axes = tuple(i.name for i in indices if isinstance(i, Idx))
        table = SymbolTable((*(s for s in table.symbols if s is not known and s.name != name),
                             Symbol(name, latex, Kind.TENSOR, axes)), table.stars, table.vectors, table.rows)
    return table


def _wanted(given: Given, statement: Statement, layer: Computed, roles: dict[str, Role],
            windows: bool = False) -> tuple[Wanted, SymbolTable]:
    """What ``derive`` lists, else what the question asks for; and the table with the letters of its loss."""
    asking = AskingInWords(layer.entry, (d.entry.tensor for d in layer.used), roles, layer.table)
    if statement.derive is not None:
        return request(asking, given, statement.derive, windows), layer.table
    nodes, table = read_question(given.prose, layer.table)
    asking = AskingInWords(layer.entry, (d.entry.tensor for d in layer.used), roles, table)
    for formula, derivative in derivatives(tuple(nodes)):
        asking.derivative(formula, derivative)
    asking.by_words(given.prose, in_words=False)
    wanted = asking.found()
    if not wanted.kinds:
        raise CardError(Problem("the question asks for no message or derivative; add e.g. `derive: [backward]`",
                                line=given.prose.plain.first_line))
    if windows:
        wanted = replace(wanted, kinds=("jacobian", *wanted.kinds) if "jacobian" not in wanted.kinds else wanted.kinds)
    return wanted, table


def said(statement: Statement) -> Iterator[str]:
    """What the front matter gives, so that it counts over the question's words."""
    lines = {key: line for key, _ in statement.given() if key != "derive" and (line := statement.line(key))}
    if lines:
        keys = ", ".join(f"`{key}` (line {line})" for key, line in lines.items())
        yield f"{statement.origin} counts over the question's words: {keys}"
