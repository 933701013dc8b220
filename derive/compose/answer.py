"""The answer that the question asks for, complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from derive.calculus.derivation import Step
from derive.calculus.windows import inverses
from derive.compose.builder import Builder
from derive.compose.geometry import describe, described, edge, value_of_nothing
from derive.expr import Entry, Expr, Rel, SetApp, Size, eq, tuple_of, walk
from derive.letters import extent

if TYPE_CHECKING:
    from derive.compose.sheet import Derived


def build(b: Builder, d: Derived) -> None:
    """(i^*, j^*), f = x_{i^* j^*}, the Jacobian, and the messages asked for."""
    asked = d.module.asked
    stars = tuple_of(d.extremiser.stars)
    attained = Entry(d.wrt, d.extremiser.stars)
    window = SetApp(d.sized.fields[0][0], d.outputs)
    b.prose("answer_maximiser", op=d.op, window=b.m(window), stars=b.m(stars), source=b.m(Entry(d.wrt, ())),
            rank=len(d.indices))
    b.math("maximiser", eq(stars, d.extremiser.arg), definition=True)
    b.math("forward", eq(d.output, attained), general=True)
    if asked == ("forward",):
        return
    b.prose("answer_jacobian", op=d.op, output=b.m(d.output), attained=b.m(attained))
    b.math("jacobian", equation(d.jacobian), general=True)
    if "parameters" in asked:
        b.prose("answer_parameters", op=d.op)
    if "vjp" in asked:
        backward(b, d)
    if d.window.n > 1:
        b.prose("answer_ties", op=d.op, rule=d.module.tie_rule, axes=len(d.field.axes))


def backward(b: Builder, d: Derived) -> None:
    """δ_x in general, and as this geometry has it."""
    delta_f = Entry(f"delta_{d.module.output}", d.outputs)
    b.prose("answer_message", delta=b.m(delta_f), at=b.m(tuple_of(d.indices)), partial=b.m(d.jacobian.before))
    b.math("message", equation(d.message.last("covering")), general=True)
    here(b, d)


def here(b: Builder, d: Derived) -> None:
    """δ_x in the form that holds for this geometry, and why."""
    symbol = d.sized.table.named(d.module.output)
    assert symbol is not None
    if described(d.field, d.module.input_size)["identity"] and not d.field.padded:
        describe(b, d.field, d.module.input_size, d.indices, sizes=[], conditional=False, formula=True)
        b.math("message_here", eq(Entry(f"delta_{d.wrt}", d.indices), Entry(f"delta_{d.module.output}", d.indices)))
        return
    written = {n.name for n in walk(d.message.after) if isinstance(n, Size)}
    sizes = [b.m(extent(size)) for size in symbol.sizes] if written else []
    conditional = any(inv.conds for inv in inverses(d.source.indices, d.sized))
    describe(b, d.field, d.module.input_size, d.indices, sizes=sizes, conditional=conditional, formula=True)
    b.math("message_here", equation(d.message))
    edge(b, d.field, d.module.input_size, value_of_nothing(d.module))


def equation(step: Step) -> Rel:
    """before = after: what a step says."""
    return Rel((cast(Expr, step.before), cast(Expr, step.after)), ("=",))
