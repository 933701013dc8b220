"""Where letters are said to run beside an equation: 1 ≤ i, j ≤ n, and k = 1, 2, …, K."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from derive.notation.pieces import variable
from derive.notation.tree import Item, Items, Token, has, is_token, split

_PARTED = ("TEXT", "COLON", "AND", "IFF", "CR", "AMP", "SEMI")
_UP, _DOWN = {"≤", "<"}, {"≥", ">"}


@dataclass(frozen=True)
class Running:
    """Letters that run (none in 0 ≤ i − k < n), the items that say so, and the ends."""

    names: tuple[str, ...]
    items: Items
    ends: tuple[Items, ...]
    listed: bool  # with dots


def running(items: Items) -> Iterator[Running]:
    """The letters that a formula says to run: in chains between two ends, and in enumerations with dots."""
    for block in split(items, *_PARTED):
        pieces = split(block, "COMMA")
        yield from _enumerated(pieces)
        for chain in _chains(pieces):
            yield from _bounded(chain)


def _chains(pieces: list[list[Item]]) -> Iterator[Items]:
    """1 ≤ i ≤ n by itself; the pieces 1 ≤ i and j ≤ n as one chain."""
    open_: list[Item] = []
    for piece in pieces:
        if has(piece, "REL"):
            yield piece
            if open_:
                yield [*open_, *piece]
            open_ = piece
        elif len(piece) == 1 and variable(piece[0]) is not None and open_:
            open_ = [*open_, *piece]  # the j of 1 ≤ i, j, k ≤ n
        else:
            open_ = []


def _bounded(chain: Items) -> Iterator[Running]:
    signs = {i.text for i in chain if isinstance(i, Token) and i.type == "REL"}
    first, *middle, last = split(chain, "REL")
    between = [item for term in middle for item in term]
    if not first or not last or not between or not (signs <= _UP or signs <= _DOWN):
        return
    names = [name for item in between if (name := variable(item)) is not None]
    plain = len(names) == len(between)
    if plain or all(variable(i) is not None or is_token(i, "PLUS", "MINUS", "NUMBER") for i in between):
        yield Running(tuple(names) if plain else (), chain, (first, last), False)


def _enumerated(pieces: list[list[Item]]) -> Iterator[Running]:
    """k = 1, …, K; i, j = 0, 1, …, n − 1."""
    for n, piece in enumerate(pieces):
        sides = split(piece, "REL")
        name = variable(sides[-2][-1]) if len(sides) > 1 and sides[-2] else None
        dots = next((m for m in range(n + 1, len(pieces)) if len(pieces[m]) != 1 or not is_token(
            pieces[m][0], "NUMBER")), len(pieces))
        if name is None or dots == len(pieces) or not is_token(pieces[dots][0] if pieces[dots] else None, "DOTS"):
            continue
        first = n
        alone = len(sides) == 2 and len(sides[0]) == 1  # not the i of y_i = x_i \quad i = 1, …, n
        while alone and first and len(pieces[first - 1]) == 1 and variable(pieces[first - 1][0]) is not None:
            first -= 1
        shared = pieces[first:n]
        names = [variable(p[0]) for p in shared]
        ends = tuple(pieces[dots + 1 : dots + 2])
        said = [item for p in (*shared, sides[-2][-1:], *ends) for item in p]
        yield Running((*(n for n in names if n is not None), name), said, ends, True)

