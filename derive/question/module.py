"""Card → Module: which layer a question is about, and how each part of that was read."""

from __future__ import annotations

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.layers import LAYERS, check_tie_rule
from derive.layers.naming import module_over, with_loss
from derive.module import Module
from derive.question.asking import asked, partials
from derive.question.geometry import geometry
from derive.question.identification import equations_of, forward_formula, op_of
from derive.question.reading import read_formulas
from derive.question.stated import Reader
from derive.question.wording import words_of

_GEOMETRIES = {"dilation": "dilated windows", "ceil_mode": "`ceil_mode`", "global": "this kind of pooling"}


def module_of(card: Card) -> Module:
    """The layer that the card's question asks about.

    Raises :class:`CardError` for what is missing, ambiguous or contradictory, and
    :class:`UnsupportedError` where the card is not about a layer that is covered.
    """
    try:
        return _module_of(card)
    except DeriveError as error:
        found = error.located(card.path, card.question_line)
        raise type(found)(*dict.fromkeys(found.problems)) from None


def _module_of(card: Card) -> Module:
    formulas_read = read_formulas(card)
    words = words_of(card.question, card.question_line, formulas_read.known)
    forward = forward_formula(card, words, formulas_read)
    form = forward.form
    unread = tuple(p for _, error in formulas_read.failures for p in error.problems)
    in_words = not equations_of(formulas_read)
    wanted = asked(form, forward.table, partials(formulas_read.nodes), words.plain, in_words, formulas_read.failures)
    for what, name in _GEOMETRIES.items():
        for found in words.about(what)[:1]:
            raise UnsupportedError(Problem(f"“{found.quote}”: {name}; not covered yet", card.path, found.line))
    reader = Reader(card, words, form.rank, forward.line, unread)
    tie_rule = _tie_rule(reader)
    source = forward.table.named(form.source)
    declared = tuple(n for n in (source.sizes if source else ()) if isinstance(n, int))
    field, size = geometry(reader, form.axes, forward.source, declared if len(declared) == form.rank else ())
    return module_over(
        form,
        with_loss(forward.table, wanted.loss),
        field,
        tie_rule=tie_rule,
        name=next((spec.name for spec in LAYERS if op_of(spec) == form.op), None),
        key=card.id,
        input_size=size,
        asked=wanted.messages,
        readings=(*forward.readings, *reader.readings, *wanted.readings),
    )


def _tie_rule(reader: Reader) -> str:
    if "tie_rule" not in reader.card.front_matter:
        return "first"
    try:
        rule = check_tie_rule(reader.card.front_matter["tie_rule"])
    except CardError as error:
        reader.refuse(error.problems[0].message, reader.card.key_line("tie_rule"))
        return "first"
    reader.readings.append(f"tie rule `{rule}` (line {reader.card.key_line('tie_rule')})")
    return rule
