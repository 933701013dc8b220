"""A layer at given numbers: value, selected entries, Jacobians and messages, from the derived formulas."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from derive.errors import CardError
from derive.evaluation.values import checked, named, upstream_of
from derive.exposition.story import whole
from derive.records import dataclass
from derive.render.guard import refuse_failures
from derive.solve import Solution

Array = NDArray[np.float64]
Index = tuple[int, ...]
LARGEST_JACOBIAN = 4_000_000  # entries; a larger one that is not sparse is left out


@dataclass(frozen=True)
class Tensor:
    """A tensor's ``name`` among the letters of the layer, and its values."""

    name: str
    values: Array


@dataclass(frozen=True)
class Jacobian:
    """∂output/∂wrt: its non-zero entries (output index, input index, value); None where it is too large."""

    wrt: str
    shape: tuple[Index, Index]
    entries: tuple[tuple[Index, Index, float], ...] | None


@dataclass(frozen=True)
class Evaluation:
    """What a layer computes at given numbers; ``mask`` counts how often a window selects an entry.

    ``intermediates`` are the tensors between input and output, ``gradients`` their δ, from the output back.
    """

    solution: Solution
    given: tuple[Tensor, ...]
    upstream: Tensor
    output: Tensor
    mask: Tensor | None
    jacobians: tuple[Jacobian, ...]
    messages: tuple[Tensor, ...]
    intermediates: tuple[Tensor, ...] = ()
    gradients: tuple[Tensor, ...] = ()


def evaluate(solution: Solution, values: Mapping[str, object]) -> Evaluation:
    """The layer at ``values``: one array per input, parameter and constant, by name.

    ``upstream``, or ``delta_y`` for an output y, is the upstream gradient, ones unless
    given.  Raises :class:`CardError` with the tensor, the expected and the given shape,
    and :class:`VerificationError` if an equation of the layer's sheet was refuted.
    """
    refuse_failures(solution.report)
    module = solution.module
    own, upstream = named(module, values)
    arrays = checked(solution.messages.module, own)
    *intermediates, (_, output) = values_of(solution, arrays).items()
    delta = upstream_of(solution.messages.module, upstream, output)
    targets = (*module.inputs, *module.parameters)
    messages = tuple(Tensor(wrt, np.asarray(solution.backward(wrt, upstream=delta, **arrays))) for wrt in targets)
    mask = None
    if whole(solution.messages) is not None:
        wrt = module.inputs[0]
        mask = Tensor(wrt, np.asarray(solution.backward(wrt, upstream=np.ones_like(output), **arrays)))
    gradients = solution.numbers.gradients(upstream=delta, **arrays) if intermediates else {}
    return Evaluation(
        solution, tuple(Tensor(name, array) for name, array in arrays.items()), Tensor(module.output, delta),
        Tensor(module.output, output), mask, tuple(_jacobian(solution, wrt, arrays, output) for wrt in targets),
        messages, tuple(Tensor(name, np.asarray(array)) for name, array in intermediates),
        tuple(Tensor(name, np.asarray(array)) for name, array in gradients.items()),
    )  # fmt: skip


def forward(solution: Solution, arrays: Mapping[str, Array]) -> Array:
    """The output; raises :class:`CardError` where it has no entries."""
    return values_of(solution, arrays)[solution.module.output]


def values_of(solution: Solution, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor that the layer computes, the output last; raises :class:`CardError` where it has no entries."""
    try:
        found = {name: np.asarray(array) for name, array in solution.numbers.values(**arrays).items()}
    except ValueError:  # NumPy's, where nothing is left to gather
        found = {}
    output = found.pop(solution.module.output, np.zeros(0))
    if not output.size:
        raise CardError(f"the output `{solution.module.output}` is empty: the arrays are too small for this layer")
    return {**found, solution.module.output: output}


def _jacobian(solution: Solution, wrt: str, arrays: Mapping[str, Array], output: Array) -> Jacobian:
    shape = output.shape, arrays[wrt].shape
    windows = whole(solution.messages) is not None
    if output.size * arrays[wrt].size > LARGEST_JACOBIAN and not windows:
        return Jacobian(wrt, shape, None)
    if windows:
        out, into, found = solution.jacobian(wrt, sparse=True, **arrays)
        rows = zip(out.tolist(), into.tolist(), found.tolist(), strict=True)
        return Jacobian(wrt, shape, tuple((tuple(o), tuple(i), float(value)) for o, i, value in rows))
    dense = np.asarray(solution.jacobian(wrt, sparse=False, **arrays))
    places = [tuple(at) for at in np.argwhere(dense).tolist()]
    rank = output.ndim
    return Jacobian(wrt, shape, tuple((at[:rank], at[rank:], float(dense[at])) for at in places))


__all__ = ["Evaluation", "Jacobian", "Tensor", "evaluate", "forward", "values_of"]
