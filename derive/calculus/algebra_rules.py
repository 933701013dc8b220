"""Derivatives of sums, products, powers and functions of one number."""

from __future__ import annotations

from typing import ClassVar

from derive.calculus.dependence import reached, tensors_in
from derive.calculus.rule import Derivatives
from derive.expr import MINUS_ONE, ONE, ZERO, Add, Entry, Expr, Fn, Mul, Node, Pow, add, mul, subst
from derive.functions import known
from derive.module import Module


class LinearityRule:
    """∂(u + v)/∂x = ∂u/∂x + ∂v/∂x."""

    name: ClassVar[str] = "linearity"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Add)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Add)
        return add(*map(partial, of.terms))


class ProductRule:
    """∂(u v)/∂x = (∂u/∂x) v + u (∂v/∂x); a bracket is constant off its boundary."""

    name: ClassVar[str] = "product"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Mul)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Mul)
        factors = of.factors
        return add(*(mul(*factors[:n], partial(f), *factors[n + 1:]) for n, f in enumerate(factors)))


class PowerRule:
    """∂u^p/∂x = p u^{p−1} ∂u/∂x + u^p log u ∂p/∂x."""

    name: ClassVar[str] = "power"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Pow)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Pow)
        u, p = of.base, of.exponent
        lower = add(p, MINUS_ONE)
        power = ONE if lower == ZERO else u if lower == ONE else Pow(u, lower)
        return add(mul(p, power, partial(u)), mul(of, Fn("log", (u,)), partial(p)))


class ElementwiseRule:
    """∂f(u)/∂x = f'(u) ∂u/∂x; f' from the table, or from the body of a function that the card defines."""

    name: ClassVar[str] = "elementwise"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Fn) and (bool(known(of.name) or module.function(of.name)))

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Fn)
        own = module.function(of.name)
        if own is None:
            function = known(of.name)
            assert function is not None
            return mul(function.derived(*of.args), *map(partial, of.args))
        letters_besides = tensors_in(own.body) - {*own.parameters}
        if any(wrt.tensor in reached(Entry(t, ()), module) for t in letters_besides):
            return partial(own.at(of.args))
        at: dict[Node, Node] = {Entry(p, ()): a for p, a in zip(own.parameters, of.args, strict=True)}
        return add(*(mul(subst(partial.slope(own, n), at), partial(u)) for n, u in enumerate(of.args)))
