"""Formulas → NumPy: free variables are the axes of a grid, bound ones take one value after another.

An index term is an integer array on the grid, an entry is a gather, a sum or maximum
over windows a loop over the kernel's cells with whole arrays inside.  What is
undefined (an index out of range) is NaN until a false bracket or a mask removes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

import derive.expr as ex
from derive.errors import CardError, UnsupportedError
from derive.functions import Table
from derive.module import Module
from derive.numeric import binders
from derive.numeric.binders import Env
from derive.numeric.choice import (
    Candidate,
    Choice,
    Definitions,
    Shares,
    WholeChoice,
    as_arg,
    choose,
    median,
    names_in,
    read_stars,
    share,
    star_arg,
)
from derive.numeric.gather import Array, Indices, Mask, gather, merged
from derive.numeric.scaled import ONE, Scaled, scaled, total
from derive.numeric.shapes import Extents, Shape, span
from derive.records import replace
from derive.reductions import REDUCTIONS, is_middle

_FUNCTIONS: Table[Callable[..., Any]] = Table(
    lambda f: eval(f"lambda u: {f.numpy.format('u')}", {"np": np, "math": math}) if f.numpy else None,  # our own text
    {"floor": np.floor, "ceil": np.ceil, "mod": np.mod, "pi": lambda: np.float64(np.pi)})


@dataclass
class Evaluation:
    """A formula's values on the grid of ``free`` variables, batch axes in front."""

    module: Module
    reach: Extents
    arrays: Mapping[str, Array]
    lead: Shape
    free: tuple[ex.Idx, ...]
    shape: Shape
    definitions: Definitions = field(default_factory=dict)
    starts: tuple[int, ...] = ()  # the first coordinate along each axis of the grid; 0 where none is given
    _chosen: dict[ex.Expr, Choice | Shares | WholeChoice] = field(default_factory=dict)
    _sums: dict[ex.Expr, Any] = field(default_factory=dict)

    def grid(self) -> Env:
        """Each free variable along its own axis."""
        ranges = np.ix_(*(np.arange(n) for n in self.shape))
        if any(self.starts):
            ranges = tuple(r + first for r, first in zip(ranges, self.starts, strict=True))
        return dict(zip(self.free, ranges, strict=True))

    def over(self, free: tuple[ex.Idx, ...], shape: Shape) -> Evaluation:
        """The same layer and arrays on another grid."""
        return replace(self, free=free, shape=shape, starts=(), _chosen={}, _sums={})

    # --- values -------------------------------------------------------------

    def value(self, node: ex.Expr, env: Env) -> Any:
        if binders.is_index_term(node):
            return np.asarray(self.exactly(node, env), np.float64)
        if self.module.tie_rule == "split" and (arg := self.read_at(node, env)) is not None:
            return self.averaged(node, arg, env)
        return _exponential(self, node, env) if has_exponentials(node) else self.plain(node, env)

    def read_at(self, node: ex.Expr, env: Env) -> ex.Arg | None:
        """An argmax whose place the node uses, as in x_{i^*}; not from under its own binders, nor a sum's terms."""
        if isinstance(node, (ex.Add, ex.Reduce)):
            return None
        found = (star_arg(s, self.definitions, self.module)[0] for s in read_stars(node))
        return next((arg for arg in found if all(v in env for v in ex.free_indices(arg))), None)

    def averaged(self, node: ex.Expr, arg: ex.Arg, env: Env) -> Any:
        """Σ over the places p of an argmax of share(p) · node at p: what a term is under the rule ``split``."""
        letters = tuple(ex.fresh_index() for _ in arg.binder.variables)
        stars = {s: star_arg(s, self.definitions, self.module) for s in ex.walk(node) if isinstance(s, ex.Star)}
        at: dict[ex.Node, ex.Node] = {s: letters[d] for s, (of, d) in stars.items() if of is arg}
        here = ex.subst(node, at | {arg: ex.tuple_of(letters)})
        chosen = self.choice(arg, env)
        assert not isinstance(chosen, Choice)
        total: Any = np.float64(0)
        for place, weight in chosen.places_and_shares():
            part = weight if isinstance(chosen, Shares) else _outside(weight, self)
            value = self.value(here, {**env, **dict(zip(letters, place, strict=True))})
            total = total + np.where(part == 0, 0.0, part * value)
        return total

    def once(self, node: ex.Reduce, env: Env, work: Callable[[ex.Reduce, Env], Any]) -> Any:
        """The work's result, kept for later if no bound variable stands in the node."""
        if not ex.free_indices(node) <= set(self.free):
            return work(node, env)
        if node not in self._sums:
            self._sums[node] = work(node, env)
        return self._sums[node]

    def plain(self, node: ex.Expr, env: Env) -> Any:
        match node:
            case ex.Num(value):
                return np.float64(value)
            case ex.Infinity(sign):
                return np.float64(sign * np.inf)
            case ex.Entry(tensor, indices):
                return gather(self.tensor(tensor), self.places(tensor, indices, env), len(self.shape))
            case ex.Add(terms):
                return sum((self.value(t, env) for t in terms[1:]), self.value(terms[0], env))
            case ex.Mul(factors):
                return self.product(factors, env)
            case ex.Pow(base, exponent):
                return np.power(self.value(base, env), self.value(exponent, env))
            case ex.Fn() if (written_out := self.module.applied(node)) is not None:
                return self.value(written_out, env)
            case ex.Fn(name, args) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(self.value(a, env) for a in args))
            case ex.Extremum(op, args):
                return _joined(getattr(np, REDUCTIONS[op].join), [self.value(a, env) for a in args])
            case ex.Bracket(cond):
                return np.asarray(self.weight(cond, env), np.float64)
            case ex.Cases(branches):
                return self.cases(branches, env)
            case ex.Cardinality(ex.SetApp(name, args)):
                counts = (binders.count(self.index(k, env), axis)
                          for k, axis in zip(args, self.reach.sets[name], strict=True))
                return np.asarray(reduce(np.multiply, counts), np.float64)
            case ex.Reduce():
                return self.once(node, env, self.reduction)
        raise UnsupportedError(f"`{type(node).__name__}` has no value as an array")

    def tensor(self, name: str) -> Array:
        if name not in self.arrays:
            raise UnsupportedError(f"the formula uses `{name}`, which no array was passed for")
        return self.arrays[name]

    def places(self, tensor: str, indices: tuple[ex.Expr, ...], env: Env) -> list[Indices]:
        """Where in the array an entry stands: its coordinates, counted from 0."""
        if not self.reach.axes.origins:
            return [self.index(i, env) for i in indices]
        starts = (self.reach.axes.origin(tensor, d) for d in range(len(indices)))
        return [self.index(i, env) - first if first else self.index(i, env)
                for i, first in zip(indices, starts, strict=True)]

    def index(self, node: ex.Expr, env: Env) -> Indices:
        known = env.get(node) if isinstance(node, ex.Idx) else None
        whole = binders.whole(self.exactly(node, env)) if known is None else known
        return whole if whole.ndim >= len(self.shape) else whole.reshape((1,) * len(self.shape))

    def exactly(self, node: ex.Expr, env: Env) -> Any:
        if isinstance(node, ex.Entry):  # a label, or a word's number
            return np.asarray(self.value(node, env), np.int64)
        return binders.index_value(node, env, self.reach.sizes, lambda star: self.star(star, env))

    def product(self, factors: tuple[ex.Expr, ...], env: Env) -> Any:
        """A product; where a bracket is false it is 0, even if another factor is undefined."""
        guards = [self.value(f, env) for f in factors if isinstance(f, ex.Bracket)]
        values = [self.value(f, env) for f in factors if not isinstance(f, ex.Bracket)]
        if not guards:
            return _joined(np.multiply, values)
        guard = _joined(np.multiply, guards)
        return np.where(guard == 0, 0.0, _joined(np.multiply, [guard, *values])) if values else guard

    def cases(self, branches: tuple[tuple[ex.Expr, ex.Cond], ...], env: Env) -> Any:
        """First branch that holds; a condition of weight w (a tie, split) takes the share w of what is left."""
        total: Any = np.float64(0)
        left: Any = np.float64(1)
        for value, cond in branches:
            taken = left * self.weight(cond, env)
            total = total + np.where(taken == 0, 0.0, taken * self.value(value, env))
            left = left - taken
        return np.where(left > 1e-12, np.nan, total)

    def reduction(self, node: ex.Reduce, env: Env) -> Any:
        if _is_whole(node):
            return _reduced(self, node)
        binder, body = self.opened(node)
        record = REDUCTIONS[node.op]
        if not record.join:
            found = [(self.value(body, inner), mask) for inner, mask in self.steps(binder, body, env)]
            return _in_full(node.op, [v for v, _ in found], [m for _, m in found])
        assert record.empty is not None
        join, neutral = getattr(np, record.join), record.empty
        total: Any = np.float64(neutral)
        for _, value, _ in self.counted(binder, body, env, neutral):
            total = merged(join, total, value)
        return total

    def counted(self, binder: ex.Binder, body: ex.Expr, env: Env, neutral: float
                ) -> Iterator[tuple[Env, Any, Mask | None]]:
        """The body's values in row-major order, ``neutral`` where they do not count, and where they do."""
        plain = isinstance(body, ex.Entry) and body.indices == binder.variables and binders.windows_alone(binder)
        for inner, mask in self.steps(binder, body, env):
            if mask is None:
                yield inner, self.value(body, inner), mask
            elif plain and isinstance(body, ex.Entry):
                places = self.places(body.tensor, body.indices, inner)
                yield inner, gather(self.tensor(body.tensor), places, len(self.shape), neutral), mask
            else:
                yield inner, np.where(mask, self.value(body, inner), neutral), mask

    def opened(self, node: ex.Reduce | ex.Arg) -> tuple[ex.Binder, ex.Expr]:
        """The binder and body; variables of nested binders differ, so none need be renamed.

        Unless a star or a card's function stands inside, which will be written out.
        """
        renamed = names_in(node).stars or (self.module.functions and names_in(node).functions)
        return ex.open_binder(node) if renamed else (node.binder, node.body)

    # --- conditions ---------------------------------------------------------

    def weight(self, cond: ex.Cond, env: Env) -> Any:
        """True or false; for `place = argmax` under the rule ``split``, the place's share."""
        match cond:
            case ex.Otherwise():
                return np.True_
            case ex.And(conds):
                parts = [self.weight(c, env) for c in conds]
                return _joined(np.logical_and if all(p.dtype == bool for p in parts) else np.multiply, parts)
            case ex.Rel(terms, ops):
                pairs = zip(terms, ops, terms[1:], strict=False)
                return _joined(np.multiply, [self.relation(a, op, b, env) for a, op, b in pairs])
            case ex.In(element, ex.SetApp(name, args)):
                axes = zip(ex.items(element), args, self.reach.sets[name], strict=True)
                return _joined(np.logical_and, [binders.contains(self.index(i, env), self.index(k, env), axis)
                                                for i, k, axis in axes])
        raise UnsupportedError(f"`{type(cond).__name__}` has no truth value on arrays")

    def relation(self, left: ex.Expr, op: str, right: ex.Expr, env: Env) -> Any:
        for place, maximiser in ((left, right), (right, left)):
            arg = as_arg(maximiser, self.definitions, self.module)
            if arg is not None and op in "=≠":
                found = self.choice(arg, env).weight(tuple(self.index(i, env) for i in ex.items(place)))
                return found if op == "=" else 1 - np.asarray(found, np.float64)
        if isinstance(left, ex.Tuple) or isinstance(right, ex.Tuple):
            pairs = zip(ex.items(left), ex.items(right), strict=True)
            same = _joined(np.logical_and, [self.index(a, env) == self.index(b, env) for a, b in pairs])
            return same if op == "=" else ~same
        return ex.HOLDS[op](self.value(left, env), self.value(right, env))

    # --- maximisers ---------------------------------------------------------

    def star(self, star: ex.Star, env: Env) -> Indices:
        arg, component = star_arg(star, self.definitions, self.module)
        chosen = self.choice(arg, env)
        if isinstance(chosen, Shares) or (isinstance(chosen, WholeChoice) and chosen.shares is not None):
            raise UnsupportedError("the tie rule `split` names no single maximiser: compare places with the argmax")
        return chosen.component(component)

    def choice(self, arg: ex.Arg, env: Env) -> Choice | Shares | WholeChoice:
        """The maximiser at each grid point; worked out once if no bound variable stands in it."""
        if not ex.free_indices(arg) <= set(self.free):
            return self._choice(arg, env)
        if arg not in self._chosen:
            self._chosen[arg] = self._choice(arg, env)
        return self._chosen[arg]

    def _choice(self, arg: ex.Arg, env: Env) -> Choice | Shares | WholeChoice:
        if _is_whole(arg):
            return _whole_choice(self, arg)
        binder, body = self.opened(arg)
        found = [Candidate(tuple(inner[v] for v in binder.variables), np.asarray(value, order="C"), mask)
                 for inner, value, mask in self.counted(binder, body, env, np.inf if arg.op == "min" else -np.inf)]
        if self.module.tie_rule == "split":
            return share(found, arg.op)
        axes = len(self.shape)
        points = np.broadcast_shapes(*(np.shape(v)[max(0, np.ndim(v) - axes):]
                                       for c in found for v in (*c.position, c.value)))
        return choose(found, arg.op, self.module.tie_rule, points, self.lead)

    # --- binders ------------------------------------------------------------

    def steps(self, binder: ex.Binder, body: ex.Expr, env: Env) -> Iterator[tuple[Env, Mask | None]]:
        """The bound variables' values in row-major order, and where on the grid they count."""
        runs = binders.runs(binder, body, self.reach, self.index, len(self.shape))
        rest = [c for c in ex.conditions(binder.cond) if not binders.gives_values(c, binder)]

        def nest(depth: int, inner: Env, mask: Mask | None) -> Iterator[tuple[Env, Mask | None]]:
            if mask is not None and not mask.any():
                return
            if depth < len(binder.variables):
                v = binder.variables[depth]
                for value, here in runs[v](inner):
                    yield from nest(depth + 1, {**inner, v: value}, binders.both(mask, here))
                return
            extra = None if not rest else _joined(np.logical_and, [self.weight(c, inner) for c in rest])
            yield inner, binders.both(mask, extra)

        yield from nest(0, env, None)


def _joined(join: Any, parts: list[Any]) -> Any:
    return reduce(lambda after, part: join(part, after), reversed(parts))


# Reductions over a whole tensor at once: the bound variables become axes of a grid, and these axes are reduced.

def _is_whole(node: ex.Reduce | ex.Arg) -> bool:
    """The variables run along whole axes, and nothing around the node stands in it."""
    return node.binder.cond is None and not any(node.binder.lower) and not ex.free_indices(node)


def _grid_of(evaluation: Evaluation, node: ex.Reduce | ex.Arg) -> tuple[Evaluation, ex.Expr]:
    """The evaluation with the bound variables for axes, and the body in them."""
    binder, body = evaluation.opened(node)
    variables, reach = binder.variables, evaluation.reach
    inner = evaluation.over(variables, tuple(span(v, body, reach) for v in variables))
    inner.starts = tuple(reach.start(v, body) for v in variables)
    return inner, body


def _in_full(op: str, values: Sequence[Array], masks: Sequence[Mask | None]) -> Any:
    """A reduction that needs all its terms at once, of those where their masks hold."""
    if is_middle(op):
        return median(values, masks)
    if not values:
        return np.float64(np.nan)
    rows = np.stack(np.broadcast_arrays(*values))
    gone = [np.False_ if mask is None else np.broadcast_to(~mask, rows.shape[1:]) for mask in masks]
    out = np.stack([np.broadcast_to(g, rows.shape[1:]) for g in gone])
    terms: Any = np.ma.masked_array(rows, out)
    return np.ma.filled(eval(REDUCTIONS[op].numpy.format("terms"), {"np": np, "terms": terms}), np.nan)


def _reduced(evaluation: Evaluation, node: ex.Reduce) -> Any:
    """The reduction's value."""
    inner, body = _grid_of(evaluation, node)
    rows = _some(_rows(inner.value(body, inner.grid()), inner), node)
    join = REDUCTIONS[node.op].join
    found = getattr(np, join).reduce(rows, -1) if join else _in_full(
        node.op, list(np.moveaxis(rows, -1, 0)), [None] * rows.shape[-1])
    return _outside(found, evaluation)


def _exponential_sum(evaluation: Evaluation, inner: Evaluation, term: Scaled) -> Scaled:
    """Σ m e^c over the inner grid."""
    mantissa, exponent = _rows(term.mantissa, inner), _rows(term.exponent, inner)
    top = np.max(exponent, axis=-1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        gap = np.where(exponent == top[..., None], 0.0, exponent - top[..., None])
        weighted = mantissa * np.exp(gap)
    total = np.where(np.exp(gap) == 0, 0.0, weighted).sum(-1)
    return Scaled(_outside(total, evaluation), _outside(top, evaluation))


def _whole_choice(evaluation: Evaluation, arg: ex.Arg) -> WholeChoice:
    """The first or last place in row-major order that attains the maximum, or equal shares of all that do."""
    inner, body = _grid_of(evaluation, arg)
    rows = _some(_rows(inner.value(body, inner.grid()), inner), arg)
    if is_middle(arg.op):
        best = np.sort(rows, axis=-1)[..., rows.shape[-1] // 2]
    else:
        best = rows.max(-1) if arg.op == "max" else rows.min(-1)
    active = rows == best[..., None]
    if evaluation.module.tie_rule == "split":
        shares = active / np.maximum(active.sum(-1, keepdims=True), 1)
        return WholeChoice((), shares.reshape(*evaluation.lead, *inner.shape), inner.starts)
    last = evaluation.module.tie_rule == "last"
    flat = active.shape[-1] - 1 - active[..., ::-1].argmax(-1) if last else active.argmax(-1)
    places = np.unravel_index(flat, inner.shape)
    return WholeChoice(tuple(_outside(p + s, evaluation) for p, s in zip(places, inner.starts, strict=True)), None,
                       inner.starts)


def _rows(values: Any, inner: Evaluation) -> Array:
    """(*lead, N): the inner grid in one axis."""
    return np.broadcast_to(values, (*inner.lead, *inner.shape)).reshape(*inner.lead, math.prod(inner.shape))


def _some(rows: Array, node: ex.Reduce | ex.Arg) -> Array:
    """The rows; raises :class:`CardError` where they have no entry that could be selected."""
    if not rows.shape[-1] and REDUCTIONS[node.op].selects:
        raise CardError(f"the {node.op} of no entries has no value: the arrays are too small for this layer")
    return rows


def _outside(values: Any, evaluation: Evaluation) -> Any:
    """The same for every point of the outer grid."""
    return np.reshape(values, (*evaluation.lead, *(1 for _ in evaluation.shape)))


# Values with exponentials in them, kept as m e^c through sums, products and powers: e^{rx} / Σ e^{rx} at any x.

def has_exponentials(node: ex.Expr) -> bool:
    return "exp" in names_in(node).functions


def _exponential(evaluation: Evaluation, node: ex.Expr, env: Env) -> Any:
    """The value of a node with exponentials as an array."""
    found = _kept(evaluation, node, env)
    return found.value() if isinstance(found, Scaled) else found


def _kept(evaluation: Evaluation, node: ex.Expr, env: Env) -> Any:
    """The value, as :class:`Scaled` where the node is made of exponentials by sums, products and powers."""
    def go(part: ex.Expr) -> Any:
        return _kept(evaluation, part, env)

    if not has_exponentials(node) or (evaluation.module.tie_rule == "split" and evaluation.read_at(node, env)):
        return evaluation.value(node, env)
    match node:
        case ex.Fn("exp", (arg,)):
            return Scaled(np.float64(1), evaluation.value(arg, env))
        case ex.Fn("log", (arg,)) if isinstance(inner := go(arg), Scaled):
            return inner.log()
        case ex.Pow(base, ex.Num(exponent)) if isinstance(inner := go(base), Scaled):
            return inner.power(float(exponent))
        case ex.Mul(factors):
            brackets = [f for f in factors if isinstance(f, ex.Bracket)]
            rest = reduce(Scaled.times, (scaled(go(f)) for f in factors if not isinstance(f, ex.Bracket)), ONE)
            if not brackets:
                return rest
            guard = evaluation.plain(ex.mul(*brackets), env)  # several are a product once more
            return rest.times(scaled(guard)).where(guard != 0)
        case ex.Add(terms):
            return total([scaled(go(t)) for t in terms])
        case ex.Reduce("sum"):
            return evaluation.once(node, env, lambda n, e: _sum(evaluation, n, e))
    return evaluation.plain(node, env)


def _sum(evaluation: Evaluation, node: ex.Reduce, env: Env) -> Scaled:
    if _is_whole(node):
        grid, body = _grid_of(evaluation, node)
        return _exponential_sum(evaluation, grid, scaled(_kept(grid, body, grid.grid())))
    binder, body = evaluation.opened(node)
    terms = []
    for inner, mask in evaluation.steps(binder, body, env):
        term = scaled(_kept(evaluation, body, inner))
        terms.append(term if mask is None else term.where(mask))
    return total(terms)
