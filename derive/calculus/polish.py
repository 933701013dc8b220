"""The last touch: no minus in front of a difference, positive terms first, a difference before what it is times."""

from __future__ import annotations

from derive.calculus.algebra import has_sum
from derive.calculus.dependence import tensors_in
from derive.expr import MINUS_ONE, Add, Bracket, Entry, Expr, Mul, Node, Num, mul, transform, walk


def polished(node: Expr) -> Expr:
    """The same value, as it is written by hand."""
    touched = transform(node, _touched)
    return _turned(touched) if isinstance(touched, Mul) else touched


def _touched(node: Node) -> Node | None:
    if isinstance(node, Add):
        return _ordered(node)
    if isinstance(node, Mul):
        return _difference_first(node)
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
    if node.factors[0] is not MINUS_ONE or has_sum(node):
        return node
    for n, factor in enumerate(node.factors):
        if isinstance(factor, Add) and len(factor.terms) == 2 and any(map(_is_negative, factor.terms)):
            turned = _ordered(Add(tuple(mul(MINUS_ONE, t) for t in factor.terms)))
            return mul(MINUS_ONE, *node.factors[:n], turned, *node.factors[n + 1:])
    return node


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
