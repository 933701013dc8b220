"""Points at which printed statements are checked: exact inputs, and what the evaluator makes of them.

Inputs are integers in steps of 4 and differences are taken with h = 1, below
every gap: the quotients of a piecewise-linear layer are exact.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from copy import copy
from functools import cached_property
from typing import Any

from derive.expr import Idx, Reduce
from derive.module import Module
from derive.numeric.evaluator import evaluate, jacobian_by_differences
from derive.numeric.point import Index, Remembering, Undefined
from derive.verify.instance import Instance, letter_ranges

LOSS = "loss"  # L = Σ δ_f f, a linear readout: ∂L/∂f = δ_f
DIRECTION = "direction"
STEP = "step"
_GRID = 4
_H = 1


def _agreed(right: Any, left: Any) -> Any:
    if right != left:
        raise Undefined
    return right


class _Sparse(dict[Index, Any]):
    """Derivatives by index; where the two one-sided quotients differ there is none."""

    kinks: frozenset[Index] = frozenset()

    def __missing__(self, key: Index) -> Any:
        if key in self.kinks:
            raise Undefined
        raise KeyError(key)


class Sample(Remembering):
    """One input of one layer, with everything a printed statement may mention.

    ``functions`` evaluate tensors that the sheet defines.
    """

    def __init__(self, module: Module, arrays: dict[str, dict[Index, Any]], shapes: dict[str, Index],
                 scalars: Mapping[str, Any], origin: int = 0) -> None:
        super().__init__()
        self.module, self.origin, self.shapes = module, origin, dict(shapes)
        self.arrays = arrays
        self.functions: Mapping[str, Callable[[Any, Index], Any]] = {}
        self.wrt = module.inputs[0]
        self._values: dict[str, Mapping[Index, Any]] = {**arrays, **evaluate(module, arrays, shapes)}
        self._values |= {name: {(): value} for name, value in scalars.items()}
        output = self._values[module.output]
        self.shapes[module.output] = tuple(max(c) + 1 for c in zip(*output, strict=True)) if () not in output else ()
        self._sides: tuple[dict[tuple[Index, Index], Any], ...] | None = None
        self._shifted: dict[tuple[Index, int], Sample] = {}
        self._scalars = dict(scalars)
        self._windows: dict[Index, list[Any]] = {}
        self._directional: dict[tuple[Any, ...], Any] = {}
        self.sizes = {size: extent for s in module.table.symbols if s.name in self.shapes
                      for size, extent in zip(s.sizes, self.shapes[s.name], strict=False) if isinstance(size, str)}

    # upstream gradient and directions, drawn once per sample

    def attach(self, source: random.Random) -> Sample:
        """Draw δ_f and a direction v, and compute δ_x as the slope of L = Σ δ_f f."""
        output, wrt = self.module.output, self.wrt
        delta = {at: source.choice((-3, -2, -1, 1, 2, 3, 5, 7)) for at in self._values[output]}
        self._values[f"delta_{output}"] = delta
        self.shapes[f"delta_{output}"] = self.shapes[output]
        self.shapes[f"delta_{wrt}"] = self.shapes[wrt]
        self._values[DIRECTION] = {at: source.randint(-9, 9) for at in self.arrays[wrt]}
        self.shapes[DIRECTION] = self.shapes[wrt]
        return self

    def with_functions(self, functions: Mapping[str, Callable[[Any, Index], Any]]) -> Sample:
        """The same point, where the sheet defines these tensors; what was computed is shared."""
        twin = copy(self)
        twin.functions, twin._shifted = functions, {}
        return twin

    def with_upstream(self, delta: Mapping[Index, Any]) -> Sample:
        """The sample with a given upstream gradient."""
        self.attach(random.Random(0))
        self._values[f"delta_{self.module.output}"] = delta
        return self

    def put(self, name: str, values: Mapping[Index, Any]) -> None:
        """Add a tensor over the input's indices that the sheet defines."""
        self._values[name] = values
        self.shapes[name] = self.shapes[self.wrt]

    def _message(self) -> Mapping[Index, Any]:
        delta = self._values[f"delta_{self.module.output}"]
        slopes = []
        for side in self.sides():
            slope = dict.fromkeys(self.arrays[self.wrt], 0)
            for (out, cell), value in side.items():
                slope[cell] += delta[out] * value
            slopes.append(slope)
        found = _Sparse({cell: v for cell, v in slopes[0].items() if v == slopes[1][cell]})
        found.kinks = frozenset(cell for cell, v in slopes[0].items() if v != slopes[1][cell])
        return found

    def sides(self) -> tuple[dict[tuple[Index, Index], Any], ...]:
        """One-sided quotients of the output, right and left."""
        if self._sides is None:
            self._sides = jacobian_by_differences(self.module, self.arrays, self._input_shapes(), self.wrt, _H)
        return self._sides

    def _input_shapes(self) -> dict[str, Index]:
        return {name: self.shapes[name] for name in self.arrays}

    @property
    def smooth(self) -> bool:
        """The output has a derivative with respect to every entry."""
        right, left = self.sides()
        return right == left

    def misses(self, at: Mapping[Idx, int]) -> bool:
        """The output whose indices are among these letters has a window without entries: no maximiser."""
        entry, _ = self.module.definition(self.module.output)
        if not entry.indices or not all(isinstance(i, Idx) and i in at for i in entry.indices):
            return False
        return not self.window(tuple(at[i] for i in entry.indices if isinstance(i, Idx)))

    # what statements look up

    def extent(self, tensor: str, axis: int) -> int:
        return self.shapes[tensor][axis]

    def inside(self, at: Index) -> int:
        """0 where tensors like the input have such an entry; KeyError where they do not."""
        if at not in self.arrays[self.wrt]:
            raise KeyError(at)
        return 0

    def tensor(self, name: str) -> Mapping[Index, Any]:
        if name not in self._values and name == f"delta_{self.wrt}":
            self._values[name] = self._message()
        return self._values[name]

    @cached_property
    def instance(self) -> Instance:
        """The sizes alone."""
        return Instance(self.module, self.module, self.shapes[self.wrt], self.shapes[self.module.output], self.origin)

    def window(self, at: Index) -> list[Index]:
        return self.instance.window(at)

    def letter_ranges(self, variables: tuple[Idx, ...]) -> Mapping[Idx, range]:
        return letter_ranges(self.instance, variables)

    def describe(self) -> str:
        """x = [[1, 2], [3, 4]], as a reader would write it down."""
        return f"{self.wrt} = {nested(self.arrays[self.wrt])}"

    def outputs(self, set_name: str) -> Index:
        return self.shapes[self.module.output]

    def elements(self, set_name: str, at: Index) -> list[Any]:
        """Ω(k, l); an index alone where there is one axis."""
        if at not in self._windows:
            cells = self.window(at)
            self._windows[at] = [c[0] for c in cells] if len(self.shapes[self.wrt]) == 1 else cells
        return self._windows[at]

    def partial(self, of: str, at: Index, wrt: str, by: Index) -> Any:
        """∂of_at/∂wrt_by; :class:`Undefined` at a kink."""
        if of == LOSS:
            return self.tensor(f"delta_{wrt}")[by]
        if of == wrt:  # an entry moves with itself alone
            if at not in self.arrays[wrt] or by not in self.arrays[wrt]:
                raise KeyError((at, by))
            return int(at == by)
        if of == self.module.output and wrt == self.wrt:
            if at not in self._values[of] or by not in self.arrays[wrt]:
                raise KeyError((at, by))
            found = self._derivatives.get((at, by), 0)
            if found is Undefined:
                raise Undefined
            return found
        return self.slope(lambda point: point.value(of, at), wrt, by)

    @cached_property
    def _derivatives(self) -> dict[tuple[Index, Index], Any]:
        """∂f/∂x where either one-sided quotient is not 0; :class:`Undefined` where the two differ."""
        right, left = self.sides()
        return {key: right[key] if right.get(key, 0) == left.get(key, 0) else Undefined for key in {**right, **left}}

    def slope(self, value: Callable[[Any], Any], wrt: str, by: Index) -> Any:
        """∂value/∂wrt_by of a function of the point, from both one-sided quotients."""
        base = value(self)
        return _agreed(*((value(self.shifted(by, h)) - base) * h for h in (_H, -_H)))

    def value(self, name: str, at: Index) -> Any:
        return self.functions[name](self, at) if name in self.functions else self.tensor(name)[at]

    def shifted(self, cell: Index, h: int) -> Sample:
        """The sample at x + h e_cell."""
        if (cell, h) not in self._shifted:
            moved = {**self.arrays[self.wrt], cell: self.arrays[self.wrt][cell] + h}
            arrays = {**self.arrays, self.wrt: moved}
            self._shifted[cell, h] = Sample(self.module, arrays, self._input_shapes(), self._scalars, self.origin)
            self._shifted[cell, h].functions = self.functions
        return self._shifted[cell, h]

    def directional(self, of: str, wrt: str, along: str) -> Any:
        """f'(x; v) for a scalar output, from the one-sided quotient along v."""
        return self._slope(self._values[along])

    def _slope(self, v: Mapping[Index, Any]) -> Any:
        key = tuple(v.values())
        if key not in self._directional:
            self._directional[key] = self._scaled(v) - self._scaled_output
        return self._directional[key]

    @cached_property
    def _scaled_output(self) -> Any:
        return self._scaled({})

    def _scaled(self, v: Mapping[Index, Any]) -> Any:
        """f(16 x + v): entries move by up to 9, and at this scale no order changes."""
        moved = {at: value * 16 + v.get(at, 0) for at, value in self.arrays[self.wrt].items()}
        return evaluate(self.module, {self.wrt: moved}, self._input_shapes())[self.module.output][()]

    def supports(self, of: str, active: frozenset[int]) -> bool:
        """conv{e_q : q ∈ active} is ∂f: its width along each v is what f' shows in both senses.

        For a convex f, f'(x; v) is the largest and −f'(x; −v) the smallest ⟨g, v⟩
        over subgradients g; for a concave one the other way round.
        """
        source = random.Random(len(active))
        for _ in range(3):
            v = {at: source.randint(-9, 9) for at in self.arrays[self.wrt]}
            seen = sorted((self._slope(v), -self._slope({at: -e for at, e in v.items()})))
            spread = [v[(q,)] for q in active]
            if seen != [min(spread), max(spread)]:
                return False
        return True


def nested(tensor: Mapping[Index, Any]) -> Any:
    """A tensor as nested lists."""
    if () in tensor:
        return tensor[()]
    firsts = sorted({at[0] for at in tensor})
    return [nested({at[1:]: v for at, v in tensor.items() if at[0] == first}) for first in firsts]


def layer_sample(module: Module, shape: Index, source: random.Random, distinct: bool) -> Sample:
    """A random input of the layer; ``distinct`` entries, or many equal ones."""
    cells = list(itertools.product(*map(range, shape)))
    if distinct:
        values = source.sample(range(-len(cells), len(cells) + 1), len(cells))
    else:
        values = [source.randint(-3, 9) for _ in cells]
    arrays = {module.inputs[0]: {cell: _GRID * v for cell, v in zip(cells, values, strict=True)}}
    return Sample(module, arrays, {module.inputs[0]: shape}, {LOSS: 0}).attach(source)


def window_sample(module: Module, n: int, active: tuple[int, ...], source: random.Random,
                  second: int = 0) -> Sample:
    """A window whose best value is attained exactly at ``active`` (from 1), and the next best at ``second``."""
    _, value = module.definition(module.output)
    sign = 1 if isinstance(value, Reduce) and value.op == "max" else -1
    top = source.randint(-2, 5)
    losses = {q: 0 if q in active else 1 if q == second else source.randint(2, 6) for q in range(1, n + 1)}
    values: dict[Index, Any] = {(q,): _GRID * sign * (top - loss) for q, loss in losses.items()}
    wrt = module.inputs[0]
    scalars = {LOSS: 0, STEP: source.choice((-24, -4, -3, -2, -1, 1, 2, 4, 8, 24, 0))}
    return Sample(module, {wrt: values}, {wrt: (n,)}, scalars, origin=1).attach(source)


def tie_patterns(n: int, source: random.Random) -> list[tuple[int, ...]]:
    """Every set of two or more tied positions up to nine entries; above, one per number of ties, by symmetry."""
    positions = range(1, n + 1)
    if n <= 9:
        return [p for size in range(2, n + 1) for p in itertools.combinations(positions, size)]
    return [tuple(sorted(source.sample(positions, size))) for size in range(2, n + 1)]
