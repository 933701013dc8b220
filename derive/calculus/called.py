"""What an own formula is called: the layers of the catalogue by their formulas, whatever the letters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path

from derive.affine import Range
from derive.calculus.derivation import unlettered
from derive.calculus.ranges import natural
from derive.errors import DeriveError
from derive.expr import (
    ONE,
    Add,
    Binder,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Mul,
    Node,
    Num,
    Reduce,
    Rel,
    eq,
    free_indices,
    mul,
    open_binder,
    subst,
    transform,
    walk,
)
from derive.module import Module

_KNOWN = Path(__file__).with_name("called.txt")
_RANKS = (0, 1, 2)
_LETTERED = re.compile(r"'[^']*'")
# too little to tell a layer by: others compute the same
_SAY_LITTLE = frozenset(("identity", "negative_log_likelihood", "embedding", "residual", "bilinear", "dropout"))
_ERRORS = frozenset(("squared_error", "absolute_error"))
_MOST = 6  # equations of a layer


def names(module: Module) -> tuple[str | Rel, ...]:
    """Of a layer by its name its parts; else the question's words, unless the formulas name each of more parts."""
    if module.name:
        return tuple(module.name.split(" → "))
    found = called(module)
    more = len(found) > len(module.called) and all(isinstance(part, str) for part in found)
    return found if more else module.called or found


def called(module: Module) -> tuple[str | Rel, ...]:
    """linear, sigmoid, … where definitions are the catalogue's, alone or one in another, and each feeds the next.

    One that is not stands for itself; nothing where more are not, where none is, or where they form no chain.
    """
    parts, equations, before = list[str | Rel](), list(module.equations), ""
    while equations:
        n, found = next(((n, (name,)) for n in range(min(_MOST, len(equations)), 0, -1)
                         if (name := _known().get(_key(equations[:n], module)))), (1, _nested(equations[0], module)))
        own = {_head(e) for e in equations[:n]}
        used = {t for e in equations[:n] for t in module.sources(_head(e))} & {*module.defined} - own
        if used != ({before} if before else set()):
            return ()
        parts += found or (equations[0],)
        before, equations = _head(equations[n - 1]), equations[n:]
    names = [p for p in parts if isinstance(p, str)]
    distance = any(p in _ERRORS for p in parts[:-1])  # to what is no target
    return tuple(parts) if names and len(names) >= len(parts) - 1 and not distance else ()


def _nested(equation: Rel, module: Module) -> tuple[str, ...]:
    """linear, tanh of tanh(Σ_j w_j x_j + b); a function of the card is what it is defined as."""
    entry, value = (transform(t, lambda n: _applied(n, module), Fn) for t in equation.terms)
    assert isinstance(entry, Entry)
    if name := _known().get(_key([eq(entry, value)], module)):
        return (name,)
    indices, inner = free_indices(entry), Entry("inner", entry.indices)
    for part in walk(value):
        if isinstance(part, Add | Mul | Reduce | Fn | Extremum) and part is not value and free_indices(part) == indices:
            outer = subst(value, {part: inner})
            apart = not _tensors(outer) & _tensors(part)  # s tanh(s) is no layer of tanh(s)
            if apart and (name := _known().get(_key([eq(entry, outer)], module))):
                within = _nested(eq(inner, part), module)
                if within:
                    return (*within, name)
    return ()


def _tensors(node: Node) -> set[str]:
    return {n.tensor for n in walk(node) if isinstance(n, Entry)}


def _applied(node: Node, module: Module) -> Node | None:
    """The body of a card's function at its arguments."""
    function = module.function(node.name) if isinstance(node, Fn) else None
    if function is None or not isinstance(node, Fn):
        return None
    return subst(function.body, {Entry(p, ()): a for p, a in zip(function.parameters, node.args, strict=True)})


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
    plain = (transform(e, lambda n: _in_order(n) if isinstance(n, Expr) else None, Add, Mul) for e in plain)
    forms = "; ".join(repr(unlettered(e, numbers)) for e in plain if isinstance(e, Rel))
    return blake2b(forms.encode(), digest_size=8).hexdigest()


def _in_order(node: Expr) -> Expr:
    """Terms and factors in an order that their letters do not decide; a number times a sum term by term."""
    def blind(part: Expr) -> str:
        return _LETTERED.sub("", repr(part))

    if isinstance(node, Mul):
        match sorted((f for f in node.factors if f is not ONE), key=blind):
            case [Add(terms), Num() as number] | [Num() as number, Add(terms)]:
                node = Add(tuple(_in_order(p) if isinstance(p := mul(number, t), Mul) else p for t in terms))
            case [only]:
                return only
            case kept:
                return Mul(tuple(kept))
    assert isinstance(node, Add)
    return Add(tuple(sorted((t for term in node.terms for t in (term.terms if isinstance(term, Add) else (term,))),
                            key=blind)))


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
