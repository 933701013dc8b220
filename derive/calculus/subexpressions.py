"""Subexpressions that a derivative would spell out again and again, each with a letter of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import derive.expr as ex
from derive.functions import known
from derive.module import Module
from derive.notation.symbols import Kind, Symbol

_BASE = re.compile(r"[A-Za-z]|\\(?!tilde)[A-Za-z]+(?![A-Za-z{])")


def lettered(module: Module) -> Module:
    """h_t = z_t ⊙ tanh(W x_t + U h_{t−1}) as h̃_t = tanh(…), h_t = z_t ⊙ h̃_t: its derivative has h̃_t in it again."""
    for place, equation in enumerate(module.equations):
        head, value = equation.terms
        symbol = module.table.named(head.tensor) if isinstance(head, ex.Entry) else None
        if not isinstance(head, ex.Entry) or symbol is None:
            continue
        found, named = [*dict.fromkeys(_repeated(value, module))], _tilde(symbol)
        if len(found) == 1 and ex.free_indices(found[0]) <= {*head.indices} and named is not None and (
                module.table.named(named.name) is None):
            letter = ex.Entry(named.name, head.indices)
            both = ex.eq(letter, found[0]), ex.eq(head, ex.subst(value, {found[0]: letter}))
            equations = (*module.equations[:place], *both, *module.equations[place + 1:])
            return lettered(replace(module, equations=equations, table=module.table.extended([named])))
    return module


def _tilde(symbol: Symbol) -> Symbol | None:
    """h̃_t for h_t; None where the letter has an accent already."""
    base = _BASE.match(symbol.latex)
    if base is None or base[0].strip("\\") not in symbol.name or symbol.above:
        return None
    own = base[0].strip("\\")
    return replace(symbol, name=symbol.name.replace(own, f"{own}_tilde", 1),
                   latex=rf"\tilde{{{base[0]}}}" + symbol.latex[base.end():], kind=Kind.TENSOR)


def _repeated(value: ex.Node, module: Module) -> Iterator[ex.Fn]:
    """Factors f(u) beside others, with a sum in u, whose derivative is told by f itself: tanh, a card's σ."""
    if isinstance(value, ex.Mul):
        for factor in value.factors:
            if isinstance(factor, ex.Fn) and _returns(factor, module) and any(
                    isinstance(n, ex.Reduce) for n in ex.walk(factor)) and any(
                    isinstance(n, ex.Entry) for f in value.factors if f is not factor for n in ex.walk(f)):
                yield factor
    if isinstance(value, (ex.Mul, ex.Add)):
        for part in value.children():
            yield from _repeated(part, module)


def _returns(node: ex.Fn, module: Module) -> bool:
    """f' is told by f, and not f itself: shares e^{s_i} / Σ_j e^{s_j} have their own letters."""
    record = known(node.name)
    derivative = record.derivative if record is not None else None
    return module.function(node.name) is not None or (derivative is not None and any(
        isinstance(n, ex.Fn) and n.name == node.name for n in ex.walk(derivative) if n is not derivative))
