"""Windows that a formula spells out: x_{2k+a}, 0 ≤ a < 2, covers 2k … 2k + 1 on its axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import derive.expr as ex
from derive.affine import Affine
from derive.errors import CardError, UnsupportedError
from derive.records import dataclass


class LettersError(UnsupportedError):
    """The window's sides or steps are letters."""


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
        term = _affine(index)
        bound = [v for v in ranges if v in term.coefficients]
        if not bound and index == output:  # a channel, which windows do not leave
            axes.append(Interval(1, 1, 0, 0))
            continue
        if len(bound) != 1 or term.coefficients[bound[0]].denominator != 1 or bound[0] in used:
            raise UnsupportedError(
                "a coordinate of the window is not an output coordinate plus a whole multiple of one variable with a "
                "range of its own"
            )
        variable = bound[0]
        used.append(variable)
        step, rest = term.coefficients[variable], term.without(variable)
        low, high = (rest.plus(end, step) for end in ranges[variable])
        found = _interval(*((low, high) if step > 0 else (high, low)), output)
        start = ranges[variable][0]
        found = found if start.coefficients else replace(found, base=int(start.constant))
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
    size = last.minus(first)
    if not isinstance(output, ex.Idx) or size.coefficients or first.coefficients.keys() - {output}:
        raise UnsupportedError("a window must have the same size everywhere, and move with the output on the same axis")
    stride, length, start = first.coefficients.get(output, Fraction(0)), size.constant + 1, first.constant
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
            for a, b in product(ex.items(small), ex.items(large)):
                yield _bound(_affine(b).minus(_affine(a)), op in "<>", variables)


def _bound(slack: Affine, strict: bool, variables: list[ex.Idx]) -> tuple[ex.Idx, Affine, bool]:
    """From slack ≥ 0 (or > 0), which holds one variable with the coefficient ±1."""
    found = [v for v in variables if v in slack.coefficients]
    if len(found) != 1 or abs(slack.coefficients[found[0]]) != 1:
        raise UnsupportedError("the window's condition does not bound one variable at a time")
    rest = slack.without(found[0]).minus(Affine({}, Fraction(strict)))
    lower = slack.coefficients[found[0]] > 0
    return found[0], rest.times(-1) if lower else rest, lower


def _affine(term: ex.Expr) -> Affine:
    found = Affine.of(term)
    if not all(isinstance(v, ex.Idx) for v in found.coefficients):
        raise LettersError("an index of the window is not of the form `2k + a` with numbers; write sizes as numbers")
    return found
