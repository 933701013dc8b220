"""Derivatives of reductions over a binder: sum, product, maximum and minimum."""

from __future__ import annotations

from typing import ClassVar

from derive.calculus.extremum import extremiser
from derive.calculus.ranges import different, kept_ranges, restricted
from derive.calculus.rule import Derivatives, bound
from derive.expr import ZERO, Entry, Expr, Idx, Reduce, mul, open_as, subst
from derive.module import Module


class SumRule:
    """∂/∂x Σ_{t∈T} g(t) = Σ_{t∈T} ∂g(t)/∂x."""

    name: ClassVar[str] = "sum"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Reduce) and of.op == "sum"

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Reduce)
        binder, body = open_as(of, bound(of, wrt, module))
        inner = partial(body)
        return ZERO if inner is ZERO else Reduce("sum", kept_ranges(binder, body, inner, module), inner)


class ProdRule:
    """∂/∂x Π_{t∈T} g(t) = Σ_{t∈T} (∂g(t)/∂x) Π_{u∈T, u≠t} g(u)."""

    name: ClassVar[str] = "prod"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Reduce) and of.op == "prod"

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Reduce)
        binder, body = open_as(of, bound(of, wrt, module))
        inner = partial(body)
        if inner is ZERO:
            return ZERO
        others = tuple(Idx(v.name + "'") for v in binder.variables)
        second, rest = open_as(of, others)
        second = restricted(second, different(others, binder.variables))
        product = mul(inner, Reduce("prod", second, rest))
        return Reduce("sum", kept_ranges(binder, body, product, module), product)


class ExtremumRule:
    """∂/∂x max_{t∈T} g(t) = (∂g/∂x)(t^*), t^* = argmax_{t∈T} g(t); the same for min.

    Holds where the maximiser is unique: there it is the same maximiser at every
    nearby point, so the maximum is the smooth function g(t^*) locally.
    """

    name: ClassVar[str] = "extremum"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Reduce) and of.op in ("max", "min")

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Reduce)
        variables = bound(of, wrt, module)
        _, body = open_as(of, variables)
        stars = extremiser(of, module).stars
        return subst(partial(body), dict(zip(variables, stars, strict=True)))
