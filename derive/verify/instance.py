"""A layer at concrete sizes: which entries exist, which windows, which indices."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from derive.expr import Entry, Idx, In, Node, SetApp, Tuple
from derive.module import Module
from derive.numeric.point import Definitions, Index


@dataclass(frozen=True)
class Instance:
    """The module at one input shape; ``origin`` is the first index of every axis.

    ``layer`` is the module whose windows SymPy models; for one window, the layer it is of.
    """

    module: Module
    layer: Module
    shape: Index
    output_shape: Index
    origin: int = 0

    @property
    def wrt(self) -> str:
        return self.module.inputs[0]

    @cached_property
    def shapes(self) -> dict[str, Index]:
        output = self.module.output
        return {self.wrt: self.shape, f"delta_{self.wrt}": self.shape, output: self.output_shape,
                f"delta_{output}": self.output_shape}

    @cached_property
    def sizes(self) -> dict[str, int]:
        return {size: extent for s in self.module.table.symbols if s.name in self.shapes
                for size, extent in zip(s.sizes, self.shapes[s.name], strict=False) if isinstance(size, str)}

    def outputs(self) -> list[Index]:
        return list(itertools.product(*map(range, self.output_shape)))

    def window(self, at: Index) -> list[Index]:
        """Ω at an output by its definition, row by row; the whole input where the layer has no windows."""
        field = self.module.receptive_field
        if field is None:
            return list(itertools.product(*(range(self.origin, self.origin + n) for n in self.shape)))
        for k, count in zip(at, self.output_shape, strict=True):
            if not 0 <= k < count:
                raise KeyError(at)
        axes = []
        for k, axis, n in zip(at, field.axes, self.shape, strict=True):
            cells = (axis.stride * k - axis.padding + axis.dilation * a for a in range(axis.kernel_size))
            axes.append([i for i in cells if 0 <= i < n])
        return list(itertools.product(*axes))

    def has(self, tensor: str, at: Index) -> bool:
        """Whether the entry exists; tensors of one window have its extent."""
        shape = self.shapes.get(tensor) or (self.shape if at else ())
        return len(at) == len(shape) and all(self.origin <= i < self.origin + n for i, n in zip(at, shape, strict=True))

    def extent(self, tensor: str, axis: int) -> int:
        return (self.shapes.get(tensor) or self.shape)[axis]

    def letter_range(self, letter: str) -> range:
        """What an index letter runs through: the axis that it names; i' that of i, where it names none itself."""
        for name in dict.fromkeys((letter, letter.rstrip("'"))):
            for symbol in self.module.table.symbols:
                if name in symbol.axes and (symbol.name in self.shapes or self.module.receptive_field is None):
                    return range(self.origin, self.origin + self.extent(symbol.name, symbol.axes.index(name)))
        if self.module.receptive_field is None:
            return range(self.origin, self.origin + self.shape[0])
        raise KeyError(letter)

    def range_of(self, variable: Idx, nodes: Iterable[Node], definitions: Definitions) -> range:
        """What a bound variable without a written range runs through, from where it stands."""
        found: list[range] = []
        for node in nodes:
            if isinstance(node, Entry):
                for n, i in enumerate(node.indices):
                    if i is variable:
                        found.append(range(self.origin, self.origin + self.extent(node.tensor, n)))
            elif isinstance(node, SetApp) and variable in node.args:
                found.append(range(self.output_shape[node.args.index(variable)]))
            elif isinstance(node, In):
                items = node.element.items if isinstance(node.element, Tuple) else (node.element,)
                if variable in items:
                    extent = self.shape[items.index(variable)]
                    found.append(range(self.origin, self.origin + extent))
        if not found:
            return self.letter_range(variable.name)
        return min(found, key=len)


def letter_ranges(instance: Instance, variables: tuple[Idx, ...]) -> Mapping[Idx, range]:
    """The range of each free index of a statement."""
    return {v: instance.letter_range(v.name) for v in variables}
