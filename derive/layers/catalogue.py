"""What the catalogue says of a layer: its names, options and letters and its forward formula, nothing else.

A formula is written in letters of its own, which stand for those that are free in a chain: ``x`` is the input, ``y``
the output, and ``letters`` says what the others are.  It holds for any number of axes where it has these in its
subscripts:

==========  =========================================================  ==========================
``\\I``      all axes of the input                                      k; i,j; k,i,j
``\\J``      the same in other letters, to sum over                     j; i,j; c,i,j
``\\K``      an axis that the layer adds                                k
``\\L``      ``\\I`` with another last letter, ``\\M``                   j of k; i,m of i,j
``\\H``      ``\\I`` without its last letter                             nothing; i
``\\F``      the first letter of ``\\I``, of the channels                   k; i; k
==========  =========================================================  ==========================
"""

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
    """The letters of a formula for ``rank`` axes; a ``whole`` input is one window, and the output a number.

    With ``channels`` an axis in front of the windows' own numbers them.
    """

    rank: int
    whole: bool = False
    channels: bool = False

    def __post_init__(self) -> None:
        if self.rank not in _AXES:
            raise UnsupportedError(f"{self.rank} axes; layers of the catalogue have 1, 2 or 3")

    @property
    def output(self) -> str:
        """f_{k,l}, or f."""
        axes = ["c"] * self.channels + [_AXES[self.rank][0]] * (not self.whole)
        return f"f_{{{','.join(axes)}}}" if axes else "f"

    @property
    def entry(self) -> str:
        """x_{i,j}."""
        return f"x_{{{'c,' * self.channels}{_AXES[self.rank][1]}}}"

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
class Pooling:
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

    def latex(self, rank: int, options: Options | None = None, channels: bool = False) -> str:
        r"""f_{k,l} = \max_{(i,j) \in \Omega(k,l)} x_{i,j} for rank 2.

        Raises :class:`UnsupportedError` beyond rank 3.
        """
        letters = Letters(rank, self.form == "global", channels)
        return f"{letters.output} = {self.formula(letters, {**self.options, **(options or {})})}"

    def over(self, form: str) -> Pooling:
        """The same reduction over windows that have no padding: ``global_max_pool``, ``adaptive_max_pool``."""
        return Pooling(f"{form}_{self.name}", tuple(f"{form}_{a}" for a in self.aliases), self.formula,
                       f"{form} {self.words}", {k: v for k, v in self.options.items() if k != "count_include_pad"},
                       self.tie_rules, form)


@dataclass(frozen=True)
class Letter:
    r"""A letter of a layer: ``what`` it is called, ``role`` as in :data:`derive.module.ROLES` and the letters for it.

    Of ``choices`` the first free one is taken.  Without a role it is what the layer computes on the way; ``"sizes"``
    are extents.  With ``labels`` it stands for W_i, W_f, W_o: one letter for each.
    """

    what: str
    choices: tuple[str, ...]
    role: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Forward:
    r"""The forward formulas of a layer in their order, the last that of its output.

    ``shapes`` and ``ranges`` say what the formulas leave open: ``W \in \mathbb{R}^{10 \times n}``, ``0 \le i < n``;
    ``axes`` is the number of the output's where its formula writes it whole: y = W x + b.
    """

    formulas: tuple[str, ...]
    shapes: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    axes: int | None = None


@dataclass(frozen=True)
class Layer:
    r"""A layer by name: ``forward`` has its formulas, or makes them for a number of axes of the input and options.

    ``rank`` says how many axes its input has where that is settled, the usual number first; ``kind`` is ``"layer"``,
    ``"activation"`` (of each entry by itself) or ``"loss"``.  ``aliases`` are further names, ``words`` is what prose
    calls it; the phrases of questions are the lexicon's.  ``options`` have the values that they have unless given;
    ``first`` is the one that may stand without its name.  ``facts`` hold of x, y and its letters; ``input`` and
    ``output`` are the letters that x and y have by preference; ``source`` says where the formula is from; the first
    axis of what a layer ``of_batch`` takes numbers samples.
    """

    name: str
    words: str
    forward: str | tuple[str, ...] | Callable[[int, Options], Forward]
    letters: Mapping[str, Letter] = field(default_factory=dict, hash=False)
    aliases: tuple[str, ...] = ()
    kind: str = "layer"
    rank: int | tuple[int, ...] | Callable[[Options], int] | None = None
    options: Options = field(default_factory=dict, hash=False)
    first: str = ""
    facts: tuple[str, ...] = ()
    source: str = ""
    input: tuple[str, ...] = ("x",)
    output: tuple[str, ...] = ("y", "z", "h", "g")
    of_batch: bool = False

    def ranks(self, options: Options) -> tuple[int, ...]:
        """The numbers of axes that its input may have, the usual one first; none where it may have any."""
        found = self.rank(options) if callable(self.rank) else self.rank
        return found if isinstance(found, tuple) else () if found is None else (found,)

    def written(self, rank: int, options: Options) -> Forward:
        """The formulas for an input of so many axes, all options given."""
        if callable(self.forward):
            return self.forward(rank, options)
        return Forward((self.forward,) if isinstance(self.forward, str) else self.forward)
