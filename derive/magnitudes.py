"""Letters for which a reader expects a number above 0: ε under a root, a margin, a slope, a rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from derive.expr import Add, Cases, Entry, Expr, Extremum, Fn, Mul, Node, Num, Pow, Reduce, Rel, walk
from derive.module import Module

_EPSILONS = ("epsilon", "varepsilon")


@lru_cache(256)
def expected(module: Module) -> Mapping[str, str]:
    """The single numbers that a worked example takes above 0, whatever the formulas allow: "unit" for those below 1.

    By what is computed with them, not by their names, ε apart: a sum under a root or in a denominator, what a
    distance is compared with, a margin, a slope of one branch, and a constant that is a factor only.
    """
    bodies = [value for _, value in (e.terms for e in module.equations)] + [f.body for f in module.functions]
    nodes = [n for body in bodies for n in walk(body)]
    given = {*module.given}
    single = {n.tensor for n in nodes if isinstance(n, Entry) and not n.indices} & given
    fixed = single & set(module.constants)

    def all_of(kind: Callable[[Node], Iterator[str]], among: set[str] = single) -> set[str]:
        return {name for node in nodes for name in kind(node)} & among

    slopes = all_of(_slopes, single - set(module.inputs[:1]))
    fractions = all_of(_added_below) | slopes | _factors_only(bodies) & fixed | single & set(_EPSILONS)
    others = all_of(_divisors) | all_of(_compared) | all_of(_margins, fixed)
    return dict.fromkeys(fractions, "unit") | dict.fromkeys(others - set(_EPSILONS), "positive")


def _bare(node: Node) -> Iterator[str]:
    """Single numbers that a node is, or adds."""
    for term in node.terms if isinstance(node, Add) else (node,):
        if isinstance(term, Entry) and not term.indices:
            yield term.tensor


def _below(node: Node) -> Expr | None:
    """v + ε of √(v + ε) and of 1/(v + ε), τ of s/τ."""
    if isinstance(node, Pow) and isinstance(node.exponent, Num):
        below = node.exponent.value < 0 or node.exponent.value.denominator > 1
        return node.base if below else None
    return None


def _added_below(node: Node) -> Iterator[str]:
    below = _below(node)
    if isinstance(below, Add):
        yield from _bare(below)


def _divisors(node: Node) -> Iterator[str]:
    below = _below(node)
    for factor in below.factors if isinstance(below, Mul) else (below,):
        if isinstance(factor, Entry) and not factor.indices:
            yield factor.tensor


def _compared(node: Node) -> Iterator[str]:
    """δ of |r| ≤ δ."""
    if isinstance(node, Rel) and any(isinstance(t, Fn) and t.name == "abs" for t in node.terms):
        yield from (name for term in node.terms for name in _bare(term))


def _margins(node: Node) -> Iterator[str]:
    """m of max(0, m − d): what is added to a distance before it is cut at 0."""
    if isinstance(node, Extremum) and any(isinstance(a, Num) for a in node.args):
        yield from (name for a in node.args if isinstance(a, Add) for t in a.terms for name in _bare(_unsigned(t)))
    if isinstance(node, Reduce) and node.op in ("max", "min"):
        yield from _bare(node.body)


def _slopes(node: Node) -> Iterator[str]:
    """a of max(s, a s), and of the branch a (e^s − 1)."""
    parts: tuple[Expr, ...] = ()
    if isinstance(node, Extremum):
        parts = node.args
    elif isinstance(node, Cases):
        parts = tuple(value for value, _ in node.branches)
    for part in parts:
        if isinstance(part, Mul):
            yield from (name for factor in part.factors for name in _bare(factor) if not isinstance(factor, Add))


def _unsigned(term: Expr) -> Expr:
    """m of −m."""
    if isinstance(term, Mul) and len(term.factors) == 2 and isinstance(term.factors[0], Num):
        return term.factors[1]
    return term


def _factors_only(bodies: list[Expr]) -> set[str]:
    """Letters that are never added: λ of λ Σ w²."""
    places: dict[str, set[bool]] = defaultdict(set)
    for body in bodies:
        for node in walk(body):
            multiplied = isinstance(node, Mul) and not isinstance(_unsigned(node), Entry)
            for child in node.children():
                if isinstance(child, Entry):
                    places[child.tensor].add(multiplied)
    return {name for name, multiplied in places.items() if multiplied == {True}}
