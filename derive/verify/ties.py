"""What holds at ties: messages lie in the Clarke subdifferential, and the rule's share of each window."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from derive.errors import DeriveError, UnsupportedError
from derive.expr import Entry, Reduce
from derive.module import Module
from derive.numbers import Numbers
from derive.numeric.clarke import Choice, active_sets, comparable, contains, selection
from derive.numeric.point import Index
from derive.reductions import is_middle
from derive.verify.report import ENOUGH, Check, Verdict
from derive.window_axis import Axis

_TRIES = 60
_LONGEST = 64  # extent of an axis that is looked at


def by_rule(module: Module, values: Mapping[str, Mapping[Index, Any]], shapes: Mapping[str, Index],
               delta: Mapping[Index, Any]) -> dict[Index, Any]:
    """Σ over the windows of the upstream gradient times the rule's share of each entry, times the sign under |x|."""
    node = selection(module)
    (wrt,) = module.inputs
    total: dict[Index, Any] = dict.fromkeys(values[wrt], Fraction(0))
    for found in active_sets(module, values, shapes):
        chosen = {"first": found.active[:1], "last": found.active[-1:], "split": found.active}[module.tie_rule]
        for cell in chosen:
            x = values[wrt][cell]
            sign = 1 if isinstance(node.body, Entry) else (x > 0) - (x < 0)
            total[cell] += Fraction(delta[found.output]) * sign / len(chosen)
    return total


def clarke(module: Module) -> tuple[Check, ...]:
    """At tied inputs the message under the module's rule is an element of the Clarke subdifferential of Σ_k δ_k y_k.

    Nothing for layers that do not take a maximum, minimum or median of their windows alone.
    """
    if (*module.inputs, *module.parameters, *module.constants) != module.inputs[:1]:
        return ()
    return _clarke(replace(module, key="", name=None, asked=(), readings=(), wanted=()))  # whichever card asks


@lru_cache(maxsize=64)
def _clarke(module: Module) -> tuple[Check, ...]:
    try:
        node = selection(module)
    except UnsupportedError:
        return ()
    if not comparable(node):
        return ()
    evidence = (f"Under the tie rule `{module.tie_rule}` the message is an element of the Clarke subdifferential of "
                "the sum of the outputs, each times its upstream gradient")
    numbers, source, points = Numbers(module), random.Random(5), 0
    for _ in range(_TRIES):
        x = _tied_input(module, node, source)
        try:
            y = numbers.forward(**{module.inputs[0]: x})
            delta = np.array([source.choice((-3, -1, 1, 2)) for _ in range(y.size)], float).reshape(y.shape)
            found = numbers.backward(module.inputs[0], upstream=delta, **{module.inputs[0]: x})
            exact = np.array([Fraction(float(v)).limit_denominator(10**4) for v in found.flat], object)
            inside = numbers.is_subgradient(exact.reshape(found.shape), upstream=delta.astype(int),
                                            **{module.inputs[0]: x.astype(int)})
        except UnsupportedError:  # too many ties to list
            continue
        except DeriveError as error:
            return (Check("ties", "", Verdict.NOT_READ, evidence, str(error)),)
        if not inside:
            return (Check("ties", "", Verdict.REFUTED, evidence, f"{found.tolist()} is not, at x = {x.tolist()}"),)
        points += 1
        if points == ENOUGH:
            break
    if points < ENOUGH:
        return (Check("ties", "", Verdict.NOT_READ, f"{evidence}: only {points} inputs say anything about it"),)
    return (Check("ties", "", Verdict.TESTED, f"{evidence}, at {points} tied inputs", points=points),)


def _tied_input(module: Module, node: Reduce, source: random.Random) -> Any:
    """Integers of which some are equal, on the smallest shape with two windows along an axis."""
    field = module.receptive_field
    if field is None:
        shape: tuple[int, ...] = (3,) * len(node.binder.variables)
    else:
        shape = tuple(_side(axis, 2 if d == 0 else 1, is_middle(node.op)) for d, axis in enumerate(field.axes))
        shape = module.input_size if module.input_size and math.prod(module.input_size) <= math.prod(shape) else shape
    cells = math.prod(shape)
    values = [source.randint(-cells // 3, cells // 3) for _ in range(cells)]
    return np.array(values, float).reshape(shape)


def _side(axis: Axis, count: int, odd: bool) -> int:
    """The smallest extent with so many windows, of odd numbers of entries where that is wanted; 3 if there is none."""
    sides = (n for n in range(1, _LONGEST) if axis.output_size(n) >= count and not (
        odd and any(len(axis.covered(k, n)) % 2 == 0 for k in range(axis.output_size(n)))))
    return next(sides, 3)


def apart() -> Check:
    """Windows {0,1,2} and {1,2,3} of equal entries with δ = (1, −1): the choices 1 and 2 leave the subdifferential."""
    one = (1,)
    windows = [Choice(Fraction(sign), tuple((n + k,) for n in range(3)), (one,) * 3) for k, sign in ((0, 1), (1, -1))]
    outside = not contains({(1,): 1, (2,): -1}, windows)
    evidence = "Choices that overlapping windows make independently of each other can leave it, as in the example given"
    if outside:
        return Check("apart", "", Verdict.PROVED, evidence)
    return Check("apart", "", Verdict.REFUTED, evidence, "e_1 − e_2 lies in the subdifferential")
