"""The sections behind the answer: the window, why, indicator form, full message, ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.calculus import one_window as one
from derive.calculus.windows import covered_by, covers, output_sizes
from derive.compose import from_sympy, pictures
from derive.compose.answer import equation, here
from derive.compose.builder import Builder
from derive.compose.example import example_shape
from derive.compose.geometry import described
from derive.expr import (
    ONE,
    OTHERWISE,
    ZERO,
    And,
    Cases,
    Cond,
    Entry,
    Expr,
    Extremum,
    Given,
    Idx,
    Node,
    Num,
    Partial,
    Reduce,
    Rel,
    add,
    eq,
    mul,
    over,
    rel,
    tuple_of,
)

if TYPE_CHECKING:
    from derive.compose.sheet import Derived
    from derive.symbolic.window import Case

LISTED = 9  # a window with more entries is written with a running index
COMPARED = 4  # up to here each comparison of a case is written out


def reading(b: Builder, d: Derived) -> None:
    """What was read from the card."""
    if d.module.readings:
        b.heading("heading_reading")
        b.bullets("readings", readings=list(map(b.lettered, d.module.readings)))


def window(b: Builder, d: Derived) -> None:
    """One window: its entries, its cases, the derivative of each case."""
    w = d.window
    b.heading("heading_window")
    b.prose("window_entries", output=b.m(d.output), f=b.m(w.f, "window"), n=w.n, op=d.op,
            axes=len(d.field.axes), **_edges(d), entries=_some_entries(b, d))
    b.math("window_entries", listing(d), "entries", definition=True)
    pictures.windows(b, d, example_shape(d))
    if w.n == 1:
        b.prose("window_single")
        b.math("window_value", eq(w.f, w.z(1)), "window")
        return
    b.prose("window_maximum", op=d.op)
    b.math("window_value", eq(w.f, window_value(d)), "window")
    b.prose("window_cases", op=d.op, n=w.n)
    b.math("window_cases", eq(w.f, window_cases(d)) if w.n <= LISTED else general_case(d), "window")
    b.prose("window_derivative", op=d.op, z=b.m(w.z(1), "window"), other=b.m(w.z(2), "window"))
    if w.n <= LISTED:
        b.math("window_jacobian", eq(Partial(w.f, w.z(1)), first_slope(d)), "window")
        b.prose("window_derivative_general")
    b.math("window_jacobian_general", eq(Partial(w.f, w.z(w.q)), slope(d)), "window")


def _edges(d: Derived) -> dict[str, bool]:
    return {"padded": d.field.padded}


def _some_entries(b: Builder, d: Derived) -> str:
    w = d.window
    named = [b.m(w.z(q), "window") for q in (range(1, w.n + 1) if w.n < 4 else (1, w.n))]
    return ", ".join(named) if w.n < 4 else f"{named[0]}, …, {named[1]}"


def listing(d: Derived) -> Node:
    """z_1 = x_{2k,2l}, z_2 = x_{2k,2l+1}, … of a window inside the input, row by row."""
    axes, w = d.field.axes, d.window
    starts = [add(mul(Num(a.stride), k), Num(-a.padding)) for a, k in zip(axes, d.outputs, strict=True)]
    if w.n <= LISTED:
        cells: list[tuple[int, ...]] = [()]
        for axis in axes:
            cells = [(*cell, a) for cell in cells for a in range(axis.kernel_size)]
        pairs = [eq(w.z(q + 1), Entry(d.wrt, tuple(add(s, Num(x.dilation * a))
                                                      for s, a, x in zip(starts, cell, axes, strict=True))))
                 for q, cell in enumerate(cells)]
        return pairs[0] if len(pairs) == 1 else And(tuple(pairs))
    offsets = tuple(Idx(s.name) for s in d.tables["entries"].symbols[-len(axes):])
    number: Expr = ZERO
    for axis, offset in zip(axes, offsets, strict=True):
        number = add(mul(Num(axis.kernel_size), number), offset)
    entry = Entry(d.wrt, tuple(add(s, mul(Num(x.dilation), a)) for s, a, x in zip(starts, offsets, axes, strict=True)))
    ranges = tuple(Rel((ZERO, a, Num(axis.kernel_size - 1)), ("≤", "≤")) for a, axis in zip(offsets, axes, strict=True))
    return Given(eq(w.z(add(number, ONE)), entry), And(ranges) if len(ranges) > 1 else ranges[0])


def window_value(d: Derived) -> Expr:
    """max(z_1, …, z_n), as SymPy's window has it."""
    w = d.window
    if w.n > LISTED:
        return w.module.definition(w.module.output)[1]
    return Extremum(w.op, tuple(w.z(q) for q in range(1, w.n + 1)))


def open_region(d: Derived, case: Case) -> Cond:
    """z_q > z_1, z_q > z_2, …; for a longer list, z_q > max(the others)."""
    w, written = d.window, from_sympy.region(case, d.window)
    if w.n <= COMPARED or not isinstance(written, And):
        return written
    first = written.conds[0]
    others = tuple(c.terms[1] for c in written.conds if isinstance(c, Rel))
    assert isinstance(first, Rel)
    return Rel((first.terms[0], Extremum(w.op, others)), first.ops)


def window_cases(d: Derived) -> Cases:
    """f = z_q where z_q beats all others: the cases of SymPy's window."""
    return Cases(tuple((from_sympy.value(c.value, d.window), open_region(d, c)) for c in d.symbolic_cases))


def first_slope(d: Derived) -> Cases:
    """∂f/∂z_1, from SymPy's derivative of each case's value."""
    gains = [c for c in d.symbolic_cases if c.gradient[0] != 0]
    branches = tuple((from_sympy.value(c.gradient[0], d.window), open_region(d, c)) for c in gains)
    return Cases((*branches, (ZERO, OTHERWISE)))


def _rival_test(d: Derived) -> Rel:
    """z_q > max_{r ≠ q} z_r."""
    w = d.window
    return rel(w.z(w.q), w.beats, Reduce(w.op, over((w.r,), rel(w.r, "≠", w.q)), w.z(w.r)))


def general_case(d: Derived) -> Given:
    """z_q = f if z_q > max_{r ≠ q} z_r."""
    return Given(eq(d.window.z(d.window.q), d.window.f), _rival_test(d))


def slope(d: Derived) -> Cases:
    """∂f/∂z_q = { 1 if z_q > max_{r ≠ q} z_r, 0 otherwise }."""
    return Cases(((ONE, _rival_test(d)), (ZERO, OTHERWISE)))


def why(b: Builder, d: Derived) -> None:
    """A small change of an entry that is not the largest changes nothing; of the largest, as much."""
    w = d.window
    if w.n == 1:
        return
    b.heading("heading_why")
    b.prose("why_rival", op=d.op, z=b.m(w.z(w.q), "window"))
    b.math("rival", one.rival(w), "window", definition=True)
    b.math("duel", one.duel(w), "window")
    below, above = one.quotients(w)
    b.prose("why_below", op=d.op, z=b.m(w.z(w.q), "window"), h=b.m(w.named("step"), "window"))
    b.math("slope_zero", below, "window")
    b.prose("why_above", op=d.op)
    b.math("slope_one", above, "window")
    b.prose("why_remark", op=d.op)
    _index_steps(b, d)


def _index_steps(b: Builder, d: Derived) -> None:
    """The same in the card's indices: the steps of the index calculus."""
    b.prose("index_calculus", op=d.op)
    for step in d.jacobian:
        # a definition is shown with the words of the rule that differentiates what it stands for
        rules = [p.rule for p in step.premises] if step.rule == "definition" else [step.rule]
        if step.rule in ("entry", "definition") and rules:
            b.prose(f"rule_{rules[0]}", op=d.op, stars=b.m(tuple_of(d.extremiser.stars)))
            b.math(f"step_{rules[0]}", equation(step), general=True)


def indicator(b: Builder, d: Derived) -> None:
    """The product of comparisons, the linear form, and why W may be held fixed."""
    w = d.window
    if w.n == 1:
        return
    b.heading("heading_indicator")
    name, row = b.m(w.named("indicator", w.q), "window"), b.m(w.named("indicator"), "window")
    b.prose("indicator", op=d.op, z=b.m(w.z(w.q), "window"))
    b.math("indicator", one.indicator(w), "window", definition=True)
    b.prose("active_set", op=d.op)
    b.math("active_set", one.active_set(w), "window", definition=True)
    b.prose("one_winner", unique=b.m(w.unique, "window"))
    b.math("one_winner", one.one_winner(w), "window")
    b.prose("matrix_form", op=d.op, row=row, z=b.m(w.z_all, "window"))
    b.math("linear_form", one.linear_form(w), "window")
    b.math("matrix_form", one.matrix_form(w), "window")
    b.prose("locally_constant", name=name)
    b.math("locally_constant", one.locally_constant(w), "window")
    b.prose("matrix_slope", op=d.op, row=row)
    b.math("matrix_slope", one.matrix_slope(w), "window")
    b.math("slope_is_indicator", one.slope_is_indicator(w), "window")
    b.prose("no_parameters", op=d.op, row=row)


def full_message(b: Builder, d: Derived) -> None:
    """Chain rule, covering windows, the windows that cover (i, j) in closed form."""
    loss = Entry("loss", ())
    delta_f = Entry(f"delta_{d.module.output}", d.outputs)
    delta_x = Entry(f"delta_{d.wrt}", d.indices)
    at = b.m(tuple_of(d.indices))
    b.heading("heading_message")
    b.prose("message_local", partial=b.m(d.jacobian.before), loss=b.m(loss))
    b.math("upstream", And((eq(delta_f, Partial(loss, d.output)), eq(delta_x, Partial(loss, d.source)))), general=True)
    b.prose("message_chain", at=at)
    b.math("chain", equation(d.message.last("chain")), general=True)
    b.prose("message_covering", at=at, op=d.op)
    if "vjp" not in d.module.asked:
        b.math("message", equation(d.message.last("covering")), general=True)
    b.prose("message_windows", output=b.m(d.output), padded=d.field.padded)
    b.math("windows", covers(d.indices, d.outputs, d.sized))
    if output_sizes(d.sized):
        _sizes(b, d)
    facts = described(d.field, d.module.input_size)["facts"]
    b.prose("message_inverse", at=at, overlaps=facts.most > 1, gaps=facts.gaps, dilated=max(d.field.dilation) > 1)
    b.math("covering_windows", covered_by(d.indices, d.outputs, d.sized))
    if "vjp" not in d.module.asked:
        here(b, d)
    b.prose("message_network", op=d.op)


def _sizes(b: Builder, d: Derived) -> None:
    sizes = output_sizes(d.sized)
    known = d.module.input_size
    b.prose("message_sizes", sizes=", ".join(b.m(s.terms[0]) for s in sizes), known=known,
            outputs=None if known is None else d.field.output_shape(known))
    b.math("output_size", sizes[0] if len(sizes) == 1 else And(sizes))


def ties(b: Builder, d: Derived) -> None:
    """Subdifferential, directional derivative, the rule in use and who uses it."""
    w = d.window
    if w.n == 1:
        return
    b.heading("heading_ties")
    b.prose("ties", op=d.op, active=b.m(w.active, "window"))
    b.math("subdifferential", one.subdifferential(w), "window", ties=True)
    b.prose("ties_directional", op=d.op, v=b.m(Entry("direction", ()), "window"))
    b.math("directional", one.directional(w), "window", ties=True)
    b.prose("ties_rule", rule=d.module.tie_rule, op=d.op)
    b.math("tie_choice", one.tie_choice(w), "window", definition=True)
    b.prose("ties_member")
    b.math("tie_membership", one.tie_membership(w), "window", ties=True)
    b.prose("ties_message", rule=d.module.tie_rule, op=d.op, overlaps=d.field.overlaps)
    written = b.say("ties_rows", axes=len(d.field.axes), op=d.op)
    rows = tuple(tuple(cell.strip() for cell in row.split(" ~ ")) for row in written.split(" | "))
    header = tuple(b.say("ties_header").split(" ~ "))
    b.table(header, tuple(r for r in rows if len(r) == len(header)), "ll")
    b.prose("ties_remark", op=d.op)


__all__ = ["full_message", "indicator", "reading", "ties", "why", "window"]
