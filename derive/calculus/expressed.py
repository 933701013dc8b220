"""Answers in terms of the letters that the question names: written out where the definitions do that."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from derive.expr import Entry, Expr, Node, subst, transform, walk
from derive.module import Module


def is_written_in(value: Node, letters: Collection[str], module: Module) -> bool:
    """Nothing but these letters stands in it, constants, and the gradient that comes in."""
    known = {*letters, *module.constants}
    return all(n.tensor in known or n.tensor.startswith("delta_") for n in walk(value) if isinstance(n, Entry))


def expressed(value: Expr, module: Module) -> Expr:
    """The value with the definitions of letters that are not named, where it is then written in those that are."""
    for letters, _ in module.written_in:
        found = value
        for _ in module.equations:  # each is put in once at most
            found = transform(found, partial(_defined, letters=letters, module=module), Entry)
        if is_written_in(found, letters, module):
            return found
    return value


def _defined(node: Node, letters: Collection[str], module: Module) -> Node | None:
    if not isinstance(node, Entry) or node.tensor in letters or node.tensor not in module.defined:
        return None
    entry, value = module.definition(node.tensor)
    return subst(value, dict(zip(entry.indices, node.indices, strict=True)))
