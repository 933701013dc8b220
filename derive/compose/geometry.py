"""The windows of this geometry in words: how they lie, how many cover an entry, what happens at the edge."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from derive.compose.builder import Builder
from derive.expr import Expr, Infinity, Num, tuple_of
from derive.module import Module
from derive.numeric.arithmetic import DECIMAL, precision
from derive.numeric.evaluator import evaluate
from derive.receptive_field import AdaptiveAxis, Axis, ReceptiveField, WindowAxis
from derive.window_facts import window_facts

_LONGEST = 64  # extent of an axis at which a window without entries is looked for


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
    words = Builder(b.tables, "geometry", b.blocks, b.inline)
    words.prose("here", at=b.m(tuple_of(tuple(at))), sizes=sizes, conditional=conditional, formula=formula,
                **described(field, size))


def edge(b: Builder, field: ReceptiveField, size: tuple[int, ...] | None, empty: Expr | None,
         divisor: str = "") -> None:
    """What happens at the edge: ``empty`` is the value over no entry, ``divisor`` what an average divides by."""
    facts = described(field, size)
    words = Builder(b.tables, "geometry", b.blocks, b.inline)
    words.prose("edge", facts=facts["facts"], ceil_mode=facts["ceil_mode"], divisor=divisor, padded=facts["padded"],
                empty=b.m(empty) if empty is not None and facts["facts"].missed else "")


def value_of_nothing(module: Module) -> Expr | None:
    """The output over a window without entries, by the forward formula: a maximum is −∞, a sum 0, a mean has none."""
    field = module.receptive_field
    shape = [next((n for n in range(1, _LONGEST) if axis.padded and axis.misses(n)), None)
             for axis in (field.axes if field else ())]
    missing = next((d for d, n in enumerate(shape) if n is not None), None)
    if field is None or missing is None or len(module.equations) > 1:
        return None
    sides = tuple(n if d == missing and n else _whole(axis) for d, (axis, n) in enumerate(zip(field.axes, shape,
                                                                                         strict=True)))
    with precision():
        cells = {at: DECIMAL.number(1) for at in itertools.product(*map(range, sides))}
        values = evaluate(module, {module.inputs[0]: cells}, {module.inputs[0]: sides}, DECIMAL)[module.output]
        found = next(v for at, v in values.items() if not field.window(at, sides))
    if math.isnan(found):
        return None
    return Infinity(1 if found > 0 else -1) if math.isinf(found) else Num(Fraction(found))


def _whole(axis: Axis) -> int:
    """The smallest extent with a window."""
    return next(n for n in itertools.count(1) if axis.output_size(n))
