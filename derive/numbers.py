"""The numbers of a layer: its values, derivatives and messages as arrays, from the derived formulas."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from derive.axes import axes, with_axes
from derive.calculus.messages import Messages
from derive.calculus.vanishing import at_kinks
from derive.errors import CardError, UnsupportedError
from derive.expr import Entry, Expr, Partial
from derive.functions import known
from derive.module import Module
from derive.numeric import vectorised
from derive.numeric.choice import names_in
from derive.numeric.clarke import Choice, active_sets, choice, contains, selection, separable, vertices
from derive.numeric.dual import OneSided, one_sided
from derive.numeric.evaluator import evaluate
from derive.numeric.shapes import rank, refuse_names, stepped
from derive.records import dataclass

Index = tuple[int, ...]
Values = dict[Index, Any]
_ROUNDED = 1e-9  # a smaller change of a value, in parts of it, is no jump


@dataclass(frozen=True)
class Numbers:
    """y = F(x; θ), ∂y/∂x and δ_x on arrays of any size.

    Arrays are passed by the names of the module's inputs, parameters and constants;
    float32 and integers become float64.  Leading axes beyond a tensor's own are batch
    axes.  ±∞ is a number here, NaN is refused with its position.
    """

    module: Module
    derivation: Messages | None = None

    @cached_property
    def messages(self) -> Messages:
        """The derivation by letters: Jacobian, message and stages of each."""
        return self.derivation or Messages(self.module)

    def at(self, arrays: Mapping[str, Any]) -> tuple[Numbers, dict[str, Any]]:
        """The layer at the numbers of its steps, a stride or a dilation by a letter, and the other arrays."""
        module, others = stepped(self.module, arrays)
        return self if module is self.module else replace(self, module=module), others

    def forward(self, **arrays: Any) -> Any:
        """y = F(x; θ)."""
        return vectorised.forward(self.module, arrays)

    def values(self, **arrays: Any) -> dict[str, Any]:
        """s, h, …, y: every tensor that the equations define, in their order."""
        return vectorised.values(self.module, arrays)

    def gradients(self, *, upstream: Any, **arrays: Any) -> dict[str, Any]:
        """δ_h, δ_s, …: the gradient of each tensor between output and input or parameter, from the output back."""
        module = self.messages.module
        letters = (*module.inputs, *module.parameters)
        steps = {cast(Entry, s.before): s for wrt in letters for s in self.messages.stages(wrt)[:-1]}
        formulas = [(left, at_kinks(cast(Expr, step.after), module)) for left, step in steps.items()]
        found = vectorised.stagewise(module, formulas, upstream, arrays, self.messages.star_definitions)
        return {name.removeprefix("delta_"): values for name, values in found.items()}

    def jacobian(self, wrt: str, *, sparse: bool = False, **arrays: Any) -> Any:
        """∂y/∂x: output axes, then the axes of ``wrt`` (no batch axes).

        ``sparse``: (output indices, input indices, values) of the non-zero entries.
        """
        self.known(wrt)
        step = self.messages.jacobian(wrt)
        assert isinstance(step.before, Partial) and isinstance(step.after, Expr)
        module = self.messages.module
        formula = (step.before, at_kinks(step.after, module))
        return vectorised.jacobian(module, formula, wrt, arrays, sparse, self.messages.star_definitions)

    def backward(self, wrt: str, *, upstream: Any = None, **arrays: Any) -> Any:
        """δ_x = Jᵀ δ_y.

        ``upstream`` has the output's shape; for a scalar output it is 1 unless given.
        """
        self.known(wrt)
        if upstream is None:
            if self.module.definition(self.module.output)[0].indices:
                raise CardError(f"`upstream` is missing: the gradient by `{self.module.output}`, in its shape")
            upstream = 1.0
        step = self.messages.message(wrt)
        step = step.last("covering") if any(s.rule == "covering" for s in step) else step
        assert isinstance(step.before, Entry) and isinstance(step.after, Expr)
        module = self.messages.module
        formula = (step.before, at_kinks(step.after, module))
        return vectorised.backward(module, formula, wrt, upstream, arrays, self.messages.star_definitions)

    def ties(self, **arrays: Any) -> dict[Index, tuple[Index, ...]]:
        """The active set of each window: output index → the places of the input where its value is attained.

        Compared exactly, as the numbers come: floats, integers or Fractions.  Batch axes come first in both.
        """
        found = {}
        for lead, own in _batches(self.module, arrays):
            for window in active_sets(with_axes(self.module), *_given(self.module, own)):
                found[lead + window.output] = tuple(lead + place for place in window.active)
        return found

    def directional(self, wrt: str, *, v: Any, **arrays: Any) -> Any:
        """y'(x; v) = lim (y(x + h v) − y(x))/h for h ↓ 0, exact at ties; Fractions give Fractions.

        ±∞ where the slope grows without bound, and where y jumps.  ``v`` has the shape of ``wrt``; leading axes are
        batch axes.  Raises :class:`UnsupportedError` where y has no value along v.
        """
        self.known(wrt)
        found: Values = {}
        for lead, own in _batches(self.module, arrays | {wrt + "'": v}):
            along, shape = _entries(self.module, wrt, own.pop(wrt + "'"))
            values, shapes = _given(self.module, own)
            if shape != shapes[wrt]:
                raise CardError(f"`v` has shape {shape}, but `{wrt}` has {shapes[wrt]}")
            found |= {lead + at: slope for at, slope in self._directional(wrt, along, values, shapes).items()}
        exact = any(isinstance(n, Fraction) for array in (v, *arrays.values())
                    for n in np.asarray(array, dtype=object).flat)
        return _as_array(found, exact)

    def _directional(self, wrt: str, along: Values, values: dict[str, Values], shapes: dict[str, Index]) -> Values:
        """In exact numbers where the functions have such values: not a root or an exponential of a fraction."""
        named = {known(f) for e in self.module.equations for f in names_in(e).functions}
        if all(f is None or f.exact for f in named):
            with suppress(ValueError):
                return self._slopes(wrt, along, values, shapes)
        floats = {name: {at: float(n) for at, n in tensor.items()} for name, tensor in values.items()}
        try:
            return self._slopes(wrt, {at: float(n) for at, n in along.items()}, floats, shapes)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise UnsupportedError(f"the layer has no value there, or beside it: {error}") from error

    def _slopes(self, wrt: str, along: Values, values: dict[str, Values], shapes: dict[str, Index]) -> Values:
        """y'(x; v), entry by entry."""
        moving = {name: {at: OneSided(n, along[at] if name == wrt else 0) for at, n in tensor.items()}
                  for name, tensor in values.items()}
        moved = {at: one_sided(y) for at, y in evaluate(self.module, moving, shapes)[self.module.output].items()}
        steps: Values = dict.fromkeys(moved, 0)
        with suppress(ArithmeticError, ValueError):  # there it may have no value, and one beside it
            here = evaluate(self.module, values, shapes)[self.module.output]
            steps = {at: 0 if y.value == here[at] else y.value - here[at] for at, y in moved.items()}
        if any(isinstance(y.value, complex) or isinstance(y.derivative(), complex) for y in moved.values()):
            raise ValueError("it is no real number")
        return {at: y.derivative() if abs(steps[at]) <= _ROUNDED * (1 + abs(y.value)) else math.copysign(
            math.inf, steps[at]) for at, y in moved.items()}

    def subdifferential(self, wrt: str, *, upstream: Any = None, **arrays: Any) -> Any:
        """The vertices of the Clarke subdifferential of x ↦ Σ_k upstream_k y_k(x): an array of one gradient a row.

        Exact, as Fractions, where the arrays are.  For layers that take the maximum, minimum, median or largest
        absolute value of their windows, and for those of single entries and sums of such.  Leading axes are batch
        axes: a row is then a gradient of each sample, in all combinations.  Raises :class:`UnsupportedError` for
        other layers, and where there are too many vertices.
        """
        self.known(wrt)
        delta = f"delta_{self.module.output}"
        places: list[Index] = []
        choices: list[Choice] = []
        exact = False
        for lead, own in _batches(self.module, arrays | ({} if upstream is None else {delta: upstream})):
            choices += [replace(c, entries=tuple(lead + e for e in c.entries))
                        for c in self._choices(wrt, own.pop(delta, None), own)]
            values, _ = _given(self.module, own)
            places += [lead + at for at in values[wrt]]
            exact |= any(isinstance(n, Fraction) for tensor in values.values() for n in tensor.values())
        found = [_as_array({at: Fraction(v.get(at, 0)) for at in places}, True) for v in vertices(choices)]
        return np.stack(found).astype(object if exact else np.float64)

    def is_subgradient(self, gradient: Any, *, upstream: Any = None, wrt: str | None = None, **arrays: Any) -> bool:
        """Whether ``gradient`` lies in the Clarke subdifferential of x ↦ Σ_k upstream_k y_k(x).

        For the layers of :meth:`subdifferential`; decided exactly, for as many ties as can be listed.  Leading axes
        are batch axes: it is one where it is one of each sample.
        """
        if wrt is None:
            (wrt,) = self.module.inputs
        delta = f"delta_{self.module.output}"
        given = arrays | {wrt + "'": gradient} | ({} if upstream is None else {delta: upstream})
        for _, own in _batches(self.module, given):
            found, _ = _entries(self.module, wrt, own.pop(wrt + "'"))
            if not contains(found, self._choices(wrt, own.pop(delta, None), own)):
                return False
        return True

    def _choices(self, wrt: str, upstream: Any, arrays: Mapping[str, Any]) -> list[Choice]:
        """What the windows of the layer, or its entries, can choose where they tie."""
        module = with_axes(self.module)
        values, shapes = _given(module, arrays)
        if upstream is None and module.definition(module.output)[0].indices:
            raise CardError(f"`upstream` is missing: the gradient by `{module.output}`, in its shape")
        weights: Values = {(): 1} if upstream is None else _entries(module, module.output, upstream)[0]
        if not separable(module):
            node = selection(module)
            return [choice(s, node, values[wrt], Fraction(weights[s.output]))
                    for s in active_sets(module, values, shapes) if weights[s.output]]
        found = []
        for at in values[wrt]:
            ends = []
            for sign in (1, -1):
                along = {place: sign * int(place == at) for place in values[wrt]}
                slopes = self._directional(wrt, along, values, shapes)
                if any(math.isinf(s) for s in slopes.values()):
                    raise UnsupportedError(f"no generalised derivative: a one-sided one is infinite at {at}")
                terms = (sign * Fraction(weights[out]) * Fraction(s) for out, s in slopes.items())
                ends.append(sum(terms, Fraction(0)))
            found.append(Choice(Fraction(1), (at,), (tuple(dict.fromkeys(ends)),)))
        return found

    def known(self, wrt: str) -> None:
        """Raise :class:`CardError` for a letter that is not given to the layer."""
        if wrt not in self.messages.letters:
            names = ", ".join(f"`{name}`" for name in self.messages.letters)
            raise CardError(f"`{wrt}` is no input, parameter or constant of this layer; these are {names}")


def _batches(module: Module, arrays: Mapping[str, Any]) -> Iterator[tuple[Index, dict[str, Any]]]:
    """(batch index, the arrays of that sample) for each sample; what has no batch axes is the same for all."""
    found = {name: np.asarray(value, dtype=object) for name, value in arrays.items()}
    plain = {name: name.removeprefix("delta_").rstrip("'") for name in found}
    own = {name: rank(module, tensor) for name, tensor in plain.items() if tensor in (*module.given, *module.defined)}
    leads = {array.shape[:array.ndim - own[name]] for name, array in found.items() if array.ndim > own.get(name, 99)}
    if len(leads) > 1:
        raise CardError(f"the batch axes differ: {', '.join(map(str, sorted(leads)))}")
    for at in itertools.product(*map(range, next(iter(leads), ()))):
        yield at, {name: array[at] if at and array.ndim > own.get(name, 99) else array for name, array in found.items()}


def _entries(module: Module, name: str, value: object) -> tuple[Values, Index]:
    """(index, counted as the formula counts → number; shape) of one tensor.

    Raises :class:`CardError` for a wrong rank and for what is no number.
    """
    array = np.asarray(value, dtype=object)
    if array.ndim != rank(module, name):
        raise CardError(f"`{name}` has shape {array.shape}, but it needs {rank(module, name)} axes; no batch axes here")
    first = tuple(axes(module).origin(name, d) for d in range(array.ndim))
    found = {}
    for at in itertools.product(*map(range, array.shape)):
        number = array[at].item() if isinstance(array[at], np.generic) else array[at]
        if not isinstance(number, (int, float, Fraction)):
            raise CardError(f"`{name}` is not an array of numbers")
        if math.isnan(number):
            raise CardError(f"`{name}` is not a number (NaN) at ({', '.join(map(str, at))})")
        found[tuple(map(sum, zip(at, first, strict=True)))] = int(number) if isinstance(number, bool) else number
    return found, array.shape


def _given(module: Module, arrays: Mapping[str, object]) -> tuple[dict[str, Values], dict[str, Index]]:
    """The entries and the shapes of all that the layer is given."""
    refuse_names(arrays, module.given)
    found = {name: _entries(module, name, arrays[name]) for name in module.given}
    return {n: v for n, (v, _) in found.items()}, {n: s for n, (_, s) in found.items()}


def _as_array(values: Mapping[Index, Any], exact: bool) -> Any:
    """An array of the values: Fractions if they are to stay exact and are rational, else float64."""
    if not values:
        return np.zeros(0)
    lows, highs = ([f(c) for c in zip(*values, strict=True)] for f in (min, max))
    exact = exact and all(isinstance(v, (int, Fraction)) for v in values.values())
    array = np.empty([h - low + 1 for low, h in zip(lows, highs, strict=True)], object if exact else np.float64)
    for at, value in values.items():
        array[tuple(i - low for i, low in zip(at, lows, strict=True))] = Fraction(value) if exact else value
    return array
