"""A layer's forward formula at concrete sizes as SymPy expressions, one region of its inputs at a time.

The evaluator runs on pairs of an expression and its value at a point.  What it compares is
decided by the values, so that no maximum and no Piecewise arises: in the region of the point each
entry is one smooth expression, and SymPy differentiates that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from derive.errors import UnsupportedError
from derive.expr import Entry, eq
from derive.functions import Table, elementary, known
from derive.module import Module
from derive.numeric.arithmetic import Arithmetic, decimal_of
from derive.numeric.evaluator import evaluate
from derive.symbolic.gradient import Gradient
from derive.symbolic.lower import FUNCTIONS

Index = tuple[int, ...]
Tensor = Mapping[Index, Any]


class Traced:
    """An expression with its value at the point that decides the region."""

    __slots__ = ("expr", "value")

    def __init__(self, expr: sympy.Expr, value: Any) -> None:
        self.expr, self.value = expr, value

    def _beside(self, other: Any) -> Any:
        """The other's value as a number of this one's type."""
        value = plain(other)
        return decimal_of(value) if isinstance(self.value, Decimal) else value

    def __add__(self, other: Any) -> Traced:
        return type(self)(self.expr + expression(other), self.value + self._beside(other))

    __radd__ = __add__

    def __neg__(self) -> Traced:
        return type(self)(-self.expr, -self.value)

    def __sub__(self, other: Any) -> Traced:
        return self + (-other)

    def __rsub__(self, other: Any) -> Traced:
        return -self + other

    def __mul__(self, other: Any) -> Traced:
        return type(self)(self.expr * expression(other), self.value * self._beside(other))

    __rmul__ = __mul__

    def __abs__(self) -> Traced:
        return self if self.value > 0 else -self

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < self._beside(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= self._beside(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > self._beside(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= self._beside(other))

    def __eq__(self, other: object) -> bool:
        return bool(self.value == self._beside(other))

    __hash__ = None  # type: ignore[assignment]


class Smooth(Traced):
    """One that no comparison may ask: what would decide it belongs to no region."""

    __slots__ = ()

    def __abs__(self) -> Traced:
        raise UnsupportedError("no proof over a derivative of what compares")

    def _compared(self, other: Any) -> bool:
        raise UnsupportedError("no proof over a derivative of what compares")

    __lt__ = __le__ = __gt__ = __ge__ = _compared
    __eq__ = _compared
    __hash__ = None


def plain(number: Any) -> Any:
    return number.value if isinstance(number, Traced) else number


def expression(number: Any) -> sympy.Expr:
    """The SymPy expression of a traced or a rational number."""
    if isinstance(number, Traced):
        return number.expr
    return sympy.Rational(number.numerator, number.denominator)


@lru_cache(maxsize=8)
def traced(base: Arithmetic) -> Arithmetic:
    """The arithmetic of expressions with values in another; numbers of the formula stay rational."""
    def power(x: Any, e: Any) -> Any:
        if not isinstance(x, Traced) and not isinstance(e, Traced):
            if Fraction(e).denominator == 1:
                return Fraction(x) ** int(e)
            x = Traced(expression(x), base.number(x))
        kind = type(x) if isinstance(x, Traced) else type(e)
        return kind(expression(x) ** expression(e), base.power(plain(x), plain(e)))

    def lifted(name: str) -> Callable[[Any], Traced]:
        def apply(x: Any) -> Traced:
            kind = type(x) if isinstance(x, Traced) else Traced
            return kind(FUNCTIONS[name](expression(x)), base.functions[name](plain(x)))

        return apply

    functions: Table[Callable[..., Any]] = Table(
        lambda f: (f.exact or lifted(f.name)) if f.name in base.functions else None, {
        **{name: f for name, f in base.functions.items() if known(name) is None},
        "pi": lambda: Traced(sympy.pi, base.functions["pi"]())})
    return Arithmetic(Fraction, lambda a, b: a * power(b, -1), power, functions)


@lru_cache(maxsize=4096)
def symbol(tensor: str, index: Index) -> sympy.Symbol:
    """The real symbol of a tensor's entry; no two entries share one."""
    return sympy.Symbol(f"{tensor}[{','.join(map(str, index))}]", real=True)


class Region:
    """The layer in the region of a point: expressions of every tensor and their derivatives by SymPy."""

    def __init__(self, module: Module, base: Arithmetic, values: Mapping[str, Tensor], given: tuple[str, ...],
                 shapes: Mapping[str, Index]) -> None:
        self.module, self.values, self.given, self.shapes = module, values, given, shapes
        self._kind = traced(base)
        self._forward: dict[str, Mapping[str, Tensor]] = {}
        self._gradient = Gradient()

    def symbols(self, tensor: str) -> Tensor:
        """A tensor's entries as symbols."""
        return {at: Traced(symbol(tensor, at), value) for at, value in self.values[tensor].items()}

    def forward(self, free: str) -> Mapping[str, Tensor]:
        """Every tensor in terms of the given ones, and of ``free`` where that is defined."""
        key = free if free not in self.given else ""
        if key not in self._forward:
            names = (*self.given, *((key,) if key else ()))
            arrays = {name: self.symbols(name) for name in names}
            shapes = {name: self.shapes[name] for name in names}
            self._forward[key] = {**arrays, **evaluate(self.module, arrays, shapes, self._kind)}
        return self._forward[key]

    def derivative(self, value: Any, wrt: str, by: Index, known: dict[Any, Any], kind: Arithmetic) -> Any:
        """∂value/∂wrt_by over numbers of any kind, as :func:`evaluated`; what expressions share is differentiated once.

        The powers' and functions' derivatives are SymPy's.
        """
        return self._derivative(expression(value), symbol(wrt, by), known, kind)

    def _derivative(self, expr: sympy.Expr, by: sympy.Symbol, known: dict[Any, Any], kind: Arithmetic) -> Any:
        if by not in self._gradient.letters(expr):
            return 0
        if expr is by:
            return 1
        key = expr, by
        if key not in known:
            inside = [(n, self._derivative(a, by, known, kind)) for n, a in enumerate(expr.args)]
            parts = [d if expr.is_Add else self._slope(expr, n, known, kind) * d
                     for n, d in inside if type(d) is not int or d]
            known[key] = sum(parts[1:], parts[0])
        return known[key]

    def _slope(self, expr: sympy.Expr, n: int, known: dict[Any, Any], kind: Arithmetic) -> Any:
        """The derivative by the n-th argument alone: of a product the other factors."""
        if expr.is_Mul:
            return math.prod(evaluated(a, known, kind) for m, a in enumerate(expr.args) if m != n)
        return evaluated(self._gradient.slope(expr, n), known, kind)

    def slope(self, function: str, value: Any) -> tuple[sympy.Symbol, sympy.Expr]:
        """(u, f'(u)) of a card's function of one argument, in the region of its value."""
        own = self.module.function(function)
        assert own is not None
        parameter, = own.parameters
        u = sympy.Dummy(parameter, real=True)  # another for each argument
        one = replace(self.module, equations=(eq(Entry("value", ()), own.body),), output="value")
        arrays: dict[str, Tensor] = {name: self.symbols(name) for name in self.given}
        arrays[parameter] = {(): Traced(u, value)}
        shapes = {**{name: self.shapes[name] for name in self.given}, parameter: ()}
        found = evaluate(one, arrays, shapes, self._kind)
        return u, expression(found["value"][()]).diff(u)


def evaluated(expr: sympy.Expr, known: dict[Any, Any], kind: Arithmetic) -> Any:
    """A SymPy expression over numbers of any kind; ``known`` holds its symbols' and keeps what is found."""
    found = known.get(expr)
    if found is None:
        found = known[expr] = _evaluated(expr, known, kind)
    return found


def _evaluated(expr: sympy.Expr, known: dict[Any, Any], kind: Arithmetic) -> Any:
    if expr.is_Rational:
        return Fraction(int(expr.p), int(expr.q))
    if expr is sympy.pi:
        return kind.functions["pi"]()
    args = [evaluated(a, known, kind) for a in expr.args]
    if isinstance(expr, sympy.Add):
        return sum(args[1:], args[0])
    if isinstance(expr, sympy.Mul):
        return math.prod(args[1:], start=args[0])
    if isinstance(expr, sympy.Pow):
        return kind.power(args[0], args[1])
    name = next((f.name for f in elementary() if f.sympy == type(expr).__name__), None)
    if name is None or name not in kind.functions:
        raise UnsupportedError(f"no proof over {type(expr).__name__}")
    return kind.functions[name](*args)
