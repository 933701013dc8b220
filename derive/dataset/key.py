"""What a layer computes, whatever its letters: two layers with one key are the same layer."""

from __future__ import annotations

import hashlib

from derive.expr import Fn, Node, transform
from derive.module import Module
from derive.verify.canonical import Renaming


def key(module: Module) -> str:
    """A digest of the formulas, functions written out, and of the windows; roles, sizes and names count for nothing."""
    def written_out(node: Node) -> Node | None:
        return module.applied(node) if isinstance(node, Fn) else None

    named = Renaming()
    formulas = [named(transform(equation, written_out, Fn)) for equation in module.equations]
    fields = [field for _, field in module.fields]
    return hashlib.sha256(repr((formulas, fields)).encode()).hexdigest()[:24]
