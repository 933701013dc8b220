"""The proofs that a scope offers: by Z3 at one size for all inputs, by ring identities in every region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from derive.errors import UnsupportedError
from derive.expr import Directional, Idx, Node, Subdifferential, free_indices, walk
from derive.receptive_field import Axis, ReceptiveField
from derive.verify.instance import Instance, letter_ranges
from derive.verify.layer.proof import provers as ring_provers
from derive.verify.proof import Prover
from derive.verify.report import ENOUGH
from derive.verify.scope import Scope

PROVABLE = 16  # entries of a window up to which Z3 is asked
Index = tuple[int, ...]


@dataclass(frozen=True)
class Proof:
    """``of(statement)``: whether it holds identically; asked once ``enough`` points have said something."""

    enough: int
    evidence: str
    of: Callable[[Node], bool]


Proofs = tuple[Proof, ...]


def proofs(scope: Scope) -> Proofs:
    """Z3 over one window, or over an input with two of them; else ring identities."""
    if scope.window is not None:
        n = scope.window.window.n
        if n > PROVABLE:
            return ()
        instance = Instance(scope.module, scope.window.layer, (n,), (), origin=1)
        return (_by_z3(instance, scope, f"by Z3 for all windows of {n} entries", shared=False),)
    if scope.windows and scope.windows[0].whole:
        if scope.windows[0].window.n > PROVABLE:
            return ()
        field = scope.module.receptive_field
        assert field is not None
        shape = two_windows(field, scope.module.input_size)
        instance = Instance(scope.module, scope.module, shape, field.output_shape(shape))
        sizes = "×".join(map(str, shape))
        return (_by_z3(instance, scope, f"by Z3 for all inputs of size {sizes}", shared=True),)
    rings = ring_provers(scope)
    if not rings:
        return ()
    where = " and ".join(filter(None, (p.sizes.words() for p in rings))) or "all inputs"
    return (Proof(len(scope.sizes), f"by ring identity for {where}, in every region",
                  lambda node: all(p.proves(node) for p in rings)),)


def _by_z3(instance: Instance, scope: Scope, evidence: str, shared: bool) -> Proof:
    prover = Prover(instance, shared)

    def proves(node: Node) -> bool:
        if any(isinstance(n, (Subdifferential, Directional)) for n in walk(node)):
            return False
        variables: tuple[Idx, ...] = tuple(sorted(free_indices(node), key=lambda v: v.name))
        try:
            return prover.prove(node, scope.definitions, variables, letter_ranges(instance, variables))
        except (UnsupportedError, KeyError):
            return False

    return Proof(ENOUGH, evidence, proves)


def two_windows(field: ReceptiveField, known: Index | None) -> Index:
    """An input with two windows along the first axis and one along the others, where these leave the largest rest.

    Where the size is known, each axis leaves the rest that it leaves.
    """
    def fitting(place: int, axis: Axis) -> int:
        n, windows = max(2, axis.kernel_size - 2 * axis.padding), 1 if place else 2
        while axis.output_size(n) < windows or (known is not None and (known[place] - n) % axis.stride):
            n += 1
        longest = n + axis.stride - 1
        return longest if place and known is None and axis.output_size(longest) == axis.output_size(n) else n

    return tuple(fitting(place, axis) for place, axis in enumerate(field.axes))
