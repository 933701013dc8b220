"""One axis of adaptive pooling: the number of windows is given, their cells follow from the input's size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.errors import UnsupportedError
from derive.window_axis import Axis


@dataclass(frozen=True)
class AdaptiveAxis(Axis):
    """Ω(k) = {⌊k n/m⌋, …, ⌈(k+1) n/m⌉ − 1} for m = ``outputs`` windows, whatever n is."""

    outputs: int

    def output_size(self, n: int) -> int:
        return self.outputs

    def start(self, k: Any, n: int) -> Any:
        return k * n // self.outputs

    def stop(self, k: Any, n: int) -> Any:
        return -(-(k + 1) * n // self.outputs)

    @property
    def step(self) -> int:
        return 1

    @property
    def padded(self) -> bool:
        return False

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

    def _none(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"the windows of adaptive pooling have no one {what}")

    @property
    def kernel_size(self) -> int:
        raise self._none("kernel size")

    @property
    def stride(self) -> int:
        raise self._none("stride")

    @property
    def padding(self) -> int:
        raise self._none("padding")

    dilation = 1
    tiles = False  # only where m divides n
    overlaps = True
    gaps = False
