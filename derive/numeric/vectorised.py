"""Forward values, Jacobians and backward messages as arrays, from the derived formulas."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from derive.axes import with_axes
from derive.errors import CardError
from derive.expr import ONE, Bracket, Entry, Expr, Idx, Mul, Partial, Reduce, Rel, free_indices, mul, walk
from derive.limits import MOST_IN_AN_ARRAY
from derive.module import Module
from derive.numeric.choice import Definitions, names_in
from derive.numeric.compile import Evaluation
from derive.numeric.gather import Array, first_nan
from derive.numeric.scatter import covering_sum, scatter, scattered, summed
from derive.numeric.shapes import Shape, as_array, batch_shape, checked, extents, own_shape, stepped
from derive.numeric.source import windows_of

Sparse = tuple[NDArray[np.int64], NDArray[np.int64], Array]
Jacobian = tuple[Partial, Expr]  # ∂f_{kl}/∂x_{ij}, and the formula for it
Message = tuple[Entry, Expr]  # δ_{x,ij}, and the formula for it


class Compiled:
    """value(left side's indices) as an array, for arrays of any size.

    Axes of the result: batch axes, then one for each index variable of the left side.
    """

    def __init__(self, entries: tuple[Entry, ...], value: Expr, module: Module, definitions: Definitions) -> None:
        self.value, self.module, self.definitions = value, module, definitions
        self.places = {v: (e.tensor, d) for e in entries for d, v in enumerate(e.indices) if isinstance(v, Idx)}
        self.indices = tuple(self.places)

    def __call__(self, evaluation: Evaluation, shape: Shape) -> Array:
        here = evaluation.over(self.indices, shape)
        here.definitions = self.definitions
        if evaluation.reach.axes.origins:
            here.starts = tuple(evaluation.reach.axes.origin(*place) for place in self.places.values())
        factors = self.value.factors if isinstance(self.value, Mul) else (self.value,)
        for n, factor in enumerate(factors):
            sum_of_hits = scatter(factor, self.indices, here)
            if sum_of_hits is not None:
                total = scattered(sum_of_hits, shape, here)
                rest = mul(*factors[:n], *factors[n + 1:])
                return total if rest is ONE else np.asarray(here.value(rest, here.grid()) * total, np.float64)
        covering = covering_sum(self.value, self.indices, here)
        if covering is not None:
            with np.errstate(all="ignore"):
                total = summed(covering, self.indices, shape, here)
                return total if covering.front is ONE else np.asarray(here.value(covering.front, here.grid()) * total)
        with np.errstate(all="ignore"):  # what has no value is NaN, and counts only where no bracket removes it
            values = here.value(self.value, here.grid())
        return np.array(np.broadcast_to(values, (*here.lead, *shape)), np.float64)


def compile_formula(left: Entry | Partial, value: Expr, module: Module,
                    definitions: Definitions | None = None) -> Compiled:
    """A formula as a function of arrays; ``left`` has one index variable for each axis of the result.

    ``definitions`` says of each star letter which component of which argmax it is.
    """
    entries = (left,) if isinstance(left, Entry) else (left.of, left.wrt)
    indices = tuple(v for e in entries for v in cast(Entry, e).indices)
    if not all(isinstance(v, Idx) for v in indices) or len(set(indices)) < len(indices):
        raise CardError("the left side of a formula to be evaluated must have plain indices")
    return Compiled(cast("tuple[Entry, ...]", entries), value, module, definitions or {})


def _prepared(module: Module, arrays: Mapping[str, object]) -> tuple[Evaluation, dict[str, Array]]:
    """The layer with its checked arrays, and every tensor that the equations define."""
    module, arrays = stepped(with_axes(module), arrays)
    given = checked(module, arrays, module.given)
    reach = extents(module, {name: own_shape(module, name, a) for name, a in given.items()})
    tensors = dict(given)
    evaluation = Evaluation(module, reach, tensors, batch_shape(module, given), (), ())
    return evaluation, tensors


def _define(evaluation: Evaluation, tensors: dict[str, Array]) -> None:
    module = evaluation.module
    for equation in module.equations:
        entry, value = equation.terms
        assert isinstance(entry, Entry)
        compiled, shape = compile_formula(entry, value, module), evaluation.reach.shapes[entry.tensor]
        values = compiled(evaluation, shape)
        if entry.tensor == module.output and first_nan(values) is not None:
            where = _missed(equation, module, evaluation.reach.shapes[module.inputs[0]], shape)
            _defined(np.where(where, 0.0, values), entry.tensor)
        else:
            _defined(values, entry.tensor)
        tensors[entry.tensor] = values


def _defined(values: Array, name: str) -> Array:
    """The values; raises where an index was out of range and no false bracket guarded it."""
    nan = first_nan(values)
    if nan is not None:
        at = ", ".join(map(str, nan))
        raise CardError(f"`{name}` has no value at ({at}): an index is out of range there, no case applies, or "
                        "infinite numbers leave it open, as 0·∞ and ∞ − ∞ do")
    return values


def forward(module: Module, arrays: Mapping[str, object]) -> Array:
    """y = F(x), from arrays of any size; leading axes beyond a tensor's own are batch axes.

    Integers and float32 become float64.  Over a window wholly in padding a mean is NaN.
    Raises :class:`CardError` for a missing or unknown array, a wrong shape, a NaN,
    or a kernel larger than the padded input.
    """
    return values(module, arrays)[module.output]


def values(module: Module, arrays: Mapping[str, object]) -> dict[str, Array]:
    """s, h, …, y: every tensor that the equations define, in their order; as :func:`forward`."""
    evaluation, tensors = _prepared(module, arrays)
    _define(evaluation, tensors)
    return {name: tensors[name] for name in module.defined}


def jacobian(module: Module, formula: Jacobian, wrt: str, arrays: Mapping[str, object],
             sparse: bool = False, definitions: Definitions | None = None) -> Array | Sparse:
    """∂y/∂x as the derived formula has it: dense with output axes, then input axes; no batch axes.

    ``sparse``: (output indices (N, r), input indices (N, s), values (N)) of the
    non-zero entries; of windows and where brackets [j = k] fix the input, the dense array is never built.
    """
    evaluation, tensors = _prepared(module, arrays)
    if evaluation.lead:
        raise CardError(f"a Jacobian has no batch axes, but the arrays have {evaluation.lead}: pass one at a time")
    _define_used(evaluation, tensors, formula[1], definitions)
    left, value = formula
    shapes = evaluation.reach.shapes
    compiled = compile_formula(left, value, module, definitions)
    out, into = shapes[module.output], shapes[wrt]
    if not sparse:
        _fits(out + into, formula[0], "; `sparse=True` lists those that are not 0")
        return _defined(compiled(evaluation, out + into), f"d {module.output} / d {wrt}")
    return _sparse(compiled, left, wrt, evaluation)


def _fits(shape: Shape, derivative: Partial, instead: str) -> None:
    """Raise :class:`CardError` for more entries than an array may have."""
    if math.prod(shape) > MOST_IN_AN_ARRAY:
        of, wrt = (cast(Entry, node).tensor for node in (derivative.of, derivative.wrt))
        raise CardError(f"∂{of}/∂{wrt} has {math.prod(shape):,} entries, more than {MOST_IN_AN_ARRAY:,}{instead}")


def _define_used(evaluation: Evaluation, tensors: dict[str, Array], value: Expr,
                 definitions: Definitions | None = None) -> None:
    """Forward values only where the formula, or a maximum that its stars belong to, uses them."""
    stars = names_in(value).stars
    parts = (value, *(arg for name, (arg, _) in (definitions or {}).items() if name in stars))
    used = {tensor for part in parts for tensor in names_in(part).tensors}
    if any(t in used for t in evaluation.reach.shapes if t not in tensors):
        _define(evaluation, tensors)


def _sparse(compiled: Compiled, left: Partial, wrt: str, evaluation: Evaluation) -> Sparse:
    module, shapes = compiled.module, evaluation.reach.shapes
    outputs = cast("tuple[Idx, ...]", cast(Entry, left.of).indices)
    window = _window(module, wrt, outputs)
    inputs = compiled.indices[len(outputs):]
    out_shape = shapes[module.output]
    if window is None or not out_shape:
        return _fixed(compiled, left, evaluation)
    node, places = window
    here = evaluation.over(outputs, out_shape)
    here.definitions = compiled.definitions
    binder, body = node.binder, node.body
    nowhere = np.empty((0, len(outputs)), np.int64), np.empty((0, len(inputs)), np.int64), np.empty(0)
    rows: list[tuple[NDArray[np.int64], NDArray[np.int64], Array]] = [nowhere]
    for env, mask in here.steps(binder, body, here.grid()):
        position = [env[binder.variables[p]] for p in places]
        with np.errstate(all="ignore"):
            values = here.value(compiled.value, {**env, **dict(zip(inputs, position, strict=True))})
        values = np.broadcast_to(values if mask is None else np.where(mask, values, 0.0), out_shape)
        at = np.argwhere(values)
        rows.append((at, np.stack([np.broadcast_to(p, out_shape)[tuple(at.T)] for p in position], axis=-1),
                     values[tuple(at.T)]))
    out, into, found = (np.concatenate(column) for column in zip(*rows, strict=True))
    order = np.lexsort((*into.T[::-1], *out.T[::-1]))
    return out[order], into[order], _defined(found[order], wrt)


def _fixed(compiled: Compiled, left: Partial, evaluation: Evaluation) -> Sparse:
    """The entries at which brackets [j = k] of the formula hold, each of which fixes an index of the input."""
    reach, (of, wrt) = evaluation.reach, (cast(Entry, node) for node in (left.of, left.wrt))
    known = {v: (reach.axes.origin(*place), reach.shapes[place[0]][place[1]])
             for v, place in compiled.places.items()}  # where each index starts, and how far it runs
    fixed = {v: other for v, other in _equal(compiled.value) if v in wrt.indices and other in of.indices}
    free = tuple(v for v in compiled.indices if v not in fixed)
    shape = tuple(known[v][1] for v in free)
    _fits(shape, left, " that may differ from 0: take smaller arrays")
    here = evaluation.over(free, shape)
    here.definitions, here.starts = compiled.definitions, tuple(known[v][0] for v in free)
    grid = here.grid()
    env = {**grid, **{v: grid[other] for v, other in fixed.items()}}
    inside = [(env[v] >= start) & (env[v] < start + n) for v, (start, n) in known.items() if v in fixed]
    with np.errstate(all="ignore"):
        values = np.broadcast_to(here.value(compiled.value, env), shape)
    at = np.argwhere(np.where(np.logical_and.reduce(np.broadcast_arrays(np.True_, *inside)), values, 0.0))
    places = {v: np.broadcast_to(env[v] - start, shape)[tuple(at.T)] for v, (start, _) in known.items()}
    out, into = (np.array([places[cast(Idx, v)] for v in own], np.int64).reshape(len(own), len(at)).T
                 for own in (of.indices, wrt.indices))
    return out, into, _defined(values[tuple(at.T)], wrt.tensor)


def _equal(value: Expr) -> Iterator[tuple[Idx, Idx]]:
    """Each two indices that a bracket [j = k] among the factors sets equal, both ways."""
    for factor in value.factors if isinstance(value, Mul) else (value,):
        if isinstance(factor, Bracket) and isinstance(factor.cond, Rel) and factor.cond.ops == ("=",):
            left, right = factor.cond.terms
            if isinstance(left, Idx) and isinstance(right, Idx):
                yield from ((left, right), (right, left))


def _window(module: Module, wrt: str, outputs: tuple[Idx, ...]) -> tuple[Reduce, list[int]] | None:
    """The reduction through which the output depends on ``wrt``, and which variable runs along each of its axes.

    There may be several, all over the same window.
    """
    entry, value = module.definition(module.output)
    found = [n for n in walk(value) if isinstance(n, Reduce) and wrt in names_in(n.body).tensors]
    uses = [n for n in walk(value) if isinstance(n, Entry) and n.tensor == wrt]
    if not found or len(module.equations) > 1 or entry.indices != outputs:
        return None
    variables: list[Expr] = list(found[0].binder.variables)
    one = all(n.binder is found[0].binder and free_indices(n) <= set(outputs) for n in found)
    if not one or any(sorted(map(id, u.indices)) != sorted(map(id, variables)) for u in uses):
        return None
    return found[0], [variables.index(i) for i in uses[0].indices]


def backward(module: Module, formula: Message, wrt: str, upstream: object, arrays: Mapping[str, object],
             definitions: Definitions | None = None) -> Array:
    """δ_x = Jᵀ δ_y as the derived formula has it; batch axes as in :func:`forward`."""
    return stagewise(module, [formula], upstream, arrays, definitions)[formula[0].tensor]


def stagewise(module: Module, formulas: Sequence[Message], upstream: object, arrays: Mapping[str, object],
              definitions: Definitions | None = None) -> dict[str, Array]:
    """δ_h, δ_s, …: several messages by name, each from the upstream gradient and the messages before it."""
    module = with_axes(module)
    evaluation, tensors = _prepared(module, arrays)
    name = f"delta_{module.output}"
    delta = as_array(module, name, upstream)
    expected = evaluation.lead + evaluation.reach.shapes[module.output]
    if delta.shape != expected:
        raise CardError(f"`upstream` has shape {delta.shape}, but the output has {expected}")
    tensors[name] = delta
    for left, value in formulas:
        reach = evaluation.reach
        own = name.removeprefix("delta_")
        evaluation.reach = replace(reach, shapes={**reach.shapes, name: reach.shapes[own]})
        _define_used(evaluation, tensors, value, definitions)
        compiled = compile_formula(left, value, module, definitions)
        name = left.tensor
        tensors[name] = _defined(compiled(evaluation, reach.shapes[name.removeprefix("delta_")]), name)
    return {left.tensor: tensors[left.tensor] for left, _ in formulas}


def _missed(equation: Rel, module: Module, shape: Sequence[int], out: Sequence[int]) -> NDArray[np.bool_]:
    """Where the window of an output lies wholly in padding; ``shape`` that of the input, ``out`` of the output."""
    found = np.zeros(tuple(out), bool)
    windows = windows_of(equation, module)
    field = module.field(windows[0]) if windows else None
    for axis, n, place in zip(field.axes, shape, windows[1], strict=True) if field and windows else ():
        empty = [not axis.covered(k, n) for k in range(out[place])]
        found |= np.array(empty).reshape([-1 if d == place else 1 for d in range(len(out))])
    return found
