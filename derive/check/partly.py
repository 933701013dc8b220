"""Letters that a solution defines in some cases only, or twice: an equation of them that fails need not be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

from derive.check.judging.verdict import Judge
from derive.check.reading.claims import Item, Kind_
from derive.check.report import RIGHT
from derive.expr import Entry, Rel, free_indices

_CASES = re.compile(r"[\s$\0]*(?:for|if|when|whenever|unless|at|in)\s+(?!all\b|each\b|every\b|any\b|brevity\b|short\b)"
                    r"[^\W\d_]", re.IGNORECASE)


def partly(items: Iterable[tuple[Item, bool, str]], judge: Judge) -> dict[str, tuple[Item, str]]:
    """Why no equation about a letter is refuted but the one that tells so, by its name.

    Of formulas in order, each with whether the word before it defines, and the text behind it:

    D_{kl} = 1 «for the winner»; a letter that is told otherwise later; a letter of such letters.
    """
    found = dict[str, tuple[Item, str]]()
    for item, defines, behind in items:
        head = item.node.terms[0] if isinstance(item.node, Rel) else None
        told = item.letter and item.kind is not Kind_.CONDITION and (defines or isinstance(head, Entry))
        if told and judge(item.link, item.cond).verdict not in RIGHT:
            found.setdefault(item.letter, (item, item.otherwise))
        if not isinstance(head, Entry):
            continue
        if item.kind is Kind_.DEFINITION:
            lacks = not free_indices(item.link.terms[-1]).issuperset(free_indices(head))
            of = next((found[u][1] for u in sorted(item.uses) if u in found), "")
            if of or lacks or _CASES.match(behind):
                found.setdefault(head.tensor, (item, of or "what its letter is in some cases only may be told in line "
                                               f"{item.formula.line}"))
    return found
