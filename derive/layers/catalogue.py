"""What the catalogue says of a layer: its names and its forward formula, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from derive.errors import UnsupportedError

_AXES = {1: ("k", "i"), 2: ("k,l", "i,j"), 3: ("k,l,m", "i,j,h")}


@dataclass(frozen=True)
class Layer:
    r"""A layer over windows: ``formula`` with OUT and IN for the output's and the input's index letters.

    ``aliases`` are further names; ``words`` is what prose calls it.
    """

    name: str
    aliases: tuple[str, ...]
    formula: str
    words: str

    def latex(self, rank: int) -> str:
        r"""f_{k,l} = \max_{(i,j) \in \Omega(k,l)} x_{i,j} for rank 2.

        Raises :class:`UnsupportedError` beyond rank 3.
        """
        if rank not in _AXES:
            raise UnsupportedError(f"{rank} axes; layers of the catalogue have 1, 2 or 3")
        out, into = _AXES[rank]
        members = into if rank == 1 else f"({into})"
        return self.formula.replace("(IN)", members).replace("IN", into).replace("OUT", out)
