"""The module of a maximum or minimum over windows: formula, words and front matter weighed against each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import And, Entry, Extremum, Given, Idx, Node, Reduce, Rel, SetApp, eq, walk
from derive.layers import EXTREMA, check_tie_rule, find, forward_of
from derive.layers.catalogue import Pooling
from derive.layers.forward import COVERED, WindowForm, is_forward, set_axes, window_form
from derive.layers.naming import module_over, with_loss
from derive.module import TIE_RULES, Module
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import equates
from derive.notation.symbols import SymbolTable
from derive.question.geometry import window_geometry
from derive.question.lexicon import named
from derive.question.prose import prose_of
from derive.question.reading import Read
from derive.question.request import asked, asked_by_statement, discussed
from derive.question.stated import Reader, rank_of
from derive.question.wording import Found, Words
from derive.records import dataclass
from derive.specify.places import place
from derive.specify.wanted import partials


@dataclass(frozen=True)
class Forward:
    """The forward formula as a window, its letters, and where its window is given."""

    form: WindowForm
    table: SymbolTable
    source: str
    readings: tuple[str, ...]
    line: int | None = None


def forward_formula(card: Card, words: Words, read_: Read) -> Forward:
    named = _named_layer(card)
    pooling = words.about("pooling")
    equations = equations_of(read_)
    if not equations:
        return _without_formula(card, words, read_, named)
    unread = [error for formula, error in read_.failures if formula.display]
    if unread:
        raise CardError(*(p for error in unread for p in error.problems))
    outputs = {equation.terms[0] for _, equation in equations}
    if len(outputs) > 1:
        names = " and ".join(sorted({f"`{e.tensor}`" for e in outputs if isinstance(e, Entry)}))
        raise UnsupportedError(
            Problem(
                f"the question defines {names}; layers of several formulas are not covered yet",
                None,
                equations[-1][0].line,
            )
        )
    definitions = [(f, relation) for f, relation in relations(read_) if isinstance(relation.terms[0], SetApp)]
    form, spelt = _one_form(equations, definitions)
    source = place(equations[0][0])
    _refuse_contradiction(form.op, named, pooling, source)
    return Forward(form, read_.table, place(spelt), (f"layer ({source})",), spelt.line)


def equations_of(read_: Read) -> list[tuple[Formula, Rel]]:
    """Every y_K = value of the question; a chain y = a = b gives one for each value."""
    found = []
    for formula, relation in relations(read_):
        for value in relation.terms[1:] if set(relation.ops) == {"="} else ():
            equation = eq(relation.terms[0], value)
            if is_forward(equation):
                found.append((formula, equation))
    return found


def relations(read_: Read) -> Iterator[tuple[Formula, Rel]]:
    """Every relation of the question, also those of one formula: y_K = value, 0 ≤ k < n, or with Ω(K) = {…}."""
    for formula, node in read_.nodes:
        yield from ((formula, part) for part in _listed(node) if isinstance(part, Rel))


def _listed(node: Node) -> tuple[Node, ...]:
    if isinstance(node, And):
        return node.conds
    if isinstance(node, Given) and isinstance(node.cond, Rel) and isinstance(node.cond.terms[0], SetApp):
        return node.claim, node.cond
    return (node,)


def _one_form(
    equations: list[tuple[Formula, Rel]], definitions: list[tuple[Formula, Rel]]
) -> tuple[WindowForm, Formula]:
    """The one window that all the equations give, and the formula that spells it out, if any does."""
    forms: list[tuple[Formula, WindowForm]] = []
    for formula, equation in equations:
        try:
            forms.append((formula, window_form(equation)))
        except DeriveError as error:
            raise error.located(None, formula.line) from None
    first = forms[0][1]
    for formula, definition in definitions:
        axes = set_axes(definition, first)
        if axes is not None:
            forms.append((formula, replace(first, axes=axes)))
    spelt = next((item for item in forms if item[1].axes is not None), forms[0])
    for formula, form in forms:
        same = (form.op, form.source) == (first.op, first.source)
        if not same or (form.axes is not None and form.axes != spelt[1].axes):
            message = f"two formulas for `{first.output.tensor}` that differ ({place(forms[0][0])}); keep one"
            raise CardError(Problem(message, None, formula.line))
    name = next((form.set_name for _, form in forms if form.set_name), None)
    return replace(spelt[1], set_name=name), spelt[0]


def _named_layer(card: Card) -> tuple[Pooling, str] | None:
    """The front matter's ``layer``, and where it stands."""
    value = card.front_matter.get("layer")
    if value is None:
        return None
    line = card.key_line("layer")
    try:
        spec = find(str(value))
    except CardError as error:
        raise error.located(card.path, line) from None
    return (spec, f"line {line}: `layer: {value}`") if isinstance(spec, Pooling) else None


def op_of(spec: Pooling) -> str:
    return forward_of(spec, 2)[0].op


def _refuse_contradiction(op: str, named: tuple[Pooling, str] | None, pooling: tuple[Found, ...], source: str) -> None:
    """A formula with another reduction than the words (or the front matter) name."""
    if named is not None:
        if op_of(named[0]) != op:
            raise CardError(f"{named[1]} contradicts the formula ({source}), which has \\{op}; change one of them")
        return
    if pooling and all(found.value != op for found in pooling):
        found = pooling[0]
        quoted = f"“{found.quote}” (line {found.line})"
        message = f"{quoted} contradicts the formula ({source}), which has \\{op}; change one of them"
        raise CardError(Problem(message, None, found.line))


def _without_formula(card: Card, words: Words, read_: Read, named: tuple[Pooling, str] | None) -> Forward:
    """The catalogue's formula for what the words name, in the letters of the card where it has some."""
    pooling = words.about("pooling")
    if named is None and not pooling:
        problems = [
            p for f, error in read_.failures if r"\max" in f.latex or r"\min" in f.latex for p in error.problems
        ]
        if problems:
            raise CardError(*problems)
        raise UnsupportedError(f"the question has no forward formula and names no layer that is covered; {COVERED}")
    unread = [p for formula, error in read_.failures if equates(formula) for p in error.problems]
    if unread:
        raise CardError(*unread)
    for formula, node in read_.nodes:  # a formula that says how the layer computes, and is not understood as such
        if isinstance(node, Rel) and any(
            isinstance(p, (Reduce, Extremum)) and p.op in ("max", "min") for p in walk(node)
        ):
            raise UnsupportedError(
                Problem(f"the formula ({place(formula)}) is not covered; {COVERED}", None, formula.line)
            )
    kinds = {found.value for found in pooling}
    spec = named[0] if named else next((s for s in EXTREMA if {op_of(s)} == kinds), None)
    if spec is None:
        quoted = ", ".join(f"“{f.quote}” (line {f.line})" for f in pooling)
        raise UnsupportedError(
            f"{quoted}: which layer is meant, or how it computes, is not said or not covered; {COVERED}"
        )
    for other in words.about("other layer")[:1]:
        raise UnsupportedError(
            Problem(
                f"“{other.quote}”: the question is about more than {spec.words}; add the forward formula",
                None,
                other.line,
            )
        )
    origin = named[1] if named else str(pooling[0])
    form, table = _in_the_cards_letters(spec, card, words, read_)
    return Forward(form, table, origin, (f"layer: {spec.words} ({origin})",))


def _in_the_cards_letters(spec: Pooling, card: Card, words: Words, read_: Read) -> tuple[WindowForm, SymbolTable]:
    for _, derivative in partials(read_.nodes):
        output, source = _plain(derivative.of), _plain(derivative.wrt)
        if output and source and len(output.indices) == len(source.indices) and output.tensor != source.tensor:
            return WindowForm(op_of(spec), output, source.tensor, None, None), read_.table
    return forward_of(spec, rank_of(card, words))


def _plain(node: Node) -> Entry | None:
    """The node if it is an entry at index letters."""
    plain = isinstance(node, Entry) and node.indices and all(isinstance(i, Idx) for i in node.indices)
    return node if plain and isinstance(node, Entry) else None


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
        parts=wanted.parts,
        readings=(*forward.readings, *reader.readings, *wanted.readings),
    )


_TIE_RULES = tuple(f"ties.{rule}" for rule in TIE_RULES)


def refuse_other_pooling(card: Card, words: Words) -> None:
    """Raise :class:`UnsupportedError` for windows of a kind that is none of the catalogue's."""
    for found in words.about("unpooling")[:1]:
        raise UnsupportedError(Problem(f"“{found.quote}”: unpooling, fractional and region pooling are not covered; "
                                       "write the forward formula", card.path, found.line))


def tie_rule_of(reader: Reader) -> str:
    """The front matter's tie rule, else what the words say of ties, else the first maximiser."""
    if "tie_rule" not in reader.card.front_matter:
        return _tie_rule_said(reader)
    try:
        rule = check_tie_rule(reader.card.front_matter["tie_rule"])
    except CardError as error:
        reader.refuse(error.problems[0].message, reader.card.key_line("tie_rule"))
        return "first"
    reader.readings.append(f"tie rule `{rule}` (line {reader.card.key_line('tie_rule')})")
    return rule


def _tie_rule_said(reader: Reader) -> str:
    """«At ties the gradient is split evenly»; a rule that is none of ours is refused."""
    prose = prose_of(reader.card.question, reader.card.question_line, ())
    for tie in named(prose.text, "ties.of"):
        start, stop = prose.sentence(tie.start)
        said = {span.concept.partition(".")[2] for span in named(prose.text[start:stop], *_TIE_RULES, "ties.other")}
        if not said or discussed(prose.text, tie.start) or named(prose.text[start:stop], "ties.none"):
            continue
        if len(said) > 1 or "other" in said:
            reader.refuse(f"“{prose.plain.quote(start, stop)}”: which input takes the gradient at a tie? Add "
                          "`tie_rule: first`, `last` or `split` to the front matter", prose.plain.line(tie.start))
            continue
        reader.readings.append(f"tie rule `{(rule := said.pop())}` ({prose.said(start, stop)})")
        return rule
    return "first"
