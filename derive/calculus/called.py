"""What an own formula is called: the layers of the catalogue by their formulas, whatever the letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path

from derive.affine import Range
from derive.calculus.derivation import unlettered
from derive.calculus.ranges import natural
from derive.errors import DeriveError
from derive.expr import Binder, Entry, Idx, Node, Reduce, Rel, open_binder, transform
from derive.module import Module

_KNOWN = Path(__file__).with_name("called.txt")
_RANKS = (0, 1, 2)
# too little to tell a layer by: others compute the same
_SAY_LITTLE = frozenset(("identity", "negative_log_likelihood", "embedding", "residual", "bilinear"))
_MOST = 6  # equations of a layer


def called(module: Module) -> tuple[str, ...]:
    """linear, sigmoid, … where each definition is one of the catalogue's and feeds the next; else nothing."""
    names, equations, before = list[str](), list(module.equations), ""
    while equations:
        found = next(((n, name) for n in range(min(_MOST, len(equations)), 0, -1)
                      if (name := _known().get(_key(equations[:n], module)))), None)
        if found is None:
            return ()
        n, name = found
        own = {_head(e) for e in equations[:n]}
        used = {t for e in equations[:n] for t in module.sources(_head(e))} & {*module.defined} - own
        if used != ({before} if before else set()):
            return ()
        names, before, equations = [*names, name], _head(equations[n - 1]), equations[n:]
    return tuple(names)


def _head(equation: Rel) -> str:
    head = equation.terms[0]
    assert isinstance(head, Entry)
    return head.tensor


@cache
def _known() -> dict[str, str]:
    lines = _KNOWN.read_text("utf-8").splitlines()
    return {key: name for line in lines for name, key in (line.split(" "),)}


def _key(equations: Sequence[Rel], module: Module) -> str:
    """The formulas with tensors, sizes and indices numbered as they occur, sums along a whole axis without limits."""
    def along(node: Node) -> Node | None:
        if not isinstance(node, Reduce) or None in node.binder.lower:
            return None
        opened, body = open_binder(node)
        limits = zip(opened.variables, opened.lower, opened.upper, strict=True)
        if not all(low is not None and high is not None and natural(v, body, module) == Range(low, high)
                   for v, low, high in limits):
            return None
        nothing = (None,) * len(opened.variables)
        return Reduce(node.op, Binder(opened.variables, nothing, nothing, opened.cond), body)

    numbers: dict[str, str] = {}
    plain = (transform(e, along, Reduce) for e in equations)
    forms = "; ".join(repr(unlettered(e, numbers)) for e in plain if isinstance(e, Rel))
    return blake2b(forms.encode(), digest_size=8).hexdigest()


def listing() -> str:
    """The lines of ``called.txt``: each layer with the keys of its formulas that no other has."""
    found: dict[str, set[str]] = {}
    for key, name in _all():
        found.setdefault(key, set()).add(name)
    return "".join(sorted(f"{name} {key}\n" for key, names in found.items() if len(names) == 1 for name in names))


def _all() -> Iterator[tuple[str, str]]:
    from derive.layers import LAYERS, compose, module_of
    from derive.layers.catalogue import Layer
    from derive.layers.chain import Part

    for spec in LAYERS:
        for rank in _RANKS if isinstance(spec, Layer) and spec.name not in _SAY_LITTLE else ():
            for options in ({}, *({k: not v} for k, v in spec.options.items() if isinstance(v, bool))):
                try:
                    module = module_of(compose([Part(spec.name, (), options)], rank=rank))
                except DeriveError:
                    continue
                yield _key(module.equations, module), spec.name
                letters = [{*getattr(e.terms[0], "indices", ())} for e in module.equations]
                for i in set.intersection(*letters):  # the same for one row
                    yield _key([_without(e, i) for e in module.equations], module), spec.name


def _without(equation: Rel, index: Idx) -> Rel:
    def row(node: Node) -> Node | None:
        if isinstance(node, Entry) and index in node.indices:
            return Entry(node.tensor, tuple(i for i in node.indices if i is not index))
        return None

    made = transform(equation, row, Entry)
    assert isinstance(made, Rel)
    return made
