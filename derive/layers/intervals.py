"""Windows that a formula spells out: x_{2k+a}, 0 ≤ a < 2, covers 2k … 2k + 1 on its axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import prod

import derive.expr as ex
from derive.errors import CardError, UnsupportedError
from derive.records import dataclass

Affine = dict[ex.Idx | None, Fraction]  # coefficients; None is the constant's key
_ONE = Fraction(1)


@dataclass(frozen=True)
class Interval:
    """The coordinates stride·k + start + dilation·a, 0 ≤ a < size, of one axis.

    ``base`` is where the window's own variable starts counting, if it is a number.
    """

    size: int
    stride: int
    start: int
    base: int | None = None
    dilation: int = 1


def intervals(node: ex.Reduce | ex.SetOf, outputs: tuple[ex.Expr, ...]) -> tuple[str, tuple[Interval, ...]]:
    """(x, an interval per axis) of op over a of x_{s k + a}, or of {s k + a : a} (then the name is empty).

    Raises :class:`UnsupportedError` where the window is no box that moves with the output.
    """
    ranges, source, indices = _opened(node)
    if len(indices) != len(outputs):
        raise CardError(
            f"the window has {len(indices)} coordinates and the output {len(outputs)}; one of each per axis"
        )
    used: list[ex.Idx] = []
    axes = []
    for index, output in zip(indices, outputs, strict=True):
        terms = _affine(index)
        bound = [v for v in terms if v in ranges]
        if len(bound) != 1 or terms[bound[0]].denominator != 1 or bound[0] in used:
            raise UnsupportedError(
                "a coordinate of the window is not an output coordinate plus a whole multiple of one variable with a "
                "range of its own"
            )
        variable = bound[0]
        used.append(variable)
        step = terms.pop(variable)
        low, high = (_times(end, step) for end in ranges[variable])
        first, last = (low, high) if step > 0 else (high, low)
        found = _interval(_plus(terms, first), _plus(terms, last), output)
        start = ranges[variable][0]
        found = replace(found, base=int(start.get(None, 0))) if set(start) <= {None} else found
        axes.append(replace(found, size=(found.size - 1) // int(abs(step)) + 1, dilation=int(abs(step))))
    return source, tuple(axes)


def box(entries: tuple[ex.Expr, ...], outputs: tuple[ex.Expr, ...]) -> tuple[str, tuple[Interval, ...]]:
    """(x, an interval per axis) of listed entries x_{2k}, x_{2k+1}, …

    Raises :class:`UnsupportedError` where they are no box.
    """
    plain = [e for e in entries if isinstance(e, ex.Entry) and len(e.indices) == len(outputs)]
    if len(plain) != len(entries) or len({e.tensor for e in plain}) != 1:
        raise UnsupportedError("the listed terms are not entries of one input with an index per axis of the output")
    offsets: list[tuple[int, ...]] = []
    strides = set()
    for entry in plain:
        found = [_interval(t, t, k) for t, k in zip(map(_affine, entry.indices), outputs, strict=True)]
        offsets.append(tuple(f.start for f in found))
        strides.add(tuple(f.stride for f in found))
    spans = [range(min(c), max(c) + 1) for c in zip(*offsets, strict=True)]
    if len(strides) != 1 or sorted(offsets) != list(product(*spans)):
        raise UnsupportedError("the listed entries are not the cells of one rectangular window")
    (stride,) = strides
    return plain[0].tensor, tuple(Interval(len(r), s, r.start) for r, s in zip(spans, stride, strict=True))


def _interval(first: Affine, last: Affine, output: ex.Expr) -> Interval:
    size = _plus(_plus(last, _times(first, -_ONE)), {None: _ONE})
    moving = {v: c for v, c in first.items() if v is not None}
    if not isinstance(output, ex.Idx) or set(size) - {None} or set(moving) - {output}:
        raise UnsupportedError("a window must have the same size everywhere, and move with the output on the same axis")
    stride, length, start = moving.get(output, Fraction(0)), size.get(None, Fraction(0)), first.get(None, Fraction(0))
    if stride <= 0 or any(v.denominator != 1 for v in (stride, length, start)):
        raise UnsupportedError(
            f"the window does not move with the output index `{output.name}` in whole steps; "
            "a window over the whole input is not covered yet"
        )
    if length < 1:
        raise CardError(f"the window has {length} cells along `{output.name}`; its range is empty")
    return Interval(int(length), int(stride), int(start))


def _opened(node: ex.Reduce | ex.SetOf) -> tuple[dict[ex.Idx, tuple[Affine, Affine]], str, tuple[ex.Expr, ...]]:
    lows: dict[ex.Idx, Affine] = {}
    highs: dict[ex.Idx, Affine] = {}
    conds: list[ex.Cond] = []
    variables: list[ex.Idx] = []
    inner: ex.Expr = node
    op = node.op if isinstance(node, ex.Reduce) else None
    while inner is node or (isinstance(inner, ex.Reduce) and inner.op == op):
        assert isinstance(inner, (ex.Reduce, ex.SetOf))
        binder, inner = ex.open_binder(inner)
        variables += binder.variables
        lows |= {v: _affine(t) for v, t in zip(binder.variables, binder.lower, strict=True) if t is not None}
        highs |= {v: _affine(t) for v, t in zip(binder.variables, binder.upper, strict=True) if t is not None}
        conds += [] if binder.cond is None else [binder.cond]
    for variable, bound, lower in _bounds(conds, variables):
        (lows if lower else highs)[variable] = bound
    missing = [v for v in variables if v not in lows or v not in highs]
    if missing:
        raise UnsupportedError("a variable of the window has no range with two ends, so the window's size is not known")
    source, indices = _indexed(inner)
    return {v: (lows[v], highs[v]) for v in variables}, source, indices


def _indexed(body: ex.Expr) -> tuple[str, tuple[ex.Expr, ...]]:
    if isinstance(body, ex.Entry):
        return body.tensor, body.indices
    if isinstance(body, ex.Tuple):
        return "", body.items
    if isinstance(body, (ex.Idx, ex.Add)):
        return "", (body,)
    raise UnsupportedError("the window does not hold plain entries of one input")


def _bounds(conds: list[ex.Cond], variables: list[ex.Idx]) -> Iterator[tuple[ex.Idx, Affine, bool]]:
    """(variable, bound, whether it is the lower one) of each comparison, both ends inclusive."""
    for cond in conds:
        if isinstance(cond, ex.And):
            yield from _bounds(list(cond.conds), variables)
            continue
        if not isinstance(cond, ex.Rel) or set(cond.ops) - set("<≤>≥"):
            raise UnsupportedError("the window's condition is not a range of its variables")
        for (left, right), op in zip(pairwise(cond.terms), cond.ops, strict=True):
            small, large = (left, right) if op in "<≤" else (right, left)
            for a, b in product(_items(small), _items(large)):
                yield _bound(_plus(_affine(b), _times(_affine(a), -_ONE)), op in "<>", variables)


def _bound(slack: Affine, strict: bool, variables: list[ex.Idx]) -> tuple[ex.Idx, Affine, bool]:
    """From slack ≥ 0 (or > 0), which holds one variable with the coefficient ±1."""
    found = [v for v in variables if slack.get(v)]
    if len(found) != 1 or abs(slack[found[0]]) != 1:
        raise UnsupportedError("the window's condition does not bound one variable at a time")
    sign = slack.pop(found[0])
    rest = _plus(slack, {None: -_ONE} if strict else {})
    return (found[0], _times(rest, -_ONE), True) if sign > 0 else (found[0], rest, False)


def _items(term: ex.Expr) -> tuple[ex.Expr, ...]:
    return term.items if isinstance(term, ex.Tuple) else (term,)


def _affine(term: ex.Expr) -> Affine:
    if isinstance(term, ex.Num):
        return {None: term.value} if term.value else {}
    if isinstance(term, ex.Idx):
        return {term: _ONE}
    if isinstance(term, ex.Add):
        return reduce(_plus, map(_affine, term.terms))
    if isinstance(term, ex.Mul):
        parts = [_affine(f) for f in term.factors]
        moving = [p for p in parts if set(p) - {None}]
        if len(moving) <= 1:
            scale = prod((p.get(None, Fraction(0)) for p in parts if p not in moving), start=_ONE)
            return _times(moving[0] if moving else {None: _ONE}, scale)
    raise UnsupportedError("an index of the window is not of the form `2k + a` with numbers; write sizes as numbers")


def _plus(left: Affine, right: Affine) -> Affine:
    total = {v: left.get(v, Fraction(0)) + right.get(v, Fraction(0)) for v in {**left, **right}}
    return {v: c for v, c in total.items() if c}


def _times(terms: Affine, factor: Fraction) -> Affine:
    return {v: c * factor for v, c in terms.items() if c * factor}
