"""What a sheet says of a maximum over windows: the answer, one window case by case, why, the message, ties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import derive.expr as ex
from derive.axes import extent
from derive.calculus import one_window as one
from derive.calculus.derivation import Step
from derive.calculus.one_window import OneWindow
from derive.calculus.windows import covered_by, covers, inverses, output_sizes
from derive.exposition.builder import Builder
from derive.exposition.pictures import receptive_fields_of
from derive.exposition.story import Story
from derive.exposition.window_example import example_shape
from derive.exposition.windows import describe, described, edge, value_of_nothing

if TYPE_CHECKING:
    from derive.symbolic.window import Case

LISTED = 9  # a window with more entries is written with a running index
COMPARED = 4  # up to here each comparison of a case is written out


def answer(b: Builder, d: Story) -> None:
    """(i^*, j^*), f = x_{i^* j^*}, the Jacobian, and the messages asked for."""
    asked = d.module.asked
    stars = ex.tuple_of(d.extremiser.stars)
    attained = ex.Entry(d.wrt, d.extremiser.stars)
    window = ex.SetApp(d.module.fields[0][0], d.outputs)
    b.prose("answer_maximiser", op=d.op, window=b.m(window), stars=b.m(stars), source=b.m(ex.Entry(d.wrt, ())),
            rank=len(d.indices))
    b.math("maximiser", ex.eq(stars, d.extremiser.arg), definition=True)
    b.math("forward", ex.eq(d.output, attained), general=True)
    if asked == ("forward",):
        return
    b.prose("answer_jacobian", op=d.op, output=b.m(d.output), attained=b.m(attained))
    b.math("jacobian", _said(d.jacobian), general=True)
    if "parameters" in asked:
        b.prose("answer_parameters", op=d.op)
    if "vjp" in asked:
        backward(b, d)
    if d.window.n > 1:
        b.prose("answer_ties", op=d.op, rule=d.module.tie_rule, axes=len(d.field.axes))


def backward(b: Builder, d: Story) -> None:
    """δ_x in general, and as this geometry has it."""
    delta_f = ex.Entry(f"delta_{d.module.output}", d.outputs)
    b.prose("answer_message", delta=b.m(delta_f), at=b.m(ex.tuple_of(d.indices)), partial=b.m(d.jacobian.before))
    b.math("message", _said(d.covering), general=True)
    here(b, d)


def here(b: Builder, d: Story) -> None:
    """δ_x in the form that holds for this geometry, and why."""
    symbol = d.module.table.named(d.module.output)
    assert symbol is not None
    if described(d.field, d.module.input_size)["identity"] and not d.field.padded:
        describe(b, d.field, d.module.input_size, d.indices, sizes=[], conditional=False, formula=True)
        b.math("message_here",
               ex.eq(ex.Entry(f"delta_{d.wrt}", d.indices), ex.Entry(f"delta_{d.module.output}", d.indices)))
        return
    written = {n.name for n in ex.walk(d.message.after) if isinstance(n, ex.Size)}
    sizes = [b.m(extent(size)) for size in symbol.sizes] if written else []
    conditional = any(inv.conds for inv in inverses(d.source.indices, d.module))
    describe(b, d.field, d.module.input_size, d.indices, sizes=sizes, conditional=conditional, formula=True)
    b.math("message_here", _said(d.message))
    edge(b, d.field, d.module.input_size, value_of_nothing(d.module))


def _said(step: Step) -> ex.Rel:
    """before = after: what a step says."""
    return ex.Rel((cast(ex.Expr, step.before), cast(ex.Expr, step.after)), ("=",))


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
    b.prose("window_derivative", op=d.op, z=b.m(w.z(1), d.scope), other=b.m(w.z(2), d.scope))
    if w.n <= LISTED:
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
        return pairs[0] if len(pairs) == 1 else ex.And(tuple(pairs))
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


def why(b: Builder, d: Story) -> None:
    """A small change of an entry that is not the largest changes nothing; of the largest, as much."""
    w = d.window
    if w.n == 1:
        return
    b.heading("heading_why")
    b.prose("why_rival", op=d.op, z=b.m(w.z(w.q), d.scope))
    b.math("rival", one.rival(w), d.scope, definition=True)
    b.math("duel", one.duel(w), d.scope)
    below, above = one.quotients(w)
    b.prose("why_below", op=d.op, z=b.m(w.z(w.q), d.scope), h=b.m(w.named("step"), d.scope))
    b.math("slope_zero", below, d.scope)
    b.prose("why_above", op=d.op)
    b.math("slope_one", above, d.scope)
    b.prose("why_remark", op=d.op)
    _index_steps(b, d)


def _index_steps(b: Builder, d: Story) -> None:
    """The same in the card's indices: the steps of the index calculus."""
    b.prose("index_calculus", op=d.op)
    for step in d.jacobian:
        # a definition is shown with the words of the rule that differentiates what it stands for
        rules = [p.rule for p in step.premises] if step.rule == "definition" else [step.rule]
        if step.rule in ("entry", "definition") and rules:
            b.prose(f"rule_{rules[0]}", op=d.op, stars=b.m(ex.tuple_of(d.extremiser.stars)))
            b.math(f"step_{rules[0]}", _said(step), general=True)


def indicator(b: Builder, d: Story) -> None:
    """The product of comparisons, the linear form, and why W may be held fixed."""
    w = d.window
    if w.n == 1:
        return
    b.heading("heading_indicator")
    name, row = b.m(w.named("indicator", w.q), d.scope), b.m(w.named("indicator"), d.scope)
    b.prose("indicator", op=d.op, z=b.m(w.z(w.q), d.scope))
    b.math("indicator", one.indicator(w), d.scope, definition=True)
    active_set(b, d)
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
    b.prose("no_parameters", op=d.op, row=row)


def active_set(b: Builder, d: Story) -> None:
    """A = {q : z_q = f}."""
    b.prose("active_set", op=d.op)
    b.math("active_set", one.active_set(d.window), d.scope, definition=True)


def full_message(b: Builder, d: Story) -> None:
    """Chain rule, covering windows, the windows that cover (i, j) in closed form."""
    loss = ex.Entry("loss", ())
    delta_f = ex.Entry(f"delta_{d.module.output}", d.outputs)
    delta_x = ex.Entry(f"delta_{d.wrt}", d.indices)
    at = b.m(ex.tuple_of(d.indices))
    b.heading("heading_message")
    b.prose("message_local", partial=b.m(d.jacobian.before), loss=b.m(loss))
    b.math("upstream", ex.And((ex.eq(delta_f, ex.Partial(loss, d.output)), ex.eq(delta_x, ex.Partial(loss, d.source)))),
           general=True)
    b.prose("message_chain", at=at)
    b.math("chain", _said(d.message.last("chain")), general=True)
    b.prose("message_covering", at=at, op=d.op)
    if "vjp" not in d.module.asked:
        b.math("message", _said(d.covering), general=True)
    b.prose("message_windows", output=b.m(d.output), padded=d.field.padded)
    b.math("windows", covers(d.indices, d.outputs, d.module))
    if output_sizes(d.module):
        _sizes(b, d)
    facts = described(d.field, d.module.input_size)["facts"]
    b.prose("message_inverse", at=at, overlaps=facts.most > 1, gaps=facts.gaps, dilated=max(d.field.dilation) > 1)
    b.math("covering_windows", covered_by(d.indices, d.outputs, d.module))
    if "vjp" not in d.module.asked:
        here(b, d)
    b.prose("message_network", op=d.op)


def _sizes(b: Builder, d: Story) -> None:
    sizes = output_sizes(d.module)
    known = d.module.input_size
    b.prose("message_sizes", sizes=", ".join(b.m(s.terms[0]) for s in sizes), known=known,
            outputs=None if known is None else d.field.output_shape(known))
    b.math("output_size", sizes[0] if len(sizes) == 1 else ex.And(sizes))


def ties(b: Builder, d: Story) -> None:
    """Subdifferential, directional derivative, the rule in use and who uses it."""
    w = d.window
    if w.n == 1:
        return
    b.heading("heading_ties")
    if not d.windowed.whole:
        active_set(b, d)
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
    return rels[0] if len(rels) == 1 else ex.And(rels)
