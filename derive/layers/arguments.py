"""The arguments of :func:`derive.layer`, checked: sizes per axis, padding, and a layer's own options."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from operator import index
from typing import Any

from derive.errors import CardError, did_you_mean
from derive.layers.catalogue import Pooling
from derive.receptive_field import ReceptiveField, WindowAxis, adaptive_field, receptive_field, same_padding

TAKES = {"window": ("kernel_size", "stride", "padding", "dilation", "ceil_mode"), "global": (),
         "adaptive": ("output_size",)}  # the geometry of each form of pooling
GEOMETRY = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "output_size")
_USUAL = {"padding": 0, "dilation": 1, "ceil_mode": False}
Sizes = int | Sequence[int]
Paddings = int | str | Sequence[int | Sequence[int]]


def sizes(what: str, value: object, rank: int | None, default: int = 2) -> tuple[int, ...]:
    """One integer per axis; a plain integer stands for ``rank`` (or ``default``) of them."""
    try:
        found = _integers(value, rank or default)
    except TypeError:
        raise CardError(f"`{what}: {value!r}` is not an integer or a sequence of integers") from None
    if not found or (rank is not None and len(found) != rank):
        raise CardError(f"`{what}: {value!r}` has {len(found)} numbers; kernel_size has {rank or 'at least 1'}")
    return found


def _integers(value: Any, count: int) -> tuple[int, ...]:
    return tuple(map(index, value)) if isinstance(value, Sequence) else (index(value),) * count


def window_field(kernel: tuple[int, ...], stride: object, padding: object, dilation: object, ceil_mode: object,
                 input_size: tuple[int, ...] | None) -> ReceptiveField:
    """The receptive field of these arguments; raises :class:`CardError` for what is no size."""
    rank = len(kernel)
    if not isinstance(ceil_mode, bool):
        raise CardError(f"`ceil_mode: {ceil_mode!r}` is neither true nor false")
    steps = None if stride is None else sizes("stride", stride, rank)
    apart = sizes("dilation", dilation, rank)
    if isinstance(padding, str) and padding != "same":
        raise CardError(f'`padding: {padding!r}` is not a number of cells, a pair per axis or "same"')
    if padding != "same":
        return receptive_field(kernel, steps, paddings(padding, rank), apart, ceil_mode)
    bare = receptive_field(kernel, steps, None, apart, ceil_mode)
    pairs = []
    for d, axis in enumerate(bare.axes):
        assert isinstance(axis, WindowAxis)
        if axis.stride > 1 and input_size is None:
            raise CardError(f'`padding: "same"` with stride {axis.stride} depends on the size of the input; '
                            "add `input_size`, or write the cells added at each end")
        pairs.append(same_padding(axis, input_size[d] if input_size is not None else axis.span))
    return receptive_field(kernel, steps, pairs, apart, ceil_mode)


def pooling_of(spec: Pooling, given: Mapping[str, Any]) -> tuple[dict[str, Any], ReceptiveField | None]:
    """The options of a pooling with the values given, and its windows; None where it takes the whole input.

    Raises :class:`CardError` for what it does not take, and for sizes out of range.
    """
    geometry = {key: given[key] for key in GEOMETRY if given.get(key) is not None}
    fitting(spec, {key for key in geometry if geometry[key] != _USUAL.get(key)} | {
        key for key in TAKES[spec.form] if key in geometry})
    own = options_of(spec, {k: v for k, v in given.items() if k not in (*GEOMETRY, "dims", "input_size")})
    rank, size = given.get("dims", 2), given.get("input_size")
    if spec.form == "global":
        return own, None
    if spec.form == "adaptive":
        return own, adaptive_field(sizes("output_size", geometry["output_size"], None, rank))
    kernel = sizes("kernel_size", geometry["kernel_size"], None, rank)
    return own, window_field(kernel, geometry.get("stride"), geometry.get("padding", 0), geometry.get("dilation", 1),
                             geometry.get("ceil_mode", False), size)


def fitting(spec: Pooling, given: set[str]) -> None:
    """Raise :class:`CardError` where an argument is not one of this form of pooling, or is missing."""
    takes = set(TAKES[spec.form])
    needs = {"window": "kernel_size", "global": None, "adaptive": "output_size"}[spec.form]
    problems = [f"`{spec.name}` takes no `{what}`" + (f"; it takes `{needs}`" if needs else "")
                for what in sorted(given - takes)]
    if needs and needs not in given:
        problems.append(f"`{spec.name}` needs `{needs}`, e.g. `{needs}: 2`")
    if problems:
        raise CardError(*problems)


def paddings(value: object, rank: int) -> list[tuple[int, int]]:
    """One integer for all axes, one an axis, or a pair (before, behind) an axis."""
    items = list(value) if isinstance(value, Sequence) else [value] * rank
    found: list[tuple[int, int]] = []
    for item in items:
        try:
            pair = _integers(item, 2)
        except TypeError:
            pair = ()
        if len(pair) != 2:
            raise CardError(f"`padding: {value!r}` is not an integer, one an axis, or a pair (before, behind) an axis")
        found.append((pair[0], pair[1]))
    if len(found) != rank:
        hint = "; for one axis write `((before, behind),)`" if rank == 1 and len(found) == 2 else ""
        raise CardError(f"`padding: {value!r}` has {len(found)} numbers; kernel_size has {rank}{hint}")
    return found


def options_of(spec: Pooling, given: Mapping[str, Any]) -> dict[str, Any]:
    """The layer's options with the values given; raises :class:`CardError` for an unknown or impossible one."""
    found = dict(spec.options)
    for name, value in given.items():
        known = "norm" if name == "norm_type" else name
        if known not in found:
            raise CardError(f"`{spec.name}` takes no `{name}`; {_hint(name, found, spec.form)}")
        found[known] = _CHECKED[known](value)
    return found


def _hint(name: str, own: Iterable[str], form: str) -> str:
    return did_you_mean(name, [*own, *TAKES[form], "tie_rule"], 0.6, "it takes")


def _real(name: str, value: object) -> Fraction:
    """A number as it is written: 0.1 is 1/10."""
    try:
        if isinstance(value, (bool, str)) or not math.isfinite(value):  # type: ignore[arg-type]
            raise TypeError
        return value if isinstance(value, Fraction) else Fraction(str(value))
    except (TypeError, ValueError):
        raise CardError(f"`{name}: {value!r}` is not a number") from None
    except OverflowError:
        raise CardError(f"`{name}` is beyond the range of floating-point numbers; write a smaller one") from None


def _sharpness(value: object) -> Fraction:
    found = _real("sharpness", value)
    if not found:
        raise CardError("`sharpness: 0` leaves nothing of the entries; any other number will do")
    return found


def _norm(value: object) -> Fraction:
    found = _real("norm", value)
    if found < 1:
        raise CardError(f"`norm: {value}` is less than 1: that is no norm")
    return found


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise CardError(f"`count_include_pad: {value!r}` is neither true nor false")
    return value


def _divisor(value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value == 0):
        raise CardError(f"`divisor_override: {value!r}` is not an integer other than 0")
    return value


_CHECKED: dict[str, Any] = {"sharpness": _sharpness, "norm": _norm, "count_include_pad": _flag,
                            "divisor_override": _divisor}
