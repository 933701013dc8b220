"""The module of any layer whose forward formulas stand on the card."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import derive.question.unaccounted as un
from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Expr, Partial
from derive.module import Module
from derive.notation.formulas import Formula, formulas
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.rules.letters import short
from derive.notation.rules.trees import with_trees
from derive.notation.symbols import SymbolTable
from derive.question.chain import Chain
from derive.question.chosen import with_chosen
from derive.question.claims import without_claims
from derive.question.doubts import Doubts
from derive.question.facts import facts_of
from derive.question.fields import Fields, fields_of, refuse_other_stride
from derive.question.layer_reading import read_layer
from derive.question.naming import Mention, letters_of, mentions
from derive.question.numbers import with_numbers
from derive.question.prose import Prose
from derive.question.reading import Read
from derive.question.refused import of_the_layer, refuse_parts, refuse_undefined, refuse_unplaced, refuse_unread
from derive.question.request import AskingInWords, differentiated_in_words
from derive.question.roles import roles_of, with_usual_parameters
from derive.question.slots import Place, called, refuse_called, refuse_open, refuse_requests
from derive.question.stated import Reader
from derive.question.windows import tie_rule_of
from derive.question.wording import words_of
from derive.specify.applied import refuse_two_readings
from derive.specify.definitions import Definition, Definitions, definitions, inlined
from derive.specify.layer import Computed, computed, refuse_unknown, said_of, specified, well_defined
from derive.specify.order import as_layer
from derive.specify.places import reaches_said
from derive.specify.roles import Role, roles_said
from derive.specify.stated import KINDS, formulas_of, output_of
from derive.specify.wanted import Wanted, derivatives
from derive.statement import Statement


def layer_module(card: Card, statement: Statement) -> Module:
    """The layer of the card's definitions; raises as :func:`derive.question.module_of`, of all that is open."""
    doubts = Doubts()
    try:
        return doubts.settled(_layer(card, statement, doubts))
    except DeriveError as error:
        raise doubts.with_error(error) from error


def _layer(card: Card, statement: Statement, doubts: Doubts) -> Module:
    read_, prose, of_parts = read_layer(card, formulas_of(statement, "functions", "shapes", "facts"), doubts)
    read_, chosen = with_chosen(read_, prose)
    nodes = without_claims(read_.nodes, prose)
    found = inlined(definitions(nodes, read_.table))
    table = read_.table
    if not found.tensors:
        found, table = as_layer(found, table)
    if not found.tensors:
        raise _nothing(read_)
    if not statement.derive:
        with doubts.over("derive"):
            refuse_requests(prose)
    layer, asked = _computed(statement, found, table, read_, prose)
    named = [*mentions(prose, partial(letters_of, table=layer.table)), *of_parts]
    refuse_unknown(layer)
    with doubts.over("forward"):
        _refuse_incomplete(layer, prose, named)
    refuse_two_readings([d.formula for d in layer.used], layer.given)
    roles = roles_of(layer.given, named, card, layer.table)
    with doubts.over("forward"):
        refuse_open(prose, lambda part: un.shown(part, _values(layer)))
    with doubts.over("inputs"):
        _refuse_identity(layer, roles, {d.wrt.tensor for _, d in asked if isinstance(d.wrt, Entry)})
    layer, roles, put_in = with_numbers(layer, roles, {d.wrt for _, d in asked}, prose)
    wanted = Wanted(("vjp",) if statement.derive else (), (), ())  # until the statement's own request is read
    by_letters = not {*(statement.derive or ())} & KINDS.keys()
    if statement.derive is None:
        by_letters = False
        with doubts.over("derive"):
            wanted, roles, by_letters = _wanted(layer, roles, asked, prose, bool(of_parts), read_)
    held = [*called(prose, [m for m in named if m.before or m.after], roles, of_parts)]
    if not by_letters:
        with doubts.over("inputs"):
            refuse_called(prose, held)
        held = []
    fields, tie_rule, said = _windows(card, read_, layer.used, found)
    written = [f.latex for f, _ in (*read_.nodes, *read_.failures)]
    module = specified(layer, roles, wanted, facts_of(found, prose, named, layer.given, layer.table),
                       fields, nodes, written)
    shortened = short(with_trees(formulas(card.question, card.question_line)))
    reaches = reaches_said(d.formula for d in layer.used)
    readings = (*said_of(layer), *reaches, *shortened, *chosen, *put_in,
                *roles_said(_held(roles, held, prose)), *said, *wanted.readings)
    parts = [p.name for p in Chain(prose).parts] if of_parts else []
    name = " → ".join(parts) if parts and len(parts) == len(module.equations) else None  # none but those named
    return replace(module, name=name, tie_rule=tie_rule, key=card.id, readings=tuple(dict.fromkeys(readings)))


def _computed(statement: Statement, found: Definitions, table: SymbolTable, read_: Read,
              prose: Prose) -> tuple[Computed, list[tuple[Formula, Partial]]]:
    """The layer that the definitions compute, and the derivatives that the formulas ask for."""
    inner = found.functions.keys() - found.tensors.keys()  # σ'(z) of a hint is no derivative of the layer
    asked = [(f, d) for f, d in derivatives(read_.nodes) if not (isinstance(d.of, Entry) and d.of.tensor in inner)]
    differentiated = [d.of.tensor for _, d in asked if isinstance(d.of, Entry)]
    try:
        output = output_of(statement, found, table)
        layer = computed(found, table, {*differentiated} or differentiated_in_words(prose, table), output)
    except CardError:
        refuse_unread(of_the_layer(read_.failures, prose, found.tensors, ()))  # the formula that joins them
        raise
    refuse_unread(of_the_layer(read_.failures, prose, layer.given, (layer.output, *differentiated)))
    refuse_unplaced(found.unplaced, prose, layer.output, layer.letters)
    return well_defined(layer), asked


def _refuse_identity(layer: Computed, roles: Mapping[str, Role], asked: set[str]) -> None:
    """Raise :class:`CardError` for a matrix I of which nothing is said: many a card means the identity by it."""
    symbol = layer.table.named("I")
    if symbol is not None and len(symbol.axes) == 2 and "I" in layer.given and not roles["I"].said and "I" not in asked:
        raise CardError("`I`: is it the identity matrix, or an input? Write the formula without it, as in "
                        "`x_i - 2 v_i \\sum_j v_j x_j`, or list `I` under `inputs` in the front matter")


def _values(layer: Computed) -> tuple[Expr, ...]:
    return (*(d.value for d in layer.used), *(f.body for f in layer.functions))


def _refuse_incomplete(layer: Computed, prose: Prose, named: list[Mention]) -> None:
    """Raise an error of the card for what the formulas apply or the words name, and nothing computes."""
    given = layer.given
    refuse_parts(given, layer.table, prose)
    refuse_undefined(named, given)
    un.refuse_objective(prose, {*layer.letters, *(f.name for f in layer.functions)}, given)
    un.refuse_unaccounted(prose, _values(layer), named, {*layer.letters, *(f.name for f in layer.functions)})
    un.refuse_other_output(prose, layer.letters, (s.name for s in layer.table.symbols))


def _windows(
    card: Card, read_: Read, used: Sequence[Definition], found: Definitions
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


def _wanted(layer: Computed, roles: dict[str, Role], asked: list[tuple[Formula, Partial]], prose: Prose,
            in_words: bool, read_: Read) -> tuple[Wanted, dict[str, Role], bool]:
    """What is wanted, the roles with the parameters that this takes, and whether letters alone say what."""
    asking = AskingInWords(layer.entry, (d.entry.tensor for d in layer.used), roles, layer.table)
    for formula, derivative in asked:
        asking.derivative(formula, derivative, prose.plain.place(formula))
    asking.by_words(prose, in_words)
    if asking.lacking:
        trained = with_usual_parameters(roles)
        return _wanted(layer, trained, asked, prose, in_words, read_)
    asking.unread(read_.failures)
    asking.second(prose)
    wanted = asking.found()
    if not wanted.kinds:
        message = "the question asks for no message or derivative; write e.g. “Derive the backward message.”"
        written = any(kind_of(f) in (Said.DERIVATIVE, Said.GRADIENT) for f in prose.formulas)
        raise (CardError if written else UnsupportedError)(Problem(message, line=prose.plain.first_line))
    found = replace(wanted, parts=tuple(map(prose.plain.part, wanted.places)))
    return found, roles, asking.by_letters


def _held(roles: Mapping[str, Role], held: Iterable[tuple[str, Place]], prose: Prose) -> dict[str, Role]:
    """The roles, and of letters that are called by a word which is not known, that they are held as given."""
    said = {name: f"{prose.said(*place)} says no role, and what is asked does not depend on it" for name, place in held}
    return {name: role if role.said or name not in said else Role(role.role, said[name])
            for name, role in roles.items()}
