"""The last touch: no minus in front of a difference or below a sum, positive terms first, a difference in front."""

from __future__ import annotations

from derive.calculus.algebra import has_sum
from derive.calculus.dependence import tensors_in
from derive.expr import MINUS_ONE, Add, Bracket, Entry, Expr, Mul, Node, Num, Pow, Reduce, mul, transform, walk


def polished(node: Expr) -> Expr:
    """The same value, as it is written by hand."""
    touched = transform(node, _touched)
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
