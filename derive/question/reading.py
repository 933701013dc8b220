"""The formulas of a question, read under the letters that all of them declare, constant sizes put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar, cast

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem
from derive.expr import And, Entry, Expr, Idx, Node, Num, Reduce, Rel, SetApp, Size, subst, walk
from derive.notation import gather, read, read_formula
from derive.notation.formulas import Formula, formulas
from derive.notation.symbols import SymbolTable
from derive.question.dots import without_dots
from derive.question.entries import with_entries
from derive.question.spelling import in_notation
from derive.records import dataclass

_N = TypeVar("_N", bound=Node)


def constants(nodes: Iterable[Node]) -> dict[str, int]:
    """letter ↦ number, from equations between the two; a letter that indexes a tensor, or has two values, is none."""
    nodes = tuple(nodes)
    indices = {i for node in nodes for part in walk(node) for i in _positions(part)}
    found: dict[str, set[int]] = {}
    for letter, value in (pair for node in nodes for pair in equated(node)):
        if letter not in indices:
            found.setdefault(_name(letter), set()).add(value)
    return {name: values.pop() for name, values in found.items() if len(values) == 1}


def with_sizes_known(node: _N, known: Mapping[str, int]) -> _N:
    """The formula with the numbers in place of their letters; an equation that gives one stays as it is."""
    if isinstance(node, And):
        return cast(_N, And(tuple(with_sizes_known(part, known) for part in node.conds)))
    if not known or any(True for _ in equated(node)):
        return node
    letters = {part for part in walk(node) if _is_letter(part) and _name(part) in known}
    return subst(node, {letter: Num(known[_name(letter)]) for letter in letters})


def _positions(part: Node) -> tuple[Expr, ...]:
    return part.indices if isinstance(part, Entry) else part.args if isinstance(part, SetApp) else ()


def equated(node: Node) -> Iterator[tuple[Node, int]]:
    """(letter, number) of F = 2, also in a chain F = S = 2 and in a list of equations."""
    if isinstance(node, And):
        for part in node.conds:
            yield from equated(part)
    elif isinstance(node, Rel) and set(node.ops) == {"="}:
        *letters, last = node.terms
        if isinstance(last, Num) and last.value.denominator == 1 and all(map(_is_letter, letters)):
            yield from ((letter, int(last.value)) for letter in letters)


def _is_letter(node: Node) -> bool:
    return isinstance(node, (Idx, Size)) or (isinstance(node, Entry) and not node.indices)


def _name(letter: Node) -> str:
    assert isinstance(letter, (Idx, Size, Entry))
    return letter.tensor if isinstance(letter, Entry) else letter.name


# x \in \mathbb{R}^{H \times W}: the table has what it declares
DECLARATION = re.compile(r"[^=]*\\in\s*\\mathbb\s*\{?\s*[A-Z][^=]*", re.DOTALL)
_WIDE = re.compile(r"\s*[,;]?\s*(?:\\q?quad\s*)+")
# what may stand apart from an equation without changing it: 0 \le k, l < n or k, l \in \{1, \dots, n\}
_RANGES = re.compile(
    r"(?:\\text\s*\{\s*(?:for(?: all)?|with|where)\s*\}|\\forall|[\w\s,.;:=<>+'-]|\\(?:in|leq?|geq?|lt|gt|dots[bc]?"
    r"|[lc]dots|lbrace|rbrace)(?![a-zA-Z])|\\[{},;: ])+"
)


# parts that may stand side by side in one formula: a = …, \quad b = …
_NESTED = re.compile(r"\\begin|\\end|\\[{}]|[{}()\[\]]")
_SEPARATOR = re.compile(r"\s*(?:[,;](?:\s|\\[,;: ])*(?:\\q?quad)?|\\qquad|\\quad)(?:\s|\\[,;: ]|\\q?quad)*")
_EQUATION = re.compile(r"[^=,;]*(?<![<>\\])=")
_BARE = re.compile(r"\\(?:max|min)(?![a-z])\s*(?:\\limits\s*)?_\s*\{([\w\s,\\]*)\}")
_LETTER = re.compile(r"\\[a-zA-Z]+|[a-zA-Z]")
_TWO_ENDS = re.compile(r"\\in\b|dots|(?:<|\\leq?\b)[^<\\]*(?:<|\\leq?\b)")
# Passes over the formulas of a question, by what each settles, in their order.
Passes = Mapping[str, Callable[[list[Formula]], list[Formula]]]
SPELLINGS: Passes = {"notation": in_notation, "entries": with_entries, "dots": without_dots}


@dataclass(frozen=True)
class Read:
    """The formulas of a question: those that were read, those that were not, and their letters.

    ``known`` are the letters of numbers, F = 2: the formulas hold the numbers.
    """

    nodes: tuple[tuple[Formula, Node], ...]
    failures: tuple[tuple[Formula, DeriveError], ...]
    table: SymbolTable
    known: Mapping[str, int]


def passed(passes: Passes, found: list[Formula]) -> list[Formula]:
    """The formulas after each pass in its turn."""
    for rewritten in passes.values():
        found = rewritten(found)
    return found


# What is read of a question is compared formula by formula and word by word: a text of many pages is refused at once.
MOST_CHARACTERS = 20_000
MOST_FORMULAS = 400
MOST_IN_A_FORMULA = 5_000


def written(card: Card) -> list[Formula]:
    """The formulas of the question as they stand.

    Raises :class:`CardError` for those that are not closed, and for a question of more
    characters or formulas, or a longer formula, than any has.
    """
    if len(card.question) > MOST_CHARACTERS:
        raise CardError(f"the question has {len(card.question):,} characters, and at most {MOST_CHARACTERS:,} are "
                        "read: shorten it, or put what is no question under a heading of its own")
    found = formulas(card.question, card.question_line)
    if len(found) > MOST_FORMULAS:
        raise CardError(f"the question has {len(found):,} formulas, and at most {MOST_FORMULAS} are read")
    for formula in found:
        if len(formula.latex) > MOST_IN_A_FORMULA:
            raise CardError(Problem(f"a formula of {len(formula.latex):,} characters, and at most "
                                    f"{MOST_IN_A_FORMULA:,} are read: define its parts by letters", line=formula.line))
    return found


def read_formulas(card: Card) -> Read:
    """Every formula of the question; raises as :func:`written`."""
    found = passed(SPELLINGS, written(card))
    table = gather(found)
    nodes: list[tuple[Formula, Node]] = []
    failures: list[tuple[Formula, DeriveError]] = []
    for formula in found:
        for part, result in read_parts(formula, table):
            if isinstance(result, Node):
                nodes.append((part, result))
            elif not DECLARATION.fullmatch(part.latex):
                failures.append((part, result))
    texts = [part.latex for part, _ in (*nodes, *failures)]
    nodes = [(part, _ranged(part, node, texts, table)) for part, node in nodes]
    known = constants(node for _, node in nodes)
    table = SymbolTable(tuple(s for s in table.symbols if s.name not in known), table.stars)
    return Read(tuple((f, with_sizes_known(n, known)) for f, n in nodes), tuple(failures), table, known)


def read_parts(formula: Formula, table: SymbolTable) -> Iterator[tuple[Formula, Node | DeriveError]]:
    """The formula; where it cannot be read, its equation and the ranges that stand apart from it."""
    try:
        yield formula, read_formula(formula, table)
    except DeriveError as error:
        parts = _parts(formula)
        if not parts:
            yield formula, error
        for part in parts:
            yield from read_parts(part, table)


def _ranged(formula: Formula, node: Node, texts: list[str], table: SymbolTable) -> Node:
    """A maximum over bare letters, max_{a,b}, with the ranges that the question gives them elsewhere."""
    bare = _BARE.search(formula.latex)
    if bare is None or not any(_unbounded(part) for part in walk(node)):
        return node
    found = {t.strip(" .,;"): set(_LETTER.findall(t)) for t in texts if _RANGES.fullmatch(t) and _TWO_ENDS.search(t)}
    letters = set(_LETTER.findall(bare[1]))
    ranges = [text for text, named in found.items() if named & letters]
    if any(sum(letter in found[text] for text in ranges) != 1 for letter in letters):
        return node
    latex = formula.latex[: bare.start(1)] + ", ".join(ranges) + formula.latex[bare.end(1) :]
    try:
        ranged = read(latex, table, line=formula.line, column=formula.column)
    except DeriveError:
        return node
    return node if any(_unbounded(part) for part in walk(ranged)) else ranged


def _unbounded(part: Node) -> bool:
    return isinstance(part, Reduce) and part.binder.cond is None and None in (*part.binder.lower, *part.binder.upper)


def _parts(formula: Formula) -> tuple[Formula, ...]:
    wide = _WIDE.search(formula.latex)
    if wide is not None and _RANGES.fullmatch(formula.latex, wide.end()):
        return _cut(formula, wide.start(), wide.end(), False)
    for start, end in _separators(formula.latex):
        apart = "=" in formula.latex[:start] or "quad" in formula.latex[start:end]  # \rho(u), \qquad \rho(u) = …
        if apart and _EQUATION.match(formula.latex, end):
            return _cut(formula, start, end, formula.display)
    return ()


def _cut(formula: Formula, start: int, end: int, display: bool) -> tuple[Formula, Formula]:
    """What stands before ``start``, and what stands behind ``end``, with its own place."""
    before = formula.latex[:end]
    line = formula.line + before.count("\n")
    column = len(before) - before.rfind("\n") - 1 + (0 if "\n" in before else formula.column)
    return replace(formula, latex=formula.latex[:start]), Formula(formula.latex[end:], line, column, display)


def _separators(latex: str) -> Iterator[tuple[int, int]]:
    """The places of commas and wide spaces outside all brackets."""
    depth, at = 0, 0
    while at < len(latex):
        if nested := _NESTED.match(latex, at):
            depth += 1 if nested[0] in ("\\begin", "\\{", "{", "(", "[") else -1
            at = nested.end()
        elif depth == 0 and (separator := _SEPARATOR.match(latex, at)) and separator[0].strip():
            yield separator.span()
            at = separator.end()
        else:
            at += 2 if latex[at] == "\\" else 1


def one_equation(latex: str) -> bool:
    """Whether no second equation stands behind a comma or a wide space."""
    return not any(_EQUATION.match(latex, end) for _, end in _separators(latex))
