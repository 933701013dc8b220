"""The worked example of a layer's sheet: what follows from the printed numbers, in exact arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from derive.axes import axes
from derive.errors import DeriveError, UnsupportedError
from derive.expr import And, Entry, Matrix, Node, Num, Partial, Rel, Size, eq
from derive.module import Module, plain
from derive.numeric.arithmetic import EXACT
from derive.numeric.point import Undefined
from derive.sheet import Math
from derive.verify import meant
from derive.verify.points.claims import Refuted
from derive.verify.points.point import Point
from derive.verify.report import Check, Verdict
from derive.verify.scope import Scope, localised
from derive.verify.ties import by_rule


class Parsed(NamedTuple):
    """A formula and what the reader made of its LaTeX."""

    math: Math
    node: Node


def example(parsed: list[Parsed], scope: Scope) -> list[Check]:
    """A check for each claim of the example and of its tied input, at the points that their definitions give."""
    first = [p for p in parsed if p.math.scope == "example"]
    second = [p for p in parsed if p.math.scope == "tied"]
    given, other = ([s for math, node in shown if math.definition
                     for s in (node.conds if isinstance(node, And) else (node,))] for shown in (first, second))
    return _checks(first, given, scope) + _checks(second, given + other, scope, tied=True)


def displayed(parsed: list[Parsed], scope: Scope) -> tuple[dict[str, dict[tuple[int, ...], Any]], Module]:
    """The numbers of the example's displays that are given, by their letters, and the layer at its steps."""
    shown = [s for math, node in parsed if math.scope == "example" and math.definition
             for s in (node.conds if isinstance(node, And) else (node,))]
    return {s.terms[0].tensor: _numbers(s.terms[0].tensor, s.terms[1], scope.module) for s in shown
            if isinstance(s, Rel) and isinstance(s.terms[0], Entry)}, stepped(scope.module, shown)


def _checks(shown: list[Parsed], definitions: list[Node], scope: Scope, tied: bool = False) -> list[Check]:
    """The claims at the point of the definitions, of two of one tensor the later; ``tied``: δ of the input by the rule.
    """
    claims = [p for p in shown if not p.math.definition]
    if not claims:
        return []
    try:
        point = _point(definitions, scope)
        if tied:
            (wrt,) = scope.module.inputs
            point.values[f"delta_{wrt}"] = by_rule(scope.module, point.given, {wrt: point.shapes[wrt]},
                                                      point.tensor(f"delta_{scope.module.output}"))
        _put_defined(point, scope)
        meant.put(point, {head.tensor: value.value for head, value in (
            s.terms for s in definitions if isinstance(s, Rel) and s.ops == ("=",))
            if isinstance(head, Entry) and isinstance(value, Num)}, tied)
    except (DeriveError, ArithmeticError, ValueError) as error:
        return [Check(math.name, math.latex, Verdict.NOT_READ, f"the example's numbers: {error}") for math, _ in claims]
    return [_check(math, node, point, scope) for math, node in claims]


def _put_defined(point: Point, scope: Scope) -> None:
    """The tensors that the sheet defines entry by entry, over an input's indices: the mask."""
    for name, (indices, value) in scope.definitions.tensors.items():
        cells = next((point.given[i] for i in scope.module.inputs if indices and len(next(iter(point.given[i]))) ==
                      len(indices)), ())
        with suppress(Undefined, LookupError, UnsupportedError):  # without a value the printed one is refuted
            function = scope.compiler.function(indices, value)
            point.put(name, {cell: function(point, cell) for cell in cells})


def _check(math: Math, node: Node, point: Point, scope: Scope) -> Check:
    compiler = replace(scope.compiler, kind=scope.kind)
    try:
        said = sum(claim.holds(point, set()) for part in entrywise(node, scope.module)
                   for claim in compiler.claims(localised(part, scope.module)))
    except Refuted as refuted:
        return Check(math.name, math.latex, Verdict.REFUTED, "a counterexample", str(refuted))
    except UnsupportedError as error:
        return Check(math.name, math.latex, Verdict.NOT_READ, str(error))
    if not said:
        return Check(math.name, math.latex, Verdict.NOT_READ, "it says nothing about the example's numbers")
    if scope.kind is not EXACT:
        return Check(math.name, math.latex, Verdict.NOT_READ, "one point of rounded numbers proves nothing")
    return Check(math.name, math.latex, Verdict.PROVED, "in exact arithmetic on the printed numbers", points=1)


def entrywise(node: Node, module: Module) -> Iterator[Node]:
    """∂y/∂x_0 = 3, ∂y/∂x_1 = −2 of ∂y/∂x = (3 −2); what is no derivative of that kind as it is."""
    for part in node.conds if isinstance(node, And) else (node,):
        match part:
            case Rel((Partial(of, Entry(wrt, ())), Matrix() as value), ("=",)):
                yield from (eq(Partial(of, Entry(wrt, tuple(map(Num, at)))), Num(number))
                            for at, number in _numbers(wrt, value, module).items())
            case _:
                yield part


def stepped(module: Module, definitions: list[Node]) -> Module:
    """The layer at the numbers that an example gives to its steps: S = 2."""
    return module.stepping({size.name: int(n.value) for node in definitions if isinstance(node, Rel)
                            for size, n in [node.terms] if isinstance(size, Size) and isinstance(n, Num)})


def _point(definitions: list[Node], scope: Scope) -> Point:
    """The printed numbers as a point."""
    module, kind = scope.module, scope.kind
    values: dict[str, dict[tuple[int, ...], Any]] = {}
    module = stepped(module, definitions)
    for node in definitions:
        if isinstance(node, Rel) and node.ops == ("=",) and isinstance(node.terms[0], Entry):
            tensor = node.terms[0].tensor
            values[tensor] = {at: kind.number(n) for at, n in _numbers(tensor, node.terms[1], module).items()}
    missing = [name for name in module.given if name not in values]
    if missing:
        raise UnsupportedError(f"`{missing[0]}` has no numbers")
    point = Point(module, kind, {name: values[name] for name in module.given})
    upstream = f"delta_{module.output}"
    return point.with_upstream(values.get(upstream) or {at: kind.number(1) for at in point.values[module.output]})


def _numbers(tensor: str, value: Node, module: Module) -> dict[tuple[int, ...], Any]:
    """The entries of a printed vector, matrix or scalar, at the coordinates that the layer counts."""
    name = plain(tensor)
    symbol = module.table.named(name)
    rank = len(symbol.axes) if symbol is not None else 0
    rows: tuple[tuple[Node, ...], ...] = value.rows if isinstance(value, Matrix) else ((value,),)
    if rank == 1:
        rows = (tuple(e for row in rows for e in row),)
    starts = [axes(module).origin(name, d) for d in range(rank)]
    found = {}
    for (r, row), place in itertools.product(enumerate(rows), range(len(rows[0]))):
        entry = row[place]
        if not isinstance(entry, Num):
            raise UnsupportedError(f"`{tensor}` is given by something else than numbers")
        at = (r, place)[2 - rank:] if rank <= 2 else None
        if at is None:
            raise UnsupportedError(f"`{tensor}` has more than two axes")
        found[tuple(i + s for i, s in zip(at, starts, strict=True))] = entry.value
    return found
