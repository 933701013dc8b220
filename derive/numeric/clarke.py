"""Active sets of windows at ties, and whether a gradient lies in the Clarke subdifferential of Σ_k c_k f_k.

An active set: the places of a window where its maximum, minimum or median is attained.

Near a tie the function is linear on each cone of directions v, and every window takes
there the entry that v makes its largest.  The subdifferential is the convex hull of the
gradients of all choices that one direction makes together; choices that windows make
independently of each other may lie outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any, cast

from derive.errors import UnsupportedError
from derive.expr import BINDING, Entry, Fn, Idx, In, Node, Reduce, SetApp, eq, free_indices, open_as, walk
from derive.module import Module
from derive.numeric.evaluator import evaluate
from derive.records import dataclass
from derive.reductions import is_middle, selects

Index = tuple[int, ...]


@dataclass(frozen=True)
class ActiveSet:
    """One window: its places, those of them that are ``active``, and how many of the others have smaller values."""

    output: Index
    places: tuple[Index, ...]
    active: tuple[Index, ...]
    below: int


def selection(module: Module) -> Reduce:
    """The maximum, minimum or median that the layer's forward formula is.

    Raises :class:`UnsupportedError` where it is none, or its values are not functions of one entry each.
    """
    node = module.definition(module.output)[1]
    if isinstance(node, Reduce) and selects(node.op) and len(module.equations) == 1:
        inside = [n for n in walk(node.body) if isinstance(n, Entry) and n.indices]
        if len(set(inside)) == 1 and inside[0].indices == node.binder.variables and (
                free_indices(node.body) <= set(node.binder.variables)):
            return node
    raise UnsupportedError("only a layer that takes the maximum, minimum or median of its windows has active sets")


def separable(module: Module) -> bool:
    """Every equation defines an entry by entries at the same indices, or the last a sum of such terms."""
    for equation in module.equations:
        entry, value = cast(Entry, equation.terms[0]), equation.terms[1]
        indices: tuple[Node, ...] = entry.indices
        total = equation is module.equations[-1] and not entry.indices
        while total and isinstance(value, Reduce) and value.op == "sum":
            indices, value = (*indices, *value.binder.variables), value.body
        entries = [n for n in walk(value) if isinstance(n, Entry)]
        if any(isinstance(n, BINDING) for n in walk(value)) or any(n.indices not in ((), indices) for n in entries):
            return False
    return True


def active_sets(module: Module, values: Mapping[str, Mapping[Index, Any]], shapes: Mapping[str, Index]
                ) -> list[ActiveSet]:
    """The active set of every window, in the arithmetic of the values given."""
    node = selection(module)
    (wrt,) = {n.tensor for n in walk(node.body) if isinstance(n, Entry) and n.indices}
    compared = _compared(module, node, values, shapes)
    found = []
    for output, places in windows(module, node, shapes[wrt], compared):
        if not places:
            continue
        ordered = sorted(compared[p] for p in places)
        best = {"max": ordered[-1], "min": ordered[0]}.get(node.op, ordered[len(ordered) // 2])
        active = tuple(p for p in places if compared[p] == best)
        found.append(ActiveSet(output, tuple(places), active, sum(compared[p] < best for p in places)))
    return found


def windows(module: Module, node: Reduce, shape: Index, all_: Iterable[Index]) -> list[tuple[Index, list[Index]]]:
    """(output index, the input indices of its window) for each window, row by row; all where there is but one."""
    if isinstance(node.binder.cond, In) and isinstance(node.binder.cond.set, SetApp):
        field = module.field(node.binder.cond.set.name)
        return [(k, field.window(k, shape)) for k in field.outputs(shape)]
    return [((), list(all_))]


def _compared(module: Module, node: Reduce, values: Mapping[str, Mapping[Index, Any]],
              shapes: Mapping[str, Index]) -> dict[Index, Any]:
    """g(x_i), what the windows compare, at every place."""
    if isinstance(node.body, Entry):
        return dict(values[node.body.tensor])
    variables = tuple(Idx(f"place_{d}") for d in range(len(node.binder.variables)))
    _, body = open_as(node, variables)
    alone = replace(module, equations=(eq(Entry("compared", variables), body),), output="compared", fields=())
    return evaluate(alone, values, shapes)["compared"]


Gradient = tuple[Fraction, ...]
_MOST_ORDERS = 8  # entries of a median that are permuted
_MOST = 20_000  # vertices


@dataclass(frozen=True)
class Choice:
    """A window with ``weight`` c: its tied entries, the slopes that each can have, and which of them it takes.

    ``rank`` counts from the smallest along a direction; None: the first of them in it (the largest, or for a minimum
    the smallest: all directions are looked at, so it does not matter which).
    """

    weight: Fraction
    entries: tuple[Index, ...]
    slopes: tuple[tuple[int | Fraction, ...], ...]
    rank: int | None = None


def comparable(node: Reduce) -> bool:
    """The windows compare their entries, or the absolute values of these."""
    return isinstance(node.body, Entry) or (isinstance(node.body, Fn) and node.body.name == "abs")


def choice(window: ActiveSet, node: Reduce, x: Mapping[Index, Any], weight: Fraction) -> Choice:
    """What one window can choose at x: its active places, each with the slope of what the window compares."""
    if not comparable(node):
        raise UnsupportedError("joint choices are known for the entries of a window or their absolute values")
    absolute = isinstance(node.body, Fn)
    slopes = tuple(((1, -1) if not x[p] else (1 if x[p] > 0 else -1,)) if absolute else (1,) for p in window.active)
    middle = len(window.places) // 2 - window.below
    return Choice(weight, window.active, slopes, middle if is_middle(node.op) else None)


def contains(gradient: Mapping[Index, Any], choices: Sequence[Choice]) -> bool:
    """Whether the gradient (0 where it has no entry) is a convex combination of those of joint choices.

    Exact, by linear programming over the rationals.  Raises :class:`UnsupportedError`
    where too many entries are tied together.
    """
    rest = {place: Fraction(value) for place, value in gradient.items() if value}
    for group in _components(choices):
        places = sorted({e for c in group for e in c.entries})
        target = tuple(rest.pop(p, Fraction(0)) for p in places)
        if not _in_hull(target, sorted(set(_vertices(group, places)))):
            return False
    return not rest


def vertices(choices: Sequence[Choice]) -> list[dict[Index, Fraction]]:
    """The corners of the convex hull of all joint choices; an entry that is not there has 0.

    Raises :class:`UnsupportedError` where there are too many.
    """
    found: list[dict[Index, Fraction]] = [{}]
    for group in _components(choices):
        places = sorted({e for c in group for e in c.entries})
        reached = sorted(set(_vertices(group, places)))
        corners = [v for v in reached if not _in_hull(v, [other for other in reached if other != v])]
        if len(found) * len(corners) > _MOST:
            raise UnsupportedError(f"the subdifferential has more than {_MOST} vertices: take a smaller input")
        found = [rest | dict(zip(places, corner, strict=True)) for rest in found for corner in corners]
    return found


def _components(choices: Iterable[Choice]) -> list[list[Choice]]:
    """Windows that share tied entries, directly or through others: the rest chooses by itself."""
    groups: list[tuple[set[Index], list[Choice]]] = []
    for choice in choices:
        own = set(choice.entries)
        joined = [g for g in groups if g[0] & own]
        groups = [g for g in groups if not g[0] & own]
        groups.append((own.union(*(g[0] for g in joined)), [choice, *(c for g in joined for c in g[1])]))
    return [group for _, group in groups]


def _vertices(group: Sequence[Choice], places: Sequence[Index]) -> set[Gradient]:
    if any(c.rank is not None for c in group):
        return set(_by_order(group, places))
    return _by_largest(tuple(group), tuple(places))


def _by_order(group: Sequence[Choice], places: Sequence[Index]) -> Iterator[Gradient]:
    """The gradient for each order of the entries."""
    if len(places) > _MOST_ORDERS:
        raise UnsupportedError(f"{len(places)} entries are tied together, and at most {_MOST_ORDERS} are put in order")
    for order in permutations(range(len(places))):
        position = dict(zip(places, order, strict=True))
        total = [Fraction(0)] * len(places)
        for c in group:
            chosen = sorted(c.entries, key=position.__getitem__)[c.rank or 0]
            total[places.index(chosen)] += c.weight * c.slopes[c.entries.index(chosen)][0]
        yield tuple(total)


def _by_largest(group: tuple[Choice, ...], places: tuple[Index, ...]) -> set[Gradient]:
    """The entry that the direction makes largest takes all windows it is in; the next one what is left; and so on."""
    @cache
    def left(open_windows: frozenset[int]) -> frozenset[Gradient]:
        if not open_windows:
            return frozenset({(Fraction(0),) * len(places)})
        found: set[Gradient] = set()
        for n, place in enumerate(places):
            taken = [w for w in open_windows if place in group[w].entries]
            for sign in sorted({s for w in taken for s in group[w].slopes[group[w].entries.index(place)]}):
                step = sum((group[w].weight * sign for w in taken), Fraction(0))
                for rest in left(open_windows - set(taken)):
                    found.add((*rest[:n], rest[n] + step, *rest[n + 1:]))
            if len(found) > _MOST:
                raise UnsupportedError(f"more than {_MOST} ways to break the ties: take a smaller input")
        return frozenset(found)

    return set(left(frozenset(range(len(group)))))


def _in_hull(target: Gradient, vertices: Sequence[Gradient]) -> bool:
    """target = Σ λ_j v_j with λ_j ≥ 0 and Σ λ_j = 1, decided over the rationals."""
    if target in vertices or not vertices:
        return bool(vertices)
    import z3

    own = z3.Context()  # the default one is not safe where threads share it

    def number(value: Fraction) -> Any:
        return z3.RealVal(f"{value.numerator}/{value.denominator}", own)

    weights = [z3.Real(f"w{j}", own) for j in range(len(vertices))]
    solver = z3.SolverFor("QF_LRA", own)
    solver.add(*(w >= 0 for w in weights), z3.Sum(weights) == 1)
    for d, value in enumerate(target):
        solver.add(z3.Sum([number(v[d]) * w for v, w in zip(vertices, weights, strict=True)]) == number(value))
    return bool(solver.check() == z3.sat)
