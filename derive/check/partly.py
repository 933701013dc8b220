"""Letters that a solution defines in some cases only, or twice: an equation of them that fails need not be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

from derive.check.claims import Item, Kind_
from derive.check.report import RIGHT
from derive.check.verdict import Judge
from derive.expr import Entry, Rel, free_indices

_CASES = re.compile(r"[\s$\0]*(?:for|if|when|whenever|unless|at|in)\s+(?!all\b|each\b|every\b|any\b|brevity\b|short\b)"
                    r"[^\W\d_]", re.IGNORECASE)


def partly(items: Iterable[tuple[Item, str]], judge: Judge) -> dict[str, str]:
    """Why no equation about a letter is refuted, by its name; of formulas in order, each with the text behind it.

    D_{kl} = 1 «for the winner»; a letter that is told otherwise later; a letter of such letters.
    """
    found = dict[str, str]()
    for item, behind in items:
        head = item.node.terms[0] if isinstance(item.node, Rel) else None
        if not isinstance(head, Entry):
            continue
        if item.kind is Kind_.DEFINITION:
            lacks = not free_indices(item.link.terms[-1]).issuperset(free_indices(head))
            of = next((found[u] for u in sorted(item.uses) if u in found), "")
            if of or lacks or _CASES.match(behind):
                found.setdefault(head.tensor, of or "what its letter is in some cases only may be told in line "
                                 f"{item.formula.line}")
        elif item.again is not None and judge(item.link, item.cond).verdict not in RIGHT:
            found.setdefault(head.tensor, item.otherwise)
    return found
