"""The module of a pooling: formula, words and front matter weighed against each other."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import (
    MINUS_ONE,
    ONE,
    Add,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Mul,
    Node,
    Num,
    Reduce,
    Rel,
    SetApp,
    Size,
    add,
    eq,
    mul,
    transform,
    walk,
)
from derive.layers import EXTREMA, POOLINGS, check_tie_rule, find, forward_of, layer
from derive.layers.catalogue import Pooling
from derive.layers.forward import COVERED, WindowForm, is_forward, set_axes, window_form
from derive.layers.intervals import LettersError
from derive.layers.naming import module_over, with_loss
from derive.module import TIE_RULES, Module
from derive.notation import read
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, equates, kind_of
from derive.notation.rules.trees import sides, statements
from derive.notation.symbols import SymbolTable
from derive.notation.tree import Scripted
from derive.question.requests.of_windows import Asked, asked, asked_by_statement
from derive.question.requests.verbs import discussed
from derive.question.windows.called import channels_of, in_letters, letters_of, with_letters
from derive.question.windows.geometry import adaptive_geometry, geometry, input_size, raise_problems, window_geometry
from derive.question.windows.lettered import says_other_windows
from derive.question.windows.stated import Reader, Sizes, options, rank_of
from derive.question.windows.wording import Words, words_of
from derive.question.words.lexicon import named
from derive.question.words.prose import PlainText, prose_of
from derive.question.words.reading import Read, read_formulas
from derive.receptive_field import AdaptiveAxis, ReceptiveField, WindowAxis
from derive.records import dataclass
from derive.specify.definitions import statements as claims_of
from derive.specify.places import place
from derive.specify.wanted import partials


@dataclass(frozen=True)
class Named:
    """The pooling that a card names, and where."""

    spec: Pooling
    source: str
    line: int | None


@dataclass(frozen=True)
class Pooled:
    """A question that may be on a pooling: its formulas, and what its words say of windows."""

    card: Card
    read: Read
    words: Words

    @classmethod
    def of(cls, card: Card) -> Pooled:
        read_ = read_formulas(card)
        return cls(card, read_, words_of(card.question, card.question_line, read_.known))

    @cached_property
    def equations(self) -> list[tuple[Formula, Rel]]:
        """Every y_K = value of the question; a chain y = a = b gives one for each value."""
        return [(formula, equation) for formula, relation in self.relations if set(relation.ops) == {"="}
                for value in relation.terms[1:] if is_forward(equation := eq(relation.terms[0], value))]

    @cached_property
    def relations(self) -> list[tuple[Formula, Rel]]:
        """Every relation of the question, also those of one formula: y_K = value, 0 ≤ k < n, or with Ω(K) = {…}."""
        return [(formula, part) for formula, node in self.read.nodes for part in claims_of(node)
                if isinstance(part, Rel)]

    @cached_property
    def unread(self) -> tuple[Problem, ...]:
        return tuple(p for _, error in self.read.failures for p in error.problems)

    @cached_property
    def by_key(self) -> Named | None:
        """The pooling of the front matter's ``layer``."""
        name, line = self.card.front_matter.get("layer"), self.card.key_line("layer")
        if name is None:
            return None
        try:
            spec = find(str(name))
        except CardError as error:
            raise error.located(self.card.path, line) from None
        return Named(spec, f"line {line}: `layer: {name}`", line) if isinstance(spec, Pooling) else None

    @cached_property
    def catalogued(self) -> Named | None:
        """The pooling whose formula the question takes for granted, or which its front matter names.

        None for the maximum and the minimum over windows, which have ways of being written
        of their own, for layers without windows, and where a formula says what the layer is.
        """
        if "layer" in self.card.front_matter:
            return None if self.by_key is None or self.by_key.spec in EXTREMA else self.by_key
        if self.equations or any(_computes(formula) for formula, _ in self.read.failures):
            return None
        found = _spoken(self.words.plain)
        if len({n.spec.name for n in found}) != 1 or found[0].spec in EXTREMA:
            return None
        self.refuse_more(found[0].spec)
        return found[0]

    @property
    def is_extreme(self) -> bool:
        """It is on the maximum or minimum of one input over its windows, and nothing else."""
        if "layer" in self.card.front_matter:
            return self.by_key is not None
        equations = [equation for _, equation in self.equations]
        if not equations:
            return bool(self.words.about("pooling"))
        return len({equation.terms[0] for equation in equations}) == 1 and all(map(is_extreme, equations))

    def refuse_more(self, spec: Pooling) -> None:
        """Raise :class:`UnsupportedError` for another layer that the words name."""
        for other in self.words.about("other layer")[:1]:
            raise UnsupportedError(Problem(f"“{other.quote}”: the question is about more than {spec.words}; "
                                           "add the forward formula", self.card.path, other.line))

    def wanted(self, form: WindowForm, table: SymbolTable) -> Asked:
        """What is asked of windows of this form."""
        return asked_by_statement(self.card) or asked(form, table, partials(self.read.nodes), self.words.plain,
                                                      not self.equations, self.read.failures)


# one of these stands in each question on a pooling: no softmax, no minus and no minibatch, and of samples subsampling
_OF_WINDOWS = re.compile(
    r"(?i)(?<!soft)max|(?:(?<![a-z])|arg)min(?!us|i[- ]?b)|pool|(?:sub|down)[- ]?sampl|erosi|dilat"
)


def may_be_pooling(card: Card) -> bool:
    return _OF_WINDOWS.search(card.question) is not None


def pooling_module(pooled: Pooled) -> Module | None:
    """The pooling that a question names or writes; None for any other layer, and for windows by letters."""
    if pooled.catalogued is not None:
        return _by_catalogue(pooled, pooled.catalogued)
    try:
        return _by_formula(pooled) if pooled.is_extreme else None
    except LettersError:
        if pooled.by_key is not None or says_other_windows(pooled.words, [e for _, e in pooled.equations]):
            raise
        return None


# --- a maximum or a minimum over windows ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forward:
    """The forward formula as a window, its letters, and where its window is given."""

    form: WindowForm
    table: SymbolTable
    source: str
    reading: str
    line: int | None = None
    channels: int = 0


def _by_formula(pooled: Pooled) -> Module:
    """The maximum or minimum over windows; raises as :func:`derive.question.module_of`."""
    forward = _written(pooled) if pooled.equations else _recalled(pooled)
    form = forward.form
    wanted = pooled.wanted(form, forward.table)
    refuse_other_pooling(pooled.card, pooled.words)
    channels = len([*itertools.takewhile(lambda a: (a.size, a.stride, a.start) == (1, 1, 0), form.axes)]) if (
        form.axes) else forward.channels
    reader = Reader(pooled.card, pooled.words, form.rank, forward.line, pooled.unread, channels=channels % form.rank,
                    first=_first(form, pooled.read) if form.axes else None)
    tie_rule = tie_rule_of(reader)
    source = forward.table.named(form.source)
    declared = tuple(n for n in (source.sizes if source else ()) if isinstance(n, int))
    field, size = window_geometry(reader, form.axes, forward.source, declared if len(declared) == form.rank else ())
    table = forward.table if size is not None else _counted(forward.table, form, pooled.read)
    return module_over(form, with_loss(table, wanted.loss), field, tie_rule=tie_rule, name=name_of_op(form.op),
                       key=pooled.card.id, input_size=size, asked=wanted.messages, parts=wanted.parts,
                       readings=(forward.reading, *reader.readings, *wanted.readings))


def _first(form: WindowForm, read_: Read) -> int | None:
    """1 of k = 1, …, K and l = 1, …, L, of the output's indices; None where they begin apart, or nothing says it.

    Raises :class:`UnsupportedError` for outputs that begin at 2, as those whose windows stay inside.
    """
    late = next((low for low, *_ in _ranges(form, read_) if isinstance(low, Num) and low.value > 1), None)
    if late is not None:
        raise UnsupportedError(Problem(f"the outputs are counted from {late.value}: count them from 1, and write the "
                                       r"window so that it stays inside, as in `y_i = \max(x_i, x_{i+1}, x_{i+2})`"))
    found = {int(low.value) for low, *_ in _ranges(form, read_) if isinstance(low, Num)}
    return found.pop() if len(found) == 1 and found <= {0, 1} else None


def _ranges(form: WindowForm, read_: Read) -> Iterator[tuple[Node, Idx, Node]]:
    """1, k and K of k = 1, …, K, for the output's indices."""
    for part in (p for _, node in read_.nodes for p in walk(node) if isinstance(p, Rel) and p.ops == ("≤", "≤")):
        low, letter, high = part.terms
        if isinstance(letter, Idx) and letter in form.output.indices:
            yield low, letter, high


def _counted(table: SymbolTable, form: WindowForm, read_: Read) -> SymbolTable:
    """The table in which the output has the sizes that its ranges say: K of k = 1, …, K and of k = 0, …, K − 1."""
    known, output = {}, table.named(form.output.tensor)
    for low, letter, high in _ranges(form, read_):
        length = add(high, ONE, mul(MINUS_ONE, low)) if isinstance(low, Num) and isinstance(high, Expr) else None
        if isinstance(length, Size):
            known[letter] = length.name
    sizes = tuple(known.get(i, "") for i in form.output.indices if isinstance(i, Idx))
    if output is None or any(output.sizes) or len({*sizes}) != len(sizes) or "" in sizes:
        return table
    return table.extended([replace(output, sizes=sizes)])


def _written(pooled: Pooled) -> Forward:
    """The question's own formula; raises :class:`CardError` where the words or the front matter name another one."""
    unread = [p for formula, error in pooled.read.failures if formula.display for p in error.problems]
    if unread:
        raise CardError(*unread)
    equations = pooled.equations
    outputs = {equation.terms[0] for _, equation in equations}
    if len(outputs) > 1:
        names = " and ".join(sorted({f"`{e.tensor}`" for e in outputs if isinstance(e, Entry)}))
        raise UnsupportedError(Problem(f"the question defines {names}; layers of several formulas are not covered yet",
                                       line=equations[-1][0].line))
    definitions = [(f, relation) for f, relation in pooled.relations if isinstance(relation.terms[0], SetApp)]
    form, spelt = _one_form(equations, definitions)
    source, named_, pooling = place(equations[0][0]), pooled.by_key, pooled.words.about("pooling")
    contrary = f" contradicts the formula ({source}), which has \\{form.op}; change one of them"
    if named_ is not None and op_of(named_.spec) != form.op:
        raise CardError(named_.source + contrary)
    if named_ is None and pooling and all(found.value != form.op for found in pooling):
        raise CardError(Problem(f"“{pooling[0].quote}” (line {pooling[0].line}){contrary}", line=pooling[0].line))
    return Forward(form, pooled.read.table, place(spelt), f"layer ({source})", spelt.line)


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


def _recalled(pooled: Pooled) -> Forward:
    """The catalogue's formula for what the words name, in the letters of the card where it has some."""
    named_, pooling, read_ = pooled.by_key, pooled.words.about("pooling"), pooled.read
    if named_ is None and not pooling:
        problems = [p for formula, error in read_.failures
                    if r"\max" in formula.latex or r"\min" in formula.latex for p in error.problems]
        if problems:
            raise CardError(*problems)
        raise UnsupportedError(f"the question has no forward formula and names no layer that is covered; {COVERED}")
    unread = [p for formula, error in read_.failures if equates(formula) for p in error.problems]
    if unread:
        raise CardError(*unread)
    for formula, node in read_.nodes:  # a formula that says how the layer computes, and is not understood as such
        if isinstance(node, Rel) and any(
                isinstance(p, (Reduce, Extremum)) and p.op in ("max", "min") for p in walk(node)):
            raise UnsupportedError(Problem(f"the formula ({place(formula)}) is not covered; {COVERED}",
                                           line=formula.line))
    kinds = {found.value for found in pooling}
    spec = named_.spec if named_ else next((s for s in EXTREMA if {op_of(s)} == kinds), None)
    if spec is None:
        quoted = ", ".join(f"“{f.quote}” (line {f.line})" for f in pooling)
        raise UnsupportedError(f"{quoted}: which layer is meant, or how it computes, is not said or not covered; "
                               f"{COVERED}")
    pooled.refuse_more(spec)
    origin = named_.source if named_ else str(pooling[0])
    rank, letters = rank_of(pooled.card, pooled.words), letters_of(pooled.card, read_)
    channels = channels_of(letters, rank)
    form, table = in_letters(spec, rank + channels, letters, read_)
    return Forward(form, table, origin, f"layer: {spec.words} ({origin})", channels=channels)


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


def op_of(spec: Pooling) -> str:
    return forward_of(spec, 2)[0].op


def name_of_op(op: str) -> str | None:
    """The catalogue's name of the maximum or the minimum over windows."""
    return next((spec.name for spec in EXTREMA if op_of(spec) == op), None)


_STACKED = re.compile(r"(?i)\b(?:two|three|four|several|both)\s+(?:stacked\s+|successive\s+|consecutive\s+|such\s+)?"
                      r"(?:max(?:imum)?|min(?:imum)?|average|mean|sum)[- ]?pool\w*\s+layers\b")
_TIE_RULES = tuple(f"ties.{rule}" for rule in TIE_RULES)


def refuse_other_pooling(card: Card, words: Words) -> None:
    """Raise :class:`UnsupportedError` for windows of a kind that is none of the catalogue's."""
    for found in words.about("unpooling")[:1]:
        raise UnsupportedError(Problem(f"“{found.quote}”: unpooling, fractional and region pooling are not covered; "
                                       "write the forward formula", card.path, found.line))
    if (several := _STACKED.search(card.question)) is not None:
        line = card.question_line + card.question.count("\n", 0, several.start())
        raise UnsupportedError(Problem(f"“{several[0]}”: write the forward formulas of these layers", card.path, line))


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
        said |= {rule for rule in ("first", "last") if prose.text.startswith(rule, tie.start)}  # «the last maximum»
        if not said or discussed(prose.text, tie.start) or named(prose.text[start:stop], "ties.none"):
            continue
        if len(said) > 1 or "other" in said:
            reader.refuse(f"“{prose.plain.quote(start, stop)}”: which input takes the gradient at a tie? Add "
                          "`tie_rule: first`, `last` or `split` to the front matter", prose.plain.line(tie.start))
            continue
        reader.readings.append(f"tie rule `{(rule := said.pop())}` ({prose.said(start, stop)})")
        return rule
    return "first"


# --- the other poolings of the catalogue ------------------------------------------------------------------------------


def _computes(formula: Formula) -> bool:
    """f_{kl}(x) = …, though it could not be read."""
    return kind_of(formula) is Said.DEFINITION and any(
        isinstance(item, Scripted) and item.subs for item in sides(statements(formula.tree or ())[0])[0])


def _spoken(plain: PlainText) -> list[Named]:
    """Every name or alias of a layer in the words, the longest at each place."""
    found: list[Named] = []
    for match in _pattern().finditer(plain.text):
        line = plain.line(match.start())
        spec = _names()[re.sub(r"\bl\d+_", "lp_", re.sub(r"[\s-]+", "_", _stem(match[0])))]
        found.append(Named(spec, f"line {line}: “{plain.quote(*match.span())}”", line))
    return found


def spoken(plain: PlainText) -> list[Pooling]:
    """The poolings of the catalogue that the words name."""
    return [found.spec for found in _spoken(plain)]


def places(text: str) -> Iterator[tuple[int, int]]:
    """Where a text in lower case names a layer of the catalogue."""
    yield from (match.span() for match in _pattern().finditer(text))


def _stem(text: str) -> str:
    return re.sub(r"pool(?:ing|er|ed|s)?\d?d?$", "pool", text)


@cache
def _names() -> dict[str, Pooling]:
    """Every name, alias and phrase without its ending -ing: ``average_pool``, ``log_sum_exp_pool``."""
    return {re.sub(r"[\s-]+", "_", _stem(name.lower())): spec
            for spec in POOLINGS for name in (spec.name, *spec.aliases, spec.words)}


@cache
def _pattern() -> re.Pattern[str]:
    longest = sorted(_names(), key=len, reverse=True)
    patterns = (n.replace("_", r"[_\s-]").replace("lp", r"l(?:p|\d+)") for n in longest)
    return re.compile(rf"\b(?:{'|'.join(patterns)})(?:ing|er|ed|s)?\b")


def _by_catalogue(pooled: Pooled, named_: Named) -> Module | None:
    """The catalogue's module; None where a formula of the card says in other letters what is computed.

    Raises :class:`CardError` where the formula is that of another layer.
    """
    card, spec, equations = pooled.card, named_.spec, pooled.equations
    refuse_other_pooling(card, pooled.words)
    letters = None if equations else letters_of(card, pooled.read)
    rank = _rank(pooled)
    channels = channels_of(letters, rank)
    if channels and spec.form == "global":
        return None  # a mean of each channel
    reader = Reader(card, pooled.words, rank + channels, None, pooled.unread, channels=channels)
    field, size = _sizes_of(reader, spec)
    given = options(reader, spec)
    rule = tie_rule_of(reader) if "tie_rule" in card.front_matter or spec in EXTREMA else None
    raise_problems(reader)
    try:
        module = layer(spec.name, **_arguments(field, reader.rank), input_size=size, tie_rule=rule, **given)
    except CardError as error:
        raise error.located(card.path, named_.line) from None
    if equations and not any(_is_own(formula, module) for formula, _ in equations):
        formula, ours = equations[-1][0], _operations(module.equations[0])
        if all(_operations(equation) != ours for _, equation in equations):
            raise CardError(Problem(f"{named_.source} contradicts the formula ({place(formula)}): {spec.words} is made "
                                    f"of {', '.join(sorted(ours))}; change one of them", line=formula.line))
        return None
    module = with_letters(module, letters)
    output, _ = module.definition(module.output)
    wanted = pooled.wanted(WindowForm("", output, module.inputs[0], None, None), module.table)
    return replace(module, key=card.id, asked=wanted.messages,
                   readings=(f"layer: {spec.words} ({named_.source})", *reader.readings, *wanted.readings))


def _rank(pooled: Pooled) -> int:
    """How many axes the input has: as the formula has it, else as the sizes or the words do; else two."""
    for _, equation in pooled.equations:
        ranks = {len(n.indices) for n in walk(equation.terms[1]) if isinstance(n, Entry) and n.indices}
        if len(ranks) == 1:
            return ranks.pop()
    return rank_of(pooled.card, pooled.words)


def _sizes_of(reader: Reader, spec: Pooling) -> tuple[ReceptiveField | None, Sizes | None]:
    if spec.form == "adaptive":
        return adaptive_geometry(reader)
    if spec.form == "window":
        return geometry(reader, None, "")
    for what in ("kernel_size", "stride", "padding"):
        for found in reader.words.about(what)[:1]:
            reader.refuse(f"“{found.quote}”: {spec.words} takes the whole input and has no {what.replace('_', ' ')}; "
                          "leave it out, or leave out “global”", found.line)
    size = input_size(reader, ())
    if size is not None:
        reader.readings.append(f"input of size {'×'.join(map(str, size.value))} ({size.source})")
    return None, None if size is None else size.value


def _arguments(field: ReceptiveField | None, rank: int) -> dict[str, Any]:
    """The geometry as :func:`derive.layer` takes it."""
    if field is None:
        return {"dims": rank}
    axes = field.axes
    if isinstance(axes[0], AdaptiveAxis):
        return {"output_size": [a.outputs for a in axes if isinstance(a, AdaptiveAxis)]}
    windows = [a for a in axes if isinstance(a, WindowAxis)]
    return {"kernel_size": field.kernel_size, "stride": field.stride, "dilation": field.dilation,
            "padding": [(a.padding, a.padding_after) for a in windows], "ceil_mode": windows[0].ceil_mode}


def _is_own(formula: Formula, module: Module) -> bool:
    """The formula is the module's own, letter by letter but for the order of terms, factors and arguments."""
    try:
        return _ordered(read(formula.latex, module.table)) is _ordered(module.equations[0])
    except DeriveError:
        return False


def _ordered(node: Node) -> Node:
    """The node with the parts of its sums, products, maxima and minima in one order."""
    def rule(part: Node) -> Node | None:
        if isinstance(part, Add):
            return Add(tuple(sorted(part.terms, key=repr)))
        if isinstance(part, Extremum):
            return Extremum(part.op, tuple(sorted(part.args, key=repr)))
        return Mul(tuple(sorted(part.factors, key=repr))) if isinstance(part, Mul) else None

    return transform(node, rule)


def _operations(equation: Rel) -> frozenset[str]:
    """The reductions and functions of a formula; a sum alone is no average."""
    value = equation.terms[1]
    found = {n.op for n in walk(value) if isinstance(n, Reduce)} | {n.name for n in walk(value) if isinstance(n, Fn)}
    return frozenset(found - {"sum"} | {"average"} if found == {"sum"} and not isinstance(value, Reduce) else found)
