"""A question on a layer of the catalogue, named in words or in the front matter: the catalogue's formula."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem, UnsupportedError
from derive.expr import Add, Entry, Extremum, Fn, Mul, Node, Reduce, Rel, transform, walk
from derive.layers import EXTREMA, POOLINGS, find, layer
from derive.layers.catalogue import Pooling
from derive.layers.forward import WindowForm
from derive.module import Module
from derive.notation import read
from derive.notation.formulas import Formula
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.rules.trees import sides, statements
from derive.notation.tree import Scripted
from derive.question.geometry import adaptive_geometry, geometry, input_size, raise_problems
from derive.question.prose import PlainText
from derive.question.reading import Read
from derive.question.request import asked, asked_by_statement
from derive.question.stated import Reader, Sizes, options, rank_of
from derive.question.windows import equations_of, refuse_other_pooling, tie_rule_of
from derive.question.wording import Words
from derive.receptive_field import AdaptiveAxis, ReceptiveField, WindowAxis
from derive.records import dataclass
from derive.specify.places import place
from derive.specify.wanted import partials


@dataclass(frozen=True)
class Named:
    """The layer that a card names, and where."""

    spec: Pooling
    source: str
    line: int | None


def named_layer(card: Card, words: Words, formulas_read: Read) -> Named | None:
    """The layer of the catalogue whose formula the question takes for granted, or which its front matter names.

    None for the maximum and the minimum over windows, which have ways of being written
    of their own, for layers without windows, and where a formula says what the layer is.
    """
    if "layer" in card.front_matter:
        line = card.key_line("layer")
        try:
            spec = find(str(card.front_matter["layer"]))
        except CardError as error:
            raise error.located(card.path, line) from None
        if spec in EXTREMA or not isinstance(spec, Pooling):
            return None
        return Named(spec, f"line {line}: `layer: {card.front_matter['layer']}`", line)
    if equations_of(formulas_read) or any(_computes(formula) for formula, _ in formulas_read.failures):
        return None
    found = _spoken(words.plain)
    specs = {n.spec.name for n in found}
    if len(specs) != 1 or found[0].spec in EXTREMA:
        return None
    for other in words.about("other layer")[:1]:
        raise UnsupportedError(Problem(f"“{other.quote}”: the question is about more than {found[0].spec.words}; "
                                       "add the forward formula", card.path, other.line))
    return found[0]


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


def catalogue_module(card: Card, words: Words, formulas_read: Read, named: Named) -> Module | None:
    """The module of such a question; None where a formula of the card says in other letters what is computed.

    Raises :class:`CardError` where the formula is that of another layer.
    """
    refuse_other_pooling(card, words)
    equations = equations_of(formulas_read)
    reader = Reader(card, words, _rank(equations, words, card), None,
                    tuple(p for _, error in formulas_read.failures for p in error.problems))
    field, size = _geometry(reader, named.spec)
    given = options(reader, named.spec)
    chosen = "tie_rule" in card.front_matter or named.spec in EXTREMA
    rule = tie_rule_of(reader) if chosen else None
    raise_problems(reader)
    try:
        module = layer(named.spec.name, **_arguments(field, reader.rank), input_size=size, tie_rule=rule, **given)
    except CardError as error:
        raise error.located(card.path, named.line) from None
    if equations and not any(_is(formula, module) for formula, _ in equations):
        _refuse_contradiction(named, equations, module)
        return None
    return _asked(module, card, words, formulas_read, (f"layer: {named.spec.words} ({named.source})", *reader.readings))


def _asked(module: Module, card: Card, words: Words, formulas_read: Read, readings: tuple[str, ...]) -> Module:
    output, _ = module.definition(module.output)
    form = WindowForm("", output, module.inputs[0], None, None)
    in_words = not equations_of(formulas_read)
    wanted = asked_by_statement(card) or asked(form, module.table, partials(formulas_read.nodes), words.plain, in_words,
                                               formulas_read.failures)
    return replace(module, key=card.id, asked=wanted.messages, readings=(*readings, *wanted.readings))


def _rank(equations: list[tuple[Formula, Rel]], words: Words, card: Card) -> int:
    """How many axes the input has: as the formula has it, else as the sizes or the words do; else two."""
    for _, equation in equations:
        ranks = {len(n.indices) for n in walk(equation.terms[1]) if isinstance(n, Entry) and n.indices}
        if len(ranks) == 1:
            return ranks.pop()
    return rank_of(card, words)


def _geometry(reader: Reader, spec: Pooling) -> tuple[ReceptiveField | None, Sizes | None]:
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


def _is(formula: Formula, module: Module) -> bool:
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


def _refuse_contradiction(named: Named, equations: list[tuple[Formula, Rel]], module: Module) -> None:
    """Raise :class:`CardError` where the formula takes other operations than the layer of that name."""
    formula, _ = equations[-1]
    if all(_operations(e) != _operations(module.equations[0]) for _, e in equations):
        ours = ", ".join(sorted(_operations(module.equations[0])))
        raise CardError(Problem(f"{named.source} contradicts the formula ({place(formula)}): {named.spec.words} is "
                                f"made of {ours}; change one of them", None, formula.line))


def _operations(equation: Rel) -> frozenset[str]:
    """The reductions and functions of a formula; a sum alone is no average."""
    value = equation.terms[1]
    found = {n.op for n in walk(value) if isinstance(n, Reduce)} | {n.name for n in walk(value) if isinstance(n, Fn)}
    return frozenset(found - {"sum"} | {"average"} if found == {"sum"} and not isinstance(value, Reduce) else found)
