"""The module of any layer whose forward formulas stand on the card, by an ordered list of passes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, RequestError, UnsupportedError
from derive.expr import Add, Entry, Expr, Fn, Mul, Node, Partial, Pow, walk
from derive.module import Module
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.rules.letters import short
from derive.notation.rules.trees import stated
from derive.notation.symbols import Kind, SymbolTable
from derive.question.letters.applied import is_unsaid
from derive.question.letters.claims import (
    Doubts,
    facts_of,
    of_the_layer,
    refuse_parts,
    refuse_undefined,
    refuse_unplaced,
    refuse_unread,
    with_numbers,
    without_claims,
)
from derive.question.letters.naming import (
    Mention,
    asked_as_parameters,
    has_usual_parameters,
    letters_of,
    mentions,
    roles_of,
    with_asked_parameters,
    with_usual_parameters,
)
from derive.question.letters.to_show import to_show
from derive.question.parts.chain import Chain
from derive.question.parts.recognised import Part
from derive.question.parts.shown import shown
from derive.question.parts.unaccounted import (
    refuse_objective,
    refuse_other_labels,
    refuse_other_output,
    refuse_unaccounted,
)
from derive.question.posed import is_posed
from derive.question.posed_request import in_items, not_answered, refuse_unbound
from derive.question.requests.asking import AskingInWords, differentiated_in_words
from derive.question.requests.at_entry import in_case
from derive.question.requests.excepted import refuse_held, refuse_turned
from derive.question.requests.second import asked_second, twice
from derive.question.requests.slots import (
    Place,
    called,
    refuse_asked,
    refuse_called,
    refuse_open,
    refuse_passed,
)
from derive.question.requests.verbs import answers_in, requested
from derive.question.sentences.tokens import in_english
from derive.question.windows.geometry import input_size
from derive.question.windows.pooling import tie_rule_of
from derive.question.windows.stated import Reader
from derive.question.windows.wording import words_of
from derive.question.windows.written import Fields, fields_of, refuse_other_stride
from derive.question.worded import Worded, calls_letters, refuse_another, worded
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose
from derive.question.words.reading import Read, question_formulas
from derive.question.written import read_layer
from derive.records import dataclass
from derive.specify.applied import arguments_of, refuse_indexed_matrices, refuse_number_weights, refuse_two_readings
from derive.specify.definitions import Definitions, definitions, inlined
from derive.specify.layer import Computed, computed, refuse_unknown, said_of, specified, well_defined
from derive.specify.order import applied_functions, as_layer, given_letters, in_order
from derive.specify.roles import Role, roles_said, with_whole_numbers
from derive.specify.stated import KINDS, formulas_of, output_of
from derive.specify.wanted import Wanted, derivatives, partials
from derive.statement import Statement

_LATER: Any = None  # a pass gives it


@dataclass(frozen=True)
class State:
    """A question on its way to the module of its layer: each pass needs what those before it give."""

    card: Card
    statement: Statement
    doubts: Doubts
    read: Read = _LATER
    prose: Prose = _LATER
    nodes: tuple[tuple[Formula, Node], ...] = ()  # the formulas without what is claimed of others
    of_parts: tuple[Mention, ...] = ()  # letters of parts that only words name
    found: Definitions = _LATER
    table: SymbolTable = _LATER
    layer: Computed = _LATER
    asked: tuple[tuple[Formula, Partial], ...] = ()  # the derivatives that formulas write
    mentions: tuple[Mention, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    wanted: Wanted = Wanted((), (), ())
    by_letters: bool = False  # letters alone say what is asked
    arrives: bool = False  # the gradient that comes in is given
    posed: bool = False  # by its formulas: words describe what they compute
    worded: Worded | None = None  # how words ask for messages of what formulas compute
    held: tuple[tuple[str, Place], ...] = ()  # letters that only a word which is not known calls something
    fields: Fields = ()
    tie_rule: str = "first"
    said: tuple[str, ...] = ()  # how it was read
    module: Module = _LATER

    @property
    def differentiated(self) -> set[Expr]:
        """By what the formulas ask to differentiate."""
        return {d.wrt for _, d in self.asked}

    @property
    def values(self) -> tuple[Expr, ...]:
        """All that is computed."""
        return (*(d.value for d in self.layer.used), *(f.body for f in self.layer.functions))


def layer_module(card: Card, statement: Statement) -> tuple[Module, bool, Read]:
    """The layer of the card's definitions, whether these pose the question, and how they were read.

    Raises as :func:`derive.question.module_of`, of all that is open.
    """
    doubts = Doubts()
    state = State(card, statement, doubts)
    try:
        for run, key in PASSES:
            with doubts.over(key):
                state = run(state)
    except DeriveError as error:
        found = doubts.with_error(error)
        raise found from (None if found is error else error)
    return doubts.settled(state.module), state.posed, state.read


def formulas_read(state: State) -> State:
    """The formulas, those of parts that only words name with them."""
    read_, prose, of_parts = read_layer(state.card, formulas_of(state.statement, "functions", "shapes", "facts"),
                                        state.doubts)
    unsaid = is_unsaid("sigma", prose)
    said = (r"$\sigma$ is the logistic function, since nothing says otherwise",) if unsaid else ()
    return replace(state, read=read_, prose=prose, of_parts=tuple(of_parts), said=said,
                   nodes=without_claims(read_.nodes, prose))


def definitions_found(state: State) -> State:
    """What the formulas define; one without a letter is the layer's output."""
    found, table = inlined(definitions(state.nodes, state.read.table)), state.read.table
    if not found.tensors:
        found, table = as_layer(found, table)
    if not found.tensors:
        refuse_unread(state.read.failures)
        raise UnsupportedError("the question has no forward formula and names no layer that is covered; write what "
                               r"the layer computes, e.g. `y_k = \sum_j W_{kj} x_j + b_k`")
    return replace(state, found=found, table=table)


def request_known(state: State) -> State:
    """No word in what is asked is unknown."""
    if state.statement.derive:
        return state
    if state.posed and not calls_letters(state.prose):
        with contextlib.suppress(CardError):  # nouns may be of letters
            refuse_unbound(state.prose)
            with contextlib.suppress(CardError):  # what the letters do not say
                return replace(state, worded=worded(state.prose, state.layer, state.mentions, state.roles))
            return state
    refuse_passed(state.prose)
    refuse_another(state.prose)
    if asked_second(state.prose) is not None:
        return state  # which is told where derivatives are read
    if state.of_parts or not in_english(state.prose.text):
        refuse_asked(state.prose)
        return state
    return replace(state, worded=worded(state.prose, state.layer, state.mentions, state.roles))


def posed_by_formulas(state: State) -> State:
    """Whether letters that the formulas have say all that is asked."""
    try:
        asked = request_read(state)
    except DeriveError:
        return state
    by_output = {(f.line, f.column) for f, d in state.asked
                 if isinstance(d.wrt, Entry) and d.wrt.tensor == state.layer.output}
    arrives = asked.arrives and by_output.isdisjoint(in_items(state.prose))  # ∂L/∂y that is asked for is not given
    posed = asked.by_letters and not state.of_parts and is_posed(asked.wanted, arrives, asked.layer)
    return replace(state, posed=posed)


def layer_computed(state: State) -> State:
    """The layer that the definitions compute, and the derivatives that the formulas ask for."""
    found, prose, failures = state.found, state.prose, state.read.failures
    inner = found.functions.keys() - found.tensors.keys()  # σ'(z) of a hint is no derivative of the layer
    every = tuple(derivatives(state.read.nodes))
    asked = tuple((f, d) for f, d in every if not (isinstance(d.of, Entry) and d.of.tensor in inner))
    _refuse_functions((f for f, d in every if (f, d) not in asked or (
        isinstance(d.of, Fn) and d.of.name in inner)), prose)
    differentiated = [d.of.tensor for _, d in asked if isinstance(d.of, Entry)]
    try:
        output = output_of(state.statement, found, state.table) or _written_with(asked, found, prose)
        said = () if differentiated else differentiated_in_words(prose, state.table) or _of_gradients(found, prose)
        by = {d.wrt.tensor for _, d in asked if isinstance(d.wrt, Entry)}  # ∂L/∂y, of what nothing else uses
        each = {d.of.tensor for f, d in partials(state.read.nodes) if isinstance(d.of, Entry) and "'" not in f.latex}
        layer = computed(found, state.table, each, output, by.union(said, differentiated))
    except CardError:
        refuse_unread(of_the_layer(failures, prose, found.tensors, ()))  # the formula that joins them
        raise
    _refuse_other_derivatives(state.read.nodes, asked, layer)
    refuse_unread(of_the_layer(failures, prose, layer.given, (layer.output, *differentiated)))
    refuse_unplaced(found.unplaced, prose, layer.output, layer.letters)
    return replace(state, layer=well_defined(layer), asked=asked)


def _written_with(asked: Iterable[tuple[Formula, Partial]], found: Definitions, prose: Prose) -> str | None:
    """z of «$∂L/∂W$ in terms of $∂L/∂z$», where all that is asked for goes up to z: no message of the whole layer."""
    whole = ("message", *(f"request.{kind}" for kind in ("message", "everything", "back", "vjp", "jacobian")))
    if named(prose.text, *whole):
        return None
    written = {d for f, d in asked if answers_in(prose, f)}
    name = next((d.wrt.tensor for d in written if isinstance(d.wrt, Entry)), "")
    others = [d for _, d in asked if d not in written]
    if name not in found.tensors or len({(d.of, d.wrt) for d in written}) > 1 or len({d.of for _, d in asked}) > 1:
        return None
    used = in_order([name], found)
    known = {*given_letters(used, applied_functions(used, found)), *(d.entry.tensor for d in used)} - {name}
    by = {d.wrt.tensor for d in others if isinstance(d.wrt, Entry)}
    return name if by and by <= known else None


def _of_gradients(found: Definitions, prose: Prose) -> set[str]:
    """What may have a gradient: the numbers, where a gradient is asked for and no Jacobian."""
    asks = [s for s in named(prose.text, "request.gradient", "request.jacobian") if requested(prose.text, s.start)]
    jacobian = any(prose.text.startswith("jacobian", s.start) for s in asks)
    gradient = any(s.of("request.gradient") for s in asks) and not jacobian
    return {name for name, d in found.tensors.items() if gradient and not d.entry.indices}


def _refuse_functions(derived: Iterable[Formula], prose: Prose) -> None:
    """Raise :class:`RequestError` for dρ/dr that is asked for beside what is made with ρ."""
    for formula in derived:
        at = next((gap.start for gap in prose.gaps if (gap.formula.line, gap.formula.column) == (
            formula.line, formula.column)), None)
        if at is not None and kind_of(formula) is Said.DERIVATIVE and requested(prose.text, at) and not answers_in(
                prose, formula):
            raise RequestError(Problem(f"`{formula.latex.strip()}`: the derivative of a function that the layer "
                                       "applies; ask for it in a question of its own", line=formula.line, key="derive"))


def _refuse_other_derivatives(nodes: Iterable[tuple[Formula, Node]], asked: Iterable[tuple[Formula, Partial]],
                              layer: Computed) -> None:
    """Raise :class:`RequestError` for ∂y²/∂x and (∂L/∂w)² + λ w: not of a letter, or not the derivative itself."""
    values = {d.value for d in layer.used}
    letters = {d.entry.tensor for d in layer.used} | {f.name for f in layer.functions}
    for formula, derivative in asked:
        of = derivative.of
        if kind_of(formula) is Said.GRADIENT and not isinstance(of, Entry):
            continue  # d/da log σ(a) = …, of a hint
        if not (isinstance(of, Entry) or isinstance(of, Fn) and of.name in letters or of in values):
            raise RequestError(Problem(f"`{formula.latex.strip()}`: the derivative of something else than a letter; "
                                       "write it as a formula of its own, as in `E = …`", line=formula.line,
                                       key="derive"))
    for formula, node in nodes:
        within = isinstance(node, (Add, Mul, Pow)) and any(isinstance(n, Partial) for n in walk(node))
        if within and kind_of(formula) is Said.DERIVATIVE and not twice(formula):
            raise RequestError(Problem(f"`{formula.latex.strip()}` is more than a derivative: ask for the derivative, "
                                       "or write the formulas with it", line=formula.line, key="derive"))


def letters_named(state: State) -> State:
    """What the words call the letters."""
    table = state.layer.table
    refuse_unknown(state.layer)
    return replace(state, mentions=(*mentions(state.prose, partial(letters_of, table=table)), *state.of_parts,
                                    *asked_as_parameters(state.prose, table)))


def nothing_lacks(state: State) -> State:
    """All that the formulas apply or the words name is computed."""
    layer, prose = state.layer, state.prose
    known = {*layer.letters, *(f.name for f in layer.functions)}
    refuse_parts(layer.given, layer.table, prose)
    refuse_undefined(state.mentions, layer.given)
    refuse_objective(prose, known, layer.given)
    refuse_unaccounted(prose, state.values, state.mentions, known, described=state.posed)
    sizes = {s.name for s in layer.table.of_kind(Kind.SIZE)}
    indices = {axis for s in layer.table.symbols for axis in s.axes}
    refuse_other_output(prose, {*layer.letters} | sizes | indices, (s.name for s in layer.table.symbols))
    refuse_other_labels(prose, layer.letters)
    return state


def roles_given(state: State) -> State:
    """Inputs, parameters and constants."""
    formulas = [d.formula for d in state.layer.used]
    refuse_two_readings(formulas, state.layer.given)
    refuse_indexed_matrices(formulas, state.layer.table)
    if not named(state.prose.text, "rank.scalar"):
        refuse_number_weights(formulas, state.layer.table, {*stated(state.prose.formulas)})
    refuse_turned(state.prose, state.card)
    roles = roles_of(state.layer.given, state.mentions, state.card, state.layer.table)
    return replace(state, roles=with_whole_numbers(roles, [d.equation for d in state.layer.used]))


def words_known(state: State) -> State:
    """No word in front of a part that no formula computes is unknown."""
    if not state.posed:
        refuse_open(state.prose, lambda part: shown(part, state.values))
    return state


def no_identity(state: State) -> State:
    """Nothing is a matrix I of which nothing is said: many a card means the identity by it."""
    symbol = state.layer.table.named("I")
    asked = any(isinstance(wrt, Entry) and wrt.tensor == "I" for wrt in state.differentiated)
    if symbol is not None and len(symbol.axes) == 2 and "I" in state.layer.given and not (
            state.roles["I"].said or asked):
        raise CardError("`I`: is it the identity matrix, or an input? Write the formula without it, as in "
                        "`x_i - 2 v_i \\sum_j v_j x_j`, or list `I` under `inputs` in the front matter")
    return state


def numbers_put_in(state: State) -> State:
    """Constants and strides with their numbers."""
    layer, roles, said = with_numbers(state.layer, dict(state.roles), state.differentiated, state.prose)
    derive = state.statement.derive
    return replace(state, layer=layer, roles=roles, said=(*state.said, *said),
                   wanted=Wanted(("vjp",) if derive else (), (), ()),  # until the statement's own request is read
                   by_letters=derive is not None and not {*derive} & KINDS.keys())


def request_read(state: State) -> State:
    """What the question asks for; with parameter messages the usual letters are parameters."""
    if state.statement.derive is not None:
        return state
    layer, prose, failures = state.layer, state.prose, state.read.failures
    asking = AskingInWords(layer.entry, (d.entry.tensor for d in layer.used), dict(state.roles), layer.table)
    for formula, derivative in state.asked:
        arrives = isinstance(derivative.wrt, Entry) and derivative.wrt.tensor == layer.output  # «in terms of ∂L/∂y»
        if arrives or not answers_in(prose, formula):
            _refuse_two_paths(formula, derivative, layer, prose)
            derivative, said = in_case(formula, derivative, state.read.nodes, prose)
            asking.unanswered += [said] if said else ()
            asking.derivative(formula, derivative, prose.plain.place(formula))
    asking.by_words(prose, bool(state.of_parts))
    trained = asking.everything or asking.whole.get("parameters", False)
    if asking.lacking or trained and has_usual_parameters(state.roles):
        try:
            return request_read(replace(state, roles=with_usual_parameters(state.roles)))
        except CardError:
            if state.worded is None or not state.worded.everything:
                raise
    if (roles := with_asked_parameters(state.roles, asking.beside_a_message)) != state.roles:
        return request_read(replace(state, roles=roles))
    asking.unread(failures)
    asking.second(prose)
    wanted = asking.found()
    if asking.trivial and not wanted.kinds:
        raise CardError(f"{asking.trivial[0]}; name the input or parameter by which to differentiate")
    if not wanted.kinds:
        message = "the question asks for no message or derivative; write e.g. “Derive the backward message.”"
        written = any(kind_of(f) in (Said.DERIVATIVE, Said.GRADIENT) for f in prose.formulas)
        raise (CardError if written else UnsupportedError)(Problem(message, line=prose.plain.first_line))
    wanted = replace(wanted, parts=tuple(map(prose.plain.part, wanted.places)))
    if state.worded is not None:
        wanted = state.worded.widened(wanted, asking, layer.given)
    return replace(state, wanted=wanted, by_letters=asking.by_letters, arrives=asking.arrives)


def _refuse_two_paths(formula: Formula, derivative: Partial, layer: Computed, prose: Prose) -> None:
    r"""Raise :class:`CardError` for \partial f/\partial x of f(x, y) with y computed from x: at a fixed y or along it?
    """
    of, wrt = derivative.of, derivative.wrt
    if not isinstance(of, Entry) or not isinstance(wrt, Entry) or r"\partial" not in formula.latex:
        return
    uses = {d.entry.tensor: {n.tensor for n in walk(d.value) if isinstance(n, Entry)} for d in layer.used}
    arguments = arguments_of(of.tensor, prose.formulas)
    for name in arguments if of.tensor in uses and wrt.tensor in arguments else ():
        reached, more = {name}, {name}
        while more := {n for m in more for n in uses.get(m, ())} - reached:
            reached |= more
        if name != wrt.tensor and wrt.tensor in reached:
            total = rf"\frac{{d{of.tensor}}}{{d{wrt.tensor}}}"
            raise CardError(Problem(
                f"`{formula.latex}`: of `{of.tensor}` at a fixed `{name}`, or with `{name}` that depends on "
                f"`{wrt.tensor}`? Write `{total}` for the latter, or leave out what `{of.tensor}` is applied to",
                line=formula.line, key="derive"))


def nouns_found(state: State) -> State:
    """The letters that only a word which is not known calls something."""
    of_words = [m for m in state.mentions if m.before or m.after]
    return replace(state, held=tuple(called(state.prose, of_words, state.roles, state.of_parts)))


def nouns_known(state: State) -> State:
    """No such word, unless what is asked does not depend on what it says; then the sheet tells."""
    everything = state.worded is not None and state.worded.everything
    if not (state.by_letters and not everything):
        refuse_held(state.prose, state.roles, state.card)
    if not (state.by_letters or everything):
        refuse_called(state.prose, state.held)
        return state
    said = {name: f"{state.prose.said(*place)} says no role, and what is asked does not depend on it"
            for name, place in state.held}
    roles = {name: Role(role.role, said[name]) if name in said and not role.said else role
             for name, role in state.roles.items()}
    return replace(state, roles=roles)


def windows_found(state: State) -> State:
    """The receptive fields and the tie rule."""
    card, used = state.card, state.layer.used
    words = words_of(card.question, card.question_line, state.read.known)
    reader = Reader(card, words, 0)
    tie_rule = tie_rule_of(reader)
    if reader.problems:
        raise CardError(*reader.problems)
    fields, readings = fields_of(card, words, used, state.found)
    if not fields:
        refuse_other_stride(card, words, used)
    said = (*state.said, *roles_said(state.roles), *readings, *reader.readings)
    return replace(state, fields=fields, tie_rule=tie_rule, said=said)


def _of_biases(chain: Iterable[Part], state: State) -> Iterator[str]:
    """Of linear layers of which the words say nothing of a bias: whether they were given one."""
    for part in chain:
        if part.name == "linear" and not {"bias"} & {*part.options, *part.letters}:
            words = state.prose.said(part.start, part.end)
            trained = [m for m in state.of_parts if m.said == words]
            bias = "layer has a" if len(trained) > 1 else "unit has no"
            yield f"the {bias} bias, since nothing says otherwise ({words})"


def module_made(state: State) -> State:
    """The module, and how all of it was read."""
    card, layer, read_ = state.card, state.layer, state.read
    written = [f.latex for f, _ in (*read_.nodes, *read_.failures)]
    facts = facts_of(state.found, state.prose, list(state.mentions), layer.given, layer.table)
    module = specified(layer, state.roles, state.wanted, facts, state.fields, state.nodes, written)
    shortened = short(question_formulas(card))
    besides = not_answered(state.prose) if state.posed or state.worded is not None else ()
    chain = Chain(state.prose).parts if state.of_parts else []
    size, sized = _size_said(state, module)
    readings = (*said_of(layer, card.text), *shortened, *state.said, *_of_biases(chain, state), *state.wanted.readings,
                *sized, *besides)
    parts = [p.name for p in chain]
    name = " → ".join(parts) if parts and len(parts) == len(module.equations) else None  # none but those named
    claims = dict(to_show(read_, state.prose, module))
    readings = (*readings, *(f"not answered, since it is not judged: ${f.latex.strip()}$ (line {f.line})"
                             for f, claim in claims.items() if claim is None))
    return replace(state, module=replace(module, name=name, tie_rule=state.tie_rule, key=card.id, input_size=size,
                                         readings=tuple(dict.fromkeys(readings)),
                                         claims=tuple({claim: f.line for f, claim in claims.items() if claim}.items())))


def _size_said(state: State, module: Module) -> tuple[tuple[int, ...] | None, list[str]]:
    """(6, 6) of «an input of size 6×6», where a layer has one input, of so many axes, that no formula sizes."""
    symbol = module.table.named(module.inputs[0]) if len(module.inputs) == 1 else None
    if symbol is None or not all(isinstance(n, str) for n in symbol.sizes):
        return None, []
    reader = Reader(state.card, words_of(state.card.question, state.card.question_line, state.read.known),
                    len(symbol.axes))
    size = input_size(reader, ())
    return (None, []) if size is None or reader.problems else (size.value, [
        f"input of size {'×'.join(map(str, size.value))} ({size.source})"])


# Each pass, and the key of the front matter that settles what it refuses: the others still run; else reading ends.
PASSES: tuple[tuple[Callable[[State], State], str], ...] = (
    (formulas_read, ""),
    (definitions_found, ""),
    (layer_computed, ""),
    (letters_named, ""),
    (roles_given, ""),
    (no_identity, "inputs"),
    (numbers_put_in, ""),
    (posed_by_formulas, ""),
    (request_known, "derive"),
    (nothing_lacks, "forward"),
    (words_known, "forward"),
    (request_read, "derive"),
    (nouns_found, ""),
    (nouns_known, "inputs"),
    (windows_found, ""),
    (module_made, ""),
)
