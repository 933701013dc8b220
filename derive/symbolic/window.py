"""A layer of windows in SymPy: its formula as it stands, one window's Max, its cases and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from functools import lru_cache
from typing import Any

import sympy

import derive.expr as ex
from derive.errors import UnsupportedError
from derive.functions import Table
from derive.module import Module
from derive.receptive_field import ReceptiveField
from derive.records import dataclass

Index = tuple[int, ...]
FUNCTIONS: Table[Any] = Table(lambda f: getattr(sympy, f.sympy) if f.sympy else None)
EXTREMA: dict[str, Any] = {"max": sympy.Max, "min": sympy.Min}


def entry_symbol(tensor: str, index: Index) -> sympy.Symbol:
    """x_{0,1} as the real SymPy symbol ``x_0_1``."""
    return sympy.Symbol("_".join((tensor, *map(str, index))), real=True)


def extremum(op: str, args: Sequence[sympy.Expr]) -> sympy.Expr:
    """Max or Min of the terms as they stand: nothing is compared, collapsed or dropped."""
    return EXTREMA[op](*args, evaluate=False)


def lower(node: ex.Expr, symbol: Callable[[ex.Entry], sympy.Expr]) -> sympy.Expr:
    """A value without binders as a SymPy expression; ``symbol`` gives each tensor entry."""
    def go(part: ex.Expr) -> sympy.Expr:
        return lower(part, symbol)

    match node:
        case ex.Num(value):
            return sympy.Rational(value.numerator, value.denominator)
        case ex.Entry():
            return symbol(node)
        case ex.Add(terms):
            return sympy.Add(*map(go, terms))
        case ex.Mul(factors):
            return sympy.Mul(*map(go, factors))
        case ex.Pow(base, exponent):
            return sympy.Pow(go(base), go(exponent))
        case ex.Fn(name, args) if name in FUNCTIONS:
            return FUNCTIONS[name](*map(go, args))
        case ex.Extremum(op, args):
            return extremum(op, [go(a) for a in args])
    raise UnsupportedError(f"`{type(node).__name__}` has no SymPy form at window level")


class WindowReduction:
    """op over (i, j) ∈ Ω(k, l) of body(x_{ij}): the one reduction that a window layer is."""

    def __init__(self, module: Module) -> None:
        self.module = module
        entry, value = module.definition(module.output)
        if not isinstance(value, ex.Reduce) or value.op not in EXTREMA:
            raise UnsupportedError("window cases are known for a maximum or minimum over a window")
        self.op = value.op
        binder, self.body = ex.open_binder(value)
        if not (isinstance(binder.cond, ex.In) and isinstance(binder.cond.set, ex.SetApp)
                and binder.cond.set.args == entry.indices):
            raise UnsupportedError("the reduction does not run over the window of its output")
        element = binder.cond.element
        self.variables = ex.items(element)
        self.field: ReceptiveField = module.field(binder.cond.set.name)
        self.tensor = self._only_tensor()

    def _only_tensor(self) -> str:
        inside = {n.tensor for n in ex.walk(self.body) if isinstance(n, ex.Entry) and n.indices == self.variables}
        others = [n for n in ex.walk(self.body) if isinstance(n, (ex.Reduce, ex.Arg, ex.Idx))
                  and n not in self.variables]
        if len(inside) != 1 or others:
            raise UnsupportedError("the window's values must be entries of one tensor at the window's places")
        return inside.pop()

    def term(self, symbol: sympy.Expr) -> sympy.Expr:
        """What is compared in the window, for one entry of the input."""
        def place(entry: ex.Entry) -> sympy.Expr:
            return symbol if entry.tensor == self.tensor else entry_symbol(entry.tensor, ())

        return lower(self.body, place)


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


@lru_cache(maxsize=32)
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
    return raw(sympy.And, tuple(region))


class Arguments(Set[Any], tuple[Any, ...]):  # type: ignore[misc]
    """The different arguments of a node as the set that SymPy keeps of them, which hashes them only if asked.

    A hash visits a whole argument, and a large hash table is most of what a window's node would weigh.
    """

    __slots__ = ()
    __contains__, __iter__, __len__ = tuple.__contains__, tuple.__iter__, tuple.__len__
    __ne__, __hash__ = object.__ne__, Set._hash

    @classmethod
    def _from_iterable(cls, members: Iterable[sympy.Basic]) -> frozenset[sympy.Basic]:
        return frozenset(members)


_make = object.__new__


def node(cls: Any, args: tuple[sympy.Basic, ...]) -> Any:
    """A node with these arguments as ``Basic.__new__`` makes it, which takes half as long again."""
    made = _make(cls)
    made._assumptions, made._mhash, made._args = cls.default_assumptions, None, args
    return made


def raw(cls: Any, args: tuple[sympy.Basic, ...]) -> Any:
    """A lattice node (And, Or, Max, Min) with these different arguments, as its own constructor would leave it.

    The constructor itself compares every pair of relations, which is quadratic.
    """
    made = _make(cls)
    made._assumptions, made._mhash, made._args = cls.default_assumptions, None, args
    made._argset = Arguments(args)
    return made
