"""Letters of which a reader expects certain numbers: ε, a margin, a slope, a rate above 0; labels 0 and 1, or ±1."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

import derive.expr as ex
from derive.expr import ONE, Add, Entry, Extremum, Fn, Idx, In, Mul, Node, Num, Pow, Rel, walk
from derive.module import Module
from derive.notation.symbols import is_capital
from derive.pointers import counts

EPSILONS = ("epsilon", "varepsilon")
_ZERO_ONE, _PLUS_MINUS = (Fraction(0), Fraction(1)), (Fraction(-1), Fraction(1))


def held(module: Module) -> tuple[str, ...]:
    """An ε, or a capital K that only divides, beside other inputs, which nothing calls an input: not asked for."""
    nodes = [n for e in module.equations for n in walk(e.terms[1])]
    below = [n.base for n in nodes if isinstance(n, Pow) and isinstance(n.exponent, Num) and n.exponent.value < 0]
    dividing = {n for n in module.assumed if is_capital(n) and Entry(n, ()) in below and not any(
        Entry(n, ()) in node.children() for node in nodes if not isinstance(node, Pow))}
    found = tuple(n for n in module.assumed if n in EPSILONS or n in dividing)
    return found if len(found) < len(module.inputs) and not module.wanted else ()


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
    fractions = all_of(_added_below) | slopes | _factors_only(bodies) & fixed | single & set(EPSILONS)
    others = all_of(_divisors) | all_of(_compared) | all_of(_margins, fixed)
    return dict.fromkeys(fractions, "unit") | dict.fromkeys(others - set(EPSILONS), "positive")


_Labels = tuple[tuple[Fraction, ...], int | None]


@lru_cache(256)
def targets(module: Module) -> Mapping[str, _Labels]:
    """The values of constants that are labels, and for one-hot ones the axis on which a single entry is 1.

    In t log p + (1 − t) log(1 − p), and with a hinge in a logarithm's place, t is 0 or 1; in Σ t_k log p_k it is
    one-hot, in max(0, 1 − t s) ±1.
    """
    found: dict[str, _Labels] = {}
    labels = {*module.constants} - counts(module.equations)
    for node in (n for e in module.equations for n in walk(e.terms[1])):
        constants = [n for n in walk(node) if isinstance(n, Entry) and n.tensor in labels]
        for c in constants if isinstance(node, (Mul, Extremum)) else ():
            terms = [{*n.terms} for n in node.children() if isinstance(n, Add)]
            if isinstance(node, Extremum):
                if any(ONE in own and any(isinstance(t, Mul) and {ex.MINUS_ONE, c} <= {*t.factors} for t in own)
                       for own in terms):
                    found[c.tensor] = _PLUS_MINUS, None
            elif (log := any(isinstance(n, Fn) and n.name == "log" for n in walk(node))) or any(
                    isinstance(n, Extremum) for n in walk(node)):
                if {ONE, ex.mul(ex.MINUS_ONE, c)} in terms:
                    found[c.tensor] = _ZERO_ONE, None
                elif log and c.indices and c in node.children():
                    found.setdefault(c.tensor, (_ZERO_ONE, len(c.indices) - 1))
    return found


@lru_cache(256)
def distributions(module: Module) -> Mapping[str, int]:
    """The inputs that are probabilities, and the axis along which they sum to 1: p and q of Σ p_k log(p_k/q_k)."""
    found: dict[str, int] = {}
    for node in (n for e in module.equations for n in walk(e.terms[1]) if isinstance(n, Mul)):
        factors = [f for f in node.factors if isinstance(f, Entry) and f.indices]
        logs = [f.args[0] for f in node.factors if isinstance(f, Fn) and f.name == "log"]
        below = dict.fromkeys(n for argument in logs for n in walk(argument))
        inside = [n for n in below if isinstance(n, Entry)]
        if factors and not any(isinstance(n, Add) for n in below) and {e.indices for e in inside} == {
                f.indices for f in factors}:
            found |= {e.tensor: len(e.indices) - 1 for e in (*inside, *factors) if e.tensor in module.given}
    return {name: axis for name, axis in found.items() if name not in module.constants}


def facts_expected(module: Module) -> tuple[Rel | In, ...]:
    """What a reader takes for granted of labels and probabilities: Σ_k t_k = 1, y ∈ {0, 1}."""
    labels = targets(module)
    summed = {name: axis for name, (_, axis) in labels.items() if axis is not None} | dict(distributions(module))
    found: list[Rel | In] = []
    for name in (*summed, *(n for n in labels if n not in summed)):
        symbol = module.table.named(name)
        axes = tuple(map(Idx, symbol.axes if symbol else ()))
        entry = Entry(name, axes)
        if name in summed:
            all_of = ex.Binder((axes[summed[name]],), (None,), (None,), None)
            found.append(ex.rel(ex.Reduce("sum", all_of, entry), "=", ONE))
        else:
            found.append(In(entry, ex.Listed(tuple(map(Num, labels[name][0])))))
    return tuple(found)


def _bare(node: Node) -> Iterator[str]:
    """Single numbers that a node is, or adds."""
    for term in node.terms if isinstance(node, Add) else (node,):
        if isinstance(term, Entry) and not term.indices:
            yield term.tensor


def _below(node: Node) -> ex.Expr | None:
    """v + ε of √(v + ε) and of 1/(v + ε), τ of s/τ."""
    if isinstance(node, ex.Pow) and isinstance(node.exponent, Num):
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
    if isinstance(node, ex.Rel) and any(isinstance(t, Fn) and t.name == "abs" for t in node.terms):
        yield from (name for term in node.terms for name in _bare(term))


def _margins(node: Node) -> Iterator[str]:
    """m of max(0, m − d): what is added to a distance before it is cut at 0."""
    if isinstance(node, Extremum) and any(isinstance(a, Num) for a in node.args):
        yield from (name for a in node.args if isinstance(a, Add) for t in a.terms for name in _bare(_unsigned(t)))
    if isinstance(node, ex.Reduce) and node.op in ("max", "min"):
        yield from _bare(node.body)


def _slopes(node: Node) -> Iterator[str]:
    """a of max(s, a s), and of the branch a (e^s − 1)."""
    parts: tuple[ex.Expr, ...] = ()
    if isinstance(node, Extremum):
        parts = node.args
    elif isinstance(node, ex.Cases):
        parts = tuple(value for value, _ in node.branches)
    for part in parts:
        if isinstance(part, Mul):
            yield from (name for factor in part.factors for name in _bare(factor) if not isinstance(factor, Add))


def _unsigned(term: ex.Expr) -> ex.Expr:
    """m of −m."""
    if isinstance(term, Mul) and len(term.factors) == 2 and isinstance(term.factors[0], Num):
        return term.factors[1]
    return term


def _factors_only(bodies: list[ex.Expr]) -> set[str]:
    """Letters that are never added: λ of λ Σ w²."""
    places: dict[str, set[bool]] = defaultdict(set)
    for body in bodies:
        for node in walk(body):
            multiplied = isinstance(node, Mul) and not isinstance(_unsigned(node), Entry)
            for child in node.children():
                if isinstance(child, Entry):
                    places[child.tensor].add(multiplied)
    return {name for name, multiplied in places.items() if multiplied == {True}}
