"""Derivatives of large SymPy expressions: what they share is differentiated once."""

from __future__ import annotations

import sympy

_U = sympy.Dummy("u", real=True)


class Gradient:
    """∂e/∂s of any expressions by any symbols.

    SymPy differentiates powers and functions; sums and products are taken apart, and each part's
    derivative by a symbol is kept.  :meth:`sympy.Expr.diff` gives the same expression, much later.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[sympy.Expr, sympy.Symbol], sympy.Expr] = {}
        self._letters: dict[sympy.Expr, frozenset[sympy.Symbol]] = {}
        self._slopes: dict[tuple[sympy.Expr, int], sympy.Expr] = {}

    def __call__(self, expr: sympy.Expr, by: sympy.Symbol) -> sympy.Expr:
        if by not in self.letters(expr):
            return sympy.S.Zero
        if expr is by:
            return sympy.S.One
        key = expr, by
        if key not in self._kept:
            inside = [(n, self(a, by)) for n, a in enumerate(expr.args) if by in self.letters(a)]
            if isinstance(expr, sympy.Add):
                self._kept[key] = sympy.Add(*(d for _, d in inside))
            else:
                self._kept[key] = sympy.Add(*(self.slope(expr, n) * d for n, d in inside))
        return self._kept[key]

    def letters(self, expr: sympy.Expr) -> frozenset[sympy.Symbol]:
        """The symbols of an expression."""
        if expr not in self._letters:
            own = frozenset((expr,)) if isinstance(expr, sympy.Symbol) else frozenset()
            self._letters[expr] = own.union(*map(self.letters, expr.args))
        return self._letters[expr]

    def slope(self, expr: sympy.Expr, n: int) -> sympy.Expr:
        """The derivative of a product, a power or a function by its n-th argument alone."""
        key = expr, n
        if key not in self._slopes:
            before, after = expr.args[:n], expr.args[n + 1:]
            alone = (*before, *after) if isinstance(expr, sympy.Mul) else None
            self._slopes[key] = sympy.Mul(*alone) if alone is not None else \
                expr.func(*before, _U, *after).diff(_U).xreplace({_U: expr.args[n]})
        return self._slopes[key]
