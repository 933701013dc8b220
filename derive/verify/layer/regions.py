"""A layer's instance for proofs: its regions, each with a point inside, and whether these are all."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from derive.module import Module
from derive.numeric.point import Index, Undefined
from derive.verify.draw import Draws
from derive.verify.layer.algebra import Algebra, TooLarge
from derive.verify.layer.formal import Formals, Path
from derive.verify.layer.formal_point import FormalPoint
from derive.verify.layer.search import Searcher
from derive.verify.point import Point
from derive.verify.sizes import given

MOST_REGIONS = 32
MOST_ENTRIES = 300  # of all tensors: of more a layer is tested, not proved
_MOST_DECISIONS = 9  # on the way to one region
_TRIES = 10
_SPARE = 3  # further points kept for a region: a statement may divide it


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
    letters = (*given(module), module.output)
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
