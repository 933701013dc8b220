"""The formulas of a question, read under the letters that all of them declare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from derive.card import Card
from derive.errors import DeriveError
from derive.expr import Node, Reduce, walk
from derive.notation import gather, read
from derive.notation.formulas import Formula, formulas
from derive.notation.symbols import SymbolTable
from derive.question.constants import constants, with_numbers
from derive.question.dots import without_dots
from derive.question.entries import with_entries
from derive.question.spelling import in_notation

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


@dataclass(frozen=True)
class Read:
    """The formulas of a question: those that were read, those that were not, and their letters.

    ``known`` are the letters of numbers, F = 2: the formulas hold the numbers.
    """

    nodes: tuple[tuple[Formula, Node], ...]
    failures: tuple[tuple[Formula, DeriveError], ...]
    table: SymbolTable
    known: Mapping[str, int]


def read_formulas(card: Card) -> Read:
    """Every formula of the question; raises :class:`CardError` for those that are not closed."""
    found = without_dots(with_entries(in_notation(formulas(card.question, card.question_line))))
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
    return Read(tuple((f, with_numbers(n, known)) for f, n in nodes), tuple(failures), table, known)


def read_parts(formula: Formula, table: SymbolTable) -> Iterator[tuple[Formula, Node | DeriveError]]:
    """The formula; where it cannot be read, its equation and the ranges that stand apart from it."""
    try:
        yield formula, read(formula.latex, table, line=formula.line, column=formula.column)
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
