"""A stride that stands in a formula as a letter, x_{st+k}, with the number that the question gives it, s = 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from derive.errors import CardError, Problem
from derive.expr import Entry, Expr, Idx, Mul, Node, Size, mul, transform, walk
from derive.notation.formulas import Formula
from derive.notation.symbols import Symbol, SymbolTable
from derive.question.constants import equated, with_numbers
from derive.question.places import place
from derive.question.reading import Read


def with_stated_factors(read: Read) -> tuple[Read, tuple[str, ...]]:
    """The formulas with the number in place of each letter that multiplies an index, and how that was read.

    Raises :class:`CardError` for a letter with two numbers.
    """
    factors = {name for _, node in read.nodes for name in _factors(node)}
    known: dict[str, tuple[int, Formula]] = {}
    for formula, node in read.nodes:
        for letter, value in equated(node):
            if isinstance(letter, Size) and letter.name in factors:
                first, where = known.setdefault(letter.name, (value, formula))
                if first != value:
                    raise CardError(Problem(f"`{letter.name}` is {first} ({place(where)}) and {value} "
                                            f"({place(formula)}); keep one", line=formula.line))
    if not known:
        return read, ()
    numbers = {name: value for name, (value, _) in known.items()}
    table = SymbolTable(tuple(_sized(s, numbers) for s in read.table.symbols if s.name not in numbers),
                        read.table.stars, read.table.vectors, read.table.rows)
    nodes = tuple((formula, transform(with_numbers(node, numbers), _number_first)) for formula, node in read.nodes)
    readings = (f"`{name}` is {value} ({place(formula)})" for name, (value, formula) in known.items())
    return replace(read, nodes=nodes, table=table, known={**read.known, **numbers}), tuple(readings)


def _sized(symbol: Symbol, numbers: dict[str, int]) -> Symbol:
    return replace(symbol, sizes=tuple(numbers.get(s, s) if isinstance(s, str) else s for s in symbol.sizes))


def _number_first(node: Node) -> Node | None:
    """x_{2k+i} for x_{k2+i}."""
    def ordered(term: Node) -> Node | None:
        return mul(*term.factors) if isinstance(term, Mul) else None

    return Entry(node.tensor, tuple(transform(i, ordered) for i in node.indices)) if isinstance(node, Entry) else None


def _factors(node: Node) -> Iterator[str]:
    """s of x_{st+k}: the sizes that multiply an index in an index term."""
    for entry in walk(node):
        for product in _products(entry.indices if isinstance(entry, Entry) else ()):
            sizes = [n.name for n in walk(product) if isinstance(n, Size)]
            if any(isinstance(n, Idx) for n in walk(product)):
                yield from sizes


def _products(terms: Iterable[Expr]) -> Iterator[Mul]:
    return (n for term in terms for n in walk(term) if isinstance(n, Mul))
