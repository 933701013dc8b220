"""Where a max or min is attained: the argmax as index atoms (i^*, j^*)."""

from __future__ import annotations

from dataclasses import dataclass

from derive.expr import Arg, Entry, Idx, Reduce, Star, free_indices, walk
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
    at = tuple(sorted(free_indices(node), key=lambda v: _place(v, module)))
    arg = Arg(node.op, node.binder, node.body)
    return Extremiser(arg, tuple(Star(v.name, at) for v in letters(node, module)))


def _place(variable: Idx, module: Module) -> tuple[int, str]:
    """Free variables in the order of the output's axes."""
    symbol = module.table.named(module.output)
    axes = symbol.axes if symbol else ()
    return (axes.index(variable.name) if variable.name in axes else len(axes), variable.name)


def extremisers(module: Module) -> tuple[Extremiser, ...]:
    """One for each max or min over a binder in the forward equations."""
    found = []
    for equation in module.equations:
        for node in walk(equation.terms[1]):
            if isinstance(node, Reduce) and node.op in ("max", "min"):
                found.append(extremiser(node, module))
    return tuple(found)


def star_definitions(module: Module) -> dict[str, tuple[Arg, int]]:
    """Star name → (argmax, component), for the whole module."""
    return {name: place for e in extremisers(module) for name, place in e.definitions.items()}
