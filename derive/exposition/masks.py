"""M = Σ ∂f/∂x: which entries a maximum passes, in letters and at the numbers of the question."""

from __future__ import annotations

from typing import cast

from derive.calculus.messages import variable
from derive.calculus.ranges import ranged
from derive.errors import CardError, VerificationError
from derive.exposition.builder import Builder
from derive.exposition.subject import Subject
from derive.exposition.worked import Result
from derive.expr import Entry, Expr, Partial, Reduce, eq
from derive.numeric.point import Undefined
from derive.verify.points.claims import Compiler
from derive.verify.points.point import Point
from derive.verify.ties import Message


def build(b: Builder, subject: Subject) -> None:
    """The mask of each maximum as a derivative."""
    module = subject.module
    for mask in module.masks:
        head, _ = module.definition(mask.of)
        several = mask.windows and any(f.overlaps for _, f in module.fields)
        if mask.windows:
            entry = variable(module, mask.wrt)
            body = Partial(head, entry)
            statement = eq(Entry(mask.name, entry.indices), Reduce("sum", ranged(head, body, module), body))
        else:
            entry = Entry(mask.wrt, head.indices)
            slope = Partial(head, entry)
            statement = eq(Entry(mask.name, entry.indices), slope, subject.named(slope).value)
        b.prose("answer_mask_of", output=b.m(head), input=b.m(entry), several=several)
        b.math("mask", statement)


def masked(subject: Subject, point: Point, tied: bool) -> list[Result]:
    """Each mask at the numbers of the question, at ties by the rule.

    Raises :class:`CardError` at a kink, and :class:`VerificationError` where the evaluator disagrees.
    """
    found, module = [], subject.module
    for mask in module.masks:
        node, outputs = Entry(mask.name, ()), point.tensor(mask.of)
        if tied:
            ones = Message(module).point(point.given[mask.wrt]).with_upstream(dict.fromkeys(outputs, 1))
            found.append(Result(node, Message(module).at(ones), "mask"))
            continue
        step = subject.messages.jacobian(mask.wrt, None if mask.of == module.output else mask.of)
        before = cast(Partial, step.before)
        of, wrt = cast(Entry, before.of), cast(Entry, before.wrt)
        value = Compiler.of(subject.messages, point.kind).function((*of.indices, *wrt.indices), cast(Expr, step.after))
        try:
            values = {at: [(k, value(point, (*k, *at)), point.partial(mask.of, k, mask.wrt, at))
                           for k in (outputs if mask.windows else [at])] for at in point.tensor(mask.wrt)}
        except (Undefined, ArithmeticError, ValueError):
            raise CardError("at the numbers of the question a maximum has a tie, where it has no mask: choose others"
                            ) from None
        if any(one != other for known in values.values() for _, one, other in known):
            raise VerificationError("the mask: the derived formula and the forward formula disagree for "
                                    f"{point.describe()}")
        found.append(Result(node, {at: sum(one for _, one, _ in known) for at, known in values.items()}, "mask"))
    return found
