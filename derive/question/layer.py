"""The module of any layer whose forward formulas stand on the card, by an ordered list of passes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import partial
from typing import Any

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Add, Entry, Expr, Fn, Idx, Mul, Node, Num, Partial, Pow, Reduce, SetApp, SetOf, walk
from derive.layers.intervals import Interval, intervals
from derive.module import Module
from derive.notation import gather, read_formula
from derive.notation.formulas import Formula
from derive.notation.rules import LETTERS, RULES, rewritten
from derive.notation.rules.kinds import Said, equates, kind_of
from derive.notation.rules.letters import short
from derive.notation.rules.trees import Run, equals, sides, statements, with_trees
from derive.notation.symbols import Kind, Symbol, SymbolTable, latex_of, name_of
from derive.question.applied import with_named, with_softmax
from derive.question.around import placed_parts
from derive.question.chain import Chain
from derive.question.claims import (
    Doubts,
    computes_nothing,
    facts_of,
    of_the_layer,
    refuse_parts,
    refuse_undefined,
    refuse_unplaced,
    refuse_unread,
    with_chosen,
    with_numbers,
    without_claims,
)
from derive.question.defining import defined_in_words
from derive.question.excepted import refuse_held, refuse_turned
from derive.question.geometry import window_geometry
from derive.question.lexicon import named
from derive.question.naming import (
    Mention,
    bare_letters,
    letters_of,
    mentions,
    ranks_said,
    roles_of,
    rows_said,
    sizes_said,
    softmax_said,
    with_shapes_said,
    with_usual_parameters,
)
from derive.question.parts import continued_parts, refuse_linear, stated_parts
from derive.question.prose import Prose, prose_of
from derive.question.reading import (
    Read,
    declares,
    one_equation,
    question_formulas,
    read_parts,
    with_cases_said,
)
from derive.question.request import AskingInWords, differentiated_in_words, twice
from derive.question.shown import shown
from derive.question.slots import Place, called, refuse_called, refuse_open, refuse_requests
from derive.question.stacked import with_rows
from derive.question.stated import Reader
from derive.question.unaccounted import (
    is_aside,
    refuse_objective,
    refuse_other_labels,
    refuse_other_output,
    refuse_unaccounted,
)
from derive.question.windows import refuse_other_pooling, tie_rule_of
from derive.question.wording import Words, words_of
from derive.receptive_field import ReceptiveField, WindowAxis
from derive.records import dataclass
from derive.specify.applied import refuse_two_readings
from derive.specify.bias_columns import with_biases
from derive.specify.definitions import Definition, Definitions, definitions, inlined
from derive.specify.layer import Computed, computed, refuse_unknown, said_of, specified, well_defined
from derive.specify.order import as_layer
from derive.specify.places import place
from derive.specify.roles import Role, roles_said
from derive.specify.sizes import counts
from derive.specify.stated import KINDS, formulas_of, output_of
from derive.specify.wanted import Wanted, derivatives
from derive.statement import Statement


@dataclass(frozen=True)
class Written:
    """The formulas of a question without those of parts that only words name; ``counted`` are letters of sizes."""

    formulas: list[Formula]
    read: Read
    prose: Prose
    counted: list[str]


_TOPICS = {
    "dual": "a dual problem", "em": "the EM algorithm", "posterior": "a posterior",
    "estimate": "an estimate from samples", "bound": "a bound", "expectation": "an expectation",
    "closed": "a closed-form solution",
}  # fmt: skip
_CHOICES = re.compile(r"(?m)^\s*(?:[-*]\s*)?\(?[A-E]\)\s")  # (a), (b), (c) are parts of a question


def refuse_other_topics(card: Card, prose: Prose) -> None:
    """Raise :class:`UnsupportedError` for a question whose words say that it is not about a layer."""
    if str(card.front_matter.get("type", "")).startswith("multiple") or len(_CHOICES.findall(card.question)) > 2:
        raise UnsupportedError("a question with answers to choose from; only derivations are covered")
    for span in named(prose.text, "topic"):
        kind = span.concept.partition(".")[2]
        if kind in _TOPICS and not named(prose.text, "topic.layer"):
            quoted = prose.plain.quote(span.start, span.stop)
            raise UnsupportedError(Problem(f"“{quoted}”: the question is about {_TOPICS[kind]}, not about a layer's "
                                           "messages", line=prose.plain.line(span.start)))
        if kind == "recurrent" and not named(prose.text, "topic.steps"):
            raise UnsupportedError(Problem(f"“{prose.plain.quote(span.start, span.stop)}”: recursions are not covered",
                                           line=prose.plain.line(span.start)))


def read_written(card: Card, stated: Iterable[Formula] = ()) -> Written:
    """The formulas of a question and of its front matter; functions that are applied by name are written out.

    Raises :class:`UnsupportedError` where the words say that it is not about a layer.
    """
    written = rewritten(question_formulas(card), LETTERS)
    prose = prose_of(card.question, card.question_line, written)
    refuse_other_topics(card, prose)
    written = with_rows(with_trees(with_shapes_said(with_cases_said(written, prose), prose)), prose)
    written += with_trees(defined_in_words(replace(prose, formulas=tuple(written)), written))
    prose = replace(prose, formulas=tuple(written))
    found = with_named(rewritten(with_softmax([*written, *stated], prose), RULES), prose)
    read_ = _read_all(found, prose)
    spoken = {name_of(c) for m in mentions(prose, bare_letters) if m.before or m.after for c in m.letters}
    counted = counts(read_.nodes, spoken)
    return Written(found, _read_all(found, prose, counted) if counted else read_, prose, counted)


def read_layer(card: Card, stated: Iterable[Formula], doubts: Doubts) -> tuple[Read, Prose, list[Mention]]:
    """The formulas of a question, its prose, and what the letters are of parts that only words name.

    Raises as :func:`read_written`.
    """
    own = read_written(card, stated)
    read_, prose, found = own.read, own.prose, own.formulas
    if any(equates(formula) and not computes_nothing(formula) for formula, _ in read_.failures):
        return read_, prose, []
    derived = any(isinstance(n, Partial) for _, node in read_.nodes for n in walk(node))
    defined = definitions(without_claims(read_.nodes, prose), read_.table)
    new, letters = stated_parts(prose, found, defined, doubts)
    if not new and defined.tensors:
        new, letters = continued_parts(prose, found, defined, read_.table, doubts)
    if not new:
        new, letters = placed_parts(prose, found, defined, read_.table, doubts)
    if not new and not derived:
        refuse_linear(prose, defined)
    if new:
        read_ = _read_all(with_named([*found, *rewritten(new)], prose), prose, own.counted)
    return read_, prose, letters


def _read_all(found: Sequence[Formula], prose: Prose, counted: Iterable[str] = ()) -> Read:
    """The formulas under the letters that all of them declare; ``counted`` are sizes."""
    said = dict.fromkeys((*sizes_said(prose), *map(latex_of, counted)))
    sizes = [Symbol(name_of(latex), latex, Kind.SIZE) for latex in said]
    table = gather(found, SymbolTable(tuple(sizes)), ranks_said(prose), rows_said(prose), softmax_said(prose))
    nodes: list[tuple[Formula, Node]] = []
    failures: list[tuple[Formula, DeriveError]] = []
    for formula in found:
        for part, result in read_parts(formula, table):
            node = result if isinstance(result, Node) else _read_in_part(part, table)
            if node is not None:
                nodes.append((part, node))
            elif isinstance(result, DeriveError) and not declares(part):
                failures.append((part, result))
    renamed, table = with_biases((node for _, node in nodes), table)
    return Read(tuple(zip((part for part, _ in nodes), renamed, strict=True)), tuple(failures), table, {})


def _read_in_part(formula: Formula, table: SymbolTable) -> Node | None:
    """Of ∂y/∂x = (not read), the derivative; of y = (not read) = value, the definition; else nothing."""
    parts = statements(formula.tree or ())
    runs = sides(parts[0]) if parts else []
    if len(runs) < 2 or not one_equation(formula) or not all(runs):
        return None
    found = [_or_none(formula, run, table) for run in runs]
    head, last = found[0], found[-1]
    if head is not None and any(isinstance(n, Partial) for n in walk(head)):
        return head
    if len(runs) > 2 and isinstance(head, Entry) and isinstance(last, Expr) and None in found[1:-1]:
        return _or_none(formula, (*runs[0], equals(runs[0][-1]), *runs[-1]), table)
    return None


def _or_none(formula: Formula, items: Run, table: SymbolTable) -> Node | None:
    try:
        return read_formula(replace(formula, tree=items), table)
    except DeriveError:
        return None


def refuse_other_stride(card: Card, words: Words, used: Sequence[Definition]) -> None:
    """Raise :class:`CardError` where the words or the front matter give another stride than the formula."""
    written = [(definition, found) for definition in used if (found := _strides(definition))]
    if len(written) != 1:
        return
    definition, strides = written[0]
    said = [(f.value, f"“{f.quote}”", f.line) for f in words.about("stride") if isinstance(f.value, tuple)]
    given = card.front_matter.get("stride")
    if isinstance(given, int) and not isinstance(given, bool):
        said.append(((given,), f"`stride: {given}`", card.key_line("stride") or 1))
    for value, quoted, line in said:
        wanted = set(value) if len(value) == 1 else None
        if (wanted is not None and wanted != set(strides)) or (wanted is None and value != strides):
            times = "×".join(map(str, strides))
            raise CardError(Problem(f"{quoted} contradicts the formula ({place(definition.formula)}), which has stride "
                                    f"{times}; change one of them", card.path, line))


def _strides(definition: Definition) -> tuple[int, ...]:
    """2, 2 of y_{kl} = … x_{2k+p, 2l+q} …: the coefficients of the output's indices beside an index that runs."""
    outputs = [i for i in definition.entry.indices if isinstance(i, Idx)]
    for entry in walk(definition.value):
        if isinstance(entry, Entry):
            found = [s for term in entry.indices if (s := _stride(term, outputs)) is not None]
            if found:
                return tuple(found)
    return ()


def _stride(term: Expr, outputs: list[Idx]) -> int | None:
    if not isinstance(term, Add):
        return None
    moving = [t for t in term.terms if any(i in walk(t) for i in outputs)]
    running = [t for t in term.terms if t not in moving and any(isinstance(n, Idx) for n in walk(t))]
    if len(moving) != 1 or not running:
        return None
    if any(isinstance(t, Mul) and isinstance(t.factors[0], Num) and t.factors[0].value < -1 for t in running):
        return None  # i − 2j: a transposed convolution of stride 2, or a dilated one
    match moving[0]:
        case Idx():
            return 1
        case Mul((Num(value), Idx())):
            return int(value) if value.denominator == 1 else None
    return None


Fields = tuple[tuple[str, ReceptiveField], ...]


def fields_of(card: Card, words: Words, used: Sequence[Definition],
              found: Definitions) -> tuple[Fields, tuple[str, ...]]:
    """The receptive field of each window set, and how it was read.

    Raises :class:`CardError` where a window's size is missing or contradictory.
    """
    sets = {node.name: (node, d) for d in used for node in walk(d.value) if isinstance(node, SetApp) and node.args}
    if not sets:
        return (), ()
    if len(sets) > 1:
        names = " and ".join(f"`{name}`" for name in sets)
        raise CardError(f"two kinds of windows, {names}: write their ranges into the formulas instead")
    refuse_other_pooling(card, words)
    (name, (applied, definition)), = sets.items()
    _refuse_contradiction(words, used)
    reader = Reader(card, words, len(applied.args), definition.formula.line)
    field, _ = window_geometry(reader, _spelt(applied, found), place(definition.formula))
    _refuse_other_count(words, definition, name, field)
    return ((name, field),), tuple(reader.readings)


def _spelt(applied: SetApp, found: Definitions) -> tuple[Interval, ...] | None:
    """The window of Ω(k, l) = {…}."""
    for claim in found.sets:
        left, right = claim.terms[0], claim.terms[1]
        if isinstance(left, SetApp) and left.name == applied.name and isinstance(right, SetOf):
            return intervals(right, left.args)[1]
    return None


def _refuse_contradiction(words: Words, used: Sequence[Definition]) -> None:
    """«max pooling» over a formula without a maximum."""
    ops = {node.op for d in used for node in walk(d.value) if isinstance(node, Reduce)}
    for found in words.about("pooling"):
        text = words.plain.text
        for end in "?!;¶":
            text = text.replace(end, ".")
        sentences = [s for s in text.split(".") if found.quote.lower() in s]
        aside = bool(sentences) and all(map(is_aside, sentences))
        if found.value in ("max", "min") and found.value not in ops and not aside:
            where = place(used[-1].formula)
            raise CardError(Problem(f"“{found.quote}” contradicts the formula ({where}), which has no \\{found.value}; "
                                    "change one of them", line=found.line))


def _refuse_other_count(words: Words, definition: Definition, name: str, field: ReceptiveField) -> None:
    """Raise :class:`CardError` where an average over windows of n entries is written as 1/m of their sum."""
    value = definition.value
    if not (isinstance(value, Mul) and isinstance(field.axes[0], WindowAxis) and any(
            f.value in ("average", "mean", "avg") for f in words.about("pooling"))):
        return
    sums = [f for f in value.factors if isinstance(f, Reduce) and f.op == "sum" and any(
        isinstance(n, SetApp) and n.name == name for n in walk(f.binder))]
    numbers = [f.value for f in value.factors if isinstance(f, Num)]
    count = math.prod(field.kernel_size)
    if len(sums) == 1 and numbers and math.prod(numbers, start=Fraction(1)) != Fraction(1, count):
        raise CardError(Problem(f"{place(definition.formula)}: the average over {count} entries is 1/{count} of their "
                                "sum; change the factor, the window or the name", line=definition.formula.line))


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


def layer_module(card: Card, statement: Statement) -> Module:
    """The layer of the card's definitions; raises as :func:`derive.question.module_of`, of all that is open."""
    doubts = Doubts()
    state = State(card, statement, doubts)
    try:
        for run, key in PASSES:
            with doubts.over(key):
                state = run(state)
    except DeriveError as error:
        raise doubts.with_error(error) from error
    return doubts.settled(state.module)


def formulas_read(state: State) -> State:
    """The formulas, those of parts that only words name with them; a fixed index is carried."""
    read_, prose, of_parts = read_layer(state.card, formulas_of(state.statement, "functions", "shapes", "facts"),
                                        state.doubts)
    read_, chosen = with_chosen(read_, prose)
    return replace(state, read=read_, prose=prose, of_parts=tuple(of_parts), said=chosen,
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
    if not state.statement.derive:
        refuse_requests(state.prose)
    return state


def layer_computed(state: State) -> State:
    """The layer that the definitions compute, and the derivatives that the formulas ask for."""
    found, prose, failures = state.found, state.prose, state.read.failures
    inner = found.functions.keys() - found.tensors.keys()  # σ'(z) of a hint is no derivative of the layer
    asked = tuple((f, d) for f, d in derivatives(state.read.nodes)
                  if not (isinstance(d.of, Entry) and d.of.tensor in inner))
    differentiated = [d.of.tensor for _, d in asked if isinstance(d.of, Entry)]
    try:
        output = output_of(state.statement, found, state.table)
        wanted = {*differentiated} or differentiated_in_words(prose, state.table)
        layer = computed(found, state.table, wanted, output)
    except CardError:
        refuse_unread(of_the_layer(failures, prose, found.tensors, ()))  # the formula that joins them
        raise
    _refuse_other_derivatives(state.read.nodes, asked, layer)
    refuse_unread(of_the_layer(failures, prose, layer.given, (layer.output, *differentiated)))
    refuse_unplaced(found.unplaced, prose, layer.output, layer.letters)
    return replace(state, layer=well_defined(layer), asked=asked)


def _refuse_other_derivatives(nodes: Iterable[tuple[Formula, Node]], asked: Iterable[tuple[Formula, Partial]],
                              layer: Computed) -> None:
    """Raise :class:`CardError` for ∂y²/∂x and (∂L/∂w)² + λ w: not of a letter, or not the derivative itself."""
    values = {d.value for d in layer.used}
    letters = {d.entry.tensor for d in layer.used} | {f.name for f in layer.functions}
    for formula, derivative in asked:
        of = derivative.of
        if not (isinstance(of, Entry) or isinstance(of, Fn) and of.name in letters or of in values):
            raise CardError(Problem(f"`{formula.latex.strip()}`: the derivative of something else than a letter; write "
                                    "it as a formula of its own, as in `E = …`", line=formula.line, key="derive"))
    for formula, node in nodes:
        within = isinstance(node, (Add, Mul, Pow)) and any(isinstance(n, Partial) for n in walk(node))
        if within and kind_of(formula) is Said.DERIVATIVE and not twice(formula):
            raise CardError(Problem(f"`{formula.latex.strip()}` is more than a derivative: ask for the derivative, or "
                                    "write the formulas with it", line=formula.line, key="derive"))


def letters_named(state: State) -> State:
    """What the words call the letters."""
    table = state.layer.table
    refuse_unknown(state.layer)
    return replace(state, mentions=(*mentions(state.prose, partial(letters_of, table=table)), *state.of_parts))


def nothing_lacks(state: State) -> State:
    """All that the formulas apply or the words name is computed."""
    layer, prose = state.layer, state.prose
    known = {*layer.letters, *(f.name for f in layer.functions)}
    refuse_parts(layer.given, layer.table, prose)
    refuse_undefined(state.mentions, layer.given)
    refuse_objective(prose, known, layer.given)
    refuse_unaccounted(prose, state.values, state.mentions, known)
    sizes = {s.name for s in layer.table.of_kind(Kind.SIZE)}
    refuse_other_output(prose, {*layer.letters} | sizes, (s.name for s in layer.table.symbols))
    refuse_other_labels(prose, layer.letters)
    return state


def roles_given(state: State) -> State:
    """Inputs, parameters and constants."""
    refuse_two_readings([d.formula for d in state.layer.used], state.layer.given)
    refuse_turned(state.prose, state.card)
    return replace(state, roles=roles_of(state.layer.given, state.mentions, state.card, state.layer.table))


def words_known(state: State) -> State:
    """No word in front of a part that no formula computes is unknown."""
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
        asking.derivative(formula, derivative, prose.plain.place(formula))
    asking.by_words(prose, bool(state.of_parts))
    if asking.lacking:
        return request_read(replace(state, roles=with_usual_parameters(state.roles)))
    asking.unread(failures)
    asking.second(prose)
    wanted = asking.found()
    if not wanted.kinds:
        message = "the question asks for no message or derivative; write e.g. “Derive the backward message.”"
        written = any(kind_of(f) in (Said.DERIVATIVE, Said.GRADIENT) for f in prose.formulas)
        raise (CardError if written else UnsupportedError)(Problem(message, line=prose.plain.first_line))
    wanted = replace(wanted, parts=tuple(map(prose.plain.part, wanted.places)))
    return replace(state, wanted=wanted, by_letters=asking.by_letters)


def nouns_found(state: State) -> State:
    """The letters that only a word which is not known calls something."""
    of_words = [m for m in state.mentions if m.before or m.after]
    return replace(state, held=tuple(called(state.prose, of_words, state.roles, state.of_parts)))


def nouns_known(state: State) -> State:
    """No such word, unless what is asked does not depend on what it says; then the sheet tells."""
    if not state.by_letters:
        refuse_called(state.prose, state.held)
        refuse_held(state.prose, state.roles, state.card)
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


def module_made(state: State) -> State:
    """The module, and how all of it was read."""
    card, layer, read_ = state.card, state.layer, state.read
    written = [f.latex for f, _ in (*read_.nodes, *read_.failures)]
    facts = facts_of(state.found, state.prose, list(state.mentions), layer.given, layer.table)
    module = specified(layer, state.roles, state.wanted, facts, state.fields, state.nodes, written)
    shortened = short(with_trees(question_formulas(card)))
    readings = (*said_of(layer), *shortened, *state.said, *state.wanted.readings)
    parts = [p.name for p in Chain(state.prose).parts] if state.of_parts else []
    name = " → ".join(parts) if parts and len(parts) == len(module.equations) else None  # none but those named
    return replace(state, module=replace(module, name=name, tie_rule=state.tie_rule, key=card.id,
                                         readings=tuple(dict.fromkeys(readings))))


# Each pass, and the key of the front matter that settles what it refuses: the others still run; else reading ends.
PASSES: tuple[tuple[Callable[[State], State], str], ...] = (
    (formulas_read, ""),
    (definitions_found, ""),
    (request_known, "derive"),
    (layer_computed, ""),
    (letters_named, ""),
    (nothing_lacks, "forward"),
    (roles_given, ""),
    (words_known, "forward"),
    (no_identity, "inputs"),
    (numbers_put_in, ""),
    (request_read, "derive"),
    (nouns_found, ""),
    (nouns_known, "inputs"),
    (windows_found, ""),
    (module_made, ""),
)
