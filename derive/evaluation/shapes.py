"""Which given array is which tensor, and whether its shape fits those of the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from derive.axes import Slot, axes
from derive.errors import CardError
from derive.expr import Num
from derive.module import Module
from derive.notation.symbols import latex_of
from derive.numeric.shapes import as_array, rank
from derive.render.unicode import inline

Array = NDArray[np.float64]


def letters(module: Module) -> tuple[str, ...]:
    """The tensors that are given to the layer."""
    return (*module.inputs, *module.parameters, *module.constants)


def letter(module: Module, name: str) -> str:
    """A tensor's letter in LaTeX: ``\\hat{y}`` for ``y_hat``."""
    symbol = module.table.named(name)
    return symbol.latex if symbol is not None else latex_of(name)


def shown(module: Module, name: str) -> str:
    """A tensor's letter as it is written: ``ŷ`` for ``y_hat``."""
    symbol = module.table.named(name)
    return inline(symbol.latex) if symbol is not None else name


def named(module: Module, values: Mapping[str, object]) -> tuple[dict[str, object], object]:
    """(arrays by the layer's own names, upstream gradient or None).

    A letter may be given as the card writes it (``γ`` or ``\\gamma``) or by its name (``gamma``).
    """
    own: dict[str, str] = {}
    for name in letters(module):
        symbol = module.table.named(name)
        own |= {name: name, shown(module, name): name, symbol.latex if symbol else name: name}
    delta = f"delta_{module.output}"
    ours = {"upstream", delta, f"δ_{shown(module, module.output)}"}
    unknown = [key for key in values if key not in own and key not in ours]
    problems = [f"unknown tensor `{key}`; the layer takes {_list(module)} and `upstream`" for key in unknown]
    found = {own[key]: value for key, value in values.items() if key in own}
    missing = [name for name in letters(module) if name not in found]
    problems += [f"`{name}` is missing; the layer takes {_list(module)}" for name in missing]
    upstreams = [value for key, value in values.items() if key in ours]
    if len(upstreams) > 1:
        problems.append(f"the upstream gradient is given twice; keep `upstream` or `{delta}`")
    if problems:
        raise CardError(*problems)
    return found, upstreams[0] if upstreams else None


def _list(module: Module) -> str:
    return ", ".join(f"`{name}`" for name in letters(module))


def checked(module: Module, arrays: Mapping[str, object]) -> dict[str, Array]:
    """The arrays as float64; raises :class:`CardError` where a shape is not the expected one, all of them at once."""
    found = axes(module)
    known: dict[Slot, tuple[str, int]] = {}
    problems: list[str] = []
    made = {name: _floats(name, arrays[name]) for name in letters(module)}
    for name, array in made.items():
        own = rank(module, name)
        expected = [_extent(module, name, d, known) for d in range(own)]
        fits = array.ndim == own and all(e is None or e == n for e, n in zip(expected, array.shape, strict=True))
        if not fits:
            problems.append(f"`{name}` has shape {_shape(array.shape)}, but {_expected(module, name, expected, known)}")
        elif 0 in array.shape:
            problems.append(f"`{name}` has shape {_shape(array.shape)}: it is empty")
        else:
            for d, n in enumerate(array.shape):
                known.setdefault(found.of(name, d), (name, n))
    if problems:
        raise CardError(*problems)
    return {name: as_array(module, name, array) for name, array in made.items()}


def _extent(module: Module, name: str, axis: int, known: Mapping[Slot, tuple[str, int]]) -> int | None:
    """The extent that the formula or another array gives to an axis."""
    found = axes(module)
    size = found.size(name, axis)
    if isinstance(size, Num):
        return int(size.value)
    return known[found.of(name, axis)][1] if found.of(name, axis) in known else None


def _expected(module: Module, name: str, expected: list[int | None], known: Mapping[Slot, tuple[str, int]]) -> str:
    """What the shape should be, and which tensor says so."""
    found = axes(module)
    symbol = module.table.named(name)
    sizes = symbol.sizes if symbol is not None and len(symbol.sizes) == len(expected) else ("…",) * len(expected)
    shape = _shape(tuple(n if n is not None else str(size) for n, size in zip(expected, sizes, strict=True)))
    others = dict.fromkeys(known[slot][0] for d in range(len(expected)) if (slot := found.of(name, d)) in known)
    because = " to fit " + " and ".join(f"`{other}`" for other in others) if others else ""
    return f"{shape} is expected{because}"


def _shape(shape: tuple[int | str, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def upstream_of(module: Module, given: object, output: Array) -> Array:
    """The upstream gradient in the output's shape; ones unless given."""
    if given is None:
        return np.ones_like(output)
    delta = _floats("upstream", given)
    if delta.shape != output.shape:
        expected = f"{_shape(output.shape)} is expected, that of the output `{module.output}`"
        raise CardError(f"`upstream` has shape {_shape(delta.shape)}, but {expected}")
    return as_array(module, f"delta_{module.output}", delta)


def _floats(name: str, value: object) -> Array:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise CardError(f"`{name}` is not an array of numbers") from None
