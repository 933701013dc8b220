"""The proofs that a scope offers: for all inputs at the sizes that a window, a whole input or a choice of sizes has."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from derive.expr import Directional, Node, Subdifferential, walk
from derive.records import dataclass
from derive.verify.points.sizes import Sizes, over_windows
from derive.verify.provers.cases import ByCases
from derive.verify.scope import Scope

PROVABLE = 16  # entries of a window up to which Z3 is asked
PROVED_AT = 2  # choices of sizes; where the second is out of reach, the first
_FEW = 4  # points that say something before a proof is asked for: what claims nothing is proved of nothing


@dataclass(frozen=True)
class Proof:
    """``of(statement)``: whether it holds identically; asked once ``enough`` points have said something."""

    enough: int
    evidence: str
    of: Callable[[Node], bool]


Proofs = tuple[Proof, ...]


def proofs(scope: Scope) -> Proofs:
    """By Z3 in all cases; by ring identities alone where the forward formula has no cases."""
    if scope.window is not None:
        n = scope.window.window.n
        found = ByCases(scope, scope.draws.sizes[0])
        return (_proof(_FEW, f"by Z3 for all windows of {n} entries", found),) if n <= PROVABLE else ()
    if scope.windows and scope.windows[0].whole:
        sizes = over_windows(scope.module, one_more=1) if scope.windows[0].window.n <= PROVABLE else None
        if sizes is None:
            return ()
        shape = "×".join(map(str, sizes.shapes[scope.module.inputs[0]]))
        return (_proof(_FEW, f"by Z3 for all inputs of size {shape}", ByCases(scope, sizes)),)
    provers = tuple(ByCases(scope, sizes) for sizes in scope.sizes[:PROVED_AT])
    if provers[0].pieces is None:
        return ()
    words = "by Z3 for {}, in all cases" if provers[0].pieces.pieces else "by ring identity for {}"
    return tuple(_proof(len(scope.sizes), words.format(_places(p.sizes for p in provers[:count])), *provers[:count])
                 for count in dict.fromkeys((len(provers), 1)))


def _proof(enough: int, evidence: str, *provers: ByCases) -> Proof:
    """That each of them proves it."""
    def proves(node: Node) -> bool:
        if any(isinstance(n, (Subdifferential, Directional)) for n in walk(node)):
            return False
        return all(prover.proves(node) for prover in provers)

    return Proof(enough, evidence, proves)


def _places(sizes: Iterable[Sizes]) -> str:
    """n = 2, m = 3 and n = 3, m = 2."""
    return " and ".join(filter(None, (s.words() for s in sizes))) or "all inputs"
