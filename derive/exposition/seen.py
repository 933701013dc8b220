"""One window seen differently: as a duel of two numbers, as a product of comparisons, as a matrix, as a mask."""

from __future__ import annotations

import derive.expr as ex
from derive.calculus import one_window as one
from derive.exposition.builder import Builder
from derive.exposition.example import matrix
from derive.exposition.story import Story
from derive.exposition.window_example import example_point, scope_of, values


def differently(b: Builder, d: Story) -> None:
    """Why the slope is 1 or 0; the indicator and the matrix; the mask of the worked example."""
    if d.window.n > 1:
        b.heading("heading_seen")
        why(b, d)
        indicator(b, d)
        if len(d.indices) < 3:
            masked(b, d)


def why(b: Builder, d: Story) -> None:
    """A small change of an entry that is not the largest changes nothing; of the largest, as much."""
    w = d.window
    b.heading("heading_why", 3)
    b.prose("why_rival", op=d.op, z=b.m(w.z(w.q), d.scope))
    b.math("rival", one.rival(w), d.scope, definition=True)
    b.math("duel", one.duel(w), d.scope)
    below, above = one.quotients(w)
    b.prose("why_below", op=d.op, z=b.m(w.z(w.q), d.scope), h=b.m(w.named("step"), d.scope))
    b.math("slope_zero", below, d.scope)
    b.prose("why_above", op=d.op)
    b.math("slope_one", above, d.scope)
    b.prose("why_remark", op=d.op, slopes=d.slopes)


def indicator(b: Builder, d: Story) -> None:
    """The product of comparisons, the linear form, and why W may be held fixed."""
    w = d.window
    b.heading("heading_indicator", 3)
    name, row = b.m(w.named("indicator", w.q), d.scope), b.m(w.named("indicator"), d.scope)
    b.prose("indicator", op=d.op, z=b.m(w.z(w.q), d.scope))
    b.math("indicator", one.indicator(w), d.scope, definition=True)
    b.prose("one_winner", unique=b.m(w.unique, d.scope))
    b.math("one_winner", one.one_winner(w), d.scope)
    b.prose("matrix_form", op=d.op, row=row, z=b.m(w.z_all, d.scope))
    b.math("linear_form", one.linear_form(w), d.scope)
    b.math("matrix_form", one.matrix_form(w), d.scope)
    b.prose("locally_constant", name=name)
    b.math("locally_constant", one.locally_constant(w), d.scope)
    b.prose("matrix_slope", op=d.op, row=row)
    b.math("matrix_slope", one.matrix_slope(w), d.scope)
    b.math("slope_is_indicator", one.slope_is_indicator(w), d.scope)
    b.prose("matrix_message", row=row)
    b.math("matrix_message", one.matrix_message(w), d.scope)
    b.prose("no_parameters", op=d.op, row=row)


def masked(b: Builder, d: Story) -> None:
    """The mask of the worked example, which is the message of an upstream gradient of ones."""
    point = example_point(d)
    if scope_of(d, point) != "example":  # the mask counts the first of entries that tie
        return
    b.heading("heading_mask", 3)
    b.prose("example_mask", op=d.op, mask=b.m(ex.Entry("mask", d.indices)), overlaps=d.field.overlaps)
    b.math("mask", mask(d), definition=True)
    b.prose("example_mask_sum")
    b.math("mask_sum", mask_sum(d), general=True)
    b.math("example_mask", ex.eq(ex.Entry("mask", ()), matrix(values(d, mask(d).terms[1], point))), "example")


def mask(d: Story) -> ex.Rel:
    """m_{ij}: in how many windows the entry is the one that is passed on."""
    window = ex.SetApp(d.module.fields[0][0], d.outputs)
    member = ex.In(ex.tuple_of(d.indices), window)
    count = ex.Reduce("sum", ex.over(d.outputs, member), ex.Bracket(ex.eq(ex.tuple_of(d.indices), d.extremiser.arg)))
    return ex.eq(ex.Entry("mask", d.indices), count)


def mask_sum(d: Story) -> ex.Rel:
    """m_{ij} = Σ_{k,l} ∂f_{kl}/∂x_{ij}: the message for an upstream gradient of ones."""
    none = (None,) * len(d.outputs)
    total = ex.Reduce("sum", ex.Binder(d.outputs, none, none, None), ex.Partial(d.output, d.source))
    return ex.eq(ex.Entry("mask", d.indices), total)
