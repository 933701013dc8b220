"""A derivation as data: each step names its rule and can recompute its conclusion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from derive.expr import Node
from derive.module import Module

Conclude = Callable[[Node, tuple["Step", ...], Module], Node]
CONCLUSIONS: dict[str, Conclude] = {}  # rule name -> how it concludes; filled where the rules live


def concludes(name: str) -> Callable[[Conclude], Conclude]:
    """Register how the rule ``name`` turns what is before, and its premises, into what is after."""

    def register(function: Conclude) -> Conclude:
        CONCLUSIONS[name] = function
        return function

    return register


@dataclass(frozen=True)
class Step:
    """``before`` becomes ``after`` by ``rule``, given the conclusions of ``premises``.

    ``held`` names the tensors that a partial derivative holds constant.
    """

    rule: str
    before: Node
    after: Node
    premises: tuple[Step, ...] = field(default=())
    held: tuple[str, ...] = ()

    def recompute(self, module: Module) -> Node:
        """What the rule concludes now from ``before`` and the premises."""
        within = module.holding(self.held)
        return CONCLUSIONS[self.rule](self.before, self.premises, within)

    def holds(self, module: Module) -> bool:
        """The stored conclusion is the recomputed one, here and in every premise."""
        return self.recompute(module) is self.after and all(p.holds(module) for p in self.premises)

    def __iter__(self) -> Iterator[Step]:
        """All steps, premises first."""
        for premise in self.premises:
            yield from premise
        yield self

    def last(self, rule: str) -> Step:
        """The last step of that rule."""
        return [step for step in self if step.rule == rule][-1]


def step(rule: str, before: Node, module: Module, *premises: Step) -> Step:
    """Apply a rule."""
    return Step(rule, before, CONCLUSIONS[rule](before, premises, module), premises, module.held)
