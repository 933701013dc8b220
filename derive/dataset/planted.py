"""Known mistakes in a derivation: one formula of its tree is another one, and all that follows from it follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import cast

from derive.calculus.derivation import CONCLUSIONS, Step
from derive.calculus.messages import Messages
from derive.check.judging.mistakes import changes
from derive.expr import (
    MINUS_ONE,
    ONE,
    Add,
    Arg,
    Bracket,
    Cases,
    Cond,
    Entry,
    Expr,
    Fn,
    In,
    Mul,
    Node,
    Num,
    Partial,
    Pow,
    Reduce,
    Rel,
    Star,
    add,
    mul,
    open_binder,
    subst,
    transform,
    walk,
)
from derive.module import Module
from derive.records import dataclass, replace
from derive.verify.points.point import LOSS

Edge = tuple[str, ...]  # (y, x) of ∂y/∂x, (x,) of δ_x
Wrong = Iterator[tuple[str, Expr]]


def edge_of(node: Node) -> Edge | None:
    """Which derivative or message an equation is about, whatever its indices: ∂L/∂x is δ_x."""
    match node:
        case Partial(Entry(of, _), Entry(wrt, _)):
            return (wrt,) if of == LOSS else (of, wrt)
        case Entry(tensor, _) if tensor.startswith("delta_"):
            return (tensor.removeprefix("delta_"),)
    return None


# --- what goes wrong: each gives (which mistake, the wrong formula) ---------------------------------------------------


def _signs(before: Node, value: Expr, module: Module) -> Wrong:
    yield "sign", mul(MINUS_ONE, value)
    if isinstance(value, Add):
        for n, term in enumerate(value.terms):
            yield "sign of a term", add(*value.terms[:n], mul(MINUS_ONE, term), *value.terms[n + 1:])


def _factors(before: Node, value: Expr, module: Module) -> Wrong:
    for factor in _inside(value):
        if isinstance(factor, Num) and factor.value not in (0, 1, -1):
            yield "factor lost", mul(Num(1 / factor.value), value)
        elif isinstance(factor, Entry) and factor.tensor.startswith("delta_"):
            yield "upstream gradient lost", _without(value, factor)
        elif isinstance(factor, Bracket):
            yield _of_condition(factor.cond), _without(value, factor)
        elif isinstance(factor, (Add, Pow, Fn, Cases, Entry)):
            yield "factor of the chain lost", _without(value, factor)


def _of_condition(cond: Cond) -> str:
    """What is lost with it: which entry of a window is the largest, that i is k, or anything else."""
    if any(isinstance(n, (Arg, Star)) for n in walk(cond)):
        return "gradient to the whole window"
    indices = isinstance(cond, Rel) and cond.ops == ("=",)
    return "delta lost" if indices else "condition lost"


def _terms(before: Node, value: Expr, module: Module) -> Wrong:
    if isinstance(value, Add):
        for n in range(len(value.terms)):
            yield "term lost", add(*value.terms[:n], *value.terms[n + 1:])


def _sums(before: Node, value: Expr, module: Module) -> Wrong:
    """Of a sum one term alone: the indices of the left side stand where the sum's stood."""
    entries = (before, *before.children()) if isinstance(before, (Entry, Partial)) else ()
    for node in _inside(value):
        if isinstance(node, Reduce) and node.op == "sum":
            binder, body = open_binder(node)
            name = "overlap lost" if isinstance(binder.cond, In) else "sum lost"
            for own in (e.indices for e in entries if isinstance(e, Entry)):
                if len(own) == len(binder.variables):
                    yield name, _with(value, node, subst(body, dict(zip(binder.variables, own, strict=True))))


def _powers(before: Node, value: Expr, module: Module) -> Wrong:
    def lower(node: Node) -> Node | None:
        return node.base if isinstance(node, Pow) and node.exponent == Num(2) else None

    yield "exponent lost", transform(value, lower, Pow)


def _slopes(before: Node, value: Expr, module: Module) -> Wrong:
    """The function where its slope belongs: y of 1 − y^2 and of y (1 − y)."""
    if isinstance(before, Partial) and isinstance(before.of, Entry) and isinstance(before.wrt, Entry):
        deltas = [f for f in _inside(value) if isinstance(f, Bracket)]
        yield "value for the slope", mul(before.of, *deltas)


def _branches(before: Node, value: Expr, module: Module) -> Wrong:
    def turned(node: Node) -> Node | None:
        if isinstance(node, Cases) and len(node.branches) == 2:
            (first, cond), (second, rest) = node.branches
            return Cases(((second, cond), (first, rest)))
        return None

    yield "branches swapped", transform(value, turned, Cases)


def _extremes(before: Node, value: Expr, module: Module) -> Wrong:
    def opposite(node: Node) -> Node | None:
        turned = isinstance(node, Arg) and {"max": "min", "min": "max"}.get(node.op)
        return Arg(turned, node.binder, node.body) if isinstance(node, Arg) and turned else None

    yield "the opposite extreme", transform(value, opposite, Arg)


def _reversed(before: Node, value: Expr, module: Module) -> Wrong:
    """What the check would find again: the other way round, a mistake that one of its changes mends."""
    for words, other in changes(before, value, module):
        if words.startswith(("an inequality", "two indices", "a transpose", "`")):
            yield _NAMES.get(words.split(":")[0].split("`")[0].strip(), "another letter"), other


_NAMES = {"an inequality is flipped": "inequality flipped", "two indices are swapped": "indices swapped",
          "a transpose is lost, or one too many": "transpose lost"}
KINDS: tuple[Callable[[Node, Expr, Module], Wrong], ...] = (
    _signs, _factors, _terms, _sums, _powers, _slopes, _branches, _extremes, _reversed)


def _inside(value: Expr) -> tuple[Expr, ...]:
    """The factors of a product, and of the one sum in it."""
    found = value.factors if isinstance(value, Mul) else (value,)
    for node in found:
        if isinstance(node, Reduce) and node.op == "sum":
            body = node.body
            found = (*found, *(body.factors if isinstance(body, Mul) else (body,)))
    return found


def _without(value: Expr, factor: Expr) -> Expr:
    return _with(value, factor, ONE)


def _with(value: Expr, part: Expr, other: Expr) -> Expr:
    """The value with another one of its factors."""
    if value is part:
        return other
    if isinstance(value, Mul):
        return mul(*(_with(f, part, other) for f in value.factors))
    if isinstance(value, Reduce):
        return Reduce(value.op, value.binder, _with(value.body, part, other))
    return value


def wrong_ways(before: Node, value: Expr, module: Module) -> Wrong:
    """Every known mistake that can be made of a formula, once each."""
    seen = {value}
    for kind in KINDS:
        for name, other in kind(before, value, module):
            if other not in seen:
                seen.add(other)
                yield name, other


# --- the derivation with a mistake in it ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planted(Messages):
    """The messages of a layer of which one is derived with a mistake: the ``number``-th that can be made of it.

    ``made`` holds the name of the mistake where it has been made.
    """

    edge: Edge = ()
    number: int = 0
    made: list[str] = field(default_factory=list, compare=False)
    _changed: dict[int, tuple[Step, Step]] = field(default_factory=dict, compare=False, repr=False)

    def jacobian(self, wrt: str, of: str | None = None) -> Step:
        return self._mistaken(super().jacobian(wrt, of))

    def message(self, wrt: str) -> Step:
        return self._mistaken(super().message(wrt))

    def stages(self, wrt: str) -> tuple[Step, ...]:
        return tuple(map(self._mistaken, super().stages(wrt)))

    def _mistaken(self, step: Step) -> Step:
        """The step with the mistake, or with what follows of it."""
        if id(step) not in self._changed:
            self._changed[id(step)] = step, self._made(step)
        return self._changed[id(step)][1]

    def _made(self, step: Step) -> Step:
        if step.rule in ("form", "cases") and edge_of(step.before) == self.edge:
            return self._wrong(step)
        premises = tuple(map(self._mistaken, step.premises))
        if all(mine is own for mine, own in zip(premises, step.premises, strict=True)):
            return step
        module = self.module.anonymous.holding(step.held)
        return replace(step, after=CONCLUSIONS[step.rule](step.before, premises, module), premises=premises)

    def _wrong(self, step: Step) -> Step:
        for n, (name, other) in enumerate(wrong_ways(step.before, cast(Expr, step.after), self.module)):
            if n == self.number:
                self.made.append(name)
                return replace(step, after=other)
        return step
