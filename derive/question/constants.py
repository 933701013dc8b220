"""Sizes that a question calls by a letter, F = 2 and S = 2, put in for their letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, cast

from derive.expr import And, Entry, Expr, Idx, Node, Num, Rel, SetApp, Size, subst, walk

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


def with_numbers(node: _N, known: Mapping[str, int]) -> _N:
    """The formula with the numbers in place of their letters; an equation that gives one stays as it is."""
    if isinstance(node, And):
        return cast(_N, And(tuple(with_numbers(part, known) for part in node.conds)))
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
