"""One window in SymPy: its Max (or Min), its cases, and each case's derivative."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

import sympy

from derive.module import Module
from derive.records import dataclass
from derive.symbolic.lower import WindowReduction, extremum

Symbols = tuple[sympy.Symbol, ...]


def window_symbols(n: int) -> Symbols:
    """z_1, …, z_n, real."""
    return tuple(sympy.Symbol(f"z_{r}", real=True) for r in range(1, n + 1))


def window_size(module: Module) -> int:
    """How many cells a whole window has."""
    return int(sympy.prod(WindowReduction(module).field.kernel_size))


def window_max(module: Module, n: int | None = None) -> tuple[Symbols, sympy.Expr]:
    """((z_1, …, z_n), Max(z_1, …, z_n)): the layer's reduction over one window of n cells."""
    reduction = WindowReduction(module)
    symbols = window_symbols(n if n is not None else window_size(module))
    return symbols, extremum(reduction.op, [reduction.term(z) for z in symbols])


@dataclass(frozen=True)
class Case:
    """f = value on the open region where all of ``region`` hold; ``gradient`` by SymPy, one entry a symbol."""

    region: tuple[sympy.core.relational.Relational, ...]
    value: sympy.Expr
    gradient: tuple[sympy.Expr, ...]

    @property
    def condition(self) -> sympy.logic.boolalg.Boolean:
        return conjunction(self.region)


def case_list(module: Module, n: int | None = None) -> tuple[Case, ...]:
    """The smooth cases of one window: case r is where entry r is strictly the extreme one.

    Each case's value is differentiated; a Max or a Piecewise never is.
    """
    reduction = WindowReduction(module)
    symbols = window_symbols(n if n is not None else window_size(module))
    terms = [reduction.term(z) for z in symbols]
    strict = sympy.StrictGreaterThan if reduction.op == "max" else sympy.StrictLessThan
    return tuple(
        Case(tuple(strict(term, other, evaluate=False) for q, other in enumerate(terms) if q != r), term,
             gradient(term, symbols))
        for r, term in enumerate(terms)
    )


def gradient(value: sympy.Expr, symbols: Sequence[sympy.Symbol]) -> tuple[sympy.Expr, ...]:
    """∂value/∂z_q by SymPy; 0 for the symbols that do not occur."""
    occurring = value.free_symbols
    return tuple(value.diff(z) if z in occurring else sympy.S.Zero for z in symbols)


def slopes(terms: Sequence[sympy.Expr], symbols: Sequence[sympy.Symbol]) -> list[sympy.Expr]:
    """∂term/∂z of each term by its own symbol."""
    return [sympy.S.One if term is z else term.diff(z) for term, z in zip(terms, symbols, strict=True)]


def cases(module: Module, n: int | None = None) -> sympy.Piecewise:
    """The window as a Piecewise of (value, open region), unevaluated; undefined (nan) at a tie."""
    branches = [(case.value, case.condition) for case in case_list(module, n)]
    return sympy.Piecewise(*branches, evaluate=False)


def conjunction(region: Sequence[sympy.Basic]) -> sympy.logic.boolalg.Boolean:
    """And of the relations as they stand (true if there are none)."""
    if len(region) < 2:
        return region[0] if region else sympy.true
    return raw(sympy.And, *region)


class Arguments(Set[sympy.Basic]):
    """The different arguments of a node as the set that SymPy keeps of them, which hashes them only if asked.

    A hash visits a whole argument, and a large hash table is most of what a window's node would weigh.
    """

    __slots__ = ("_members",)

    def __init__(self, members: Iterable[sympy.Basic]) -> None:
        self._members = tuple(members)

    def __contains__(self, node: object) -> bool:
        return node in self._members

    def __iter__(self) -> Iterator[sympy.Basic]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    __hash__ = Set._hash

    @classmethod
    def _from_iterable(cls, members: Iterable[sympy.Basic]) -> frozenset[sympy.Basic]:
        return frozenset(members)


def raw(cls: type, *args: sympy.Basic) -> sympy.Basic:
    """A lattice node (And, Or, Max, Min) with these different arguments, as its own constructor would leave it.

    The constructor itself compares every pair of relations, which is quadratic.
    """
    node = sympy.Basic.__new__(cls, *args)
    node._argset = Arguments(args)
    return node
