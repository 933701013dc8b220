"""The module of a maximum or minimum over windows: formula, words and front matter weighed against each other."""

from __future__ import annotations

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Extremum, Reduce, Rel
from derive.layers import EXTREMA, check_tie_rule, find
from derive.layers.catalogue import Pooling
from derive.layers.forward import window_form
from derive.layers.naming import module_over, with_loss
from derive.module import Module
from derive.question.geometry import window_geometry
from derive.question.identification import equations_of, forward_formula, op_of
from derive.question.reading import Read
from derive.question.request import asked, asked_by_statement
from derive.question.stated import Reader
from derive.question.wording import Words
from derive.specify.wanted import partials


def is_window(card: Card, words: Words, read_: Read) -> bool:
    """The question is about the maximum or minimum of one input over its windows, and nothing else."""
    if "layer" in card.front_matter:
        return isinstance(find(str(card.front_matter["layer"])), Pooling)
    equations = [equation for _, equation in equations_of(read_)]
    if not equations:
        return bool(words.about("pooling"))
    outputs = {equation.terms[0] for equation in equations}
    return len(outputs) == 1 and all(map(is_extreme, equations))


def is_extreme(equation: Rel) -> bool:
    """y_K = the maximum or minimum of one input over a window."""
    output, value = equation.terms
    assert isinstance(output, Entry)
    if isinstance(value, Extremum):
        try:
            window_form(equation)
        except DeriveError:
            return False
        return True
    if not isinstance(value, Reduce) or value.op not in ("max", "min"):
        return False
    body = value.body
    while isinstance(body, Reduce) and body.op == value.op:  # one maximum after the other
        body = body.body
    return isinstance(body, Entry) and 0 < len(output.indices) == len(body.indices)


def window_module(card: Card, words: Words, formulas_read: Read) -> Module:
    """The layer of such a question; raises as :func:`derive.question.module_of`."""
    forward = forward_formula(card, words, formulas_read)
    form = forward.form
    unread = tuple(p for _, error in formulas_read.failures for p in error.problems)
    in_words = not equations_of(formulas_read)
    wanted = asked_by_statement(card) or asked(
        form, forward.table, partials(formulas_read.nodes), words.plain, in_words, formulas_read.failures)
    refuse_other_pooling(card, words)
    reader = Reader(card, words, form.rank, forward.line, unread)
    tie_rule = tie_rule_of(reader)
    source = forward.table.named(form.source)
    declared = tuple(n for n in (source.sizes if source else ()) if isinstance(n, int))
    field, size = window_geometry(reader, form.axes, forward.source, declared if len(declared) == form.rank else ())
    return module_over(
        form,
        with_loss(forward.table, wanted.loss),
        field,
        tie_rule=tie_rule,
        name=next((spec.name for spec in EXTREMA if op_of(spec) == form.op), None),
        key=card.id,
        input_size=size,
        asked=wanted.messages,
        readings=(*forward.readings, *reader.readings, *wanted.readings),
    )


def refuse_other_pooling(card: Card, words: Words) -> None:
    """Raise :class:`UnsupportedError` for windows of a kind that is none of the catalogue's."""
    for found in words.about("unpooling")[:1]:
        raise UnsupportedError(Problem(f"“{found.quote}”: unpooling, fractional and region pooling are not covered; "
                                       "write the forward formula", card.path, found.line))


def tie_rule_of(reader: Reader) -> str:
    """The front matter's tie rule, else the first maximiser."""
    if "tie_rule" not in reader.card.front_matter:
        return "first"
    try:
        rule = check_tie_rule(reader.card.front_matter["tie_rule"])
    except CardError as error:
        reader.refuse(error.problems[0].message, reader.card.key_line("tie_rule"))
        return "first"
    reader.readings.append(f"tie rule `{rule}` (line {reader.card.key_line('tie_rule')})")
    return rule
