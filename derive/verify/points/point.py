"""A layer at concrete numbers: every tensor, every derivative, every message, from the forward formula alone."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

from derive.axes import axes
from derive.errors import UnsupportedError
from derive.expr import Entry, eq
from derive.module import Module
from derive.numeric.arithmetic import Arithmetic
from derive.numeric.dual import Dual, OneSided, dual, one_sided, slopes_of
from derive.numeric.evaluator import evaluate, windows
from derive.numeric.point import Index, Remembering, Undefined

Values = Mapping[Index, Any]
Slots = tuple[tuple[str, int], ...]
LOSS = "loss"


class Point(Remembering):
    """Values of the given tensors, an upstream gradient, and what the evaluator makes of them.

    L = Σ_k δ_k y_k, so that δ_t = ∂L/∂t for every tensor t.  ∂s/∂t is the total derivative with
    t, given or defined, as a free tensor: dual numbers in its place, all that follows computed anew.
    ``free`` holds scalars that stand for the arguments of the card's functions.
    """

    def __init__(self, module: Module, kind: Arithmetic, given: Mapping[str, Values],
                 shapes: Mapping[str, Index] | None = None, free: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__()
        self.module, self.kind, self.given = module, dual(kind), given
        self.free = free
        self._input_shapes = {n: shape_of(values) if shapes is None else shapes[n] for n, values in given.items()}
        self.values: dict[str, Values] = {**given, **evaluate(module, given, self._input_shapes, self.kind)}
        self.values |= {name: {(): value} for name, value in free.items()}
        self.shapes: dict[str, Index] = {name: shape_of(values) for name, values in self.values.items()}
        self._slopes: dict[str, Mapping[str, Values] | None] = {}
        self._twins: dict[str, Point] = {}
        self._spans: dict[Slots, range] = {}
        self._sets: dict[str, tuple[Mapping[Index, list[Any]], Index]] = {}

    def with_upstream(self, delta: Values) -> Point:
        """The point with δ of the output."""
        self.values[f"delta_{self.module.output}"] = delta
        return self

    # extents

    @cached_property
    def sizes(self) -> dict[str, int]:
        found = {size: n for s in self.module.table.symbols if s.name in self.shapes
                 for size, n in zip(s.sizes, self.shapes[s.name], strict=False) if isinstance(size, str)}
        return found | {step: n for step, n in self.module.steps if n is not None}

    def run(self, tensor: str, axis: int) -> range:
        """The coordinates of an axis; of a tensor that the sheet defines, of the layer's axis with the same letter."""
        known = tensor if tensor in self.shapes else tensor.removeprefix("delta_")
        if known not in self.shapes:
            known, axis = self._like(tensor, axis)
        if known not in self.shapes or axis >= len(self.shapes[known]):
            raise UnsupportedError(f"nothing tells the range of axis {axis + 1} of `{tensor}`")
        start = axes(self.module).origin(known, axis)
        return range(start, start + self.shapes[known][axis])

    def _like(self, tensor: str, axis: int) -> tuple[str, int]:
        symbol = self.module.table.named(tensor)
        letter = symbol.axes[axis] if symbol is not None and axis < len(symbol.axes) else None
        return next(((s.name, s.axes.index(letter)) for s in self.module.table.symbols
                     if s.name in self.shapes and letter in s.axes), (tensor, axis))

    def span(self, slots: Slots) -> range:
        """Where every one of these axes has coordinates."""
        if slots not in self._spans:
            runs = list(itertools.starmap(self.run, slots))
            self._spans[slots] = range(max(r.start for r in runs), min(r.stop for r in runs))
        return self._spans[slots]

    def outputs(self, set_name: str) -> Index:
        """How many windows a set has along each axis."""
        return self._windows_of(set_name)[1]

    def elements(self, set_name: str, at: Index) -> list[Any]:
        """Ω(k, l); an index alone where there is one axis."""
        cells = self._windows_of(set_name)[0]
        if at not in cells:
            raise KeyError(at)
        return cells[at]

    def _windows_of(self, set_name: str) -> tuple[Mapping[Index, list[Any]], Index]:
        if set_name not in self._sets:
            self._sets[set_name] = _windows(self.module, tuple(self.shapes.items()), set_name)
        return self._sets[set_name]

    # values

    def inside(self, at: Index) -> int:
        """0 where a tensor like the input, or like output and input, defined by the sheet, has such an entry.

        KeyError where it does not.
        """
        output = self.values[self.module.output]
        if not any(at[-rank:] in values and (len(at) == rank or at[:-rank] in output) for values, rank in self._alike):
            raise KeyError(at)
        return 0

    @cached_property
    def _alike(self) -> list[tuple[Values, int]]:
        """The inputs, and how many indices each has."""
        return [(values, len(next(iter(values)))) for name in self.module.inputs if (values := self.given[name])]

    def put(self, name: str, values: Values) -> None:
        """Add a tensor that the sheet names."""
        self.values[name], self.shapes[name] = values, shape_of(values)

    def tensor(self, name: str) -> Values:
        if name not in self.values:
            wrt = name.removeprefix("delta_")
            if wrt == name or wrt not in self.values:
                raise UnsupportedError(f"nothing tells the value of `{name}`")
            self.values[name] = self._message(wrt)
        return self.values[name]

    def whole(self, name: str) -> Any:
        """A vector as one row, a matrix as its rows."""
        values = self.tensor(name)
        first = next(iter(values))
        if len(first) == 1:
            return (tuple(values[at] for at in sorted(values)),)
        if len(first) != 2:
            raise UnsupportedError(f"`{name}` is no vector and no matrix")
        rows = itertools.groupby(sorted(values), lambda at: at[0])
        return tuple(tuple(values[at] for at in row) for _, row in rows)

    # derivatives

    def moving(self, wrt: str) -> Mapping[str, Values]:
        """Every tensor as dual numbers in the entries of ``wrt``; :class:`Undefined` where there is no derivative."""
        if wrt not in self._slopes:
            try:
                self._slopes[wrt] = self._moved(wrt)
            except (Undefined, ArithmeticError, ValueError):
                self._slopes[wrt] = None
        found = self._slopes[wrt]
        if found is None:
            raise Undefined
        return found

    def _moved(self, wrt: str) -> Mapping[str, Values]:
        if wrt not in self.values or wrt.startswith("delta_"):
            raise UnsupportedError(f"nothing tells how the layer depends on `{wrt}`")
        one = self.kind.number(1)
        seeded = {at: Dual(value, {at: one}) for at, value in self.values[wrt].items()}
        if wrt in self.free:
            return {**self.values, wrt: seeded}
        shapes = {**self._input_shapes, wrt: self.shapes[wrt]}
        return {**self.given, wrt: seeded, **evaluate(self.module, {**self.given, wrt: seeded}, shapes, self.kind)}

    def partial(self, of: str, at: Index, wrt: str, by: Index) -> Any:
        """∂of_at/∂wrt_by; :class:`Undefined` at a kink, KeyError where there is no such entry."""
        if of == LOSS:
            return self.tensor(f"delta_{wrt}")[by]
        values = self.values
        if by not in (values[wrt] if wrt in values else self.tensor(wrt)) or (
                at not in (values[of] if of in values else self.tensor(of))):
            raise KeyError((at, by))
        if of == wrt:
            return int(at == by)
        moved = self._slopes.get(wrt) or self.moving(wrt)
        return slopes_of(moved[of][at]).get(by, 0) if of in moved else 0

    def slope(self, value: Callable[[Any], Any], wrt: str, by: Index) -> Any:
        """∂value/∂wrt_by of an expression."""
        if by not in self.tensor(wrt):
            raise KeyError(by)
        return slopes_of(value(self.twin(wrt, self.moving))).get(by, 0)

    def twin(self, wrt: str, values: Callable[[str], Mapping[str, Values]]) -> Point:
        """The point at which an expression tells how it depends on ``wrt``."""
        if wrt not in self._twins:
            twin = copy(self)
            twin.values, twin._kept = dict(values(wrt)), {}
            twin._message = _no_second_order  # type: ignore[method-assign]
            self._twins[wrt] = twin
        return self._twins[wrt]

    def slope_of(self, function: str, args: tuple[Any, ...], order: int) -> Any:
        """f'(u) of a function of one argument."""
        if order != 1 or len(args) != 1:
            raise UnsupportedError("only a first derivative of a function of one argument is evaluated")
        own = self.module.function(function)
        moving = Dual(args[0], {0: self.kind.number(1)})
        if own is None:
            return slopes_of(self.kind.functions[function](moving)).get(0, 0)
        parameter, = own.parameters
        one = replace(self.module, equations=(eq(Entry("value", ()), own.body),), output="value")
        found = evaluate(one, {**self.values, parameter: {(): moving}}, {**self.shapes, parameter: ()}, self.kind)
        return slopes_of(found["value"][()]).get(0, 0)

    def directional(self, of: str, wrt: str, along: str) -> Any:
        """f'(x; v) for a scalar output: one-sided, exact at ties."""
        return self._slope_along(of, wrt, self.tensor(along))

    def _slope_along(self, of: str, wrt: str, v: Values) -> Any:
        key = ("along", of, wrt, tuple(v.values()))
        return self.remember(key, lambda: self._one_sided(of, wrt, v))

    def _one_sided(self, of: str, wrt: str, v: Values) -> Any:
        moving = {name: {at: OneSided(n, v[at] if name == wrt else 0) for at, n in tensor.items()}
                  for name, tensor in self.given.items()}
        return one_sided(evaluate(self.module, moving, self._input_shapes)[of][()]).derivative()

    def supports(self, of: str, active: frozenset[int]) -> bool:
        """conv{e_q : q ∈ active} is ∂f: its width along each v is what f' shows in both senses.

        For a convex f, f'(x; v) is the largest and −f'(x; −v) the smallest ⟨g, v⟩
        over subgradients g; for a concave one the other way round.
        """
        (wrt,), source = self.module.inputs, random.Random(len(active))
        for _ in range(3):
            v = {at: source.randint(-9, 9) for at in self.given[wrt]}
            back = {at: -e for at, e in v.items()}
            seen = sorted((self._slope_along(of, wrt, v), -self._slope_along(of, wrt, back)))
            spread = [v[(q,)] for q in active]
            if seen != [min(spread), max(spread)]:
                return False
        return True

    def _message(self, wrt: str) -> Values:
        """δ_wrt = Σ_k δ_{y,k} ∂y_k/∂wrt."""
        delta, moved = self.values[f"delta_{self.module.output}"], self.moving(wrt)
        found: dict[Any, Any] = dict.fromkeys(self.values[wrt], 0)
        for out, value in moved[self.module.output].items():
            for at, slope in slopes_of(value).items():
                found[at] += delta[out] * slope
        return found

    def describe(self) -> str:
        """x = [1, 2], a = 3: what was given, as a reader would write it down."""
        letters = [*self.given, *self.free, f"delta_{self.module.output}"]
        return ", ".join(f"{_written(self.module, n)} = {nested(self.values[n])}" for n in letters if n in self.values)


@lru_cache(maxsize=64)
def _windows(module: Module, shapes: tuple[tuple[str, Index], ...], name: str) -> tuple[dict[Index, list[Any]], Index]:
    """Every Ω(k, l) of a set at these shapes, and how many there are along each axis."""
    axes_, count = windows(module, dict(shapes), name)
    cells = {at: list(itertools.product(*(axis[k] for axis, k in zip(axes_, at, strict=True))))
             for at in itertools.product(*map(range, count))}
    return {at: [c[0] for c in found] if len(count) == 1 else found for at, found in cells.items()}, count


def _no_second_order(wrt: str) -> Values:
    raise UnsupportedError("the derivative of a message is not evaluated")


def shape_of(values: Values) -> Index:
    """How many coordinates there are along each axis."""
    return tuple(max(c) - min(c) + 1 for c in zip(*values, strict=True))


def _written(module: Module, name: str) -> str:
    base = name.removeprefix("delta_")
    return f"delta_{base}" if base != name else name


def nested(tensor: Values) -> str:
    """A tensor as nested lists."""
    if () in tensor:
        return str(tensor[()])
    firsts = sorted({at[0] for at in tensor})
    return "[" + ", ".join(nested({at[1:]: v for at, v in tensor.items() if at[0] == first}) for first in firsts) + "]"
