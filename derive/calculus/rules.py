"""The differentiation rules, tried in order: ∂of/∂wrt for one form of ``of``, from smaller derivatives."""

from __future__ import annotations

from typing import ClassVar, Protocol, cast

from derive.calculus.algebra import match
from derive.calculus.dependence import between, entry_of, is_defined, reached, tensors_in
from derive.calculus.extremum import extremiser, letters
from derive.calculus.ranges import different, kept_ranges, ranged, restricted
from derive.errors import UnsupportedError
from derive.expr import (
    MINUS_ONE,
    ONE,
    OTHERWISE,
    ZERO,
    Add,
    And,
    Bracket,
    Cardinality,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    Infinity,
    Mul,
    Node,
    Num,
    Pow,
    Reduce,
    SetApp,
    Size,
    add,
    eq,
    free_indices,
    mul,
    open_as,
    rel,
    subst,
    tuple_of,
)
from derive.functions import known
from derive.module import Function, Module
from derive.reductions import is_short, selects, written_out


class Derivatives(Protocol):
    """The derivatives that a rule builds on."""

    def __call__(self, of: Expr) -> Expr:
        """∂of/∂x of a smaller expression, with respect to the same entry."""

    def entry(self, of: Entry, wrt: Entry, held: bool) -> Expr:
        """∂of/∂wrt of one tensor by another, simplified; ``held``: all other tensors constant."""

    def slope(self, function: Function, place: int) -> Expr:
        """The derivative of a card's function by one of its parameters, in its parameters."""


class Rule(Protocol):
    """∂of/∂wrt for one form of ``of``."""

    name: ClassVar[str]

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool: ...

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr: ...


def bound(of: Reduce, wrt: Entry, module: Module) -> tuple[Idx, ...]:
    """Readable letters for the bound variables of a reduction, none of them free around it."""
    return letters(of, module, free_indices(of) | free_indices(wrt))


class ConstantRule:
    """∂c/∂x = 0 for a number, a size, an index, |Ω|, and what x does not stand in."""

    name: ClassVar[str] = "constant"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        if isinstance(of, (Num, Infinity, Size, Idx, Cardinality, SetApp)):
            return True
        return not isinstance(of, Entry) and wrt.tensor not in reached(of, module)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        return ZERO


class EntryRule:
    """∂x_{ab}/∂x_{ij} = [(i, j) = (a, b)], and 0 for another tensor."""

    name: ClassVar[str] = "entry"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Entry) and (of.tensor == wrt.tensor or not is_defined(of, module))

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Entry)
        if of.tensor != wrt.tensor:
            return ZERO
        if len(of.indices) != len(wrt.indices):
            raise UnsupportedError(f"`{of.tensor}` has {len(wrt.indices)} axes and stands with {len(of.indices)}"
                                   " indices: write it with all its indices everywhere")
        return Bracket(eq(tuple_of(wrt.indices), tuple_of(of.indices))) if of.indices else ONE


class CompositionRule:
    """∂y/∂x = ∂y/∂x|_s + Σ_s Σ_m (∂y/∂s_m)(∂s_m/∂x), over the intermediate tensors s that y is computed from."""

    name: ClassVar[str] = "composition"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Entry) and is_defined(of, module) and bool(between(of.tensor, wrt, module))

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Entry)
        terms = [partial.entry(of, wrt, True)] if wrt.tensor in module.sources(of.tensor) else []
        for tensor in between(of.tensor, wrt, module):
            inner = entry_of(tensor, module, (of, wrt))
            through = partial.entry(of, inner, True)
            if through is not ZERO:
                product = mul(through, partial.entry(inner, wrt, False))
                terms.append(Reduce("sum", ranged(inner, product, module), product) if inner.indices else product)
        return add(*terms)


class DefinitionRule:
    """∂f_{kl}/∂x = ∂F(k, l)/∂x where f_{kl} = F(k, l) is a forward equation."""

    name: ClassVar[str] = "definition"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Entry) and is_defined(of, module)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Entry)
        entry, value = module.definition(of.tensor)
        return partial(subst(value, dict(zip(entry.indices, of.indices, strict=True))))


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


class PairRule:
    """∂max(u, v)/∂x = ∂u/∂x where u > v, else ∂v/∂x; off the kink u = v.  The same for min, and for more terms."""

    name: ClassVar[str] = "pair"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Extremum)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Extremum)
        args = in_order(of, wrt, module)
        tied = taken(of, wrt, module)
        slopes = [partial(a) for a in args]
        if all(s is slopes[0] for s in slopes):
            return slopes[0]
        wins, ties = (">", "≥") if of.op == "max" else ("<", "≤")
        branches: list[tuple[Expr, Cond]] = []
        for n, arg in enumerate(args[:-1]):  # each excludes the others: cases on paper have no order
            beats: list[Cond] = [rel(arg, ties if m < n or arg is tied else wins, other)
                                 for m, other in enumerate(args) if m != n]
            branches.append((slopes[n], beats[0] if len(beats) == 1 else And(tuple(beats))))
        return Cases((*branches, (slopes[-1], OTHERWISE)))


def in_order(of: Extremum, wrt: Entry, module: Module) -> list[Expr]:
    """The terms, those that x does not stand in last."""
    return sorted(of.args, key=lambda a: wrt.tensor not in reached(a, module))


def taken(of: Extremum, wrt: Entry, module: Module) -> Expr:
    """The term whose slope is taken at a tie: of max(u, v) as the module says, else what does not depend on x.

    At the kink of max(0, s) the slope is then 0.
    """
    for pair, term in module.at_ties:
        found = next(match(pair, of, frozenset(module.parameters_of(pair)), {}), None)
        if found is not None:
            return subst(term, cast(dict[Node, Node], found))
    return in_order(of, wrt, module)[-1]


class CasesRule:
    """∂/∂x { u if c, v otherwise } = { ∂u/∂x if c, ∂v/∂x otherwise }, off the boundary of c."""

    name: ClassVar[str] = "branches"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Cases)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        assert isinstance(of, Cases)
        branches = tuple((partial(value), cond) for value, cond in of.branches)
        return ZERO if all(v is ZERO for v, _ in branches) else Cases(branches)


class BracketRule:
    """∂[c]/∂x = 0 off the boundary of c."""

    name: ClassVar[str] = "bracket"

    def applies(self, of: Expr, wrt: Entry, module: Module) -> bool:
        return isinstance(of, Bracket)

    def conclude(self, of: Expr, wrt: Entry, module: Module, partial: Derivatives) -> Expr:
        return ZERO


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


RULES: tuple[Rule, ...] = (
    ConstantRule(), EntryRule(), CompositionRule(), DefinitionRule(), LinearityRule(), ProductRule(), PowerRule(),
    ElementwiseRule(), SumRule(), ProdRule(), ShortRule(),
    ExtremumRule(), PairRule(), CasesRule(), BracketRule(),
)


def rule_for(of: Expr, wrt: Entry, module: Module) -> Rule:
    """The first rule that applies; raises :class:`UnsupportedError` where none does."""
    for rule in RULES:
        if rule.applies(of, wrt, module):
            return rule
    what = f"the function `{of.name}`" if isinstance(of, Fn) else f"a {type(of).__name__.lower()}"
    raise UnsupportedError(f"no rule differentiates {what} yet")
