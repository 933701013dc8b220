"""The windows of a layer in numbers: what words leave out follows from overlap, sides and the output that they say."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from derive.question.told.values import Unread, Value
from derive.records import dataclass

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Geometry:
    """A number an axis; of the padding the cells before and behind; sizes of input and output where they are known."""

    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    padding: tuple[tuple[int, int], ...]
    sizes: tuple[int | None, ...]

    @property
    def rank(self) -> int:
        return len(self.kernel)

    @property
    def outputs(self) -> tuple[int | None, ...]:
        return tuple(None if n is None else (n + sum(p) - d * (k - 1) - 1) // s + 1 for n, k, s, d, p in zip(
            self.sizes, self.kernel, self.stride, self.dilation, self.padding, strict=True))


def geometry(layer: Value, sizes: tuple[int | None, ...]) -> Geometry:
    """The windows over an input of these sizes; raises :class:`Unread` where they are open, or said in two ways."""
    given = layer.options
    rank = given.get("rank", len(sizes))
    if len(sizes) != rank:
        raise Unread("the axes of what the windows run over")
    gap = int(given.get("gap", "0"))
    kernel, dilation = _numbers(given, "kernel", rank), _numbers(given, "dilation", rank, gap + 1)
    if kernel is None or dilation is None or 0 in (*kernel, *dilation):
        raise Unread("the size of the windows")
    stride = _stride(layer, kernel)
    uneven = given.get("square") and len({*kernel}) > 1
    if (gap and {*dilation} != {gap + 1}) or uneven or (given.get("dilated") and max(dilation) == 1) or (
            given.get("strided") and max(stride) == 1):
        raise Unread("the windows")
    found = Geometry(kernel, stride, dilation, ((0, 0),) * rank, sizes)
    found = Geometry(kernel, stride, dilation, tuple(_padding(given, found)), sizes)
    claimed = _numbers(given, "output", rank)
    if "count" in given and (None in found.outputs or str(prod(n or 0 for n in found.outputs)) != given["count"]):
        raise Unread("the number of windows")
    if (claimed is not None and found.outputs != claimed) or (given.get("same") and _same(found) is False) or any(
            n is not None and n < 1 for n in found.outputs):
        raise Unread("the size of the output")
    return found


def _numbers(given: dict[str, Any], key: str, rank: int, default: int | None = None) -> Sizes | None:
    said = given.get(key)
    if said is None:
        return None if default is None else (default,) * rank
    if len(said) not in (1, rank) or not all(n.isdigit() for n in said):
        raise Unread(f"the {key} of the windows")
    found = tuple(map(int, said))
    return found * rank if len(found) < rank else found


def _stride(layer: Value, kernel: Sizes) -> Sizes:
    """The stride: as it is said, or what the overlap leaves of the window; that of a pooling is else the window."""
    given, rank = layer.options, len(kernel)
    stride = _numbers(given, "stride", rank)
    if "overlap" in given:
        half = given["overlap"] == "half"
        shared = tuple(k // 2 for k in kernel) if half else _numbers(given, "overlap", rank) or ()
        left = tuple(k - n for k, n in zip(kernel, shared, strict=True))
        if (half and any(k % 2 for k in kernel)) or stride not in (None, left) or min(left) < 1:
            raise Unread("the overlap of the windows")
        stride = left
    if stride is None:
        stride = kernel if layer.made == "pool" else (1,) * rank
        if given.get("overlapping"):
            raise Unread("the overlap of the windows")
    if 0 in stride or (given.get("disjoint") and any(s < k for s, k in zip(stride, kernel, strict=True))) or (
            given.get("overlapping") and all(s >= k for s, k in zip(stride, kernel, strict=True))):
        raise Unread("the movement of the windows")
    return stride


def _padding(given: dict[str, Any], bare: Geometry) -> Iterator[tuple[int, int]]:
    """The cells before and behind: as they are said, or so many as the output needs that is said."""
    where, *cells = given.get("padding", ("",))
    side = where or given.get("side", "both")
    said = _numbers({"padding": cells}, "padding", bare.rank) if cells else None
    if side != given.get("side", side) and any(said or ()):
        raise Unread("the side of the padding")
    needs = given.get("same") or (given.get("fill") == "zeros" and "output" in given)
    if said is None and given.get("fill") and not needs:
        raise Unread("how many cells are added")
    outputs = _numbers(given, "output", bare.rank)
    for axis in range(bare.rank):
        count = said[axis] if said is not None else 0
        if said is None and needs:
            if bare.stride[axis] != 1:
                raise Unread("how many cells are added")
            count, size = bare.dilation[axis] * (bare.kernel[axis] - 1), bare.sizes[axis]
            if outputs is not None and not given.get("same"):
                if size is None:
                    raise Unread("how many cells are added")
                count += outputs[axis] - size
            if count < 0 or (side == "both" and count % 2):
                raise Unread("how many cells are added")
            count = count // 2 if side == "both" else count
        yield (count if side != "right" else 0, count if side != "left" else 0)


def _same(found: Geometry) -> bool | None:
    """Whether the output is as long as the input."""
    return all(s == 1 and sum(p) == d * (k - 1) for k, s, d, p in zip(
        found.kernel, found.stride, found.dilation, found.padding, strict=True))
