"""Sizes at which a layer is checked: small, more than one set of them, every two different in one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from heapq import heapify, heappop, heappush

from derive.axes import Axes, axes
from derive.errors import CardError, DeriveError, UnsupportedError
from derive.expr import Node, Num, Reduce, walk
from derive.layers.refused import has_even_median
from derive.limits import MOST_ENTRIES
from derive.module import Module
from derive.numeric.arithmetic import DECIMAL
from derive.numeric.evaluator import OutOfRange, evaluate
from derive.numeric.shapes import Extents, extents
from derive.pointers import pointers
from derive.receptive_field import Axis
from derive.records import dataclass, replace
from derive.verify.points.extents import (
    LARGEST,
    Choice,
    Completed,
    allowed,
    completed,
    distinct,
    fixed,
    large_enough,
    read,
    rests,
)

Shapes = dict[str, tuple[int, ...]]
_TRIES = 60
_COINCIDENCE = 12  # entries more are better than two sizes that are equal by coincidence


@dataclass(frozen=True)
class Sizes:
    """The shape of every tensor at one choice of sizes."""

    chosen: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]

    def words(self) -> str:
        """n = 2, m = 3, 5 for 784, each unbroken; where nothing is chosen, nothing."""
        return ", ".join(f"{n} for {name}" if name.isdigit() else f"{name.replace('_prime', '′')}\u00a0=\u00a0{n}"
                         for name, n in self.chosen.items())  # fmt: skip


def shrunk(module: Module, nodes: Iterable[Node]) -> Module:
    """The module with a size to choose for each large number of a shape that no formula mentions."""
    mentioned = {n.value for node in (*module.equations, *module.facts, *nodes) for n in walk(node)
                 if isinstance(n, Num)}

    def loose(size: int | str) -> int | str:
        return str(size) if isinstance(size, int) and size > LARGEST and not mentioned & {size, size - 1} else size

    symbols = [replace(s, sizes=tuple(map(loose, s.sizes))) for s in module.table.symbols]
    if all(new == old for new, old in zip(symbols, module.table.symbols, strict=True)):
        return module
    return replace(module, table=module.table.extended(symbols))


def choices(module: Module, count: int) -> tuple[Sizes, ...]:
    """Up to ``count`` sets of sizes, 2 or more, none twice the same: in each they differ pairwise.

    More than three do so in one set or another; with four in each, a tensor of them all has a hundred entries.

    Raises :class:`UnsupportedError` where no small sizes fit the formula.
    """
    names = _names(module)
    values = allowed(module, names)
    found = _found(module, values, count, dict)
    if not found and (module.fields or module.steps):
        complete = completed(module, names)
        values = large_enough(module, values, lambda chosen: (whole := complete(chosen)) is not None and
                              _fits(module, whole) is not None)
        found = _found(module, values, count, complete)
    if not found:
        why = _reason(module, names)
        raise UnsupportedError(f"no small sizes fit the formula, so it cannot be checked{why}")
    return tuple(found)


def _found(module: Module, values: Mapping[str, Choice], count: int, complete: Completed) -> list[Sizes]:
    found: list[Sizes] = []
    for _ in range(max(count, *(c.period for c in values.values())) if values and count > 1 else 1):
        best = _best(module, values, found, complete)
        if best is None:
            break
        found.append(best)
    return found


def over_windows(module: Module, one_more: int) -> Sizes | None:
    """The shapes of an input with two windows along its first ``one_more`` axes, one along the others.

    The others leave the largest rest, and where the size is known each the one that it leaves; None where none fits.
    """
    field, known = module.receptive_field, module.input_size
    assert field is not None

    def fitting(place: int, axis: Axis) -> int:
        n, windows = max(2, axis.kernel_size - 2 * axis.padding), 2 if place < one_more else 1
        while axis.output_size(n) < windows or (known is not None and (known[place] - n) % axis.stride):
            n += 1
        longest = n + axis.stride - 1
        return longest if windows == 1 and known is None and axis.output_size(longest) == axis.output_size(n) else n

    shape = tuple(fitting(place, axis) for place, axis in enumerate(field.axes))
    try:
        return Sizes({}, dict(extents(replace(module, input_size=None), {module.inputs[0]: shape}).shapes))
    except CardError:
        return None


def again(module: Module, chosen: Iterable[tuple[int, ...]]) -> tuple[Sizes, ...]:
    """The sizes that were chosen for the same layer in other letters."""
    names = tuple(allowed(module, _names(module)))
    return tuple(s for values in chosen if (s := _fits(module, dict(zip(names, values, strict=True)))) is not None)


def _reason(module: Module, names: tuple[str, ...]) -> str:
    """What is wrong at sizes that are neither small nor equal."""
    try:
        chosen = {name: 5 + n for n, name in enumerate(names)}
        extents(module.stepping(chosen), _shapes(module, chosen))
    except CardError as error:
        return ": " + "; ".join(p.message for p in error.problems)
    return ""


def _shapes(module: Module, chosen: Mapping[str, int]) -> Shapes:
    found: Shapes = {}
    for name in module.given:
        symbol = module.table.named(name)
        assert symbol is not None
        found[name] = tuple(n if isinstance(n, int) else chosen[n] for n in symbol.sizes)
    return found


def _names(module: Module) -> tuple[str, ...]:
    sizes = [s for name in module.given if (symbol := module.table.named(name)) for s in symbol.sizes]
    return tuple(dict.fromkeys([*(s for s in sizes if isinstance(s, str)), *dict(module.steps)]))


def _best(module: Module, values: Mapping[str, Choice], before: list[Sizes], complete: Completed) -> Sizes | None:
    """The smallest sizes that fit and leave new rests; those of other tensors differ too where they can."""
    waiting: list[tuple[tuple[int, int, int], int, dict[str, int], Sizes | None]] = []  # by cost, or by one below it
    taken, least, fits = [b.chosen for b in before], _least(module), False
    every = (c for v in _values(values) if (c := complete(v)) is not None)
    for number, chosen in enumerate(c for c in every if c not in taken and not _alike(c, taken)):
        new = sum(n != b[name] for b in taken for name, n in chosen.items())
        cost = sum(math.prod([n if isinstance(n, int) else chosen.get(n, 1) for n in shape]) for shape in least)
        waiting.append(((-rests(values, chosen, taken), cost, -new), number, chosen, None))
        fits = fits or _fits(module, chosen) is not None
        if number > _TRIES and fits or number > 20 * _TRIES:
            break
    beyond: OutOfRange | None = None
    heapify(waiting)
    while waiting and fits:
        (rest, _, new), number, chosen, known = heappop(waiting)
        if known is None and (known := _fits(module, chosen)) is not None:
            cost = _COINCIDENCE * _equal(module, known) + sum(map(math.prod, known.shapes.values()))
            heappush(waiting, ((rest, cost, new), number, chosen, known))
        elif known is not None:
            try:
                _in_range(module, known)
                return known
            except OutOfRange as error:
                beyond = beyond or error
    if beyond is not None:
        raise beyond
    return None


def _alike(chosen: Mapping[str, int], taken: list[Mapping[str, int]]) -> bool:
    """Two are equal here and in every set that was taken before."""
    return bool(taken) and any(chosen[a] == chosen[b] and all(t[a] == t[b] for t in taken)
                               for a, b in itertools.combinations(chosen, 2))


def _least(module: Module) -> list[tuple[int | str, ...]]:
    """The sizes of every tensor's axes, as far as they are named."""
    found = (module.table.named(name) for name in (*module.given, *module.defined))
    return [tuple(n for n in symbol.sizes if n) for symbol in found if symbol is not None]


def _in_range(module: Module, sizes: Sizes) -> None:
    """Raise :class:`OutOfRange` where a formula with numbers for limits reads beyond these shapes."""
    if not any(isinstance(n, Reduce) and any(isinstance(u, Num) for u in n.binder.upper)
               for equation in module.equations for n in walk(equation)):
        return
    places = axes(module)
    module = module.stepping(sizes.chosen)
    labels = {name: Decimal(places.origin(*slot)) for name, slot in pointers(module).items()}
    values = {name: {at: labels.get(name, Decimal("0.5")) for at in cells(places, name, sizes.shapes[name])}
              for name in module.given}
    try:
        evaluate(module, values, {name: sizes.shapes[name] for name in module.given}, DECIMAL)
    except OutOfRange:
        raise
    except (ArithmeticError, ValueError, LookupError, DeriveError):  # at other numbers it may have a value
        return


def cells(places: Axes, name: str, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The indices of a tensor's entries, counted from 0 or 1 as the formula has it."""
    if math.prod(shape) > MOST_ENTRIES:
        raise UnsupportedError(f"`{name}` has {math.prod(shape)} entries, and at most {MOST_ENTRIES} are calculated "
                               "with")
    starts = [places.origin(name, d) for d in range(len(shape))]
    return list(itertools.product(*(range(o, o + n) for o, n in zip(starts, shape, strict=True))))


def _values(values: Mapping[str, Choice]) -> Iterator[dict[str, int]]:
    """Distinct sizes, small ones first."""
    return (dict(zip(values, chosen, strict=True)) for chosen in distinct(tuple(values.values())))


def _fits(module: Module, chosen: dict[str, int]) -> Sizes | None:
    """The shapes at these sizes; None where a tensor has an axis of less than two entries that could have more."""
    return _fitting(module, tuple(chosen.items()))


@lru_cache(maxsize=2048)
def _fitting(module: Module, sizes: tuple[tuple[str, int], ...]) -> Sizes | None:
    chosen = dict(sizes)
    if any(chosen[name] < least for name, least in read(module, tuple(chosen)).items()):
        return None
    module, shapes = module.stepping(chosen), _shapes(module, chosen)
    try:
        reach: Extents = extents(module, shapes)
    except CardError:
        return None
    if any(n != chosen.get(str(size), n) for s in module.table.symbols if s.name in module.defined
           for size, n in zip(s.sizes, reach.shapes[s.name], strict=False)):
        return None  # as many windows as another tensor has entries
    literal = _literal(module)
    if any(has_even_median(module, shapes[name]) for name in module.inputs):
        return None
    if any(n < 2 and (name, d) not in literal for name, shape in reach.shapes.items() for d, n in enumerate(shape)):
        return None
    return Sizes(chosen, dict(reach.shapes))


@lru_cache(maxsize=64)
def _literal(module: Module) -> frozenset[tuple[str, int]]:
    """The axes that have as many entries as the card says, or as there are windows, whatever is chosen."""
    stated = {(s.name, d) for s in module.table.symbols for d, n in enumerate(s.sizes) if isinstance(n, int)}
    return frozenset(stated | fixed(module))


def _equal(module: Module, sizes: Sizes) -> int:
    """How many sizes with different names are equal."""
    values: dict[str, int] = {}
    for name, shape in sizes.shapes.items():
        symbol = module.table.named(name)
        values |= {s: n for s, n in zip(symbol.sizes if symbol else (), shape, strict=False) if isinstance(s, str)}
    return len(values) - len(set(values.values()))
