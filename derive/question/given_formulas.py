"""The formulas of a statement: each is read, and says something under its key, or is refused with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from derive.card import Card
from derive.errors import CardError, Problem, did_you_mean
from derive.expr import And, Entry, Fn, Node, Partial, Rel, walk
from derive.notation import gather
from derive.notation.formulas import Formula, formulas
from derive.notation.rules import RULES, SPELLINGS, rewritten
from derive.notation.rules.kinds import Said, kind_of
from derive.notation.symbols import Kind, Symbol, SymbolTable, latex_of, name_of
from derive.question.named import with_named
from derive.question.prose import Prose, prose_of
from derive.question.reading import read_parts
from derive.question.roles import ranks_said, rows_said, sizes_said, softmax_said
from derive.records import dataclass
from derive.specify.bias_columns import with_biases
from derive.specify.declared import declared_by, declares, with_own_axes
from derive.specify.definitions import Definitions, statements
from derive.specify.interleaved import with_interleaved
from derive.specify.sizes import counts
from derive.specify.stated import KINDS, written
from derive.statement import FORMULAS, LETTERS, Statement

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
    prose = prose_of(card.question, card.question_line, formulas(card.question, card.question_line))
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
    joined = iter(with_interleaved(tuple(zip((i.part for i in items if i.node is not None), nodes, strict=True))))
    return Given(tuple(replace(i, node=next(joined)[1]) if i.node is not None else i for i in items), table, prose)


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
        if not says[key]:
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


