"""The formulas of a question, read together: those it writes, those its words define, and those of parts it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from derive.card import Card
from derive.errors import DeriveError, Problem, UnsupportedError
from derive.expr import Entry, Expr, Node, Partial, walk
from derive.notation import gather, read_formula
from derive.notation.formulas import Formula
from derive.notation.rules import RULES, rewritten
from derive.notation.rules.kinds import equates, is_derived
from derive.notation.rules.trees import Run, equals, sides, statements, with_trees
from derive.notation.symbols import Kind, Symbol, SymbolTable, latex_of, name_of
from derive.notation.tree import base_of, is_token
from derive.question.letters.applied import with_named
from derive.question.letters.claims import Doubts, computes_nothing, without_claims
from derive.question.letters.naming import (
    Mention,
    bare_letters,
    mentions,
    ranks_said,
    rows_said,
    sizes_said,
    softmax_said,
    with_shapes_said,
)
from derive.question.letters.outside import zeros_told
from derive.question.letters.stacked import with_rows
from derive.question.parts.unwritten import continued_parts, refuse_linear, stated_parts
from derive.question.requests.verbs import requested
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose
from derive.question.words.reading import Read, declares, lettered_prose, one_equation, read_parts, with_cases_said
from derive.records import dataclass
from derive.specify.bias_columns import with_biases
from derive.specify.definitions import Definitions, definitions
from derive.specify.sizes import counts, steps
from derive.specify.zeros import with_zeros_outside


@dataclass(frozen=True)
class Written:
    """The formulas of a question without those of parts that only words name; ``counted`` are letters of sizes."""

    formulas: list[Formula]
    read: Read
    prose: Prose
    counted: list[str]


_OF_A_FUNCTION = re.compile(r"\s*\\?[A-Za-z]+\s*(?:'|\^\s*\{?\s*\\prime)\s*\}?\s*=")  # σ' = σ(1 − σ), of all arguments
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
    equated = any(map(equates, prose.formulas))
    written = equated and any(is_derived(f.tree or ()) for f in prose.formulas)  # words say where they come from
    derived = written or equated and any(  # of a formula, whatever it is an estimator of
        requested(prose.text, span.start) for span in named(prose.text, "derivative"))
    steps = sum(len(statements(f.tree or ())) for f in prose.formulas if equates(f))  # h_1 = …, h_2 = …
    for span in named(prose.text, "topic"):
        kind = span.concept.partition(".")[2]
        if kind in _TOPICS and not written and not (derived and kind == "estimate") and not named(
                prose.text, "topic.layer"):
            quoted = prose.plain.quote(span.start, span.stop)
            raise UnsupportedError(Problem(f"“{quoted}”: the question is about {_TOPICS[kind]}, not about a layer's "
                                           "messages", line=prose.plain.line(span.start)))
        if kind == "recurrent" and not (written and steps > 1 or named(prose.text, "topic.steps")):
            raise UnsupportedError(Problem(f"“{prose.plain.quote(span.start, span.stop)}”: recursions are not covered",
                                           line=prose.plain.line(span.start)))


def read_written(card: Card, stated: Iterable[Formula] = ()) -> Written:
    """The formulas of a question and of its front matter; functions that are applied by name are written out.

    Raises :class:`UnsupportedError` where the words say that it is not about a layer.
    """
    prose = lettered_prose(card)
    refuse_other_topics(card, prose)
    written = with_rows(with_trees(with_shapes_said(with_cases_said(prose.formulas, prose), prose)), prose)
    prose = replace(prose, formulas=tuple(written))
    found = with_named(rewritten([*written, *stated], RULES), prose)
    read_ = _read_all(found, prose)
    spoken = {name_of(c) for m in mentions(prose, bare_letters) if m.before or m.after for c in m.letters}
    counted = [*counts(read_.nodes, spoken), *steps(read_.nodes)]
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
    if pose(read_, defined):
        return read_, prose, []
    new, letters, told = stated_parts(prose, found, defined, doubts)
    if not new and defined.tensors:
        new, letters = continued_parts(prose, found, defined, read_.table)
    if not new and not derived:
        refuse_linear(prose, defined)
    if new:
        read_ = replace(_read_all(with_named([*found, *rewritten(new)], prose), prose, own.counted), told=told)
    return read_, prose, letters


def pose(read_: Read, defined: Definitions) -> bool:
    """The formulas compute a layer, and derivatives that they write ask for its letters, of a loss where one arrives.

    Then words beside them name what they compute, and put no layer in front or behind.
    """
    used = {n.tensor for d in defined.tensors.values() for n in walk(d.value) if isinstance(n, Entry)}
    found = [(p.of.tensor, p.wrt.tensor) for _, node in read_.nodes for p in walk(node)
             if isinstance(p, Partial) and isinstance(p.of, Entry) and isinstance(p.wrt, Entry)]
    computed, outputs = {*defined.tensors}, {*defined.tensors} - used
    arrive = [(of, wrt) for of, wrt in found if wrt in outputs and of not in computed | used]
    asked = [pair for pair in found if pair not in arrive]
    return len(outputs) == 1 and bool(asked) and all(
        wrt in computed | used and (of in computed or bool(arrive)) for of, wrt in asked)


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
            elif isinstance(result, DeriveError) and not (
                    declares(part) or _OF_A_FUNCTION.match(part.latex) or _of_no_letter(part)):
                failures.append((part, result))
    renamed, table = with_biases((node for _, node in nodes), table)
    whole = tuple(zip((part for part, _ in nodes), renamed, strict=True))
    told, setting = zeros_told(prose, table, whole)
    places = {(f.line, f.column) for f in setting}
    whole, zeros = with_zeros_outside([one for one in whole if (one[0].line, one[0].column) not in places], told)
    return Read(whole, tuple(failures), table, {}, (*zeros, *setting))


def _of_no_letter(formula: Formula) -> bool:
    """|r| = 1, of no letter: it defines none."""
    parts = statements(formula.tree or ())
    runs = sides(parts[0]) if len(parts) == 1 else []
    return len(runs) == 2 and len(runs[1]) == 1 and is_token(runs[1][0], "NUMBER") and not (
        len(runs[0]) == 1 and is_token(base_of(runs[0][0]), "NAME"))


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


