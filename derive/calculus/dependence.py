"""Which tensors an expression is computed from, and through which."""

from __future__ import annotations

from functools import lru_cache

from derive.expr import Entry, Expr, Idx, Node, Rel, free_indices, walk
from derive.module import Module


@lru_cache(maxsize=8192)
def tensors_in(node: Node) -> frozenset[str]:
    """The tensors whose entries stand in a node."""
    return frozenset(n.tensor for n in walk(node) if isinstance(n, Entry))


@lru_cache(maxsize=512)
def _closure(equations: tuple[Rel, ...], held: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Each defined tensor → all that it is computed from, itself included."""
    found: dict[str, frozenset[str]] = {}
    for equation in equations:
        entry, value = equation.terms
        if isinstance(entry, Entry) and entry.tensor not in held:
            own = tensors_in(value)
            found[entry.tensor] = own.union((entry.tensor,), *(found.get(t, frozenset()) for t in own))
    return found


def reached(of: Expr, module: Module) -> frozenset[str]:
    """All tensors that an expression is computed from; one that is held stands for itself alone."""
    known = _closure(module.equations, module.held)
    own = tensors_in(of).union(*(tensors_in(f.body) - {*f.parameters} for f in module.functions))
    return own.union(*(known[t] for t in own if t in known))


def is_defined(entry: Entry, module: Module) -> bool:
    """The entry has a forward equation, and is not held constant."""
    return entry.tensor in _closure(module.equations, module.held)


def between(tensor: str, wrt: Entry, module: Module) -> tuple[str, ...]:
    """The intermediate tensors that stand in a definition and are themselves computed from ``wrt``."""
    known = _closure(module.equations, module.held)
    if wrt.tensor not in known.get(tensor, ()):
        return ()
    return tuple(t for t in module.sources(tensor) if t != wrt.tensor and wrt.tensor in known.get(t, ()))


def users_of(of: Entry, wrt: Entry, module: Module) -> tuple[str, ...]:
    """The tensors that ``of`` is computed from, itself among them, in whose definitions ``wrt`` stands."""
    below = reached(of, module)
    return tuple(t for t in module.defined if t in below and t not in module.held and wrt.tensor in module.sources(t))


def entry_of(tensor: str, module: Module, avoid: tuple[Node, ...]) -> Entry:
    """s_m: an entry with the letters of its axes, primed where a letter is free in what is to be avoided."""
    symbol = module.table.named(tensor)
    assert symbol is not None
    taken = {i.name for node in avoid for i in free_indices(node)}
    marks = ""
    while any(letter + marks in taken for letter in symbol.axes):
        marks += "'"
    return Entry(tensor, tuple(Idx(letter + marks) for letter in symbol.axes))
