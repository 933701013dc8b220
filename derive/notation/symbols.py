"""The symbol table: what each letter of a card or a sheet stands for, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    TENSOR = "tensor"  # x, f, delta_f; rank = len(axes); rank 0 is a scalar
    SET = "set"  # Ω; arity = len(axes), 0 for a plain set
    INDEX = "index"  # i, j, k, l
    SIZE = "size"  # n, H, W: extents known from arrays' shapes
    FUNCTION = "function"  # σ of σ(s) = …: of numbers, one parameter per axis


@dataclass(frozen=True)
class Symbol:
    """One symbol: ASCII ``name`` (``y_hat``), its ``latex`` (``\\hat{y}``), kind and axes.

    ``axes`` names the index letters that usually stand in each place: ``("i", "j")``
    for x_{ij}, ``("k", "l")`` for f_{kl} and for Ω(k, l).  ``members`` names, for a
    set, the letters of its elements: ``("i", "j")`` for Ω(k, l) ∋ (i, j).
    ``sizes`` holds, for a tensor, an extent per axis: a number or a size's name.
    ``above`` says how the first axis is written where it stands in a superscript:
    ``"i"`` for x^i, ``"(i)"`` for x^{(i)}.  ``unwritten`` counts the last axes that
    may be left out: 1 for the vectors w_k of w_k^T x.  For a function, ``axes``
    names its parameters.
    """

    name: str
    latex: str
    kind: Kind
    axes: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    sizes: tuple[int | str, ...] = ()
    above: str = ""
    unwritten: int = 0


@dataclass(frozen=True)
class SymbolTable:
    """Symbols by name and by LaTeX; stars by the letters of the maximiser they belong to.

    ``stars`` maps an index letter to the free letters its star depends on:
    ``{"i": ("k", "l"), "j": ("k", "l")}`` for (i^*, j^*) = argmax over Ω(k, l).
    """

    symbols: tuple[Symbol, ...]
    stars: tuple[tuple[str, tuple[str, ...]], ...] = ()
    vectors: bool = False  # whole tensors in equations are vectors and matrices, read into indices
    rows: bool = False  # vectors are rows: x W
    _by_name: dict[str, Symbol] = field(init=False, repr=False, compare=False, default_factory=dict)
    _by_latex: dict[str, Symbol] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for symbol in self.symbols:
            self._by_name[symbol.name] = symbol
            self._by_latex[symbol.latex] = symbol

    def named(self, name: str) -> Symbol | None:
        return self._by_name.get(name)

    def written(self, latex: str) -> Symbol | None:
        return self._by_latex.get(latex)

    def of_kind(self, kind: Kind) -> tuple[Symbol, ...]:
        return tuple(s for s in self.symbols if s.kind is kind)

    def extended(self, symbols: Iterable[Symbol], stars: Iterable[tuple[str, tuple[str, ...]]] = ()) -> SymbolTable:
        """The table with more symbols; a symbol of the same name is replaced."""
        new = tuple(symbols)
        names = {s.name for s in new}
        kept = (s for s in self.symbols if s.name not in names)
        return SymbolTable((*kept, *new), (*self.stars, *stars), self.vectors, self.rows)
