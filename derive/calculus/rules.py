"""The differentiation rules, tried in order: ∂of/∂wrt for one form of ``of``, from smaller derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import derive.expr as ex
from derive.calculus.algebra import match
from derive.calculus.dependence import between, entry_of, is_defined, reached, tensors_in
from derive.calculus.extremum import extremiser, letters
from derive.calculus.ranges import kept_ranges, ranged
from derive.errors import UnsupportedError
from derive.functions import known
from derive.module import Function, Module
from derive.records import dataclass
from derive.reductions import is_short, selects, written_out


class Derivatives(Protocol):
    """The derivatives that a rule builds on."""

    def __call__(self, of: ex.Expr) -> ex.Expr:
        """∂of/∂x of a smaller expression, with respect to the same entry."""

    def entry(self, of: ex.Entry, wrt: ex.Entry, held: bool) -> ex.Expr:
        """∂of/∂wrt of one tensor by another, simplified; ``held``: all other tensors constant."""

    def slope(self, function: Function, place: int) -> ex.Expr:
        """The derivative of a card's function by one of its parameters, in its parameters."""


@dataclass(frozen=True)
class Rule:
    """∂of/∂wrt for one form of ``of``: ``applies(of, wrt, module)`` tells it, ``conclude`` says the derivative."""

    name: str
    applies: Callable[[ex.Expr, ex.Entry, Module], bool]
    conclude: Callable[[Any, ex.Entry, Module, Derivatives], ex.Expr]


def bound(of: ex.Reduce, wrt: ex.Entry, module: Module) -> tuple[ex.Idx, ...]:
    """Readable letters for the bound variables of a reduction, none of them free around it."""
    return letters(of, module, ex.free_indices(of) | ex.free_indices(wrt))


def constant(of: ex.Expr, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂c/∂x = 0 for a number, a size, an index, |Ω|, what x does not stand in, and [c] off the boundary of c."""
    return ex.ZERO


def entry(of: ex.Entry, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂x_{ab}/∂x_{ij} = [(i, j) = (a, b)], and 0 for another tensor."""
    if of.tensor != wrt.tensor:
        return ex.ZERO
    if len(of.indices) != len(wrt.indices):
        raise UnsupportedError(f"`{of.tensor}` has {len(wrt.indices)} axes and stands with {len(of.indices)}"
                               " indices: write it with all its indices everywhere")
    return ex.Bracket(ex.eq(ex.tuple_of(wrt.indices), ex.tuple_of(of.indices))) if of.indices else ex.ONE


def composition(of: ex.Entry, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂y/∂x = ∂y/∂x|_s + Σ_s Σ_m (∂y/∂s_m)(∂s_m/∂x), over the intermediate tensors s that y is computed from."""
    terms = [partial.entry(of, wrt, True)] if wrt.tensor in module.sources(of.tensor) else []
    for tensor in between(of.tensor, wrt, module):
        inner = entry_of(tensor, module, (of, wrt))
        through = partial.entry(of, inner, True)
        if through is not ex.ZERO:
            product = ex.mul(through, partial.entry(inner, wrt, False))
            terms.append(ex.Reduce("sum", ranged(inner, product, module), product) if inner.indices else product)
    return ex.add(*terms)


def definition(of: ex.Entry, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂f_{kl}/∂x = ∂F(k, l)/∂x where f_{kl} = F(k, l) is a forward equation."""
    entry, value = module.definition(of.tensor)
    return partial(ex.subst(value, dict(zip(entry.indices, of.indices, strict=True))))


def linearity(of: ex.Add, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂(u + v)/∂x = ∂u/∂x + ∂v/∂x."""
    return ex.add(*map(partial, of.terms))


def product(of: ex.Mul, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂(u v)/∂x = (∂u/∂x) v + u (∂v/∂x); a bracket is constant off its boundary."""
    factors = of.factors
    return ex.add(*(ex.mul(*factors[:n], partial(f), *factors[n + 1:]) for n, f in enumerate(factors)))


def power(of: ex.Pow, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂u^p/∂x = p u^{p−1} ∂u/∂x + u^p log u ∂p/∂x."""
    u, p = of.base, of.exponent
    lower = ex.add(p, ex.MINUS_ONE)
    rest = ex.ONE if lower == ex.ZERO else u if lower == ex.ONE else ex.Pow(u, lower)
    return ex.add(ex.mul(p, rest, partial(u)), ex.mul(of, ex.Fn("log", (u,)), partial(p)))


def elementwise(of: ex.Fn, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂f(u)/∂x = f'(u) ∂u/∂x; f' from the table, or from the body of a function that the card defines."""
    own = module.function(of.name)
    if own is None:
        function = known(of.name)
        assert function is not None
        return ex.mul(function.derived(*of.args), *map(partial, of.args))
    letters_besides = tensors_in(own.body) - {*own.parameters}
    if any(wrt.tensor in reached(ex.Entry(t, ()), module) for t in letters_besides):
        return partial(own.at(of.args))
    at: dict[ex.Node, ex.Node] = {ex.Entry(p, ()): a for p, a in zip(own.parameters, of.args, strict=True)}
    return ex.add(*(ex.mul(ex.subst(partial.slope(own, n), at), partial(u)) for n, u in enumerate(of.args)))


def pair(of: ex.Extremum, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂max(u, v)/∂x = ∂u/∂x where u > v, else ∂v/∂x; off the kink u = v.  The same for min, and for more terms."""
    args = in_order(of, wrt, module)
    tied = taken(of, wrt, module)
    slopes = [partial(a) for a in args]
    if all(s is slopes[0] for s in slopes):
        return slopes[0]
    wins, ties = (">", "≥") if of.op == "max" else ("<", "≤")
    branches: list[tuple[ex.Expr, ex.Cond]] = []
    for n, arg in enumerate(args[:-1]):  # each excludes the others: cases on paper have no order
        beats: list[ex.Cond] = [ex.rel(arg, ties if m < n or arg is tied else wins, other)
                             for m, other in enumerate(args) if m != n]
        branches.append((slopes[n], ex.joined(beats)))
    return ex.Cases((*branches, (slopes[-1], ex.OTHERWISE)))


def in_order(of: ex.Extremum, wrt: ex.Entry, module: Module) -> list[ex.Expr]:
    """The terms, those that x does not stand in last."""
    return sorted(of.args, key=lambda a: wrt.tensor not in reached(a, module))


def taken(of: ex.Extremum, wrt: ex.Entry, module: Module) -> ex.Expr:
    """The term whose slope is taken at a tie: of max(u, v) as the module says, else what does not depend on x.

    At the kink of max(0, s) the slope is then 0.
    """
    for pair, term in module.at_ties:
        found = next(match(pair, of, frozenset(module.parameters_of(pair)), {}), None)
        if found is not None:
            return ex.subst(term, cast(dict[ex.Node, ex.Node], found))
    return in_order(of, wrt, module)[-1]


def branches(of: ex.Cases, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂/∂x { u if c, v otherwise } = { ∂u/∂x if c, ∂v/∂x otherwise }, off the boundary of c."""
    branches = tuple((partial(value), cond) for value, cond in of.branches)
    return ex.ZERO if all(v is ex.ZERO for v, _ in branches) else ex.Cases(branches)


def sum_(of: ex.Reduce, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂/∂x Σ_{t∈T} g(t) = Σ_{t∈T} ∂g(t)/∂x."""
    binder, body = ex.open_as(of, bound(of, wrt, module))
    inner = partial(body)
    return ex.ZERO if inner is ex.ZERO else ex.Reduce("sum", kept_ranges(binder, body, inner, module), inner)


def prod(of: ex.Reduce, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂/∂x Π_{t∈T} g(t) = Σ_{t∈T} (∂g(t)/∂x) Π_{u∈T, u≠t} g(u)."""
    binder, body = ex.open_as(of, bound(of, wrt, module))
    inner = partial(body)
    if inner is ex.ZERO:
        return ex.ZERO
    others = tuple(ex.Idx(v.name + "'") for v in binder.variables)
    second, rest = ex.open_as(of, others)
    apart = ex.rel(ex.tuple_of(others), "≠", ex.tuple_of(binder.variables))
    second = ex.Binder(others, second.lower, second.upper, ex.joined((*ex.conditions(second.cond), apart)))
    product = ex.mul(inner, ex.Reduce("prod", second, rest))
    return ex.Reduce("sum", kept_ranges(binder, body, product, module), product)


def short(of: ex.Reduce, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """A reduction that is short for sums, as a mean is: the derivative of these."""
    written = written_out(of, kept_ranges(of.binder, of.body, ex.ONE, module))
    assert written is not None
    return partial(written)


def extremum(of: ex.Reduce, wrt: ex.Entry, module: Module, partial: Derivatives) -> ex.Expr:
    """∂/∂x max_{t∈T} g(t) = (∂g/∂x)(t^*), t^* = argmax_{t∈T} g(t); the same for min and median.

    Holds where the maximiser (or the place of the median) is unique: there it is the same
    at every nearby point, so the maximum is the smooth function g(t^*) locally.
    """
    variables = bound(of, wrt, module)
    _, body = ex.open_as(of, variables)
    stars = extremiser(of, module).stars
    return ex.subst(_at_entry(partial(body), variables, wrt), dict(zip(variables, stars, strict=True)))


def _at_entry(slope: ex.Expr, variables: tuple[ex.Idx, ...], wrt: ex.Entry) -> ex.Expr:
    """g(x_{pq}) [(i, j) = (p, q)] is g(x_{ij}) [(i, j) = (p, q)]: the maximiser stands in the bracket alone."""
    same = ex.Bracket(ex.eq(ex.tuple_of(wrt.indices), ex.tuple_of(variables)))
    if not isinstance(slope, ex.Mul) or same not in slope.factors:
        return slope
    here: dict[ex.Node, ex.Node] = dict(zip(variables, wrt.indices, strict=True))
    return ex.Mul(tuple(f if f is same else ex.subst(f, here) for f in slope.factors))


def _constant(of: ex.Expr, wrt: ex.Entry, module: Module) -> bool:
    numbers = isinstance(of, (ex.Num, ex.Infinity, ex.Size, ex.Idx, ex.Cardinality, ex.SetApp))
    return numbers or (not isinstance(of, ex.Entry) and wrt.tensor not in reached(of, module))


def _of(kind: type[ex.Expr], where: Callable[[Any, ex.Entry, Module], bool] = lambda *_: True
        ) -> Callable[[ex.Expr, ex.Entry, Module], bool]:
    """The form is of that kind, and more is true ``where`` that is asked."""
    return lambda of, wrt, module: isinstance(of, kind) and where(of, wrt, module)


RULES: tuple[Rule, ...] = (
    Rule("constant", _constant, constant),
    Rule("entry", _of(ex.Entry, lambda of, wrt, m: of.tensor == wrt.tensor or not is_defined(of, m)), entry),
    Rule("composition", _of(ex.Entry, lambda of, wrt, m: bool(between(of.tensor, wrt, m))), composition),
    Rule("definition", _of(ex.Entry), definition),
    Rule("linearity", _of(ex.Add), linearity),
    Rule("product", _of(ex.Mul), product),
    Rule("power", _of(ex.Pow), power),
    Rule("elementwise", _of(ex.Fn, lambda of, _, m: bool(known(of.name) or m.function(of.name))), elementwise),
    Rule("sum", _of(ex.Reduce, lambda of, *_: of.op == "sum"), sum_),
    Rule("prod", _of(ex.Reduce, lambda of, *_: of.op == "prod"), prod),
    Rule("short", _of(ex.Reduce, lambda of, *_: is_short(of.op)), short),
    Rule("extremum", _of(ex.Reduce, lambda of, *_: selects(of.op)), extremum),
    Rule("pair", _of(ex.Extremum), pair),
    Rule("branches", _of(ex.Cases), branches),
    Rule("bracket", _of(ex.Bracket), constant),
)


def rule_for(of: ex.Expr, wrt: ex.Entry, module: Module) -> Rule:
    """The first rule that applies; raises :class:`UnsupportedError` where none does."""
    for rule in RULES:
        if rule.applies(of, wrt, module):
            return rule
    what = f"the function `{of.name}`" if isinstance(of, ex.Fn) else f"a {type(of).__name__.lower()}"
    raise UnsupportedError(f"no rule differentiates {what} yet")
