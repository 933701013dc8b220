"""Towards the lecturer's form: like terms, common factors, definitions folded back, sums contracted; then polished.

Every rewriting is an identity; of two forms the one that is less to read is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import derive.expr as ex
from derive.affine import Range
from derive.calculus.algebra import has_sum
from derive.calculus.arithmetic import Fold, folds_of
from derive.calculus.brackets import bracket, tidy
from derive.calculus.contract import Contraction
from derive.calculus.dependence import tensors_in
from derive.calculus.ranges import ranges_of
from derive.module import Module


def simplified(node: ex.Expr, ranges: Mapping[ex.Idx, Range], module: Module, *, fold: bool = True) -> ex.Expr:
    """The node in the lecturer's form; ``ranges`` of its free indices; ``fold`` definitions back."""
    used = tuple((i, r) for i, r in ranges.items() if i in ex.free_indices(node))
    return _simplified(node, used, module.anonymous, fold)


@lru_cache(maxsize=2048)  # a derivation is asked for whole, step by step, and once more to be checked
def _simplified(node: ex.Expr, ranges: tuple[tuple[ex.Idx, Range], ...], module: Module, fold: bool) -> ex.Expr:
    folds, known = _definitions(module.holding(()))
    return polished(Form(module, dict(ranges), folds if fold else (), dict(known))(node))


@lru_cache(maxsize=64)
def _definitions(module: Module) -> tuple[tuple[Fold, ...], dict[object, ex.Expr]]:
    """The module's definitions as folds, and the sums that they contain."""
    form = Form(module, {}, (), {})
    return tuple(folds_of(module, form)), form.known


class Form(Contraction):
    """One simplification: where each index runs, which definitions may be folded back, which sums were seen."""

    def __call__(self, node: ex.Expr) -> ex.Expr:
        found = self.done.get(node)
        if found is None:
            found = self.done[node] = self.simplify(node)
        return found

    def simplify(self, node: ex.Expr) -> ex.Expr:
        match node:
            case ex.Add(terms):
                return self.sum_of(map(self, terms))
            case ex.Mul(factors):
                return self.product(map(self, factors))
            case ex.Pow(base, exponent):
                return self.product([ex.Pow(self(base), self(exponent))])
            case ex.Fn(name, args):
                return self.function(name, tuple(map(self, args)))
            case ex.Extremum(op, args):
                return ex.Extremum(op, tuple(map(self, args)))
            case ex.Cases(branches):
                return self.cases([(self(value), cond) for value, cond in branches])
            case ex.Bracket(cond):
                return bracket(self.telling(cond), self.ranges)
            case ex.Entry(tensor, indices):
                return ex.Entry(tensor, tuple(map(tidy, indices)))
            case ex.Reduce():
                return self.reduction(node)
        return node

    def telling(self, cond: ex.Cond) -> ex.Cond:
        """The condition less (i, j) ∈ Ω(k, l), where the only window holds every entry."""
        whole = {name for name, field in self.module.fields if field.whole}
        return ex.And(tuple(c for c in ex.conditions(cond) if not (
            isinstance(c, ex.In) and isinstance(c.set, ex.SetApp) and c.set.name in whole))) if whole else cond

    def function(self, name: str, args: tuple[ex.Expr, ...]) -> ex.Expr:
        if name == "sqrt":
            return self.product([ex.Pow(args[0], ex.Num(Fraction(1, 2)))])
        if name == "exp" and args[0] is ex.ZERO:
            return ex.ONE
        if name == "log" and args[0] is ex.ONE:
            return ex.ZERO
        if name == "log" and isinstance(args[0], ex.Fn) and args[0].name == "exp":
            return args[0].args[0]
        return self.product([ex.Fn(name, args)])

    def reduction(self, node: ex.Reduce) -> ex.Expr:
        binder, body = ex.open_binder(node)
        if not all(isinstance(v, ex.Idx) for v in binder.variables):
            return node
        self.ranges |= ranges_of(binder, body, self.module)
        body = self(body)
        if node.op == "sum":
            return self.total(binder.variables, ex.conditions(binder.cond), body)
        return self.closed(node.op, binder.variables, ex.conditions(binder.cond), body)


def polished(node: ex.Expr) -> ex.Expr:
    """The same value, as it is written by hand."""
    touched = ex.transform(node, _touched, ex.Add, ex.Mul, ex.Reduce, ex.Cases)
    return _turned(touched) if isinstance(touched, ex.Mul) else touched


def _touched(node: ex.Node) -> ex.Node | None:
    if isinstance(node, ex.Add):
        return _ordered(node)
    if isinstance(node, ex.Mul):
        return _difference_first(ex.mul(*node.factors) if any(isinstance(f, ex.Mul) for f in node.factors) else node)
    if isinstance(node, ex.Cases):
        return ex.Cases(tuple((_turned(v) if isinstance(v, ex.Mul) else v, c) for v, c in node.branches))
    if isinstance(node, ex.Reduce) and node.op == "sum" and isinstance(node.body, ex.Mul) and _is_negative(node.body):
        number, *rest = node.body.factors
        return ex.Mul((number, ex.Reduce("sum", node.binder, ex.mul(*rest))))  # Σ (−a) is −Σ a
    return None


def _ordered(node: ex.Add) -> ex.Expr:
    """−a + b is b − a."""
    terms = sorted(node.terms, key=_is_negative)
    return node if tuple(terms) == node.terms or not _is_negative(node.terms[0]) else ex.Add(tuple(terms))


def _is_negative(term: ex.Expr) -> bool:
    first = term.factors[0] if isinstance(term, ex.Mul) else term
    return isinstance(first, ex.Num) and first.value < 0


def _turned(node: ex.Mul) -> ex.Expr:
    """−(a − b) c is (b − a) c."""
    if node.factors[0] is not ex.MINUS_ONE:
        return node
    *others, last = node.factors
    if isinstance(last, ex.Reduce) and last.op == "sum":  # −Σ (a − b) c is Σ (b − a) c
        turned = _difference_turned(last.body) if _is_plain(last.body) else None
        return node if turned is None else ex.mul(ex.MINUS_ONE, *others, ex.Reduce("sum", last.binder, turned))
    turned = None if has_sum(node) else _difference_turned(node)
    return node if turned is None else ex.mul(ex.MINUS_ONE, turned)


def _is_plain(body: ex.Expr) -> bool:
    """No number, quotient or bracket in it: −½ Σ δ_i (x_i − μ) and −Σ t_k ([i = k] − p_i) stay."""
    return not any(isinstance(n, (ex.Bracket, ex.Pow)) or (isinstance(n, ex.Num) and n is not ex.MINUS_ONE)
                   for n in ex.walk(body))


def _difference_turned(node: ex.Expr) -> ex.Expr | None:
    """−1 times a product in which a difference a − b is a factor: with b − a; None where there is none."""
    factors = node.factors if isinstance(node, ex.Mul) else (node,)
    for n, factor in enumerate(factors):
        if isinstance(factor, ex.Add) and len(factor.terms) == 2 and sum(map(_is_negative, factor.terms)) == 1:
            turned = _ordered(ex.Add(tuple(ex.mul(ex.MINUS_ONE, t) for t in factor.terms)))
            return ex.mul(*factors[:n], turned, *factors[n + 1:])
    return None


def _difference_first(node: ex.Expr) -> ex.Expr:
    """x_j (y − t) is (y − t) x_j; y (1 − y) stays."""
    if not isinstance(node, ex.Mul):
        return node
    plain = [f for f in node.factors if isinstance(f, ex.Entry) and not f.tensor.startswith("delta_")]
    sums = [f for f in node.factors if isinstance(f, ex.Add)]
    if len(plain) != 1 or len(sums) != 1 or node.factors.index(plain[0]) > node.factors.index(sums[0]):
        return node
    (x,), (difference,) = plain, sums
    if tensors_in(x) & tensors_in(difference) or has_sum(difference) or any(
            isinstance(n, ex.Bracket) for n in ex.walk(difference)) or not tensors_in(difference):
        return node
    order: list[ex.Expr] = []
    for factor in node.factors:
        order += [difference, x] if factor is x else [] if factor is difference else [factor]
    return ex.Mul(tuple(order))
