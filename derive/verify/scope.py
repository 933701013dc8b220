"""What the statements of one sheet are checked against: the layer, its points, what the sheet defines."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from derive.calculus.one_window import Windowed, windowed
from derive.errors import UnsupportedError
from derive.expr import Arg as ArgMax
from derive.expr import (
    Entry,
    Expr,
    Fn,
    Idx,
    Matrix,
    Node,
    Num,
    Partial,
    Rel,
    SetApp,
    SetOf,
    Star,
    items,
    transform,
    walk,
)
from derive.module import Module
from derive.notation.symbols import SymbolTable
from derive.numeric.arithmetic import Arithmetic
from derive.numeric.point import Definitions
from derive.receptive_field import ReceptiveField, receptive_field
from derive.records import dataclass
from derive.verify.canonical import Renaming
from derive.verify.points.claims import Claim, Compiler
from derive.verify.points.draw import Draws, Pool, WindowDraws, arithmetic_of, thresholds
from derive.verify.points.point import LOSS, Point
from derive.verify.points.sizes import Sizes, again, choices, over_windows
from derive.verify.report import ENOUGH

SETS = 3  # sets of sizes
TIED = 6  # points with ties and zeros
MOST_POINTS = 400
PLACES = "{places}"  # in an evidence, where the sizes of the points stand
SIZES = "{sizes %d}"  # and the first of them, at which a prover was asked
_SIZES = re.compile(r"\{sizes (\d)\}")

_sizes: dict[Hashable, tuple[tuple[int, ...], ...]] = {}  # chosen in this process, by what they rest on


@dataclass(frozen=True)
class Scope:
    """A module and the statements read back from its sheet; ``window``: the module is one window of a layer."""

    module: Module
    table: SymbolTable
    statements: tuple[Node, ...]
    definitions: Definitions
    window: Windowed | None = None
    at: tuple[Sizes, ...] = ()  # the sizes of its points, if they are not to be chosen
    _points: list[Point] = field(default_factory=list, compare=False)
    _further: list[Point] = field(default_factory=list, compare=False)

    @property
    def windows(self) -> tuple[Windowed, ...]:
        """The maxima and minima over windows among the module's equations."""
        return windowed(self.module)

    @cached_property
    def kind(self) -> Arithmetic:
        bodies = [f.body for f in self.module.functions]
        return arithmetic_of((*self.module.equations, *bodies, *self.statements))

    def key(self, *nodes: Node) -> Hashable:
        """The statements, and what a verdict on them depends on, up to their letters."""
        rename, base = self._base
        return base, tuple(map(rename, nodes))

    @cached_property
    def _base(self) -> tuple[Renaming, Hashable]:
        rename = Renaming()
        own = rename.layer(self.module), rename.letters(self.table), rename.defined(self.definitions)
        entries = (e for asked in self.module.wanted for e in walk(asked) if isinstance(e, Entry))
        numbered = tuple(rename(e) for e in entries if any(isinstance(i, Num) for i in e.indices))  # sizes reach them
        return rename, (*own, self.window is not None, self.kind, self._thresholds, len(self.free), numbered)

    @cached_property
    def _thresholds(self) -> frozenset[Fraction]:
        return thresholds((*self.module.equations, *self.statements))

    @cached_property
    def sizes(self) -> tuple[Sizes, ...]:
        if self.at:
            return self.at
        key = self.key()
        if key in _sizes:
            return again(self.module, _sizes[key])
        found = choices(self.module, SETS)
        _sizes[key] = tuple(tuple(s.chosen.values()) for s in found)
        return found

    @cached_property
    def compiler(self) -> Compiler:
        return Compiler(self.module, self.kind, self.definitions, {s.name: len(s.axes) for s in self.table.symbols})

    @cached_property
    def draws(self) -> Draws:
        if self.window is not None:
            return WindowDraws(self.window.window, self.free)
        pool = Pool.of(self.kind, self._thresholds)
        return Draws(self.module, self.kind, self.sizes, pool, self.free)

    @cached_property
    def patterns(self) -> tuple[Point, ...]:
        """A point for every tie pattern of one window."""
        return tuple(self.draws.patterns()) if isinstance(self.draws, WindowDraws) else ()

    @cached_property
    def companions(self) -> tuple[Scope, ...]:
        """The same statements over other windows: those that tile, overlap, are padded or uneven."""
        field_ = self.module.receptive_field
        if field_ is None:
            return ()
        others = (other for other in companions(len(field_.axes)) if other != field_)
        modules = [replace(self.module.with_field(other), input_size=None) for other in others]
        return tuple(Scope(module, self.table, self.statements, self.definitions, at=(sizes,)) for module in modules
                     if (sizes := over_windows(module, one_more=len(field_.axes))) is not None)

    @cached_property
    def free(self) -> tuple[str, ...]:
        """Scalars of statements that the layer does not have: arguments of the card's functions."""
        module = self.module
        own = {*module.given, *module.defined}
        known = own | {f"delta_{name}" for name in own} | set(self.definitions.tensors) | {LOSS}
        return tuple(dict.fromkeys(n.tensor for node in self.statements for n in walk(node) if isinstance(n, Entry)
                                   and not n.indices and n.tensor not in known))

    def points(self) -> Iterable[Point]:
        """Points one after another, as many as are asked for, drawn after the tied ones: the same in every run."""
        _ = self.tied
        for number in range(MOST_POINTS):
            if number == len(self._points):
                self._points.append(self.draws.point(number))
            yield self._points[number]

    @cached_property
    def tied(self) -> tuple[Point, ...]:
        """Points with ties and zeros; none where the formula has no value there, nor of a window: it has patterns."""
        if self.window is not None:
            return ()
        try:
            return tuple(self.draws.point(n, ties=True) for n in range(TIED))
        except UnsupportedError:
            return ()

    def further(self, number: int) -> Point:
        """One of more points with ties and zeros, drawn when they are first asked for: all conditions share them."""
        while len(self._further) <= number:
            self._further.append(self.draws.point(len(self._further), ties=True))
        return self._further[number]

    def places(self) -> str:
        """The sizes at which there are points: (n = 2, m = 3; n = 3, m = 2)."""
        if self.window is not None:
            return f" (windows of {self.window.window.n} entries)"
        words = "; ".join(filter(None, (s.words() for s in self.sizes)))
        return f" ({words})" if words else ""

    def located(self, evidence: str) -> str:
        """An evidence with the sizes in this layer's letters: a verdict is remembered for layers in all letters."""
        def at(found: re.Match[str]) -> str:
            return " and ".join(filter(None, (s.words() for s in self.sizes[:int(found[1])]))) or "all inputs"

        evidence = _SIZES.sub(at, evidence)
        return evidence.replace(PLACES, self.places()) if PLACES in evidence else evidence

    @property
    def base(self) -> int:
        """How many points visit every case of the forward formula that can be reached, ENOUGH at the least."""
        return self._coverage[0]

    @property
    def unreached(self) -> tuple[str, ...]:
        """The cases of the forward formula in which no point was found."""
        return self._coverage[1]

    @cached_property
    def _coverage(self) -> tuple[int, tuple[str, ...]]:
        forward = [claim for equation in self.module.equations for claim in self.compiler.claims(equation)]
        hits: list[set[int]] = [set() for _ in forward]
        enough = max(-(-ENOUGH // len(self.sizes)) * len(self.sizes), self.draws.least)
        for number, point in enumerate(self.points(), start=1):
            for claim, seen in zip(forward, hits, strict=True):
                claim.holds(point, seen)
            if number >= enough and not _missing(forward, hits):
                return number, ()
        return 2 * enough, _missing(forward, hits)


def _missing(claims: Iterable[Claim], hits: Iterable[set[int]]) -> tuple[str, ...]:
    """The parts of formulas that hold at none of the points."""
    return tuple(mark.words for claim, seen in zip(claims, hits, strict=True)
                 for number, mark in enumerate(claim.marks) if number not in seen)


def companions(rank: int) -> tuple[ReceptiveField, ...]:
    """Geometries in which general statements are checked besides the card's: tile, overlap, padded and uneven."""
    def sized(k: int, s: int, p: int) -> ReceptiveField:
        return receptive_field((k,) * rank, (s,) * rank, (p,) * rank)

    uneven = receptive_field(tuple(2 + n % 2 for n in range(rank)), tuple(2 - n % 2 for n in range(rank)),
                             tuple(1 - n % 2 for n in range(rank)))
    return sized(2, 2, 0), sized(2, 1, 0), uneven


def gather(statements: Iterable[Node], module: Module) -> Definitions:
    """Stars, tensors and sets that the sheet defines and the layer does not have."""
    stars: dict[str, tuple[ArgMax, int, tuple[Idx, ...]]] = {}
    tensors: dict[str, tuple[tuple[Expr, ...], Expr]] = {}
    sets: dict[str, SetOf] = {}
    for node in statements:
        if not (isinstance(node, Rel) and node.ops == ("=",)):
            continue
        left, right = node.terms
        if isinstance(right, ArgMax) and all(isinstance(i, Star) for i in items(left)):
            stars |= {i.name: (right, n, tuple(a for a in i.at if isinstance(a, Idx)))
                      for n, i in enumerate(items(left)) if isinstance(i, Star)}
        elif isinstance(left, SetApp) and isinstance(right, SetOf):
            sets[left.name] = right
        elif isinstance(left, Entry) and not isinstance(right, Matrix) and not _known(left.tensor, module):
            tensors[left.tensor] = (left.indices, right)
    return Definitions(stars, tensors, sets)


def _known(tensor: str, module: Module) -> bool:
    base = tensor.removeprefix("delta_")
    return base in module.defined or base in module.given


def localised(node: Node, module: Module) -> Node:
    """The argument of a card's function under a name of its own: in σ'(s) = … s is no tensor of the layer."""
    own = {f.name for f in module.functions}
    applied = [n for n in walk(node) if isinstance(n, Fn) and n.name.rstrip("'") in own] if own else []
    ranks = {s.name: len(s.axes) for s in module.table.symbols}
    letters = {a.tensor for n in applied for a in n.args if isinstance(a, Entry) and not a.indices
               and ranks.get(a.tensor, 0)}
    return transform(node, lambda n: Entry(f"{n.tensor}_local", ()) if isinstance(n, Entry) and not n.indices
                     and n.tensor in letters else None, Entry) if letters else node


def letters_of(statements: Iterable[Node], module: Module) -> Mapping[str, None]:
    """The given letters by which the statements differentiate, or whose messages they name."""
    found, given = [*map(_letters_in, statements)], module.given
    return dict.fromkeys(t for letters in (*(by for by, _ in found), *(of for _, of in found))
                         for t in letters if t in given)


@lru_cache(maxsize=4096)
def _letters_in(statement: Node) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The letters by which a statement differentiates, and those whose messages it names; cards share statements."""
    nodes = tuple(walk(statement))
    by = (n.wrt.tensor for n in nodes if isinstance(n, Partial) and isinstance(n.wrt, Entry))
    of = (n.tensor.removeprefix("delta_") for n in nodes if isinstance(n, Entry) and n.tensor.startswith("delta_"))
    return tuple(dict.fromkeys(by)), tuple(dict.fromkeys(of))
