"""Convolutions as networks have them: cross-correlations of a kernel with the entries it covers, 0 outside the input.

Coordinates start at 0.  Without padding the outputs run as far as keeps all entries inside; with it their number and
the entries that exist are said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from derive.errors import CardError, UnsupportedError
from derive.layers.arguments import paddings, sizes
from derive.layers.catalogue import Forward, Layer, Letter, Options
from derive.layers.linear import BIAS, TIMES, UNIT, WEIGHTS
from derive.records import dataclass

_OUT, _CELL, _IN, _EXTENT, _KERNEL = "ij", "pq", "uv", "nm", "PQ"
_SIZES = {**{c: Letter("", (c, "N", "M", "H", "D"), "sizes") for c in "nm"},
          **{c: Letter("", (c, "A", "B", "S", "T"), "sizes") for c in "PQ"},
          "C": Letter("", ("C", "D", "G"), "sizes"), "K": Letter("", ("K", "F", "M"), "sizes")}
_OPTIONS: Mapping[str, Any] = {"kernel_size": None, "stride": 1, "padding": 0, "dilation": 1, "bias": None,
                               "channels": True, "input_channels": None, "filters": None}


@dataclass(frozen=True)
class _Axis:
    """One axis of the kernel: K cells, a number or a letter, in steps of s, d apart, with p cells added in front."""

    at: int
    kernel: int | str
    stride: int
    dilation: int
    padding: tuple[int, int]

    @property
    def padded(self) -> bool:
        return self.padding != (0, 0)

    @property
    def entry(self) -> str:
        """2i + 3p − 1, the coordinate that cell p of the kernel at i covers."""
        shift = f" - {self.padding[0]}" if self.padding[0] else ""
        return f"{_times(self.stride, _OUT[self.at])} + {_times(self.dilation, _CELL[self.at])}{shift}"

    @property
    def sum(self) -> str:
        cell, n = _CELL[self.at], _EXTENT[self.at]
        if self.padded:
            return rf"\sum_{{{cell} : 0 \le {self.entry} < {n}}} "
        last = self.kernel - 1 if isinstance(self.kernel, int) else f"{self.kernel} - 1"
        return rf"\sum_{{{cell}=0}}^{{{last}}} "

    @property
    def range(self) -> str:
        r"""0 \le i < \lfloor (n + p + p' − d(K − 1) − 1)/s \rfloor + 1."""
        room = sum(self.padding) + self.dilation - 1
        less = ""
        if isinstance(self.kernel, int):
            room -= self.dilation * self.kernel
        else:
            less = f" - {_times(self.dilation, self.kernel)}"
        reach = f"{_EXTENT[self.at]}{less}{_plus(room)}"
        count = f"{_EXTENT[self.at]}{less}{_plus(room + 1)}"
        if self.stride > 1:
            count = rf"\lfloor ({reach}) / {self.stride} \rfloor + 1"
        return rf"0 \le {_OUT[self.at]} < {count}"

    @property
    def back(self) -> str:
        """i − 2u + 1, the cell through which entry u of the input reaches output i of a transposed convolution."""
        return f"{_OUT[self.at]} - {_times(self.stride, _IN[self.at])}{_plus(self.padding[0])}"

    @property
    def spread(self) -> str:
        r"""0 \le i < 2n + 1: s (n − 1) + K − p − p' entries."""
        room = -self.stride - sum(self.padding) + (self.kernel if isinstance(self.kernel, int) else 0)
        more = "" if isinstance(self.kernel, int) else f" + {self.kernel}"
        return rf"0 \le {_OUT[self.at]} < {_times(self.stride, _EXTENT[self.at])}{more}{_plus(room)}"


def _times(factor: int, letter: str) -> str:
    return letter if factor == 1 else f"{factor}{letter}"


def _plus(number: int) -> str:
    return f" + {number}" if number > 0 else f" - {-number}" if number else ""


def _axes(rank: int, options: Options) -> tuple[_Axis, ...]:
    """The kernel's axes; raises :class:`CardError` for sizes out of range."""
    kernel: tuple[int | str, ...] = tuple(_KERNEL[:rank])
    if options["kernel_size"] is not None:
        kernel = _positive("kernel_size", options["kernel_size"], rank)
    stride, dilation = (_positive(what, options[what], rank) for what in ("stride", "dilation"))
    return tuple(_Axis(d, kernel[d], stride[d], dilation[d], _padding(options, d, rank, kernel[d], stride[d],
                                                                     dilation[d])) for d in range(rank))


def _positive(what: str, value: Any, rank: int) -> tuple[int, ...]:
    found = sizes(what, value, rank, rank)
    if min(found) < 1:
        raise CardError(f"`{what}: {value}` is not a positive integer")
    return found


def _padding(options: Options, axis: int, rank: int, kernel: int | str, stride: int, dilation: int) -> tuple[int, int]:
    value = options["padding"]
    if value == "same":
        if stride > 1 or isinstance(kernel, str):
            raise CardError("`padding: same` takes a `kernel_size` in numbers and stride 1; write the cells added")
        total = dilation * (kernel - 1)
        return total // 2, total - total // 2
    before, behind = paddings(value, rank)[axis]
    if min(before, behind) < 0:
        raise CardError(f"`padding: {value}` is negative")
    return before, behind


def _channels(options: Options) -> bool:
    value = options.get("channels", True)
    if not isinstance(value, bool):
        raise CardError(f"`channels: {value}` is neither true nor false")
    return value


def _shape(letter: str, *extents: object) -> str:
    return rf"{letter} \in \mathbb{{R}}^{{{TIMES.join(map(str, extents))}}}"


def _convolution(dims: int, depthwise: bool = False) -> Callable[[int, Options], Forward]:
    r"""y_{kij} = \sum_c \sum_p \sum_q W_{kcpq} x_{c,i+p,j+q} + b_k."""

    def forward(rank: int, options: Options) -> Forward:
        along = _axes(dims, options)
        channels, cells = depthwise or _channels(options), _CELL[:dims]
        out, of, inside = ("c", "c", "c,") if depthwise else ("k", "kc", "c,") if channels else ("", "", "")
        weight = "W" if channels else "w"
        bias = (f" + b_{{{out}}}" if channels else " + b") if options["bias"] is not False else ""
        sums = (r"\sum_{c} " if channels and not depthwise else "") + "".join(a.sum for a in along)
        entries = ",".join(a.entry for a in along)
        formula = rf"y_{{{out}{_OUT[:dims]}}} = {sums}{weight}_{{{of}{cells}}} x_{{{inside}{entries}}}{bias}"
        maps = options["input_channels"] or "C"
        first: list[object] = [maps] if depthwise else [options["filters"] or "K", maps] if channels else []
        padded = any(a.padded for a in along)
        shapes = [_shape("x", *[maps] * channels, *_EXTENT[:dims])] if padded else []
        if padded or options.get("filters") or options["input_channels"]:
            shapes.append(_shape(weight, *first, *(a.kernel for a in along)))
        return Forward((formula,), tuple(shapes), tuple(a.range for a in along if a.padded))

    return forward


def _transposed(dims: int) -> Callable[[int, Options], Forward]:
    r"""y_{ki} = \sum_c \sum_{u : 0 \le i − 2u < K} W_{c,k,i−2u} x_{cu} + b_k: every entry spreads the kernel."""

    def forward(rank: int, options: Options) -> Forward:
        along = _axes(dims, options)
        if any(a.dilation > 1 for a in along):
            raise UnsupportedError("a transposed convolution with gaps in its kernel; write its formula")
        channels = _channels(options)
        weight, of, at, inside = ("W", "c,k,", "k", "c") if channels else ("w", "", "", "")
        bias = (" + b_{k}" if channels else " + b") if options["bias"] is not False else ""
        sums = r"\sum_{c} " * channels + "".join(
            rf"\sum_{{{_IN[a.at]} : 0 \le {a.back} < {a.kernel}}} " for a in along)
        cells = ",".join(a.back for a in along)
        formula = (rf"y_{{{at}{_OUT[:dims]}}} = {sums}{weight}_{{{of}{cells}}} "
                   rf"x_{{{inside}{_IN[:dims]}}}{bias}")
        maps = options["input_channels"] or "C"
        sides: list[object] = [maps, options["filters"] or "K"] if channels else []
        shapes = (_shape("x", *[maps] * channels, *_EXTENT[:dims]), _shape(weight, *sides, *(a.kernel for a in along)))
        return Forward((formula,), shapes, tuple(a.spread for a in along))

    return forward


def _pointwise(rank: int, options: Options) -> Forward:
    r"""y_{kij} = \sum_c W_{kc} x_{cij} + b_k: a linear layer at every position."""
    bias = " + b_{k}" if options["bias"] is not False else ""
    return Forward((rf"y_{{kij}} = \sum_{{c}} W_{{kc}} x_{{cij}}{bias}",))


_LETTERS = {"W": Letter("weights", WEIGHTS.choices, "parameters"), "w": UNIT, "b": BIAS, **_SIZES}
_SEEN = "a cross-correlation, which networks call convolution"


_DEPTHWISE = {k: v for k, v in _OPTIONS.items() if k not in ("channels", "filters")}


def _layer(name: str, words: str, forward: Callable[[int, Options], Forward], dims: int, *aliases: str,
           **more: Any) -> Layer:
    return Layer(name, words, forward, _LETTERS, aliases, rank=lambda options: dims + _channels(options),
                 options=more.pop("options", _OPTIONS), first="kernel_size", **more)


LAYERS = (
    _layer("conv1d", "one-dimensional convolution", _convolution(1), 1, "convolution1d", source=_SEEN),
    _layer("conv2d", "convolution", _convolution(2), 2, "convolution", "conv", "convolution2d", source=_SEEN),
    _layer("depthwise_conv1d", "one-dimensional depthwise convolution", _convolution(1, True), 1,
           options=_DEPTHWISE),
    _layer("depthwise_conv2d", "depthwise convolution", _convolution(2, True), 2, "depthwise_convolution", "depthwise",
           options=_DEPTHWISE),
    Layer("pointwise_conv2d", "1×1 convolution", _pointwise, {"W": _LETTERS["W"], "b": BIAS},
          ("pointwise_convolution", "pointwise"), rank=3, options={"bias": None}, source=_SEEN),
    _layer("conv_transpose1d", "one-dimensional transposed convolution", _transposed(1), 1, "transposed_conv1d"),
    _layer("conv_transpose2d", "transposed convolution", _transposed(2), 2, "transposed_convolution",
           "transposed_conv2d", "deconvolution"),
)
