"""Which values a size may take: small ones; where windows lie along it, those at which they hold entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice

from derive.expr import Entry, SetApp, walk
from derive.module import Module
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
    found = dict.fromkeys(names, Choice())
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
