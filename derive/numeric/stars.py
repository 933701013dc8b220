"""Stars: (i^*, j^*) are the components of the argmax that defines them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from derive.errors import UnsupportedError
from derive.expr import Arg, Entry, Expr, Fn, Node, Star, subst, walk
from derive.module import Module
from derive.numeric.binders import items

Definitions = Mapping[str, tuple[Expr, int]]  # a star's letter -> the argmax and which of its components it is


@dataclass(frozen=True)
class Names:
    """The tensors, stars and functions that stand in a formula."""

    tensors: frozenset[str]
    stars: frozenset[str]
    functions: frozenset[str]


@lru_cache(maxsize=4096)
def names_in(node: Node) -> Names:
    """All names in a formula, gathered once."""
    nodes = list(walk(node))
    return Names(frozenset(n.tensor for n in nodes if isinstance(n, Entry)),
                 frozenset(n.name for n in nodes if isinstance(n, Star)),
                 frozenset(n.name for n in nodes if isinstance(n, Fn)))


def as_arg(node: Expr, definitions: Definitions, module: Module) -> Arg | None:
    """The argmax that a node is, or all of whose coordinates (i^*, j^*) it lists in order."""
    if isinstance(node, Arg):
        return node
    stars = [star_arg(s, definitions, module) for s in items(node) if isinstance(s, Star)]
    if not stars or len(stars) < len(items(node)):
        return None
    arg = stars[0][0]
    return arg if stars == [(arg, d) for d in range(len(arg.binder.variables))] else None


def star_arg(star: Star, definitions: Definitions, module: Module) -> tuple[Arg, int]:
    """The argmax at the star's own indices, and which of its components the star is."""
    if star.name not in definitions:
        raise UnsupportedError(f"`{star.name}^*` is not defined")
    arg, component = definitions[star.name]
    assert isinstance(arg, Arg)
    return subst(arg, dict(zip(module.parameters_of(arg), star.at, strict=True))), component
