"""The formulas of a question, read under the letters that all of them declare; functions by name and cases in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar, cast

from derive.card import Card
from derive.errors import CardError, DeriveError, Problem
from derive.expr import And, Entry, Expr, Idx, Node, Num, Reduce, Rel, SetApp, Size, subst, walk
from derive.formulas import formulas
from derive.limits import MOST_BLANKS, MOST_CHARACTERS, MOST_FORMULAS, MOST_IN_A_FORMULA, MOST_IN_A_SENTENCE
from derive.notation import gather, read_formula
from derive.notation.formulas import Formula
from derive.notation.rules import LETTERS, RULES, rewritten
from derive.notation.rules.kinds import Said, is_bounded, is_range, kind_of
from derive.notation.rules.trees import Run, each, equals, sides, spelt, statements
from derive.notation.symbols import SymbolTable
from derive.notation.tree import Env, Item, Scripted, Token, has, is_token, names_in, variables
from derive.notation.vocabulary import opens_range
from derive.question.words.prose import BREAK, GAP, Gap, Prose, plain_prose, prose_of
from derive.records import dataclass

_IF = rf"(?:,?\s*(?:if|for|when(?:ever)?|where|pro|pokud|když|je-li|jestliže)\s+(?:all\s+)?(?P<cond>{GAP}))"
_ELSE = r"(?:,?\s*(?:otherwise|else|elsewhere|jinak))"
_SAYS = r"(?:it (?:is|equals)\s+|by\s+|is\s+|equals?\s+|to\s+|je\s+)?"
_GIVEN = rf"{GAP}|zero\b|0\b|nul[au]\b"
_FIRST = re.compile(rf"(?P<value>{GAP})\s*{_IF}")
_NEXT = re.compile(
    rf"\s*[,;]?\s*(?:and|while|but|or|a|resp)?\s*,?\s*(?:{_ELSE}\s*,?\s*{_SAYS}(?P<later>{_GIVEN})"
    rf"|{_SAYS}(?P<value>{_GIVEN})\s*(?:{_IF}|{_ELSE}))"
)


@dataclass(frozen=True)
class _Piece:
    """A value and its condition, None for all other cases; the formulas that it takes."""

    head: Run | None
    value: Run
    cond: Run | None
    formulas: tuple[Formula, ...]
    shown: tuple[str, str]  # its left side and its row, as written

    def row(self) -> Run:
        """value & if cond"""
        def sign(type_: str, text: str = "") -> Token:
            return Token(type_, text, self.value[-1].end, self.value[-1].end)

        said = (sign("TEXT", "otherwise"),) if self.cond is None else (sign("TEXT", "if"), *self.cond)
        return *self.value, sign("AMP"), *said, sign("CR")


def with_cases_said(written: Sequence[Formula], prose: Prose) -> list[Formula]:
    """The formulas, one with cases in place of those that stand in the pieces of such a sentence.

    Pieces with left sides of their own must agree in them; what does not fit is left as it is.
    """
    gaps = {gap.start: gap for gap in prose.gaps}
    found, at = list(written), 0
    while (first := _FIRST.search(prose.text, at)) is not None:
        pieces, at = _pieces(first, prose, gaps)
        if len(pieces) > 1:
            place = pieces[0].formulas[0]
            lines = r" \\ ".join(piece.shown[1] for piece in pieces)
            head, at_ = pieces[0].head or (), pieces[0].value[0]
            cases = Env("cases", tuple(i for piece in pieces for i in piece.row()), at_.start, at_.end)
            shown = rf"{pieces[0].shown[0]} = \begin{{cases}} {lines} \end{{cases}}"
            whole = replace(place, latex=shown, tree=(*head, equals(at_), cases), origin=place.source)
            taken = [f for piece in pieces for f in piece.formulas if f is not place]
            found = [whole if f is place else f for f in found if not any(f is t for t in taken)]
    return found


def _pieces(first: re.Match[str], prose: Prose, gaps: dict[int, Gap]) -> tuple[list[_Piece], int]:
    """The pieces that begin here, and where to go on; the first must be an equation."""
    opening = _piece(first, gaps)
    if opening is None or opening.head is None:
        return [], first.start() + 1
    found, end = [opening], first.end()
    while found[-1].cond is not None and (match := _NEXT.match(prose.text, end)) is not None:
        piece = _piece(match, gaps)
        if piece is None or (piece.head is not None and spelt(piece.head) != spelt(opening.head)):
            break
        found.append(piece)
        end = match.end()
    return found, end


def _piece(match: re.Match[str], gaps: dict[int, Gap]) -> _Piece | None:
    groups = match.groupdict()
    name = "value" if groups.get("value") else "later"
    at = match.start(name)
    value, cond = gaps.get(at), gaps.get(match.start("cond")) if groups.get("cond") else None
    condition = _tree(cond) if cond is not None else None
    if (groups.get("cond") and (condition is None or not has(condition, "REL", "IN", "RANGE"))) or (
            value is None and groups[name] == GAP):
        return None
    said: Run = _tree(value) if value is not None else (Token("NUMBER", "0", 0, 0),)
    if has(said, "RANGE"):
        return None  # «for $i = 1, …, H$, $j = 1, …, W$, where …»
    stated = sides(said)
    head = stated[0] if len(stated) == 2 and all(stated) else None
    taken = tuple(gap.formula for gap in (value, cond) if gap is not None)
    if not said:
        return None
    body = said if head is None else stated[1]
    said_if = rf"\text{{if }} {_shown(cond, condition)}" if condition else r"\text{otherwise}"
    shown = "" if head is None else _shown(value, head), f"{_shown(value, body)} & {said_if}"
    return _Piece(head, body, condition, taken, shown)


def _shown(gap: Gap | None, items: Run) -> str:
    return "0" if gap is None else gap.formula.part(items, False).latex


def _tree(gap: Gap) -> Run:
    return tuple(item for item in gap.formula.tree or () if not is_token(item, "AMP"))


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


@dataclass(frozen=True)
class Read:
    """The formulas of a question: those that were read, those that were not, and their letters.

    ``known`` are the letters of numbers, F = 2: the formulas hold the numbers.
    """

    nodes: tuple[tuple[Formula, Node], ...]
    failures: tuple[tuple[Formula, DeriveError], ...]
    table: SymbolTable
    known: Mapping[str, int]
    zeros: tuple[Formula, ...] = ()  # that say where entries are 0: the others have the conditions
    told: tuple[tuple[int, int], ...] | None = None  # words that parts which only words name take account of


def question_formulas(card: Card) -> list[Formula]:
    """The formulas of the question as they stand; raises as :func:`question_prose`."""
    return [*question_prose(card).formulas]


def refuse_long(text: str, first: int, called: str = "question", most: int = MOST_CHARACTERS) -> None:
    """Raise :class:`CardError` for a text longer than is read, or with more blanks in a row.

    Words and signs are looked for over blanks: from each of them on.
    """
    _refuse_characters(text, called, most)
    for gap in re.finditer(r"\s++", text):
        if len(gap[0]) > MOST_BLANKS:
            raise CardError(Problem(f"{len(gap[0]):,} blanks in a row, and at most {MOST_BLANKS} are read: leave out "
                                    "some", line=first + text.count("\n", 0, gap.start())))


def _refuse_characters(text: str, called: str = "question", most: int = MOST_CHARACTERS) -> None:
    if len(text) > most:
        raise CardError(f"the {called} has {len(text):,} characters, and at most {most:,} are read: shorten it, or put "
                        f"what is no {called} under a heading of its own")


def question_prose(card: Card) -> Prose:
    """The words of the question around its formulas as these stand.

    Raises :class:`CardError` for formulas that are not closed, and for a question of more
    characters or formulas, or a longer formula or sentence, than any has.
    """
    return _prose(card.question, card.question_line)


def lettered_prose(card: Card) -> Prose:
    """The same, letters in the formulas having names of their own; raises as :func:`question_prose`."""
    return _lettered(card.question, card.question_line)


@lru_cache(maxsize=16)  # each reader of a question asks for it
def _prose(question: str, first_line: int) -> Prose:
    _refuse_characters(question)  # blanks may stand for what is set aside
    found = formulas(question, first_line)
    if len(found) > MOST_FORMULAS:
        raise CardError(f"the question has {len(found):,} formulas, and at most {MOST_FORMULAS} are read")
    prose = plain_prose(question, first_line)
    for long in re.finditer(rf"[^.?!;{BREAK}]{{{MOST_IN_A_SENTENCE + 1},}}", prose.text):
        raise CardError(Problem(f"a sentence of {len(long[0]):,} characters, and at most {MOST_IN_A_SENTENCE:,} are "
                                "read: end it with a full stop", line=prose.line(long.start())))
    for formula in found:
        if len(formula.latex) > MOST_IN_A_FORMULA:
            raise CardError(Problem(f"a formula of {len(formula.latex):,} characters, and at most "
                                    f"{MOST_IN_A_FORMULA:,} are read: define its parts by letters", line=formula.line))
    return prose_of(question, first_line, found)


@lru_cache(maxsize=16)
def _lettered(question: str, first_line: int) -> Prose:
    return prose_of(question, first_line, rewritten(_prose(question, first_line).formulas, LETTERS))


def read_formulas(card: Card) -> Read:
    """Every formula of the question; raises as :func:`question_prose`."""
    found = rewritten(lettered_prose(card).formulas, RULES)
    table = gather(found)
    nodes: list[tuple[Formula, Node]] = []
    failures: list[tuple[Formula, DeriveError]] = []
    for formula in found:
        for part, result in read_parts(formula, table):
            if isinstance(result, Node):
                nodes.append((part, result))
            elif not declares(part) and kind_of(part) is not Said.LETTERS:
                failures.append((part, result))
    ranges = [part.tree for part, _ in (*nodes, *failures) if part.tree and is_range(part.tree)
              and is_bounded(part.tree)]
    nodes = [(part, _ranged(part, node, ranges, table)) for part, node in nodes]
    known = constants(node for _, node in nodes)
    table = replace(table, symbols=tuple(s for s in table.symbols if s.name not in known))
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


def declares(formula: Formula) -> bool:
    """Whether the table has all that the formula says: shapes, or what is in a set."""
    return kind_of(formula) in (Said.DECLARATION, Said.SET)


def _ranged(formula: Formula, node: Node, ranges: list[Run], table: SymbolTable) -> Node:
    """A maximum over bare letters, max_{a,b}, with the ranges that the question gives them elsewhere."""
    if not any(_unbounded(part) for part in walk(node)):
        return node

    def ranged(item: Item) -> Item:
        bare = isinstance(item, Scripted) and is_token(item.base, "BIG") and item.base.text in ("max", "min")
        letters = set(variables(item.subs[0]) or ()) if bare and isinstance(item, Scripted) and item.subs else set()
        found = {spelt(tree): tree for tree in ranges if letters & {*names_in(tree)}}
        if not letters or not isinstance(item, Scripted) or any(
                sum(name in names_in(tree) for tree in found.values()) != 1 for name in letters):
            return item
        comma = Token("COMMA", ",", item.start, item.end)
        below = [i for tree in found.values() for i in (comma, *tree)][1:]
        return replace(item, subs=(tuple(below),))

    try:
        found = read_formula(replace(formula, tree=each(formula.tree or (), ranged)), table)
    except DeriveError:
        return node
    return node if any(_unbounded(part) for part in walk(found)) else found


def _unbounded(part: Node) -> bool:
    return isinstance(part, Reduce) and part.binder.cond is None and None in (*part.binder.lower, *part.binder.upper)


_MOST_IN_RANGES = 100  # items of those behind an equation


def _parts(formula: Formula) -> tuple[Formula, ...]:
    """An equation and the ranges behind it, or two equations that a comma or a wide space parts."""
    tree = tuple(formula.tree or ())
    for n, item in enumerate(tree):
        said = opens_range(item)
        wide = is_token(item, "COMMA", "QUAD") and (item.type == "QUAD" or item.text == "quad")
        if n and (said or wide) and 0 < len(tree) - n - 1 < _MOST_IN_RANGES and is_range(tree[n + 1 :]):
            first = tree[: n - 1] if is_token(tree[n - 1], "COMMA") else tree[:n]
            rest = tree[n + 2 :] if opens_range(tree[n + 1]) else tree[n + 1 :]
            return (formula.part(first, formula.display), formula.part(rest, False)) if first and rest else ()
    last = max((n for n, item in enumerate(tree) if is_token(item, "REL")), default=0)
    for n, item in enumerate(tree[:last]):
        if is_token(item, "COMMA", "SEMI", "QUAD") and n:
            apart = item.type == "QUAD" or item.text == "quad" or any(len(sides(p)) > 1 for p in statements(tree[:n]))
            rest = tree[n + 1 :]
            if apart and rest and len(sides(statements(rest)[0])) > 1:  # \rho(u), \qquad \rho(u) = …
                return formula.part(tree[:n], formula.display), formula.part(rest, formula.display)
    return ()


def one_equation(formula: Formula) -> bool:
    """Whether no second equation stands behind a comma or a wide space."""
    return not any(len(sides(part)) > 1 for part in statements(formula.tree or ())[1:])
