"""Derivatives of reductions over a binder: sum, product, maximum and minimum."""

from __future__ import annotations

from typing import ClassVar

from derive.calculus.extremum import extremiser
from derive.calculus.ranges import different, kept_ranges, restricted
from derive.calculus.rule import Derivatives, bound
from derive.expr import ONE, ZERO, Bracket, Entry, Expr, Idx, Mul, Node, Reduce, eq, mul, open_as, subst, tuple_of
from derive.module import Module
from derive.reductions import is_short, selects, written_out


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


class ShortRule:
    """A reduction that is short for sums, as a mean is: the derivative of these."""

    name: ClassVar[str] = "short"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Reduce) and is_short(of.op)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Reduce)
        written = written_out(of, kept_ranges(of.binder, of.body, ONE, module))
        assert written is not None
        return partial(written)


class ExtremumRule:
    """∂/∂x max_{t∈T} g(t) = (∂g/∂x)(t^*), t^* = argmax_{t∈T} g(t); the same for min and median.

    Holds where the maximiser (or the place of the median) is unique: there it is the same
    at every nearby point, so the maximum is the smooth function g(t^*) locally.
    """

    name: ClassVar[str] = "extremum"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Reduce) and selects(of.op)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Reduce)
        variables = bound(of, wrt, module)
        _, body = open_as(of, variables)
        stars = extremiser(of, module).stars
        return subst(_at_entry(partial(body), variables, wrt), dict(zip(variables, stars, strict=True)))


def _at_entry(slope: Expr, variables: tuple[Idx, ...], wrt: Entry) -> Expr:
    """g(x_{pq}) [(i, j) = (p, q)] is g(x_{ij}) [(i, j) = (p, q)]: the maximiser stands in the bracket alone."""
    same = Bracket(eq(tuple_of(wrt.indices), tuple_of(variables)))
    if not isinstance(slope, Mul) or same not in slope.factors:
        return slope
    here: dict[Node, Node] = dict(zip(variables, wrt.indices, strict=True))
    return Mul(tuple(f if f is same else subst(f, here) for f in slope.factors))
