"""What holds at ties: messages lie in the Clarke subdifferential, and the rule's share of each window."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from derive.axes import axes
from derive.calculus.messages import Messages
from derive.calculus.vanishing import at_kinks
from derive.errors import DeriveError, UnsupportedError
from derive.expr import Entry, Expr, Reduce
from derive.module import Module
from derive.numeric.arithmetic import EXACT
from derive.numeric.clarke import Choice, active_sets, choice, comparable, contains, selection
from derive.numeric.point import Index
from derive.reductions import is_middle
from derive.verify.points.claims import Compiler
from derive.verify.points.point import Point, Values, shape_of
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


class Message:
    """δ_x = Jᵀ δ_y of a layer that selects entries, at numbers: the derived formula, with the module's tie rule.

    The first of several maximisers is what the formula says in exact arithmetic; another rule is one of arrays.
    """

    def __init__(self, module: Module) -> None:
        messages = Messages(module)
        (self.wrt,), self.module, self._messages = module.inputs, messages.module, messages
        self._exact = module.tie_rule == "first" and not is_middle(selection(module).op)

    def point(self, x: Values) -> Point:
        """The layer at an input; an upstream gradient is still to be given."""
        return Point(self.module, EXACT, {self.wrt: x})

    def at(self, point: Point) -> Values:
        """δ_x for the upstream gradient of the point."""
        if self._exact:
            return {cell: self._formula(point, cell) for cell in point.given[self.wrt]}
        from derive.numbers import Numbers

        upstream = _array(point.tensor(f"delta_{self.module.output}"))
        given = point.given[self.wrt]
        found = Numbers(self.module, self._messages).backward(self.wrt, upstream=upstream, **{self.wrt: _array(given)})
        return {at: Fraction(float(n)).limit_denominator(10**6)
                for at, n in zip(sorted(given), found.flat, strict=True)}

    @cached_property
    def _formula(self) -> Callable[[Point, Index], Any]:
        step = self._messages.message(self.wrt)
        assert isinstance(step.before, Entry) and isinstance(step.after, Expr)
        return Compiler.of(self._messages, EXACT).function(step.before.indices, at_kinks(step.after, self.module))


def _array(values: Values) -> Any:
    import numpy as np

    return np.array([float(values[at]) for at in sorted(values)]).reshape(shape_of(values))


def clarke(module: Module) -> tuple[Check, ...]:
    """At tied inputs the message under the module's rule is an element of the Clarke subdifferential of Σ_k δ_k y_k.

    Nothing for layers that do not take a maximum, minimum or median of their windows alone.
    """
    if module.given != module.inputs[:1]:
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
    evidence = f"Under `{module.tie_rule}` the message lies in the Clarke subdifferential"
    message, source, points = Message(module), random.Random(5), 0
    for _ in range(_TRIES):
        x = _tied_input(module, node, source)
        try:
            point = message.point(x)
            delta = {at: source.choice((-3, -1, 1, 2)) for at in sorted(point.tensor(module.output))}
            found = message.at(point.with_upstream(delta))
            inside = contains(found, [choice(s, node, x, Fraction(delta[s.output])) for s in
                                      active_sets(message.module, point.given, point.shapes)])
        except UnsupportedError:  # too many ties to list
            continue
        except DeriveError as error:
            return (Check("ties", "", Verdict.NOT_READ, evidence, str(error)),)
        if not inside:
            return (Check("ties", "", Verdict.REFUTED, evidence, f"{_written(found)} is not, at x = {_written(x)}"),)
        points += 1
        if points == ENOUGH:
            break
    if points < ENOUGH:
        return (Check("ties", "", Verdict.NOT_READ, f"{evidence}: only {points} inputs say anything about it"),)
    return (Check("ties", "", Verdict.TESTED, f"{evidence} at {points} tied inputs", points=points),)


def _written(values: Values) -> str:
    return ", ".join(str(values[at]) for at in sorted(values))


def _tied_input(module: Module, node: Reduce, source: random.Random) -> Values:
    """Integers of which some are equal, on the smallest shape with two windows along an axis."""
    field = module.receptive_field
    if field is None:
        shape: tuple[int, ...] = (3,) * len(node.binder.variables)
    else:
        shape = tuple(_side(axis, 2 if d == 0 else 1, is_middle(node.op)) for d, axis in enumerate(field.axes))
        shape = module.input_size if module.input_size and math.prod(module.input_size) <= math.prod(shape) else shape
    cells = math.prod(shape)
    (wrt,) = module.inputs
    runs = [range(axes(module).origin(wrt, d), axes(module).origin(wrt, d) + n) for d, n in enumerate(shape)]
    return {at: source.randint(-cells // 3, cells // 3) for at in itertools.product(*runs)}


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
    evidence = "Choices made window by window can leave the subdifferential, as the full sheet shows"
    if outside:
        return Check("apart", "", Verdict.PROVED, evidence)
    return Check("apart", "", Verdict.REFUTED, evidence, "e_1 − e_2 lies in the subdifferential")
