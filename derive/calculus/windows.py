"""Ω and its inverse in closed form: which windows cover an input coordinate, and sums over them."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from derive.axes import extent
from derive.expr import (
    MINUS_ONE,
    ONE,
    OTHERWISE,
    ZERO,
    And,
    Binder,
    Bracket,
    Cases,
    Cond,
    Expr,
    Extremum,
    Fn,
    Idx,
    Iff,
    In,
    Mul,
    Node,
    Num,
    Pow,
    Reduce,
    Rel,
    SetApp,
    Tuple,
    add,
    eq,
    mul,
    open_binder,
    ranging,
    rel,
    sub,
    subst,
    transform,
    tuple_of,
    walk,
)
from derive.module import Module
from derive.receptive_field import AdaptiveAxis, Axis, WindowAxis
from derive.records import dataclass


@dataclass(frozen=True)
class Inverse:
    """The windows k that cover coordinate i of one axis, where ``conds`` hold (and none elsewhere).

    Either the one window ``only``, or those from ``lower`` to ``upper`` for which :meth:`within` holds.
    """

    only: Expr | None = None
    conds: tuple[Cond, ...] = ()
    lower: Expr | None = None
    upper: Expr | None = None
    residue: tuple[Expr, int, int] | None = None  # (i + p, s, d): i + p − s k must be a multiple of d

    def within(self, k: Expr) -> tuple[Cond, ...]:
        """i + p − s k ≡ 0 (mod d), where the bounds alone do not say it."""
        if self.residue is None:
            return ()
        shifted, stride, dilation = self.residue
        return (eq(Fn("mod", (add(shifted, mul(Num(-stride), k)), Num(dilation))), ZERO),)


def rounded(name: str, value: Expr, divisor: int) -> Expr:
    """⌊value/divisor⌋ or ⌈value/divisor⌉."""
    return value if divisor == 1 else Fn(name, (mul(value, Num(Fraction(1, divisor))),))


def inverse(i: Expr, axis: Axis, outputs: Expr, size: int | None, extent_n: Expr | None = None) -> Inverse:
    """{k : i ∈ Ω(k)} = max(0, ⌈(i+p−d(K−1))/s⌉) … min(out−1, ⌊(i+p)/s⌋), simplified for this axis.

    With d(K−1) < s at most the window ⌊(i+p)/s⌋ covers i.  ``size`` is the extent of the
    input where it is known: conditions that then always hold are left out.
    ``extent_n`` is that extent as a term, which adaptive windows need.
    """
    if not isinstance(axis, WindowAxis):
        assert isinstance(axis, AdaptiveAxis) and extent_n is not None
        return _adaptive(i, axis, extent_n)
    stride, padding, dilation = axis.stride, axis.padding, axis.dilation
    shifted = add(i, Num(padding))
    last = rounded("floor", shifted, stride)
    shared = gcd(stride, dilation)
    conds: list[Cond] = []
    if shared > 1 and axis.kernel_size > 1:
        conds.append(eq(Fn("mod", (shifted, Num(shared))), ZERO))
    loose = shared < dilation and axis.kernel_size > 1
    residue = (shifted, stride, dilation) if loose else None
    if axis.span > stride:
        first = rounded("ceil", add(i, Num(padding - axis.span + 1)), stride)
        lower = first if padding >= axis.span - 1 else Extremum("max", (ZERO, first))
        return Inverse(None, tuple(conds), lower, Extremum("min", (sub(outputs, Num(1)), last)), residue)
    if axis.span < stride:
        conds.append(rel(Fn("mod", (shifted, Num(stride))), "<", Num(axis.span)))
    if loose:
        conds.append(eq(Fn("mod", (Fn("mod", (shifted, Num(stride))), Num(dilation))), ZERO))
    always = axis.padding_after >= axis.span - 1 or axis.ceil_mode
    if size is not None:
        always = all((n + padding) // stride < axis.output_size(size) for n in range(size))
    if not always:
        conds.append(rel(last, "<", outputs))
    return Inverse(only=last, conds=tuple(conds))


def _adaptive(i: Expr, axis: AdaptiveAxis, n: Expr) -> Inverse:
    """⌊i m/n⌋ ≤ k ≤ ⌈(i+1) m/n⌉ − 1 for m windows over n cells."""
    per = mul(Num(axis.outputs), Num(1 / n.value) if isinstance(n, Num) else Pow(n, MINUS_ONE))
    lower, above = Fn("floor", (mul(i, per),)), Fn("ceil", (mul(add(i, ONE), per),))
    return Inverse(lower=lower, upper=sub(above, ONE))


def inverses(indices: tuple[Expr, ...], module: Module) -> tuple[Inverse, ...]:
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


def covers(indices: tuple[Idx, ...], at: tuple[Idx, ...], module: Module, windows: str | None = None) -> Iff:
    """(i, j) ∈ Ω(k, l) ⟺ the ranges of i and j, given k and l; ``windows`` is the name of Ω where there are several."""
    name, field = next(f for f in module.fields if windows in (None, f[0]))
    source = module.table.named(module.inputs[0])
    assert source is not None
    # the axes in front number channels; elsewhere than in the input windows have no end that counts
    extents = source.sizes[-len(at):] if len(source.sizes) >= len(at) else (0,) * len(at)
    conds: list[Cond] = []
    for i, k, axis, n in zip(indices, at, field.axes, extents, strict=True):
        start, end = _ends(k, axis, n)
        conds.append(eq(i, start) if start is end else Rel((start, i, end), ("≤", "≤")))
        if axis.step > 1 and start is not end:
            conds.append(eq(Fn("mod", (sub(i, start), Num(axis.step))), ZERO))
    return Iff(In(tuple_of(indices), SetApp(name, at)), conds[0] if len(conds) == 1 else And(tuple(conds)))


def _ends(k: Expr, axis: Axis, n: int | str) -> tuple[Expr, Expr]:
    """The first and the last cell of window k, in padding or not."""
    if isinstance(axis, WindowAxis):
        start = add(mul(Num(axis.stride), k), Num(-axis.padding))
        return start, add(start, Num(axis.span - 1))
    assert isinstance(axis, AdaptiveAxis)
    per = mul(extent(n), Num(Fraction(1, axis.outputs)))
    return Fn("floor", (mul(k, per),)), sub(Fn("ceil", (mul(add(k, ONE), per),)), ONE)


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
            conds += [Rel((inv.lower, k, inv.upper), ("≤", "≤")), *inv.within(k), *inv.conds]
    return Iff(In(tuple_of(indices), SetApp(name, at)), conds[0] if len(conds) == 1 else And(tuple(conds)))


def output_sizes(module: Module) -> tuple[Rel, ...]:
    """out = ⌊(n + p + p' − d(K−1) − 1)/s⌋ + 1 per axis; nothing where the sizes are numbers already."""
    field = module.receptive_field
    source, output = module.table.named(module.inputs[0]), module.table.named(module.output)
    assert field is not None and source is not None and output is not None
    return tuple(eq(extent(m), _windows(axis, extent(n)))
                 for axis, n, m in zip(field.axes, source.sizes, output.sizes, strict=True) if isinstance(n, str))


def _windows(axis: Axis, n: Expr) -> Expr:
    """How many windows an input of n cells has; with ``ceil_mode`` none starts behind the input."""
    if not isinstance(axis, WindowAxis):
        assert isinstance(axis, AdaptiveAxis)
        return Num(axis.outputs)
    room = add(n, Num(axis.padding + axis.padding_after - axis.span))
    if not axis.ceil_mode:
        return add(rounded("floor", room, axis.stride), ONE)
    if axis.padding_after >= axis.span:
        return rounded("ceil", room, axis.stride)
    begun = rounded("ceil", add(n, Num(axis.padding)), axis.stride)
    return Extremum("min", (add(rounded("ceil", room, axis.stride), ONE), begun))


def in_closed_form(value: Expr, module: Module) -> Expr | None:
    """The message with each sum over covering windows written with limits; None where it has none.

    A sum over one window at most becomes its term, and the conditions for there to be one cases of the whole.
    """
    found = [n for n in walk(value) if _is_covering(n, module)]
    if not found:
        return None
    conds: dict[Cond, None] = {}

    def written(node: Node) -> Node | None:
        if not isinstance(node, Reduce) or not _is_covering(node, module):
            return None
        inner, guards = _written(node, module)
        if len(found) == 1 and _is_factor(node, value):
            conds.update(dict.fromkeys(guards))
            return inner
        return mul(inner, *map(Bracket, guards)) if guards else inner

    after = transform(value, written, Reduce)
    if isinstance(after, Mul):
        after = mul(*(part for f in after.factors for part in (f.factors if isinstance(f, Mul) else (f,))))
    if not conds:
        return after
    if isinstance(after, Mul):
        conds.update({f.cond: None for f in after.factors if isinstance(f, Bracket)})
        after = mul(*(f for f in after.factors if not isinstance(f, Bracket)))
    return Cases(((after, next(iter(conds)) if len(conds) == 1 else And(tuple(conds))), (ZERO, OTHERWISE)))


def _is_covering(node: Node, module: Module) -> bool:
    """Σ over (k, l) with (i, j) ∈ Ω(k, l), where i and j are given."""
    if not isinstance(node, Reduce) or node.op != "sum" or not isinstance(node.binder.cond, In):
        return False
    windows = node.binder.cond.set
    return (isinstance(windows, SetApp) and windows.name in dict(module.fields)
            and windows.args == node.binder.variables and not set(_items(node.binder.cond)) & set(windows.args))


def _items(cond: In) -> tuple[Expr, ...]:
    return cond.element.items if isinstance(cond.element, Tuple) else (cond.element,)


def _is_factor(node: Reduce, value: Expr) -> bool:
    return node is value or isinstance(value, Mul) and node in value.factors


def _written(node: Reduce, module: Module) -> tuple[Expr, tuple[Cond, ...]]:
    binder, body = open_binder(node)
    assert isinstance(binder.cond, In)
    outputs = binder.variables
    found = inverses(_items(binder.cond), module)
    exact: dict[Node, Node] = {k: inv.only for k, inv in zip(outputs, found, strict=True) if inv.only is not None}
    value = subst(body, exact)
    for k, inv in reversed(list(zip(outputs, found, strict=True))):
        value = _summed(k, inv, value)
    return value, tuple(c for inv in found for c in inv.conds)


def _summed(k: Idx, inv: Inverse, value: Expr) -> Expr:
    """Σ over the windows of one axis."""
    if inv.lower is None or inv.upper is None:
        return value
    inside = inv.within(k)
    binder = Binder((k,), (inv.lower,), (inv.upper,), inside[0]) if inside else ranging(k, inv.lower, inv.upper)
    return Reduce("sum", binder, value)
