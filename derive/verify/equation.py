"""One equation of a user's, checked against a solved layer: a counterexample as small as can be found."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any, Protocol

from derive.expr import Arg, Entry, Given, Idx, Node, Partial, Rel
from derive.module import Module
from derive.notation import read
from derive.notation.symbols import SymbolTable
from derive.numeric.point import Definitions
from derive.numeric.statements import compile_value
from derive.verify import mistakes, scopes
from derive.verify.check import Refuted, test_at
from derive.verify.report import ENOUGH
from derive.verify.samples import Sample, layer_sample


class Derived(Protocol):
    """What is known of a solved layer."""

    @property
    def sized(self) -> Module: ...
    @property
    def tables(self) -> dict[str, SymbolTable]: ...
    @property
    def outputs(self) -> tuple[Idx, ...]: ...
    @property
    def star_definitions(self) -> dict[str, tuple[Arg, int]]: ...
    @property
    def op(self) -> str: ...


def refutation(latex: str, derived: Derived) -> str | None:
    """Why the equation is wrong for this layer, or None where it holds at every point.

    Raises :class:`derive.errors.CardError` where it cannot be read.
    """
    table = derived.tables["layer"]
    node = read(latex, table)
    module = derived.sized
    stars = {name: (arg, n, derived.outputs) for name, (arg, n) in derived.star_definitions.items()}
    definitions, ranks = Definitions(stars, {}, {}), {s.name: len(s.axes) for s in table.symbols}
    samples = [*_small(derived.sized), *scopes.layer_points(module)]
    points = 0
    for sample in samples:
        try:
            points += test_at(node, definitions, ranks, sample)
        except Refuted as refuted:
            return f"the equation is wrong {refuted}{_likely(node, definitions, ranks, sample, derived.op)}"
    return None if points >= ENOUGH else "the equation claims nothing at the points tried"


def _small(module: Module) -> Iterator[Sample]:
    """Inputs at the smallest sizes."""
    field = module.receptive_field
    assert field is not None
    source = random.Random(5)
    sizes = [[n for n in range(1, a.kernel_size + 2 * a.stride + 1) if a.output_size(n) > 0][:4] for a in field.axes]
    for shape in sorted(itertools.product(*sizes), key=lambda s: (sum(s), s)):
        for distinct in (True, False):
            yield layer_sample(module, shape, source, distinct)


def _likely(node: Node, definitions: Definitions, ranks: dict[str, int], sample: Sample, op: str) -> str:
    """The known mistake that the right-hand side computes."""
    claim = node.claim if isinstance(node, Given) else node
    if not (isinstance(claim, Rel) and len(claim.terms) == 2):
        return ""
    left, right = claim.terms
    sign = 1 if op == "max" else -1
    try:
        if isinstance(left, Partial) and isinstance(left.of, Entry) and isinstance(left.wrt, Entry):
            function = compile_value((*left.of.indices, *left.wrt.indices), right, definitions, ranks)
            places: list[Any] = list(itertools.product(sample.tensor(sample.module.output), sample.arrays[sample.wrt]))
            found = {p: v for p in places if (v := function(sample, (*p[0], *p[1])))}
            return f"; likely mistake: {mistakes.likely(found, sample.sides()[0], mistakes.jacobians(sample, sign))}"
        if isinstance(left, Entry) and left.tensor == f"delta_{sample.wrt}":
            function = compile_value(left.indices, right, definitions, ranks)
            given = {cell: function(sample, cell) for cell in sample.arrays[sample.wrt]}
            expected = dict(sample.tensor(left.tensor))
            return f"; likely mistake: {mistakes.likely(given, expected, mistakes.messages(sample, sign))}"
    except Exception:  # a hint is only a hint: the refutation stands without it
        return ""
    return ""
