"""Symbolic verification inside other people's tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from derive.axes import axes
from derive.calculus.one_window import windowed
from derive.card import Card
from derive.errors import DeriveError
from derive.exposition.story import whole
from derive.module import Module
from derive.numeric.arithmetic import FLOAT, precision
from derive.records import dataclass
from derive.solve import Solution, solve
from derive.verify import mistakes
from derive.verify.points.arrays import UPSTREAM, Arrays, trials
from derive.verify.points.draw import arithmetic_of
from derive.verify.points.facts import Facts
from derive.verify.points.point import Point

__all__ = ["assert_backward", "assert_equation"]

Index = tuple[int, ...]
Layer = str | Path | Module | Solution
solved = lru_cache(maxsize=64)(solve)
_BATCH = 3
_DIFFER = "the two differ"
_SIMPLE = 10**6  # the denominators of fractions that floats stand for


def assert_backward(function: Callable[..., Any], layer: Layer, *, wrt: str | Sequence[str] | None = None,
                    batch: bool | Sequence[str] = False, tensor: Callable[[Any], Any] | None = None,
                    tolerance: float | None = None, **options: Any) -> None:  # fmt: skip
    """``function(upstream, x)`` is the backward message δ_x = Jᵀ δ_y of the layer; of windows at ties, too.

    ``layer`` is a name of the catalogue with its ``options`` (kernel_size, stride, padding, tie_rule "first" unless
    given), a module, a solution, or the path of a card.  A layer of several letters calls
    ``function(upstream, x=…, W=…, …)``.  ``wrt`` names the letter whose message it is, the first input unless given;
    of several letters the function returns the messages in their order, or by letter.

    ``batch``: the inputs, or the letters named, and ``upstream`` have a leading batch axis; the message of a letter
    without one is the sum over the batch.  The function takes float64 arrays, or what ``tensor`` makes of each, such
    as ``torch.from_numpy`` or ``jax.numpy.asarray``; what it returns is read through ``__array__``.  ``tolerance`` is
    relative and absolute: 1e-9 of float64 and 1e-4 of less exact numbers unless given.

    Raises AssertionError with the smallest input found at which the two differ, both values, and the likely mistake.
    """
    solution = solution_of(layer, options)
    module = solution.messages.module
    letters = (wrt,) if isinstance(wrt, str) else tuple(wrt or module.inputs[:1])
    for name in (*letters, *(batch if not isinstance(batch, bool) else ())):
        solution.numbers.known(name)
    windows = whole(solution.messages) is not None
    batched = tuple(module.inputs) if batch is True else tuple(batch or ())
    tried = _Tried(function, solution, letters, batched, tensor, tolerance)
    drawn = list(_images(module) if windows else trials(module))
    points = list(_batches(drawn, batched)) if batched else drawn
    first = next((arrays for arrays in points if tried.wrong(arrays) is not None), None)
    if first is None:
        return
    failed, allowed = tried.wrong(first), _allowed(module, batched)
    arrays = _smaller(first, lambda a: allowed(a) and tried.wrong(a) == failed)
    assert failed is not None
    name, what = failed
    expected = tried.expected(arrays)[name]
    rule = f" (tie rule `{module.tie_rule}`)" if windows else ""
    lines = [f"the backward message of `{name}` is wrong: {what}", *(f"{n} =\n{a}" for n, a in arrays.items()),
             f"expected{rule} =\n{expected}"]
    if what == _DIFFER:
        found = tried.found(arrays)[name]
        lines.append(f"found =\n{found}")
        if windows:
            lines.append(f"likely mistake: {_mistake(module, name, arrays, found, expected, bool(batched))}")
    raise AssertionError("\n".join(lines))


def assert_equation(latex: str, layer: Layer, **options: Any) -> None:
    """The printed equation holds for the layer: read from its LaTeX, checked at every kind of point.

    Raises AssertionError with the smallest input found at which its sides differ, both
    values and the likely mistake, and :class:`derive.CardError` where it cannot be read.
    """
    from derive.verify import equation

    message = equation.refutation(latex, solution_of(layer, options).messages)
    if message is not None:
        raise AssertionError(message)


def solution_of(layer: Layer, options: Mapping[str, Any]) -> Solution:
    """The solution of a module, of a card, or of a layer of the catalogue, once for all tests."""
    if isinstance(layer, Solution):
        return layer
    if isinstance(layer, Module):
        return solved(layer)
    if isinstance(layer, Path) or layer.endswith(".md"):
        from derive.question import module_of

        return solved(module_of(Card.read(layer)))
    from derive.layers import layer as named

    return solved(named(layer, **options))


# --- a backward function, tried ------------------------------------------------


def _images(module: Module) -> Iterator[Arrays]:
    """Inputs of windows from small to larger: distinct entries, then ties, at sizes with and without a rest."""
    import numpy as np

    field = module.receptive_field
    assert field is not None
    source = random.Random(3)
    fits = [[n for n in range(1, a.kernel_size + 3 * a.stride + 2) if a.output_size(n) > 0] for a in field.axes]
    shapes = sorted(itertools.product(*(sizes[:8] for sizes in fits)), key=lambda s: (int(np.prod(s)), s))
    for shape in shapes[:: max(1, len(shapes) // 24)]:
        out, cells = field.output_shape(shape), int(np.prod(shape))
        for kind in range(4):
            values = source.sample(range(-cells, cells), cells) if kind % 2 == 0 else source.choices((0, 1), k=cells)
            upstream = source.sample(range(1, 3 * int(np.prod(out)) + 2), int(np.prod(out)))
            yield {module.inputs[0]: np.array(values, float).reshape(shape),
                   UPSTREAM: np.array(upstream, float).reshape(out)}


def _batches(drawn: Sequence[Arrays], batched: Sequence[str]) -> Iterator[Arrays]:
    """Points of the same sizes as batches of up to three: what has no batch axis is that of the first."""
    import numpy as np

    alike: dict[tuple[Any, ...], list[Arrays]] = {}
    for arrays in drawn:
        alike.setdefault(tuple(a.shape for a in arrays.values()), []).append(arrays)
    for same in alike.values():
        for n in range(0, len(same) - 1, _BATCH):
            samples = same[n : n + _BATCH]
            yield {name: np.stack([s[name] for s in samples]) if name in (*batched, UPSTREAM) else first
                   for name, first in samples[0].items()}


@dataclass(frozen=True)
class _Tried:
    """Somebody's function, beside the layer whose messages it is to give."""

    function: Callable[..., Any]
    solution: Solution
    letters: tuple[str, ...]
    batched: tuple[str, ...]
    tensor: Callable[[Any], Any] | None
    tolerance: float | None

    def wrong(self, arrays: Arrays) -> tuple[str, str] | None:
        """(letter, what is wrong with its message), or None; also where the layer has no value or no gradient."""
        import numpy as np

        try:
            expected = self.expected(arrays)
        except DeriveError:
            return None
        if not all(np.all(np.isfinite(e)) for e in expected.values()):
            return None
        try:
            found = self.found(arrays)
        except Exception as error:  # whatever somebody's function raises is its answer
            return self.letters[0], f"the function raised {type(error).__name__}: {error}"
        if len(found) < len(expected):
            return next(n for n in expected if n not in found), "the function returned no message of it"
        for name, right in expected.items():
            if found[name].shape != right.shape:
                return name, f"the function returned shape {found[name].shape}, `{name}` has shape {right.shape}"
            most = self.tolerance or (1e-9 if found[name].dtype in (np.float64, np.int64) else 1e-4)
            if not np.allclose(found[name], right, rtol=most, atol=most):
                return name, _DIFFER
        return None

    def expected(self, arrays: Arrays) -> dict[str, Any]:
        """The messages by letter; of a batch a letter without its axis has the sum."""
        import numpy as np

        samples = _samples(arrays, self.batched)
        with np.errstate(all="ignore"):
            found = {name: [np.asarray(self.solution.backward(name, **s)) for s in samples] for name in self.letters}
        return {name: np.stack(of) if name in self.batched else np.asarray(sum(of)) for name, of in found.items()}

    def found(self, arrays: Arrays) -> dict[str, Any]:
        """function(upstream, x) of one letter, function(upstream, x=…, W=…) of several, on copies; arrays by letter."""
        given = {name: a.copy() if self.tensor is None else self.tensor(a.copy()) for name, a in arrays.items()}
        upstream = given.pop(UPSTREAM)
        result = self.function(upstream, *given.values()) if len(given) == 1 else self.function(upstream, **given)
        if not isinstance(result, Mapping):
            several = len(self.letters) > 1 and isinstance(result, (tuple, list))
            messages = list(result) if several else [result]
            result = dict(zip(self.letters, messages, strict=True)) if len(messages) == len(self.letters) else {}
        return {name: _array(result[name]) for name in self.letters if name in result}


def _array(given: Any) -> Any:
    """A tensor as an array; PyTorch asks that one with a gradient is detached first."""
    import numpy as np

    return np.asarray(given.detach() if hasattr(given, "detach") else given)


def _samples(arrays: Arrays, batched: Sequence[str]) -> list[Arrays]:
    """The points of a batch; a point that is none, alone."""
    if not batched:
        return [arrays]
    return [{name: a[n] if name in (*batched, UPSTREAM) else a for name, a in arrays.items()}
            for n in range(len(arrays[UPSTREAM]))]


# --- a smaller input -----------------------------------------------------------


def _smaller(arrays: Arrays, fails: Callable[[Arrays], bool]) -> Arrays:
    """Entries put to 0, 1 or −1 one by one while the failure stays."""
    for name in (UPSTREAM, *(n for n in arrays if n != UPSTREAM)):
        for at in itertools.product(*map(range, arrays[name].shape)):
            for simple in (0.0, 1.0, -1.0):
                if arrays[name][at] == simple:
                    break
                trial = {**arrays, name: arrays[name].copy()}
                trial[name][at] = simple
                if fails(trial):
                    arrays = trial
                    break
    return arrays


def _allowed(module: Module, batched: Sequence[str]) -> Callable[[Arrays], bool]:
    """Whether the facts that are stated of the letters hold (ε > 0, Σ t = 1); 0.333… stands for a third."""
    kind = arithmetic_of((*module.equations, *(f.body for f in module.functions)))
    facts, places = Facts.of(module, kind), axes(module)

    def entries(name: str, array: Any) -> dict[Index, Any]:
        return {tuple(i + places.origin(name, d) for d, i in enumerate(at)):
                kind.number(Fraction(value).limit_denominator(_SIMPLE)) for at, value in _entries(array).items()}

    def hold(arrays: Arrays) -> bool:
        return all(map(of_one, _samples(arrays, batched)))

    def of_one(arrays: Arrays) -> bool:
        given = {name: array for name, array in arrays.items() if name != UPSTREAM}
        try:
            with precision():
                values = {name: entries(name, array) for name, array in given.items()}
                return facts.hold(Point(module, kind, values))
        except (DeriveError, ArithmeticError, ValueError):
            return False

    return hold if module.facts else lambda _: True


def _entries(array: Any) -> dict[Index, Any]:
    return {at: array[at].item() for at in itertools.product(*map(range, array.shape))}


def _mistake(module: Module, wrt: str, arrays: Arrays, found: Any, expected: Any, batched: bool) -> str:
    """The known mistake that gives what was found in place of what was expected, in the first sample that shows it."""
    import numpy as np

    (window,) = windowed(module)
    if batched:
        n = next(n for n in range(len(found)) if not np.allclose(found[n], expected[n]))
        arrays, found, expected = _samples(arrays, [wrt])[n], found[n], expected[n]
    point = Point(window.layer, FLOAT, {wrt: _entries(arrays[wrt])})
    likely = mistakes.messages(window, point.with_upstream(_entries(arrays[UPSTREAM])))
    return mistakes.likely(_entries(found), _entries(expected), likely)
