"""Extents: of tensors from arrays and formulas, of sizes, of what a window set runs along, and of an output's index."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import derive.expr as ex
from derive.axes import Axes, axes, counts, stands
from derive.errors import CardError, UnsupportedError
from derive.module import Module
from derive.numeric.source import window_places
from derive.receptive_field import Axis, WindowAxis
from derive.records import dataclass

if TYPE_CHECKING:
    from derive.numeric.gather import Array

Shape = tuple[int, ...]


@dataclass(frozen=True)
class WindowSet:
    """One axis of a set Ω: its window, and the extents n of the input and ``out`` of the output."""

    window: Axis
    n: int

    @property
    def out(self) -> int:
        return self.window.output_size(self.n)


@dataclass(frozen=True)
class Extents:
    """Shapes of all tensors (without batch axes), each set's windows axis by axis, and where coordinates start."""

    shapes: Mapping[str, Shape]
    sets: Mapping[str, tuple[WindowSet, ...]]
    sizes: Mapping[str, int]
    axes: Axes

    def start(self, v: ex.Idx, body: ex.Node) -> int:
        """The first value of an index that runs along the axes on which it stands."""
        return next((self.axes.origin(*slot) for slot in stands(v, body)), 0)


def rank(module: Module, tensor: str) -> int:
    symbol = module.table.named(tensor)
    if symbol is None:
        raise CardError(f"the layer has no tensor `{tensor}`")
    return len(symbol.axes)


def extents(module: Module, inputs: Mapping[str, Shape]) -> Extents:
    """The shapes of every tensor the equations define, from the shapes of the inputs.

    Raises :class:`CardError` where a kernel is larger than its padded input.
    """
    found = axes(module)
    shapes: dict[str, Shape] = dict(inputs)
    _agree(found, shapes)
    sets: dict[str, tuple[WindowSet, ...]] = {}
    places = window_places(module.equations)
    for equation in module.equations:
        for name, field in module.fields:
            where = [places.get((name, d)) for d in range(len(field.axes))]
            if name not in sets and all(w is not None and w[0] in shapes for w in where):
                along = (shapes[w[0]][w[1]] for w in where if w is not None)
                sets[name] = tuple(itertools.starmap(_window_set, zip(field.axes, along, strict=True)))
        entry, value = equation.terms
        if isinstance(entry, ex.Entry):
            reach = Extents(shapes, sets, _sizes(module, shapes), found)
            stated = {axis: length for tensor, axis, length in module.ranges if tensor == entry.tensor}
            shapes[entry.tensor] = tuple(stated_span(stated.get(d), v, entry, value, reach)
                                         for d, v in enumerate(entry.indices) if isinstance(v, ex.Idx))
            _agree(found, shapes, frozenset(module.defined))
    return Extents(shapes, sets, _sizes(module, shapes), found)


def _agree(found: Axes, shapes: Mapping[str, Shape], defined: frozenset[str] = frozenset()) -> None:
    """Axes that one index runs along must have one extent; what is ``defined`` may go beyond a sum's written limits."""
    known: dict[tuple[str, int], tuple[str, int]] = {}
    for name, shape in shapes.items():
        for d, n in enumerate(shape):
            other, m = known.setdefault(found.of(name, d), (name, n))
            size = found.size(name, d)
            if m != n or (isinstance(size, ex.Num) and size.value != n and name not in defined):
                wanted = f"that of `{other}` has {m}" if m != n else f"the formula says {size.value}"  # type: ignore
                raise CardError(f"`{name}` has shape {shape}: axis {d + 1} has extent {n}, but {wanted}")


def _sizes(module: Module, shapes: Mapping[str, Shape]) -> dict[str, int]:
    """The extents that have a name (``n``), from the tensors whose axes carry it."""
    found = {size: n for symbol in module.table.symbols
             for size, n in zip(symbol.sizes, shapes.get(symbol.name, ()), strict=False) if isinstance(size, str)}
    return found | {step: n for step, n in module.steps if n is not None}


def _window_set(window: Axis, n: int) -> WindowSet:
    if n < 1:
        raise CardError("the input has no entries along an axis of its windows")
    if window.output_size(n) < 1:
        assert isinstance(window, WindowAxis)
        raise CardError(f"the kernel spans {window.span} cells, but the padded input has only "
                        f"{n + window.padding + window.padding_after}: make the input larger or the kernel smaller")
    return WindowSet(window, n)


def stated_span(length: ex.Expr | None, v: ex.Idx, entry: ex.Entry, value: ex.Expr, reach: Extents) -> int:
    """How far an output's index runs: as the question says, or as far as keeps all indices in range.

    Raises :class:`CardError` where it says more than that.
    """
    if length is None:
        found = _unguarded_spans(v, entry, value, reach) or _causal(v, _start(v, entry, reach), value, reach)
        found = found or reached(v, _start(v, entry, reach), value, reach) or _alike(v, entry, reach)
        return min(found or [span(v, value, reach)])
    extent = interval(length, {}, reach.sizes)[0]
    stated = int(extent)
    if stated != extent:
        raise CardError(f"`{v.name}` of `{entry.tensor}` would take {extent} values: no whole number at these sizes")
    terms = _terms(v, value)
    if terms and all(isinstance(t, (ex.Idx, ex.Add, ex.Mul, ex.Num, ex.Size)) for t in terms):
        most = min(_unguarded_spans(v, entry, value, reach), default=stated)
        if stated > most:
            raise CardError(f"the question says that `{v.name}` of `{entry.tensor}` takes {stated} values, and only "
                            f"{most} keep all indices in range")
    return stated


def _terms(v: ex.Idx, value: ex.Expr) -> list[ex.Node]:
    """What the index terms with v are made of."""
    return [part for e in ex.walk(value) if isinstance(e, ex.Entry) for t in e.indices if v in ex.free_indices(t)
            for part in ex.walk(t)]


def _unguarded_spans(v: ex.Idx, entry: ex.Entry, value: ex.Expr, reach: Extents) -> list[int]:
    """How far an output's index may run for each entry that is read whatever its value."""
    free = frozenset(i for i in entry.indices if isinstance(i, ex.Idx))
    found = [span(v, value, reach)] if stands(v, value) or counts(v, value) else []
    return [*found, *limits(v, free, _start(v, entry, reach), value, reach)]


def _alike(v: ex.Idx, entry: ex.Entry, reach: Extents) -> list[int]:
    """The extents of axes along which an output's index runs elsewhere: that of p in Σ_k q_k p_k for q_k = [k = t]."""
    own = reach.axes.of(entry.tensor, entry.indices.index(v))
    return [n for name, shape in reach.shapes.items() for d, n in enumerate(shape) if reach.axes.of(name, d) == own]


def _start(v: ex.Idx, entry: ex.Entry, reach: Extents) -> int:
    return reach.axes.origin(entry.tensor, entry.indices.index(v))


def span(v: ex.Idx, body: ex.Node, reach: Extents) -> int:
    """How far an index without a written range runs: wherever every factor exists."""
    found = [reach.shapes[name][d] for name, d in stands(v, body) if name in reach.shapes]
    found += [reach.sets[name][d].out for name, d in counts(v, body) if name in reach.sets]
    if not found:
        raise UnsupportedError("an index has no range: no tensor axis and no set is indexed by it alone")
    return min(found)


def stepped(module: Module, arrays: Mapping[str, object]) -> tuple[Module, dict[str, object]]:
    """The module at the numbers of its steps, and the other arrays: of ``s=2, x=…`` the stride 2 and x."""
    numbers: dict[str, Any] = {name: arrays[name] for name, _ in module.steps if name in arrays}
    for name, number in numbers.items():
        whole = isinstance(number, Integral) or getattr(number, "shape", None) == () and number == number // 1
        if not whole or number < 1:
            raise CardError(f"`{name}` is not a positive integer: it stands in an index")
    missing = [name for name, known in module.steps if known is None and name not in numbers]
    if missing:
        raise CardError(*(f"`{name}` is missing: pass the number by keyword, {name}=…" for name in missing))
    return (module.stepping({name: int(n) for name, n in numbers.items()}),
            {name: array for name, array in arrays.items() if name not in numbers})


def checked(module: Module, arrays: Mapping[str, object], expected: tuple[str, ...]) -> dict[str, Array]:
    """The arrays as float64; raises :class:`CardError` for a wrong name, rank, type or a NaN.

    Integers and float32 are converted.  Axes beyond a tensor's own lead: batch axes.
    """
    refuse_names(arrays, expected)
    return {name: as_array(module, name, arrays[name]) for name in expected}


def refuse_names(arrays: Mapping[str, object], expected: tuple[str, ...]) -> None:
    """Raise :class:`CardError` for arrays that the layer does not take, or that are missing."""
    problems = [f"unknown array `{name}`: the layer takes {', '.join(f'`{e}`' for e in expected)}"
                for name in arrays if name not in expected]
    problems += [f"`{name}` is missing: pass it by keyword, {name}=…" for name in expected if name not in arrays]
    if problems:
        raise CardError(*problems)


def as_array(module: Module, name: str, value: object) -> Array:
    """One tensor's array as float64 (see :func:`checked`)."""
    import numpy as np  # sizes are asked for where no array is

    from derive.numeric.gather import first_nan

    try:
        plain = np.asarray(value)
        texts = plain.dtype.kind == "O" and any(n is None or isinstance(n, (str, bytes)) for n in plain.flat)
        if texts or plain.dtype.kind in "cUSMm" or plain.dtype.names or np.ma.is_masked(value):
            raise TypeError
        array = np.asarray(plain, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise CardError(f"`{name}` is not an array of real numbers that a float64 holds") from error
    own = rank(module, name)
    if array.ndim < own:
        raise CardError(f"`{name}` has shape {array.shape}, but it needs at least {own} "
                        f"{'axis' if own == 1 else 'axes'}")
    nan = first_nan(array)
    if nan is not None:
        at = ", ".join(map(str, nan))
        raise CardError(f"`{name}` is not a number (NaN) at ({at}): a maximum of NaN has no gradient")
    return array


def own_shape(module: Module, name: str, array: Array) -> Shape:
    """The tensor's own axes: the last ones."""
    return array.shape[array.ndim - rank(module, name):]


def batch_shape(module: Module, arrays: Mapping[str, Array]) -> Shape:
    """The leading axes, shared by all arrays that have some."""
    batch: Shape = ()
    first = ""
    for name, array in arrays.items():
        lead = array.shape[:array.ndim - rank(module, name)]
        if lead and batch and lead != batch:
            raise CardError(f"`{name}` has batch axes {lead}, but `{first}` has {batch}")
        if lead:
            batch, first = lead, name
    return batch


# How far an output's index may run so that indices such as s k + a stay in range.

_MOST = 10**9  # values of an index
Number = int | Fraction  # whole where it can be: fractions take ten times as long
Run = tuple[Number, Number]  # first and last value


def limits(v: ex.Idx, free: frozenset[ex.Idx], start: int, value: ex.Node, reach: Extents) -> Iterator[int]:
    """For each unguarded index term c v + …, how many values v = start, start + 1, … keep it in range.

    Raises :class:`CardError` where the first does not: the range must then be stated.
    """
    for entry, d, runs in unguarded(value, {}, reach):
        term = entry.indices[d]
        pointed = isinstance(term, ex.Entry)  # E_{w_t}: wherever w_t points, there is an entry
        if term is v or pointed or v not in ex.free_indices(term) or entry.tensor not in reach.shapes:
            continue
        if (ex.free_indices(term) & free) - {v}:
            raise UnsupportedError(f"how far `{v.name}` runs cannot be told, an index mixes it with another")
        first = reach.axes.origin(entry.tensor, d)
        last = first + reach.shapes[entry.tensor][d] - 1
        at = partial(_at, v, start, term, runs, reach.sizes)
        if at(0)[0] < first or at(_MOST)[0] <= at(0)[0]:
            where = f"`{entry.tensor}` has no entry {at(0)[0]}, which is used where `{v.name}` starts"
            raise CardError(f"{where}: state the range of `{v.name}`")
        if at(_MOST)[1] > last:  # the term never falls
            beyond = 1
            while at(beyond)[1] <= last:
                beyond *= 2
            yield bisect_left(range(beyond), True, key=lambda n: at(n)[1] > last)


def _at(v: ex.Idx, start: int, term: ex.Expr, runs: Mapping[ex.Idx, Run], sizes: Mapping[str, int], n: int) -> Run:
    """Between which numbers a term lies at the n-th value of v."""
    return interval(term, {**runs, v: (start + n,) * 2}, sizes)


def reached(v: ex.Idx, start: int, value: ex.Node, reach: Extents) -> list[int]:
    """How many values v takes for which a sum has a term: i = 0, …, n + A − 2 of Σ_{k : 0 ≤ i−k < A}.

    Raises :class:`CardError` where the first of them is not the first coordinate.
    """
    found: list[int] = []
    for node in ex.walk(value):
        if not isinstance(node, ex.Reduce) or not isinstance(node.binder.cond, ex.Rel) or (
                v not in ex.free_indices(node)):
            continue
        runs = _bound(node.binder, node.body, {}, reach)
        (low, *_, high), ops = node.binder.cond.terms, node.binder.cond.ops
        if len(ops) != 2 or not {*ops} <= {"≤", "<"} or ex.free_indices(low) | ex.free_indices(high):
            continue
        zero = interval(node.binder.cond.terms[1], {**runs, v: (0, 0)}, reach.sizes)
        one = interval(node.binder.cond.terms[1], {**runs, v: (1, 1)}, reach.sizes)
        if one[0] - zero[0] != 1:
            continue
        first = interval(low, {}, reach.sizes)[0] + (ops[0] == "<") - zero[1]
        last = interval(high, {}, reach.sizes)[1] - (ops[1] == "<") - zero[0]
        if first != start:
            raise CardError(f"the sum has terms from `{v.name}` = {first} on: state the range of `{v.name}`")
        found.append(int(last - first) + 1)
    return found


def unguarded(node: ex.Node, runs: Mapping[ex.Idx, Run],
              reach: Extents) -> Iterator[tuple[ex.Entry, int, Mapping[ex.Idx, Run]]]:
    """Every entry's index places that no bracket, case or condition guards, with the ranges of bound indices."""
    if isinstance(node, ex.Entry):
        yield from ((node, d, runs) for d in range(len(node.indices)))
    elif isinstance(node, ex.Reduce) and node.binder.cond is None and not _clamped(node.binder):
        own = _bound(node.binder, node.body, runs, reach)
        if all(first <= last for first, last in own.values()):  # an empty sum reads nothing
            yield from unguarded(node.body, {**runs, **own}, reach)
    elif not isinstance(node, (ex.Cases, ex.Reduce)) and not (
            isinstance(node, ex.Mul) and any(isinstance(f, ex.Bracket) for f in node.factors)):
        for child in node.children():
            yield from unguarded(child, runs, reach)


def _causal(v: ex.Idx, start: int, value: ex.Node, reach: Extents) -> list[int]:
    """How far v runs where a sum leaves out what lies in front of the first entry only: Σ_{k : 0 ≤ v−k} w_k x_{v−k}."""
    found: list[int] = []
    for node in ex.walk(value):
        if not isinstance(node, ex.Reduce) or not isinstance(node.binder.cond, ex.Rel) or (
                node.binder.cond.ops != ("≤",) or ex.free_indices(node.binder.cond.terms[0])):
            continue
        term, runs = node.binder.cond.terms[1], _bound(node.binder, node.body, {}, reach)
        places = [(n.tensor, d) for n in ex.walk(node.body) if isinstance(n, ex.Entry) and n.tensor in reach.shapes
                  for d, t in enumerate(n.indices) if t is term]
        for tensor, d in places:
            last = reach.axes.origin(tensor, d) + reach.shapes[tensor][d] - 1
            zero, one = (interval(term, {**runs, v: (n, n)}, reach.sizes)[1] for n in (start, start + 1))
            if ex.free_indices(term) <= {v, *runs} and one - zero == 1:
                found.append(int(last - zero) + 1)
    return found


def _clamped(binder: ex.Binder) -> bool:
    """j = max(0, i − r), …, min(N − 1, i + r): the limits themselves keep j in range."""
    return all(isinstance(limit, ex.Extremum) for limit in (*binder.lower, *binder.upper))


def _bound(binder: ex.Binder, body: ex.Expr, runs: Mapping[ex.Idx, Run], reach: Extents) -> dict[ex.Idx, Run]:
    found: dict[ex.Idx, Run] = {}
    for v, low, high in zip(binder.variables, binder.lower, binder.upper, strict=True):
        if low is not None and high is not None:
            known = {**runs, **found}
            if ex.free_indices(low) | ex.free_indices(high) <= known.keys():  # else it moves with the output's index
                found[v] = interval(low, known, reach.sizes)[0], interval(high, known, reach.sizes)[1]
        else:
            start = reach.start(v, body)
            found[v] = start, start + span(v, body, reach) - 1
    return found


def interval(term: ex.Expr, runs: Mapping[ex.Idx, Run], sizes: Mapping[str, int]) -> Run:
    """The least and the largest value of an index term: affine, over a size, its floor, the larger or smaller of such.
    """
    match term:
        case ex.Num(value):
            number = value.numerator if value.denominator == 1 else value
            return number, number
        case ex.Size(name):
            known = size(name, sizes)
            return known, known
        case ex.Idx() if term in runs:
            return runs[term]
        case ex.Add(terms):
            parts = [interval(t, runs, sizes) for t in terms]
            return sum(p[0] for p in parts), sum(p[1] for p in parts)
        case ex.Mul((first, *rest)):
            one, other = (interval(t, runs, sizes) for t in (first, ex.mul(*rest)))
            corners = [a * b for a in one for b in other]
            return min(corners), max(corners)
        case ex.Pow(base, ex.Num(Fraction(numerator=-1, denominator=1))):
            low, high = interval(base, runs, sizes)
            if low > 0:
                return 1 / Fraction(high), 1 / Fraction(low)
        case ex.Fn("floor" | "ceil" as name, (of,)):
            low, high = interval(of, runs, sizes)
            step = math.floor if name == "floor" else math.ceil
            return step(low), step(high)
        case ex.Extremum(op, args):
            lows, highs = zip(*(interval(a, runs, sizes) for a in args), strict=True)
            return (max(lows), max(highs)) if op == "max" else (min(lows), min(highs))
    raise UnsupportedError("an output index has no range: it stands only in terms that are not affine")


def size(name: str, sizes: Mapping[str, int]) -> int:
    """The number that a size letter stands for; raises :class:`CardError` where no array tells it."""
    if name not in sizes:
        raise CardError(f"how large `{name}` is cannot be told from the arrays: state the shape that has it")
    return sizes[name]
