"""The proofs that a scope offers: by ring identities in every region, or by Z3 in all cases at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Protocol

from derive.expr import Arg, Bracket, Cases, Directional, Extremum, Fn, Node, Reduce, Subdifferential, walk
from derive.functions import known
from derive.module import Module
from derive.records import dataclass
from derive.reductions import selects
from derive.verify.points.sizes import Sizes, over_windows
from derive.verify.provers.cases import ByCases
from derive.verify.provers.identity import RingIdentity
from derive.verify.provers.regions import MOST_REGIONS
from derive.verify.scope import Scope

PROVABLE = 16  # entries of a window up to which Z3 is asked
PROVED_AT = 2  # choices of sizes for a ring identity
_FEW = 4  # points that say something before a proof is asked for: what claims nothing is proved of nothing


class Prover(Protocol):
    """One way of showing that statements of a scope hold identically, at one choice of sizes."""

    @property
    def sizes(self) -> Sizes: ...

    def proves(self, node: Node) -> bool:
        """Whether the statement holds for all inputs; False where that is not shown."""


@dataclass(frozen=True)
class Proof:
    """``of(statement)``: whether it holds identically; asked once ``enough`` points have said something."""

    enough: int
    evidence: str
    of: Callable[[Node], bool]


Proofs = tuple[Proof, ...]


def proofs(scope: Scope) -> Proofs:
    """Ring identities where the regions are few; and Z3 where the formula has cases at all."""
    if scope.window is not None:
        n = scope.window.window.n
        return _proof(_FEW, f"by Z3 for all windows of {n} entries", ByCases(scope, scope.draws.sizes[0])) \
            if n <= PROVABLE else ()
    if scope.windows and scope.windows[0].whole:
        sizes = over_windows(scope.module, one_more=1) if scope.windows[0].window.n <= PROVABLE else None
        if sizes is None:
            return ()
        shape = "×".join(map(str, sizes.shapes[scope.module.inputs[0]]))
        return _proof(_FEW, f"by Z3 for all inputs of size {shape}", ByCases(scope, sizes))
    cases = ByCases(scope, scope.sizes[0])
    pieces = cases.pieces.pieces.values() if _decides(scope.module) and cases.pieces is not None else ()
    found: Proofs = ()
    if math.prod(len(p.open_cases) for p in pieces) <= 2 * MOST_REGIONS:
        rings = tuple(RingIdentity(scope, sizes) for sizes in scope.sizes[:PROVED_AT])
        if all(ring.instance is not None for ring in reversed(rings)):
            where = _places(r.sizes for r in rings)
            found = _proof(len(scope.sizes), f"by ring identity for {where}, in every region", *rings)
    if pieces:
        found += _proof(len(scope.sizes), f"by Z3 for {_places((cases.sizes,))}, in all cases", cases)
    return found


def _decides(module: Module) -> bool:
    """The forward formula compares values: it may have cases."""
    values = (*(e.terms[1] for e in module.equations), *(f.body for f in module.functions))
    return any(isinstance(n, (Extremum, Cases, Bracket, Arg)) or isinstance(n, Reduce) and selects(n.op)
               or isinstance(n, Fn) and (function := known(n.name)) is not None and bool(function.corners)
               for value in values for n in walk(value))


def _proof(enough: int, evidence: str, *provers: Prover) -> Proofs:
    """That each of them proves it."""
    def proves(node: Node) -> bool:
        if any(isinstance(n, (Subdifferential, Directional)) for n in walk(node)):
            return False
        return all(prover.proves(node) for prover in provers)

    return (Proof(enough, evidence, proves),)


def _places(sizes: Iterable[Sizes]) -> str:
    """n = 2, m = 3 and n = 3, m = 2."""
    return " and ".join(filter(None, (s.words() for s in sizes))) or "all inputs"
