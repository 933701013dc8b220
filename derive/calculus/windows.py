"""Ω and its inverse in closed form: which windows cover an input coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from derive.expr import (
    ZERO,
    And,
    Cond,
    Expr,
    Extremum,
    Fn,
    Idx,
    Iff,
    In,
    Num,
    Rel,
    SetApp,
    add,
    eq,
    mul,
    rel,
    sub,
    tuple_of,
)
from derive.letters import extent
from derive.module import Module
from derive.receptive_field import WindowAxis


@dataclass(frozen=True)
class Inverse:
    """The windows k that cover coordinate i of one axis.

    Either one window ``only``, where ``conds`` hold (and none elsewhere), or those
    from ``lower`` to ``upper``.
    """

    only: Expr | None = None
    conds: tuple[Cond, ...] = ()
    lower: Expr | None = None
    upper: Expr | None = None


def rounded(name: str, value: Expr, divisor: int) -> Expr:
    """⌊value/divisor⌋ or ⌈value/divisor⌉."""
    return value if divisor == 1 else Fn(name, (mul(value, Num(Fraction(1, divisor))),))


def inverse(i: Expr, axis: WindowAxis, outputs: Expr, size: int | None) -> Inverse:
    """{k : i ∈ Ω(k)} = max(0, ⌈(i+p−K+1)/s⌉) … min(out−1, ⌊(i+p)/s⌋), simplified for this axis.

    With K ≤ s at most the window ⌊(i+p)/s⌋ covers i.  ``size`` is the extent of the
    input where it is known: conditions that then always hold are left out.
    """
    size_k, stride, padding = axis.kernel_size, axis.stride, axis.padding
    shifted = add(i, Num(padding))
    last = rounded("floor", shifted, stride)
    if size_k > stride:
        first = rounded("ceil", add(i, Num(padding - size_k + 1)), stride)
        lower = first if padding >= size_k - 1 else Extremum("max", (ZERO, first))
        return Inverse(lower=lower, upper=Extremum("min", (sub(outputs, Num(1)), last)))
    conds: list[Cond] = []
    if size_k < stride:
        conds.append(rel(Fn("mod", (shifted, Num(stride))), "<", Num(size_k)))
    always = stride == 1 and padding == 0
    if size is not None:
        always = all((n + padding) // stride < axis.output_size(size) for n in range(size))
    if not always:
        conds.append(rel(last, "<", outputs))
    return Inverse(only=last, conds=tuple(conds))


def inverses(indices: tuple[Expr, ...], module: Module) -> tuple[Inverse, ...]:
    """One inverse per axis of the module's window, at the input entry with these indices."""
    field, symbol = module.receptive_field, module.table.named(module.output)
    assert field is not None and symbol is not None
    known = module.input_size or (None,) * len(indices)
    return tuple(
        inverse(i, axis, extent(out), size)
        for i, axis, out, size in zip(indices, field.axes, symbol.sizes, known, strict=True)
    )


def covers(indices: tuple[Idx, ...], at: tuple[Idx, ...], module: Module) -> Iff:
    """(i, j) ∈ Ω(k, l) ⟺ the ranges of i and j, given k and l."""
    name, field = module.fields[0]
    conds: list[Cond] = []
    for i, k, axis in zip(indices, at, field.axes, strict=True):
        start = add(mul(Num(axis.stride), k), Num(-axis.padding))
        end = add(mul(Num(axis.stride), k), Num(axis.kernel_size - 1 - axis.padding))
        conds.append(eq(i, start) if axis.kernel_size == 1 else Rel((start, i, end), ("≤", "≤")))
    return Iff(In(tuple_of(indices), SetApp(name, at)), conds[0] if len(conds) == 1 else And(tuple(conds)))


def covered_by(indices: tuple[Idx, ...], at: tuple[Idx, ...], module: Module) -> Iff:
    """(i, j) ∈ Ω(k, l) ⟺ the windows k and l, given i and j."""
    name, _ = module.fields[0]
    conds: list[Cond] = []
    for k, inv in zip(at, inverses(indices, module), strict=True):
        if inv.only is not None:
            # k is an output already, so that the window exists need not be said
            conds += [eq(k, inv.only), *(c for c in inv.conds if isinstance(c, Rel) and isinstance(c.terms[0], Fn)
                                         and c.terms[0].name == "mod")]
        else:
            assert inv.lower is not None and inv.upper is not None
            conds.append(Rel((inv.lower, k, inv.upper), ("≤", "≤")))
    return Iff(In(tuple_of(indices), SetApp(name, at)), conds[0] if len(conds) == 1 else And(tuple(conds)))


def output_sizes(module: Module) -> tuple[Rel, ...]:
    """out = ⌊(n + 2p − K)/s⌋ + 1 per axis; nothing where the sizes are numbers already."""
    field = module.receptive_field
    source, output = module.table.named(module.inputs[0]), module.table.named(module.output)
    assert field is not None and source is not None and output is not None
    found = []
    for axis, n, m in zip(field.axes, source.sizes, output.sizes, strict=True):
        if isinstance(n, str):
            span = add(extent(n), Num(2 * axis.padding - axis.kernel_size))
            found.append(eq(extent(m), add(rounded("floor", span, axis.stride), Num(1))))
    return tuple(found)
