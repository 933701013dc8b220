"""A layer's instance for proofs: its regions, each with a point inside, and whether these are all."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field
from fractions import Fraction
from typing import Any

import z3

from derive.module import Module
from derive.numeric.point import Index, Undefined
from derive.records import dataclass
from derive.ring import Poly
from derive.verify.points.draw import Draws
from derive.verify.points.facts import Facts
from derive.verify.points.point import Point
from derive.verify.provers.algebra import Algebra, TooLarge
from derive.verify.provers.formal import FormalPoint, Formals, Path
from derive.verify.provers.smt import Own, Terms, context, number, related

MOST_REGIONS = 32
MOST_ENTRIES = 300  # of all tensors: of more a layer is tested, not proved
_MOST_DECISIONS = 9  # on the way to one region
_TRIES = 10
_SPARE = 3  # further points kept for a region: a statement may divide it
_RLIMIT = 50_000  # of Z3, so that what is proved does not depend on the machine


class Searcher:
    """Z3 over the generators of an algebra: functions are free but for their relations.

    Z3's nlsat decides, not its SMT core: the core's patches of products can grow their
    fractions for hours without a look at any limit.  In a context of its own the answer
    does not depend on what was asked before.
    """

    def __init__(self, algebra: Algebra, facts: Facts | None = None) -> None:
        self.algebra, self.facts = algebra, facts
        self.terms, self._own = Terms(algebra), Own()

    def values(self, path: Path, generic: Iterable[Poly]) -> dict[int, Fraction] | None:
        """A value of each generator that these decisions are about; None where no values lead to them.

        The differences in ``generic`` are not 0 there.  Raises :class:`TooLarge` where Z3 gives up.
        """
        with self._own.used():
            return self._values(path, generic)

    def _values(self, path: Path, generic: Iterable[Poly]) -> dict[int, Fraction] | None:
        generic = sorted(set(generic), key=Poly.terms)
        stated = () if self.facts is None else self.terms.stated(self.facts)
        claims = [*self.terms.relations(), *stated,
                  *(related(self.terms.of(p), ">" if above else "<", number(0)) for p, above in path)]
        if self._model(claims) is None:
            return None
        model = self._model([*claims, *(related(self.terms.of(p), "≠", number(0)) for p in generic)])
        if model is None:
            raise TooLarge("every point lies on a boundary")
        about = (*generic, *(p for p, _ in path))
        used = self._bound().union(*(poly.used() for poly in about))
        return {g: _fraction(model.eval(self.terms.letter(g), model_completion=True)) for g in used}

    def _model(self, claims: Iterable[Any]) -> Any:
        """A model of the claims, None where there is none; raises :class:`TooLarge` where Z3 gives up."""
        solver = z3.Tactic("qfnra-nlsat", ctx=context()).solver()
        solver.set("rlimit", _RLIMIT)
        solver.add(*claims)
        found = solver.check()
        if found not in (z3.sat, z3.unsat):
            raise TooLarge("Z3 gives up")
        return solver.model() if found == z3.sat else None

    def _bound(self) -> set[int]:
        """The generators of which the card states something: their values must come from here."""
        facts = self.facts
        return set() if facts is None else {
            g for (name, _), g in self.algebra.entries() if name in facts.single or name in facts.listed}


def _fraction(value: Any) -> Fraction:
    return Fraction(str((value if z3.is_rational_value(value) else value.approx(20)).as_fraction()))


@dataclass(frozen=True)
class Instance:
    """A layer at one choice of sizes, and points of every region of its forward formula."""

    formals: Formals
    draws: Draws
    searcher: Searcher
    regions: dict[Path, list[FormalPoint]] = field(default_factory=dict)
    searched: dict[Path, FormalPoint | None] = field(default_factory=dict)

    def add(self, point: Point | None) -> FormalPoint | None:
        """Put a point into its region; one on a boundary is in none."""
        self.formals.algebra.work = 0
        try:
            formal = None if point is None else FormalPoint(point, self.formals, self.draws.facts)
        except Undefined:
            return None
        if formal is not None:
            found = self.regions.setdefault(formal.path, [])
            if len(found) <= _SPARE:
                found.append(formal)
        if len(self.regions) > MOST_REGIONS or any(len(p) > _MOST_DECISIONS for p in self.regions):
            raise TooLarge("too many regions for a proof")
        return formal

    def search(self, path: Path, others: Iterable[Path]) -> FormalPoint | None:
        """A new point at which these decisions are made; None where Z3 shows that there are none.

        Raises :class:`TooLarge` where neither is found.
        """
        if path not in self.searched:
            self.searched[path] = self._search(path, others)
        return self.searched[path]

    def _search(self, path: Path, others: Iterable[Path]) -> FormalPoint | None:
        values = self.searcher.values(path, {poly for other in others for poly, _ in other})
        if values is None:
            return None

        def chosen(name: str, at: Index) -> Fraction | None:
            g = self.formals.algebra.known((name, at))
            return None if g is None else values.get(g)

        found = self.add(self.draws.at(chosen))
        if found is None:
            raise TooLarge("no point of a region was found")
        return found


def instance(module: Module, draws: Draws) -> Instance:
    """The regions of the forward formula at the one choice of sizes of ``draws``: drawn, then searched for by Z3.

    Raises :class:`TooLarge` where there are too many, or where it is not shown that there are no more.
    """
    entries = _entries(module, draws)
    if entries > MOST_ENTRIES:
        raise TooLarge("too many entries for a proof")
    algebra = Algebra(entries)
    found = Instance(Formals(algebra, draws.kind), draws, Searcher(algebra, draws.facts))
    for turn in range(_TRIES):
        found.add(draws.point(turn))
        if () in found.regions:
            return found
    waiting, impossible = unvisited(tuple(found.regions)), set()
    while waiting:
        before = len(found.regions)
        if found.search(waiting[0], found.regions) is None:
            impossible.add(waiting.pop(0))
        elif len(found.regions) == before:
            raise TooLarge("a region was not reached")
        else:
            waiting = [path for path in unvisited(tuple(found.regions)) if path not in impossible]
    return found


def _entries(module: Module, draws: Draws) -> int:
    shapes = draws.sizes[0].shapes
    letters = (*module.given, module.output)
    return sum(math.prod(shapes[name]) for name in letters) + len(draws.free)


def unvisited(paths: Iterable[Path]) -> list[Path]:
    """The branches of the tree of decisions that no path takes, each with the decisions before it."""
    def below(prefix: Path, rest: list[Path]) -> list[Path]:
        going = [p for p in rest if len(p) > len(prefix)]
        if not going:
            return []
        if len(going) < len(rest) or len({p[len(prefix)][0] for p in going}) > 1:
            raise TooLarge("the decisions do not make a tree")
        key = going[0][len(prefix)][0]
        found: list[Path] = []
        for sign in (True, False):
            branch = [p for p in going if p[len(prefix)][1] is sign]
            found += below((*prefix, (key, sign)), branch) if branch else [(*prefix, (key, sign))]
        return found

    return below((), list(dict.fromkeys(paths)))
