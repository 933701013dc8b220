"""Numbers that carry more than a value: their comparisons, all from one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any


class Ordered:
    """a < b, a ≤ b, … and a = b by the sign of a − b, which a number of this kind finds in its own way."""

    __slots__ = ()

    @abstractmethod
    def _order(self, other: Any) -> int:
        """1, 0 or −1, as a > b, a = b or a < b."""

    def __lt__(self, other: Any) -> bool:
        return self._order(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._order(other) <= 0

    def __gt__(self, other: Any) -> bool:
        return self._order(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._order(other) >= 0

    def __eq__(self, other: object) -> bool:
        return self._order(other) == 0

    def __ne__(self, other: object) -> bool:
        return self._order(other) != 0

    __hash__ = None  # type: ignore[assignment]
