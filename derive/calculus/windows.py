"""Ω and its inverse in closed form: which windows cover an input coordinate, and sums over them."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import gcd

import derive.expr as ex
from derive.axes import extent
from derive.module import Module
from derive.receptive_field import AdaptiveAxis, Axis, WindowAxis
from derive.records import dataclass


@dataclass(frozen=True)
class Inverse:
    """The windows k that cover coordinate i of one axis, where ``conds`` hold (and none elsewhere).

    Either the one window ``only``, or those from ``lower`` to ``upper`` for which :meth:`within` holds.
    """

    only: ex.Expr | None = None
    conds: tuple[ex.Cond, ...] = ()
    lower: ex.Expr | None = None
    upper: ex.Expr | None = None
    residue: tuple[ex.Expr, int, int] | None = None  # (i + p, s, d): i + p − s k must be a multiple of d

    def within(self, k: ex.Expr) -> tuple[ex.Cond, ...]:
        """i + p − s k ≡ 0 (mod d), where the bounds alone do not say it."""
        if self.residue is None:
            return ()
        shifted, stride, dilation = self.residue
        return (ex.eq(ex.Fn("mod", (ex.add(shifted, ex.mul(ex.Num(-stride), k)), ex.Num(dilation))), ex.ZERO),)


def rounded(name: str, value: ex.Expr, divisor: int) -> ex.Expr:
    """⌊value/divisor⌋ or ⌈value/divisor⌉."""
    return value if divisor == 1 else ex.Fn(name, (ex.mul(value, ex.Num(Fraction(1, divisor))),))


def inverse(i: ex.Expr, axis: Axis, outputs: ex.Expr, size: int | None, extent_n: ex.Expr | None = None) -> Inverse:
    """{k : i ∈ Ω(k)} = max(0, ⌈(i+p−d(K−1))/s⌉) … min(out−1, ⌊(i+p)/s⌋), simplified for this axis.

    With d(K−1) < s at most the window ⌊(i+p)/s⌋ covers i.  ``size`` is the extent of the
    input where it is known: conditions that then always hold are left out.
    ``extent_n`` is that extent as a term, which adaptive windows need.
    """
    if not isinstance(axis, WindowAxis):
        assert isinstance(axis, AdaptiveAxis) and extent_n is not None
        return _adaptive(i, axis, extent_n)
    stride, padding, dilation = axis.stride, axis.padding, axis.dilation
    shifted = ex.add(i, ex.Num(padding))
    last = rounded("floor", shifted, stride)
    shared = gcd(stride, dilation)
    conds: list[ex.Cond] = []
    if shared > 1 and axis.kernel_size > 1:
        conds.append(ex.eq(ex.Fn("mod", (shifted, ex.Num(shared))), ex.ZERO))
    loose = shared < dilation and axis.kernel_size > 1
    residue = (shifted, stride, dilation) if loose else None
    if axis.span > stride:
        first = rounded("ceil", ex.add(i, ex.Num(padding - axis.span + 1)), stride)
        lower = first if padding >= axis.span - 1 else ex.Extremum("max", (ex.ZERO, first))
        return Inverse(None, tuple(conds), lower, ex.Extremum("min", (ex.sub(outputs, ex.Num(1)), last)), residue)
    if axis.span < stride:
        conds.append(ex.rel(ex.Fn("mod", (shifted, ex.Num(stride))), "<", ex.Num(axis.span)))
    if loose:
        conds.append(ex.eq(ex.Fn("mod", (ex.Fn("mod", (shifted, ex.Num(stride))), ex.Num(dilation))), ex.ZERO))
    always = axis.padding_after >= axis.span - 1 or axis.ceil_mode
    if size is not None:
        always = all((n + padding) // stride < axis.output_size(size) for n in range(size))
    if not always:
        conds.append(ex.rel(last, "<", outputs))
    return Inverse(only=last, conds=tuple(conds))


def _adaptive(i: ex.Expr, axis: AdaptiveAxis, n: ex.Expr) -> Inverse:
    """⌊i m/n⌋ ≤ k ≤ ⌈(i+1) m/n⌉ − 1 for m windows over n cells."""
    per = ex.mul(ex.Num(axis.outputs), ex.Num(1 / n.value) if isinstance(n, ex.Num) else ex.Pow(n, ex.MINUS_ONE))
    lower, above = ex.Fn("floor", (ex.mul(i, per),)), ex.Fn("ceil", (ex.mul(ex.add(i, ex.ONE), per),))
    return Inverse(lower=lower, upper=ex.sub(above, ex.ONE))


def inverses(indices: tuple[ex.Expr, ...], module: Module) -> tuple[Inverse, ...]:
    """One inverse per axis of the module's window, at the input entry with these indices."""
    field, symbol = module.receptive_field, module.table.named(module.output)
    source = module.table.named(module.inputs[0])
    assert field is not None and symbol is not None and source is not None
    known = module.input_size or (None,) * len(indices)
    extents = [extent(n) if n else None for n in source.sizes] or [None] * len(indices)
    return tuple(
        inverse(i, axis, extent(out), size, n)
        for i, axis, out, size, n in zip(indices, field.axes, symbol.sizes, known, extents, strict=True)
    )


def covers(indices: tuple[ex.Idx, ...], at: tuple[ex.Idx, ...], module: Module, windows: str | None = None) -> ex.Iff:
    """(i, j) ∈ Ω(k, l) ⟺ the ranges of i and j, given k and l; ``windows`` is the name of Ω where there are several."""
    name, field = next(f for f in module.fields if windows in (None, f[0]))
    source = module.table.named(module.inputs[0])
    assert source is not None
    # the axes in front number channels; elsewhere than in the input windows have no end that counts
    extents = source.sizes[-len(at):] if len(source.sizes) >= len(at) else (0,) * len(at)
    conds: list[ex.Cond] = []
    for i, k, axis, n in zip(indices, at, field.axes, extents, strict=True):
        start, end = _ends(k, axis, n)
        conds.append(ex.eq(i, start) if start is end else ex.Rel((start, i, end), ("≤", "≤")))
        if axis.step > 1 and start is not end:
            conds.append(ex.eq(ex.Fn("mod", (ex.sub(i, start), ex.Num(axis.step))), ex.ZERO))
    return ex.Iff(ex.In(ex.tuple_of(indices), ex.SetApp(name, at)), ex.joined(conds))


def _ends(k: ex.Expr, axis: Axis, n: int | str) -> tuple[ex.Expr, ex.Expr]:
    """The first and the last cell of window k, in padding or not."""
    if isinstance(axis, WindowAxis):
        start = ex.add(ex.mul(ex.Num(axis.stride), k), ex.Num(-axis.padding))
        return start, ex.add(start, ex.Num(axis.span - 1))
    assert isinstance(axis, AdaptiveAxis)
    per = ex.mul(extent(n), ex.Num(Fraction(1, axis.outputs)))
    return ex.Fn("floor", (ex.mul(k, per),)), ex.sub(ex.Fn("ceil", (ex.mul(ex.add(k, ex.ONE), per),)), ex.ONE)


def covered_by(indices: tuple[ex.Idx, ...], at: tuple[ex.Idx, ...], module: Module) -> ex.Iff:
    """(i, j) ∈ Ω(k, l) ⟺ the windows k and l, given i and j."""
    name, _ = module.fields[0]
    conds: list[ex.Cond] = []
    for k, inv in zip(at, inverses(indices, module), strict=True):
        if inv.only is not None:
            # k is an output already, so that the window exists need not be said
            conds += [ex.eq(k, inv.only),
                      *(c for c in inv.conds if isinstance(c, ex.Rel) and isinstance(c.terms[0], ex.Fn)
                                         and c.terms[0].name == "mod")]
        else:
            assert inv.lower is not None and inv.upper is not None
            conds += [ex.Rel((inv.lower, k, inv.upper), ("≤", "≤")), *inv.within(k), *inv.conds]
    return ex.Iff(ex.In(ex.tuple_of(indices), ex.SetApp(name, at)), ex.joined(conds))


def output_sizes(module: Module) -> tuple[ex.Rel, ...]:
    """out = ⌊(n + p + p' − d(K−1) − 1)/s⌋ + 1 per axis; nothing where the sizes are numbers already."""
    field = module.receptive_field
    source, output = module.table.named(module.inputs[0]), module.table.named(module.output)
    assert field is not None and source is not None and output is not None
    return tuple(ex.eq(extent(m), _windows(axis, extent(n)))
                 for axis, n, m in zip(field.axes, source.sizes, output.sizes, strict=True) if isinstance(n, str))


def _windows(axis: Axis, n: ex.Expr) -> ex.Expr:
    """How many windows an input of n cells has; with ``ceil_mode`` none starts behind the input."""
    if not isinstance(axis, WindowAxis):
        assert isinstance(axis, AdaptiveAxis)
        return ex.Num(axis.outputs)
    room = ex.add(n, ex.Num(axis.padding + axis.padding_after - axis.span))
    if not axis.ceil_mode:
        return ex.add(rounded("floor", room, axis.stride), ex.ONE)
    if axis.padding_after >= axis.span:
        return rounded("ceil", room, axis.stride)
    begun = rounded("ceil", ex.add(n, ex.Num(axis.padding)), axis.stride)
    return ex.Extremum("min", (ex.add(rounded("ceil", room, axis.stride), ex.ONE), begun))


@lru_cache(maxsize=256)
def in_closed_form(value: ex.Expr, module: Module) -> ex.Expr | None:
    """The message with each sum over covering windows written with limits; None where it has none.

    A sum over one window at most becomes its term, and the conditions for there to be one cases of the whole.
    """
    found = [n for n in ex.walk(value) if _is_covering(n, module)]
    if not found:
        return None
    conds: dict[ex.Cond, None] = {}

    def written(node: ex.Node) -> ex.Node | None:
        if not isinstance(node, ex.Reduce) or not _is_covering(node, module):
            return None
        inner, guards = _written(node, module)
        if len(found) == 1 and _is_factor(node, value):
            conds.update(dict.fromkeys(guards))
            return inner
        return ex.mul(inner, *map(ex.Bracket, guards)) if guards else inner

    after = ex.transform(value, written, ex.Reduce)
    if isinstance(after, ex.Mul):
        after = ex.mul(*(part for f in after.factors for part in (f.factors if isinstance(f, ex.Mul) else (f,))))
    if not conds:
        return after
    if isinstance(after, ex.Mul):
        conds.update({f.cond: None for f in after.factors if isinstance(f, ex.Bracket)})
        after = ex.mul(*(f for f in after.factors if not isinstance(f, ex.Bracket)))
    return ex.Cases(((after, ex.joined(conds)), (ex.ZERO, ex.OTHERWISE)))


def _is_covering(node: ex.Node, module: Module) -> bool:
    """Σ over (k, l) with (i, j) ∈ Ω(k, l), where i and j are given."""
    if not isinstance(node, ex.Reduce) or node.op != "sum" or not isinstance(node.binder.cond, ex.In):
        return False
    inside, windows = ex.items(node.binder.cond.element), node.binder.cond.set
    return (isinstance(windows, ex.SetApp) and windows.name in dict(module.fields)
            and windows.args == node.binder.variables and not {*inside} & {*windows.args})


def _is_factor(node: ex.Reduce, value: ex.Expr) -> bool:
    return node is value or isinstance(value, ex.Mul) and node in value.factors


def _written(node: ex.Reduce, module: Module) -> tuple[ex.Expr, tuple[ex.Cond, ...]]:
    binder, body = ex.open_binder(node)
    assert isinstance(binder.cond, ex.In)
    outputs = binder.variables
    found = inverses(ex.items(binder.cond.element), module)
    exact: dict[ex.Node, ex.Node] = {k: inv.only for k, inv in zip(outputs, found, strict=True) if inv.only is not None}
    value = ex.subst(body, exact)
    for k, inv in reversed(list(zip(outputs, found, strict=True))):
        value = _summed(k, inv, value)
    return value, tuple(c for inv in found for c in inv.conds)


def _summed(k: ex.Idx, inv: Inverse, value: ex.Expr) -> ex.Expr:
    """Σ over the windows of one axis."""
    if inv.lower is None or inv.upper is None:
        return value
    inside = inv.within(k)
    binder = ex.Binder((k,), (inv.lower,), (inv.upper,), inside[0]) if inside else ex.ranging(k, inv.lower, inv.upper)
    return ex.Reduce("sum", binder, value)
