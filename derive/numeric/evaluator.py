"""The forward formula by plain Python loops, over any number type: the reference for all else.

The formula is written out as Python source (``max(x[i, j] for i in … for j in …)``)
and run on dictionaries index → number.  Windows follow their definition
i = s k − p + d a, 0 ≤ a < K, 0 ≤ i < n, and are deliberately not shared with
:mod:`derive.receptive_field`: what checks must not lean on what is checked.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from operator import eq
from typing import Any

from derive.axes import Slot, with_axes
from derive.errors import CardError, UnsupportedError
from derive.expr import Entry, Rel, walk
from derive.module import Module
from derive.numeric.arithmetic import Arithmetic, arithmetic
from derive.numeric.shapes import Extents, extents
from derive.numeric.source import Places, equation_source, window_places, windows_of
from derive.numeric.statements import made, names
from derive.receptive_field import AdaptiveAxis, Axis, WindowAxis

Index = tuple[int, ...]
Values = dict[Index, Any]


NOTHING = math.nan  # the value of a formula that has none over a window without entries


class OutOfRange(CardError):
    """The formula reads an entry that a tensor of this shape does not have."""


class _Recording(dict[Index, Any]):
    """A tensor that notes which of its entries are read."""

    name: str
    read: set[tuple[str, Index]]

    def __getitem__(self, index: Index) -> Any:
        self.read.add((self.name, index))
        return super().__getitem__(index)


def cells(w: Axis, k: int, n: int) -> list[int]:
    """The cells of window k by definition, in padding or not."""
    if isinstance(w, AdaptiveAxis):
        return [i for i in range(n) if k * n < (i + 1) * w.outputs and i * w.outputs < (k + 1) * n]
    return [w.stride * k - w.padding + w.dilation * a for a in range(w.kernel_size)]


@lru_cache(maxsize=4096)
def inside(w: Axis, k: int, n: int) -> tuple[int, ...]:
    """Those of them that the input has."""
    return tuple(i for i in cells(w, k, n) if 0 <= i < n)


@dataclass
class _Run:
    """What the generated source sees: the tensors so far, their extents, the windows."""

    module: Module
    places: Places
    shapes: dict[str, Index]
    tensors: dict[str, Values]
    axes: dict[str, tuple[Axis, ...]] = field(init=False)
    spans: dict[tuple[Slot, ...], range] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.module = with_axes(self.module)
        self.axes = {name: f.axes for name, f in self.module.fields}

    @cached_property
    def reach(self) -> Extents:
        return _extents(self.module, tuple(self.shapes.items()))

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.reach.sizes

    def elements(self, name: str, at: Index) -> list[Any]:
        """Ω(k, l); an index alone where there is one axis."""
        cells = [self.window(name, axis, k) for axis, k in enumerate(at)]
        return list(cells[0] if len(cells) == 1 else itertools.product(*cells))

    def span(self, slots: tuple[Slot, ...]) -> range:
        """Where every one of these axes has coordinates."""
        if slots not in self.spans:
            starts = [(self.reach.axes.origin(*slot), self.shapes[slot[0]][slot[1]]) for slot in slots]
            self.spans[slots] = range(max(start for start, _ in starts), min(start + n for start, n in starts))
        return self.spans[slots]

    def outputs(self, name: str) -> list[int]:
        """How many windows a set has along each axis."""
        return [self.windows(name, axis) for axis in range(len(self.axes[name]))]

    def window(self, name: str, axis: int, k: int) -> tuple[int, ...]:
        """{s k − p + d a : 0 ≤ a < K} ∩ [0, n); adaptive: the cells that meet the k-th of m equal parts of [0, n)."""
        return inside(self.axes[name][axis], k, self._extent(name, axis))

    def _extent(self, name: str, axis: int) -> int:
        tensor, d = self.places[name, axis]
        return self.shapes[tensor][d]

    def windows(self, name: str, axis: int) -> int:
        """How many windows lie within the padded input: s k − p + d (K − 1) < n + p'.

        With ``ceil_mode`` as many as it takes to reach its end, without the last if that starts behind the input.
        """
        w, n = self.axes[name][axis], self._extent(name, axis)
        if not isinstance(w, WindowAxis):
            return w.output_size(n)
        count, end = 0, n + w.padding_after
        last = w.dilation * (w.kernel_size - 1) - w.padding  # the last cell of window 0
        if not w.ceil_mode:
            while last + w.stride * count < end:
                count += 1
            return count
        while last + w.stride * (count - 1) + 1 < end:
            count += 1
        return count - 1 if count and w.stride * (count - 1) - w.padding >= n else count


def undefined() -> Any:
    """No case applies."""
    raise CardError("no branch of `cases` holds at this point")


def median(values: Iterable[Any]) -> Any:
    """The middle one of an odd number of values."""
    ordered = sorted(values)
    if len(ordered) % 2 == 0:
        raise CardError(f"a median of {len(ordered)} entries: it is one of them only where their number is odd")
    return ordered[len(ordered) // 2]


_coded = lru_cache(maxsize=256)(equation_source)  # the same for every arithmetic
_extents = lru_cache(maxsize=256)(lambda module, shapes: extents(module, dict(shapes)))


@lru_cache(maxsize=256)
def _compiled(equation: Rel, module: Module, kind: Arithmetic) -> Callable[[_Run], Callable[[Index], Any]]:
    known = {**names(kind, eq), "undefined": undefined, "median": median}
    known |= {op: kind.functions[op] for op in ("max", "min") if op in kind.functions}
    entry: Callable[[_Run], Callable[[Index], Any]] = made("entry", *_coded(equation, module), known, kind)
    return entry


def _steps(run: _Run, kind: Arithmetic | None = None) -> Iterator[tuple[str, list[Index], Callable[[Index], Any]]]:
    """(tensor defined, its indices, its entry function) for each equation in order; a given tensor stays as it is."""
    kind = kind or arithmetic(next((v for t in run.tensors.values() for v in t.values()), 0))
    given = set(run.tensors)
    for equation in run.module.equations:
        entry = equation.terms[0]
        if not isinstance(entry, Entry):
            raise UnsupportedError("a forward equation must define one tensor entry")
        if entry.tensor in given:
            continue
        function = _compiled(equation, run.module, kind)(run)
        run.shapes[entry.tensor] = shape = run.reach.shapes[entry.tensor]
        ranges = (run.span(((entry.tensor, d),)) for d in range(len(shape)))
        yield entry.tensor, list(itertools.product(*ranges)), function


def _prepare(module: Module, arrays: Mapping[str, Mapping[Index, Any]], shapes: Mapping[str, Index]) -> _Run:
    return _Run(module, window_places(module.equations), dict(shapes), {n: dict(a) for n, a in arrays.items()})


def evaluate(module: Module, arrays: Mapping[str, Mapping[Index, Any]],
             shapes: Mapping[str, Index], kind: Arithmetic | None = None,
             each: Callable[[Callable[[], Any]], Any] | None = None) -> dict[str, Values]:
    """y = F(x) entry by entry: every tensor that the equations define.

    ``arrays`` holds, for each input, index → number (int, Fraction, float or Decimal, or
    what ``kind`` calculates with), indices as the formula counts them, from 0 or
    from 1; ``shapes`` their shapes.  A tensor that ``arrays`` holds is free, also where an
    equation defines it.  ``each`` is given how an entry is computed, and says what it is.
    An output over a window without entries is :data:`NOTHING` where the formula has no value there.
    Raises :class:`CardError` where no case applies and :class:`UnsupportedError` for
    a node that is not forward mathematics, :class:`OutOfRange` where an index leaves its tensor.
    """
    run = _prepare(module, arrays, shapes)
    defined: dict[str, Values] = {}
    for name, indices, entry in _steps(run, kind):
        run.tensors[name] = defined[name] = values = {}
        try:
            for index in indices:
                values[index] = (_value(entry, index, name, run) if each is None else
                                 each(partial(_value, entry, index, name, run)))
        except KeyError as missing:
            raise _out_of_range(name, missing.args[0], run) from None
    return defined


def _value(entry: Callable[[Index], Any], index: Index, name: str, run: _Run) -> Any:
    """The entry; :data:`NOTHING` where an output's window has no entries and the formula then no value."""
    try:
        return entry(index)
    except (ArithmeticError, ValueError):
        equation = next(e for e in run.module.equations if isinstance(e.terms[0], Entry) and e.terms[0].tensor == name)
        windows = windows_of(equation, run.module) if name == run.module.output else None
        if windows and not all(run.window(windows[0], d, index[place]) for d, place in enumerate(windows[1])):
            return NOTHING
        raise


def _out_of_range(name: str, index: Any, run: _Run) -> Exception:
    """What to say of a look-up that failed while ``name`` was computed."""
    _, value = run.module.definition(name)
    for node in walk(value):
        if isinstance(node, Entry) and isinstance(index, tuple) and len(node.indices) == len(index):
            tensor = run.tensors.get(node.tensor, {})
            if tensor and index not in tensor:
                at, last = (", ".join(map(str, i)) for i in (index, max(tensor)))
                return OutOfRange(f"the formula of `{name}` reads `{node.tensor}` at {at}, but the indices of"
                                  f" `{node.tensor}` end at {last}: change the range or the shape")
    return KeyError(index)


def windows(module: Module, shapes: Mapping[str, Index], name: str) -> tuple[list[list[tuple[int, ...]]], Index]:
    """For each axis of a window set, the elements of every window, and how many there are."""
    run = _Run(module, window_places(module.equations), dict(shapes), {})
    counts = tuple(run.windows(name, axis) for axis in range(len(run.axes[name])))
    return [[run.window(name, axis, k) for k in range(count)] for axis, count in enumerate(counts)], counts


@dataclass
class _Traced:
    """A forward pass that knows which entries each output entry was computed from."""

    run: _Run
    output: str
    base: Values
    # input entry -> the (tensor, index, entry function) to compute again, in order
    users: dict[tuple[str, Index], list[tuple[str, Index, Callable[[Index], Any]]]]

    def moved(self, changes: Mapping[Index, Any], wrt: str) -> dict[Index, Any]:
        """The output entries that may change when entries of ``wrt`` take new values."""
        tensors, saved = self.run.tensors, []
        again = dict.fromkeys(u for cell in changes for u in self.users.get((wrt, cell), ()))
        if len(changes) > 1:  # users of several cells: back into the order of evaluation
            again = dict.fromkeys(sorted(again, key=lambda u: list(tensors).index(u[0])))
        for cell, value in changes.items():
            saved.append((wrt, cell, tensors[wrt][cell]))
            tensors[wrt][cell] = value
        for name, index, entry in again:
            saved.append((name, index, tensors[name][index]))
            tensors[name][index] = entry(index)
        result = {i: tensors[n][i] for n, i, _ in again if n == self.output}
        for name, index, old in reversed(saved):
            tensors[name][index] = old
        return result


def _trace(module: Module, arrays: Mapping[str, Mapping[Index, Any]], shapes: Mapping[str, Index]) -> _Traced:
    run = _prepare(module, arrays, shapes)
    read: set[tuple[str, Index]] = set()

    def recording(name: str, values: Mapping[Index, Any]) -> _Recording:
        tensor = _Recording(values)
        tensor.name, tensor.read = name, read
        return tensor

    run.tensors = {n: recording(n, t) for n, t in run.tensors.items()}
    needs: dict[tuple[str, Index], set[tuple[str, Index]]] = {}
    users: dict[tuple[str, Index], list[tuple[str, Index, Callable[[Index], Any]]]] = {}
    for name, indices, entry in _steps(run):
        run.tensors[name] = recording(name, {})
        for index in indices:
            read.clear()
            run.tensors[name][index] = entry(index)
            needs[name, index] = set().union(*(needs.get(cell, {cell}) for cell in read))
            for cell in needs[name, index]:
                users.setdefault(cell, []).append((name, index, entry))
    run.tensors = {n: dict(t) for n, t in run.tensors.items()}
    return _Traced(run, module.output, dict(run.tensors[module.output]), users)


def jacobian_by_differences(module: Module, arrays: Mapping[str, Mapping[Index, Any]], shapes: Mapping[str, Index],
                            wrt: str, step: Any) -> tuple[dict[tuple[Index, Index], Any], ...]:
    """(right, left) one-sided quotients (output index, input index) → value, zeros left out.

    Exact for a piecewise-linear formula in exact arithmetic when ``step`` is below
    every gap between the values compared.
    """
    traced, kind = _trace(module, arrays, shapes), arithmetic(step)
    sides: tuple[dict[tuple[Index, Index], Any], ...] = ({}, {})
    for cell, value in arrays[wrt].items():
        for side, h in zip(sides, (step, -step), strict=True):
            for out, new in traced.moved({cell: value + h}, wrt).items():
                change = new - traced.base[out]
                if change != 0:
                    side[out, cell] = kind.quotient(change, h)
    return sides
