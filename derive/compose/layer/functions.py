"""The derivative of each function that the card defines."""

from __future__ import annotations

from typing import cast

from derive.calculus.differentiate import slope, slope_step
from derive.calculus.shown import shown
from derive.compose.builder import Builder
from derive.compose.layer.printed import equation, presented
from derive.compose.layer.subject import Subject
from derive.expr import Entry, Expr, Fn, walk
from derive.module import Function


def slopes(b: Builder, subject: Subject) -> None:
    """σ'(s) = raw = in terms of σ, for the functions of one number that the layer uses."""
    used = {n.name for e in subject.module.equations for n in walk(e) if isinstance(n, Fn)}
    for function in subject.module.functions:
        if function.name in used and len(function.parameters) == 1:
            _slope(b, subject, function)


def _slope(b: Builder, subject: Subject, function: Function) -> None:
    step, here = slope_step(function, 0, subject.module)
    (parameter,) = function.parameters
    primed = Fn(function.name + "'", (Entry(parameter, ()),))
    b.prose("slope")
    raw: Expr | None = shown(step, here).raw
    after = slope(function, 0, subject.module)
    unknown = any(isinstance(n, Entry) and n.tensor == function.name for n in walk(cast(Expr, raw)))
    b.math("slope", presented(equation(primed, None if unknown else raw, after), primed, subject.module))
