"""The message of a layer over windows in the form that holds for its geometry."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from derive.calculus.covering import in_closed_form
from derive.calculus.windows import inverses
from derive.compose.builder import Builder
from derive.compose.geometry import describe, edge, value_of_nothing
from derive.compose.layer.printed import equation, printed
from derive.compose.layer.subject import Subject
from derive.expr import Cardinality, Cases, Entry, Expr, Fn, Mul, Num, Reduce, Size, walk
from derive.letters import extent
from derive.window_axis import WindowAxis


def here(b: Builder, subject: Subject, before: Expr, after: Expr) -> None:
    """How the windows lie around an entry, and δ_x with the windows that cover it in closed form."""
    module = subject.module
    field = module.receptive_field
    if field is None or len(module.equations) > 1 or not isinstance(before, Entry):
        return
    symbol = module.table.named(module.output)
    if symbol is None or before.tensor != f"delta_{module.inputs[0]}" or len(before.indices) != len(field.axes):
        return
    closed = in_closed_form(after, module)
    shown = closed or after
    written = {n.name for n in walk(shown) if isinstance(n, Size)}
    sizes = [b.m(extent(size)) for size in symbol.sizes] if written & {*symbol.sizes} else []
    conditional = any(inv.conds for inv in inverses(before.indices, module))
    describe(b, field, module.input_size, before.indices, sizes=sizes if closed else [], conditional=conditional,
             formula=closed is not None)
    if closed is not None:
        value = closed if isinstance(closed, Cases) else printed(closed, before, module)
        b.math(f"message_here_{module.inputs[0]}", equation(before, value))
    edge(b, field, module.input_size, value_of_nothing(module), _divisor(subject))


def ties(b: Builder, subject: Subject) -> None:
    """The generalised derivatives of one window and of the whole message, where the layer selects an entry of each."""
    _, value = subject.module.definition(subject.module.output)
    alone = isinstance(value, Reduce) and value.op in ("max", "min", "median") and len(subject.module.equations) == 1
    body = value.body if isinstance(value, Reduce) else None
    entry = isinstance(body, Entry) and body.tensor in subject.module.inputs and not subject.module.parameters
    absolute = isinstance(body, Fn) and body.name == "abs" and isinstance(body.args[0], Entry)
    if alone and (entry or absolute) and isinstance(value, Reduce):
        words = Builder(b.tables, "geometry", b.blocks, b.inline)
        words.prose("ties", op=value.op, absolute=absolute, rule=subject.module.tie_rule,
                    one=not subject.output.indices)


def _divisor(subject: Subject) -> str:
    """What the divisor of an average counts: the entries of a window, its cells, or nothing that depends on it."""
    _, value = subject.module.definition(subject.module.output)
    sums = [n for n in walk(value) if isinstance(n, Reduce)]
    divided = isinstance(value, Mul) and len(sums) == 1 and sums[0].op == "sum" and isinstance(sums[0].body, Entry)
    if not divided or not isinstance(value, Mul):
        return ""
    if any(isinstance(n, Cardinality) for n in walk(value)):
        return "entries"
    number = next((f.value for f in value.factors if isinstance(f, Num)), Fraction(1))
    field = subject.module.receptive_field
    axes = [a for a in field.axes if isinstance(a, WindowAxis)] if field else []
    steady = [a.kernel_size for a in axes if not a.ceil_mode]
    return "cells" if number == Fraction(1, prod(steady)) else "own"
