"""Random numbers for a layer, in sizes that fit and with what the card states of its letters."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from derive.axes import Slot, axes
from derive.calculus.one_window import windowed
from derive.errors import DeriveError, UnsupportedError
from derive.evaluation import forward
from derive.expr import Entry, In, Listed, Num, Reduce, Rel
from derive.magnitudes import expected
from derive.module import Module
from derive.numeric.shapes import rank
from derive.solve import Solution

Array = NDArray[np.float64]
_TRIES = 60
_LARGEST = 8  # a side of the question's own input that is still read with pleasure


def draw(solution: Solution, seed: int) -> dict[str, Array]:
    """An array for each letter of the layer, and an upstream gradient; the same for the same seed.

    Raises :class:`UnsupportedError` where no numbers were found at which the layer has a value.
    """
    source = random.Random(seed)
    module = solution.messages.module
    alone: dict[str, Array] = {}  # an input with room for one window only
    for sizes in _sizes(solution, source):
        for positive in (False, True):
            shapes = {name: tuple(sizes[axes(module).of(name, d)] for d in range(rank(module, name)))
                      for name in module.given}  # fmt: skip
            arrays = {name: _values(module, name, shape, source, positive) for name, shape in shapes.items()}
            arrays |= {name: np.asarray(float(source.randint(1, 3))) for name, _ in module.steps}
            value = _value(solution, arrays)
            if value is None:
                continue
            found = arrays | {"upstream": _integers(value.shape, source, 3)}
            if not module.fields or value.size > 1:
                return found
            alone = alone or found
    if alone:
        return alone
    raise UnsupportedError("no random numbers were found at which the layer has a value; give some with --values")


def _value(solution: Solution, arrays: dict[str, Array]) -> Array | None:
    """The output, where the sizes fit and every entry is a number."""
    try:
        output = forward(solution, arrays)
    except DeriveError:
        return None
    return output if np.isfinite(output).all() else None


def _sizes(solution: Solution, source: random.Random) -> Iterator[dict[Slot, int]]:
    """Extents to try: the question's own, then small ones."""
    module = solution.messages.module
    found = axes(module)
    classes = list(dict.fromkeys(found.of(name, d) for name in module.given for d in range(rank(module, name))))
    fixed = {c: int(size.value) for c in classes if isinstance(size := found.sizes.get(c), Num)}
    own = solution.module.input_size
    if own is not None and max(own) <= _LARGEST:
        fixed |= {found.of(module.inputs[0], d): n for d, n in enumerate(own)}
    for attempt in range(_TRIES):
        low = 4 + attempt // 6 if module.fields else 3 - 2 * attempt // _TRIES
        high = low + 1 + attempt // 6
        yield {c: fixed.get(c, source.randint(low, high)) for c in classes}


def _values(module: Module, name: str, shape: tuple[int, ...], source: random.Random, positive: bool) -> Array:
    rule = next((rule for fact in module.facts if (rule := _rule(fact, name)) is not None), None)
    if rule is not None:
        return rule(shape, source)
    if any(w.whole for w in windowed(module)):  # distinct integers: no ties
        count = int(np.prod(shape))
        return np.array(source.sample(range(1, max(20, count + 5)), count), np.float64).reshape(shape)
    drawn = _integers(shape, source, 30) / 10
    return np.abs(drawn) if positive or name in expected(module) else drawn


def _integers(shape: tuple[int, ...], source: random.Random, largest: int) -> Array:
    """Integers of either sign, none of them 0."""
    choices = [n for n in range(-largest, largest + 1) if n]
    return np.array([source.choice(choices) for _ in range(int(np.prod(shape)))], np.float64).reshape(shape)


def _rule(fact: object, name: str) -> Callable[[tuple[int, ...], random.Random], Array] | None:
    """How to draw a tensor so that a fact about it holds: Σ t = 1, t ∈ {0, 1}, ε > 0, 0 < a < 1."""
    match fact:
        case Rel((Reduce("sum", _, Entry(tensor, _)), Num(total)), ("=",)) if tensor == name:
            return lambda shape, source: _with_sum(shape, source, float(total))
        case In(Entry(tensor, _), Listed(items)) if tensor == name and all(isinstance(i, Num) for i in items):
            numbers = [float(i.value) for i in items if isinstance(i, Num)]
            return lambda shape, source: _each(shape, lambda: source.choice(numbers))
        case Rel(terms, ops) if any(isinstance(t, Entry) and t.tensor == name for t in terms):
            low, high = _bounds(terms, ops, name)
            return lambda shape, source: _each(shape, lambda: round(low + (high - low) * source.uniform(0.1, 0.9), 2))
    return None


def _bounds(terms: tuple[object, ...], ops: tuple[str, ...], name: str) -> tuple[float, float]:
    """An interval in which the tensor's entries satisfy the chain of relations with numbers."""
    at = next(n for n, t in enumerate(terms) if isinstance(t, Entry) and t.tensor == name)
    low, high = -np.inf, np.inf
    for n, term in enumerate(terms):
        if isinstance(term, Num):
            rising = ops[min(n, at)] in ("<", "≤") if n < at else ops[at] in ("<", "≤")
            if rising == (n < at):
                low = max(low, float(term.value))
            else:
                high = min(high, float(term.value))
    if not np.isfinite(low):
        low = min(-3.0, high - 3)
    return low, high if np.isfinite(high) else low + 3


def _with_sum(shape: tuple[int, ...], source: random.Random, total: float) -> Array:
    drawn = _each(shape, lambda: source.uniform(0.1, 1))
    return np.asarray(drawn * (total / drawn.sum()), np.float64)


def _each(shape: tuple[int, ...], one: Callable[[], float]) -> Array:
    return np.array([one() for _ in range(int(np.prod(shape)))], np.float64).reshape(shape)
