"""The module of any layer whose forward formulas stand on the card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from derive.card import Card
from derive.errors import CardError, Problem, UnsupportedError
from derive.expr import Entry, Partial
from derive.layers.naming import with_loss
from derive.module import ROLES, Function, Module
from derive.notation.formulas import Formula, formulas
from derive.notation.symbols import Kind, SymbolTable
from derive.question.chosen import with_chosen
from derive.question.claims import without_claims
from derive.question.definitions import Definition, Definitions, definitions, inlined
from derive.question.facts import facts_of
from derive.question.fields import Fields, fields_of, refuse_other_stride
from derive.question.layer_reading import read_layer
from derive.question.naming import Mention, letters_of, mentions
from derive.question.numbers import with_numbers, with_stated_factors
from derive.question.order import applied_functions, as_layer, given_letters, in_order, output_of, with_letters
from derive.question.own_letters import likelihoods_said
from derive.question.places import place, reaches_said
from derive.question.prose import Prose
from derive.question.reading import Read
from derive.question.refused import (
    of_the_layer,
    refuse_branches,
    refuse_open,
    refuse_parts,
    refuse_two_readings,
    refuse_undefined,
    refuse_unknown,
    refuse_unknown_outputs,
    refuse_unplaced,
    refuse_unread,
)
from derive.question.roles import Role, roles_of
from derive.question.sizes import refuse_overruns, with_extents, with_known_ranges, with_output_ranges
from derive.question.stated import Reader
from derive.question.unaccounted import refuse_computed, refuse_unaccounted
from derive.question.wanted import Asking, Wanted, derivatives, differentiated_in_words
from derive.question.windows import tie_rule_of
from derive.question.wording import words_of


def layer_module(card: Card) -> Module:
    """The layer of the card's definitions; raises as :func:`derive.question.module_of`."""
    read_, prose, of_parts = read_layer(card)
    read_, chosen = with_chosen(read_, prose)
    read_, numbers = with_stated_factors(read_)
    nodes = without_claims(read_.nodes, prose)
    found = inlined(definitions(nodes, read_.table))
    table = read_.table
    if not found.tensors:
        found, table = as_layer(found, table)
    if not found.tensors:
        raise _nothing(read_)
    inner = found.functions.keys() - found.tensors.keys()  # σ'(z) of a hint is no derivative of the layer
    asked = [(f, d) for f, d in derivatives(read_.nodes) if not (isinstance(d.of, Entry) and d.of.tensor in inner)]
    differentiated = [d.of.tensor for _, d in asked if isinstance(d.of, Entry)]
    try:
        output = output_of(found, {*differentiated} or differentiated_in_words(prose, table))
    except CardError:
        refuse_unread(of_the_layer(read_.failures, prose, found.tensors, ()))  # the formula that joins them
        raise
    used = in_order(output, found)
    functions = applied_functions(used, found)
    given = given_letters(used, functions)
    refuse_unread(of_the_layer(read_.failures, prose, given, (output, *differentiated)))
    refuse_unplaced(found.unplaced, prose, output, {*given, *(d.entry.tensor for d in used)})
    _refuse_ill_defined(used, functions, found, table)
    table = with_letters(table, used, given)
    named = [*mentions(prose, partial(letters_of, table=table)), *of_parts]
    _refuse_incomplete(used, functions, found, given, table, prose, named)
    roles = roles_of(given, named, card, table)
    before = given
    used, given, roles = with_numbers(used, found, given, roles, {d.wrt for _, d in asked}, prose)
    put_in = [f"the number of ${found.numbers[n][1].latex.strip()}$ is put in (line {found.numbers[n][1].line})"
              for n in before if n not in given]
    wanted = _wanted(output, used, roles, table, asked, prose, bool(of_parts), read_)
    fields, tie_rule, said = _windows(card, read_, used, found)
    inputs, parameters, constants = (tuple(n for n, r in roles.items() if r.role == kind) for kind in ROLES)
    module = Module(
        tuple(d.equation for d in used),
        with_loss(table, wanted.loss),
        output,
        inputs,
        parameters,
        constants,
        fields=fields,
        tie_rule=tie_rule,
        key=card.id,
        asked=wanted.kinds,
        functions=functions,
        facts=facts_of(found, prose, named, given, table),
        wanted=wanted.derivatives,
    )
    written = [f.latex for f, _ in (*read_.nodes, *read_.failures)]
    module = with_known_ranges(with_extents(with_output_ranges(module, nodes, written), found))
    short = likelihoods_said(formulas(card.question, card.question_line))
    reaches = reaches_said(d.formula for d in used)
    readings = (*_said(used, functions, found), *reaches, *numbers, *short, *chosen, *put_in, *_roles_said(roles),
                *said, *wanted.readings)
    return replace(module, readings=tuple(dict.fromkeys(readings)))


def _refuse_ill_defined(
    used: list[Definition], functions: tuple[Function, ...], found: Definitions, table: SymbolTable
) -> None:
    """Raise :class:`CardError` for definitions that leave an index open, overrun a shape or overlap in their cases."""
    refuse_open(used)
    refuse_overruns(used, table)
    bodies = (Definition(Entry(f.name, ()), f.body, found.functions[f.name][1]) for f in functions)
    refuse_branches((*used, *bodies), table)


def _refuse_incomplete(
    used: list[Definition], functions: tuple[Function, ...], found: Definitions, given: tuple[str, ...],
    table: SymbolTable, prose: Prose, named: list[Mention],
) -> None:
    """Raise an error of the card for what the formulas apply or the words name, and nothing computes."""
    written = [d.formula for d in used]
    refuse_unknown(written, given, (s.name for s in table.of_kind(Kind.TENSOR)))
    refuse_unknown_outputs((f for _, f in found.aliases), {*given, *found.tensors, *found.functions})
    refuse_parts(given, table, prose)
    refuse_undefined(named, given)
    refuse_two_readings(written, given)
    refuse_computed(named, given)
    refuse_unaccounted(prose, (*(d.value for d in used), *(f.body for f in functions)), named,
                       {*given, *(d.entry.tensor for d in used), *(f.name for f in functions)})


def _windows(
    card: Card, read_: Read, used: list[Definition], found: Definitions
) -> tuple[Fields, str, tuple[str, ...]]:
    """The receptive fields, the tie rule, and how they were read."""
    words = words_of(card.question, card.question_line, read_.known)
    reader = Reader(card, words, 0)
    tie_rule = tie_rule_of(reader)
    if reader.problems:
        raise CardError(*reader.problems)
    fields, readings = fields_of(card, words, used, found)
    if not fields:
        refuse_other_stride(card, words, used)
    return fields, tie_rule, (*readings, *reader.readings)


def _nothing(read_: Read) -> UnsupportedError:
    refuse_unread(read_.failures)
    return UnsupportedError("the question has no forward formula and names no layer that is covered; write what the "
                            r"layer computes, e.g. `y_k = \sum_j W_{kj} x_j + b_k`")


def _wanted(output: str, used: list[Definition], roles: dict[str, Role], table: SymbolTable,
            asked: list[tuple[Formula, Partial]], prose: Prose, in_words: bool, read_: Read) -> Wanted:
    entry = next(d.entry for d in used if d.entry.tensor == output)
    asking = Asking(entry, (d.entry.tensor for d in used), roles, table)
    for formula, derivative in asked:
        asking.derivative(formula, derivative)
    asking.by_words(prose, in_words)
    asking.unread(read_.failures)
    asking.second(prose)
    wanted = asking.found()
    if not wanted.kinds:
        message = "the question asks for no message or derivative; write e.g. “Derive the backward message.”"
        raise UnsupportedError(Problem(message, line=prose.plain.first_line))
    return wanted


def _said(used: list[Definition], functions: tuple[Function, ...], found: Definitions) -> Iterable[str]:
    for definition in used:
        yield f"layer ({place(definition.formula)})"
    names = {d.entry.tensor for d in used}
    for name, definition in found.tensors.items():
        if name not in names:
            yield f"`{name}` does not lead to the output and is left out ({place(definition.formula)})"
    for function in functions:
        yield f"function ({place(found.functions[function.name][1])})"


def _roles_said(roles: dict[str, Role]) -> Iterable[str]:
    singular = {"inputs": "input", "parameters": "parameter", "constants": "constant"}
    for name, role in roles.items():
        yield f"{singular[role.role]} `{name}` ({role.said or 'nothing says otherwise'})"
