"""Statements up to their letters: what was proved of x_{ij} holds of a_{uv}."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from derive.expr import Directional, Entry, Idx, Node, SetApp, Size, Star, rebuild
from derive.module import Module
from derive.notation.symbols import SymbolTable
from derive.numeric.point import Definitions

_KEPT = ("loss", "direction")  # names that mean something to a point
_BOUND = "§"  # with which bound variables begin
_N = TypeVar("_N", bound=Node)


class Renaming:
    """Each name and letter by the order in which it occurs; one to one, so that different statements stay different."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {name: name for name in _KEPT}
        self._letters: dict[str, str] = {}
        self._known: dict[Node, Node] = {}

    def layer(self, m: Module) -> Hashable:
        """All that a module computes."""
        names = self._all
        return (
            tuple(map(self, m.equations)), names(m.inputs), names(m.parameters), names(m.constants), names((m.output,)),
            tuple((self._name(name), field) for name, field in m.fields), m.tie_rule, m.input_size, names(m.held),
            tuple((f.name, names(f.parameters), self(f.body)) for f in m.functions), tuple(map(self, m.facts)),
            tuple((self._name(name), axis, self(size)) for name, axis, size in m.ranges), m.first,
            tuple((self._name(name), *place) for name, *place in m.starts),
            tuple((self._name(name), number) for name, number in m.steps),
            tuple((self(pair), self(term)) for pair, term in m.at_ties),
        )

    def letters(self, table: SymbolTable) -> Hashable:
        """Which letters there are, with their axes."""
        return tuple((self._name(s.name), s.kind, self._places(s.axes), self._places(s.members), self._sizes(s.sizes))
                     for s in table.symbols)

    def defined(self, known: Definitions) -> Hashable:
        """What a sheet defines."""
        return (
            tuple((self._letter(n), self(arg), place, tuple(map(self, at)))
                  for n, (arg, place, at) in known.stars.items()),
            tuple((self._name(n), tuple(map(self, at)), self(value)) for n, (at, value) in known.tensors.items()),
            tuple((self._name(n), self(value)) for n, value in known.sets.items()),
        )

    def __call__(self, node: _N) -> _N:
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._renamed(rebuild(node, self))
        return found  # type: ignore[return-value]

    def _renamed(self, node: Node) -> Node:
        match node:
            case Idx(name):
                return Idx(self._letter(name))
            case Star(name, at):
                return Star(self._letter(name), at)
            case Entry(tensor, indices):
                return Entry(self._name(tensor), indices)
            case Size(name):
                return Size(self._name(name))
            case SetApp(name, args):
                return SetApp(self._name(name), args)
            case Directional(of, at, direction):
                return Directional(of, self._name(at), direction)
        return node

    def _name(self, name: str) -> str:
        base = name.removeprefix("delta_")
        return name[:len(name) - len(base)] + self._names.setdefault(base, f"¤{len(self._names)}")

    def _letter(self, name: str) -> str:
        base = name.rstrip("'")
        if base.startswith(_BOUND):
            return name
        return self._letters.setdefault(base, f"¤{len(self._letters)}") + name[len(base):]

    def _all(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._name, names))

    def _places(self, letters: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self._letter, letters))

    def _sizes(self, sizes: Iterable[int | str]) -> tuple[int | str, ...]:
        return tuple(self._name(s) if isinstance(s, str) and s else s for s in sizes)
