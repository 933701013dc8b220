"""Statements up to the card's letters: what was proved of x_{ij} holds of a_{uv}."""

from __future__ import annotations

from collections.abc import Mapping

from derive.expr import Directional, Entry, Idx, Node, SetApp, Size, Star, rebuild
from derive.module import Module
from derive.notation.symbols import SymbolTable


class Renaming:
    """Letters by their role in a module: its tensors, the letters of their axes, sizes, sets."""

    def __init__(self, module: Module, table: SymbolTable) -> None:
        self.names: dict[str, str] = {}
        self.letters: dict[str, str] = {}
        roles = [("in", n) for n in module.inputs] + [("out", module.output)]
        for role, name in roles:
            self.names |= {name: role, f"delta_{name}": f"delta_{role}"}
            symbol = table.named(name)
            if symbol is not None:
                self._place(role, symbol.axes, symbol.sizes)
        for n, (name, _) in enumerate(module.fields):
            self.names[name] = f"window{n}"
        for n, letter in enumerate(a for s in table.symbols for a in (*s.axes, *s.members)):
            self.letters.setdefault(letter, f"other{n}")
        self._known: dict[Node, Node] = {}

    def _place(self, role: str, axes: tuple[str, ...], sizes: tuple[int | str, ...]) -> None:
        self.letters |= {letter: f"{role}{n}" for n, letter in enumerate(axes)}
        self.names |= {size: f"size_{role}{n}" for n, size in enumerate(sizes) if isinstance(size, str)}

    def __call__(self, node: Node) -> Node:
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._renamed(rebuild(node, self))
        return found

    def _renamed(self, node: Node) -> Node:
        match node:
            case Idx(name):
                letter = name if name in self.letters else name.rstrip("'")
                return Idx(self.letters.get(letter, letter) + name[len(letter):])
            case Star(name, at):
                return Star(self.letters.get(name, name), at)
            case Entry(tensor, indices):
                return Entry(_of(self.names, tensor), indices)
            case Size(name):
                return Size(_of(self.names, name))
            case SetApp(name, args):
                return SetApp(_of(self.names, name), args)
            case Directional(of, at, direction):
                return Directional(of, _of(self.names, at), direction)
        return node


def _of(names: Mapping[str, str], name: str) -> str:
    return names.get(name, name)
