"""What a layer computes, whatever its letters: two layers with one key are the same layer."""

from __future__ import annotations

import hashlib

from derive.expr import Entry, Fn, Node, Rel, transform, walk
from derive.module import Module
from derive.verify.canonical import Renaming


def key(module: Module) -> str:
    """A digest of the formulas, functions written out, and of the windows; roles, sizes and names count for nothing."""
    def written_out(node: Node) -> Node | None:
        return module.applied(node) if isinstance(node, Fn) else None

    named = Renaming()
    formulas = [named(transform(equation, written_out, Fn)) for equation in _from_output(module)]
    fields = [field for _, field in module.fields]
    return hashlib.sha256(repr((formulas, fields)).encode()).hexdigest()[:24]


def _from_output(module: Module) -> list[Rel]:
    """The definition of the output, then of what it names: a layer is the same in whatever order its formulas stand."""
    found = dict[str, Rel]()
    known = {entry.tensor: e for e in module.equations if isinstance(entry := e.terms[0], Entry)}
    left = [module.output]
    while left:
        if (name := left.pop(0)) in known and name not in found:
            found[name] = known[name]
            left += [n.tensor for n in walk(known[name].terms[1]) if isinstance(n, Entry)]
    return [*found.values()]
