"""Towards the lecturer's form: like terms, common factors, definitions folded back, sums contracted; then polished.

Every rewriting is an identity; of two forms the one that is less to read is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from derive.calculus.algebra import has_sum
from derive.calculus.arithmetic import Fold, folds_of
from derive.calculus.brackets import bracket, tidy
from derive.calculus.contract import Contraction
from derive.calculus.dependence import tensors_in
from derive.calculus.ranges import Range, conditions, ranges_of
from derive.expr import (
    MINUS_ONE,
    ONE,
    ZERO,
    Add,
    And,
    Bracket,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Fn,
    Idx,
    In,
    Mul,
    Node,
    Num,
    Pow,
    Reduce,
    SetApp,
    free_indices,
    mul,
    open_binder,
    transform,
    walk,
)
from derive.module import Module


def simplified(node: Expr, ranges: Mapping[Idx, Range], module: Module, *, fold: bool = True) -> Expr:
    """The node in the lecturer's form; ``ranges`` of its free indices; ``fold`` definitions back."""
    used = tuple((i, r) for i, r in ranges.items() if i in free_indices(node))
    return _simplified(node, used, module.anonymous, fold)


@lru_cache(maxsize=2048)  # a derivation is asked for whole, step by step, and once more to be checked
def _simplified(node: Expr, ranges: tuple[tuple[Idx, Range], ...], module: Module, fold: bool) -> Expr:
    folds, known = _definitions(module.holding(()))
    return polished(Form(module, dict(ranges), folds if fold else (), dict(known))(node))


@lru_cache(maxsize=64)
def _definitions(module: Module) -> tuple[tuple[Fold, ...], dict[object, Expr]]:
    """The module's definitions as folds, and the sums that they contain."""
    form = Form(module, {}, (), {})
    return tuple(folds_of(module, form)), form.known


class Form(Contraction):
    """One simplification: where each index runs, which definitions may be folded back, which sums were seen."""

    def __call__(self, node: Expr) -> Expr:
        found = self.done.get(node)
        if found is None:
            found = self.done[node] = self.simplify(node)
        return found

    def simplify(self, node: Expr) -> Expr:
        match node:
            case Add(terms):
                return self.sum_of(map(self, terms))
            case Mul(factors):
                return self.product(map(self, factors))
            case Pow(base, exponent):
                return self.product([Pow(self(base), self(exponent))])
            case Fn(name, args):
                return self.function(name, tuple(map(self, args)))
            case Extremum(op, args):
                return Extremum(op, tuple(map(self, args)))
            case Cases(branches):
                return self.cases([(self(value), cond) for value, cond in branches])
            case Bracket(cond):
                return bracket(self.telling(cond), self.ranges)
            case Entry(tensor, indices):
                return Entry(tensor, tuple(map(tidy, indices)))
            case Reduce():
                return self.reduction(node)
        return node

    def telling(self, cond: Cond) -> Cond:
        """The condition less (i, j) ∈ Ω(k, l), where the only window holds every entry."""
        whole = {name for name, field in self.module.fields if field.whole}
        return And(tuple(c for c in conditions(cond) if not (
            isinstance(c, In) and isinstance(c.set, SetApp) and c.set.name in whole))) if whole else cond

    def function(self, name: str, args: tuple[Expr, ...]) -> Expr:
        if name == "sqrt":
            return self.product([Pow(args[0], Num(Fraction(1, 2)))])
        if name == "exp" and args[0] is ZERO:
            return ONE
        if name == "log" and args[0] is ONE:
            return ZERO
        if name == "log" and isinstance(args[0], Fn) and args[0].name == "exp":
            return args[0].args[0]
        return self.product([Fn(name, args)])

    def reduction(self, node: Reduce) -> Expr:
        binder, body = open_binder(node)
        if not all(isinstance(v, Idx) for v in binder.variables):
            return node
        self.ranges |= ranges_of(binder, body, self.module)
        body = self(body)
        if node.op == "sum":
            return self.total(binder.variables, conditions(binder.cond), body)
        return self.closed(node.op, binder.variables, conditions(binder.cond), body)


def polished(node: Expr) -> Expr:
    """The same value, as it is written by hand."""
    touched = transform(node, _touched, Add, Mul, Reduce)
    return _turned(touched) if isinstance(touched, Mul) else touched


def _touched(node: Node) -> Node | None:
    if isinstance(node, Add):
        return _ordered(node)
    if isinstance(node, Mul):
        return _difference_first(mul(*node.factors) if any(isinstance(f, Mul) for f in node.factors) else node)
    if isinstance(node, Reduce) and node.op == "sum" and isinstance(node.body, Mul) and _is_negative(node.body):
        number, *rest = node.body.factors
        return Mul((number, Reduce("sum", node.binder, mul(*rest))))  # Σ (−a) is −Σ a
    return None


def _ordered(node: Add) -> Expr:
    """−a + b is b − a."""
    terms = sorted(node.terms, key=_is_negative)
    return node if tuple(terms) == node.terms or not _is_negative(node.terms[0]) else Add(tuple(terms))


def _is_negative(term: Expr) -> bool:
    first = term.factors[0] if isinstance(term, Mul) else term
    return isinstance(first, Num) and first.value < 0


def _turned(node: Mul) -> Expr:
    """−(a − b) c is (b − a) c."""
    if node.factors[0] is not MINUS_ONE:
        return node
    *others, last = node.factors
    if isinstance(last, Reduce) and last.op == "sum":  # −Σ (a − b) c is Σ (b − a) c
        turned = _difference_turned(last.body) if _is_plain(last.body) else None
        return node if turned is None else mul(MINUS_ONE, *others, Reduce("sum", last.binder, turned))
    turned = None if has_sum(node) else _difference_turned(node)
    return node if turned is None else mul(MINUS_ONE, turned)


def _is_plain(body: Expr) -> bool:
    """No number, quotient or bracket in it: −½ Σ δ_i (x_i − μ) and −Σ t_k ([i = k] − p_i) stay."""
    return not any(isinstance(n, (Bracket, Pow)) or (isinstance(n, Num) and n is not MINUS_ONE) for n in walk(body))


def _difference_turned(node: Expr) -> Expr | None:
    """−1 times a product in which a difference a − b is a factor: with b − a; None where there is none."""
    factors = node.factors if isinstance(node, Mul) else (node,)
    for n, factor in enumerate(factors):
        if isinstance(factor, Add) and len(factor.terms) == 2 and sum(map(_is_negative, factor.terms)) == 1:
            turned = _ordered(Add(tuple(mul(MINUS_ONE, t) for t in factor.terms)))
            return mul(*factors[:n], turned, *factors[n + 1:])
    return None


def _difference_first(node: Expr) -> Expr:
    """x_j (y − t) is (y − t) x_j; y (1 − y) stays."""
    if not isinstance(node, Mul):
        return node
    plain = [f for f in node.factors if isinstance(f, Entry) and not f.tensor.startswith("delta_")]
    sums = [f for f in node.factors if isinstance(f, Add)]
    if len(plain) != 1 or len(sums) != 1 or node.factors.index(plain[0]) > node.factors.index(sums[0]):
        return node
    (x,), (difference,) = plain, sums
    if tensors_in(x) & tensors_in(difference) or has_sum(difference) or any(
            isinstance(n, Bracket) for n in walk(difference)) or not tensors_in(difference):
        return node
    order: list[Expr] = []
    for factor in node.factors:
        order += [difference, x] if factor is x else [] if factor is difference else [factor]
    return Mul(tuple(order))
