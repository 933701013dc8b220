"""Random numbers for a layer: a point such as the checks are made at, another one for each seed."""

from __future__ import annotations

from typing import Any

from derive.errors import UnsupportedError
from derive.solve import Solution
from derive.verify.points.arrays import drawn


def draw(solution: Solution, seed: int) -> dict[str, Any]:
    """An array for each letter of the layer, and an upstream gradient; the same for the same seed.

    Raises :class:`UnsupportedError` where no numbers were found at which the layer has a value.
    """
    try:
        return drawn(solution.messages.module, seed)
    except UnsupportedError as error:
        raise UnsupportedError(f"{error}; give some with --values") from None
