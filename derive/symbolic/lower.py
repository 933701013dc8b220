"""Forward formulas as SymPy expressions at concrete sizes, built without SymPy's rewriting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

from derive.errors import UnsupportedError
from derive.expr import Add, Arg, Entry, Expr, Extremum, Fn, Idx, In, Mul, Num, Pow, Reduce, SetApp, Tuple, open_binder
from derive.functions import Table
from derive.module import Module
from derive.receptive_field import ReceptiveField

Index = tuple[int, ...]
FUNCTIONS: Table[Any] = Table(lambda f: getattr(sympy, f.sympy) if f.sympy else None)
EXTREMA: dict[str, Any] = {"max": sympy.Max, "min": sympy.Min}


def entry_symbol(tensor: str, index: Index) -> sympy.Symbol:
    """x_{0,1} as the real SymPy symbol ``x_0_1``."""
    return sympy.Symbol("_".join((tensor, *map(str, index))), real=True)


def extremum(op: str, args: Sequence[sympy.Expr]) -> sympy.Expr:
    """Max or Min of the terms as they stand: nothing is compared, collapsed or dropped."""
    return EXTREMA[op](*args, evaluate=False)


def lower(node: Expr, symbol: Callable[[Entry], sympy.Expr]) -> sympy.Expr:
    """A value without binders as a SymPy expression; ``symbol`` gives each tensor entry."""
    def go(part: Expr) -> sympy.Expr:
        return lower(part, symbol)

    match node:
        case Num(value):
            return sympy.Rational(value.numerator, value.denominator)
        case Entry():
            return symbol(node)
        case Add(terms):
            return sympy.Add(*map(go, terms))
        case Mul(factors):
            return sympy.Mul(*map(go, factors))
        case Pow(base, exponent):
            return sympy.Pow(go(base), go(exponent))
        case Fn(name, args) if name in FUNCTIONS:
            return FUNCTIONS[name](*map(go, args))
        case Extremum(op, args):
            return extremum(op, [go(a) for a in args])
    raise UnsupportedError(f"`{type(node).__name__}` has no SymPy form at window level")


class WindowReduction:
    """op over (i, j) ∈ Ω(k, l) of body(x_{ij}): the one reduction that a window layer is."""

    def __init__(self, module: Module) -> None:
        self.module = module
        entry, value = module.definition(module.output)
        if not isinstance(value, Reduce) or value.op not in EXTREMA:
            raise UnsupportedError("window cases are known for a maximum or minimum over a window")
        self.op = value.op
        binder, self.body = open_binder(value)
        if not (isinstance(binder.cond, In) and isinstance(binder.cond.set, SetApp)
                and binder.cond.set.args == entry.indices):
            raise UnsupportedError("the reduction does not run over the window of its output")
        element = binder.cond.element
        self.variables = element.items if isinstance(element, Tuple) else (element,)
        self.field: ReceptiveField = module.field(binder.cond.set.name)
        self.tensor = self._only_tensor()

    def _only_tensor(self) -> str:
        from derive.expr import walk

        inside = {n.tensor for n in walk(self.body) if isinstance(n, Entry) and n.indices == self.variables}
        others = [n for n in walk(self.body) if isinstance(n, (Reduce, Arg, Idx)) and n not in self.variables]
        if len(inside) != 1 or others:
            raise UnsupportedError("the window's values must be entries of one tensor at the window's places")
        return inside.pop()

    def term(self, symbol: sympy.Expr) -> sympy.Expr:
        """What is compared in the window, for one entry of the input."""
        def place(entry: Entry) -> sympy.Expr:
            return symbol if entry.tensor == self.tensor else entry_symbol(entry.tensor, ())

        return lower(self.body, place)
