"""Where statements are checked: letters, points and instances of the layer, of one window, of the example."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from derive.errors import UnsupportedError
from derive.expr import Arg, Entry, Expr, Idx, Matrix, Node, Rel, SetApp, SetOf, Star, Tuple
from derive.module import Module
from derive.notation.symbols import SymbolTable
from derive.numeric.point import Definitions, Index
from derive.numeric.statements import compile_value
from derive.receptive_field import Axis, ReceptiveField, receptive_field
from derive.verify.instance import Instance
from derive.verify.proof import Prover
from derive.verify.samples import Sample, layer_sample, tie_patterns, window_sample

PROVABLE = 16  # entries of a window up to which Z3 is asked


Samples = Callable[[], "tuple[Sample, ...]"]


def none() -> tuple[Sample, ...]:
    """No points."""
    return ()


@dataclass(frozen=True)
class Scope:
    """The letters of a part of the sheet; its points, those of other geometries, tied ones; provers; definitions.

    Points are made when they are first asked for.  ``key`` tells what a verdict
    depends on besides the statement itself.
    """

    table: SymbolTable
    own: Samples = none
    other: Samples = none
    tie: Samples = none
    provers: tuple[Prover, ...] = ()
    definitions: Definitions = field(default_factory=lambda: Definitions({}, {}, {}))
    place: str = ""
    key: Hashable = None

    @cached_property
    def ranks(self) -> dict[str, int]:
        return {s.name: len(s.axes) for s in self.table.symbols}

    @cached_property
    def points(self) -> tuple[Sample, ...]:
        return self._with_functions(self.own())

    @cached_property
    def others(self) -> tuple[Sample, ...]:
        return self._with_functions(self.other())

    @cached_property
    def tied(self) -> tuple[Sample, ...]:
        return self._with_functions(self.tie())

    def _with_functions(self, samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
        """The points with the functions of the tensors that the sheet defines."""
        functions: dict[str, Callable[[Any, Index], Any]] = {}
        for name, (params, value) in self.definitions.tensors.items():
            with suppress(UnsupportedError):  # what has no value is refuted where it is used
                functions[name] = compile_value(params, value, self.definitions, self.ranks)
        return tuple(sample.with_functions(functions) for sample in samples)


def shapes_of(field_: ReceptiveField, known: Index | None) -> tuple[Index, Index]:
    """Two input shapes with two windows or more a side, sides different.

    Along each axis one of them leaves a rest that fills no window, the other none.
    Where the card states the size, both leave the same rest as that size.
    """
    first: list[int] = []
    second: list[int] = []
    for place, axis in enumerate(field_.axes):
        n = max(2, axis.kernel_size - 2 * axis.padding)
        while axis.output_size(n) < 2:
            n += 1
        if known is not None:
            n += (known[place] - n) % axis.stride
            pair = (n, n + axis.stride) if place % 2 == 0 else (n + axis.stride, n)
        else:
            rest = _with_rest(axis, n + 1)
            pair = (n, rest) if place % 2 == 0 else (rest, n + (1 if rest == n + axis.stride else axis.stride))
        first.append(pair[0])
        second.append(pair[1])
    return tuple(first), tuple(second)


def _with_rest(axis: Axis, n: int) -> int:
    """The next size with a coordinate where a window would be, were the input longer; ``n`` if there is none."""
    for size in range(n, n + axis.stride + axis.kernel_size):
        for i in range(size):
            if not axis.covering(i, size) and (i + axis.padding) % axis.stride < axis.kernel_size:
                return size
    return n


def companions(rank: int) -> tuple[ReceptiveField, ...]:
    """Geometries in which general statements are checked besides the card's: tile, overlap, padded and uneven."""
    def sized(k: int, s: int, p: int) -> ReceptiveField:
        return receptive_field((k,) * rank, (s,) * rank, (p,) * rank)

    uneven = receptive_field(tuple(2 + n % 2 for n in range(rank)), tuple(2 - n % 2 for n in range(rank)),
                             tuple(1 - n % 2 for n in range(rank)))
    return sized(2, 2, 0), sized(2, 1, 0), uneven


@cache
def layer_points(module: Module) -> tuple[Sample, ...]:
    """24 inputs at two sizes: distinct entries, and now and then entries with ties among them."""
    field_ = module.receptive_field
    assert field_ is not None
    source = random.Random(7)
    return tuple(layer_sample(module, shape, source, distinct=n % 6 != 5)
                 for shape in shapes_of(field_, module.input_size) for n in range(12))


@cache
def companion_points(module: Module) -> tuple[Sample, ...]:
    """Four inputs in each of the companion geometries."""
    field_ = module.receptive_field
    assert field_ is not None
    source = random.Random(11)
    return tuple(layer_sample(module.with_field(other), shapes_of(other, None)[0], source, distinct=n % 2 == 0)
                 for other in companions(len(field_.axes)) if other != field_ for n in range(4))


@cache
def window_points(module: Module, n: int) -> tuple[Sample, ...]:
    """Up to nine entries every pair of winner and runner-up, above up to 40 winners; 36 points at the least."""
    source = random.Random(13)
    pairs = [(q, r) for q in range(1, n + 1) for r in range(1, n + 1) if q != r] if n <= 9 else []
    pairs = pairs or [(q, q % n + 1) for q in sorted(source.sample(range(1, n + 1), min(n, 40)))]
    rounds = -(-36 // len(pairs))
    return tuple(window_sample(module, n, (q,), source, r) for _ in range(rounds) for q, r in pairs)


@cache
def window_ties(module: Module, n: int) -> tuple[Sample, ...]:
    """A point for every tie pattern."""
    source = random.Random(17)
    return tuple(window_sample(module, n, pattern, source) for pattern in tie_patterns(n, source))


def layer_provers(module: Module) -> tuple[Prover, ...]:
    """Two windows along the first axis and one along the others, where such a window is within reach of a proof."""
    field_ = module.receptive_field
    assert field_ is not None
    entries = 1
    for axis in field_.axes:
        entries *= axis.kernel_size
    if entries > PROVABLE:
        return ()
    first, *others = shapes_of(field_, module.input_size)[0]
    shape = [first]
    for n, axis in zip(others, field_.axes[1:], strict=True):
        while n > axis.stride and axis.output_size(n - axis.stride) > 0:  # the same rest, fewer windows
            n -= axis.stride
        shape.append(n)
    size = tuple(shape)
    return (Prover(Instance(module, module, size, field_.output_shape(size)), shared=True),)


def window_provers(window: Module, layer: Module, n: int) -> tuple[Prover, ...]:
    """At a whole window, where it is within reach of a proof; nothing is shared, ties are not excluded."""
    return (Prover(Instance(window, layer, (n,), (), origin=1), shared=False),) if n <= PROVABLE else ()


def gather(statements: Iterable[Node], outputs: tuple[Idx, ...]) -> Definitions:
    """Stars, tensors and sets from the definitions as they were read back."""
    stars: dict[str, tuple[Arg, int, tuple[Idx, ...]]] = {}
    tensors: dict[str, tuple[tuple[Expr, ...], Expr]] = {}
    sets: dict[str, SetOf] = {}
    for node in statements:
        if not (isinstance(node, Rel) and node.ops == ("=",)):
            continue
        left, right = node.terms
        items = left.items if isinstance(left, Tuple) else (left,)
        if isinstance(right, Arg) and all(isinstance(i, Star) for i in items):
            stars |= {i.name: (right, n, outputs) for n, i in enumerate(items) if isinstance(i, Star)}
        elif isinstance(left, SetApp) and isinstance(right, SetOf):
            sets[left.name] = right
        elif isinstance(left, Entry) and not isinstance(right, Matrix):
            tensors[left.tensor] = (left.indices, right)
    return Definitions(stars, tensors, sets)

