"""The windows of a layer by other ways: counted one by one, by SymPy's cases of each, by the tie rule."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from itertools import islice
from typing import Any, cast

from sympy import StrictGreaterThan

from derive.calculus.messages import Messages
from derive.calculus.one_window import Windowed
from derive.errors import UnsupportedError
from derive.expr import Entry, Expr, Given, Idx, Node, Num, Partial, Rel, conditions
from derive.numeric.arithmetic import EXACT
from derive.numeric.evaluator import cells, inside, jacobian_by_differences
from derive.numeric.point import Index, NoCase, Undefined
from derive.numeric.statements import index_value
from derive.receptive_field import ReceptiveField, WindowFacts, at_many, of_axes, sizes_of, window_facts
from derive.sheet import Math
from derive.symbolic.window import case_list
from derive.verify.points.claims import Compiler
from derive.verify.points.point import Point
from derive.verify.report import ENOUGH, Check, Verdict, remembered
from derive.verify.scope import Scope
from derive.window_axis import Axis


def geometry(field: ReceptiveField, size: tuple[int, ...] | None) -> Check:
    """Tile, overlap, leave gaps, are clipped, lie wholly in padding: stated by closed forms, counted by definitions."""
    sizes = [(n,) for n in size] if size else [tuple(sizes_of(axis)) for axis in field.axes]
    counted = of_axes(at_many(_counted(axis, n) for n in along) for axis, along in zip(field.axes, sizes, strict=True))
    runs = dict.fromkeys(f"{along[0]} to {along[-1]}" for along in sizes)
    where = f"size {'×'.join(map(str, size))}" if size else f"{' and '.join(runs)} entries a side"
    evidence = f"How the windows lie, counted window by window at {where}"
    stated = window_facts(field, size)
    if counted != stated:
        return Check("geometry", "", Verdict.REFUTED, evidence, f"stated {stated}, counted {counted}")
    return Check("geometry", "", Verdict.PROVED if size else Verdict.TESTED, evidence)


def _counted(axis: Axis, n: int) -> WindowFacts:
    windows = [inside(axis, k, n) for k in range(axis.output_size(n))]
    counts = Counter(i for window in windows for i in window)
    within = {counts[i] for i in range(max(counts, default=-1) + 1)}
    clipped = any(len(window) < len(cells(axis, k, n)) for k, window in enumerate(windows))
    return WindowFacts(max(counts.values(), default=0), within == {1} and not clipped, 0 in within, clipped,
                       not all(windows))


def check_listing(printed: Math, node: Node, w: Windowed) -> Check:
    """z_1, z_2, … name the entries of a window inside the input, row by row, each once."""
    module, n = w.layer, w.window.n
    entry, _ = module.definition(module.output)
    outputs = tuple(i for i in entry.indices if isinstance(i, Idx))
    field = module.receptive_field
    assert field is not None
    shape = tuple(a.kernel_size + 2 * a.stride + 1 for a in field.axes)  # a whole window lies inside the input
    for at in itertools.product(*map(range, field.output_shape(shape))):
        window = list(itertools.product(*itertools.starmap(inside, zip(field.axes, at, shape, strict=True))))
        if len(window) != n:
            continue
        try:
            named = _named(node, dict(zip(outputs, at, strict=True)))
        except (NameError, ValueError, TypeError):
            return Check(printed.name, printed.latex, Verdict.NOT_READ, "it does not list entries of one window")
        if named != dict(enumerate(window, start=1)):
            return Check(printed.name, printed.latex, Verdict.REFUTED, "a counterexample",
                         f"the window of output {at} covers {window}, but the list names {named}")
    sizes = "×".join(map(str, shape))
    return Check(printed.name, printed.latex, Verdict.PROVED, f"by enumeration of the windows at size {sizes}")


def _named(node: Node, env: dict[Idx, int]) -> dict[int, tuple[int, ...]]:
    """q → the entry that the listing gives z_q."""
    claims = conditions(node)
    free: list[dict[Idx, int]] = [env]
    if isinstance(node, Given):
        claims = (node.claim,)
        bounds = conditions(node.cond)
        letters = [(c.terms[1], c.terms[2]) for c in bounds if isinstance(c, Rel) and len(c.terms) == 3]
        runs = [[(i, n) for n in range(int(top.value) + 1)] for i, top in letters if isinstance(top, Num)
                and isinstance(i, Idx)]
        free = [{**env, **dict(pick)} for pick in itertools.product(*runs)]
    found = {}
    for inner in free:
        for claim in claims:
            if not (isinstance(claim, Rel) and claim.ops == ("=",)):
                raise ValueError("a list of names is a list of equations")
            if isinstance(claim.terms[0], Entry) and isinstance(claim.terms[1], Entry):
                place, *_ = (_index(i, inner) for i in claim.terms[0].indices)
                found[place] = tuple(_index(i, inner) for i in claim.terms[1].indices)
    return found


def _index(term: Expr, env: dict[Idx, int]) -> int:
    return int(index_value(term, env, {}))


Derivatives = dict[tuple[Index, Index], Any]
# comparisons that hold (position, greater?, position), and the slopes (position, number)
PlainCase = tuple[tuple[tuple[int, bool, int], ...], tuple[tuple[int, int], ...]]

_SCALE = 1000  # of the numbers drawn, which makes them whole: then 1 is below every gap between them


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
    """Of the evaluator beside the point, zeros left out; :class:`Undefined` where the two sides differ.

    A maximum of entries has the same derivatives at a multiple of the point.
    """
    shapes = {name: point.shapes[name] for name in point.given}
    wide = {name: {at: EXACT.number(_SCALE * n) for at, n in values.items()} for name, values in point.given.items()}
    right, left = jacobian_by_differences(w.layer, wide, shapes, w.source, 1)
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


@lru_cache(maxsize=64)
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
