"""The windows of a layer in numbers: what words leave out follows from overlap, sides and the output that they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

from derive.question.told.values import Unread, Untrue, Value
from derive.records import dataclass

Sizes = tuple[int, ...]
_LONGEST = 100  # window of which every entry is counted


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

    @property
    def members(self) -> tuple[int, ...]:
        """In how many windows the entries of the input are."""
        return tuple({prod(of) for of in product(*(self._members(axis) for axis in range(self.rank)))})

    @property
    def covers(self) -> bool:
        """Whether the windows hold every entry, and none of them is short of the edge."""
        axes = zip(self.sizes, self.kernel, self.stride, self.dilation, self.padding, strict=True)
        return 0 not in self.members and all(
            n is None or (n + sum(p) - d * (k - 1) - 1) % s == 0 for n, k, s, d, p in axes)

    def _members(self, axis: int) -> set[int]:
        """The same along an axis; a long one, where its length is not known."""
        span, stride = self.dilation[axis] * (self.kernel[axis] - 1) + 1, self.stride[axis]
        size = self.sizes[axis]
        if span > _LONGEST:
            raise Unread("how long the windows are")
        whole = span + stride * span  # the pattern repeats behind it
        length = whole if size is None else size if size < 2 * whole else 2 * whole + (size - 2 * whole) % stride
        (before, behind), taps = self.padding[axis], range(0, span, self.dilation[axis])
        counts = Counter(start + tap - before for start in range(0, length + before + behind - span + 1, stride)
                         for tap in taps)
        return {counts[i] for i in range(length)}


def geometry(layer: Value, sizes: tuple[int | None, ...]) -> Geometry:
    """The windows over an input of these sizes; raises :class:`Unread` where they are open, or said in two ways."""
    given = layer.options
    rank = given.get("rank", len(sizes))
    if len(sizes) != rank:
        raise Unread("the axes of what the windows run over")
    gap = int(given.get("gap", "0"))
    if rank == 1 and "kernel" not in given and "cells" in given:  # «the mean of three neighbouring samples»
        given = {**given, "kernel": (given["cells"],)}
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
    if any(n is not None and n < 1 for n in found.outputs):
        raise Unread("the size of the output")
    for wrong in _untrue(given, found):
        raise Untrue(wrong)
    return found


# what words say that follows from the size of the windows, their movement and padding
CLAIMS = frozenset("output count cells most some shared cover inside parity halved same".split())


def _untrue(given: dict[str, Any], found: Geometry) -> Iterator[str]:
    """What the words claim of windows and is not so; a count of outputs needs the input's size."""
    said = {key: value for key in ("count", "cells", "most", "some") if (value := given.get(key)) is not None}
    if not all(value.isdecimal() for value in (*said.values(), *given.get("shared", ()))):
        raise Unread("the number of windows")
    claimed = _numbers(given, "output", found.rank)
    if (claimed or "count" in said) and None in found.outputs:
        raise Unread("the size of the input")
    if claimed not in (None, found.outputs):
        yield (f"an input of size {_size(found.sizes)} gives an output of size {_size(found.outputs)}, "
               f"not {_size(claimed)}")
    if given.get("same") and _same(found) is False:
        yield "the output is not as large as the input"
    if "count" in said and int(said["count"]) != prod(n or 0 for n in found.outputs):
        yield f"there are {prod(n or 0 for n in found.outputs)} windows"
    if int(said.get("cells", prod(found.kernel))) != prod(found.kernel):
        yield f"a window holds {prod(found.kernel)} entries"
    if {"most", "some", "shared"} & given.keys():
        most, shared = max(found.members), {*map(int, given.get("shared", ()))}
        if int(said.get("most", most)) != most or int(said.get("some", most)) > most or (
                shared and shared != {*found.members} - {0}):
            yield f"an entry is in up to {most} windows"
    if given.get("halved") and any(k != 2 or s != 2 or p != (0, 0) or (n or 0) % 2 for k, s, p, n in zip(
            found.kernel, found.stride, found.padding, found.sizes, strict=True)):
        yield "height and width are not halved"
    if given.get("cover") and not found.covers:
        yield "the windows do not cover the input exactly"
    if given.get("inside") and any(map(any, found.padding)):
        yield "windows reach into the padding"
    if "parity" in given and any(n is not None and n % 2 != (given["parity"] == "odd") for n in found.sizes):
        yield f"the input has the size {_size(found.sizes)}"


def _size(sizes: tuple[int | None, ...] | None) -> str:
    return "×".join(str(n or "?") for n in sizes or ())


def _numbers(given: dict[str, Any], key: str, rank: int, default: int | None = None) -> Sizes | None:
    said = given.get(key)
    if said is None:
        return None if default is None else (default,) * rank
    if len(said) not in (1, rank) or not all(n.isdecimal() for n in said):
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
        if stride not in (None, left):
            raise Untrue(f"windows overlap by {_size(tuple(k - s for k, s in zip(kernel, stride or (), strict=True)))}")
        if (half and any(k % 2 for k in kernel)) or min(left) < 1:
            raise Unread("the overlap of the windows")
        stride = left
    if stride is None:
        stride = kernel if layer.made == "pool" else (1,) * rank
        if given.get("overlapping"):
            raise Unread("the overlap of the windows")
    if 0 in stride:
        raise Unread("the movement of the windows")
    if (given.get("disjoint") and any(s < k for s, k in zip(stride, kernel, strict=True))) or (
            given.get("overlapping") and all(s >= k for s, k in zip(stride, kernel, strict=True))):
        raise Untrue(f"windows of size {_size(kernel)} move by {_size(stride)}")
    return stride


def _padding(given: dict[str, Any], bare: Geometry) -> Iterator[tuple[int, int]]:
    """The cells before and behind: as they are said, or so many as the output needs that is said."""
    where, *cells = given.get("padding", ("",))
    side = where or given.get("side", "both")
    said = _numbers({"padding": cells}, "padding", bare.rank) if cells else None
    if (side != given.get("side", side) or side != "both" and bare.rank > 1) and any(said or ()):
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
