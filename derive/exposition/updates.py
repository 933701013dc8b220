"""θ_new = θ − η ∂ℓ/∂θ: one step of gradient descent, the gradient as the answer has it put in, and its arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

from derive.exposition import stages, whole
from derive.exposition.builder import Builder
from derive.exposition.printed import printed
from derive.exposition.stages import renamed
from derive.exposition.subject import LOSS, Subject
from derive.expr import MINUS_ONE, Add, Entry, Expr, Mul, Num, Partial, Rel, add, eq, mul
from derive.module import Update
from derive.numeric.point import Index

_MOST = 12  # entries whose arithmetic is written out


def build(b: Builder, subject: Subject) -> None:
    """The rule for each letter, and the same with its gradient put in."""
    updates = subject.module.updates
    if not updates:
        return
    b.prose("answer_updates", rate=b.m(Entry(updates[0].rate, ())),
            letters=[b.m(slope(subject, u)[0]) for u in updates])
    for update in updates:
        theta, gradient = slope(subject, update)
        before, named = Entry(update.new, theta.indices), Partial(Entry(update.of, ()), theta)
        for form in (named, printed(gradient, named, subject.module)):
            whole.stated(b, subject, f"update_{update.wrt}", before, stepped(theta, update, form))


def stepped(theta: Entry, update: Update, gradient: Expr) -> Expr:
    """θ − η g."""
    return add(theta, mul(MINUS_ONE, Entry(update.rate, ()), gradient))


def slope(subject: Subject, update: Update) -> tuple[Entry, Expr]:
    """θ with its indices and ∂ℓ/∂θ, in the letters in which the answer has it; by stages where it goes by these."""
    target = next((t for t in subject.targets if t.wrt == update.wrt and t.loss == (update.of == LOSS)), None)
    if update.of != LOSS:
        found = target or subject.target(update.wrt)
        return cast(Entry, found.before.wrt), found.value
    staged = stages.stages_of(subject) if stages.by_stages(subject) else {}
    step = staged.get(update.wrt) or subject.messages.message(update.wrt)
    before = cast(Entry, step.before)
    theta = cast(Entry, target.before.wrt) if target is not None else Entry(update.wrt, before.indices)
    return theta, renamed(cast(Expr, step.after), before, theta)


def arithmetic(update: Update, theta: Mapping[Index, Any], gradient: Mapping[Index, Any],
               new: Mapping[Index, Any]) -> Iterator[Rel]:
    """θ_new,0 = 2 − 1/10 · 8 = 6/5 for each entry; nothing of more than fit a few lines."""
    for at in sorted(new) if len(new) <= _MOST else ():
        size, change = cast(Fraction, update.size), Num(gradient[at])
        difference = Add((Num(theta[at]), Mul((Num(-size), change))))
        yield eq(Entry(update.new, tuple(map(Num, at))), difference, Num(new[at]))
