"""What a sheet says of a maximum over windows: one window case by case, the windows that cover an entry, ties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import derive.expr as ex
from derive.calculus import one_window as one
from derive.calculus.one_window import OneWindow
from derive.calculus.windows import covered_by, covers
from derive.exposition.builder import Builder
from derive.exposition.pictures import receptive_fields_of
from derive.exposition.story import Story
from derive.exposition.window_example import example_shape
from derive.exposition.windows import described

if TYPE_CHECKING:
    from derive.symbolic.window import Case

LISTED = 9  # a window with more entries is written with a running index
COMPARED = 4  # up to here each comparison of a case is written out


def window(b: Builder, d: Story) -> None:
    """One window: its entries, its cases, the derivative of each case."""
    w = d.window
    b.heading("heading_window")
    b.prose("window_entries", output=b.m(d.output), f=b.m(w.f, d.scope), n=w.n, op=d.op,
            axes=len(d.field.axes), **_edges(d), entries=_some_entries(b, d))
    b.math("window_entries", listing(d), d.entries, definition=True)
    receptive_fields_of(b, d, example_shape(d))
    if w.n == 1:
        b.prose("window_single")
        b.math("window_value", ex.eq(w.f, w.z(1)), d.scope)
        return
    b.prose("window_maximum", op=d.op)
    b.math("window_value", ex.eq(w.f, window_value(d)), d.scope)
    b.prose("window_cases", op=d.op, n=w.n)
    b.math("window_cases", ex.eq(w.f, window_cases(d)) if w.n <= LISTED else general_case(d), d.scope)
    b.prose("window_derivative", slopes=d.slopes, z=b.m(w.z(1), d.scope), other=b.m(w.z(2), d.scope))
    if w.n <= COMPARED:  # of more entries the general one says it more shortly
        b.math("window_jacobian", ex.eq(ex.Partial(w.f, w.z(1)), first_slope(d)), d.scope)
        b.prose("window_derivative_general")
    b.math("window_jacobian_general", ex.eq(ex.Partial(w.f, w.z(w.q)), slope(d)), d.scope)


def _edges(d: Story) -> dict[str, bool]:
    return {"padded": d.field.padded}


def _some_entries(b: Builder, d: Story) -> str:
    w = d.window
    named = [b.m(w.z(q), d.scope) for q in (range(1, w.n + 1) if w.n < 4 else (1, w.n))]
    return ", ".join(named) if w.n < 4 else f"{named[0]}, …, {named[1]}"


def listing(d: Story) -> ex.Node:
    """z_1 = x_{2k,2l}, z_2 = x_{2k,2l+1}, … of a window inside the input, row by row."""
    axes, w = d.field.axes, d.window
    starts = [ex.add(ex.mul(ex.Num(a.stride), k), ex.Num(-a.padding)) for a, k in zip(axes, d.outputs, strict=True)]
    if w.n <= LISTED:
        cells: list[tuple[int, ...]] = [()]
        for axis in axes:
            cells = [(*cell, a) for cell in cells for a in range(axis.kernel_size)]
        pairs = [ex.eq(w.z(q + 1), ex.Entry(d.wrt, tuple(ex.add(s, ex.Num(x.dilation * a))
                                                      for s, a, x in zip(starts, cell, axes, strict=True))))
                 for q, cell in enumerate(cells)]
        return ex.joined(pairs)
    offsets = tuple(map(ex.Idx, d.windowed.offsets))
    number: ex.Expr = ex.ZERO
    for axis, offset in zip(axes, offsets, strict=True):
        number = ex.add(ex.mul(ex.Num(axis.kernel_size), number), offset)
    entry = ex.Entry(d.wrt, tuple(ex.add(s, ex.mul(ex.Num(x.dilation), a))
                                  for s, a, x in zip(starts, offsets, axes, strict=True)))
    ranges = tuple(ex.Rel((ex.ZERO, a, ex.Num(axis.kernel_size - 1)), ("≤", "≤"))
                   for a, axis in zip(offsets, axes, strict=True))
    return ex.Given(ex.eq(w.z(ex.add(number, ex.ONE)), entry), ex.And(ranges) if len(ranges) > 1 else ranges[0])


def window_value(d: Story) -> ex.Expr:
    """max(z_1, …, z_n), as SymPy's window has it."""
    w = d.window
    if w.n > LISTED:
        return w.module.definition(w.module.output)[1]
    return ex.Extremum(w.op, tuple(w.z(q) for q in range(1, w.n + 1)))


def open_region(d: Story, case: Case) -> ex.Cond:
    """z_q > z_1, z_q > z_2, …; for a longer list, z_q > max(the others)."""
    w, written = d.window, _region(case, d.window)
    if w.n <= COMPARED or not isinstance(written, ex.And):
        return written
    first = written.conds[0]
    others = tuple(c.terms[1] for c in written.conds if isinstance(c, ex.Rel))
    assert isinstance(first, ex.Rel)
    return ex.Rel((first.terms[0], ex.Extremum(w.op, others)), first.ops)


def window_cases(d: Story) -> ex.Cases:
    """f = z_q where z_q beats all others: the cases of SymPy's window."""
    return ex.Cases(tuple((_value(c.value, d.window), open_region(d, c)) for c in d.symbolic_cases))


def first_slope(d: Story) -> ex.Cases:
    """∂f/∂z_1, from SymPy's derivative of each case's value."""
    gains = [c for c in d.symbolic_cases if c.gradient[0] != 0]
    branches = tuple((_value(c.gradient[0], d.window), open_region(d, c)) for c in gains)
    return ex.Cases((*branches, (ex.ZERO, ex.OTHERWISE)))


def _rival_test(d: Story) -> ex.Rel:
    """z_q > max_{r ≠ q} z_r."""
    w = d.window
    return ex.rel(w.z(w.q), w.beats, ex.Reduce(w.op, ex.over((w.r,), ex.rel(w.r, "≠", w.q)), w.z(w.r)))


def general_case(d: Story) -> ex.Given:
    """z_q = f if z_q > max_{r ≠ q} z_r."""
    return ex.Given(ex.eq(d.window.z(d.window.q), d.window.f), _rival_test(d))


def slope(d: Story) -> ex.Cases:
    """∂f/∂z_q = { 1 if z_q > max_{r ≠ q} z_r, 0 otherwise }."""
    return ex.Cases(((ex.ONE, _rival_test(d)), (ex.ZERO, ex.OTHERWISE)))


def covering(b: Builder, d: Story) -> None:
    """The windows of the outputs, and solved for them those that cover (i, j)."""
    b.prose("message_covering", at=b.m(ex.tuple_of(d.indices)))
    b.prose("message_windows", output=b.m(d.output), padded=d.field.padded)
    b.math("windows", covers(d.indices, d.outputs, d.module))
    facts = described(d.field, d.module.input_size)["facts"]
    b.prose("message_inverse", at=b.m(ex.tuple_of(d.indices)), overlaps=facts.most > 1, gaps=facts.gaps,
            dilated=max(d.field.dilation) > 1)
    b.math("covering_windows", covered_by(d.indices, d.outputs, d.module))


def ties(b: Builder, d: Story) -> None:
    """Subdifferential, directional derivative, the rule in use and who uses it."""
    w = d.window
    if w.n == 1:
        return
    b.heading("heading_ties")
    b.prose("active_set", op=d.op)
    b.math("active_set", one.active_set(w), d.scope, definition=True)
    b.prose("ties", op=d.op, active=b.m(w.active, d.scope))
    b.math("subdifferential", one.subdifferential(w), d.scope, ties=True)
    b.prose("ties_directional", op=d.op, v=b.m(ex.Entry("direction", ()), d.scope))
    b.math("directional", one.directional(w), d.scope, ties=True)
    b.prose("ties_rule", rule=d.module.tie_rule, op=d.op)
    b.math("tie_choice", one.tie_choice(w), d.scope, definition=True)
    b.prose("ties_member")
    b.math("tie_membership", one.tie_membership(w), d.scope, ties=True)
    if d.windowed.whole:  # through other definitions the choices of all windows may leave the subdifferential
        b.prose("ties_message", rule=d.module.tie_rule, op=d.op, overlaps=d.field.overlaps)
    b.heading("heading_programs", 3)
    if d.windowed.whole and d.field.overlaps:
        b.prose("ties_apart", op=d.op)
    written = b.say("ties_rows", axes=len(d.field.axes), op=d.op)
    rows = tuple(tuple(cell.strip() for cell in row.split(" ~ ")) for row in written.split(" | "))
    header = tuple(b.say("ties_header").split(" ~ "))
    b.table(header, tuple(r for r in rows if len(r) == len(header)), "ll")
    b.prose("ties_remark", op=d.op)


# --- SymPy's cases in the printed language ---

_OPS = {"StrictGreaterThan": ">", "StrictLessThan": "<", "GreaterThan": "≥", "LessThan": "≤"}


def _value(expr: Any, w: OneWindow) -> ex.Expr:
    """A number, or the symbol z_q, as an expression."""
    return ex.Num(int(expr)) if expr.is_Integer else w.z(int(str(expr).rsplit("_", 1)[1]))


def _region(case: Case, w: OneWindow) -> ex.Cond:
    """z_q > z_1, z_q > z_2, …"""
    rels = tuple(ex.Rel((_value(r.lhs, w), _value(r.rhs, w)), (_OPS[type(r).__name__],)) for r in case.region)
    return ex.joined(rels)
