"""What the catalogue says of a layer: its names, its options and its forward formula, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from derive.errors import UnsupportedError
from derive.records import dataclass

_AXES = {1: ("k", "i"), 2: ("k,l", "i,j"), 3: ("k,l,m", "i,j,h")}
_SIZES = {1: ("n",), 2: ("n", "m"), 3: ("N", "M", "P")}
Options = Mapping[str, Any]


@dataclass(frozen=True)
class Letters:
    """The letters of a formula for ``rank`` axes; a ``whole`` input is one window, and the output a number."""

    rank: int
    whole: bool = False

    def __post_init__(self) -> None:
        if self.rank not in _AXES:
            raise UnsupportedError(f"{self.rank} axes; layers of the catalogue have 1, 2 or 3")

    @property
    def output(self) -> str:
        """f_{k,l}, or f."""
        return "f" if self.whole else f"f_{{{_AXES[self.rank][0]}}}"

    @property
    def entry(self) -> str:
        """x_{i,j}."""
        return f"x_{{{_AXES[self.rank][1]}}}"

    @property
    def members(self) -> str:
        r"""(i,j) \in \Omega(k,l), or i,j."""
        out, into = _AXES[self.rank]
        if self.whole:
            return into
        return rf"{into if self.rank == 1 else f'({into})'} \in \Omega({out})"

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the input's extents."""
        return _SIZES[self.rank]

    @property
    def indices(self) -> tuple[str, ...]:
        """The letters of the input's axes."""
        return tuple(_AXES[self.rank][1].split(","))

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(_AXES[self.rank][0].split(","))

    @property
    def count(self) -> str:
        r"""|\Omega(k,l)|, or n m: how many entries a window has."""
        return " ".join(self.sizes) if self.whole else rf"|\Omega({_AXES[self.rank][0]})|"


Formula = Callable[[Letters, Options], str]


@dataclass(frozen=True)
class Layer:
    r"""A layer over windows: ``formula`` writes the reduction of one window in the letters it is given.

    ``aliases`` are further names; ``words`` is what prose calls it; ``options`` what it
    takes besides its geometry, with the values they have unless given.  ``form`` says
    what its windows are: ``"window"``, ``"global"`` or ``"adaptive"``.
    """

    name: str
    aliases: tuple[str, ...]
    formula: Formula
    words: str
    options: Options = field(default_factory=dict, hash=False)
    tie_rules: tuple[str, ...] = ("first", "last", "split")
    form: str = "window"

    def latex(self, rank: int, options: Options | None = None) -> str:
        r"""f_{k,l} = \max_{(i,j) \in \Omega(k,l)} x_{i,j} for rank 2.

        Raises :class:`UnsupportedError` beyond rank 3.
        """
        letters = Letters(rank, self.form == "global")
        return f"{letters.output} = {self.formula(letters, {**self.options, **(options or {})})}"

    def over(self, form: str) -> Layer:
        """The same reduction over windows that have no padding: ``global_max_pool``, ``adaptive_max_pool``."""
        return Layer(f"{form}_{self.name}", tuple(f"{form}_{a}" for a in self.aliases), self.formula,
                     f"{form} {self.words}", {k: v for k, v in self.options.items() if k != "count_include_pad"},
                     self.tie_rules, form)
