"""Where a max, min or median is attained: the argmax as index atoms (i^*, j^*)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from derive.axes import unused
from derive.calculus.algebra import match
from derive.expr import Arg, Entry, Idx, Node, Reduce, Star, free_indices, open_as, walk
from derive.module import Module
from derive.notation.symbols import Kind, SymbolTable
from derive.records import dataclass
from derive.reductions import selects

_LETTERS = "abcdpqrstuvwmnijkl"


@dataclass(frozen=True)
class Extremiser:
    """(i^*, j^*)(k, l): where a max or min of the forward formula is attained."""

    arg: Arg
    stars: tuple[Star, ...]

    @property
    def definitions(self) -> dict[str, tuple[Arg, int]]:
        """Star name → (the argmax it is a component of, which component)."""
        return {star.name: (self.arg, place) for place, star in enumerate(self.stars)}


def letters(node: Reduce | Arg, module: Module, avoid: frozenset[Idx] = frozenset()) -> tuple[Idx, ...]:
    """Readable names for the bound variables: the axis letters of the tensor they index, primed if taken.

    What stands on no axis alone, the a of x_{2k+a}, has a letter of the card that is no axis's, or an unused one.
    """
    names: dict[Idx, str] = {}
    for entry in walk(node.body):
        symbol = module.table.named(entry.tensor) if isinstance(entry, Entry) else None
        if symbol is None or not isinstance(entry, Entry):
            continue
        for variable, letter in zip(entry.indices, symbol.axes, strict=False):
            if isinstance(variable, Idx):
                names.setdefault(variable, letter)
    chosen: list[Idx] = []
    spare = iter(_spare(module.table))
    for variable in node.binder.variables:
        letter = names.get(variable) or next(spare, "t")
        while Idx(letter) in avoid or Idx(letter) in chosen:
            letter += "'"
        chosen.append(Idx(letter))
    return tuple(chosen)


@lru_cache(maxsize=256)
def _spare(table: SymbolTable) -> tuple[str, ...]:
    """Indices that are the letter of no axis, then unused letters."""
    of_axes = {letter for s in table.symbols for letter in (*s.axes, *s.members)}
    return (*(s.name for s in table.of_kind(Kind.INDEX) if s.name not in of_axes), *unused(table, _LETTERS))


@lru_cache(maxsize=256)
def extremiser(node: Reduce, module: Module) -> Extremiser:
    """argmax (argmin) of a max (min) over a binder, with a star for each bound variable.

    Where the node is a maximum of the forward equations at other indices, the stars are that one's, at these.
    """
    for known in _extrema(module):
        parameters = module.parameters_of(known)
        binding = next(match(known, node, frozenset(parameters), {}), None)
        if binding is not None:
            names = letters(known, module)
            at, marks = tuple(binding[p] for p in parameters), _marks(known, module)
            break
    else:
        names, at, marks = letters(node, module), module.parameters_of(node), ""
    return Extremiser(Arg(node.op, node.binder, node.body), tuple(Star(v.name + marks, at) for v in names))


def _marks(node: Reduce, module: Module) -> str:
    """A prime for each other maximum before this one whose maximiser has the same letters."""
    names, known = letters(node, module), _extrema(module)
    return "'" * sum(letters(other, module) == names for other in known[:known.index(node)])


@lru_cache(maxsize=64)
def _extrema(module: Module) -> tuple[Reduce, ...]:
    """The maxima of the forward equations; of those that differ in the names of their indices only, the first."""
    found: list[Reduce] = []
    for node in (n for equation in module.equations for n in _reductions(equation.terms[1], module)):
        matches = (match(known, node, frozenset(module.parameters_of(known)), {}) for known in found)
        if selects(node.op) and all(next(m, None) is None for m in matches):
            found.append(node)
    return tuple(found)


def _reductions(node: Node, module: Module) -> Iterator[Reduce]:
    """The reductions in a node from outside in, their bound variables under readable names."""
    if not isinstance(node, Reduce):
        for child in node.children():
            yield from _reductions(child, module)
        return
    yield node
    _, body = open_as(node, letters(node, module, free_indices(node)))
    yield from _reductions(body, module)


def extremisers(module: Module) -> tuple[Extremiser, ...]:
    """One for each max or min over a binder in the forward equations."""
    return tuple(extremiser(node, module) for node in _extrema(module))


def star_definitions(module: Module) -> dict[str, tuple[Arg, int]]:
    """Star name → (argmax, component), for the whole module."""
    return {name: place for e in extremisers(module) for name, place in e.definitions.items()}
