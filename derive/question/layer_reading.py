"""The formulas of a question on any layer, with what its words say of their letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from derive.card import Card
from derive.errors import DeriveError
from derive.expr import Entry, Expr, Node, Partial, walk
from derive.notation import gather, read
from derive.notation.formulas import Formula, formulas
from derive.notation.symbols import Kind, Symbol, SymbolTable, latex_of, name_of
from derive.question.card_functions import with_local_arguments, without_vector_functions
from derive.question.claims import computes_nothing, without_claims
from derive.question.entries import with_interleaved
from derive.question.in_words import equations_said, with_cases_said, with_ranges_said
from derive.question.layer_key import keyed
from derive.question.named import with_named, with_words
from derive.question.naming import Mention, bare_letters, mentions
from derive.question.own_letters import with_biases, with_layers, with_likelihoods, with_posteriors
from derive.question.parts import continued_parts, stated_parts
from derive.question.prose import Prose, prose_of
from derive.question.reading import DECLARATION, SPELLINGS, Passes, Read, one_equation, passed, read_parts
from derive.question.roles import ranks_said, rows_said, sizes_said
from derive.question.topics import refuse_other_topics
from derive.specify.definitions import definitions
from derive.specify.sizes import counts

_SET = re.compile(r"[^=]*=\s*(?:\\left\s*)?\\(?:\{|lbrace).*", re.DOTALL)  # \mathcal{D} = \{(x_n, t_n)\}
_EQUALS = re.compile(r"&?\s*(?<![:<>\\])=(?![^{}]*\})")

_LETTERS: Passes = {"layers": with_layers, "likelihoods": with_likelihoods, "posteriors": with_posteriors}
_SPELLINGS: Passes = {"local arguments": with_local_arguments, **SPELLINGS,
                      "vector functions": without_vector_functions}


def read_layer(card: Card, stated: Iterable[Formula] = ()) -> tuple[Read, Prose, list[Mention]]:
    """The formulas of a question, its prose, and what the letters are of parts that only words name.

    ``stated`` are formulas of its front matter.  Functions that are applied by name, and parts without a formula,
    are written out.
    Raises :class:`UnsupportedError` where the words say that it is not about a layer.
    """
    written = passed(_LETTERS, formulas(card.question, card.question_line))
    prose = prose_of(card.question, card.question_line, written)
    refuse_other_topics(card, prose)
    written = with_cases_said(written, prose)
    prose = replace(prose, formulas=tuple(written))
    said = equations_said(prose, written)
    written = with_ranges_said(written, prose)
    prose = replace(prose, formulas=tuple(written))
    found = with_named(with_words([*passed(_SPELLINGS, [*written, *stated]), *said]), prose)
    read_ = _read_all(found, prose)
    spoken = {name_of(c) for m in mentions(prose, bare_letters) if m.before or m.after for c in m.letters}
    counted = counts(read_.nodes, spoken)
    if counted:
        read_ = _read_all(found, prose, counted)
    if any("=" in formula.latex and not computes_nothing(formula) for formula, _ in read_.failures):
        return read_, prose, []
    derived = any(isinstance(n, Partial) for _, node in read_.nodes for n in walk(node))
    defined = definitions(without_claims(read_.nodes, prose), read_.table)
    new, letters = keyed(card, bool(defined.tensors or defined.functions))
    if not new:
        new, letters = stated_parts(prose, found, defined, derived)
    if not new and defined.tensors:
        new, letters = continued_parts(prose, found, defined, read_.table)
    return (_read_all([*found, *with_named(new, prose)], prose, counted) if new else read_), prose, letters


def _read_all(found: Sequence[Formula], prose: Prose, counted: Iterable[str] = ()) -> Read:
    """The formulas under the letters that all of them declare; ``counted`` are sizes."""
    said = dict.fromkeys((*sizes_said(prose), *map(latex_of, counted)))
    sizes = [Symbol(name_of(latex), latex, Kind.SIZE) for latex in said]
    table = gather(found, SymbolTable(tuple(sizes)), ranks_said(prose), rows_said(prose))
    nodes: list[tuple[Formula, Node]] = []
    failures: list[tuple[Formula, DeriveError]] = []
    for formula in found:
        for part, result in read_parts(formula, table):
            node = result if isinstance(result, Node) else _read_in_part(part, table)
            declares = DECLARATION.fullmatch(part.latex) or _SET.fullmatch(part.latex)
            if node is not None:
                nodes.append((part, node))
            elif isinstance(result, DeriveError) and not declares:
                failures.append((part, result))
    renamed, table = with_biases((node for _, node in nodes), table)
    statements = with_interleaved(tuple(zip((part for part, _ in nodes), renamed, strict=True)))
    return Read(statements, tuple(failures), table, {})


def _read_in_part(formula: Formula, table: SymbolTable) -> Node | None:
    """Of ∂y/∂x = (not read), the derivative; of y = (not read) = value, the definition; else nothing."""
    sides = _EQUALS.split(formula.latex)
    if len(sides) < 2 or not one_equation(formula.latex):
        return None
    found = [_or_none(side.strip(" ,.;&"), table) for side in sides]
    head, last = found[0], found[-1]
    if head is not None and any(isinstance(n, Partial) for n in walk(head)):
        return head
    if len(sides) > 2 and isinstance(head, Entry) and isinstance(last, Expr) and None in found[1:-1]:
        return _or_none(f"{sides[0]} = {sides[-1]}", table)
    return None


def _or_none(latex: str, table: SymbolTable) -> Node | None:
    try:
        return read(latex, table)
    except DeriveError:
        return None
