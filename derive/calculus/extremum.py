"""Where a max or min is attained: the argmax as index atoms (i^*, j^*)."""

from __future__ import annotations

from dataclasses import dataclass

from derive.expr import Arg, Entry, Idx, Reduce, Star, walk
from derive.module import Module


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
    """Readable names for the bound variables: the axis letters of the tensor they index, primed if taken."""
    names: dict[Idx, str] = {}
    for entry in walk(node.body):
        symbol = module.table.named(entry.tensor) if isinstance(entry, Entry) else None
        if symbol is None or not isinstance(entry, Entry):
            continue
        for variable, letter in zip(entry.indices, symbol.axes, strict=False):
            if isinstance(variable, Idx):
                names.setdefault(variable, letter)
    chosen: list[Idx] = []
    for number, variable in enumerate(node.binder.variables):
        letter = names.get(variable, f"t{number}")
        while Idx(letter) in avoid or Idx(letter) in chosen:
            letter += "'"
        chosen.append(Idx(letter))
    return tuple(chosen)


def extremiser(node: Reduce, module: Module) -> Extremiser:
    """argmax (argmin) of a max (min) over a binder, with a star for each bound variable."""
    arg = Arg(node.op, node.binder, node.body)
    at, marks = module.parameters_of(node), _marks(node, module)
    return Extremiser(arg, tuple(Star(v.name + marks, at) for v in letters(node, module)))


def _marks(node: Reduce, module: Module) -> str:
    """A prime for each other maximum before this one whose maximiser has the same letters."""
    own, names = _signature(node), letters(node, module)
    before: list[object] = []
    for other in _extrema(module):
        signature = _signature(other)
        if signature == own:
            break
        if letters(other, module) == names and signature not in before:
            before.append(signature)
    return "'" * len(before)


def _signature(node: Reduce) -> object:
    """What tells one maximum of a module from another, whatever its free indices are called."""
    return node.op, tuple(n.tensor for n in walk(node.body) if isinstance(n, Entry))


def _extrema(module: Module) -> tuple[Reduce, ...]:
    return tuple(node for equation in module.equations for node in walk(equation.terms[1])
                 if isinstance(node, Reduce) and node.op in ("max", "min"))


def extremisers(module: Module) -> tuple[Extremiser, ...]:
    """One for each max or min over a binder in the forward equations."""
    return tuple(extremiser(node, module) for node in _extrema(module))


def star_definitions(module: Module) -> dict[str, tuple[Arg, int]]:
    """Star name → (argmax, component), for the whole module."""
    return {name: place for e in extremisers(module) for name, place in e.definitions.items()}
