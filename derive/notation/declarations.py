"""Shapes stated inside a formula: they say what letters are, and claim nothing."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from derive.notation import phrases
from derive.notation.cursor import normal
from derive.notation.tree import Item, Scripted, is_token

if TYPE_CHECKING:
    from derive.notation.reader import Reader

SEPARATORS = ("COMMA", "SEMI", "AND")

def without_declarations(r: Reader, items: list[Item]) -> list[Item]:
    """The items without «, where x, t ∈ R^n»: that says shapes, and claims nothing."""
    segments: list[list[Item]] = [[]]  # each opens with its separator
    for item in items:
        if is_token(item, *SEPARATORS) or phrases.kind(item) in ("IF", "AND"):
            segments.append([])
        segments[-1].append(item)
    drop = [any(is_token(i, "IN") and _is_reals(after) for i, after in itertools.pairwise(s)) for s in segments]
    if not any(drop):
        return items
    for n in range(len(segments) - 1, 0, -1):
        names = [i for i in segments[n - 1] if not is_token(i, *SEPARATORS) and phrases.kind(i) is None]
        drop[n - 1] |= drop[n] and is_token(segments[n][0], "COMMA") and len(names) == 1  # the x of x, t ∈ R^n
    kept = [item for segment, gone in zip(segments, drop, strict=True) if not gone for item in segment]
    while kept and is_token(kept[0], *SEPARATORS):
        kept.pop(0)
    while kept and (is_token(kept[-1], *SEPARATORS) or phrases.kind(kept[-1]) in ("IF", "AND")):
        kept.pop()
    if not kept:
        at = segments[drop.index(True)][-1]
        raise r.error(at, rf"`{r.shown(at)}` declares a shape and claims nothing")
    return kept


def _is_reals(item: Item) -> bool:
    item = normal(item)
    return str(item.base if isinstance(item, Scripted) else item) == "R_bb"
