"""Arrays of any numbers as the plain evaluator takes them, and back: Fractions stay Fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from derive.axes import axes
from derive.errors import CardError
from derive.module import Module
from derive.numeric.shapes import rank

Index = tuple[int, ...]
Values = dict[Index, Any]


def entries(module: Module, name: str, value: object) -> tuple[Values, Index]:
    """(index, counted as the formula counts → number; shape) of one tensor.

    Raises :class:`CardError` for a wrong rank and for what is no number.
    """
    array = np.asarray(value, dtype=object)
    if array.ndim != rank(module, name):
        raise CardError(f"`{name}` has shape {array.shape}, but it needs {rank(module, name)} axes; no batch axes here")
    first = origin(module, name)
    found = {}
    for at in itertools.product(*map(range, array.shape)):
        number = array[at].item() if isinstance(array[at], np.generic) else array[at]
        if not isinstance(number, (int, float, Fraction)):
            raise CardError(f"`{name}` is not an array of numbers")
        if math.isnan(number):
            raise CardError(f"`{name}` is not a number (NaN) at ({', '.join(map(str, at))})")
        found[tuple(map(sum, zip(at, first, strict=True)))] = int(number) if isinstance(number, bool) else number
    return found, array.shape


def given(module: Module, arrays: Mapping[str, object]) -> tuple[dict[str, Values], dict[str, Index]]:
    """The entries and the shapes of all that the layer is given."""
    expected = (*module.inputs, *module.parameters, *module.constants)
    problems = [f"unknown array `{name}`: the layer takes {', '.join(f'`{e}`' for e in expected)}"
                for name in arrays if name not in expected]
    problems += [f"`{name}` is missing: pass it by keyword, {name}=…" for name in expected if name not in arrays]
    if problems:
        raise CardError(*problems)
    found = {name: entries(module, name, arrays[name]) for name in expected}
    return {n: v for n, (v, _) in found.items()}, {n: s for n, (_, s) in found.items()}


def origin(module: Module, name: str) -> Index:
    return tuple(axes(module).origin(name, d) for d in range(rank(module, name)))


def as_array(values: Mapping[Index, Any], exact: bool) -> Any:
    """An array of the values: Fractions if they are to stay exact and are rational, else float64."""
    if not values:
        return np.zeros(0)
    lows, highs = ([f(c) for c in zip(*values, strict=True)] for f in (min, max))
    exact = exact and all(isinstance(v, (int, Fraction)) for v in values.values())
    array = np.empty([h - low + 1 for low, h in zip(lows, highs, strict=True)], object if exact else np.float64)
    for at, value in values.items():
        array[tuple(i - low for i, low in zip(at, lows, strict=True))] = Fraction(value) if exact else value
    return array
