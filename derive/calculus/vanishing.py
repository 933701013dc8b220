"""What is taken where a layer has no derivative: 0 where a norm vanishes."""

from __future__ import annotations

from fractions import Fraction

from derive.expr import ZERO, Bracket, Entry, Expr, Fn, Mul, Node, Num, Pow, Reduce, rel, transform
from derive.module import Module


def at_kinks(formula: Expr, module: Module) -> Expr:
    """A derived formula with a value where a norm of the layer is 0: each division by it gets a bracket [‖x‖ ≠ 0].

    (Σ |x_i|^q)^e with q e ≥ 1 is Lipschitz near 0 and least there, so 0 is one of its subgradients.
    """
    norms = {name for name in module.defined if _is_norm(module.definition(name)[1])}
    if not norms:
        return formula

    def guarded(node: Node) -> Node | None:
        if not (isinstance(node, Pow) and isinstance(node.exponent, Num) and node.exponent.value < 0):
            return None
        base: Expr = node.base
        while isinstance(base, Pow):
            base = base.base
        vanishes = base.tensor in norms if isinstance(base, Entry) else _powers(base) is not None
        return Mul((node, Bracket(rel(base, "≠", ZERO)))) if vanishes else None

    return _flat(transform(formula, guarded, Pow))


def _is_norm(value: Expr) -> bool:
    """(Σ |x_i|^q)^e with e < 1 and q e ≥ 1."""
    root = _root(value)
    power = None if root is None else _powers(root[0])
    return root is not None and power is not None and power * root[1] >= 1


def _root(value: Expr) -> tuple[Expr, Fraction] | None:
    if isinstance(value, Fn) and value.name == "sqrt":
        return value.args[0], Fraction(1, 2)
    if isinstance(value, Pow):
        exponent = _number(value.exponent)
        return (value.base, exponent) if exponent is not None and 0 < exponent < 1 else None
    return None


def _number(node: Expr) -> Fraction | None:
    """The value of 2, 1/3, …"""
    match node:
        case Num(value):
            return value
        case Pow(Num(value), Num(exponent)) if exponent == -1:
            return 1 / value
        case Mul((left, right)):
            parts = _number(left), _number(right)
            return None if parts[0] is None or parts[1] is None else parts[0] * parts[1]
    return None


def _powers(node: Expr) -> Fraction | None:
    """q of a sum of |x_i|^q, or of x_i^q for an even q."""
    if not (isinstance(node, Reduce) and node.op == "sum"):
        return None
    body, q = node.body, Fraction(1)
    if isinstance(body, Pow):
        exponent = _number(body.exponent)
        if exponent is None:
            return None
        body, q = body.base, exponent
    if isinstance(body, Fn) and body.name == "abs" and isinstance(body.args[0], Entry):
        return q
    return q if isinstance(body, Entry) and q.denominator == 1 and q > 0 and q % 2 == 0 else None


def _flat(node: Expr) -> Expr:
    """A product in a product written as one: a false bracket then removes all its factors."""
    def flat(part: Node) -> Node | None:
        if not isinstance(part, Mul) or not any(isinstance(f, Mul) for f in part.factors):
            return None
        return Mul(tuple(g for f in part.factors for g in (f.factors if isinstance(f, Mul) else (f,))))

    return transform(node, flat, Mul)
