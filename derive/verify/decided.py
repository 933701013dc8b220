"""Whether the cases of a layer decide its value: where two of them hold they say the same, and so do their slopes."""

from __future__ import annotations

from itertools import islice

from derive.errors import CardError
from derive.expr import Cases, Otherwise, Partial, Rel, walk
from derive.module import Module
from derive.notation import write
from derive.verify.points.claims import Refuted, Undecided
from derive.verify.report import ENOUGH
from derive.verify.scope import Scope


def refuse_undecided(scope: Scope) -> None:
    """y = u where A, v where B: raise :class:`CardError` at a point of A ∩ B where u and v, or their slopes, differ."""
    module = scope.module
    bodies = (f.body for f in module.functions)
    if not any(isinstance(n, Cases) and sum(not isinstance(cond, Otherwise) for _, cond in n.branches) > 1
               for node in (*module.equations, *bodies) for n in walk(node)):
        return
    derived = (s for s in scope.statements if isinstance(s, Rel) and isinstance(s.terms[0], Partial))
    claims = [claim for node in (*module.equations, *derived) for claim in scope.compiler.claims(node)]
    for point in (*scope.tied, *islice(scope.points(), ENOUGH)):
        for claim in claims:
            try:
                claim.holds(point, set(), tied=True)
            except Undecided as found:
                raise undecided(module, found) from None
            except Refuted:
                continue  # a check of its own says so


def undecided(module: Module, found: Undecided) -> CardError:
    """What is to be changed in the card."""
    cased = next((e for e in module.equations if any(isinstance(n, Cases) for n in walk(e))), module.equations[0])
    return CardError(f"${write(cased.terms[0], module.table)}$: two of its cases hold and give two values, or two "
                     f"derivatives, {found.args[0].rpartition(': ')[0]}; give every value exactly one branch")
