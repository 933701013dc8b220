"""A derivation as it is shown: each smaller derivative simplified before it is used; linearity goes without saying."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from derive.calculus.algebra import monomial
from derive.calculus.dependence import entry_of, reached, tensors_in
from derive.calculus.derivation import CONCLUSIONS, Step
from derive.calculus.differentiate import derivative
from derive.calculus.form import simplified
from derive.calculus.polish import polished
from derive.calculus.ranges import entry_ranges
from derive.expr import ZERO, Entry, Expr, Mul, Node, Partial, Pow, subst, transform
from derive.module import Module


@dataclass(frozen=True)
class Shown:
    """∂of/∂wrt = ``raw`` = ``after``: what the rule gives from its premises, and that in the lecturer's form."""

    rule: str
    before: Partial
    raw: Expr
    after: Expr
    premises: tuple[Shown, ...]

    @property
    def silent(self) -> bool:
        return is_silent(self.rule, self.premises)

    def __iter__(self) -> Iterator[Shown]:
        """All steps, premises first."""
        for premise in self.premises:
            yield from premise
        yield self

    def renamed(self, letters: Mapping[Node, Node]) -> Shown:
        """The same step with other index letters."""
        return Shown(self.rule, subst(self.before, letters), subst(self.raw, letters), subst(self.after, letters),
                     tuple(p.renamed(letters) for p in self.premises))


def shown(step: Step, module: Module) -> Shown:
    """A differentiation by rules, from simplified premises; definitions are folded back at the end, by a ``form`` step.

    A silent step, such as that of a sum, does not simplify what it is made of: the rules below it are seen in ``raw``.
    """
    if step.rule == "form":
        found = shown(step.premises[0], module)
        return Shown(found.rule, found.before, found.raw, cast(Expr, step.after), found.premises)
    assert isinstance(step.before, Partial)
    within = module.holding(step.held)
    premises = tuple(shown(p, module) for p in step.premises if p.rule != "form")
    kept = tuple(p for p in step.premises if p.rule == "form")

    def concluded(values: Iterable[Expr]) -> Expr:
        given = (Step(p.rule, p.before, v, (), step.held) for p, v in zip(premises, values, strict=True))
        return cast(Expr, CONCLUSIONS[step.rule](step.before, (*given, *kept), within))

    after = concluded(p.after for p in premises)
    raw = concluded(p.raw for p in premises) if is_silent(step.rule, premises) else after
    ranges = {i: r for e in (step.before.of, step.before.wrt) if isinstance(e, Entry)
              for i, r in entry_ranges(e, within).items()}
    return Shown(step.rule, step.before, neat(raw), simplified(after, ranges, within, fold=False), premises)


_SILENT = frozenset(("constant", "entry", "definition", "linearity", "bracket"))


def is_silent(rule: str, premises: tuple[Shown, ...]) -> bool:
    """Nothing is said of it: linearity, a constant factor, what does not depend on x."""
    return rule in _SILENT or (rule == "product" and sum(p.after is not ZERO for p in premises) < 2)


def neat(value: Expr) -> Expr:
    """The same products, their powers gathered and below a fraction bar; nothing contracted, nothing folded."""
    return polished(transform(value, _neat))


def _neat(node: Node) -> Node | None:
    return monomial(node).expr() if isinstance(node, (Mul, Pow)) else None


def is_total(of: Expr, wrt: Entry, module: Module) -> bool:
    """∂of/∂wrt with all other tensors held is the total derivative: none of them changes with ``wrt``."""
    free = module.holding(())
    others = (t for t in tensors_in(of) if t != wrt.tensor and wrt.tensor in reached(Entry(t, ()), free))
    return all(derivative(entry_of(t, free, (wrt,)), wrt, free).after is ZERO for t in others)
