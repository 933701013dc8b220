"""Which values a size may take: small ones; where windows lie along it, those at which they hold entries.

How many windows there are settles a size behind them: the input must be large enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count, islice
from typing import cast

from derive.axes import axes, stands
from derive.errors import DeriveError
from derive.expr import Entry, Idx, Num, SetApp, walk
from derive.module import Module
from derive.numeric.shapes import extents
from derive.numeric.source import window_places
from derive.records import dataclass
from derive.window_axis import AdaptiveAxis, WindowAxis

LARGEST = 12  # of a size that is drawn, and where windows lie along it how many sizes are
_PLAIN = tuple(range(2, LARGEST + 1))


@dataclass(frozen=True)
class Choice:
    """The values of a size, small ones first; the windows leave as many different rests as ``period``."""

    values: tuple[int, ...] = _PLAIN
    period: int = 1


def allowed(module: Module, names: Sequence[str]) -> dict[str, Choice]:
    """name → its values.

    Where the module states the size of its input, those that leave the rest that size leaves.
    """
    found = {name: Choice(tuple(range(n, n + len(_PLAIN)))) for name, n in read(module, tuple(names)).items()}
    for (set_name, d), (tensor, place) in window_places(module.equations).items():
        symbol, fields = module.table.named(tensor), dict(module.fields)
        if set_name not in fields or symbol is None or place >= len(symbol.sizes):
            continue
        axis, size = fields[set_name].axes[d], symbol.sizes[place]
        known = module.input_size[place] if module.input_size and tensor == module.inputs[0] else None
        if isinstance(axis, WindowAxis) and isinstance(size, str) and size in found:
            period = axis.stride if known is None else 1
            found[size] = Choice(tuple(islice(_lengths(axis, known), LARGEST)), period)
    return found


@lru_cache(maxsize=64)
def read(module: Module, names: tuple[str, ...]) -> Mapping[str, int]:
    """name → how many entries the formulas, and what is asked, name by numbers along it, 2 or more."""
    found, places = dict.fromkeys(names, 2), axes(module)
    for entry in (n for node in (*module.equations, *module.wanted) for n in walk(node) if isinstance(n, Entry)):
        symbol = module.table.named(entry.tensor)
        for d, (size, index) in enumerate(zip(symbol.sizes if symbol else (), entry.indices, strict=False)):
            if size in found and isinstance(index, Num):
                found[str(size)] = max(found[str(size)], int(index.value) + 1 - places.origin(entry.tensor, d))
    return found


def _lengths(axis: WindowAxis, known: int | None) -> Iterator[int]:
    """n = 2, 3, … at which two windows or more hold entries, in steps of the stride where n ≡ ``known``."""
    for n in count(2):
        rest = known is None or (n - known) % axis.stride == 0
        if rest and sum(1 for k in range(axis.output_size(n)) if axis.covered(k, n)) > 1:
            yield n


def distinct(choices: Sequence[Choice]) -> Iterator[tuple[int, ...]]:
    """A value of each, small ones first: all different, of more than three no value more than twice."""
    for top in range(LARGEST):
        yield from _below([c.values[:top + 1] for c in choices], (), 1 if len(choices) <= 3 else 2)


def _below(values: list[tuple[int, ...]], before: tuple[int, ...], often: int) -> Iterator[tuple[int, ...]]:
    """Those that take the last value of one of the lists, and none more often than that."""
    if len(before) == len(values):
        if not values or any(n == own[-1] for n, own in zip(before, values, strict=True)):
            yield before
        return
    for n in values[len(before)]:
        if before.count(n) < often:
            yield from _below(values, (*before, n), often)


def rests(choices: Mapping[str, Choice], values: Mapping[str, int], before: Sequence[Mapping[str, int]]) -> int:
    """Along how many axes the windows leave a rest of the input that none of the sizes ``before`` leaves."""
    return sum(all((values[name] - b[name]) % c.period for b in before) for name, c in choices.items() if c.period > 1)


def fixed(module: Module) -> set[tuple[str, int]]:
    """The axes (tensor, place) that have as many entries as there are windows, whatever the input's size."""
    found = set()
    for equation in module.equations:
        entry, value = equation.terms
        for node in walk(value):
            if not isinstance(entry, Entry) or not isinstance(node, SetApp) or node.name not in dict(module.fields):
                continue
            axes = zip(node.args, module.field(node.name).axes, strict=False)
            counted = {k for k, axis in axes if isinstance(axis, AdaptiveAxis)}
            found |= {(entry.tensor, d) for d, k in enumerate(entry.indices) if k in counted}
    return found


_AMPLE = 48  # of an input, for two layers of windows
_SOME = 3
Completed = Callable[[Mapping[str, int]], dict[str, int] | None]


def settled(module: Module) -> dict[str, tuple[str, int]]:
    """name → (tensor, axis) whose extent it is: as many weights as there are windows before them."""
    names = {size for name in module.given if (s := module.table.named(name)) for size in s.sizes}
    found: dict[str, tuple[str, int]] = {}
    chosen = set()
    for equation in module.equations:
        entry, value = equation.terms
        symbol = module.table.named(entry.tensor) if isinstance(entry, Entry) else None
        for d, size in enumerate(symbol.sizes if symbol is not None else ()):
            assert isinstance(entry, Entry)
            index = entry.indices[d]
            alone = isinstance(index, Idx) and any(name in module.given for name, _ in stands(index, value))
            if alone:
                chosen.add(size)
            elif isinstance(size, str) and size in names:
                found.setdefault(size, (entry.tensor, d))
    return {size: place for size, place in found.items() if size not in chosen}


def completed(module: Module, names: tuple[str, ...]) -> Completed:
    """The sizes ``names`` in their order, those put in that others settle; None where these do not fit."""
    places = settled(module)
    steps = []
    for n, equation in enumerate(module.equations):
        head = cast(Entry, equation.terms[0])
        sizes = {size: d for size, (tensor, d) in places.items() if tensor == head.tensor}
        if sizes:
            before = replace(module, equations=module.equations[: n + 1], output=head.tensor)
            used = {e.tensor for q in before.equations for e in walk(q) if isinstance(e, Entry)}
            steps.append((before, [name for name in module.given if name in used], sizes))

    def complete(chosen: Mapping[str, int]) -> dict[str, int] | None:
        known = dict(chosen)
        for before, given, sizes in steps:
            symbols = [s for name in given if (s := module.table.named(name)) is not None]
            shapes = {s.name: tuple(n if isinstance(n, int) else known[n] for n in s.sizes) for s in symbols}
            try:
                found = extents(before.stepping(known), shapes).shapes[before.output]
            except DeriveError:
                return None
            known |= {size: found[d] for size, d in sizes.items()}
        return {name: known[name] for name in names}

    return complete


def large_enough(module: Module, values: Mapping[str, Choice],
                 fits: Callable[[dict[str, int]], bool]) -> dict[str, Choice]:
    """The values of the sizes that nothing settles; those of inputs that are slid over begin where they fit."""
    places = settled(module)
    slid = dict.fromkeys(size for equation in module.equations for e in walk(equation.terms[1])
                         if isinstance(e, Entry) and (s := module.table.named(e.tensor)) is not None
                         for size, term in zip(s.sizes, e.indices, strict=False)
                         if isinstance(size, str) and size in {*values} - {*places} and not isinstance(term, Idx))
    found = {name: choice for name, choice in values.items() if name not in places}
    ample = {name: _AMPLE if name in slid else next(n for n in choice.values if n >= _SOME)
             for name, choice in found.items()}
    if fits(ample):
        for name in slid:
            least = next(n for n in range(2, _AMPLE + 1) if fits({**ample, name: n}))
            found[name] = Choice(tuple(range(least, least + LARGEST)))
    return found
