"""One axis of a window set: which cells each window covers, and which windows cover a cell.

Methods that take k, i or n work on integers and, entry by entry, on integer arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from math import gcd
from typing import TYPE_CHECKING, Any

from derive.errors import UnsupportedError
from derive.records import dataclass


class Axis(ABC):
    """Ω(k) = {start, start + step, …} below stop, ∩ [0, n)."""

    @abstractmethod
    def output_size(self, n: int) -> int:
        """How many windows an input of n cells has; 0 where there is none."""

    @abstractmethod
    def start(self, k: Any, n: int) -> Any:
        """The first cell of window k, in padding or not."""

    @abstractmethod
    def stop(self, k: Any, n: int) -> Any:
        """One past the last cell of window k."""

    @property
    @abstractmethod
    def step(self) -> int:
        """The distance of a window's cells."""

    @abstractmethod
    def most_cells(self, n: int) -> int:
        """No window covers more cells."""

    @abstractmethod
    def reaching(self, i: Any, n: int) -> tuple[Any, Any]:
        """The first and the last k, as if there were windows without end, whose span includes i."""

    @abstractmethod
    def most_reaching(self, n: int) -> int:
        """No cell lies in the span of more windows."""

    def covered(self, k: int, n: int) -> range:
        """The input coordinates of window k that exist."""
        start, stop = self.start(k, n), min(self.stop(k, n), n)
        return range(start + max(0, -(start // self.step)) * self.step, stop, self.step)

    @abstractmethod
    def covering(self, i: int, n: int) -> range:
        """The windows that contain coordinate i."""

    def clips(self, n: int) -> bool:
        """A window has fewer cells in the input of n cells than it has by itself."""
        return any(len(self.covered(k, n)) < len(range(self.start(k, n), self.stop(k, n), self.step))
                   for k in range(self.output_size(n)))

    def misses(self, n: int) -> bool:
        """A window has no cell in the input of n cells: it lies wholly in padding."""
        return any(not self.covered(k, n) for k in range(self.output_size(n)))

    @property
    @abstractmethod
    def padded(self) -> bool:
        """There are cells around the input, or the last window may run beyond it."""

    if TYPE_CHECKING:  # no class attributes: a dataclass would take them for defaults

        @property
        def kernel_size(self) -> int: ...
        @property
        def stride(self) -> int: ...
        @property
        def padding(self) -> int: ...
        @property
        def dilation(self) -> int: ...
        @property
        def overlaps(self) -> bool: ...


@dataclass(frozen=True)
class WindowAxis(Axis):
    """Ω(k) = {s k − p + d a : 0 ≤ a < K} ∩ [0, n).

    ``kernel_size`` K ≥ 1, ``stride`` s ≥ 1, ``padding`` p ≥ 0 cells before the input and ``padding_after`` (as many
    unless given) behind it, ``dilation`` d ≥ 1.  ``ceil_mode``: the last window may run beyond the padded input.
    """

    kernel_size: int
    stride: int
    padding: int = 0
    dilation: int = 1
    padding_after: int = -1
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        if self.padding_after < 0:
            object.__setattr__(self, "padding_after", self.padding)

    def __repr__(self) -> str:
        """Without the sizes that have their usual value."""
        usual = {"dilation": 1, "padding_after": self.padding, "ceil_mode": False}
        shown = [f"{f.name}={v!r}" for f in fields(self) if (v := getattr(self, f.name)) != usual.get(f.name)]
        return f"WindowAxis({', '.join(shown)})"

    @property
    def span(self) -> int:
        """d (K − 1) + 1: from the first cell of a window to its last."""
        return self.dilation * (self.kernel_size - 1) + 1

    @property
    def step(self) -> int:
        return self.dilation

    @property
    def padded(self) -> bool:
        return bool(self.padding or self.padding_after or self.ceil_mode)

    def output_size(self, n: int) -> int:
        """⌊(n + p + p' − d(K−1) − 1)/s⌋ + 1; with ``ceil_mode`` ⌈·⌉, less 1 where the last window starts behind n."""
        room = n + self.padding + self.padding_after - self.span
        if not self.ceil_mode:
            return room // self.stride + 1 if room >= 0 else 0
        out = -(-room // self.stride) + 1
        return max(0, out - 1 if (out - 1) * self.stride >= n + self.padding else out)

    def start(self, k: Any, n: int) -> Any:
        return self.stride * k - self.padding

    def stop(self, k: Any, n: int) -> Any:
        return self.stride * k - self.padding + self.span

    def most_cells(self, n: int) -> int:
        return self.kernel_size

    def reaching(self, i: Any, n: int) -> tuple[Any, Any]:
        """⌈(i + p − d(K−1))/s⌉ and ⌊(i + p)/s⌋."""
        return -((self.span - 1 - i - self.padding) // self.stride), (i + self.padding) // self.stride

    def most_reaching(self, n: int) -> int:
        return -(-self.span // self.stride)

    def covering(self, i: int, n: int) -> range:
        """max(0, ⌈(i+p−d(K−1))/s⌉) ≤ k ≤ min(out−1, ⌊(i+p)/s⌋) with i + p − s k ≡ 0 (mod d)."""
        low, high = self.reaching(i, n)
        low, high = max(0, low), min(self.output_size(n) - 1, high)
        shared = gcd(self.stride, self.dilation)
        if (i + self.padding) % shared:
            return range(0)
        step = self.dilation // shared
        first = (i + self.padding) // shared * pow(self.stride // shared, -1, step) % step
        return range(low + (first - low) % step, high + 1, step)

    @property
    def overlaps(self) -> bool:
        """A coordinate can lie in two windows: a far one lies in ⌊(K − 1) gcd(s, d)/s⌋ + 1 at the most."""
        return (self.kernel_size - 1) * gcd(self.stride, self.dilation) >= self.stride


@dataclass(frozen=True)
class AdaptiveAxis(Axis):
    """Ω(k) = {⌊k n/m⌋, …, ⌈(k+1) n/m⌉ − 1} for m = ``outputs`` windows, whatever n is."""

    outputs: int
    step = dilation = 1
    padded, overlaps = False, True

    def output_size(self, n: int) -> int:
        return self.outputs

    def start(self, k: Any, n: int) -> Any:
        return k * n // self.outputs

    def stop(self, k: Any, n: int) -> Any:
        return -(-(k + 1) * n // self.outputs)

    def most_cells(self, n: int) -> int:
        return max(self.stop(k, n) - self.start(k, n) for k in range(self.outputs))

    def reaching(self, i: Any, n: int) -> tuple[Any, Any]:
        """⌊i m/n⌋ and ⌈(i + 1) m/n⌉ − 1."""
        return i * self.outputs // n, -(-(i + 1) * self.outputs // n) - 1

    def most_reaching(self, n: int) -> int:
        return max(len(self.covering(i, n)) for i in range(n))

    def covering(self, i: int, n: int) -> range:
        """⌊i m/n⌋ ≤ k ≤ ⌈(i + 1) m/n⌉ − 1."""
        low, high = self.reaching(i, n)
        return range(low, high + 1)

    def __getattr__(self, name: str) -> Any:
        if name in ("kernel_size", "stride", "padding"):
            raise UnsupportedError(f"the windows of adaptive pooling have no one {name.replace('_', ' ')}")
        raise AttributeError(name)
