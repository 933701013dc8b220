"""What the sheet of a layer is about: which derivatives are asked for, and of which tensors they are made."""

from __future__ import annotations

from functools import cached_property
from typing import cast

from derive.calculus.dependence import reached
from derive.calculus.derivation import Step
from derive.calculus.form import simplified
from derive.calculus.messages import Messages
from derive.calculus.ranges import entry_ranges
from derive.expr import Entry, Expr, Node, Partial, subst
from derive.module import Module
from derive.records import dataclass

LOSS = "loss"


@dataclass(frozen=True)
class Target:
    """∂of/∂wrt = ``value``, in the question's letters; where ``loss``, ∂L/∂wrt for a loss L that is not on the card."""

    of: str
    wrt: str
    before: Partial
    value: Expr
    loss: bool = False


@dataclass(frozen=True)
class Subject:
    """The messages of a layer and what its question wants of them."""

    messages: Messages

    @property
    def module(self) -> Module:
        return self.messages.module

    @property
    def output(self) -> Entry:
        return self.module.definition(self.module.output)[0]

    @property
    def is_scalar(self) -> bool:
        return not self.output.indices

    @property
    def backward(self) -> tuple[Target, ...]:
        """What is derived from the output back: the gradients of a loss."""
        if self.module.wanted:
            return tuple(t for t in self.targets if t.loss)
        return self.targets if {"vjp", "parameters"} & {*self.module.asked} else ()

    @property
    def forward(self) -> tuple[Target, ...]:
        """What is derived from the input forward: derivatives of the output or of another tensor.

        Where the gradient of the loss is derived by the same letter, the derivative of the output stands there.
        """
        shown = {t.wrt for t in self.backward}
        return tuple(t for t in self.targets if t not in self.backward
                     and not (t.of == self.module.output and t.wrt in shown))

    @cached_property
    def inputs(self) -> tuple[Target, ...]:
        """Derivatives by inputs, or those that the question names."""
        if self.module.wanted:
            return tuple(self._named(p) for p in self.module.wanted)
        wanted = {"jacobian", "vjp"} & {*self.module.asked}
        return tuple(self._target(wrt) for wrt in self.module.inputs) if wanted else ()

    @cached_property
    def parameters(self) -> tuple[Target, ...]:
        wanted = "parameters" in self.module.asked and not self.module.wanted
        return tuple(self._target(wrt) for wrt in self.module.parameters) if wanted else ()

    @property
    def targets(self) -> tuple[Target, ...]:
        return (*self.inputs, *self.parameters)

    def _target(self, wrt: str) -> Target:
        found = self.messages.jacobian(wrt)
        return Target(self.module.output, wrt, cast(Partial, found.before), cast(Expr, found.after))

    def _named(self, wanted: Partial) -> Target:
        """A derivative that the question names, in the letters in which it names it."""
        of, wrt = _tensor(wanted.of), _tensor(wanted.wrt)
        if of == LOSS:
            message = self.messages.message(wrt)
            before = Partial(Entry(LOSS, ()), Entry(wrt, cast(Entry, message.before).indices))
            value = cast(Expr, message.after)
        else:
            found = self.messages.jacobian(wrt, None if of == self.module.output else of)
            before, value = cast(Partial, found.before), cast(Expr, found.after)
        letters: dict[Node, Node] = {}
        for mine, theirs in ((before.of, wanted.of), (before.wrt, wanted.wrt)):
            if isinstance(mine, Entry) and isinstance(theirs, Entry) and len(mine.indices) == len(theirs.indices):
                letters |= dict(zip(mine.indices, theirs.indices, strict=True))
        before, value = subst(before, letters), subst(value, letters)
        if len(set(letters.values())) < len(letters):  # ∂p_i/∂z_i: a delta is decided
            entries = (before.of, before.wrt)
            ranges = {i: r for e in entries if isinstance(e, Entry) for i, r in entry_ranges(e, self.module).items()}
            value = simplified(value, ranges, self.module)
        return Target(self.module.output if of == LOSS else of, wrt, before, value, of == LOSS)

    def message(self, target: Target) -> Step:
        """δ_x of a target, in its own letters."""
        return self.messages.message(target.wrt)

    def path(self, target: Target) -> tuple[str, ...]:
        """The tensors between ``wrt`` and ``of``, in order of evaluation, ``of`` last."""
        below = reached(Entry(target.of, ()), self.module)
        return tuple(t for t in self.module.defined
                     if t in below and t != target.wrt and target.wrt in reached(Entry(t, ()), self.module))


def _tensor(entry: Expr) -> str:
    assert isinstance(entry, Entry)
    return entry.tensor

