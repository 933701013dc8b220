"""The layer of a statement, by formulas or by names; what it leaves out is read from the question's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from derive.card import Card
from derive.errors import CardError, Problem, did_you_mean
from derive.expr import And, Entry, Fn, Idx, Node, Partial, Rel, SetApp, subst, transform, walk
from derive.layers import Composed, compose
from derive.layers.catalogue import Pooling
from derive.layers.chain import Part, parse
from derive.layers.families import find
from derive.layers.forward import set_axes, window_form
from derive.layers.naming import module_over, with_loss
from derive.module import ROLES, Module
from derive.notation import gather
from derive.notation.formulas import Formula
from derive.notation.rules import RULES, SPELLINGS, rewritten
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.rules.trees import stated
from derive.notation.symbols import Kind, Symbol, SymbolTable, identifier, latex_of, name_of
from derive.question.letters.applied import with_named
from derive.question.letters.claims import facts_of, with_numbers
from derive.question.letters.naming import (
    letters_of,
    mentions,
    ranks_said,
    roles_of,
    rows_said,
    sizes_said,
    softmax_said,
)
from derive.question.requests.asking import AskingInWords
from derive.question.requests.listed import request
from derive.question.sentences.tokens import in_english
from derive.question.windows.geometry import raise_problems, window_geometry
from derive.question.windows.pooling import is_extreme, name_of_op, tie_rule_of
from derive.question.windows.stated import Reader
from derive.question.windows.wording import Words, words_of
from derive.question.windows.written import Fields, fields_of, refuse_other_stride
from derive.question.worded import refuse_another, worded
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose
from derive.question.words.reading import question_prose, read_parts
from derive.records import dataclass
from derive.specify.applied import refuse_indexed_matrices, refuse_number_weights, refuse_two_readings
from derive.specify.bias_columns import with_biases
from derive.specify.declared import declared_by, declares, with_own_axes
from derive.specify.definitions import Definitions, definitions, inlined, statements
from derive.specify.facts import facts_given
from derive.specify.layer import Computed, computed, refuse_unknown, said_of, specified, well_defined
from derive.specify.order import as_layer
from derive.specify.places import place
from derive.specify.roles import Role, letter_of, roles_said, with_whole_numbers
from derive.specify.sizes import counts
from derive.specify.stated import KINDS, formulas_of, output_of, written
from derive.specify.wanted import Wanted, derivatives, partials
from derive.specify.writing import statement_of
from derive.specify.zeros import with_zeros_outside
from derive.statement import FORMULAS, LETTERS, SIZES, Source, Statement, with_statement

_SAYS = {
    "forward": r"a formula says what a letter is, as in `y_k = \max(0, x_k)`",
    "functions": r"a function that a formula applies is written as in `f(s) = \max(0, s)`",
    "shapes": r"a shape is written as in `W \in \mathbb{R}^{K \times n}`",
    "facts": r"a fact is a relation, as in `\epsilon > 0`",
    "ranges": r"a range has two ends, as in `0 \le k < K`",
    "derive": r"write forward, backward, parameters or a derivative, as in `\frac{\partial \ell}{\partial w_j}`",
}


@dataclass(frozen=True)
class Item:
    """A part of a formula, what it says (nothing but a shape: None), and the formula's place in its key."""

    key: str
    n: int
    part: Formula
    node: Node | None


@dataclass(frozen=True)
class Given:
    """The formulas of a statement as read, and their letters; the question's prose, for what they leave out."""

    items: tuple[Item, ...]
    table: SymbolTable
    prose: Prose
    zeros: frozenset[tuple[str, int]] = frozenset()  # the keys and items that say where entries are zero

    @property
    def nodes(self) -> tuple[tuple[Formula, Node], ...]:
        """All that is stated; a range stands beside every equation on whose left its letter stands."""
        ranges = [c for _, node in self.of("ranges") for c in statements(node) if isinstance(c, Rel)]
        return tuple((i.part, _ranged(i.node, ranges)) for i in self.items if i.node is not None and i.key != "ranges")

    def of(self, key: str, n: int | None = None) -> list[tuple[Formula, Node]]:
        """What is stated under a key, or in its item ``n``."""
        return [(i.part, i.node) for i in self.items if i.key == key and n in (None, i.n) and i.node is not None]


def _ranged(node: Node, ranges: Iterable[Rel]) -> Node:
    heads = {i for c in statements(node) if isinstance(c, Rel) and isinstance(c.terms[0], Entry)
             for i in c.terms[0].indices}
    own = [r for r in ranges if len(r.terms) == 3 and r.terms[1] in heads]
    return And((*(node.conds if isinstance(node, And) else (node,)), *own)) if own else node


def read_given(card: Card, statement: Statement) -> Given:
    """The statement's formulas; raises :class:`CardError` for all that cannot be read."""
    _refuse_other_kinds(statement)
    given = list(written(statement, *FORMULAS, "derive"))
    prose = question_prose(card)
    declared = declared_by(statement)
    found = _read(given, prose, declared)
    listed = {name_of(text) for key in LETTERS for text in getattr(statement, key) or ()}
    counted = counts(((i.part, i.node) for i in found.items if i.node is not None), listed)
    if counted:
        found = _read(given, prose, declared.extended(Symbol(n, latex_of(n), Kind.SIZE) for n in counted))
    return replace(found, table=with_own_axes(found.table, declared, (node for _, node in found.nodes)))


def _refuse_other_kinds(statement: Statement) -> None:
    """Raise :class:`CardError` for words under ``derive`` that are no kind of message."""
    words = [(n, text) for n, text in enumerate(statement.derive or ()) if text.isalpha() and text not in KINDS]
    problems = [Problem(f"`derive: {text}`: {did_you_mean(text.lower(), tuple(KINDS))}",
                        line=statement.line("derive", n)) for n, text in words]
    if problems:
        raise CardError(*problems)


def _read(given: list[tuple[str, int, Formula]], prose: Prose, declared: SymbolTable) -> Given:
    spelt: dict[Formula, list[Formula]] = {}
    for formula in with_named(rewritten((formula for _, _, formula in given), RULES), prose):
        spelt.setdefault(formula, []).append(formula)  # of one that is spelt as several, all have its place
    given = [(key, n, part) for key, n, formula in given for part in spelt.pop(formula, [formula])]
    given += [("functions" if kind_of(f) is Said.FUNCTION else "forward", -1, f) for fs in spelt.values() for f in fs]
    sizes = [Symbol(name, latex, Kind.SIZE) for latex in dict.fromkeys(sizes_said(prose))
             if declared.named(name := name_of(latex)) is None]
    others = [f for key, _, f in given if key != "shapes" or not declares(f, declared)]
    table = gather(others, declared.extended(sizes), ranks_said(prose), rows_said(prose), softmax_said(prose))
    items: list[Item] = []
    problems: list[Problem] = []
    for key, n, formula in given:
        if key == "shapes" and declares(formula, declared):
            items.append(Item(key, n, formula, None))
            continue
        for part, result in read_parts(formula, table):
            if isinstance(result, Node):
                items.append(Item(key, n, part, result))
            elif key == "shapes" and kind_of(part) is Said.DECLARATION:
                items.append(Item(key, n, part, None))
            else:
                problems += [replace(p, message=f"`{key}`: {p.message}") for p in result.problems]
    if problems:
        raise CardError(*problems)
    nodes, table = with_biases((i.node for i in items if i.node is not None), table)
    renamed = iter(nodes)
    items = [replace(i, node=next(renamed)) if i.node is not None else i for i in items]
    rest, said = with_zeros_outside([(i.part, i.node) for i in items if i.node is not None])
    guarded = {id(part): node for part, node in rest}
    zeros = {id(part) for part in said}
    return Given(tuple(replace(i, node=guarded.get(id(i.part))) for i in items), table, prose,
                 frozenset((i.key, i.n) for i in items if id(i.part) in zeros))


def refuse_idle(given: Given, statement: Statement, found: Definitions) -> None:
    """Raise :class:`CardError` for formulas that say nothing under the key at which they stand."""
    defining = {id(f) for f in _defining(found)}
    problems = []
    for key, n, formula in written(statement, *FORMULAS, "derive"):
        own = given.of(key, n)
        claims = [claim for _, node in own for claim in statements(node)]
        defines = any(id(f) in defining for f, _ in own)
        says = {
            "forward": defines or any(isinstance(c, Rel) and set(c.ops) == {"="} for c in claims),
            "functions": any(c.terms[0].name in _applied(given, key, n) for c in claims
                             if isinstance(c, Rel) and isinstance(c.terms[0], Fn)),
            "shapes": any(i.key == key and i.n == n and kind_of(i.part) is Said.DECLARATION for i in given.items),
            "ranges": any(isinstance(c, Rel) and len(c.terms) == 3 for c in claims),
            "facts": bool(claims),
            "derive": any(isinstance(part, Partial) for _, node in own for part in walk(node)),
        }
        if not says[key] and (key, n) not in given.zeros:
            problems.append(Problem(f"`{key}: {formula.latex}`: {_SAYS[key]}", line=formula.line))
    problems += [Problem(f"`{f.latex}`: what stands left of = is no letter; give its value a letter, as in `E = …`",
                         line=f.line) for _, f in found.unplaced]
    if problems:
        raise CardError(*problems)


def _applied(given: Given, key: str, n: int) -> set[str]:
    """The functions that the formulas besides an item apply."""
    return {part.name for i in given.items if (i.key, i.n) != (key, n) and i.node is not None for part in walk(i.node)
            if isinstance(part, Fn)}


def _defining(found: Definitions) -> Iterator[Formula]:
    yield from (d.formula for d in found.tensors.values())
    yield from (formula for _, formula in (*found.functions.values(), *found.numbers.values(), *found.known))


def read_question(prose: Prose, table: SymbolTable) -> tuple[list[tuple[Formula, Node]], SymbolTable]:
    """The question's formulas as far as they can be read in the letters of a table, and the table with theirs."""
    found = rewritten(prose.formulas, SPELLINGS)
    table = gather(found, table)
    return [(part, node) for f in found for part, node in read_parts(f, table) if isinstance(node, Node)], table


def written_otherwise(prose: Prose, module: Module) -> tuple[tuple[Rel, int], ...]:
    """The equations of the question for letters and functions that a statement defines in another way; their lines."""
    nodes, _ = read_question(prose, module.table)
    letters = {*module.given, *module.defined}

    def otherwise(claim: Node) -> bool:
        if not isinstance(claim, Rel) or claim.ops != ("=",) or claim in module.equations:
            return False
        head = claim.terms[0]
        own = {n.tensor for n in walk(head) if isinstance(n, Entry)} if isinstance(head, Fn) else set()
        defined = head.name in {f.name for f in module.functions} if isinstance(head, Fn) else (
            isinstance(head, Entry) and head.tensor in module.defined)
        return defined and (letters | own).issuperset(n.tensor for n in walk(claim) if isinstance(n, Entry))

    return tuple(dict.fromkeys((claim, part.line) for part, node in nodes for claim in statements(node)
                               if isinstance(claim, Rel) and otherwise(claim)))


def given_module(card: Card, statement: Statement, fields: Fields = ()) -> Module:
    """The layer of a statement that has forward formulas; ``fields`` are the windows of their sets.

    Raises :class:`CardError` for all of them that cannot be read, or say nothing under their key.
    """
    card = with_statement(card, statement)
    given = read_given(card, statement)
    found = inlined(definitions(given.nodes, given.table))
    refuse_idle(given, statement, found)
    named_by = partials(tuple(given.of("derive")))
    layer = _layer(statement, found, given.table, {d.of.tensor for _, d in named_by if isinstance(d.of, Entry)},
                   given.prose)
    named = [*mentions(given.prose, partial(letters_of, table=layer.table))]
    roles = with_whole_numbers(roles_of(layer.given, named, card, layer.table), [d.equation for d in layer.used])
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
        if ("facts", n) not in given.zeros and not any(True for _ in facts_given(claims, layer.given)):
            yield f"the fact ${text}$ is no condition on one of the letters given, and is left out"


def laid_over(module: Module, card: Card, statement: Statement) -> Module:
    """The layer that the question names or writes, with what the front matter says besides."""
    found = given_module(card, statement_of(module).overlaid(statement))
    request = ("asked for", "not answered") if statement.derive is not None else ()
    kept = (reading for reading in module.readings if not reading.startswith(request))
    own = (reading for reading in found.readings if reading.startswith("asked for as"))
    return replace(found, name=module.name, readings=tuple(dict.fromkeys((*kept, *own, *said(statement)))))


def _layer(statement: Statement, found: Definitions, table: SymbolTable, differentiated: set[str], prose: Prose
           ) -> Computed:
    if not found.tensors:
        found, table = as_layer(found, table)
    layer = well_defined(computed(found, table, differentiated, output_of(statement, found, table)))
    refuse_unknown(layer)
    listed = {*(letter_of(t, table) for key in LETTERS for t in getattr(statement, key) or ()),
              *(s.name for s in declared_by(statement).of_kind(Kind.TENSOR))}
    refuse_two_readings([d.formula for d in layer.used], {*layer.given} - listed)
    formulas = [d.formula for d in layer.used]
    refuse_indexed_matrices(formulas, layer.table)
    if not named(prose.text, "rank.scalar"):
        refuse_number_weights(formulas, layer.table, listed | {*stated(prose.formulas)})
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
    if not fields:
        _refuse_windows(card)
        refuse_other_stride(card, words, layer.used)
    inputs = [n for n, role in roles.items() if role.role == "inputs"]
    symbol = layer.table.named(inputs[0]) if len(inputs) == 1 else None
    reader = Reader(card, words, len(fields[0][1].axes) if fields else len(symbol.axes) if symbol is not None else 0)
    tie_rule = tie_rule_of(reader)
    size = reader.key("input_size")
    raise_problems(reader)
    module = specified(layer, roles, wanted, (), fields, given.nodes, [f.latex for f, _ in given.nodes])
    return replace(module, tie_rule=tie_rule, input_size=None if size is None else size.value,
                   readings=(*windows, *reader.readings, *wanted.readings))


def _refuse_windows(card: Card) -> None:
    """Raise :class:`CardError` for `padding: 1` beside formulas that say by their indices what they read."""
    usual = {"padding": (0, "0"), "dilation": (1, "1"), "ceil_mode": (False,)}
    problems = [Problem(f"`{key}: {card.front_matter[key]}` stands beside formulas that have no window set Ω: these "
                        "say by their indices what they read, so write it into them, a padding as in `x_{k+a-1}` "
                        r"with `x_s = 0` for `s < 0` and for `s > n`", card.path, card.key_line(key), key=key)
                for key, plain in usual.items() if card.front_matter.get(key, plain[0]) not in plain]
    if problems:
        raise CardError(*problems)


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
        name=name_of_op(form.op), input_size=size,
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
        others = (s for s in table.symbols if s is not known and s.name != name)
        table = replace(table, symbols=(*others, Symbol(name, latex, Kind.TENSOR, axes)))
    return table


def _wanted(given: Given, statement: Statement, layer: Computed, roles: dict[str, Role],
            windows: bool = False) -> tuple[Wanted, SymbolTable]:
    """What ``derive`` lists, else what the question asks for; and the table with the letters of its loss.

    Raises :class:`CardError` for words of a request that are not understood: half of it is never answered.
    """
    asking = AskingInWords(layer.entry, (d.entry.tensor for d in layer.used), roles, layer.table)
    if statement.derive is not None:
        return request(asking, partial(given.of, "derive"), statement.derive, windows), layer.table
    nodes, table = read_question(given.prose, layer.table)
    asking = AskingInWords(layer.entry, (d.entry.tensor for d in layer.used), roles, table)
    for formula, derivative in derivatives(tuple(nodes)):
        asking.derivative(formula, derivative)
    asking.by_words(given.prose, in_words=False)
    wanted = asking.found()
    if not wanted.kinds:
        raise CardError(Problem("the question asks for no message or derivative; add e.g. `derive: [backward]`",
                                line=given.prose.plain.first_line))
    if in_english(given.prose.text):
        refuse_another(given.prose)
        named = [*mentions(given.prose, partial(letters_of, table=layer.table))]
        wanted = worded(given.prose, layer, named, roles).widened(wanted, asking, layer.given)
    if windows:
        wanted = replace(wanted, kinds=("jacobian", *wanted.kinds) if "jacobian" not in wanted.kinds else wanted.kinds)
    return wanted, table


def said(statement: Statement) -> Iterator[str]:
    """What the front matter gives, so that it counts over the question's words."""
    lines = {key: line for key, _ in statement.given() if key != "derive" and (line := statement.line(key))}
    if lines:
        keys = ", ".join(f"`{key}` (line {line})" for key, line in lines.items())
        yield f"{statement.origin} counts over the question's words: {keys}"


def layers_module(card: Card, statement: Statement) -> Module | None:
    """The layers of ``layers`` or ``layer``; formulas beside them must compute the same.

    None for one pooling whose windows stand under keys of their own, or in the question: as ``layer`` alone names it.
    Raises :class:`CardError` for unknown names, for windows that stand outside the brackets of their layer, and
    where ``forward``, ``layer`` and ``layers`` say different things.
    """
    line = statement.line("layers") or card.key_line("layer")
    try:
        parts = _parts(card, statement)
        if parts is None:
            return None
        composed = compose(parts, taken=_taken(statement))
    except CardError as error:
        raise error.located(card.path, line) from None
    named = _stated(composed, statement, line).overlaid(replace(statement, layers=None, forward=None))
    fields = tuple((identifier(name_of(latex)), field) for latex, field in composed.fields)
    module = given_module(card, named, fields)
    words = " → ".join(part.spec.words for part in composed.parts)
    if statement.forward is not None:
        own = given_module(card, replace(statement, layers=None), fields)
        if _alike(own) != _alike(module):
            message = f"{words} and `forward` do not compute the same, letter by letter; keep one"
            raise CardError(Problem(message, line=line))
        return own
    name = " → ".join(part.spec.name for part in composed.parts)
    kept = (r for r in module.readings[:-1] if not r.startswith("layer ("))  # no formula stands on that line
    readings = (f"layers: {words} (line {line or 1}: `layers`)", *map(_of_the_names(composed), kept), *said(statement))
    return replace(module, name=module.name or name, readings=readings)


def _of_the_names(composed: Composed) -> Callable[[str], str]:
    """What a reading is where the names, and no list of the front matter, say what a letter is."""
    listed = [f"`{role}: {letter}`)" for role in LETTERS for letter in getattr(composed, role)]
    return lambda reading: next((reading.removesuffix(text) + "`layers`)" for text in listed if reading.endswith(text)),
                                reading)


def _parts(card: Card, statement: Statement) -> tuple[Part, ...] | None:
    """The parts of ``layers``, with the options that stand under keys where there is one; None as above."""
    named = None if card.front_matter.get("layer") is None else str(card.front_matter["layer"])
    parts = parse(statement.layers if statement.layers is not None else named or "")
    spec = find(parts[0].name)
    if named is not None and (len(parts) > 1 or find(named) is not spec):
        raise CardError(f"`layer: {named}` and `layers: {statement.layers}` differ; keep one of them")
    outside = {key: statement.header[key] for key in (*SIZES, "ceil_mode") if key != "input_size"
               and getattr(statement, key) is not None}
    if len(parts) == 1 and not parts[0].plain and not parts[0].given:
        if isinstance(spec, Pooling) and statement.forward is None:
            return None
        options = {key: card.front_matter[key] for key in spec.options if key in card.front_matter}
        return (Part(parts[0].name, (), {**outside, **options}),)
    if outside:
        key = next(iter(outside))
        raise CardError(Problem(f"`{key}` stands beside `layers: {statement.layers}`: write it in the brackets of its "
                                "layer, as in `max_pool(kernel_size=2)`", line=statement.line(key)))
    return parts


def _taken(statement: Statement) -> set[str]:
    """The letters of the functions that the statement defines."""
    return {f.latex.split("(")[0].strip() for f in formulas_of(statement, "functions")}


def _stated(composed: Composed, statement: Statement, line: int | None) -> Statement:
    """The composed chain as a statement; the roles of the letters that the statement lists are its own."""
    listed = {text for role in LETTERS for text in getattr(statement, role) or ()}
    roles = {role: tuple(c for c in getattr(composed, role) if c not in listed) + (getattr(statement, role) or ())
             for role in LETTERS}
    keys: dict[str, Any] = {"forward": composed.formulas, **{key: getattr(composed, key) or None for key in (
        "facts", "shapes", "ranges")}, **{role: letters or None for role, letters in roles.items()}}
    sources = {key: (Source(line),) * len(texts) for key, texts in keys.items() if texts}
    return Statement(**keys, output=composed.output, sources=sources)


def _alike(module: Module) -> Node:
    """The output in terms of what is given, its letters numbered as they occur."""
    done: dict[str, Rel] = {}

    def written_out(node: Node) -> Node | None:
        if isinstance(node, Entry) and node.tensor in done:
            head, value = done[node.tensor].terms
            assert isinstance(head, Entry)
            return subst(value, dict(zip(head.indices, node.indices, strict=True)))
        return None

    for equation in module.equations:
        head, value = equation.terms
        assert isinstance(head, Entry)
        done[head.tensor] = Rel((head, transform(value, written_out)), equation.ops)
    final = done[module.output]
    names: dict[str, str] = {}
    for node in walk(final):
        if isinstance(node, (Entry, SetApp)):
            names.setdefault(node.tensor if isinstance(node, Entry) else node.name, f"letter{len(names)}")

    def renamed(node: Node) -> Node | None:
        if isinstance(node, Entry):
            return Entry(names[node.tensor], node.indices)
        return SetApp(names[node.name], node.args) if isinstance(node, SetApp) else None

    return transform(final, renamed)
