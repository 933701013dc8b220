"""The windows of a layer by other ways: SymPy's cases of each window, and the tie rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from typing import Any, cast

from sympy import StrictGreaterThan

from derive.calculus.messages import Messages
from derive.calculus.one_window import Windowed
from derive.errors import UnsupportedError
from derive.expr import Entry, Expr, Partial
from derive.numeric.evaluator import jacobian_by_differences
from derive.numeric.point import Index, NoCase, Undefined
from derive.symbolic.window import case_list
from derive.verify.points.claims import Compiler
from derive.verify.points.point import Point
from derive.verify.report import ENOUGH, Check, Verdict, remembered
from derive.verify.scope import Scope

Derivatives = dict[tuple[Index, Index], Any]
# comparisons that hold (position, greater?, position), and the slopes (position, number)
PlainCase = tuple[tuple[tuple[int, bool, int], ...], tuple[tuple[int, int], ...]]

_STEP = Fraction(1, 1000)  # below every gap between the numbers drawn


def window_routes(w: Windowed, layer: Scope, window: Scope) -> list[Check]:
    """Index calculus, SymPy's cases and the evaluator give one Jacobian; the printed choice at a tie is the rule's."""
    derived = Messages(w.layer).jacobian(w.source)
    checks = [remembered(("routes", layer.key(derived.before, derived.after)), partial(three_routes, w, layer))]
    if "subgradient" in window.definitions.tensors:
        checks.append(remembered(("tie_rule", window.key()), partial(tie_rule, w, window)))
    return checks


def three_routes(w: Windowed, layer: Scope) -> Check:
    """∂t_{kl}/∂u_{ij} by the derived formula, by SymPy's cases of each window, and by difference quotients."""
    evidence = "Index calculus, SymPy's cases and difference quotients: one Jacobian"
    formula, points = _by_formula(w, layer), 0
    for point in islice(layer.points(), 2 * ENOUGH):
        try:
            known = _by_numbers(w, point)
        except Undefined:
            continue
        for name, found in (("index calculus", formula(point)), ("SymPy", _by_sympy(w, point))):
            if found != known:
                (out, at), _ = next(iter(set(known.items()) ^ set(found.items())))
                what = (f"{name} has {found.get((out, at), 0)}, the difference quotient {known.get((out, at), 0)} "
                        f"at output {out}, input {at}, for {point.describe()}")
                return Check("routes", "", Verdict.REFUTED, evidence, what)
        points += 1
        if points == ENOUGH:
            break
    if points < ENOUGH:
        return Check("routes", "", Verdict.NOT_READ, f"{evidence}: only {points} points say anything about it")
    return Check("routes", "", Verdict.TESTED, f"{evidence} at {points} points", points=points)


def _by_numbers(w: Windowed, point: Point) -> Derivatives:
    """Of the evaluator beside the point, zeros left out; :class:`Undefined` where the two sides differ."""
    shapes = {name: point.shapes[name] for name in point.given}
    right, left = jacobian_by_differences(w.layer, point.given, shapes, w.source, _STEP)
    if right != left:
        raise Undefined
    return right


def _by_formula(w: Windowed, layer: Scope) -> Callable[[Point], Derivatives]:
    """Of the derived formula, zeros left out."""
    messages = Messages(w.layer)
    step = messages.jacobian(w.source)
    before = cast(Partial, step.before)
    indices = (*cast(Entry, before.of).indices, *cast(Entry, before.wrt).indices)
    function = Compiler.of(messages, layer.kind).function(indices, cast(Expr, step.after))
    name, = dict(w.layer.fields)

    def evaluate(point: Point) -> Derivatives:
        found: Derivatives = {}
        for out in point.tensor(w.layer.output):
            for at in point.tensor(w.source) if point.elements(name, out) else ():  # of no entry there is no derivative
                try:
                    value = function(point, (*out, *at))
                except (Undefined, NoCase, KeyError):
                    continue
                if value:
                    found[out, at] = value
        return found

    return evaluate


@cache
def plain_cases(w: Windowed, n: int) -> tuple[PlainCase, ...]:
    """SymPy's cases of a window of n entries as comparisons of positions and numbers."""
    def place(symbol: Any) -> int:
        return int(str(symbol).rsplit("_", 1)[1]) - 1

    found = []
    for case in case_list(w.layer, n) if n else ():
        region = tuple((place(r.lhs), isinstance(r, StrictGreaterThan), place(r.rhs)) for r in case.region)
        found.append((region, tuple((t, int(g)) for t, g in enumerate(case.gradient) if g != 0)))
    return tuple(found)


def _by_sympy(w: Windowed, point: Point) -> Derivatives:
    """Of the SymPy case whose region holds in each window, zeros left out."""
    found: Derivatives = {}
    name, = dict(w.layer.fields)
    source = point.tensor(w.source)
    for out in point.tensor(w.layer.output):
        cells = [cell if isinstance(cell, tuple) else (cell,) for cell in point.elements(name, out)]
        values = [source[cell] for cell in cells]
        for region, slopes in plain_cases(w, len(cells)):
            if all((values[a] > values[b]) if greater else (values[a] < values[b]) for a, greater, b in region):
                found |= {(out, cells[t]): g for t, g in slopes}
    return found


def tie_rule(w: Windowed, window: Scope) -> Check:
    """The printed subgradient is that of the tie rule at every tie pattern: first, last, or equal shares."""
    rule, points = w.layer.tie_rule, 0
    evidence = f"The choice at every tie pattern is the rule `{rule}`,"
    try:
        function = window.compiler.function(*window.definitions.tensors["subgradient"])
    except UnsupportedError as error:
        return Check("tie_rule", "", Verdict.NOT_READ, str(error))
    for point in (*islice(window.points(), window.base), *window.patterns):
        active = _active(w, point)
        equal = dict.fromkeys(active, Fraction(1, len(active)))
        shares: dict[str, Mapping[Index, Any]] = {"first": {active[0]: 1}, "last": {active[-1]: 1}, "split": equal}
        points += 1
        for at in point.tensor(w.window.entries):
            try:
                found = function(point, at)
            except (Undefined, NoCase, LookupError, ValueError, TypeError, NameError):
                found = None
            if found != shares[rule].get(at, 0):
                what = f"entry {at[0]} gets {found} for {point.describe()}"
                return Check("tie_rule", "", Verdict.REFUTED, evidence, what)
    if points < ENOUGH:
        return Check("tie_rule", "", Verdict.NOT_READ, f"{evidence}: only {points} points say anything about it")
    return Check("tie_rule", "", Verdict.TESTED, f"{evidence} at {points} points", points=points)


def _active(w: Windowed, point: Point) -> list[Index]:
    """The entries that attain the output of one window, in order."""
    best = point.tensor(w.window.module.output)[()]
    return [at for at, value in point.tensor(w.window.entries).items() if value == best]
