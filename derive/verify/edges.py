"""What the forward formula gives where a window holds nothing."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from derive.expr import Expr, Infinity, Num
from derive.module import Module
from derive.numeric.arithmetic import DECIMAL, precision
from derive.numeric.evaluator import evaluate
from derive.receptive_field import Axis

_LONGEST = 64  # extent of an axis at which a window without entries is looked for


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
