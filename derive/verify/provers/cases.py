"""Proofs of printed equations for all inputs at small sizes: by ring identities, by Z3 over the regions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import z3

from derive.axes import axes
from derive.errors import CardError, UnsupportedError
from derive.expr import Directional, Node, Subdifferential, walk
from derive.numeric.point import TwoCases
from derive.records import dataclass
from derive.symbolic.pieces import Pieces
from derive.verify.points.claims import Claim
from derive.verify.points.draw import Draws
from derive.verify.points.point import Point
from derive.verify.points.sizes import Sizes, cells, over_windows
from derive.verify.provers.algebra import TooMany
from derive.verify.provers.layer import Layer
from derive.verify.provers.piecewise import claims_of, truth
from derive.verify.provers.smt import Own, assume, context, number, opposite, related
from derive.verify.provers.symmetry import Axes, axes_of, representatives
from derive.verify.scope import SIZES, Scope

PROVABLE = 16  # entries of a window up to which Z3 is asked
PROVED_AT = 2  # choices of sizes; where the second is out of reach, the first
_FEW = 4  # points that say something before a proof is asked for: what claims nothing is proved of nothing
_RLIMIT = 2_000_000  # of Z3: what is proved does not depend on the machine
_MOST_ASSIGNMENTS = 20_000  # of the indices of one statement: of more it is tested, not proved
_MOST_LETTERS = 300  # of all tensors, likewise
_SPARE = (10, 40, 200)  # generators besides the entries: few at first, as each makes every polynomial longer
_POINTS = 20  # at which it is looked whether what is taken to hold does


@dataclass(frozen=True)
class Proof:
    """``of(statement)``: whether it holds identically; asked once ``enough`` points have said something."""

    enough: int
    evidence: str
    of: Callable[[Node], bool]


Proofs = tuple[Proof, ...]


def proofs(scope: Scope, own: Own | None = None) -> Proofs:
    """By Z3 in all cases; by ring identities alone where the forward formula has no cases.

    ``own`` is Z3's context for all that lives and is used together, as the scopes of a sheet: each takes long to make.
    """
    own = own or Own()
    if scope.window is not None:
        n = scope.window.window.n
        found = ByCases(scope, scope.draws.sizes[0], own)
        return (_proof(_FEW, f"by Z3 for all windows of {n} entries", found),) if n <= PROVABLE else ()
    if scope.windows and scope.windows[0].whole:
        sizes = over_windows(scope.module, one_more=1) if scope.windows[0].window.n <= PROVABLE else None
        if sizes is None:
            return ()
        shape = "×".join(map(str, sizes.shapes[scope.module.inputs[0]]))
        return (_proof(_FEW, f"by Z3 for all inputs of size {shape}", ByCases(scope, sizes, own)),)
    provers = tuple(ByCases(scope, sizes, own) for sizes in scope.sizes[:PROVED_AT])
    if provers[0].pieces is None:
        return ()
    words = f"by Z3 for {SIZES}, in all cases" if provers[0].pieces.pieces else f"by ring identity for {SIZES}"
    return tuple(_proof(len(scope.sizes), words % count, *provers[:count])
                 for count in dict.fromkeys((len(provers), 1)))


def _proof(enough: int, evidence: str, *provers: ByCases) -> Proof:
    """That each of them proves it."""
    def proves(node: Node) -> bool:
        if any(isinstance(n, (Subdifferential, Directional)) for n in walk(node)):
            return False
        return all(prover.proves(node) for prover in provers)

    return Proof(enough, evidence, proves)


class ByCases:
    """Proves statements of a scope at one choice of sizes: no model of the negation, whatever the region."""

    def __init__(self, scope: Scope, sizes: Sizes, own: Own) -> None:
        self.scope, self.sizes, self._own = scope, sizes, own
        self._sound = 0  # axioms that are known to have a model
        self._spare = _SPARE[0]
        self._known: dict[Node, bool] = {}

    @cached_property
    def pieces(self) -> Pieces | None:
        """The forward formula in pieces; None where it is out of reach."""
        module, shapes = self.scope.module.stepping(self.sizes.chosen), self.sizes.shapes
        found = Pieces(module, {name: cells(axes(module), name, shapes[name]) for name in module.given}, shapes)
        try:
            found.forward()
        except (UnsupportedError, CardError, TwoCases, ArithmeticError, ValueError, TypeError, LookupError):
            return None
        return found

    @cached_property
    def draws(self) -> Draws:
        scope = self.scope
        if scope.window is not None:
            return scope.draws
        return Draws(scope.module, scope.kind, (self.sizes,), scope.draws.pool, scope.free)

    @cached_property
    def layer(self) -> Layer | None:
        """The layer at a point of these sizes; None where there is none."""
        if self.pieces is None or sum(math.prod(s) for s in self.sizes.shapes.values()) > _MOST_LETTERS:
            return None
        try:
            return Layer(self._point, self.draws.facts, self.pieces, self._spare)
        except UnsupportedError:
            return None

    @cached_property
    def _axes(self) -> Axes:
        assert self.layer is not None
        return axes_of(self.scope.module, self.scope.definitions, self.layer.sizes)

    @cached_property
    def _point(self) -> Point:
        return self.draws.point(0)

    def proves(self, node: Node) -> bool:
        """Whether the statement holds for all inputs off the boundaries; False where that is not shown."""
        if node not in self._known:
            self._known[node] = self._proves_anew(node)
        return self._known[node]

    def _proves_anew(self, node: Node) -> bool:
        made = self.__dict__.get("layer")
        if self.scope.window is not None and made is not None and made.space.narrowed:
            self._lower_again()  # one statement may ask for a smooth point, the next tells of ties
        while True:
            try:
                with self._own.used():
                    return self._proves_all(node)
            except TooMany:
                if self._spare == _SPARE[-1]:
                    return False
                self._spare = _SPARE[_SPARE.index(self._spare) + 1]
                self._lower_again()

    def _lower_again(self) -> None:
        """Letters of which nothing is said yet; any thread may free the old ones' terms, so they are kept."""
        self._own.kept.append(self.__dict__.pop("layer", None))
        self._sound = 0

    def _proves_all(self, node: Node) -> bool:
        if self.layer is None:
            return False
        self.layer.space.algebra.work = 0
        try:
            return all(self._proves(claim, whole) for claim, whole
                       in zip(self.scope.compiler.claims(node), claims_of(node), strict=True))
        except TooMany:
            raise
        except (UnsupportedError, TwoCases, LookupError, ArithmeticError, ValueError, TypeError, AttributeError):
            return False

    def _proves(self, claim: Claim, whole: Node) -> bool:
        assert self.layer is not None
        space, left, runs = self.layer.space, [], claim.runs(self.layer.point)
        if math.prod(map(len, runs)) > _MOST_ASSIGNMENTS:
            return False
        holds = truth(whole, claim.variables, self.scope.compiler, self.layer)
        named = dict(zip(claim.variables, runs, strict=True))
        for at in representatives(named, whole, self._axes, self.layer.point):
            found = holds(at)
            if found is False:
                return False
            if found is not True:
                left.append(found)
        if not left:  # identities: nothing was taken to hold
            return True
        solver = self._solver()
        for found in dict.fromkeys(left):
            solver.push()
            assume(solver, [opposite(space.truth(found))])
            if solver.check() != z3.unsat:
                return False
            solver.pop()
        return self._consistent(solver)

    def _solver(self) -> Any:
        assert self.layer is not None
        space = self.layer.space
        solver = z3.SimpleSolver(ctx=context())
        solver.set("rlimit", _RLIMIT)
        assume(solver, [*space.axioms, *space.terms.relations(), *space.terms.stated(self.layer.facts)])
        return solver

    def _consistent(self, solver: Any) -> bool:
        """What is taken to hold does so at some point: nothing was proved of nothing."""
        assert self.layer is not None
        layer, space = self.layer, self.layer.space
        if len(space.axioms) > self._sound:
            for turn in range(_POINTS):
                values = self.draws.point(turn).values
                solver.push()
                known = {g: Fraction(values[name][at]) for name in layer.point.given
                         for at, poly in layer.letters[name].items()
                         for g in poly.used() if poly == space.algebra.generator(g)}
                assume(solver, [related(space.terms.letter(g), "=", number(value)) for g, value in known.items()])
                assume(solver, [related(letter, "=", number(math.prod(known[g] ** power for g, power in monomial)))
                                for monomial, letter in space.terms.monomials.items()
                                if known.keys() >= dict(monomial).keys()])
                if solver.check() == z3.sat:
                    self._sound = len(space.axioms)
                    return True
                solver.pop()
        return len(space.axioms) == self._sound
