"""Sizes behind windows: how many there are is settled by the input's size, which must be large enough for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from derive.axes import stands
from derive.errors import DeriveError
from derive.expr import Entry, Idx, walk
from derive.module import Module
from derive.numeric.shapes import extents
from derive.verify.points.extents import LARGEST, Choice

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
                found = extents(before, shapes).shapes[before.output]
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
