"""The windows of a geometry in words: how they lie, how many cover an entry, what happens at the edge, ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

from derive.axes import extent
from derive.calculus.windows import in_closed_form, inverses
from derive.exposition.builder import Builder
from derive.exposition.printed import equation, printed
from derive.exposition.subject import LOSS, Subject
from derive.expr import (
    Arg,
    Cardinality,
    Cases,
    Entry,
    Expr,
    Fn,
    Mul,
    Num,
    Partial,
    Reduce,
    Size,
    conditions,
    joined,
    tuple_of,
    walk,
)
from derive.receptive_field import AdaptiveAxis, ReceptiveField, WindowAxis, window_facts
from derive.reductions import selects
from derive.verify.edges import value_of_nothing


def described(field: ReceptiveField, size: tuple[int, ...] | None) -> dict[str, Any]:
    """What the words on windows depend on."""
    facts = window_facts(field, size)
    adaptive = [a.outputs for a in field.axes if isinstance(a, AdaptiveAxis)]
    axes = [a for a in field.axes if isinstance(a, WindowAxis)]
    ends = [(a.padding, a.padding_after) for a in axes]
    return {
        "facts": facts, "output_size": adaptive, "rank": len(field.axes), "size": size,
        "kernel_size": [a.kernel_size for a in axes], "stride": [a.stride for a in axes],
        "dilation": [a.dilation for a in axes], "padding": ends, "padded": any(map(any, ends)),
        "ceil_mode": any(a.ceil_mode for a in axes),
        "identity": bool(axes) and facts.tiles and all(a.kernel_size == a.stride == 1 for a in axes),
        "larger": all(a.kernel_size > a.stride or a.kernel_size == a.stride == 1 for a in axes),
    }


def describe(b: Builder, field: ReceptiveField, size: tuple[int, ...] | None, at: Sequence[Expr], *, sizes: list[str],
             conditional: bool, formula: bool) -> None:
    """The sentence on the windows around the entry ``at``; ``formula``: the message as it is here follows.

    ``sizes`` are the letters of the outputs' numbers where the formula has them, ``conditional`` where it has cases.
    """
    words = b.worded("geometry")
    words.prose("here", at=b.m(tuple_of(tuple(at))), sizes=sizes, conditional=conditional, formula=formula,
                **described(field, size))


def edge(b: Builder, field: ReceptiveField, size: tuple[int, ...] | None, empty: Expr | None,
         divisor: str = "", zeros: str = "") -> None:
    """What happens at the edge: ``empty`` is the value over no entry, ``divisor`` what an average divides by.

    ``zeros``: the maximum, or minimum, of an input that the question pads with them.
    """
    facts = described(field, size)
    words = b.worded("geometry")
    words.prose("edge", facts=facts["facts"], ceil_mode=facts["ceil_mode"], divisor=divisor, padded=facts["padded"],
                zeros=zeros, empty=b.m(empty) if empty is not None and facts["facts"].missed else "")


def here(b: Builder, subject: Subject, before: Expr, after: Expr) -> None:
    """How the windows lie around an entry, and δ_x with the windows that cover it in closed form."""
    module = subject.module
    field, symbol = module.receptive_field, module.table.named(module.output)
    of_loss = isinstance(before, Partial) and before.of == Entry(LOSS, ())
    entry = before.wrt if isinstance(before, Partial) and (of_loss or not subject.is_window) else before
    if field is None or symbol is None or len(module.equations) > 1 or not isinstance(entry, Entry):
        return
    if entry.tensor.removeprefix("delta_") != module.inputs[0] or len(entry.indices) != len(field.axes):
        return
    closed = in_closed_form(after, module)
    if subject.is_window:  # its own derivation goes on to this form
        passed = Entry(f"delta_{module.output}", entry.indices)
        whole = subject.messages.message(module.inputs[0]).after
        closed = passed if described(field, module.input_size)["identity"] and not field.padded else cast(Expr, whole)
        closed = _alone(closed) if math.prod(field.kernel_size) == 1 else closed
    shown = closed or after
    written = {n.name for n in walk(shown) if isinstance(n, Size)}
    sizes = [b.m(extent(size)) for size in symbol.sizes] if written & {*symbol.sizes} else []
    conditional = any(inv.conds for inv in inverses(entry.indices, module))
    describe(b, field, module.input_size, entry.indices, sizes=sizes if closed else [], conditional=conditional,
             formula=closed is not None)
    if closed is not None:
        value = closed if isinstance(closed, Cases) else printed(closed, before, module)
        b.math(f"message_here_{module.inputs[0]}", equation(before, value))
    edge(b, field, module.input_size, value_of_nothing(module), _divisor(subject), _zeros(subject))


def _alone(message: Expr) -> Expr:
    """A message through windows of one entry: that is the largest of its window, whatever it is."""
    if not isinstance(message, Cases):
        return message
    (value, cond), *rest = message.branches
    kept = [c for c in conditions(cond) if not any(isinstance(n, Arg) for n in walk(c))]
    return Cases(((value, joined(kept)), *rest)) if kept else value


def ties(b: Builder, subject: Subject) -> None:
    """The generalised derivatives of one window and of the whole message, where the layer selects an entry of each."""
    _, value = subject.module.definition(subject.module.output)
    alone = isinstance(value, Reduce) and selects(value.op) and len(subject.module.equations) == 1
    body = value.body if isinstance(value, Reduce) else None
    entry = isinstance(body, Entry) and body.tensor in subject.module.inputs and not subject.module.parameters
    absolute = isinstance(body, Fn) and body.name == "abs" and isinstance(body.args[0], Entry)
    if alone and (entry or absolute) and isinstance(value, Reduce):
        words = b.worded("geometry")
        words.prose("ties", op=value.op, absolute=absolute, rule=subject.module.tie_rule,
                    one=not subject.output.indices)


def _zeros(subject: Subject) -> str:
    """"max" or "min", where the question pads with zeros what is selected from."""
    _, value = subject.module.definition(subject.module.output)
    said = any(reading.startswith("padding with zeros") for reading in subject.module.readings)
    return value.op if said and isinstance(value, Reduce) and value.op in ("max", "min") else ""


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
    return "cells" if number == Fraction(1, math.prod(steady)) else "own"
