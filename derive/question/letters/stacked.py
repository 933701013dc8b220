"""Samples that a matrix or a vector holds: the x_n of «the design matrix X, whose n-th row is x_n»."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from derive.notation.formulas import Formula
from derive.notation.rules import trees
from derive.notation.symbols import is_capital, name_of
from derive.notation.tree import Item, Scripted, inside, is_token, normal, sampled, split, unwrap
from derive.question.letters.naming import bare_letters
from derive.question.words.lexicon import named
from derive.question.words.prose import Prose


def with_rows(formulas: Sequence[Formula], prose: Prose) -> list[Formula]:
    r"""The formulas with x_n for X, where the words call X the matrix of the rows x_n, and no equation has X.

    $X \in \mathbb{R}^{N \times D}$ is $x_n \in \mathbb{R}^D$; an X by itself goes.
    """
    equations = [item for f in formulas for part in trees.statements(f.tree or ()) if len(trees.sides(part)) > 1
                 for top in part for item in inside(top)]
    other = {str(item) for item in equations if is_token(item, "NAME")} | {
        str(item.base) for f in formulas for top in f.tree or () for item in inside(top) if isinstance(item, Scripted)}
    names = {*_matrices(prose)} - other
    rows = {name: row for name in names if (row := _row(equations, name.lower())) is not None}
    return trees.changed(formulas, lambda tree: trees.by_statement(tree, lambda part: _of_rows(part, rows))
                         ) if rows else [*formulas]


def _matrices(prose: Prose) -> Iterator[str]:
    """X of the sentences that speak of rows, and of no columns; a word's row of a table is looked up, and no sample."""
    for gap in prose.gaps:
        start, stop = prose.sentence(gap.start)
        words = prose.text[start:stop]
        if named(words, "samples.rows") and not named(words, "samples.columns", "samples.looked_up"):
            yield from filter(is_capital, map(name_of, bare_letters(gap.formula)))


def _row(items: Sequence[Item], letter: str) -> Item | None:
    """x_n or x^{(n)}, where the letter stands so only."""
    plain = [i for i in items if is_token(i, "NAME") and sampled(i.text)[0] == letter]
    below = [i for i in items if isinstance(i, Scripted) and str(i.base) == letter and len(i.subs) == 1
             and len(i.subs[0]) == 1 and trees.letter(i.subs[0][0]) is not None]
    if len(below) == len(plain):
        return replace(below[0], sups=()) if below else None
    return plain[0] if plain and all(sampled(i.text)[1] for i in plain) else None


def _of_rows(part: trees.Run, rows: Mapping[str, Item]) -> trees.Run:
    row = rows.get(trees.letter(part[0]) or "")
    if row is not None and len(part) == 1:
        return ()
    space = normal(part[2]) if row is not None and len(part) == 3 and is_token(part[1], "IN") else None
    if row is not None and isinstance(space, Scripted) and len(space.sups) == 1:
        _, *extents = split(unwrap(space.sups[0]), "TIMES")
        own = (row, part[1], replace(space, sups=(tuple(extents[0]),))) if len(extents) == 1 else part
        return own if extents else ()
    return trees.each(part, lambda item: rows.get(trees.letter(item) or "", item))
